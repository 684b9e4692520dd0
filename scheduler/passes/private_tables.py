"""Private tables: what a nest counts into cells that data name is counted into a table of its own, which is added to
the array behind the nest.

In ``for i: count[pixel[i]]++`` any two iterations may update one cell, so that threads need copies of all of them.
OpenMP makes such copies of an array that the program declares, of known size; a pointer's cells, of which nobody knows
how many there are, get a table that is as large as the subscripts' values ask for (array privatization of reductions:
Rauchwerger and Padua, "The LRPD test", 1995). Only cells that something was added to are touched in the end: others
needn't exist. Sums of signed numbers are collected in the unsigned type, where they don't overflow on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.ctypes import UNSIGNED
from scopt.ir.nest import Const
from scopt.ir.scop import Access, Array, CType, Scop, Statement
from scopt.ir.walks import copied, walk
from scopt.poly import trees
from scopt.poly.array_extents import extents
from scopt.poly.bands import may_be_copied
from scopt.poly.body_rewriting import with_base, with_references
from scopt.poly.dependences import MAX_TABLE_BYTES
from scopt.poly.isl_utils import IN, OUT, SET, maps_of, sets_of
from scopt.poly.loop_lengths import long_loops
from scopt.poly.reductions import BETTER, Update, neutral, only_updates, update_of
from scopt.poly.row_extents import only_for
from scopt.poly.source_loops import source_loops

# So often a nest updates a table at least, for each of its cells: clearing and adding, which each thread does, take a
# part of the time.
_UPDATES_A_CELL = 32
_WIDE = 64


class Tabulated(Struct, frozen=True, eq=False):
    """A SCoP with tables. names: of these. several: nests have more than one, and go through what data say once."""

    scop: Scop
    names: frozenset[str]
    several: bool = False


def tabulated(scop: Scop, allowed: frozenset[str]) -> Tabulated | None:
    """The SCoP with a table for each array that a nest accumulates into where data say; None if there are none.

    allowed: statements whose updates threads may make in any order in the array itself, where they have copies of it.
    """
    made, names, nests = scop, set[str](), list[frozenset[str]]()
    for array in scop.arrays.values():
        found = _counted(made, array, allowed)
        if found is not None:
            made, name = with_table(made, found)
            names.add(name)
            nests.append(found.inside)
    return Tabulated(made, frozenset(names), len(set(nests)) < len(nests)) if names else None


class Counted(Struct, frozen=True, eq=False):
    """An array that only `statements` touch in the loop at a depth, by updates with one operator. sizes: of the table.
    often: the parameters for which that pays. total: where the table is a variable for one cell, a reference to that;
    cells: which one it is, ``{ [outer iterators] -> A[…] }``."""

    array: Array
    operator: str
    statements: tuple[Statement, ...]
    inside: frozenset[str]
    depth: int
    sizes: tuple[int, ...]
    often: isl.Set
    total: ir.Node | None = None
    cells: isl.Map | None = None


def _counted(scop: Scop, array: Array, allowed: frozenset[str]) -> Counted | None:
    plain = array.rank and array.type.integer and not (array.within or array.flat)
    if not plain or array.type.bits not in UNSIGNED:
        return None
    users = {s.name: s for s in scop.statements if any(a.array == array.name for a in s.accesses)}
    first = next((s for s in users.values() if _is_unknown(scop, s, array)), None)
    if first is None or (may_be_copied(array) and first.name in allowed):
        return None
    update, loops = update_of(scop, first), source_loops(scop)
    if update is None or update.operator not in ("+", "|", "^"):
        return None
    for depth in range(len(first.iterators)):
        nest = loops[first.name][: depth + 1]
        inside = [one for one in scop.statements if loops[one.name][: depth + 1] == nest]
        if only_updates(scop, inside, update.operator, array.name):
            counting = tuple(one for one in inside if one.name in users)
            return _sized(scop, array, update, counting, frozenset(one.name for one in inside), depth)
    return None


def _is_unknown(scop: Scop, statement: Statement, array: Array) -> bool:
    return any(
        a.array == array.name and a.kind == "may-write" and not a.relation.is_single_valued()
        for a in statement.accesses
    )


def _sized(
    scop: Scop, array: Array, update: Update, counting: tuple[Statement, ...], inside: frozenset[str], depth: int
) -> Counted | None:
    relations = [a.relation for one in counting for a in one.accesses if a.array == array.name]
    if any(one.involves_dims(IN, 0, one.dim(IN)) and _moves(one, depth + 1) for one in relations):
        return None  # iterations of the nest's loop, or of one around it, have cells of their own
    found = extents(scop, relations)
    sizes = [one.value for one in found or () if isinstance(one, Const)]
    if found is None or len(sizes) < len(found) or prod(sizes) * array.type.bits // 8 > MAX_TABLE_BYTES:
        return None
    needed = prod(sizes) * _UPDATES_A_CELL
    often = isl.Set.empty(scop.context.get_space())
    for one in counting:
        often = often.union(long_loops(one.domain.intersect_params(scop.context), depth, needed))
    often = often.intersect(scop.context).coalesce()
    if often.is_empty():
        return None
    return Counted(array, update.operator, counting, inside, depth, tuple(sizes), often)


def _moves(relation: isl.Map, depth: int) -> bool:
    """Whether iterations of the outer loops, so many of them, reach different cells. A small loop inside may, as over
    the channels of a pixel: ``for c: count[c][value[i][c]]++``."""
    relation = relation.project_out(IN, depth, relation.dim(IN) - depth)
    everywhere = isl.Map.from_domain_and_range(relation.domain(), relation.range())
    return not everywhere.intersect_params(relation.params()).is_subset(relation)


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def with_table(scop: Scop, found: Counted) -> tuple[Scop, str]:
    """The SCoP with a table in the nest, a statement that clears it, and one that adds it to the array."""
    name = next(_names(scop, f"{found.array.spelling}_{'own' if found.total is None else 'total'}"))
    table = _table(name, found)
    changed = {one.name: _counting(one, found, table) for one in found.statements}
    clear, add = (_statement(scop, found, table, adds=adds) for adds in (False, True))
    order = _ordered(scop, found, clear, add)
    tree = _inserted(trees.read(scop.schedule.get_root()), found, clear, add, 0)
    statements = list[Statement]()
    last = [one for one in scop.statements if one.name in found.inside][-1]
    for one in scop.statements:
        if one.name in found.inside and clear not in statements:
            statements.append(clear)
        statements.append(changed.get(one.name, one))
        if one is last:
            statements.append(add)
    made = replace(
        only_for(scop, found.often),
        arrays={**scop.arrays, name: table},
        statements=tuple(statements),
        schedule=trees.build(tree),
        order=order,
    )
    return made, name


def _names(scop: Scop, wish: str) -> Iterator[str]:
    taken = set(scop.reserved) | set(scop.arrays) | {p.spelling for p in scop.parameters}
    taken |= {name for one in scop.statements for name in (one.name, *one.iterators)}
    return (name for name in (wish, *(f"{wish}{k}" for k in range(2, 1000))) if name not in taken)


def _table(name: str, found: Counted) -> Array:
    own = found.array.type
    signed = found.operator == "+" and own.signed
    spelling = UNSIGNED[own.bits] if signed else own.spelling
    ctype = CType(spelling, own.integer, own.floating, own.signed and not signed, own.bits)
    inner: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split()))
    dimensions = tuple(ir.Constant("int", str(size)) for size in found.sizes)
    for size in reversed(dimensions):
        inner = ir.ArrayDecl(inner, size, [])
    declaration = ir.Decl(name, [], [], [], [], inner, None, None)
    return Array(name, name, ctype, dimensions, found.sizes, local=True, declaration=declaration)


def _counting(statement: Statement, found: Counted, table: Array) -> Statement:
    """The statement with the table in place of the array."""
    array, whole = found.array, found.total is not None

    def make(access: Access, node: ir.Node) -> ir.Node | None:
        if access.array != array.name:
            return None
        return ir.ID(table.name) if whole else with_base(node, ir.ID(table.name))

    body, become = with_references(statement, make)
    gone = {n for a in statement.accesses if whole and a.array == array.name for n in walk(a.node) if n is not a.node}
    accesses = tuple(
        replace(
            one,
            array=table.name if one.array == array.name else one.array,
            relation=_moved(one.relation, table, whole=whole) if one.array == array.name else one.relation,
            node=become.get(one.node, one.node) if one.node is not None else None,
        )
        for one in statement.accesses
        if one.node not in gone
    )
    return replace(statement, body=body, accesses=accesses)


def _moved(relation: isl.Map, table: Array, *, whole: bool) -> isl.Map:
    """An access of the array as one of the table."""
    if whole:
        relation = relation.project_out(OUT, 0, relation.dim(OUT))
    return relation.set_tuple_name(OUT, table.name)


def _statement(scop: Scop, found: Counted, table: Array, *, adds: bool) -> Statement:
    """``table[c] = 0``, or ``if (table[c]) array[c] += table[c]``, for each iteration around the nest."""
    beside, rank = found.statements[0], len(found.sizes)
    name = next(_names(scop, f"{beside.name}_{'add' if adds else 'clear'}"))
    cells = [one for _, one in zip(range(rank), _names(scop, "cell"), strict=False)]
    around = outside(beside, found.depth)
    for one in found.statements[1:]:
        around = around.union(outside(one, found.depth))
    if found.total is not None and not found.depth and not (adds and found.operator in BETTER):
        around = isl.Set.universe(around.get_space())  # what added up to nothing isn't added
    limits = " and ".join(f"0 <= {c} < {s}" for c, s in zip(cells, found.sizes, strict=True))
    box = isl.Set(f"{{ [{', '.join(cells)}] : {limits or 'true'} }}")
    domain = (
        around.flat_product(box).set_tuple_name(name)
        if found.depth
        else (box.intersect_params(around.params()).set_tuple_name(name))
    )
    own, there = (_relation(domain, rank, array.name) for array in (table, found.array))
    if found.cells is not None:
        there = found.cells.set_tuple_name(IN, name).intersect_domain(domain)
    long_type = CType(scop.long_type, integer=True, bits=_WIDE)

    def cell(array: Array) -> ir.Node:
        if found.total is not None and array is found.array:
            return copied(found.total)
        node: ir.Node = ir.ID(array.spelling)
        for one in cells:
            node = ir.ArrayRef(node, ir.ID(one))
        return node

    def access(array: Array, kind: str, relation: isl.Map, node: ir.Node) -> Access:
        return Access(array.name, kind, relation, node, beside.location)  # type: ignore[arg-type]

    if not adds:
        target = cell(table)
        body: ir.Node = ir.Assignment("=", target, neutral(found.operator, table.type))
        accesses = [access(table, "write", own, target)]
    else:
        tested, target, value = cell(table), cell(found.array), cell(table)
        read, body = target, ir.If(tested, ir.Assignment(f"{found.operator}=", target, value), None)
        if found.operator in BETTER:
            read = cell(found.array)
            better = ir.BinaryOp(BETTER[found.operator], tested, read)
            body = ir.If(better, ir.Assignment("=", target, value), None)
        accesses = [
            access(table, "read", own, tested),
            access(table, "read", own, value),
            access(found.array, "read", there, read),
            access(found.array, "may-write", there, target),
        ]
    iterators = (*beside.iterators[: found.depth], *cells)
    types = (*beside.iterator_types[: found.depth], *(long_type for _ in cells))
    return Statement(name, domain, iterators, types, body, tuple(accesses), beside.location)


def outside(statement: Statement, depth: int) -> isl.Set:
    """The outer iterators' values that a statement has instances for."""
    return statement.domain.project_out(SET, depth, statement.domain.dim(SET) - depth).reset_tuple_id()


