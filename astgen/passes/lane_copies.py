"""Extrema of floating-point numbers in any order: each lane of a vector loop looks for the best of its own.

``if (d > most) most = d;`` waits for the iteration before, and no compiler makes vectors of it: there are two zeros,
and what is no number is never taken. Where no d is a zero with a sign, lanes that begin with `most` find what the loop
does, in any order (`scopt.poly.reordering`). OpenMP's clause would have copies begin with the least number, and gcc and
clang put them together each in its own way; so the copies are cells of an array, which compilers keep in registers.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scopt.astgen.emit.lane_texts import LEAST_STRIPS, lane_names, reduced
from scopt.astgen.emit.names import names_in_use
from scopt.ir.expr import subtract
from scopt.ir.nest import Const, For, If, LoopMark, LoopNest, Parted
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop
from scopt.poly.reordering import is_best_in_any_order, takes_a_number

# Bits of all copies of a number: four vectors, so that none waits for the one before (measured: half the time of two).
_BITS = 1024


def with_lanes(scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The SCoP, and the nest where vector loops that look for what is best have copies of it for lanes; loops that
    can't have any are no vector loops."""
    taken = set(names_in_use(scop, nest)) | {array.spelling for array in scop.arrays.values()}
    taken |= {one for item in items(nest.body) if isinstance(item, For) for one in lane_names(item)}

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not any(one.best for one in item.mark.reductions):
            return (item,)
        if not may_be_parted(scop, item):
            plain = replace(item.mark, parallel=False, simd=False, private=(), reductions=())
            return (replace(item, mark=plain, work=None),)
        names = _names(scop, item, taken)
        taken.update(names)
        strip, lane, *copies = names
        pairs = tuple(zip(copies[::2], copies[1::2], strict=True))
        bits = max(scop.arrays[one.array].type.bits for one in item.mark.reductions)
        parted = Parted(strip, lane, _BITS // bits, pairs)
        mark = LoopMark(simd=True, private=item.mark.private, reductions=item.mark.reductions, parted=parted)
        return (replace(item, mark=mark),)

    return scop, LoopNest(map_block(nest.body, visit))


def has_lane_copies(scop: Scop, nest: LoopNest) -> bool:
    """Whether there is a loop whose lanes will have copies."""
    return any(isinstance(one, For) and bool(one.mark.reductions) and _has_lanes(scop, one) for one in items(nest.body))


def may_be_parted(scop: Scop, loop: For) -> bool:
    """Whether lanes may have copies of all that a loop reduces, where that pays: variables, those that hold cells
    among them."""
    held = all(len(one.held) == bool(scop.arrays[one.array].rank) for one in loop.mark.reductions)
    return held and _has_lanes(scop, loop)


def _has_lanes(scop: Scop, loop: For) -> bool:
    mark = loop.mark
    strips = mark.looked or mark.fetched
    plain = mark.simd and not (mark.parallel or mark.jammed or mark.narrow or strips) and loop.step == 1
    if not plain or any(isinstance(one, For | If) for one in items(loop.body)):
        return False
    inside = [scop.statement(call.statement) for call in calls(loop.body)]
    for one in mark.reductions:
        users = [own for own in inside if any(access.array == one.array and access.is_write for access in own.accesses)]
        known = all(is_best_in_any_order(scop, own) for own in users) and len({*map(takes_a_number, users)}) == 1
        if not one.best or one.whole or not known:
            return False
    most = max(scop.arrays[one.array].type.bits for one in mark.reductions)
    distance = subtract(loop.upper, loop.lower)
    return not isinstance(distance, Const) or distance.value >= LEAST_STRIPS * (_BITS // most) * 2


def _names(scop: Scop, loop: For, taken: set[str]) -> list[str]:
    wishes = [f"{loop.iterator}t", "lane"]
    for one in loop.mark.reductions:
        name = reduced(scop, one)
        wishes += [f"{name}_lanes", f"{name}_lane"]
    found = list[str]()
    for wish in wishes:
        found.append(next(name for name in _numbered(wish) if name not in taken and name not in found))
    return found


def _numbered(wish: str) -> Iterator[str]:
    yield wish
    yield from (f"{wish}{k}" for k in range(2, 1000))
