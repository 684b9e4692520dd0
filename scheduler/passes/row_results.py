"""Results of rows: scalars that a statement takes into something that all rows share get a cell for each row.

In ``for i { s = 0; for j s += A[i][j] * x[j]; norm += s * s; }`` the sum in ``norm`` keeps its order, and all rows with
it, though they have nothing else to do with each other. With ``s_all[i]`` in place of ``s``, the loop over ``norm`` can
stand behind the others, which are parallel then, and may run several rows at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.nest import Expr
from scopt.ir.scop import Array, Dependence, Dependences, Scop, Statement
from scopt.poly import trees
from scopt.poly.array_extents import extents
from scopt.poly.isl_utils import sets_of, union_of_sets
from scopt.poly.linear import subscript_rows
from scopt.poly.source_iterations import in_one_iteration, is_carried
from scopt.poly.source_loops import source_loops
from scopt.scheduler.passes.expansion import Expansion, common_depth, new_name, with_cells


class RowsApart(Struct, frozen=True, eq=False):
    """A SCoP with cells for the results of rows. split: its schedule in the order of the source, but that what takes
    the results stands behind the rows' loop. several: rows have more than one nest of loops inside, which use the same
    lines. inner: there are loops around the rows' one, in order.
    """

    expansion: Expansion
    split: isl.Schedule
    several: bool
    inner: bool
    tails: frozenset[str] = frozenset()


def rows_apart(scop: Scop, deps: Dependences, shared: Collection[str] = ()) -> RowsApart | None:
    """The SCoP with cells for the results of rows, where that alone keeps them in order; None if it nowhere does.

    deps: with reductions in any order as far as that is allowed. shared: arrays that rows compute anew, each for
    itself, which will get others in their place: that they are the same memory keeps no rows in order."""
    sizes: dict[str, tuple[Expr, ...]] = {}
    rows: dict[tuple[str, ...], Row] = {}
    made = scop
    for array in scop.arrays.values():
        row = _row(scop, deps, array, shared) if not array.rank and array.private and not array.pointer else None
        cells = _with_cells(made, array, row) if row is not None else None
        if row is not None and cells is not None:
            made, own = cells
            sizes.update(own)
            rows[tuple(row.statements)] = row
    for row in rows.values():
        for array in _sums(scop, deps, row):
            cells = _with_cells(made, array, row) if array.name in made.arrays else None
            if cells is not None:
                made, own = cells
                sizes.update(own)
    if not sizes and shared:
        rows = {tuple(row.statements): row for row in _outermost_rows(scop, deps, shared)}
    if not sizes and not rows:
        return None
    tree = trees.read(scop.schedule.get_root())
    for row in rows.values():
        tree = split_rows(tree, row) if all(_may_stand_behind(made, one, row) for one in deps.strict().all) else tree
    loops = source_loops(scop)
    several = any(len({loops[name] for name in row.deep}) > 1 for row in rows.values())
    inner = any(row.depth > 1 for row in rows.values())
    tails = frozenset(name for row in rows.values() for name in row.tail)
    return RowsApart(Expansion(made, sizes), trees.build(tree), several, inner, tails)


class Row(Struct, frozen=True, eq=False):
    """The statements of a loop, and how many loops are around them, itself among them. tail: those that keep its
    iterations in order."""

    statements: Mapping[str, Statement]
    depth: int
    tail: frozenset[str] = frozenset()

    @property
    def deep(self) -> frozenset[str]:
        """Those in more loops."""
        return frozenset(name for name, one in self.statements.items() if len(one.iterators) > self.depth)

    @property
    def gains(self) -> bool:
        """Whether what needn't keep the order is in more loops than what has to."""
        kept = max((len(self.statements[name].iterators) for name in self.tail), default=0)
        return any(len(one.iterators) > max(kept, self.depth) for one in self.statements.values())


def _outermost_rows(scop: Scop, deps: Dependences, shared: Collection[str]) -> Iterator[Row]:
    """The outermost loops whose statements in order need nothing but cells that each row has anyway."""
    loops = source_loops(scop)
    for around in dict.fromkeys(own[:1] for own in loops.values() if own):
        row = Row({one.name: one for one in scop.statements if loops[one.name][:1] == around}, 1)
        carried = [end for one in _carried(scop, deps, row, shared) for end in (one.source, one.sink)]
        row = replace(row, tail=frozenset(carried))
        if row.tail and row.deep and row.gains:
            yield row


def _row(scop: Scop, deps: Dependences, array: Array, shared: Collection[str]) -> Row | None:
    """The loop whose iterations compute the scalar anew, if it is a value of theirs for statements that keep them in
    order, and nothing else does."""
    users = [s for s in scop.statements if any(access.array == array.name for access in s.accesses)]
    if len(users) < 2 or max(len(one.iterators) for one in scop.statements) < 2:
        return None
    depth = common_depth(scop, deps.strict(), array)
    if not depth:
        return None
    loops = source_loops(scop)
    around = loops[users[0].name][:depth]
    row = Row({one.name: one for one in scop.statements if loops[one.name][:depth] == around}, depth)
    # Cells serve iterations of the loops around one after another: these had to be in order before.
    if not row.deep or not all(any(_carried(scop, deps, replace(row, depth=k))) for k in range(1, depth)):
        return None
    tail: set[str] = set()
    for one in _carried(scop, deps, row, shared):
        tail |= {one.source, one.sink}
    given = any(
        one.array == array.name and one.source not in tail and one.sink in tail for one in deps.strict().select("flow")
    )
    row = replace(row, tail=frozenset(tail))
    if depth > 1 and all(_writes_somewhere(row.statements[name]) for name in tail):
        return None  # strips run these in order behind vectors
    return row if given and row.gains else None


