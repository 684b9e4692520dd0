"""Properties of bands, computed from the dependences and from nothing else:
permutable, coincident, what a loop carries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.nest import Reduction
from scopt.ir.scop import Array, Dependence, Dependences, Scop
from scopt.poly.dependences import MAX_PRIVATE_BYTES, MAX_TABLE_BYTES, fits_a_stack
from scopt.poly.isl_utils import OUT, everywhere, joined, sets_of, union_of_maps, walk
from scopt.poly.pair_classes import Agreement, Classes
from scopt.poly.reductions import only_updates

_BAND = isl.schedule_node_type.band


class Ordered(Struct, frozen=True, eq=False):
    """The dependences of a SCoP, sorted by what they ask of a schedule.

    must: every pair in this order. shared: those of `must` over arrays that are not private. ranges: live ranges of
      private arrays by array (part of `must`). reuse: pairs of accesses to one private cell, by array.
    reductions: pairs of updates that may change places, though all of the above keeps their order, by the clause that a
      parallel loop needs which carries them. updating: by the same, the statements that they lead from and to. relaxed:
      all of the above without them; None without any. waits: `shared` without what a statement only reads before a
      later instance of it writes there. classes: what has been asked about any of these pairs.
    """

    must: isl.UnionMap
    shared: isl.UnionMap
    ranges: dict[str, isl.UnionMap]
    reuse: dict[str, isl.UnionMap]
    reductions: dict[Reduction, isl.UnionMap] = field(default_factory=dict)
    updating: dict[Reduction, frozenset[str]] = field(default_factory=dict)
    relaxed: Ordered | None = None
    waits: isl.UnionMap | None = None
    classes: Classes = field(default_factory=Classes)

    def between(self, pairs: isl.UnionMap) -> frozenset[tuple[str, str]]:
        """Source and sink of some of the pairs above, by their statements."""
        return frozenset((piece.source, piece.sink) for piece in self.classes.pieces_of(pairs))


@lru_cache(maxsize=4)
def ordered(scop: Scop, deps: Dependences) -> Ordered:
    """Sort the dependences once for all band passes. Several trees of one SCoP are looked at: what has been asked about
    its pairs is kept."""
    source = _sorted(scop, deps.strict().all)
    if not deps.reductions:
        return source
    by_clause: dict[Reduction, list[Dependence]] = {}
    for dependence in deps.reductions:
        clause = Reduction(dependence.operator, dependence.array, best=dependence.best)
        by_clause.setdefault(clause, []).append(dependence)
    updating = {
        clause: frozenset(name for d in some for name in (d.source, d.sink)) for clause, some in by_clause.items()
    }
    reductions = {clause: union_of_maps(d.relation for d in some) for clause, some in by_clause.items()}
    return replace(source, reductions=reductions, updating=updating, relaxed=_sorted(scop, deps.all, source.classes))


def _sorted(scop: Scop, dependences: Sequence[Dependence], classes: Classes | None = None) -> Ordered:
    def union(selected: list[Dependence]) -> isl.UnionMap:
        return union_of_maps(d.relation for d in selected)

    private = [name for name, array in scop.arrays.items() if array.private]
    kept = [d for d in dependences if d.kind != "input"]
    shared = union([d for d in kept if d.array not in private])
    ranges = {name: union([d for d in kept if d.array == name and d.kind == "flow"]) for name in private}
    reuse = {name: union([d for d in kept if d.array == name and d.kind != "flow"]) for name in private}
    must = shared
    for flow in ranges.values():
        must = must.union(flow)
    ahead = [d for d in kept if d.kind == "anti" and d.source == d.sink]
    waits = union([d for d in kept if d.array not in private and d not in ahead]) if ahead else None
    return Ordered(must, shared, ranges, reuse, waits=waits, classes=classes or Classes())


def active(pairs: isl.UnionMap, node: isl.ScheduleNode) -> isl.UnionMap:
    """Those pairs whose ends both reach the node and agree in everything outside it: what the node has to order."""
    domain = node.get_domain().coalesce()
    inside = pairs.intersect_domain(domain).intersect_range(domain)
    if node.get_schedule_depth() == 0 or inside.is_empty():
        return inside
    outside = functions_of(node.get_prefix_schedule_multi_union_pw_aff())
    return inside.eq_at_multi_union_pw_aff(joined([*map(everywhere, outside)]))


def agreeing_at(node: isl.ScheduleNode, dependences: Ordered, members: Iterable[isl.UnionPwAff] = ()) -> Agreement:
    """What `active` leaves of any pairs, to be asked about. members: in which they agree, too."""
    same = functions_of(node.get_prefix_schedule_multi_union_pw_aff()) if node.get_schedule_depth() else ()
    return Agreement.of(dependences.classes, node.get_domain().coalesce(), (*same, *members), everywhere=True)


def functions_of(schedule: isl.MultiUnionPwAff) -> tuple[isl.UnionPwAff, ...]:
    """The dimensions of a schedule."""
    return tuple(schedule.get_at(k) for k in range(schedule.dim(OUT)))


def distances(pairs: isl.UnionMap, member: isl.UnionPwAff) -> isl.Set | None:
    """The values of (sink - source) of one schedule dimension over some pairs, as ``{ [d] }``; None without pairs."""
    if pairs.is_empty():
        return None
    function = isl.UnionMap.from_union_pw_aff(member)
    deltas = pairs.apply_domain(function).apply_range(function).deltas()
    if deltas.is_empty():
        return None
    return isl.Set.from_union_set(deltas)


def nonnegative(deltas: isl.Set | None) -> bool:
    return deltas is None or bool(deltas.is_subset(isl.Set("{ [d] : d >= 0 }")))


def zero(deltas: isl.Set | None) -> bool:
    return deltas is None or bool(deltas.is_subset(isl.Set("{ [d] : d = 0 }")))


def with_properties(scop: Scop, dependences: Ordered, tree: isl.Schedule) -> isl.Schedule:
    """The tree with each band's permutable and coincident flags as the dependences have it; bands that are not
    permutable are split.

    A band is permutable if every active pair has non-negative distance in every member; a member is coincident if
    all its active distances are zero, private arrays apart.
    """
    node = tree.get_root()
    return with_properties_below(scop, dependences, node).get_schedule()


def with_properties_below(scop: Scop, dependences: Ordered, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The same for the bands of a subtree."""
    if node.get_type() == _BAND:
        node = _split_band(node, dependences)
    for position in range(node.n_children()):
        node = with_properties_below(scop, dependences, node.child(position)).parent()
    return node


