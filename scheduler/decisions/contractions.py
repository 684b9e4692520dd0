"""Contractions: statements that accumulate, along one loop of a band, into cells that two other loops walk through.

Told by access functions and dependences alone: matrix products, rank updates, triangular products and trailing updates
of factorizations are all of this shape. They are what register tiles and packing are made for
(`scopt.astgen.lower`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.ir.marked_schedule import Contraction, Operation
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.bands import Ordered, active
from scopt.poly.contraction_expression import split
from scopt.poly.isl_utils import compact, equalities, sets_of, union_of_maps, union_of_sets
from scopt.poly.linear import Vector, subscript_rows
from scopt.scheduler.decisions.small_loops import MOST_INSTANCES, reach, span
from scopt.scheduler.locality.strides import linear_schedule

# Rounds in which instances are found not to be pure, after which none are taken.
MAX_ROUNDS = 10


def shape_of(scop: Scop, statement: Statement) -> tuple[int, int, int] | None:
    """Row, column and reduction iterator of a statement that may become a contraction; None if none has each role, or
    several are columns (of several rows, and of several loops that sum up, the innermost one counts)."""
    found = _operation(scop, statement, range(len(statement.iterators)))
    if found is None or _is_window(statement, found[0][2]):
        return None
    if sums_of(statement) > 1 and span(statement.domain, found[0][2]) is not None:
        return None  # few steps at a time between loads and stores of the cells
    return found[0]


def sums_of(statement: Statement) -> int:
    """How many of a statement's loops don't move the cell that it updates."""
    update = _updated_cell(statement)
    return 0 if update is None else sum(not any(row[k] for row in update[1]) for k in range(len(statement.iterators)))


def _is_window(statement: Statement, reduction: int) -> bool:
    """Whether the steps are a few that move with the loops around: a filter along rows, nothing to be packed."""
    if span(statement.domain, reduction) is not None:
        return False
    steps = reach(statement.domain, reduction, reduction)
    return steps is not None and steps <= MOST_INSTANCES


def _is_straight(statement: Statement, roles: Sequence[int]) -> bool:
    """Whether straight code may stand for two of the roles' loops, and the third one is long: what would be packed is
    used a few times, and tiles would be filled up. Or whether it is little code for all of them."""
    sizes = sorted(span(statement.domain, k) or MOST_INSTANCES + 1 for k in roles)
    return sizes[0] * sizes[1] <= MOST_INSTANCES < sizes[2] or prod(sizes) <= MOST_INSTANCES // 2


def contraction_of(scop: Scop, node: isl.ScheduleNode) -> Contraction | None:
    """The contraction among the statements below a permutable band of three members or more, if there is one; more
    statements may be below."""
    schedule = linear_schedule(scop, node)
    if node.band_n_member() < 3:
        return None
    found: dict[str, list[Contraction]] = {}
    for name, members in schedule.members.items():
        one = _contraction(scop, scop.statement(name), members)
        if one is not None:
            found.setdefault(_text(scop, one), []).append(one)
    if len(found) != 1:
        return None
    same = next(iter(found.values()))
    return replace(same[0], statements=tuple(one.statements[0] for one in same))


def _contraction(scop: Scop, statement: Statement, members: Sequence[Vector]) -> Contraction | None:
    moved = [_unit(row) for row in members]
    if None in moved or len(set(moved)) != len(moved):
        return None
    return contraction_by(scop, statement, [k for k in moved if k is not None])


def contraction_by(scop: Scop, statement: Statement, moved: Sequence[int]) -> Contraction | None:
    """A statement as a contraction in a band whose members are these iterators, up to constants; None if it is none."""
    found, update = _operation(scop, statement, moved), _updated_cell(statement)
    if found is None or update is None:
        return None
    roles, operation = found
    places = tuple(moved.index(k) for k in roles)
    return Contraction((statement.name,), *roles, (places[0], places[1], places[2]), update[0], operation)


def _operation(
    scop: Scop, statement: Statement, iterators: Sequence[int]
) -> tuple[tuple[int, int, int], Operation] | None:
    """The roles that some iterators have in a contraction, and what it computes: of several iterators that may walk
    through rows, the innermost one that only one operand depends on. The others are loops around a product of
    matrices."""
    update = _updated_cell(statement)
    if update is None:
        return None
    for roles in _roles(iterators, update[1]):
        operation = None if _is_straight(statement, roles) else split(scop, statement, update[0], *roles)
        if operation is not None:
            return roles, operation
    return None


def _text(scop: Scop, contraction: Contraction) -> str:
    """What is the same for statements that do the same in different parts of an iteration space."""
    statement = scop.statement(contraction.statements[0])
    roles = contraction.row, contraction.column, contraction.reduction, contraction.members
    return f"{CPrinter().visit(statement.body)} {statement.iterators} {roles}"


def _unit(row: Vector) -> int | None:
    """The iterator that a member is, up to a constant and parameters."""
    moving = [k for k, value in enumerate(row) if value]
    return moving[0] if len(moving) == 1 and row[moving[0]] == 1 else None


def _updated_cell(statement: Statement) -> tuple[ir.ArrayRef, tuple[Vector, ...]] | None:
    """The reference that the statement writes, or that it writes if a comparison holds,
    and its subscripts; None if it writes several."""
    writes: list[Access] = [a for a in statement.accesses if a.is_write]
    if len(writes) != 1 or not all(_is_plain(access.node) for access in statement.accesses):
        return None
    if not isinstance(writes[0].node, ir.ArrayRef):
        return None
    if writes[0].kind != "write" and isinstance(statement.body, ir.Assignment):
        return None  # somewhere in an array
    rows = subscript_rows(writes[0].relation)
    return (writes[0].node, rows) if rows is not None else None


def _is_plain(node: ir.Node | None) -> bool:
    """Whether a reference, if it has subscripts, is an array's name with subscripts, not a member of a structure."""
    while isinstance(node, ir.ArrayRef):
        node = node.name
    return not isinstance(node, ir.StructRef)


