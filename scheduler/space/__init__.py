"""The Farkas schedule space of a SCoP: its construction and exploration as Markov decision processes (PolyGym), and
points sampled from it."""