def _split_band(node: isl.ScheduleNode, dependences: Ordered) -> isl.ScheduleNode:
    """The longest permutable prefix of a band as a band; the rest, split off, is met again further down."""
    partial = node.band_get_partial_schedule()
    members = node.band_n_member()
    place = agreeing_at(node, dependences)
    width = 0
    coincident: list[bool] = []
    everywhere_local, relaxed = set(dependences.reuse), set[str]()
    for position in range(members):
        member = partial.get_at(position)
        if not place.moves(dependences.must, member).forward:
            break
        # Live ranges may be reordered as wholes, but only while each stays within one iteration of every member.
        still_local = {name for name in everywhere_local if is_local(dependences.ranges[name], member, place)}
        negative = {name for name, pairs in dependences.reuse.items() if not place.moves(pairs, member).forward}
        if not (relaxed | negative) <= still_local:
            break
        everywhere_local, relaxed = still_local, relaxed | negative
        coincident.append(_is_coincident(place, member, dependences))
        width += 1
    if width == 0:
        # The schedule orders nothing here that this member could order alone: one member, sequential.
        width, coincident = 1, [False]
    if width < members:
        node = node.band_split(width)
    for position, flag in enumerate(coincident):
        node = node.band_member_set_coincident(position, int(flag))
    return node.band_set_permutable(1)


def is_local(pairs: isl.UnionMap, member: isl.UnionPwAff, place: Agreement) -> bool:
    """Whether a private array's live ranges stay within one iteration of the member, and don't cross the node's
    borders."""
    return place.stays_inside(pairs) and place.moves(pairs, member).zero


def is_coincident(node: isl.ScheduleNode, member: isl.UnionPwAff, dependences: Ordered) -> bool:
    """Whether a loop over `member` at this node carries nothing, given private copies of the arrays that
    `private_arrays` names."""
    return _is_coincident(agreeing_at(node, dependences), member, dependences)


def _is_coincident(place: Agreement, member: isl.UnionPwAff, dependences: Ordered) -> bool:
    if not place.moves(dependences.shared, member).zero:
        return False
    return _private_arrays(place, member, dependences) is not None


