"""The command line of `scopt`: what can be said there, and what is done about it."""
