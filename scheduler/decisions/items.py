"""Items: iterations of a loop that compute in arrays of their own, with nothing but small loops inside.

``for t: { double f[4][4]; for i < 4: for j < 4: { f[i][j] = 0; for k < 4: f[i][j] += a[t][i][k] * b[k][j]; } … }``:
compilers know such arrays to be apart from all others. They unroll the loops, and keep cells in registers. Loops that
are asked to be vector loops stay loops until then, and so do those that have become one: their cells go through memory.
So such loops stay as they are, unless straight code may stand for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.isl_utils import SET, sets_of
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.decisions.small_loops import are_few, reach

# Iterations from which on a small loop fills a vector itself.
_FILLS = 8


@lru_cache(maxsize=4)
def items_of(scop: Scop) -> Mapping[str, int]:
    """By statement of an item, how many loops are around the item."""
    loops, found = source_loops(scop), dict[str, int]()
    for array in scop.arrays.values():
        if not (array.private and array.in_source):
            continue
        users = [s.name for s in scop.statements if any(access.array == array.name for access in s.accesses)]
        around = _together([loops[name] for name in users])
        inside = [one for one in scop.statements if loops[one.name][: len(around)] == around]
        counts = [_instances(one.domain, len(around)) for one in inside] if around else []
        if not counts or None in counts or are_few([one for one in counts if one is not None]):
            continue
        for one in inside:
            found[one.name] = min(len(around), found.get(one.name, len(around)))
    return found


def _together(some: Sequence[Loops]) -> Loops:
    """The loops around all of some statements."""
    depth = 0
    while some and all(len(one) > depth for one in some) and len({one[depth] for one in some}) == 1:
        depth += 1
    return some[0][:depth] if some else ()


def _instances(domain: isl.Set, depth: int) -> int | None:
    """Of a statement, in loops from a depth on that have a few iterations each; None if one may have more."""
    lengths = [reach(domain, depth, k) for k in range(depth, domain.dim(SET))]
    known = [one for one in lengths if one is not None and one < _FILLS]
    return prod(known) if len(known) == len(lengths) else None


def is_in_item(scop: Scop, domain: isl.UnionSet, depth: int) -> bool:
    """Whether a nest with so many loops around it is inside of an item."""
    items = items_of(scop)
    names = [str(part.get_tuple_name()) for part in sets_of(domain)] if items else []
    return bool(names) and all(name in items and items[name] <= depth for name in names)
