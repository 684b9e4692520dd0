"""Legality of schedules and of generated loops, decided from the dependences alone.

Both forms of a program, schedule tree and simplified form, come down to the same question: do these dates order every
dependence, and does no parallel loop carry one? A no is an InternalError with a concrete pair of instances and the cell
they share.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Reduction
from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.counterexamples import counterexample
from scopt.poly.date_pieces import in_few_pieces
from scopt.poly.dates import agreeing, by_place, date_length, dated, differs, goes_forward, not_forward, outer_part
from scopt.poly.isl_utils import compact, maps_of, sets_of, union_of_maps, union_of_sets, walk
from scopt.poly.reductions import only_updates


class ParallelDim(Struct, frozen=True, eq=False):
    """A loop that claims to be parallel (or a vector loop).

    dim: its dimension in the dates. statements: instances that it runs. private: names of arrays that each iteration
      has a copy of.
    around: a simpler superset of `statements`, enough where no pair of it is carried. reductions: whose updates may be
      carried.
    """

    dim: int
    statements: isl.UnionSet
    private: tuple[str, ...]
    around: isl.UnionSet | None = None
    reductions: tuple[Reduction, ...] = ()


def check_order(scop: Scop, deps: Dependences, dates: isl.UnionMap, loops: Iterable[ParallelDim] = ()) -> None:
    """Raise InternalError unless `dates`, a map to one integer space in lexicographic order, runs the SCoP legally.

    Every flow, anti and output dependence over shared arrays and every live range of a private array must go forward in
    time. Two live ranges of one private cell may change places but not overlap. Loops in `loops` carry no dependence,
    their private copies and reductions apart.
    """
    private = {name for name, array in scop.arrays.items() if array.private}
    kept = deps.select("flow", "anti", "output")
    few = in_few_pieces(dates)
    # Relaxed dates and loops hold more than the real ones:
    # what is in order there is, and only the exact check can say no.
    # Where straight code has borders, the relaxed ones would mix these up.
    relaxed = _relaxed(scop, dates) if few is dates else few
    dates = few
    in_order = _Passed()
    for dependence in kept:
        if (dependence.kind != "flow" and dependence.array in private) or dependence.relation in in_order:
            continue
        if not all(goes_forward(joint) for joint in dated(dependence.relation, relaxed)):
            late = [
                not_forward(joint).domain().unwrap()
                for joint in dated(dependence.relation, dates)
                if not goes_forward(joint)
            ]
            _refuse_pairs(scop, dependence.array, dependence.kind, union_of_maps(late), "is not executed in order")
        in_order.add(dependence.relation)
    for name in sorted(private):
        try:
            _check_live_ranges(scop, deps, name, relaxed)
        except InternalError:
            _check_live_ranges(scop, deps, name, dates)
    outer: dict[int, isl.UnionMap] = {}
    for loop in loops:
        if loop.dim not in outer:
            outer[loop.dim] = outer_part(relaxed, loop.dim + 1, isl.Set.coalesce)
        try:
            _check_loop(
                scop, (*kept, *deps.reductions), outer[loop.dim], replace(loop, around=_around(scop, loop.statements))
            )
        except InternalError:
            exact = replace(loop, statements=union_of_sets(compact(part) for part in sets_of(loop.statements)))
            _check_loop(scop, (*kept, *deps.reductions), outer_part(dates, loop.dim + 1), exact)


class _Passed(Struct, frozen=True, eq=False):
    """Relations that have passed a check: a flow, an anti and an output dependence often are the same pairs."""

    found: dict[int, list[isl.Map]] = field(default_factory=dict)

    def __contains__(self, relation: isl.Map) -> bool:
        return any(relation.plain_is_equal(other) for other in self.found.get(hash(relation), ()))

    def add(self, relation: isl.Map) -> None:
        self.found.setdefault(hash(relation), []).append(relation)


def overlapping_private(scop: Scop, deps: Dependences, dates: isl.UnionMap) -> tuple[str, ...]:
    """The private arrays that have live ranges which overlap under some dates."""
    found = []
    for name in sorted(name for name, array in scop.arrays.items() if array.private):
        try:
            _check_live_ranges(scop, deps, name, dates)
        except InternalError:
            found.append(name)
    return tuple(found)


def _check_loop(scop: Scop, kept: tuple[Dependence, ...], outer: isl.UnionMap, loop: ParallelDim) -> None:
    """No dependence between two iterations of the loop within one execution of it.
    outer: dates up to the loop, see `outer_part`."""
    passed = _Passed()
    _check_reductions(scop, kept, loop)
    clauses = {(reduction.operator, reduction.array) for reduction in loop.reductions}
    for dependence in kept:
        if dependence.kind == "reduction" and (dependence.operator, dependence.array) in clauses:
            continue
        if dependence.kind != "flow" and dependence.array in loop.private:
            continue
        if dependence.array in loop.private:
            _check_borders(scop, dependence, loop)
        if dependence.relation in passed:
            continue
        statements = loop.around if loop.around is not None else loop.statements
        inside = dependence.relation.intersect_domain(_part(statements, dependence.relation, isl.dim_type.in_))
        inside = inside.intersect_range(_part(statements, dependence.relation, isl.dim_type.out))
        if inside.is_empty():
            continue
        carried = [joint for joint in dated(inside, outer) if differs(agreeing(joint, loop.dim), loop.dim)]
        what = f"is carried by the parallel loop in dimension {loop.dim}"
        _refuse_pairs(
            scop, dependence.array, dependence.kind, union_of_maps(j.domain().unwrap() for j in carried), what
        )
        passed.add(dependence.relation)


def _check_reductions(scop: Scop, kept: tuple[Dependence, ...], loop: ParallelDim) -> None:
    """A variable that is reduced in a loop has no value there: nothing but its updates may touch it. Of arrays, the
    cells that are reduced become variables when the loop is printed (`scopt.astgen.passes.held_check`).
    """
    inside = {part.get_tuple_name() for part in sets_of(loop.statements)}
    for one in loop.reductions:
        if not any(a.is_write and a.array == one.array for name in inside for a in scop.statement(name).accesses):
            raise InternalError(f"{scop.location}: a parallel loop reduces '{one.array}', which nothing in it updates")
        pairs = [d for d in kept if d.kind == "reduction" and (d.operator, d.array) == (one.operator, one.array)]
        others = inside - {name for d in pairs for name in (d.source, d.sink)}
        touching = sorted(name for name in others if any(a.array == one.array for a in scop.statement(name).accesses))
        if (touching and not scop.arrays[one.array].rank) or one.array in loop.private:
            raise InternalError(
                f"{scop.location}: a parallel loop reduces '{one.array}', which {', '.join(touching)} needs inside"
            )
        if one.whole and not only_updates(scop, map(scop.statement, inside), one.operator, one.array):
            raise InternalError(
                f"{scop.location}: threads have copies of '{one.array}', but don't only update it by '{one.operator}'"
            )


def _relaxed(scop: Scop, dates: isl.UnionMap) -> isl.UnionMap:
    """A superset of the dates with one basic map for each place where a statement stands, for as long as iteration
    domains are convex.

    Bounds and guards split the dates into many pieces, which multiply in every check. Where the superset is in order,
    the dates are.
    """
    hulls = []
    domains = {part.get_tuple_name(): part for part in sets_of(scop.domain)}
    for relation in maps_of(dates):
        domain = domains.get(relation.get_tuple_name(isl.dim_type.in_))
        if domain is None:
            continue  # it has no instances, and so no dependences
        hulls += [isl.Map.from_basic_map(place.simple_hull()).intersect_domain(domain) for place in by_place(relation)]
    return union_of_maps(hulls)


def _around(scop: Scop, instances: isl.UnionSet) -> isl.UnionSet:
    """A superset of some instances with one basic set a statement, for as long as iteration domains are convex."""
    return union_of_sets(isl.Set.from_basic_set(part.simple_hull()) for part in sets_of(instances)).intersect(
        scop.domain
    )


def _part(union: isl.UnionSet, relation: isl.Map, side: isl.dim_type) -> isl.Set:
    """The part of a union in the space of one side of a relation."""
    space = relation.get_space()
    return union.extract_set(space.domain() if side == isl.dim_type.in_ else space.range())


def _check_borders(scop: Scop, dependence: Dependence, loop: ParallelDim) -> None:
    """A live range of a copy must not lead into or out of the loop."""
    relation = isl.UnionMap.from_map(dependence.relation)
    crossing = relation.intersect_domain(loop.statements).subtract_range(loop.statements)
    crossing = crossing.union(relation.intersect_range(loop.statements).subtract_domain(loop.statements))
    _refuse_pairs(scop, dependence.array, "flow", crossing, "leaves or enters a loop with a private copy")


def check_marks(scop: Scop, deps: Dependences, schedule: MarkedSchedule) -> None:
    """Raise InternalError if a loop that the tree marks as parallel or vector carries a dependence."""
    for node in walk(schedule.tree.get_root()):
        if node.get_type() != isl.schedule_node_type.mark:
            continue
        band = node.child(0)
        mark = schedule.loop(node)
        if not (mark.parallel or mark.simd):
            continue
        member = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule().flatten_range())
        prefix = (
            isl.UnionMap.from_multi_union_pw_aff(band.get_prefix_schedule_multi_union_pw_aff())
            if band.get_schedule_depth()
            else None
        )
        dates = prefix.flat_range_product(member) if prefix is not None else member
        loop = ParallelDim(band.get_schedule_depth(), band.get_domain(), mark.private, reductions=mark.reductions)
        outer = outer_part(dates, loop.dim + 1)
        _check_loop(scop, (*deps.select("flow", "anti", "output"), *deps.reductions), outer, loop)


def _violated(pairs: isl.UnionMap, dates: isl.UnionMap) -> isl.UnionMap:
    """The pairs whose source doesn't come strictly before their sink."""
    result = isl.UnionMap("{ }")
    for relation in maps_of(pairs):
        late = [joint for joint in dated(relation, dates) if not goes_forward(joint)]
        for joint in late:
            result = result.union(isl.UnionMap.from_map(not_forward(joint).domain().unwrap()))
    return result


