"""Row values: what a loop computes for each of the rows that it adds to one line of cells gets a cell for each of them.

In ``for k { w = x[k]; if (w != 0) for c line[c] += w * a[k][c]; }`` the rows come one after the other, and the line's
cells have nothing to do with each other. But ``w`` has one row's value at a time, so that the loop over the line can't
come outside, and threads meet behind each row. With ``w_all[k]`` in its place (Feautrier, "Array expansion", 1988)
each thread has a part of the line, which stays in its cache, and adds all rows to that in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import Expr
from scopt.ir.scop import Array, Dependences, Scop, Statement
from scopt.ir.walks import walk
from scopt.poly import trees
from scopt.poly.isl_utils import IN, OUT, sets_of, union_of_sets
from scopt.poly.linear import subscript_rows
from scopt.poly.source_iterations import is_carried
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.decisions.small_loops import reach
from scopt.scheduler.passes.expansion import Expansion, common_depth, with_array

# Cells of a line that are too few for rows beside each other, and for threads that share it (chosen).
_FEW, _SHORT = 48, 512


def values_apart(scop: Scop, deps: Dependences) -> tuple[Expansion, frozenset[str]] | None:
    """The SCoP with cells for what is computed for each row, and the statements that add rows, which threads can share
    by that; None where nothing keeps them from it, or something else does. Its schedule has what is computed for rows
    in loops before those that add them. deps: with reductions in their order."""
    loops, tree = source_loops(scop), trees.read(scop.schedule.get_root())
    made, sizes, added = scop, dict[str, tuple[Expr, ...]](), set[str]()
    for outermost in dict.fromkeys(around[0] for around in loops.values() if around):
        inside = [one for one in scop.statements if loops[one.name][:1] == (outermost,)]
        rows, heads = _parted(inside)
        values = _values(scop, deps, rows, heads)
        if not values or not _are_added(scop, deps, rows, loops) or not _are_apart(deps, rows, heads, values):
            continue
        apart = _split(tree, inside, rows)
        if apart is None:
            continue
        tree = apart
        for array, depth in values:
            found = with_array(made, array, range(depth))
            if found is None:
                return None
            made, extent = found
            sizes.update(extent)
        added |= {one.name for one in rows}
        given = {array.name for array, _ in values}
        arrays = {name: array for name, array in made.arrays.items() if name not in given}
        kills = tuple(one for one in made.kills if all(access.array not in given for access in one.accesses))
        made = replace(made, arrays=arrays, kills=kills)
    return (Expansion(replace(made, schedule=trees.build(tree)), sizes), frozenset(added)) if added else None


def _parted(inside: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    """The statements in the most loops, and all others."""
    most = max(len(one.iterators) for one in inside)
    rows = [one for one in inside if len(one.iterators) == most > 1]
    return rows, [one for one in inside if one not in rows]


def _values(
    scop: Scop, deps: Dependences, rows: Sequence[Statement], heads: Sequence[Statement]
) -> list[tuple[Array, int]]:
    """The scalars that are computed in front of the rows' innermost loops, with the loops around these; none if a value
    can't have a cell for each iteration of all loops around what computes it."""
    found: list[tuple[Array, int]] = []
    inner = {access.array for one in rows for access in one.accesses if access.is_write}
    named = {access.array for one in rows for access in one.accesses if not access.is_write}
    outer = {one.name for one in heads}
    users: dict[str, set[str]] = {}
    for one in scop.statements:
        for access in one.accesses:
            users.setdefault(access.array, set()).add(one.name)
    todo = [name for name in named if not scop.arrays[name].rank and _is_set(name, heads)]
    for name in dict.fromkeys((*todo, *_behind(scop, todo, heads))):
        array = scop.arrays[name]
        depth = common_depth(scop, deps, array)
        writers = [one for one in heads if any(a.array == name and a.is_write for a in one.accesses)]
        exact = depth and all(len(one.iterators) == depth for one in writers)
        if not exact or not array.private or name in inner or users[name] - outer - {one.name for one in rows}:
            return []
        found.append((array, depth))
    return found


def _is_set(name: str, statements: Sequence[Statement]) -> bool:
    return any(access.array == name and access.is_write for one in statements for access in one.accesses)


