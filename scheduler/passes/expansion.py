"""Expansion: scalars and small arrays that every iteration uses anew get a cell for each of them, where that makes a
statement a contraction.

A sum that is collected in a scalar, or in a row that all outer iterations share, binds these to their order, though
nothing but memory connects them. With cells of their own they don't (Feautrier, "Array expansion", 1988). Values that
may be used after the region are copied back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import Expr
from scopt.ir.scop import Access, Array, CType, Dependences, Scop, Statement
from scopt.poly.array_extents import extents
from scopt.poly.body_rewriting import agree, names_cells, with_base, with_references
from scopt.poly.components import ordered_components
from scopt.poly.isl_utils import IN, OUT, PARAM, SET, maps_of, union_of_maps
from scopt.poly.linear import quotient, subscript_rows
from scopt.poly.source_iterations import is_carried
from scopt.scheduler.decisions.contractions import shape_of
from scopt.scheduler.decisions.small_loops import span

# Steps of a sum that compilers' code makes in the time that a new cell takes to get to memory and back.
_FEW = 32


class Expansion(Struct, frozen=True, eq=False):
    """A SCoP with arrays in place of others. extents: of the new arrays, by name, outermost dimension first: at least
    so many elements."""

    scop: Scop
    extents: Mapping[str, tuple[Expr, ...]]


def expand(scop: Scop, deps: Dependences) -> Expansion | None:
    """The SCoP with everything expanded that makes a statement a contraction; None if nothing does."""
    extents: dict[str, tuple[Expr, ...]] = {}
    for array in scop.arrays.values():
        sure = array.private or all(access.kind != "may-write" for _, access in _accesses(scop, array))
        depth = common_depth(scop, deps, array) if sure else 0
        made = _expanded(scop, deps, array, depth) if depth else None
        if made is not None:
            scop, sizes = made
            extents.update(sizes)
    return Expansion(scop, extents) if extents else None


def _accesses(scop: Scop, array: Array) -> Iterator[tuple[Statement, Access]]:
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array == array.name:
                yield statement, access


def common_depth(scop: Scop, deps: Dependences, array: Array) -> int:
    """How many outer loops no value in the array crosses; 0 if it is accessed in any way that can't be rewritten, or
    read before it is written."""
    uses = list(_accesses(scop, array))
    if not any(access.is_write for _, access in uses) or not _is_number(array.type):
        return 0
    flows = [d.relation for d in deps.select("flow") if d.array == array.name]
    written_first = union_of_maps(flows).range()
    for _, access in uses:
        if access.node is None or not access.relation.is_single_valued() or not names_cells(access.node):
            return 0
        if access.kind == "read" and not isl.UnionSet.from_set(access.relation.domain()).is_subset(written_first):
            return 0
    depth = min(len(statement.iterators) for statement, _ in uses)
    names = {statement.iterators[:depth] for statement, _ in uses}
    while depth and len({one[:depth] for one in names}) > 1:
        depth -= 1
    while depth and not all(agree(flow, depth) for flow in flows):
        depth -= 1
    # an iterator that subscripts the array already gives each of its values a cell
    while depth and all(_is_subscript(access.relation, depth - 1) for _, access in uses):
        depth -= 1
    return depth


def _is_number(ctype: CType) -> bool:
    return (ctype.integer or ctype.floating) and not (ctype.volatile or ctype.atomic)


def _is_subscript(relation: isl.Map, iterator: int) -> bool:
    rows = subscript_rows(relation) or ()
    return any(row[iterator] and sum(1 for value in row if value) == 1 for row in rows)


def _expanded(
    scop: Scop, deps: Dependences, array: Array, depth: int
) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    """The SCoP with one array expanded by the outer loops; None if no statement becomes a contraction by that."""
    whole = with_array(scop, array, range(depth))
    gained = [] if whole is None else [one for one in whole[0].statements if _gains(scop, whole[0], array, depth, one)]
    if whole is None or not gained:
        return None
    if not array.private:
        new = whole[0].arrays[next(iter(whole[1]))]
        return _with_copies(whole[0], scop, array, new, depth), whole[1]
    # iterations that come one after the other anyway share cells
    first = min(min(shape_of(whole[0], one) or ()) for one in gained)
    start = next((k for k in range(min(first, depth)) if not _keeps_order(scop, deps, array, k)), min(first, depth))
    made = with_array(scop, array, range(start, depth)) if start else whole
    if made is None or not _is_as_large(scop, array, range(start, depth)):
        return None
    arrays = {key: value for key, value in made[0].arrays.items() if key != array.name}
    kills = tuple(k for k in scop.kills if all(a.array != array.name for a in k.accesses))
    return replace(made[0], arrays=arrays, kills=kills), made[1]


def with_array(scop: Scop, array: Array, iterators: Sequence[int]) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    """The SCoP with an array beside the one that it stands for, and its size; None if that isn't known."""
    name = new_name(scop, array)
    statements = {s.name: with_cells(s, array, name, iterators) for s, _ in _accesses(scop, array)}
    sizes = extents(scop, [a.relation for s in statements.values() for a in s.accesses if a.array == name])
    if sizes is None:
        return None
    unknown = (None,) * (len(iterators) + array.rank)
    arrays = {**scop.arrays, name: Array(name, name, array.type, unknown, unknown)}
    changed = tuple(statements.get(s.name, s) for s in scop.statements)
    return replace(scop, statements=changed, arrays=arrays), {name: sizes}


