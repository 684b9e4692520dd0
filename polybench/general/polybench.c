/* This folder is the root of a suite of its own, with the harness that all suites of scopt share. */
#include "../polybench.c"
