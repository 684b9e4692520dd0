"""The front end: from C text to `Scop`s. Preprocessing, parsing, regions,
symbols and liveness, then extraction and dependences."""
