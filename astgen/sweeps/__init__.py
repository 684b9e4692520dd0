"""Strips of rows, and tiles that are packed: buffers, copies, and what shows that they are right."""
