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

from scopt import ir
from scopt.ir.nest import Expr
from scopt.ir.scop import Access, Array, CType, Dependences, Scop, Statement
from scopt.machine import Machine
from scopt.poly import trees
from scopt.poly.array_extents import extents
from scopt.poly.body_rewriting import agree
from scopt.poly.isl_utils import IN, OUT, SET, maps_of, sets_of, union_of_maps
from scopt.poly.linear import subscript_rows
from scopt.poly.row_extents import only_for
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.decisions.strip_references import row_iterator
from scopt.scheduler.passes.expansion import Expansion, new_name, with_cells
from scopt.scheduler.passes.line_work import Lines, has_copies, has_products, orders_of_lines, with_much_work

_WIDE = 64


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
    if any(a.node is None or a.kind == "may-write" or not a.relation.is_single_valued() for _, a in uses):
        return nothing
    if all(_walks(access.relation, lines.row) for _, access in uses):
        return nothing
    written = union_of_maps(relation for _, relation in own).range()
    context = context.intersect(_within_bounds(scop, [access.relation for _, access in uses]))
    for access in (access for _, access in uses if access.kind == "read"):
        older = isl.UnionSet.from_set(access.relation.domain()).subtract(written)
        context = context.subtract(older.params())
    return context.coalesce()


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


def with_copies(
    scop: Scop, before: Scop, lines: Lines, array: Array, new: Array, *, inside: bool = False
) -> Scop | None:
    """The SCoP with statements behind the loop that put what its iterations leave of an array where it belongs.
    before: the SCoP without cells of their own. inside: the new array has no more dimensions, and an iteration copies
    at its end what later ones leave. Cells that data choose to write are among those that their iteration writes in any
    case."""
    row = lines.row
    writes = union_of_maps(
        placed(access.relation, row, array.name) for _, access in lines.uses(array) if access.kind == "write"
    )
    order = before.order.intersect_domain(writes.domain())
    last = writes.reverse().apply_range(order).lexmax().apply_range(order.reverse()).intersect(writes.reverse())
    pairs: list[tuple[Statement, Statement]] = []
    for relation in maps_of(last):
        writer = before.statement(str(relation.get_tuple_name(OUT)))
        pairs.append((writer, _copy(scop, writer, relation, row, array, new, inside=inside)))
    made = _together(pairs, row) if inside else pairs
    dated = _dates(scop, lines, made, array.rank)
    tree = _behind(trees.read(scop.schedule.get_root()), lines, made, 0, inside=inside)
    if dated is None:
        return None
    statements = (*scop.statements, *(copy for _, copy in made))
    return replace(scop, statements=statements, schedule=trees.build(tree), order=dated)


def _together(made: Copies, row: int) -> Copies:
    """Copies as one statement, if some writer runs in each iteration that leaves anything."""
    whole = made[0][1].domain
    for _, copy in made[1:]:
        whole = whole.union(copy.domain.set_tuple_name(made[0][1].name))
    for writer, copy in made:
        domain = whole.coalesce().set_tuple_name(copy.name)
        around = (
            one.project_out(SET, row + 1, one.dim(SET) - row - 1).reset_tuple_id() for one in (domain, writer.domain)
        )
        if next(around).is_subset(next(around)):
            accesses = (
                replace(one, relation=_reaching(domain, int(one.relation.dim(OUT)), one.array)) for one in copy.accesses
            )
            return [(writer, replace(copy, domain=domain, accesses=tuple(accesses)))]
    return made


def _reaching(domain: isl.Set, rank: int, array: str) -> isl.Map:
    """The last iterators of instances as a cell."""
    every = domain.identity()
    return every.project_out(OUT, 0, every.dim(OUT) - rank).set_tuple_name(OUT, array)


def placed(relation: isl.Map, row: int, name: str) -> isl.Map:
    """``{ S[o, i, …] -> A[o, subscripts] }``: cells in each execution of the loop."""
    outer = relation.domain().identity().reset_tuple_id(OUT)
    outer = outer.project_out(OUT, row, outer.dim(OUT) - row)
    return outer.flat_range_product(relation.reset_tuple_id(OUT)).set_tuple_name(OUT, name)


