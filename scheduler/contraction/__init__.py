"""Contractions: what they are, how their operands are split, when these may be packed."""
