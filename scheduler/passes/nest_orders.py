"""The order of the source for some nests of a region, the scheduler's for the others.

One nest that a scheduler skews, or whose vector loop it gives up for a permutable band, says nothing about those beside
it: products that it has taken out of loops, and that become register tiles, would go with it if all loops went back to
the order that they had.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule, TileMark
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.trees import Sequence, Tree, build, domain_of, read, restricted
from scopt.scheduler.passes.vector_share import share_of


def order_by_nests(
    scop: Scop, proposed: isl.Schedule, marked: MarkedSchedule, original: MarkedSchedule
) -> isl.Schedule | None:
    """The source's order, with the scheduler's in the nests that have register tiles by it alone, and no fewer vectors.
    None where there are none. proposed: the scheduler's order; marked, original: what becomes of it, and of the
    source's.

    That keeps to the dependences: those between two nests by the nests' order, which is the source's, those inside of
    one by whichever order it has.
    """
    source = read(scop.schedule.get_root())
    tiles = _tiled(marked) - _tiled(original)
    if not isinstance(source, Sequence) or not tiles:
        return None
    made: list[Tree] = []
    other, changed = read(proposed.get_root()), False
    for nest in source.parts:
        names = {str(part.get_tuple_name()) for part in sets_of(domain_of(nest))}
        own = restricted(other, domain_of(nest)) if names & tiles else None
        if own is not None and share_of(scop, names, marked) >= share_of(scop, names, original):
            nest, changed = own, True
        made.append(nest)
    return build(Sequence(tuple(made))) if changed else None


def _tiled(schedule: MarkedSchedule) -> frozenset[str]:
    """The statements in register tiles."""
    return frozenset(_in_tiles(schedule))


def _in_tiles(schedule: MarkedSchedule) -> Iterator[str]:
    for node in walk(schedule.tree.get_root()):
        if node.get_type() == isl.schedule_node_type.mark and isinstance(schedule.mark(node), TileMark):
            yield from (str(part.get_tuple_name()) for part in sets_of(node.get_domain()))