def _behind(scop: Scop, names: Sequence[str], heads: Sequence[Statement]) -> Iterator[str]:
    """Scalars that values are computed from in turn."""
    seen, todo = set(names), list(names)
    while todo:
        name = todo.pop()
        for one in heads:
            if not any(access.array == name and access.is_write for access in one.accesses):
                continue
            for access in one.accesses:
                other = scop.arrays[access.array]
                if other.private and not other.rank and other.name not in seen and _is_set(other.name, heads):
                    seen.add(other.name)
                    todo.append(other.name)
                    yield other.name


def _are_added(scop: Scop, deps: Dependences, rows: Sequence[Statement], loops: Mapping[str, Loops]) -> bool:
    """Whether rows are added to lines that all loops around stay with: those keep their order, and cells of a line have
    nothing to do with each other."""
    if not rows:
        return False
    last = len(rows[0].iterators) - 1
    names = {one.name for one in rows}
    own = [one for one in deps.select("flow", "anti", "output") if {one.source, one.sink} <= names]
    if not all(one.relation.is_subset(one.relation.equate(IN, last, OUT, last)) for one in own):
        return False
    itself = [one for one in own if one.kind == "flow" and one.source == one.sink]
    return all(_is_long(scop, one, last) and _walks(scop, one, last) for one in rows) and all(
        any(one.source == row.name and is_carried(one.relation, loop) for one in itself)
        for row in rows
        for loop in range(last)
    )


def _is_long(scop: Scop, row: Statement, last: int) -> bool:
    extent = reach(row.domain.intersect_params(scop.context), last, last)
    # what may leave out rows doesn't stand beside others
    asked = any(isinstance(node, ir.If) for node in walk(row.body))
    return extent is None or extent >= (_SHORT if asked else _FEW)


def _walks(scop: Scop, row: Statement, last: int) -> bool:
    """Whether all that is written is a line's cells, beside each other."""
    written = [subscript_rows(access.relation) for access in row.accesses if access.is_write]
    return all(rows and abs(rows[-1][last]) == 1 and not any(one[last] for one in rows[:-1]) for rows in written)


def _are_apart(
    deps: Dependences, rows: Sequence[Statement], heads: Sequence[Statement], values: Sequence[tuple[Array, int]]
) -> bool:
    """Whether what is computed for rows has nothing to do with what becomes of these."""
    given, inner, outer = {array.name for array, _ in values}, {one.name for one in rows}, {one.name for one in heads}
    between = (
        one
        for one in deps.select("flow", "anti", "output")
        if (one.source in inner and one.sink in outer) or (one.source in outer and one.sink in inner)
    )
    return all(one.array in given for one in between)


# --- the loops --------------------------------------------------------------------------------------------------------


def _split(tree: trees.Tree, inside: Sequence[Statement], rows: Sequence[Statement]) -> trees.Tree | None:
    """The tree with the outermost loop of these statements once around what is computed for rows, and once around what
    adds them, as one band with the loops inside; None where rows don't share all of their loops."""
    names, whole = {one.name for one in inside}, _names(tree)
    if isinstance(tree, trees.Sequence) and names < whole:
        parts = [_split(part, inside, rows) if names <= _names(part) else part for part in tree.parts]
        kept = [part for part in parts if part is not None]
        return trees.Sequence(tuple(kept)) if len(kept) == len(parts) else None
    if names != whole or not isinstance(tree, trees.Band):
        return None
    added = union_of_sets(one.domain for one in rows)
    first, last = trees.restricted(tree, trees.domain_of(tree).subtract(added)), trees.restricted(tree, added)
    band = _as_band(last) if last is not None else None
    if first is None or band is None or band.width != len(rows[0].iterators):
        return None
    return trees.Sequence((first, band))


def _names(tree: trees.Tree) -> set[str]:
    return {str(part.get_tuple_name()) for part in sets_of(trees.domain_of(tree))}


def _as_band(tree: trees.Tree) -> trees.Band | None:
    """Loops in one another, with nothing between them, as one band."""
    members: list[isl.UnionPwAff] = []
    while isinstance(tree, trees.Band):
        members += [tree.partial.get_at(k) for k in range(tree.width)]
        tree = tree.body
    made = trees.nested(members, tree)
    return made if isinstance(made, trees.Band) else None
