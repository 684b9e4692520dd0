"""Where SCoPs may be: marked, found; and what pragmas ask for."""
