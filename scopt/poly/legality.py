"""Legality of schedules and of generated loops, decided from the dependences alone.

Both forms of a program, schedule tree and simplified form, come down to the same question: do these dates order every
dependence, and does no parallel loop carry one? A no is an InternalError with a concrete pair of instances and the cell
they share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Reduction
from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.counterexamples import counterexample
from scopt.poly.date_classes import DateClasses
from scopt.poly.date_pieces import in_few_pieces
from scopt.poly.dates import agreeing, by_place, date_length, dated, differs, goes_forward, not_forward, outer_part
from scopt.poly.isl_utils import compact, maps_of, sets_of, union_of_maps, union_of_sets, walk
from scopt.poly.pair_classes import Classes, Instances
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
    checked, in_order = _Checked.of(relaxed), set[object]()
    for dependence in kept:
        key = checked.key(dependence)
        if (dependence.kind != "flow" and dependence.array in private) or key in in_order:
            continue
        if not all(goes_forward(joint) for joint in dated(dependence.relation, relaxed)):
            late = [
                not_forward(joint).domain().unwrap()
                for joint in dated(dependence.relation, dates)
                if not goes_forward(joint)
            ]
            _refuse_pairs(scop, dependence.array, dependence.kind, union_of_maps(late), "is not executed in order")
        in_order.add(key)
    ranges = _ranges(deps, private)
    for name in sorted(private):
        try:
            _check_live_ranges(scop, name, ranges[name], checked)
        except InternalError:
            _check_live_ranges(scop, name, ranges[name], _Checked.of(dates))
    outer: dict[int, _Checked] = {}
    for loop in loops:
        if loop.dim not in outer:
            part = outer_part(relaxed, loop.dim + 1, isl.Set.coalesce)
            outer[loop.dim] = _Checked.of(part, checked.classes)
        try:
            _check_loop(
                scop, (*kept, *deps.reductions), outer[loop.dim], replace(loop, around=_around(scop, loop.statements))
            )
        except InternalError:
            exact = replace(loop, statements=union_of_sets(compact(part) for part in sets_of(loop.statements)))
            _check_loop(scop, (*kept, *deps.reductions), _Checked.of(outer_part(dates, loop.dim + 1)), exact)


class _Checked(Struct, frozen=True, eq=False):
    """Some dates, and what has been found out about pairs: a flow, an anti and an output dependence often are the same
    pairs, and straight code has hundreds that differ in the statements' names alone. depths: in how many leading
    dimensions pairs agree, if there are any; forward: whether those that agree in so many go forward."""

    classes: Classes
    dates: isl.UnionMap
    own: DateClasses
    depths: dict[object, int | None] = field(default_factory=dict)
    forward: dict[object, bool] = field(default_factory=dict)

    @staticmethod
    def of(dates: isl.UnionMap, classes: Classes | None = None) -> _Checked:
        classes = classes or Classes()
        return _Checked(classes, dates, DateClasses.of(classes, dates))

    def key(self, dependence: Dependence) -> object:
        """The same for any two dependences whose pairs are in order, or aren't, together."""
        between = self.own.between(dependence.source, dependence.sink)
        ends = between if between is not None else (dependence.source, dependence.sink)
        return self.classes.lasting(dependence.relation), ends

    def common_depth(self, flows: Sequence[Dependence]) -> int:
        """In how many leading dimensions all pairs agree."""
        for one in flows:
            key = self.key(one)
            if key not in self.depths:
                self.depths[key] = _common_depth(isl.UnionMap.from_map(one.relation), self.dates)
        found = (self.depths[self.key(one)] for one in flows)
        return min((depth for depth in found if depth is not None), default=0)

    def in_order_within(self, pairs: Sequence[Dependence], depth: int) -> bool:
        """Whether all pairs that agree in the first `depth` dimensions go forward."""
        for one in pairs:
            key = self.key(one), depth
            if key not in self.forward:
                self.forward[key] = _in_order_within(isl.UnionMap.from_map(one.relation), self.dates, depth)
            if not self.forward[key]:
                return False
        return True


class _Ranges(Struct, frozen=True, eq=False):
    """The live ranges of a private array, and pairs of two of them."""

    flow: list[Dependence]
    reuse: list[Dependence]


def _ranges(deps: Dependences, private: Collection[str]) -> dict[str, _Ranges]:
    """Those of each private array."""
    found = {name: _Ranges([], []) for name in private}
    for one in deps.select("flow", "anti", "output"):
        if one.array in found:
            (found[one.array].flow if one.kind == "flow" else found[one.array].reuse).append(one)
    return found


def overlapping_private(scop: Scop, deps: Dependences, dates: isl.UnionMap) -> tuple[str, ...]:
    """The private arrays that have live ranges which overlap under some dates."""
    found, checked = [], _Checked.of(dates)
    ranges = _ranges(deps, [name for name, array in scop.arrays.items() if array.private])
    for name in sorted(ranges):
        try:
            _check_live_ranges(scop, name, ranges[name], checked)
        except InternalError:
            found.append(name)
    return tuple(found)