def _writes_somewhere(statement: Statement) -> bool:
    """Whether data name the cells that a statement writes."""
    return all(not access.relation.is_single_valued() for access in statement.accesses if access.is_write)


def _sums(scop: Scop, deps: Dependences, row: Row) -> Iterator[Array]:
    """Scalars that hand on what loops inside have computed, where these are one nest: with cells for them, too, several
    rows may run at a time, and nothing that several nests use comes from memory again."""
    loops = source_loops(scop)
    if len({loops[name] for name in row.deep}) > 1:
        return
    shallow = row.statements.keys() - row.deep
    for array in scop.arrays.values():
        if array.rank or not array.private or array.pointer:
            continue
        flows = (one for one in deps.strict().select("flow") if one.array == array.name)
        handed_on = any(one.source in row.deep and one.sink in shallow for one in flows)
        if handed_on and common_depth(scop, deps.strict(), array) == row.depth:
            yield array


def _carried(scop: Scop, deps: Dependences, row: Row, shared: Collection[str] = ()) -> Iterator[Dependence]:
    """The dependences that the loop carries, but for those between live ranges of private cells, and of cells that are
    shared for now."""
    for one in deps.select("flow", "anti", "output"):
        if not {one.source, one.sink} <= row.statements.keys():
            continue
        if one.kind != "flow" and (scop.arrays[one.array].private or one.array in shared):
            continue
        if is_carried(one.relation, row.depth - 1):
            yield one


def _with_cells(scop: Scop, array: Array, row: Row) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    name = new_name(scop, array)
    made = {
        one.name: with_cells(one, array, name, (row.depth - 1,))
        for one in scop.statements
        if any(access.array == array.name for access in one.accesses)
    }
    relations = [a.relation for one in made.values() for a in one.accesses if a.array == name]
    sizes = extents(scop, relations)
    if sizes is None:
        return None
    new = Array(name, name, array.type, (None,), (None,))
    arrays = {key: value for key, value in scop.arrays.items() if key != array.name} | {name: new}
    statements = tuple(made.get(one.name, one) for one in scop.statements)
    kills = tuple(one for one in scop.kills if all(access.array != array.name for access in one.accesses))
    return replace(scop, statements=statements, arrays=arrays, kills=kills), {name: sizes}


# --- the tail behind the rows -----------------------------------------------------------------------------------------


def _may_stand_behind(made: Scop, one: Dependence, row: Row) -> bool:
    """Whether a dependence, one in the original, lets the tail stand behind the loop. made: the SCoP with cells."""
    if not {one.source, one.sink} <= row.statements.keys() or (one.source in row.tail) == (one.sink in row.tail):
        return True
    if one.array not in made.arrays:
        return one.kind != "flow" or one.sink in row.tail  # each iteration has its own cell
    if made.arrays[one.array].private:
        return False
    return one.sink in row.tail or bool(in_one_iteration(one.relation, row.depth - 1).is_empty())


def split_rows(tree: trees.Tree, row: Row) -> trees.Tree:
    """The tree with the loop once around the rows, and once around the tail."""
    names = frozenset(str(part.get_tuple_name()) for part in sets_of(trees.domain_of(tree)))
    match tree:
        case trees.Band(partial, body):
            if names == row.statements.keys() and tree.width == 1 and _moves(tree, row):
                tail = union_of_sets(row.statements[name].domain for name in sorted(row.tail))
                rest = union_of_sets(one.domain for name, one in row.statements.items() if name not in row.tail)
                parts = (_within(tree, some) for some in (rest, tail))
                return trees.Sequence(tuple(part for part in parts if part is not None))
            return trees.Band(partial, split_rows(body, row))
        case trees.Sequence(parts):
            return trees.Sequence(tuple(split_rows(part, row) for part in parts))
    return tree


def _moves(band: trees.Band, row: Row) -> bool:
    """Whether a band is the rows' loop: each statement's iterator, with whatever sign."""
    for one in row.statements.values():
        member = isl.Map.from_union_map(
            isl.UnionMap.from_union_pw_multi_aff(
                isl.UnionPwMultiAff.from_multi_union_pw_aff(band.partial)
            ).intersect_domain(one.domain.to_union_set())
        )
        rows = subscript_rows(member)
        if rows is None or [k for k, value in enumerate(rows[0][: len(one.iterators)]) if value] != [row.depth - 1]:
            return False
    return True


def _within(tree: trees.Tree, domain: isl.UnionSet) -> trees.Tree | None:
    """The part of a tree with some instances; None if it has none."""
    match tree:
        case trees.Leaf(own):
            rest = own.intersect(domain)
            return None if rest.is_empty() else trees.Leaf(rest)
        case trees.Band(partial, body):
            inner = _within(body, domain)
            return None if inner is None else trees.Band(partial.intersect_domain(trees.domain_of(inner)), inner)
        case trees.Sequence(parts):
            kept = [part for part in (_within(one, domain) for one in parts) if part is not None]
            return (kept[0] if len(kept) == 1 else trees.Sequence(tuple(kept))) if kept else None