def _roles(iterators: Sequence[int], cell: Sequence[Vector]) -> list[tuple[int, int, int]]:
    """Row, column and reduction iterator by how they move the cell: along one other subscript; along its last subscript
    alone; not at all. As many as there are rows, the innermost one first."""

    def moves(k: int) -> list[Fraction]:
        return [row[k] for row in cell]

    reduction = [k for k in iterators if not any(moves(k))]
    column = [k for k in iterators if moves(k)[-1:] == [1] and not any(moves(k)[:-1])]
    row = [k for k in iterators if not any(moves(k)[-1:]) and [c for c in moves(k) if c] == [1]]
    if not reduction or len(column) != 1:
        return []
    return [(k, column[0], max(reduction)) for k in sorted(row, reverse=True)]


def pure_part(
    scop: Scop,
    dependences: Ordered,
    node: isl.ScheduleNode,
    contraction: Contraction,
    shape: isl.MultiUnionPwAff,
    *,
    first: bool,
    among: isl.UnionSet | None = None,
) -> isl.UnionSet:
    """The contraction's instances whose operands may all be read before any of them is run, and that may all be run
    before (first) or after everything else, for those that agree in everything outside a node; in whole tiles of a
    shape.

    None of their operands is a cell that another one of them updates before; nothing else has to come before (first) or
    after them.
    among: which of them may be taken; None: any.
    """
    domain = node.get_domain()
    statements = [scop.statement(name) for name in contraction.statements]
    pure = union_of_sets(statement.domain for statement in statements).intersect(among if among is not None else domain)
    pairs, updates = _orders(scop, dependences, statements)
    must, chains, flows = (active(some, node) for some in (pairs, updates, _operand_flows(scop, statements)))
    tiles = isl.UnionMap.from_multi_union_pw_aff(shape).intersect_domain(pure)
    everywhere = tiles.range()
    if first:
        must, chains = must.reverse(), chains.reverse()
    for _ in range(MAX_ROUNDS):
        others = must.intersect_range(domain.subtract(pure)).domain().intersect(pure)
        if others.is_empty():
            others = flows.intersect_domain(pure).intersect_range(pure).range()
        if others.is_empty():
            return _regular(pure.coalesce())
        # the updates of a cell keep their order; and tiles stay whole, for simple loops
        others = others.union(chains.intersect_range(others).domain().intersect(pure))
        pure = pure.subtract(_simpler(others.apply(tiles), everywhere).apply(tiles.reverse())).coalesce()
    return isl.UnionSet("{ }")