def _is_as_large(scop: Scop, array: Array, iterators: Sequence[int]) -> bool:
    """Whether another array that the same loops use has as many cells: memory for all pairs of rows that are compared
    may be too much. (The sum may come to that array by way of other scalars.)"""
    depth = max(iterators, default=-1) + 1
    around = {statement.iterators[:depth] for statement, _ in _accesses(scop, array)}
    for statement in scop.statements:
        for access in statement.accesses if statement.iterators[:depth] in around else ():
            rows = subscript_rows(access.relation) if not scop.arrays[access.array].private else None
            if rows is not None and _rank([[row[k] for k in iterators] for row in rows]) == len(iterators):
                return True
    return False


def _rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """How many rows of a matrix don't follow from others."""
    left, rank = [list(row) for row in rows], 0
    while left:
        row = left.pop()
        pivot = next((k for k, value in enumerate(row) if value), None)
        if pivot is not None:
            rank += 1
            shares = [quotient(other[pivot], row[pivot]) for other in left]
            left = [
                [v - share * w for v, w in zip(other, row, strict=True)]
                for share, other in zip(shares, left, strict=True)
            ]
    return rank


def _keeps_order(scop: Scop, deps: Dependences, array: Array, loop: int) -> bool:
    """Whether iterations of a loop around all that uses an array hand on values to each other, in arrays; what they
    hand on in loops that could stand beside those of the array's users doesn't count."""
    users = {s.name for s, _ in _accesses(scop, array)}
    around = next(s.iterators[: loop + 1] for s, _ in _accesses(scop, array))
    inside = {s.name for s in scop.statements if s.iterators[: loop + 1] == around}
    together = [part for part in _circles(scop, deps, inside) if not part.isdisjoint(users)]
    for flow in deps.select("flow"):
        own = scop.arrays.get(flow.array)  # those that have been expanded were private
        if own is None or own.private or not any({flow.source, flow.sink} <= part for part in together):
            continue
        if is_carried(flow.relation, loop):
            return True
    return False


def _circles(scop: Scop, deps: Dependences, names: Collection[str]) -> list[frozenset[str]]:
    """Some of the statements, those together that wait for each other; what is private keeps those that use it
    together."""
    order = sorted(names)
    place = {name: k for k, name in enumerate(order)}
    after: list[set[int]] = [set() for _ in order]
    for one in deps.select("flow", "anti", "output"):
        if one.source in place and one.sink in place:
            after[place[one.source]].add(place[one.sink])
            if one.array not in scop.arrays or scop.arrays[one.array].private:
                after[place[one.sink]].add(place[one.source])
    return [frozenset(order[k] for k in part) for part in ordered_components(after)]


def _gains(scop: Scop, changed: Scop, array: Array, depth: int, statement: Statement) -> bool:
    """Whether a statement is a contraction with the new array alone: it wasn't one, or, though of its shape, was bound
    to the order of loops that have a role in it, each of whose iterations had the operand anew."""
    old = scop.statement(statement.name)
    uses = [access for access in old.accesses if access.array == array.name]
    made = shape_of(changed, statement) if uses else None
    bound = made is not None and min(made) < depth < len(old.iterators) and not any(one.is_write for one in uses)
    return _is_worth(scop, statement, made) and (bound or shape_of(scop, old) is None)


def _is_worth(scop: Scop, statement: Statement, roles: tuple[int, int, int] | None) -> bool:
    """Whether a contraction has more to sum than writing a cell of new memory, and reading it again, takes; with
    parameters as large as they probably are."""
    domain = statement.domain
    for parameter in scop.parameters:
        position = domain.find_dim_by_name(PARAM, parameter.name)
        if position >= 0 and parameter.estimate is not None:
            domain = domain.fix_val(PARAM, position, isl.Val(parameter.estimate))
    steps = span(domain, roles[2]) if roles is not None else None
    return roles is not None and (steps is None or steps > _FEW)


def new_name(scop: Scop, array: Array, what: str = "all") -> str:
    """A name for what stands for an array, or for some of its values."""
    taken = set(scop.reserved) | set(scop.arrays) | {p.spelling for p in scop.parameters}
    return next(name for k in range(1, 1000) if (name := f"{array.spelling}_{what}{k if k > 1 else ''}") not in taken)


# --- statements -------------------------------------------------------------------------------------------------------


