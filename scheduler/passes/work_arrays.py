"""Work arrays: what each iteration of a loop computes anew in an array that all of them share gets cells for each.

In ``for i { for j cp[j] = …; for j u[i][j] = … cp[j] … }`` the lines ``i`` have nothing to do with each other, but that
``cp`` is the same memory (privatization: Feautrier, "Array expansion", 1988; Tu and Padua, "Automatic array
privatization", 1993). With ``cp_all[i][j]`` in its place lines can run side by side, in strips, whose buffers hold the
few lines of ``cp_all`` that are in use; of all others nobody ever asks. Behind the loop each cell of ``cp`` gets the
value that it was left with: that of the last iteration that writes it. Where no iteration does, it stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl
from msgspec.structs import replace

from scopt.ir.nest import Expr
from scopt.ir.scop import Access, Array, Dependences, Scop
from scopt.machine import Machine
from scopt.poly.array_extents import extents
from scopt.poly.body_rewriting import agree
from scopt.poly.dependences import last_sources
from scopt.poly.isl_utils import SET, union_of_maps
from scopt.poly.linear import subscript_rows
from scopt.poly.row_extents import only_for, trusted_sizes, within_sizes
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.passes.expansion import Expansion, new_name, with_cells
from scopt.scheduler.passes.left_values import placed, with_copies
from scopt.scheduler.passes.line_work import Lines, has_copies, has_products, orders_of_lines, with_much_work


def own_work(scop: Scop, deps: Dependences, machine: Machine, tails: frozenset[str] = frozenset()) -> Expansion | None:
    """The SCoP with cells for each iteration of loops that nothing but their work arrays keeps in order; None if there
    are no such. deps: with reductions in their order. tails: statements that the schedule has behind the loops that
    they are in."""
    for candidates in orders_of_lines(scop, tails):
        if (found := _own_work(scop, deps, machine, tails, candidates)) is not None:
            return found
    return None


def _own_work(
    scop: Scop, deps: Dependences, machine: Machine, tails: frozenset[str], candidates: Sequence[Lines]
) -> Expansion | None:
    """The same with what comes first of loops inside of each other."""
    made, sizes, done = scop, dict[str, tuple[Expr, ...]](), set[Loops]()
    for lines in candidates:
        own = lines.loops
        if any(own[: len(one)] == one[: len(own)] for one in done):
            continue
        shared, usable = _work_of(deps, lines)
        if not shared or not keeps_results(lines, shared) or has_copies(deps, lines, shared):
            continue
        if has_products(deps, lines, machine):
            continue
        if any(
            access.array in {one.name for one in shared} for one in tails for access in scop.statement(one).accesses
        ):
            return None
        done.add(own)
        made = only_for(made, usable.intersect(with_much_work(deps, lines, machine, shared)).coalesce())
        if made.context.is_empty():
            return None
        for array in shared:
            found = _with_own(made, lines, array)
            if found is None:
                return None
            made, extent = found
            sizes.update(extent)
    return Expansion(made, sizes) if sizes else None


def keeps_results(lines: Lines, work: Sequence[Array]) -> bool:
    """Whether lines write anything besides their work: a loop that does the same again and again is none over lines."""
    arrays = [lines.scop.arrays[a.array] for one in lines.statements.values() for a in one.accesses if a.is_write]
    return any(not array.private and array not in work for array in arrays)


def _work_of(deps: Dependences, lines: Lines) -> tuple[tuple[Array, ...], isl.Set]:
    """The arrays that each iteration of the loop computes anew, if nothing else keeps it in order; and the parameters
    for which that holds."""
    names, context = dict[str, None](), lines.scop.context
    for one in deps.select("flow", "anti", "output"):
        array = lines.scop.arrays[one.array]
        apart = array.private and not array.rank and one.kind != "flow"  # threads and lanes have copies
        if apart or not lines.carries(one):
            continue
        if one.kind == "flow":  # a value that only short loops hand on
            context = context.subtract(lines.carried(one.relation).params())
        elif array.rank:
            names[one.array] = None
        else:
            return (), context
    arrays = tuple(lines.scop.arrays[name] for name in names)
    for array in arrays:
        if context.is_empty():
            break
        context = _is_work(deps, lines, array, context)
    return (() if context.is_empty() else arrays), context


def _is_work(deps: Dependences, lines: Lines, array: Array, context: isl.Set) -> isl.Set:
    """Those parameters for which each value that the loop reads of an array was written in the same iteration; none if
    some reference can't be rewritten."""
    uses, scop, nothing = list(lines.uses(array)), lines.scop, isl.Set.empty(context.get_space())
    plain = not (array.type.volatile or array.type.atomic or array.within or array.rows)
    if not plain or not (array.type.floating or array.type.integer):
        return nothing
    flows = (one for one in deps.select("flow") if one.array == array.name and one.sink in lines.statements)
    own = [(one, one.relation.intersect_params(context)) for one in flows]
    own = [(one, relation) for one, relation in own if not relation.is_empty()]
    if not all(one.source in lines.statements and agree(relation, lines.row + 1) for one, relation in own):
        return nothing
    if array.local and {name for name, _ in _users(scop, array)} - lines.statements.keys():
        return nothing
    if any(a.node is None or not a.relation.is_single_valued() for _, a in uses):
        return nothing
    if all(_walks(access.relation, lines.row) for _, access in uses):
        return nothing
    written = union_of_maps(relation for _, relation in own).range()
    context = context.intersect(_within_bounds(scop, [access.relation for _, access in uses]))
    by_chance = any(access.kind == "may-write" for _, access in uses)
    for access in (access for _, access in uses if access.kind == "read"):
        if by_chance:  # what data may have written is older where they haven't
            older = last_sources(scop, access)[1].domain()
        else:
            older = isl.UnionSet.from_set(access.relation.domain()).subtract(written)
        context = context.subtract(older.params())
    return context.subtract(left_by_chance(lines, array)).coalesce()


