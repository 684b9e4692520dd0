"""Which sizes are tried."""

from __future__ import annotations

from collections.abc import Iterable

from scopt.check.functions.faults import Fault

# Trying all sizes around larger numbers would take long.
_MOST = 64


def around(thresholds: Iterable[int], sizes: Iterable[int]) -> tuple[int, ...]:
    """The sizes and those on both sides of what loops compare them with, in one turn and in two. Raises Fault if these
    are too many.
    """
    found = set(sizes)
    for one in thresholds:
        if one > _MOST:
            raise Fault(f"a size is compared with {one}")
        if one > 1:
            found |= {one - 1, one, one + 1, 2 * one - 1, 2 * one, 2 * one + 1}
    return tuple(sorted(found))
