"""Rolling rows: what cells hand on along a row gets a cell for each row, where one array holds all rows in turn.

In ``for i for j row[j] = f(row[j], row[j - 1])`` each row takes the place of the one before: memory for one row is
enough, and rows could run along diagonals ``i + j``, but that ``row[j - 1]`` has to be read before the next row writes
it, which is on the same diagonal. With ``left[i]``, which the iteration before has set to what it wrote, in its place,
and with cells ``diag_all[i]`` for what is handed on in scalars, nothing but the values themselves binds iterations
(scalar replacement: Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables", 1990; array
expansion: Feautrier, 1988). Each lane of a vector loop along a diagonal has a row, and two neighbouring cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.nest import Expr
from scopt.ir.scop import Access, Dependences, Scop, Statement
from scopt.poly import trees
from scopt.poly.array_extents import extents
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import IN, OUT, SET, joined, sets_of, union_of_sets
from scopt.poly.linear import subscript_rows
from scopt.poly.source_iterations import in_one_iteration, is_carried
from scopt.poly.source_loops import source_loops
from scopt.scheduler.passes.alternate_rows import folded_rows
from scopt.scheduler.passes.carrying import Carried, carried_along, from_before, with_carried
from scopt.scheduler.passes.copies import Cell, cells_for, last_row, relations_to
from scopt.scheduler.passes.expansion import Expansion, common_depth
from scopt.scheduler.passes.row_totals import with_row_totals
from scopt.scheduler.passes.two_rows import one_row


class Rolled(Struct, frozen=True, eq=False):
    """A SCoP with cells for what rows hand on. statements: those that write the rows, which diagonals are for. before:
    the SCoP that differs from it by these cells alone; it may have totals of rows."""

    expansion: Expansion
    statements: frozenset[str]
    before: Scop


def rolled(scop: Scop, deps: Dependences) -> Rolled | None:
    """The SCoP with cells for what rows that take each other's place, or accumulate something, hand on; None if there
    are no such rows. deps: with reductions in their order."""
    totals = with_row_totals(scop, deps)
    own = frozenset[str]() if totals is None else totals.names
    if totals is not None:
        scop, deps = totals.scop, dependences(totals.scop).strict()
    before, single = scop, one_row(scop) or folded_rows(scop)
    sizes = dict[str, tuple[Expr, ...]]()
    if single is not None:
        scop, deps, sizes = single.scop, dependences(single.scop).strict(), dict(single.extents)
    rows = {one.name: len(one.iterators) - 2 for one in _rolling(scop, deps, own) if _waits(scop, deps, one)}
    if not rows:
        return None
    made = _with_left(scop, deps, rows, sizes)
    found = _with_scalars(made, rows, sizes, own)
    for name, row in rows.items():
        found = _split(found, scop.statement(name), row) if found is not None else None
    return Rolled(Expansion(found, sizes), frozenset(rows), before) if found is not None and sizes else None


def _rolling(scop: Scop, deps: Dependences, totals: Collection[str]) -> Iterator[Statement]:
    """The statements that write a row which the next iteration of the loop around it writes anew, cell by cell, after
    having read it; and those along rows that have totals."""
    loops = source_loops(scop)
    along = {loops[s.name] for s in scop.statements if any(a.array in totals and a.is_write for a in s.accesses)}
    for statement in scop.statements:
        depth = len(statement.iterators)
        for write in statement.accesses:
            rows = subscript_rows(write.relation) if write.kind == "write" and depth > 1 else None
            if not rows or rows[-1][depth - 1] != 1 or any(row[depth - 1] for row in rows[:-1]):
                continue
            again = not any(row[depth - 2] for row in rows) and _flows(scop, deps, statement, write, depth - 2)
            if again or loops[statement.name] in along:
                yield statement


def _flows(scop: Scop, deps: Dependences, statement: Statement, write: Access, depth: int) -> bool:
    """Whether values of a statement get from one iteration of a loop to another one, in the array that it writes."""
    flows = (one for one in deps.select("flow") if (one.array, one.source) == (write.array, statement.name))
    return any(is_carried(one.relation, depth) for one in flows if one.relation.dim(OUT) > depth)


def _waits(scop: Scop, deps: Dependences, statement: Statement) -> bool:
    """Whether what a statement computes goes into what it computes next, in the same row, as well as into the next row:
    neither the row nor its cells can be computed side by side, whatever is split off."""
    row, edges = len(statement.iterators) - 2, dict[str, set[str]]()
    loops = source_loops(scop)
    inside = {name for name, own in loops.items() if own == loops[statement.name]}
    flows = [one for one in deps.select("flow") if {one.source, one.sink} <= inside]
    for one in flows:
        edges.setdefault(one.source, set()).add(one.sink)
    below = _reached(edges, statement.name)
    cycle = {name for name in below if statement.name in _reached(edges, name)}
    own = [one.relation for one in flows if {one.source, one.sink} <= cycle]
    return any(is_carried(one, row) for one in own) and any(is_carried(one, row + 1) for one in own)


def _reached(edges: Mapping[str, set[str]], start: str) -> set[str]:
    found, todo = set[str](), list(edges.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += edges.get(name, ())
    return found


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _with_left(scop: Scop, deps: Dependences, rows: Mapping[str, int], sizes: dict[str, tuple[Expr, ...]]) -> Scop:
    """The SCoP with a cell for each row in place of the neighbour that the row's last iteration wrote. sizes: those of
    the new arrays are added."""
    for name, row in rows.items():
        for position in range(len(scop.statement(name).accesses)):
            writer = scop.statement(name)
            if any(line[row] for line in subscript_rows(writer.accesses[position].relation) or ()):
                continue  # each row has cells of its own
            found = carried_along(scop, deps, writer, writer.accesses[position])
            found = from_before(found) if found is not None else None
            made = _replaced(scop, found, row) if found is not None else None
            if made is not None:
                scop, deps = made[0], dependences(made[0]).strict()
                sizes.update(made[1])
    return scop


def _replaced(scop: Scop, found: Carried, row: int) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    new = cells_for(scop, found.array, "last")
    cell = Cell(new.name, (row,), last_row(scop, _in_row(scop, found.writer, row), row))
    made = with_carried(scop, found, cell, new)
    size = extents(made, relations_to(made, new.name), loose=True)
    return (made, {new.name: size}) if size is not None else None


def _in_row(scop: Scop, writer: Statement, row: int) -> list[Statement]:
    """The statements in the loop over rows around one of them."""
    loops = source_loops(scop)
    return [one for one in scop.statements if loops[one.name][: row + 1] == loops[writer.name][: row + 1]]


def _with_scalars(
    scop: Scop, rows: Mapping[str, int], sizes: dict[str, tuple[Expr, ...]], totals: Collection[str]
) -> Scop | None:
    """The SCoP with a cell for each row in place of scalars that hand values on along it, and of totals, whose sizes
    are added; None if one can't be replaced."""
    deps = dependences(scop).strict()
    for array in [one for one in scop.arrays.values() if one.private and not one.rank]:
        users = [one for one in scop.statements if any(a.array == array.name for a in one.accesses)]
        around = {row for name, row in rows.items() if any(_shares(scop.statement(name), row, one) for one in users)}
        own = [one.relation for one in deps.select("flow") if one.array == array.name]
        if len(around) != 1 or not any(_hands_on(one, row) for one in own for row in around):
            continue
        (row,) = around
        sure = array.name not in totals
        if sure and any(a.kind == "may-write" for one in users for a in one.accesses if a.array == array.name):
            return None
        if common_depth(scop, deps, array) != row + 1:
            return None
        new = cells_for(scop, array, "all")
        cell = Cell(new.name, (row,), last_row(scop, users, row))
        changed = {
            one.name: cell.read_by(one, {a.node for a in one.accesses if a.array == array.name}) for one in users
        }
        arrays = {**{name: one for name, one in scop.arrays.items() if name != array.name}, new.name: new}
        kills = tuple(one for one in scop.kills if all(access.array != array.name for access in one.accesses))
        statements = tuple(changed.get(one.name, one) for one in scop.statements)
        scop = replace(scop, statements=statements, arrays=arrays, kills=kills)
        size = extents(scop, relations_to(scop, new.name), loose=True)
        if size is None:
            return None
        sizes[new.name] = size
    return scop


