/* This folder is the root of a suite of its own, with the header that all suites of scopt share. */
#include "../polybench.h"
