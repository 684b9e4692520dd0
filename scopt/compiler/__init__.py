"""`scoptcc`: stands in for the C compiler, and optimizes what it compiles (docs/builds.md).

`main` decides what a command needs, `arguments` reads it, `optimized` has scopt's text for one source (from the
`cache`, or by running scopt), `openmp` says which pragmas it may have, `build` compiles and links.
Most commands of a build need none of it, so nothing heavy is imported before it is wanted: neither dataclasses nor
subprocess, isl least of all.
"""