def _simpler(tiles: isl.UnionSet, among: isl.UnionSet) -> isl.UnionSet:
    """A superset of some tiles without the quotients that tell where in a tile something is: none are needed to say it
    of a whole one. And without the constraints that only leave out what is at a border of all tiles."""
    every = isl.Set.from_union_set(among)
    pieces = (
        isl.Set.from_basic_set(piece).remove_divs()
        for part in sets_of(tiles.coalesce())
        for piece in part.get_basic_sets()
    )
    return union_of_sets(_up_to_borders(piece, every) for part in pieces for piece in part.get_basic_sets())


def _up_to_borders(piece: isl.BasicSet, among: isl.Set) -> isl.Set:
    """A piece without those of its bounds that leave out only what lies in a plane."""
    part, kept = isl.Set.from_basic_set(piece), list(piece.get_constraints())
    usual = max((equalities(one.detect_equalities()) for one in part.intersect(among).get_basic_sets()), default=0)
    for constraint in [one for one in kept if not one.is_equality()]:
        others = [one for one in kept if one is not constraint]
        larger = isl.BasicSet.universe(piece.get_space())
        for other in others:
            larger = larger.add_constraint(other)
        added = isl.Set.from_basic_set(larger).intersect(among).subtract(part).coalesce()
        if all(equalities(one.detect_equalities()) > usual for one in added.get_basic_sets()):
            part, kept = isl.Set.from_basic_set(larger), others
    return part


def inside(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, contraction: Contraction, instances: isl.UnionSet
) -> isl.UnionMap:
    """The pairs of some of the contraction's instances that a node has to keep in order."""
    pairs, chains = _orders(scop, dependences, [scop.statement(name) for name in contraction.statements])
    return active(pairs.union(chains), node).intersect_domain(instances).intersect_range(instances)


def _orders(scop: Scop, dependences: Ordered, statements: Sequence[Statement]) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The pairs that have to keep their order, and those of updates of one cell that do:
    none if their order doesn't matter."""
    relaxed = dependences.relaxed
    if relaxed is None:
        return dependences.must, _chains(scop, statements)
    names = {statement.name for statement in statements}
    cells = {a.array for statement in statements for a in statement.accesses if a.is_write}
    free = any({clause.array} == cells and names <= updating for clause, updating in dependences.updating.items())
    return relaxed.must, isl.UnionMap("{ }") if free else _chains(scop, statements)


def _regular(instances: isl.UnionSet) -> isl.UnionSet:
    """Of each statement the most general piece: single instances at borders,
    on which nothing happens to depend, aren't worth cases."""

    def general(part: isl.Set) -> isl.Set:
        found = compact(part).get_basic_sets()
        least = min(map(equalities, found))
        kept = [piece for piece in found if equalities(piece) == least]
        result = isl.Set.from_basic_set(kept[0])
        for piece in kept[1:]:
            result = result.union(isl.Set.from_basic_set(piece))
        return result

    return union_of_sets(general(part) for part in sets_of(instances))


def _chains(scop: Scop, statements: Sequence[Statement]) -> isl.UnionMap:
    """Pairs of instances that update one cell, one after the other."""
    writes = union_of_maps(next(a.relation for a in statement.accesses if a.is_write) for statement in statements)
    order = scop.order.intersect_domain(writes.domain())
    return writes.apply_range(writes.reverse()).intersect(order.lex_lt_union_map(order))


def packable(scop: Scop, contraction: Contraction, scope: isl.MultiUnionPwAff) -> bool:
    """Whether the operands of all instances that agree in `scope` may be read before any of them is run."""
    flows = _operand_flows(scop, [scop.statement(name) for name in contraction.statements])
    return flows.is_empty() or bool(flows.eq_at_multi_union_pw_aff(scope).is_empty())


def _operand_flows(scop: Scop, statements: Sequence[Statement]) -> isl.UnionMap:
    """Pairs of instances of which the first one updates a cell that is an operand, and not the cell, of a later one."""
    found = []
    for source in statements:
        write = next(a for a in source.accesses if a.is_write)
        for sink in statements:
            own = next(a for a in sink.accesses if a.is_write)
            dates = [
                isl.Map.from_union_map(scop.order.intersect_domain(isl.UnionSet.from_set(one.domain)))
                for one in (source, sink)
            ]
            earlier = dates[0].lex_lt_map(dates[1])
            for access in sink.accesses:
                if access.kind == "read" and access.array == write.array and not access.relation.is_equal(own.relation):
                    found.append(write.relation.apply_range(access.relation.reverse()).intersect(earlier))
    return union_of_maps(found)
