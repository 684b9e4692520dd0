"""Small loops and what stands between them are scheduled as one statement: statement grouping.

In ``for i: for j: { s = 0; for p: for q: s += …; y[i][j] = s; }`` a scheduler would look for a place for each of the
three statements, and skew the two small loops so that they make one permutable band with those around; the order along
windows has to stay anyway, if it is to become straight code. One instance of a compound runs whatever the source runs
in one iteration of the loops around the small ones, in that order (Verdoolaege and Janssens, "Scheduling for PPCG",
CW 706, 2017, 6; Baghdadi et al., "VOBLA", use the like as macro-statements).
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Access, Dependence, DependenceKind, Dependences, Scop, Statement
from scopt.poly.isl_utils import IN, OUT, SET, sets_of, walk
from scopt.poly.restructure import filters_of

_TYPE = isl.schedule_node_type


class Compound(Struct, frozen=True, eq=False):
    """name: of the statement that stands for others. inside: the source's tree below the loops around; points: from the
    others' instances to its own."""

    name: str
    inside: isl.ScheduleNode
    points: isl.UnionMap

    @property
    def statements(self) -> frozenset[str]:
        return frozenset(str(part.get_tuple_name()) for part in sets_of(self.points.domain()))


class Grouping(Struct, frozen=True, eq=False):
    """A SCoP as a scheduler is to see it, and its dependences: compounds stand for the statements inside of them."""

    original: Scop
    scop: Scop
    deps: Dependences
    compounds: tuple[Compound, ...]

    def expanded(self, tree: isl.Schedule) -> isl.Schedule | None:
        """A schedule of the original's statements, from one of the SCoP with compounds; None where statements that the
        schedule leaves without an order aren't the same compound's."""
        grouped = {name for one in self.compounds for name in one.statements}
        contraction = isl.UnionMap("{ }")
        for one in self.compounds:
            contraction = contraction.union(one.points)
        for statement in self.original.statements:
            if statement.name not in grouped:
                contraction = contraction.union(isl.UnionMap.from_map(statement.domain.identity()))
        node = tree.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(contraction)).get_root()
        return _filled(node, self.compounds)


def grouped(scop: Scop, deps: Dependences, bodies: list[isl.ScheduleNode]) -> Grouping:
    """The SCoP with a compound for each of some nodes of its own tree."""
    compounds = tuple(_compound(scop, f"{_free(scop)}{k}", body) for k, body in enumerate(bodies))
    owner = {name: one for one in compounds for name in one.statements}
    statements: list[Statement] = []
    for statement in scop.statements:
        compound = owner.get(statement.name)
        if compound is None:
            statements.append(statement)
        elif compound.name not in {one.name for one in statements}:
            statements.append(_statement(scop, compound))
    own = replace(scop, statements=tuple(statements))
    return Grouping(scop, own, Dependences(tuple(_dependences(deps, owner))), compounds)


def _free(scop: Scop) -> str:
    """A prefix of names that no statement or array has."""
    prefix = "M"
    while any(name.startswith(prefix) for name in (*scop.arrays, *(one.name for one in scop.statements))):
        prefix += "_"
    return prefix


def _compound(scop: Scop, name: str, body: isl.ScheduleNode) -> Compound:
    dates = body.get_prefix_schedule_union_map().intersect_domain(body.get_domain())
    points = isl.UnionMap("{ }")
    dates_found: list[isl.Map] = []
    dates.foreach_map(dates_found.append)
    for one in dates_found:
        points = points.union(isl.UnionMap.from_map(one.set_tuple_name(OUT, name)))
    depth = min(len(scop.statement(str(one.get_tuple_name(IN))).iterators) for one in dates_found)
    return Compound(name, body, _in_few_dimensions(points, name, depth))


def _in_few_dimensions(points: isl.UnionMap, name: str, depth: int) -> isl.UnionMap:
    """The points without dimensions that the others determine, as far as there are more than statements have iterators:
    the order of a source that is tiled is by tiles, which its statements don't know any more."""
    found, place = isl.Set.from_union_set(points.range()), 0
    while place < found.dim(SET) > depth:
        fewer = found.identity().project_out(OUT, place, 1).set_tuple_name(OUT, name)
        if fewer.is_injective():
            points, found = points.apply_range(isl.UnionMap.from_map(fewer)), fewer.range()
        else:
            place += 1
    return points


