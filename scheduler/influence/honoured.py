"""Whether the loops that the user's pragmas ask for are there,
and which dependence stands in the way where they aren't."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import MarkedSchedule, TileMark
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Dependence, Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.bands import active, band_nodes, is_coincident, ordered
from scopt.poly.counterexamples import counterexample
from scopt.poly.isl_utils import IN, OUT, SET, maps_of, sets_of, union_of_maps, walk
from scopt.poly.linear import coefficients

if TYPE_CHECKING:
    from scopt.poly.readback import LoopDim, ReadBack

_BAND = isl.schedule_node_type.band


def wishes(scop: Scop, options: Options) -> tuple[LoopDirective, ...]:
    """The SCoP's directives that count: where no OpenMP is to be emitted for the one or the other kind of loop, none of
    that kind does."""
    return tuple(d for d in scop.directives if (options.parallel if d.kind == "parallel" else options.simd))


def wished_member(scop: Scop, node: isl.ScheduleNode, directives: Iterable[LoopDirective], kind: str) -> int | None:
    """The outermost of `wished_members`; None if there is none."""
    return next(iter(wished_members(scop, node, directives, kind)), None)


def wished_members(
    scop: Scop, node: isl.ScheduleNode, directives: Iterable[LoopDirective], kind: str
) -> tuple[int, ...]:
    """The members of a band that are the iterator (or its negative, shifted by a constant) of a directive of that kind,
    for all targets that the band has."""
    found: list[int] = []
    names = {part.get_tuple_name() for part in sets_of(node.get_domain())}
    partial = node.band_get_partial_schedule()
    targets = [[target for target in d.targets if target[0] in names] for d in directives if d.kind == kind]
    if not any(targets):
        return ()
    for member in range(node.band_n_member()):
        pieces = partial.get_at(member).get_pw_aff_list()
        functions = {f.get_tuple_id(IN).get_name(): f for f in (pieces.get_at(k) for k in range(pieces.n_pw_aff()))}
        if any(
            meant and all(_is_iterator(scop, functions[name], name, iterator) for name, iterator in meant)
            for meant in targets
        ):
            found.append(member)
    return tuple(found)


def _is_iterator(scop: Scop, function: isl.PwAff, statement: str, iterator: str) -> bool:
    row = coefficients(function)
    position = scop.statement(statement).iterators.index(iterator)
    return row is not None and all(abs(value) == int(k == position) for k, value in enumerate(row))


# --- the result -------------------------------------------------------------------------------------------------------


class MarkedLoop(Struct, frozen=True, eq=False):
    """A loop that is parallel or a vector loop. statements: the instances that it runs; values: ``{ S[…] -> [v] }``,
    its iterator's value when it does."""

    parallel: bool
    simd: bool
    statements: isl.UnionSet
    values: isl.UnionMap


def loops_of_nest(read: ReadBack) -> tuple[MarkedLoop, ...]:
    """Of generated loops, read back."""

    def values(loop: LoopDim) -> isl.UnionMap:
        inside = maps_of(read.schedule.intersect_domain(loop.statements))
        return union_of_maps(_only(one, OUT, loop.dimension) for one in inside)

    return tuple(MarkedLoop(one.mark.parallel, one.mark.simd, one.statements, values(one)) for one in read.loops)


def loops_of_tree(marked: MarkedSchedule) -> tuple[MarkedLoop, ...]:
    """Of a schedule tree. Register tiles have their columns side by side in vectors."""
    found = []
    for node in walk(marked.tree.get_root()):
        if node.get_type() != isl.schedule_node_type.mark:
            continue
        mark, band = marked.mark(node), node.child(0)
        if isinstance(mark, LoopMark) and (mark.parallel or mark.simd):
            member = band.band_get_partial_schedule().get_at(0)
            found.append(MarkedLoop(mark.parallel, mark.simd, band.get_domain(), _values(member)))
        elif isinstance(mark, TileMark) and mark.place == "tile" and mark.tiling.simd:
            column = band.band_get_partial_schedule().get_at(band.band_n_member() - 1)
            found.append(MarkedLoop(False, True, band.get_domain(), _values(column)))
    return tuple(found)


def _values(member: isl.UnionPwAff) -> isl.UnionMap:
    return isl.UnionMap.from_union_pw_aff(member)


def unhonoured(
    scop: Scop, directives: Iterable[LoopDirective], loops: Sequence[MarkedLoop]
) -> tuple[LoopDirective, ...]:
    """The directives that loops don't fulfil.

    Each target of ``parallel(i)`` has to stand in a loop marked parallel, each one of ``vector(j)`` in one marked simd,
    over the iterator or its tiles: the loop's value is a monotone function of the iterator alone. Of several iterators
    of a statement that shall be parallel one is enough, since threads are forked once.
    """
    listed = tuple(directives)
    parallel = {(statement, iterator) for d in listed if d.kind == "parallel" for statement, iterator in d.targets}
    missing = []
    for directive in listed:
        accepted = {
            statement: {i for s, i in parallel if s == statement} if directive.kind == "parallel" else {iterator}
            for statement, iterator in directive.targets
        }
        if not accepted or not all(
            _is_there(scop, directive, *target, accepted[target[0]], loops) for target in directive.targets
        ):
            missing.append(directive)
    return tuple(missing)