def _relation(domain: isl.Set, rank: int, array: str) -> isl.Map:
    identity = domain.identity()
    return identity.project_out(OUT, 0, identity.dim(OUT) - rank).set_tuple_name(OUT, array)


def _ordered(scop: Scop, found: Counted, clear: Statement, add: Statement) -> isl.UnionMap:
    """The order with the new statements: in the dimension behind the nest's place, -1 and 1 stand before and behind."""
    dates, rank = [*maps_of(scop.order)], len(found.sizes)
    width = dates[0].dim(OUT)
    beside = next(one for one in dates if one.get_tuple_name(IN) == found.statements[0].name)
    place = next((k for k in range(width) if _is_inner(beside, found.depth, k)), width)

    def longer(one: isl.Map) -> isl.Map:
        made = one.insert_dims(OUT, width, rank).insert_dims(OUT, place, 1).reset_tuple_id(OUT)
        for k in (place, *range(width + 1, width + 1 + rank)):
            made = made.fix_val(OUT, k, isl.Val(0))
        return made

    whole = isl.UnionMap.from_map(longer(dates[0]))
    for one in dates[1:]:
        whole = whole.union(isl.UnionMap.from_map(longer(one)))
    for new, when in ((clear, -1), (add, 1)):
        prefix = _around(new, beside, found.depth).project_out(OUT, place, width - place)
        made = prefix.insert_dims(OUT, place, width + 1 + rank - place).fix_val(OUT, place, isl.Val(when))
        for k in range(place + 1, width + 1):
            made = made.fix_val(OUT, k, isl.Val(0))
        for k in range(rank):
            made = made.equate(IN, found.depth + k, OUT, width + 1 + k)
        whole = whole.union(isl.UnionMap.from_map(made.intersect_domain(new.domain)))
    return whole


