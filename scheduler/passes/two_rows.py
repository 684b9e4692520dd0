"""Two rows that take turns become one: what is computed of a row, and then copied over the one before, goes there.

In ``for i { for j new[j] = f(old[j], old[j - 1], new[j - 1]); for j old[j] = new[j]; }`` the row before is read for one
cell more than where it is written over: ``old[j - 1]``, which a scalar reads in time, and hands on to the next
iteration in a cell of the row's own. All else of `new` may stand in `old` (array coalescing: Lefebvre and Feautrier,
"Automatic storage management for parallel programs", 1998). Behind the loop `new` gets what it was left with.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import copied
from scopt.poly import trees
from scopt.poly.body_rewriting import with_base, with_references
from scopt.poly.isl_utils import IN, OUT, SET, union_of_sets
from scopt.poly.linear import subscript_rows
from scopt.poly.row_extents import only_for
from scopt.poly.source_loops import source_loops
from scopt.scheduler.passes.copies import Copy, with_copies
from scopt.scheduler.passes.expansion import Expansion
from scopt.scheduler.passes.row_neighbours import cells_before, with_cells_before


class _Turn(Struct, frozen=True, eq=False):
    """Two rows. copy: the statement that puts one over the other; `new`, `old`: its references. writer, write: what
    computes the new row along the innermost loop; row: the position of the iterator that counts rows."""

    copy: Statement
    new: Access
    old: Access
    writer: Statement
    write: Access
    row: int


def one_row(scop: Scop) -> Expansion | None:
    """The SCoP with one row in place of two that take turns, if its first such rows can be one; None without any."""
    for statement in scop.statements:
        turn = _turn(scop, statement)
        made = _with_one_row(scop, turn) if turn is not None else None
        if made is not None:
            return made
    return None


def _turn(scop: Scop, copy: Statement) -> _Turn | None:
    """What a statement copies, if that is the row that another one computes in the same iteration."""
    reads, writes = ([a for a in copy.accesses if a.kind == kind] for kind in ("read", "write"))
    body, row = copy.body, len(copy.iterators) - 2
    if row < 0 or len(reads) != 1 or len(writes) != 1 or not isinstance(body, ir.Assignment) or body.op != "=":
        return None
    (new,), (old,) = reads, writes
    arrays = [scop.arrays[one.array] for one in (new, old)]
    plain = not any(one.type.volatile or one.type.atomic or one.within or one.rows for one in arrays)
    if not plain or arrays[0] is arrays[1] or arrays[0].type.spelling != arrays[1].type.spelling:
        return None
    if body.lvalue is not old.node or body.rvalue is not new.node or not _is_row(new.relation, row):
        return None
    if not new.relation.set_tuple_name(OUT, old.array).is_equal(old.relation):
        return None
    loops = source_loops(scop)
    for writer in scop.statements:
        own = [a for a in writer.accesses if a.is_write and a.array == new.array]
        beside = len(writer.iterators) == row + 2 and loops[writer.name][: row + 1] == loops[copy.name][: row + 1]
        if beside and own and all(map(_is_sure(own[0]), own)) and _is_row(own[0].relation, row):
            return _Turn(copy, new, old, writer, own[0], row)
    return None


def _is_sure(write: Access) -> Callable[[Access], bool]:
    """Tells of accesses whether they surely write what another one does: one of them in each way of a condition."""
    return lambda access: access.kind == "write" and bool(access.relation.is_equal(write.relation))


def _is_row(relation: isl.Map, row: int) -> bool:
    """Whether the innermost loop walks through the cells of a row, and the loop around it has them all again."""
    rows = subscript_rows(relation)
    if not rows or not relation.is_single_valued() or relation.dim(IN) != row + 2:
        return False
    return rows[-1][row + 1] == 1 and not any(one[row + 1] for one in rows[:-1]) and not any(one[row] for one in rows)


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _with_one_row(scop: Scop, turn: _Turn) -> Expansion | None:
    """The SCoP with the new row in the old one's place; None if other cells are needed than the neighbour before."""
    loops = source_loops(scop)
    inside = {name for name, own in loops.items() if own[: turn.row + 1] == loops[turn.copy.name][: turn.row + 1]}
    along = [one for one in scop.statements if loops[one.name] == loops[turn.writer.name]]
    write = turn.write.relation.set_tuple_name(OUT, turn.old.array)
    before = cells_before(along, turn.old.array, turn.writer, write, turn.row)
    covered = _covered(scop, turn, inside)
    if before is None or covered.is_empty():
        return None
    made = only_for(_renamed(scop, turn, inside), covered)
    found = with_cells_before(made, turn.old.array, turn.writer.name, turn.row, before, inside)
    return None if found is None else Expansion(_without_copy(found[0], scop, turn), found[1])