def _copy(
    scop: Scop, writer: Statement, last: isl.Map, row: int, array: Array, new: Array, *, inside: bool
) -> Statement:
    """``array[…] = new[i][…]`` for the last writes, ``{ A[o, …] -> S[o, i, …] }``, of one statement; inside:
    ``new[…]``."""
    name = f"{writer.name}_{array.name}_last"
    instances = last.reverse().wrap().flatten()  # [o, i, …, o, subscripts]
    count = len(writer.iterators)
    domain = instances.project_out(SET, row + 1, count - 1).set_tuple_name(name).intersect_params(scop.context)
    hull = domain.simple_hull().to_set()  # isl has each cell that small loops write alone
    domain = hull if hull.is_subset(domain) else domain.coalesce()
    cells = [f"{array.spelling}_{k}" for k in range(array.rank)]
    iterators = (*writer.iterators[: row + 1], *cells)
    target: ir.Node = ir.ID(array.spelling)
    value: ir.Node = ir.ID(new.spelling)
    if not inside:
        value = ir.ArrayRef(value, ir.ID(writer.iterators[row]))
    for cell in cells:
        target, value = ir.ArrayRef(target, ir.ID(cell)), ir.ArrayRef(value, ir.ID(cell))
    everything = domain.identity()
    accesses = (
        Access(
            new.name,
            "read",
            everything.project_out(OUT, 0, row + inside).set_tuple_name(OUT, new.name),
            value,
            writer.location,
        ),
        Access(
            array.name,
            "write",
            everything.project_out(OUT, 0, row + 1).set_tuple_name(OUT, array.name),
            target,
            writer.location,
        ),
    )
    long = CType(scop.long_type, integer=True, bits=_WIDE)
    types = (*writer.iterator_types[: row + 1], *(long for _ in cells))
    return Statement(name, domain, iterators, types, ir.Assignment("=", target, value), accesses, writer.location)


Copies = Sequence[tuple[Statement, Statement]]


def _dates(scop: Scop, lines: Lines, made: Copies, rank: int) -> isl.UnionMap | None:
    """The order with copies, each behind everything else in the iteration that it takes a value of, cell by cell, at a
    place that dates get where they have none; None if there is no iteration to be behind. made: with the statements
    that write the values."""
    dates = {str(one.get_tuple_name(IN)): one for one in maps_of(scop.order)}
    own = {name: dates[name] for name in lines.statements}
    width = next(iter(own.values())).dim(OUT)
    behind = 1 + next((k for k in range(width) if any(_is_inner(one, lines.row, k) for one in own.values())), width)
    if behind > width:
        return None
    most = [one.range().dim_max_val(behind) for one in own.values()] if behind < width else []
    if not most or not all(one.is_int() for one in most):
        dates = {name: one.insert_dims(OUT, behind, 1).fix_val(OUT, behind, isl.Val(0)) for name, one in dates.items()}
        own, most, width = {name: dates[name] for name in own}, [isl.Val(0)], width + 1
    latest = max(one.get_num_si() for one in most)
    whole = union_of_maps(_longer(one, rank) for one in dates.values())
    for writer, copy in made:
        same = _beside(copy.domain, own[writer.name], lines.row + 1)
        date = same.project_out(OUT, behind, width - behind).insert_dims(OUT, behind, width - behind + rank)
        for k in range(behind, width):
            date = date.fix_val(OUT, k, isl.Val(latest + 1 if k == behind else 0))
        for k in range(rank):
            date = date.equate(IN, lines.row + 1 + k, OUT, width + k)
        whole = whole.union(isl.UnionMap.from_map(date.intersect_domain(copy.domain)))
    return whole


def _longer(dates: isl.Map, more: int) -> isl.Map:
    width = dates.dim(OUT)
    made = dates.insert_dims(OUT, width, more)
    for k in range(width, width + more):
        made = made.fix_val(OUT, k, isl.Val(0))
    return made