def _shares(writer: Statement, row: int, other: Statement) -> bool:
    """Whether a statement is in the loop over rows that another one is in."""
    return other.iterators[: row + 1] == writer.iterators[: row + 1]


def _hands_on(flow: isl.Map, row: int) -> bool:
    """Whether a value gets from one iteration along a row to another one, or to the row from around it."""
    depths = flow.dim(IN), flow.dim(OUT)
    return min(depths) <= row + 1 < max(depths) or (min(depths) > row + 1 and is_carried(flow, row + 1))


def _split(scop: Scop, writer: Statement, row: int) -> Scop | None:
    """The SCoP with loops of their own for what only begins and ends rows, and what is along them in the innermost
    two loops; None if these can't be apart."""
    loops, tree = source_loops(scop), trees.read(scop.schedule.get_root())
    around = loops[writer.name]
    inside = {one.name: one for one in scop.statements if loops[one.name][: row + 1] == around[: row + 1]}
    along = frozenset(name for name, one in inside.items() if loops[name] == around and not _is_once(one, row))
    found = dependences(scop).strict().select("flow", "anti", "output")
    own = (one for one in found if {one.source, one.sink} <= inside.keys() and _meet(one.relation, row))
    pairs = {(one.source, one.sink) for one in own}
    parts = _in_order({name: along if name in along else frozenset((name,)) for name in inside}, pairs)
    if along not in parts:
        return None
    domains = {one: union_of_sets(inside[name].domain for name in one) for one in parts}
    made = _with_parts(tree, writer.domain.to_union_set(), 0, [domains[one] for one in parts], row)
    return replace(scop, schedule=trees.build(made))


