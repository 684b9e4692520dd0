"""The PolyBench kernels in our own writing, and `scopt-bench`, which builds, checks and times them."""