def with_cells(statement: Statement, array: Array, name: str, iterators: Sequence[int]) -> Statement:
    """The statement with references to a new array, which has some of the iterators as its first subscripts."""

    def reference(access: Access, node: ir.Node) -> ir.Node | None:
        if access.array != array.name:
            return None
        cell: ir.Node = ir.ID(name)
        for k in iterators:
            cell = ir.ArrayRef(cell, ir.ID(statement.iterators[k]))
        return with_base(node, cell)

    body, become = with_references(statement, reference)
    accesses = []
    for access in statement.accesses:
        node = become.get(access.node, access.node) if access.node is not None else None
        if access.array == array.name:
            access = replace(access, array=name, relation=_widened(access.relation, name, iterators))
        accesses.append(replace(access, node=node))
    return replace(statement, body=body, accesses=tuple(accesses))


def _widened(relation: isl.Map, name: str, iterators: Sequence[int]) -> isl.Map:
    """``{ S[i] -> name[some of i, subscripts] }``"""
    outer = relation.domain().identity().reset_tuple_id(OUT)
    for k in reversed(range(relation.dim(IN))):
        if k not in iterators:
            outer = outer.project_out(OUT, k, 1)
    return outer.flat_range_product(relation.reset_tuple_id(OUT)).set_tuple_name(OUT, name)


# --- the values that are left -----------------------------------------------------------------------------------------


def _with_copies(changed: Scop, scop: Scop, array: Array, new: Array, depth: int) -> Scop:
    """Statements after all others that put the original's last values where they belong."""
    writes = union_of_maps(a.relation for _, a in _accesses(scop, array) if a.is_write)
    last = (
        writes.reverse().apply_range(scop.order).lexmax().apply_range(scop.order.reverse()).intersect(writes.reverse())
    )
    pairs = ((statement, _into(last, statement)) for statement in scop.statements)
    made = [
        _copy(statement, cells, array, new, depth, scop.long_type) for statement, cells in pairs if cells is not None
    ]
    tree, order = changed.schedule, _dated(changed.order, 0)
    for number, statement in enumerate(made):
        domain = isl.UnionSet.from_set(statement.domain)
        own = isl.Schedule.from_domain(domain)
        width = statement.domain.dim(SET)
        if width:
            identity = isl.MultiPwAff.identity_on_domain_space(statement.domain.get_space()).reset_tuple_id(OUT)
            own = own.insert_partial_schedule(isl.MultiUnionPwAff.from_multi_pw_aff(identity).intersect_domain(domain))
        tree = tree.sequence(own)
        order = order.union(_dated(_padded(statement.domain, changed.order), number + 1))
    return replace(changed, statements=(*changed.statements, *made), schedule=tree, order=order)


def _into(pairs: isl.UnionMap, statement: Statement) -> isl.Map | None:
    """The part of ``{ A[…] -> S[…] }`` that leads to one statement."""
    found = maps_of(pairs.intersect_range(isl.UnionSet.from_set(statement.domain)))
    return found[0] if found else None


def _copy(writer: Statement, cells: isl.Map, array: Array, new: Array, depth: int, long_type: str) -> Statement:
    """``array[…] = new[i…][…]`` for the last writes, ``{ A[…] -> S[i, …] }``, of one statement."""
    count = len(writer.iterators)
    name = f"{writer.name}_last"
    instances = cells.reverse().wrap().flatten()
    kept = instances.project_out(SET, depth, count - depth)
    domain = kept.set_tuple_name(name).coalesce()
    iterators = (*writer.iterators[:depth], *(f"{array.spelling}_{k}" for k in range(array.rank)))
    long = CType(long_type, integer=True, bits=64)
    target: ir.Node
    value: ir.Node
    target, value = ir.ID(array.spelling), ir.ID(new.spelling)
    for k, iterator in enumerate(iterators):
        value = ir.ArrayRef(value, ir.ID(iterator))
        if k >= depth:
            target = ir.ArrayRef(target, ir.ID(iterator))
    everything = domain.identity().set_tuple_name(OUT, new.name)
    accesses = (
        Access(new.name, "read", everything, value, writer.location),
        Access(
            array.name,
            "write",
            everything.project_out(OUT, 0, depth).set_tuple_name(OUT, array.name),
            target,
            writer.location,
        ),
    )
    types = (*writer.iterator_types[:depth], *(long for _ in range(array.rank)))
    return Statement(name, domain, iterators, types, ir.Assignment("=", target, value), accesses, writer.location)


def _dated(order: isl.UnionMap, place: int) -> isl.UnionMap:
    """Dates with one more dimension in front."""

    def widened(dates: isl.Map) -> isl.Map:
        return dates.insert_dims(OUT, 0, 1).fix_val(OUT, 0, isl.Val(place))

    return union_of_maps(widened(dates) for dates in maps_of(order))


def _padded(domain: isl.Set, order: isl.UnionMap) -> isl.UnionMap:
    """The iterators as dates as long as those of `order`, or longer."""
    length = maps_of(order)[0].dim(OUT)
    dates = domain.identity().reset_tuple_id(OUT)
    missing = length - dates.dim(OUT)
    if missing > 0:
        dates = dates.add_dims(OUT, missing)
        for k in range(length - missing, length):
            dates = dates.fix_val(OUT, k, isl.Val(0))
    return isl.UnionMap.from_map(dates)