def _in_order(groups: Mapping[str, frozenset[str]], pairs: Collection[tuple[str, str]]) -> tuple[frozenset[str], ...]:
    """Groups of statements, those that wait for each other put together, each behind all that it waits for.
    pairs: of a statement and one that waits for it."""
    while True:
        edges: dict[frozenset[str], set[frozenset[str]]] = {one: set() for one in groups.values()}
        for first, second in pairs:
            if groups[first] != groups[second]:
                edges[groups[second]].add(groups[first])
        try:
            return tuple(TopologicalSorter(edges).static_order())
        except CycleError as error:
            together = frozenset[str]().union(*error.args[1])
            groups = {name: together if name in together else one for name, one in groups.items()}


def _meet(relation: isl.Map, outer: int) -> bool:
    """Whether there are pairs in one iteration of so many outer loops."""
    return not in_one_iteration(relation, outer).is_empty()


def _is_once(statement: Statement, row: int) -> bool:
    """Whether a statement along a row has one instance in each."""
    same = statement.domain.identity().project_out(OUT, row + 1, statement.domain.dim(SET) - row - 1).reverse()
    return bool(same.is_single_valued())


def _with_parts(
    tree: trees.Tree, writes: isl.UnionSet, depth: int, parts: Sequence[isl.UnionSet], row: int
) -> trees.Tree:
    """The tree, below so many loops, with a loop over rows for each part, one after the other."""
    match tree:
        case trees.Sequence(inner):
            return trees.Sequence(tuple(_with_parts(one, writes, depth, parts, row) for one in inner))
        case trees.Band(partial, body) if not writes.intersect(trees.domain_of(tree)).is_empty():
            if depth == row:
                made = (trees.restricted(body if _is_one_row(part, row) else tree, part) for part in parts)
                return trees.Sequence(tuple(_as_band(one) for one in made if one is not None))
            return trees.Band(partial, _with_parts(body, writes, depth + tree.width, parts, row))
    return tree


def _is_one_row(instances: isl.UnionSet, row: int) -> bool:
    """Whether instances are those of one row alone."""
    return all(one.dim_max(row).is_equal(one.dim_min(row)) for one in sets_of(instances))


def _as_band(tree: trees.Tree) -> trees.Tree:
    """Loops directly inside of each other as one band."""
    while isinstance(tree, trees.Band) and isinstance(tree.body, trees.Band):
        inner = tree.body
        members = [*_members(tree), *_members(inner)]
        tree = trees.Band(joined(members), inner.body)
    return tree


def _members(band: trees.Band) -> Iterator[isl.UnionPwAff]:
    return (band.partial.get_at(k) for k in range(band.width))
