"""Strides, footprints, tiles and their sizes."""
