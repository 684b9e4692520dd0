"""From a region to a `Scop`, step by step: names, affine values, arrays, statements, the whole."""