def left_by_chance(lines: Lines, array: Array) -> isl.Set:
    """The parameters with which an iteration may write cells, as data say, that it doesn't write in any case: what is
    in them behind the loop nobody could tell."""

    def cells(kind: str) -> isl.UnionSet:
        uses = (access for _, access in lines.uses(array) if access.kind == kind)
        inside = (within_sizes(one.relation, trusted_sizes(array)) for one in uses)
        return union_of_maps(placed(one, lines.row + 1, array.name) for one in inside).range()

    return cells("may-write").subtract(cells("write")).params()


def _users(scop: Scop, array: Array) -> Iterator[tuple[str, Access]]:
    return ((s.name, access) for s in scop.statements for access in s.accesses if access.array == array.name)


def _walks(relation: isl.Map, iterator: int) -> bool:
    """Whether a subscript is an iterator, up to a constant: each iteration has cells of its own then."""
    return any(row[iterator] and sum(map(bool, row[:-1])) == 1 for row in subscript_rows(relation) or ())


def reused(scop: Scop, deps: Dependences) -> frozenset[str]:
    """Arrays that hand on nothing from an iteration of an outermost loop to another one, but that are the same memory
    for all of them. deps: with reductions in their order."""
    loops = source_loops(scop)
    kinds: dict[str, set[str]] = {}
    for own in {around[:1] for around in loops.values() if around}:
        lines = Lines(scop, own, {one.name: one for one in scop.statements if loops[one.name][:1] == own})
        for one in deps.select("flow", "anti", "output"):
            if scop.arrays[one.array].rank and lines.carries(one):
                kinds.setdefault(one.array, set()).add(one.kind)
    return frozenset(name for name, found in kinds.items() if "flow" not in found)


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _with_own(scop: Scop, lines: Lines, array: Array) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    """The SCoP with cells of one array for each iteration, and with copies of what is left of it."""
    name = new_name(scop, array)
    users = {statement.name for statement, _ in lines.uses(array)}
    changed = {one: with_cells(scop.statement(one), array, name, (lines.row,)) for one in users}
    relations = [a.relation for one in changed.values() for a in one.accesses if a.array == name]
    sizes = extents(scop, relations, loose=True)
    if sizes is None:
        return None
    unknown = (None,) * (array.rank + 1)
    new = Array(name, name, replace(array.type, const=False), unknown, unknown, private=True)
    arrays = {**scop.arrays, name: new}
    kills = scop.kills
    if array.local:
        del arrays[array.name]
        kills = tuple(one for one in kills if all(access.array != array.name for access in one.accesses))
    before, statements = scop, [changed.get(one.name, one) for one in scop.statements]
    scop = replace(scop, statements=tuple(statements), arrays=arrays, kills=kills)
    if array.local:
        return scop, {name: sizes}
    made = with_copies(scop, before, lines, array, new)
    return (made, {name: sizes}) if made is not None else None


def _within_bounds(scop: Scop, relations: Sequence[isl.Map]) -> isl.Set:
    """The parameters with which no subscript is negative: with others there are no such cells, or the loops around
    never run."""
    context = scop.context
    for relation in relations:
        cells = relation.range().intersect_params(scop.context)
        for k in range(cells.dim(SET)):
            context = context.subtract(cells.upper_bound_val(SET, k, isl.Val(-1)).params())
    return context.coalesce()