def _check_live_ranges(scop: Scop, deps: Dependences, name: str, dates: isl.UnionMap) -> None:
    """Where a reuse pair is not in order, both of its live ranges must have changed places as wholes."""
    flow = union_of_maps(d.relation for d in deps.select("flow") if d.array == name)
    reuse = union_of_maps(d.relation for d in deps.select("anti", "output") if d.array == name)
    # Where all live ranges stay within one iteration of the outer dimensions,
    # only pairs within one such iteration can overlap.
    if _in_order_within(reuse, dates, _common_depth(flow, dates)):
        return
    swapped = _violated(reuse, dates)
    if swapped.is_empty():
        return
    identity = scop.domain.identity()
    first_begins = swapped.apply_domain(flow.reverse().union(identity))
    pairs = first_begins.apply_range(flow.union(identity)).reverse()
    _refuse_pairs(
        scop, name, "live range", _violated(pairs, dates), "overlaps another one of the same private variable"
    )


def _common_depth(pairs: isl.UnionMap, dates: isl.UnionMap) -> int:
    """In how many leading dimensions all pairs agree."""
    joints = [joint for relation in maps_of(pairs) for joint in dated(relation, dates)]
    depth = min((date_length(joint) for joint in joints), default=0)
    for joint in joints:
        for position in range(depth):
            if differs(joint, position):
                depth = position
                break
    return depth


def _in_order_within(pairs: isl.UnionMap, dates: isl.UnionMap, depth: int) -> bool:
    """Whether all pairs that agree in the first `depth` dimensions go forward."""
    for relation in maps_of(pairs):
        for joint in dated(relation, dates):
            if not goes_forward(agreeing(joint, depth)):
                return False
    return True


def _refuse_pairs(scop: Scop, array: str, kind: str, pairs: isl.UnionMap, what: str) -> None:
    if pairs.is_empty():
        return
    raise InternalError(
        f"{scop.location}: illegal schedule: {kind} dependence over '{array}' {what}: "
        f"{counterexample(scop, array, kind, pairs)}"
    )
