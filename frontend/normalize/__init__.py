"""Loops brought into the form that the model has, one rewrite a module."""