def private_inside(
    node: isl.ScheduleNode, outer: isl.UnionPwAff, member: isl.UnionPwAff, dependences: Ordered
) -> tuple[str, ...] | None:
    """The private arrays that a parallel loop over `member` needs copies of which stands right inside of a loop over
    `outer` at this node; None if it carries anything."""
    place = agreeing_at(node, dependences, (outer,))
    return _private_arrays(place, member, dependences) if place.moves(dependences.shared, member).zero else None


def private_arrays(node: isl.ScheduleNode, member: isl.UnionPwAff, dependences: Ordered) -> tuple[str, ...] | None:
    """The private arrays that need a copy per iteration of a parallel loop over `member`; None if copies would not
    do."""
    return _private_arrays(agreeing_at(node, dependences), member, dependences)


def _private_arrays(place: Agreement, member: isl.UnionPwAff, dependences: Ordered) -> tuple[str, ...] | None:
    needed = []
    for name, ranges in dependences.ranges.items():
        reuse = dependences.reuse[name]
        written_inside = place.is_entered(reuse) or place.is_left(ranges)
        local = place.moves(ranges, member).zero
        if written_inside and local and place.stays_inside(ranges):
            needed.append(name)
        elif not local or not place.moves(reuse, member).zero:
            return None
    return tuple(needed)


def reductions_of(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, member: isl.UnionPwAff
) -> tuple[Reduction, ...] | None:
    """What a loop over `member` at this node carries, if that is nothing but reductions; None if it carries more, or if
    something in the loop looks at a variable in between.
    """
    relaxed = dependences.relaxed
    if relaxed is None:
        return None
    place = agreeing_at(node, dependences)
    if not place.moves(relaxed.shared, member).zero:
        return None
    private = _private_arrays(place, member, relaxed)
    found = tuple(clause for clause, pairs in dependences.reductions.items() if not place.moves(pairs, member).zero)
    if private is None or any(clause.array in private for clause in found):
        return None
    inside = {part.get_tuple_name() for part in sets_of(node.get_domain())}
    return (
        found
        if not any(looks_in_between(scop, clause, dependences.updating[clause], inside) for clause in found)
        else None
    )


def with_copies(
    scop: Scop, node: isl.ScheduleNode, found: tuple[Reduction, ...], *, cells: bool
) -> tuple[Reduction, ...] | None:
    """The reductions of a parallel loop over a member of the node, arrays among them as copies of all cells; None if
    some array can't be copied.

    cells: an array of which the loop only updates one cell will be a variable (see `Hold`).
    """
    inside = [scop.statement(str(part.get_tuple_name())) for part in sets_of(node.get_domain())]

    def copied(clause: Reduction) -> Reduction | None:
        if clause.best:
            return None
        array = scop.arrays[clause.array]
        writes = [
            access for one in inside for access in one.accesses if access.array == clause.array and access.is_write
        ]
        if not array.rank or (
            cells and all(isl.Map.from_range(access.relation.range()).is_single_valued() for access in writes)
        ):
            return clause
        copies = may_be_copied(array) and only_updates(scop, inside, clause.operator, clause.array)
        return replace(clause, whole=True) if copies else None

    clauses = tuple(clause for clause in map(copied, found) if clause is not None)
    return clauses if len(clauses) == len(found) else None


def may_be_copied(array: Array) -> bool:
    """Whether a reduction clause may name an array, so that each thread has a copy of it:
    not one that is a pointer, or large."""
    limit = MAX_TABLE_BYTES if array.local else MAX_PRIVATE_BYTES
    return not (array.pointer or array.private or array.within or array.flat) and fits_a_stack(array, limit)


def looks_in_between(scop: Scop, clause: Reduction, updating: Collection[str], inside: Collection[str]) -> bool:
    """Whether a statement of a loop that is no part of the reduction touches the variable.
    (Of arrays, cells are held: see `Hold`.)"""
    others = set(inside) - set(updating)
    return not scop.arrays[clause.array].rank and any(
        a.array == clause.array for name in others for a in scop.statement(name).accesses
    )


def band_nodes(tree: isl.Schedule) -> list[isl.ScheduleNode]:
    """All bands, parents first."""
    return [node for node in walk(tree.get_root()) if node.get_type() == _BAND]
