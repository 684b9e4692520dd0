"""Functions of C's library, and of OpenMP's, that emitted text may call though the user's doesn't."""

from __future__ import annotations

# The first two as `__builtin_…`.
MEMORY = frozenset(("malloc", "free"))
ALIGNED = "aligned_alloc"
MOST_THREADS = "omp_get_max_threads"
THREADS = frozenset((MOST_THREADS, "omp_get_thread_num"))
