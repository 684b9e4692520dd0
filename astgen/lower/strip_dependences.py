"""What strips of rows ask of the dependences."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule, StripMark, Strips
from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.isl_utils import agreeing_pairs, maps_of, walk


def apart(scop: Scop, deps: Dependences, schedule: MarkedSchedule) -> Dependences:
    """The dependences without those between copies of a scalar that rows have of their own.

    Raises InternalError if a value of such a scalar, or of a buffered array, goes from one row of a strip to another,
    or if one of a scalar leaves its strip: then copies would not do.
    """
    if schedule.strips:
        deps = deps.strict()  # rows of a strip are lanes of a vector
    kept = deps.all
    for strips, outside in _all_strips(schedule):
        lane = isl.UnionMap.from_union_pw_aff(strips.lane)
        pairs = _Pairs(outside.domain(), outside, lane)
        kept = tuple(one for old in kept for one in _without_copies(scop, strips, pairs, old))
    return Dependences(kept, deps.reductions)


def _all_strips(schedule: MarkedSchedule) -> Iterator[tuple[Strips, isl.UnionMap]]:
    """The strips of each band, and ``{ S[…] -> [outer loops] }``, what its instances
    have in common outside of the loop over strips."""
    for node in walk(schedule.tree.get_root()) if schedule.strips else ():
        if node.get_type() == isl.schedule_node_type.mark and isinstance(mark := schedule.mark(node), StripMark):
            loop = node.parent()
            yield mark.strips, loop.get_prefix_schedule_relation().intersect_domain(loop.get_domain())


class _Pairs(Struct, frozen=True, eq=False):
    """Pairs of instances of a loop over strips. domain: its instances; outside: ``{ S[…] -> [outer loops] }``, the
    same in one execution of the loop; lane: ``{ S[…] -> [row] }``."""

    domain: isl.UnionSet
    outside: isl.UnionMap
    lane: isl.UnionMap


def _without_copies(scop: Scop, strips: Strips, inside: _Pairs, dependence: Dependence) -> Iterator[Dependence]:
    buffered = dependence.array in {one.array for one in strips.buffers}
    scalar = dependence.array in strips.scalars
    touches = {dependence.source, dependence.sink} & set(strips.statements)
    if not touches or not (buffered or scalar) or dependence.kind == "input":
        yield dependence
        return
    pairs = isl.UnionMap.from_map(dependence.relation)
    own = pairs.intersect_domain(inside.domain).union(pairs.intersect_range(inside.domain))
    together = agreeing_pairs(pairs, inside.outside)
    same_row = agreeing_pairs(together, inside.lane)
    if scalar and dependence.kind != "flow":
        rest = pairs.subtract(together.subtract(same_row))
        yield from (replace(dependence, relation=one) for one in maps_of(rest))
        return
    if not together.is_subset(same_row) or (scalar and not own.is_subset(together)):
        raise InternalError(
            f"{scop.location}: '{dependence.array}' is kept by rows, but its values don't stay in theirs"
        )
    yield dependence