def _is_inner(dates: isl.Map, depth: int, k: int) -> bool:
    """Whether dates have different values in a dimension, for the same outer iterators."""
    one = dates.project_out(OUT, k + 1, dates.dim(OUT) - k - 1).project_out(OUT, 0, k)
    return not one.project_out(IN, depth, one.dim(IN) - depth).is_single_valued()


def _around(one: Statement, of: isl.Map, depth: int) -> isl.Map:
    """``{ new[o, c] -> … }`` of what another statement's instances with the same outer iterators have."""
    same = isl.Map.from_domain_and_range(one.domain, of.domain())
    for k in range(depth):
        same = same.equate(IN, k, OUT, k)
    return same.apply_range(of).reset_tuple_id(OUT)


def _inserted(tree: trees.Tree, found: Counted, clear: Statement, add: Statement, depth: int) -> trees.Tree:
    """The tree with the new statements before and behind the nest."""
    names = frozenset(str(part.get_tuple_name()) for part in sets_of(trees.domain_of(tree)))
    if not names & found.inside:
        return tree
    match tree:
        case trees.Band() if depth == found.depth and names <= found.inside:
            return trees.Sequence((_box(clear, depth), tree, _box(add, depth)))
        case trees.Band(partial, body):
            members = [partial.get_at(k) for k in range(tree.width)]
            for k, member in enumerate(members):
                own = isl.UnionMap.from_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_pw_aff(member))
                beside = next(m for m in maps_of(own) if m.get_tuple_name(IN) == found.statements[0].name)
                for one in (clear, add):
                    value = isl.UnionMap.from_map(_around(one, beside, found.depth))
                    member = member.union_add(isl.UnionPwMultiAff.from_union_map(value).get_union_pw_aff(0))
                members[k] = member
            return trees.nested(members, _inserted(body, found, clear, add, depth + tree.width))
        case trees.Sequence(parts):
            return trees.Sequence(tuple(_inserted(part, found, clear, add, depth) for part in parts))
    return tree


def _box(statement: Statement, depth: int) -> trees.Tree:
    """The loops over a table's cells."""
    domain = statement.domain
    space = isl.LocalSpace.from_space(domain.get_space())
    members = [
        isl.UnionPwAff.from_pw_aff(isl.PwAff.var_on_domain(space, SET, k)).intersect_domain(domain.to_union_set())
        for k in range(depth, domain.dim(SET))
    ]
    tree: trees.Tree = trees.Leaf(domain.to_union_set())
    for member in reversed(members):
        tree = trees.nested([member], tree)
    return tree
