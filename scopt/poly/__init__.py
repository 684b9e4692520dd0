"""isl idioms that several stages need: relations, rows, bands, trees, dependences, generators, integer programs."""
