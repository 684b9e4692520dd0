"""Which small loops are scheduled as one statement with what stands beside them: those that straight code will stand
for, wherever the loops around them go."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.contractions import shape_of
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.decisions.small_loops import (
    MOST_INSTANCES,
    inner_bands,
    is_short,
    straightened,
    values_of,
    values_of_member,
)
from scopt.scheduler.decisions.windows import borders, settled
from scopt.scheduler.locality.strides import linear_schedule, strides
from scopt.scheduler.passes.compounds import Grouping, grouped

_BAND = isl.schedule_node_type.band


def with_compounds(scop: Scop, deps: Dependences, options: Options) -> Grouping | None:
    """The SCoP with compounds for such loops; None if it has none."""
    if not options.simd:
        return None
    bodies = list(_bodies(scop, options, scop.schedule.get_root()))
    return grouped(scop, deps, bodies) if bodies else None


def _bodies(scop: Scop, options: Options, node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """What the innermost loops that aren't small have inside, where that are small loops and other statements."""
    if node.get_type() == _BAND and has_inner_bands(node) and _is_compound(scop, options, node):
        yield node.child(0)
        return
    for position in range(node.n_children()):
        yield from _bodies(scop, options, node.child(position))


def _is_compound(scop: Scop, options: Options, node: isl.ScheduleNode) -> bool:
    names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
    if len(names) < 2 or (wanted(options) and any(shape_of(scop, scop.statement(name)) for name in names)):
        return False
    depth = int(node.get_schedule_depth()) + int(node.band_n_member())
    still = settled(node.child(0), depth).parent()
    walk = strides(scop, linear_schedule(scop, node), int(node.band_n_member()) - 1)
    records = walk.by_records and not walk.along_lines
    if still.is_equal(node) and not records and not _share_scalars(scop, names):
        return False
    inner = tuple(inner_bands(still.child(0)))
    if not all(values_of(one) for one in inner) or not is_short(still, inner):
        return False
    if any(_fills_vectors(scop, options, one) for one in inner):
        return False
    straight = straightened(still.child(0)).parent()
    walk = strides(scop, linear_schedule(scop, straight), int(node.band_n_member()) - 1)
    return (walk.along_lines or walk.by_records) and borders(straight) is not None


def _share_scalars(scop: Scop, names: list[str]) -> bool:
    """Whether several of the statements use a private scalar."""
    users = [
        {
            a.array
            for a in scop.statement(name).accesses
            if scop.arrays[a.array].private and not scop.arrays[a.array].rank
        }
        for name in names
    ]
    return any(one & other for k, one in enumerate(users) for other in users[:k])


def _fills_vectors(scop: Scop, options: Options, node: isl.ScheduleNode) -> bool:
    """Whether a small loop may be a vector loop itself."""
    schedule = linear_schedule(scop, node)
    for member in range(node.band_n_member()):
        walk = strides(scop, schedule, member)
        if walk.contiguous and walk.unit_writes:
            points = values_of_member(node, member, MOST_INSTANCES)
            if points is not None and len(points) >= Work.of(scop, options.machine, node).lanes:
                return True
    return False
