"""What shows that strips of rows and packed tiles are right: conditions on the dependences, and loops in terms of the original statements."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import islpy as isl

from scopt.astgen.readback import LoopDim, ReadBack, check_coverage
from scopt.astgen.sweeps.lower import Swept
from scopt.diagnostics import InternalError
from scopt.isl_utils import IN, OUT, maps_of, sets_of, union_of_maps, walk
from scopt.model import Dependence, Dependences, MarkedSchedule, Scop, Sweep
from scopt.verify import ParallelDim, check_order


def apart(scop: Scop, deps: Dependences, schedule: MarkedSchedule) -> Dependences:
    """The dependences without those between copies of a scalar that rows have of their own.

    Raises InternalError if a value of such a scalar, or of a buffered array, goes from one row of a strip to another, or if one of a scalar leaves
    its sweep: then copies would not do.
    """
    if schedule.sweeps:
        deps = deps.strict()  # rows of a strip are lanes of a vector
    kept = deps.all
    for sweep, inside in _sweeps(schedule):
        kept = tuple(one for old in kept for one in _without_copies(scop, sweep, inside, old))
    return Dependences(kept, deps.reductions)


def _sweeps(schedule: MarkedSchedule) -> Iterator[tuple[Sweep, isl.UnionMap]]:
    """Each sweep, and ``{ S[…] -> [outer loops] }``, what its instances have in common outside of the loop over strips."""
    for node in walk(schedule.tree.get_root()) if schedule.sweeps else ():
        if node.get_type() == isl.schedule_node_type.mark and (name := node.mark_get_id().get_name()) in schedule.sweeps:
            loop = node.parent()
            yield schedule.sweeps[name], loop.get_prefix_schedule_relation().intersect_domain(loop.get_domain())


def _without_copies(scop: Scop, sweep: Sweep, outside: isl.UnionMap, dependence: Dependence) -> Iterator[Dependence]:
    buffered = dependence.array in {one.array for one in sweep.buffers}
    scalar = dependence.array in sweep.scalars
    touches = {dependence.source, dependence.sink} & set(sweep.statements)
    if not touches or not (buffered or scalar) or dependence.kind == "input":
        yield dependence
        return
    pairs = isl.UnionMap.from_map(dependence.relation)
    together = pairs.intersect(outside.apply_range(outside.reverse()))
    lane = isl.UnionMap.from_union_pw_aff(sweep.lane)
    same_row = together.intersect(lane.apply_range(lane.reverse()))
    if scalar and dependence.kind != "flow":
        rest = pairs.subtract(together.subtract(same_row))
        yield from (replace(dependence, relation=one) for one in maps_of(rest))
        return
    if not together.is_subset(same_row) or (scalar and not pairs.is_subset(together)):
        raise InternalError(f"{scop.location}: '{dependence.array}' is kept by rows, but its values don't stay in theirs")
    yield dependence


def check_copies(swept: Swept, read: ReadBack) -> None:
    """Raise InternalError unless all copies are made, before or after the statements that they are made for, and none for one tile between those for
    another one. read: before `originals`."""
    if not swept.made:
        return
    own = [m for m in maps_of(read.schedule) if m.get_tuple_name(IN) in swept.made]
    scop = replace(swept.scop, statements=tuple(one for one in swept.scop.statements if one.name in swept.made))
    schedule = union_of_maps(own)
    check_coverage(scop, ReadBack(schedule, read.dims, ()))
    pairs = tuple(Dependence("flow", "", _source(one), _sink(one), one) for one in swept.order)
    check_order(replace(scop, arrays={}), Dependences(pairs), schedule)
    _check_tiles(swept, read)


def _check_tiles(swept: Swept, read: ReadBack) -> None:
    """What tiles copy is in order too, and carried by no parallel loop; what is chosen for a thread stays with it."""
    pairs = tuple(Dependence("flow", "", _source(one), _sink(one), one) for one in swept.between)
    loops = [ParallelDim(loop.dimension, loop.statements, ()) for loop in read.loops]
    if pairs:
        check_order(replace(swept.scop, arrays={}), Dependences(pairs), read.schedule, loops)
    for loop in read.loops:
        chosen = {part.get_tuple_name() for part in sets_of(loop.statements)} & set(swept.pointers)
        if loop.mark.parallel and chosen:
            _check_threads(swept, read, loop, chosen)


def _check_threads(swept: Swept, read: ReadBack, loop: LoopDim, chosen: Collection[str]) -> None:
    """Each thread has variables of its own for what it copies to, and all that uses them runs in the iteration that has set them."""
    shared = sorted({swept.pointers[name] for name in chosen} - set(loop.mark.private))
    if shared:
        raise InternalError(f"{swept.scop.location}: threads share '{shared[0]}', which says what one of them copies to")
    dates = union_of_maps(one.project_out(OUT, loop.dimension + 1, one.dim(OUT) - loop.dimension - 1) for one in maps_of(read.schedule))
    pairs = union_of_maps(one for one in swept.order if _source(one) in chosen)
    iterations = pairs.apply_domain(dates).apply_range(dates)
    if not iterations.is_subset(iterations.domain().identity()):
        raise InternalError(f"{swept.scop.location}: a tile or strip, or what is copied for it, isn't run by one thread")


def _source(relation: isl.Map) -> str:
    return str(relation.get_tuple_name(isl.dim_type.in_))


def _sink(relation: isl.Map) -> str:
    return str(relation.get_tuple_name(isl.dim_type.out))


def originals(swept: Swept, read: ReadBack) -> ReadBack:
    """What was read back, in terms of the original statements."""
    if not swept.made:
        return read
    schedule = union_of_maps(m for m in maps_of(read.schedule) if m.get_tuple_name(IN) not in swept.made)
    for name, relation in swept.expansions.items():
        own = union_of_maps(m for m in maps_of(read.schedule) if m.get_tuple_name(IN) == name)
        schedule = schedule.union(isl.UnionMap.from_map(relation).apply_range(own))
    return ReadBack(schedule, read.dims, tuple(replace(loop, statements=_instances(swept, loop.statements)) for loop in read.loops))


def _instances(swept: Swept, statements: isl.UnionSet) -> isl.UnionSet:
    found = isl.UnionSet("{ }")
    for part in sets_of(statements):
        name = part.get_tuple_name()
        if name not in swept.made:
            found = found.union(isl.UnionSet.from_set(part))
        elif name in swept.expansions:
            found = found.union(isl.UnionSet.from_set(swept.expansions[name].intersect_range(part).domain()))
    return found