def _is_inner(dates: isl.Map, depth: int, k: int) -> bool:
    """Whether dates have different values in a dimension, for the same outer iterators."""
    one = dates.project_out(OUT, k + 1, dates.dim(OUT) - k - 1).project_out(OUT, 0, k)
    return not one.project_out(IN, depth, one.dim(IN) - depth).is_single_valued()


def _beside(domain: isl.Set, of: isl.Map, depth: int) -> isl.Map:
    """``{ new[o, c] -> … }`` of what another statement's instances with the same outer iterators have."""
    same = isl.Map.from_domain_and_range(domain, of.domain())
    for k in range(depth):
        same = same.equate(IN, k, OUT, k)
    return same.apply_range(of).reset_tuple_id(OUT)


def _behind(tree: trees.Tree, lines: Lines, made: Copies, depth: int, *, inside: bool = False) -> trees.Tree:
    """The tree with the copies behind the loop; inside: at the end of its iterations."""
    names = frozenset(str(part.get_tuple_name()) for part in sets_of(trees.domain_of(tree)))
    if not names & lines.statements.keys():
        return tree
    before = {one.name for one in lines.scop.statements}  # others are copies of other arrays
    match tree:
        case trees.Band() if inside and depth == lines.row and names & before <= lines.statements.keys():
            member, body = trees.first_member(tree)
            parts = body.parts if isinstance(body, trees.Sequence) else (body,)
            cells = (_cells(copy, lines.row) for _, copy in made)
            return trees.nested(_with_iterators([member], lines.row + 1, made), trees.Sequence((*parts, *cells)))
        case trees.Band() if depth == lines.row and names <= lines.statements.keys():
            return trees.Sequence((_upwards(tree), *(_cells(copy, lines.row) for _, copy in made)))
        case trees.Band(partial, body):
            members = _with_iterators([partial.get_at(k) for k in range(tree.width)], lines.row, made)
            return trees.nested(members, _behind(body, lines, made, depth + tree.width, inside=inside))
        case trees.Sequence(parts):
            return trees.Sequence(tuple(_behind(part, lines, made, depth, inside=inside) for part in parts))
    return tree


def _with_iterators(members: Sequence[isl.UnionPwAff], depth: int, made: Copies) -> list[isl.UnionPwAff]:
    """Members of a band that copies are in, too, at the iterations of their writers. depth: how many loops around a
    copy are the writer's."""
    found = list[isl.UnionPwAff]()
    for member in members:
        values = isl.UnionMap.from_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_pw_aff(member))
        for writer, copy in made:
            own = next(one for one in maps_of(values) if one.get_tuple_name(IN) == writer.name)
            value = isl.UnionMap.from_map(_beside(copy.domain, own, depth))
            member = member.union_add(isl.UnionPwMultiAff.from_union_map(value).get_union_pw_aff(0))
        found.append(member)
    return found


def _upwards(loop: trees.Band) -> trees.Tree:
    """The loop with its iterations in the other order, if it runs down: they have nothing to do with each other."""
    if loop.width > 1:
        return loop
    member, parts = loop.partial.get_at(0), [*sets_of(trees.domain_of(loop))]
    down = all(row_iterator(member.neg(), part) is not None for part in parts)
    return trees.nested([member.neg()], loop.body) if down else loop


def _cells(copy: Statement, row: int) -> trees.Tree:
    """The loops over an array's cells, each of which one iteration has left."""
    domain = copy.domain
    space = isl.LocalSpace.from_space(domain.get_space())
    members = [
        isl.UnionPwAff.from_pw_aff(isl.PwAff.var_on_domain(space, SET, k)).intersect_domain(domain.to_union_set())
        for k in range(row + 1, domain.dim(SET))
        if not domain.dim_max(k).is_equal(domain.dim_min(k))
    ]
    tree: trees.Tree = trees.Leaf(domain.to_union_set())
    for member in reversed(members):
        tree = trees.nested([member], tree)
    return tree
