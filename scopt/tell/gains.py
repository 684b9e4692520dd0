"""What each loop of the source got: the loops of a region's first level, and whether their statements now run in
parallel or in vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.diagnostics import Location
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.unit import Region
from scopt.ir.marked_schedule import MarkedSchedule, TileMark, loop_of
from scopt.ir.nest import Block, For, LoopMark, LoopNest
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.ir.walks import walk
from scopt.poly.isl_utils import sets_of

_TYPE = isl.schedule_node_type
WHAT = ("parallel", "vector")


class Gain(Struct, frozen=True):
    """One loop of the source that no other loop of its region is around.

    location: of the loop. number: of the loop among all `for` loops of its function, in textual order, from 1.
      iterator: its name.
    got: those of `WHAT` that all its statements got. statements: their names.
    """

    location: Location
    number: int
    iterator: str
    got: tuple[str, ...]
    statements: frozenset[str] = frozenset()


def gains(scop: Scop, region: Region, marked: MarkedSchedule, nest: LoopNest | None = None) -> tuple[Gain, ...]:
    """The loops of the region in textual order, those without statements left out.
    A register tile counts as a vector loop. nest: None where it isn't known yet: what loops get at most."""
    emitted, scheduled = frozenset(WHAT) if nest is None else _emitted(nest.body), _scheduled(marked)
    loops = list(_loops(region.function))
    found = []
    for loop in _first_level(region.items):
        places = list(_places(loop))
        first, last = min(places), max(places)
        inside = [one.name for one in scop.statements if first <= (one.location.line, one.location.column) <= last]
        if inside:
            got = frozenset.intersection(*(scheduled.get(name, frozenset()) for name in inside))
            kept = got & (emitted | {"vector"} if marked.tilings else emitted)
            place = Location(loop.coord.file, loop.coord.line, loop.coord.column or 0)
            # Where a macro's value stands in its place, the region's loops are others, at the same places.
            number = 1 + next(k for k, other in enumerate(loops) if other.coord is loop.coord)
            words = tuple(what for what in WHAT if what in kept)
            found.append(Gain(place, number, loop_iterator(loop) or "?", words, frozenset(inside)))
    return tuple(found)


def _first_level(nodes: Any) -> Iterator[Any]:
    for item in nodes:
        if isinstance(item, ir.For):
            yield item
        elif isinstance(item, ir.Node):
            yield from _first_level(child for child in item.parts)


def _loops(node: Any) -> Iterator[Any]:
    """All `for` loops in a node, an outer one before those inside."""
    return (inner for inner in walk(node) if isinstance(inner, ir.For))


def _places(node: Any) -> Iterator[tuple[int, int]]:
    """The places of all that is in a node: a statement between the first and the last one of a loop's is part of it."""
    places = (inner.coord for inner in walk(node) if inner.coord is not None)
    return ((place.line, place.column or 0) for place in places)


def _marks(mark: LoopMark) -> frozenset[str]:
    return frozenset(what for what, on in (("parallel", mark.parallel), ("vector", mark.simd)) if on)


def _scheduled(marked: MarkedSchedule) -> dict[str, frozenset[str]]:
    """By statement: what the marks above it say; of a statement in several places, what any of them has."""
    found: dict[str, frozenset[str]] = {}

    def visit(node: isl.ScheduleNode, around: frozenset[str]) -> None:
        if node.get_type() == _TYPE.mark:
            mark = marked.mark(node)
            vectors = isinstance(mark, TileMark) and mark.place == "tile" and mark.tiling.simd
            around |= _marks(loop_of(mark)) | ({"vector"} if vectors else frozenset())
        if node.get_type() == _TYPE.leaf:
            for statement in sets_of(node.get_domain()):
                name = statement.get_tuple_name()
                found[name] = found.get(name, frozenset()) | around
        for position in range(node.n_children()):
            visit(node.child(position), around)

    visit(marked.tree.get_root(), frozenset())
    return found


def _emitted(block: Block) -> frozenset[str]:
    """What any loop of the nest is: bounds that are too small for threads or vectors have taken marks away."""
    return frozenset(what for item in items(block) if isinstance(item, For) for what in _marks(item.mark))
