"""Expressions, accesses, arrays and loops in the polyhedral model."""
