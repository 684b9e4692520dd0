"""Room for trees that are deeper than the interpreter allows by itself:
long chains of `else if`, sums of thousands of terms."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Calls in one another. Those that go through the interpreter's own code take half a kilobyte of the C stack, which
# mostly has eight megabytes.
DEEPEST = 10_000


@contextmanager
def recursion(depth: int) -> Iterator[None]:
    """Allow at least so many calls in one another."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, depth))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