def _is_there(
    scop: Scop,
    directive: LoopDirective,
    statement: str,
    wished: str,
    accepted: Iterable[str],
    loops: Sequence[MarkedLoop],
) -> bool:
    """Whether a statement's instances stand in such loops;
    those may be missing around an instance that is alone in the wished loop."""
    domain = scop.statement(statement).domain.intersect_params(scop.context)
    left = isl.UnionSet.from_set(domain)
    for loop in loops:
        marked = loop.parallel if directive.kind == "parallel" else loop.simd
        if marked and any(runs_over(loop, statement, domain.find_dim_by_name(SET, one)) for one in accepted):
            left = left.subtract(loop.statements)
    position = domain.find_dim_by_name(SET, wished)
    return not any(_varies(part, position) for part in sets_of(left) if part.get_tuple_name() == statement)


def _varies(instances: isl.Set, position: int) -> bool:
    """Whether two instances differ in this iterator and in no other one."""
    others = instances.identity().project_out(OUT, position, 1)
    return not others.apply_range(others.reverse()).subtract(instances.identity()).is_empty()


def runs_over(loop: MarkedLoop, statement: str, position: int) -> bool:
    """Whether the loop's value is a monotone function, and no constant, of one iterator of the statement."""
    inside = [m for m in maps_of(loop.values.intersect_domain(loop.statements)) if m.get_tuple_name(IN) == statement]
    if not inside:
        return False
    values = _only(inside[0], IN, position).coalesce()
    if not values.is_single_valued():
        return False
    # [i → i'] to [value → value'] for i < i'
    pairs = values.product(values)
    ascending = isl.Map("{ [a] -> [b] : a < b }").wrap()
    pairs = pairs.intersect_domain(ascending)
    falls, rises = (
        not pairs.intersect_range(isl.Map(f"{{ [a] -> [b] : a {op} b }}").wrap()).is_empty() for op in (">", "<")
    )
    return falls != rises


def _only(relation: isl.Map, side: isl.dim_type, position: int) -> isl.Map:
    """A map with one of its input or output dimensions, unnamed."""
    relation = relation.project_out(side, position + 1, relation.dim(side) - position - 1).project_out(
        side, 0, position
    )
    return relation.reset_tuple_id(side) if relation.has_tuple_id(side) else relation


# --- why not ----------------------------------------------------------------------------------------------------------


def complaint(scop: Scop, deps: Dependences, directive: LoopDirective) -> str:
    """The error message for a directive that isn't fulfilled: ``file:line:col:
    error: parallel(i) can't be honoured: …``."""
    reason = (
        forbidding(scop, deps, directive)
        or "no dependence forbids it, but no schedule was found in which the loop is like that"
    )
    return f"{directive.location}: error: {directive} can't be honoured: {reason}"


def forbidding(scop: Scop, deps: Dependences, directive: LoopDirective) -> str | None:
    """What stands in the way of a directive: a dependence that the wished loop carries in the original order, with an
    example; None if there is none.

    Arrays of which each iteration can have a private copy are left out. A dependence between instances that agree in
    all other loops is named first: no schedule makes such a loop parallel, while others might be carried by another
    loop after a transformation.
    """
    if not directive.targets:
        return "the loop has no statement of its own: it is empty, or part of a statement that is executed as a whole"
    dependences = ordered(scop, deps)
    fallback: str | None = None
    for node in band_nodes(scop.schedule):
        member = node.band_get_partial_schedule().get_at(0)
        if not _is_meant(scop, node, directive) or is_coincident(node, member, dependences):
            continue
        for dependence, carried in _carried(scop, deps, node):
            alone = _agreeing_inside(carried, node)
            if not alone.is_empty():
                return _described(scop, dependence, alone)
            fallback = fallback or _described(scop, dependence, carried)
    return fallback


def _is_meant(scop: Scop, node: isl.ScheduleNode, directive: LoopDirective) -> bool:
    """Whether a band of the original order is a loop of the directive: there each band is one loop."""
    names, depth = {part.get_tuple_name() for part in sets_of(node.get_domain())}, node.get_schedule_depth()
    return any(
        name in names and scop.statement(name).iterators.index(iterator) == depth
        for name, iterator in directive.targets
    )


def _carried(scop: Scop, deps: Dependences, node: isl.ScheduleNode) -> Iterator[tuple[Dependence, isl.UnionMap]]:
    """The dependences with pairs that a loop of the original order carries, over shared arrays first, and these pairs.

    Of private arrays, those with live ranges that the loop carries; if there are none, those whose cells are used
    again.
    """
    member = node.band_get_partial_schedule()
    found = []
    for dependence in deps.select("flow", "anti", "output"):
        pairs = active(isl.UnionMap.from_map(dependence.relation), node)
        carried = pairs if pairs.is_empty() else pairs.subtract(pairs.eq_at_multi_union_pw_aff(member))
        if not carried.is_empty():
            found.append((dependence, carried))
    yield from sorted(found, key=lambda item: (scop.arrays[item[0].array].private, item[0].kind != "flow"))


def _agreeing_inside(pairs: isl.UnionMap, node: isl.ScheduleNode) -> isl.UnionMap:
    """Those pairs that agree in all loops inside which both ends share."""
    for below in walk(node.child(0)):
        if below.get_type() == _BAND and not pairs.is_empty():
            domain = below.get_domain()
            if pairs.subtract_domain(domain).is_empty() and pairs.subtract_range(domain).is_empty():
                pairs = pairs.eq_at_multi_union_pw_aff(below.band_get_partial_schedule())
    return pairs


def _described(scop: Scop, dependence: Dependence, pairs: isl.UnionMap) -> str:
    lines = [scop.statement(name).location.line for name in (dependence.source, dependence.sink)]
    places = f"line {lines[0]}" if lines[0] == lines[1] else f"line {lines[0]} to line {lines[1]}"
    spelled = scop.arrays[dependence.array].spelling
    return (
        f"{dependence.kind} dependence over '{spelled}', {places}: "
        f"{counterexample(scop, dependence.array, dependence.kind, pairs)}"
    )
