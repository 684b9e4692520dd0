"""`scopt-bench --limits`: what a kernel has to do at least,
what the machine can do at most, and how near a program comes."""
