"""Arrays that passes make: cells for what scalars, or rows that take each other's place, hand on."""

from __future__ import annotations

from scopt.ir.scop import Array


def is_made(array: Array) -> bool:
    """Whether a region's own text asks memory for an array, so that nothing but the region's statements gives its cells
    values: it stands nowhere in the source, and no pointer of that leads to it."""
    source = array.pointer or array.within or array.local or array.declaration is not None
    return array.rank > 0 and not source and array.location is None
