"""Rewrites of the loop nest, one a module."""