def _statement(scop: Scop, compound: Compound) -> Statement:
    """What schedulers ask of a compound: domain, iterators' names, what is read and written."""
    domain = isl.Set.from_union_set(compound.points.range()).coalesce()
    inside = [one for one in scop.statements if one.name in compound.statements]
    depth = int(domain.dim(isl.dim_type.set))
    shared = (access for one in inside for access in one.accesses if not scop.arrays[access.array].private)
    moved = ((access, _moved(access, compound)) for access in shared)
    accesses = tuple(
        replace(access, relation=isl.Map.from_union_map(relation))
        for access, relation in moved
        if not relation.is_empty()  # what no instance does, as a branch that is never taken
    )
    first = inside[0]
    return replace(
        first,
        name=compound.name,
        domain=domain,
        iterators=first.iterators[:depth],
        iterator_types=first.iterator_types[:depth],
        accesses=accesses,
    )


def _moved(access: Access, compound: Compound) -> isl.UnionMap:
    return isl.UnionMap.from_map(access.relation).apply_domain(compound.points)


def _dependences(deps: Dependences, owner: dict[str, Compound]) -> Iterator[Dependence]:
    """Those between different instances, of compounds and of the rest."""
    found: dict[tuple[DependenceKind, str, str, str], list[isl.UnionMap]] = {}
    kept: dict[tuple[DependenceKind, str, str, str], Dependence] = {}
    for one in deps.all:
        source, sink = owner.get(one.source), owner.get(one.sink)
        if source is None and sink is None:
            yield one
            continue
        relation = isl.UnionMap.from_map(one.relation)
        relation = relation.apply_domain(source.points) if source is not None else relation
        relation = relation.apply_range(sink.points) if sink is not None else relation
        if source is sink:
            relation = relation.subtract(relation.domain().identity())
        if relation.is_empty():
            continue
        ends = source.name if source is not None else one.source, sink.name if sink is not None else one.sink
        key = (one.kind, one.array, *ends)
        found.setdefault(key, []).append(relation)
        kept[key] = replace(one, source=ends[0], sink=ends[1])
    for key, relations in found.items():
        whole = relations[0]
        for relation in relations[1:]:
            whole = whole.union(relation)
        yield replace(kept[key], relation=isl.Map.from_union_map(whole.coalesce()))


def _filled(node: isl.ScheduleNode, compounds: tuple[Compound, ...]) -> isl.Schedule | None:
    """The tree with what compounds stand for in the place of leaves."""
    for one in walk(node):
        if one.get_type() == _TYPE.leaf:
            names = {str(part.get_tuple_name()) for part in sets_of(one.get_domain())}
            if len(names) > 1 and not any(names <= compound.statements for compound in compounds):
                return None
    return _filled_below(node, compounds).get_schedule()


def _filled_below(node: isl.ScheduleNode, compounds: tuple[Compound, ...]) -> isl.ScheduleNode:
    if node.get_type() == _TYPE.leaf:
        names = {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
        for compound in compounds:
            if names <= compound.statements:
                return _planted(node, compound.inside)
        return node
    for position in range(node.n_children()):
        node = _filled_below(node.child(position), compounds).parent()
    return node


def _planted(leaf: isl.ScheduleNode, inside: isl.ScheduleNode) -> isl.ScheduleNode:
    """The bands and sequences of another tree's node in the place of a leaf."""
    kind = inside.get_type()
    if kind == _TYPE.band:
        node = leaf.insert_partial_schedule(inside.band_get_partial_schedule())
        return _planted(node.child(0), inside.child(0)).parent()
    if kind == _TYPE.sequence:
        parts = [inside.child(k).filter_get_filter() for k in range(inside.n_children())]
        node = leaf.insert_sequence(filters_of(parts))
        for k in range(len(parts)):
            node = _planted(node.child(k).child(0), inside.child(k).child(0)).parent().parent()
        return node
    return leaf
