"""Strips of rows: buffers, copies, and what shows that they are right."""
