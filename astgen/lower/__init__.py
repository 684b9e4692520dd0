"""Contractions, strips and panels as statements over buffers of their own."""
