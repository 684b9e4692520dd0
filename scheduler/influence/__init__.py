"""Influence constraint trees: what they are, how they are read and written, and optimizers that make them."""