def _check_loop(scop: Scop, kept: tuple[Dependence, ...], outer: _Checked, loop: ParallelDim) -> None:
    """No dependence between two iterations of the loop within one execution of it.
    outer: dates up to the loop, see `outer_part`."""
    passed, inside_loop = set[object](), Instances.of(outer.classes, loop.statements)
    instances = inside_loop if loop.around is None else Instances.of(outer.classes, loop.around)
    _check_reductions(scop, kept, loop)
    clauses = {(reduction.operator, reduction.array) for reduction in loop.reductions}
    for dependence in kept:
        if dependence.kind == "reduction" and (dependence.operator, dependence.array) in clauses:
            continue
        if dependence.kind != "flow" and dependence.array in loop.private:
            continue
        key, ends = outer.key(dependence), (dependence.source, dependence.sink)
        if dependence.array in loop.private:
            borders = ("borders", key, *map(inside_loop.number, ends))
            if borders not in passed and any(end in inside_loop.parts for end in ends):
                _check_borders(scop, dependence, loop)
            passed.add(borders)
        if not all(end in instances.parts for end in ends):
            continue
        key = (key, *map(instances.number, ends))
        if key in passed:
            continue
        source, sink = (instances.parts[end][0] for end in ends)
        inside = dependence.relation.intersect_domain(source).intersect_range(sink)
        if inside.is_empty():
            continue
        carried = [joint for joint in dated(inside, outer.dates) if differs(agreeing(joint, loop.dim), loop.dim)]
        what = f"is carried by the parallel loop in dimension {loop.dim}"
        _refuse_pairs(
            scop, dependence.array, dependence.kind, union_of_maps(j.domain().unwrap() for j in carried), what
        )
        passed.add(key)


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


def _check_borders(scop: Scop, dependence: Dependence, loop: ParallelDim) -> None:
    """A live range of a copy must not lead into or out of the loop."""
    relation = isl.UnionMap.from_map(dependence.relation)
    crossing = relation.intersect_domain(loop.statements).subtract_range(loop.statements)
    crossing = crossing.union(relation.intersect_range(loop.statements).subtract_domain(loop.statements))
    _refuse_pairs(scop, dependence.array, "flow", crossing, "leaves or enters a loop with a private copy")


def check_marks(scop: Scop, deps: Dependences, schedule: MarkedSchedule) -> None:
    """Raise InternalError if a loop that the tree marks as parallel or vector carries a dependence."""
    classes = Classes()
    for node in walk(schedule.tree.get_root()):
        if node.get_type() != isl.schedule_node_type.mark:
            continue
        band = node.child(0)
        mark = schedule.loop(node)
        if not (mark.parallel or mark.simd or mark.ended):
            continue
        member = isl.UnionMap.from_multi_union_pw_aff(band.band_get_partial_schedule().flatten_range())
        prefix = (
            isl.UnionMap.from_multi_union_pw_aff(band.get_prefix_schedule_multi_union_pw_aff())
            if band.get_schedule_depth()
            else None
        )
        dates = prefix.flat_range_product(member) if prefix is not None else member
        loop = ParallelDim(band.get_schedule_depth(), band.get_domain(), mark.private, reductions=mark.reductions)
        outer = _Checked.of(outer_part(dates, loop.dim + 1), classes)
        _check_loop(scop, (*deps.select("flow", "anti", "output"), *deps.reductions), outer, loop)


def _violated(pairs: isl.UnionMap, dates: isl.UnionMap) -> isl.UnionMap:
    """The pairs whose source doesn't come strictly before their sink."""
    result = isl.UnionMap("{ }")
    for relation in maps_of(pairs):
        late = [joint for joint in dated(relation, dates) if not goes_forward(joint)]
        for joint in late:
            result = result.union(isl.UnionMap.from_map(not_forward(joint).domain().unwrap()))
    return result


def _check_live_ranges(scop: Scop, name: str, ranges: _Ranges, checked: _Checked) -> None:
    """Where a reuse pair is not in order, both of its live ranges must have changed places as wholes."""
    # Where all live ranges stay within one iteration of the outer dimensions,
    # only pairs within one such iteration can overlap.
    if checked.in_order_within(ranges.reuse, checked.common_depth(ranges.flow)):
        return
    flow = union_of_maps(d.relation for d in ranges.flow)
    reuse = union_of_maps(d.relation for d in ranges.reuse)
    dates = checked.dates
    swapped = _violated(reuse, dates)
    if swapped.is_empty():
        return
    identity = scop.domain.identity()
    first_begins = swapped.apply_domain(flow.reverse().union(identity))
    pairs = first_begins.apply_range(flow.union(identity)).reverse()
    _refuse_pairs(
        scop, name, "live range", _violated(pairs, dates), "overlaps another one of the same private variable"
    )


def _common_depth(pairs: isl.UnionMap, dates: isl.UnionMap) -> int | None:
    """In how many leading dimensions all pairs agree; None if there are none."""
    joints = [joint for relation in maps_of(pairs) for joint in dated(relation, dates)]
    depth = min((date_length(joint) for joint in joints), default=None)
    for joint in joints:
        for position in range(depth or 0):
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
