"""Passes over a SCoP before scheduling, and over the bands of its tree after it."""
