"""Constraint builders: each turns one wish on a schedule dimension into linear rows over its unknowns.
One builder a module."""