def _covered(scop: Scop, turn: _Turn, inside: set[str]) -> isl.Set:
    """The parameters with which each cell that is computed of a row is copied."""
    context, copied_cells = scop.context, _by_row(turn.new.relation, turn.row)
    for statement in (one for one in scop.statements if one.name in inside):
        for access in statement.accesses:
            if access.array == turn.new.array and access.is_write:
                context = context.subtract(_by_row(access.relation, turn.row).subtract(copied_cells).params())
    return context.coalesce()


def _by_row(relation: isl.Map, row: int) -> isl.Map:
    """``{ [i0, …, row] -> A[…] }``"""
    return relation.project_out(IN, row + 1, relation.dim(IN) - row - 1).reset_tuple_id(IN)


def _renamed(scop: Scop, turn: _Turn, inside: set[str]) -> Scop:
    """The SCoP with the old row in the new one's place, in the loop over rows."""
    spelling = scop.arrays[turn.old.array].spelling

    def changed(statement: Statement) -> Statement:
        def reference(access: Access, node: ir.Node) -> ir.Node | None:
            return with_base(node, ir.ID(spelling)) if access.array == turn.new.array else None

        body, become = with_references(statement, reference)
        accesses = []
        for access in statement.accesses:
            node = become.get(access.node, access.node) if access.node is not None else None
            if access.array == turn.new.array:
                relation = access.relation.set_tuple_name(OUT, turn.old.array)
                access = replace(access, array=turn.old.array, relation=relation)
            accesses.append(replace(access, node=node))
        return replace(statement, body=body, accesses=tuple(accesses))

    kept = inside - {turn.copy.name}
    return replace(scop, statements=tuple(changed(one) if one.name in kept else one for one in scop.statements))


def _without_copy(scop: Scop, before: Scop, turn: _Turn) -> Scop:
    """The SCoP without the statement that copies a row over the other, but for the last one if somebody looks at it."""
    statements = {one.name: one for one in scop.statements}
    array = before.arrays[turn.new.array]
    if not array.private:
        last = _last(turn)
        scop = with_copies(scop, statements, [Copy(last, turn.copy, before=False)])
        statements = {one.name: one for one in scop.statements}
    del statements[turn.copy.name]
    domain = union_of_sets(one.domain for one in statements.values())
    tree = trees.restricted(trees.read(scop.schedule.get_root()), domain)
    assert tree is not None
    kills = union_of_sets(one.domain for one in scop.kills)
    order = scop.order.intersect_domain(domain.union(kills))
    return replace(scop, statements=tuple(statements.values()), schedule=trees.build(tree), order=order)


def _last(turn: _Turn) -> Statement:
    """What puts the last row where the loop has left it."""
    copy, name = turn.copy, f"{turn.copy.name}_last"
    later = isl.Map.universe(copy.domain.get_space().map_from_set())
    for k in range(copy.domain.dim(SET)):
        later = later.order_lt(IN, k, OUT, k) if k == turn.row else later.equate(IN, k, OUT, k)
    earlier = later.intersect_domain(copy.domain).intersect_range(copy.domain).domain()
    domain = copy.domain.subtract(earlier).coalesce().set_tuple_name(name)
    assert turn.old.node is not None
    assert turn.new.node is not None
    target, value = copied(turn.new.node), copied(turn.old.node)
    same = domain.identity().set_tuple_name(OUT, copy.name)
    accesses = (
        Access(turn.old.array, "read", same.apply_range(turn.old.relation), value, copy.location),
        Access(turn.new.array, "write", same.apply_range(turn.new.relation), target, copy.location),
    )
    body = ir.Assignment("=", target, value)
    return Statement(name, domain, copy.iterators, copy.iterator_types, body, accesses, copy.location)
