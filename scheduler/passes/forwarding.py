"""Forwarding: a scalar, or a row, that collects what cells are to get makes way for the cells, where that makes a
contraction, or a vector loop of a loop around.

In ``for i for j { s = A[i][j]; for k s -= A[i][k] * A[k][j]; A[i][j] = s; }`` the scalar binds all iterations to their
order, and keeps the sum from being recognized for what it is. Its values could as well be collected in A[i][j] itself,
which nothing looks at in between. In ``for i { s = 0; for k s += f(x[i], y[k]); z[i] = s; }`` each sum keeps its order,
and loops over i inside of those over k add to all of them side by side. In ``for i { s = b[i]; for k < i: s -= l[i][k]
* x[k]; x[i] = s / l[i][i]; }`` rows need what those before have come to, but not at once: in cells, the first part of
several of them runs together.

Blocks for registers that are written by hand have a row of sums: in ``for r s[r] = 0; for k { w = B[k]; for r s[r] +=
A[i + r][k] * w; } for r C[i + r] = s[r];`` its cells make way for those of C, and w for the operand.

One scalar may serve many purposes: each web of values that flow into each other is replaced on its own (live range
splitting; Cytron and Ferrante, "What's in a name?", 1987).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Access, Array, Dependences, Scop, Statement
from scopt.ir.walks import copied, replaced
from scopt.poly.body_rewriting import agree, with_base, with_references
from scopt.poly.isl_utils import IN, OUT, union_of_maps, union_of_sets
from scopt.poly.linear import subscript_rows
from scopt.poly.source_iterations import in_one_iteration, is_carried
from scopt.scheduler.decisions.contractions import shape_of
from scopt.scheduler.decisions.small_loops import MOST_INSTANCES, reach
from scopt.scheduler.passes.waiting_operands import with_operands


def forward(scop: Scop, deps: Dependences, *, kernels: bool = True, lanes: bool = True) -> Scop | None:
    """The SCoP with cells in place of scalars wherever that makes a statement a contraction, or one around a sum
    a vector loop, or rows of a solve run together; None if it nowhere does. kernels, lanes: whether the first, or the
    others, are wanted."""
    result, ended = scop, set[str]()
    for array in scop.arrays.values():
        if not array.private or array.type.volatile or array.pointer or (array.rank and not kernels):
            continue
        for names in _webs(scop, deps, array):
            web = _web(scop, deps, array, names)
            if web is None or web.end.name in ended:  # one cell stands for one scalar: others still live at its end
                continue
            made = _forwarded(with_operands(result, deps) if array.rank else result, web)
            side = lanes and not array.rank and (_makes_lanes(made, web) or _solves(made, deps, web))
            if side or (kernels and _gains(scop, made, names)):
                result = made
                ended.add(web.end.name)
    return _without_unused(result) if result is not scop else None


class _Web(Struct, frozen=True, eq=False):
    """Statements that share values of a scalar, or of a row. end: the one that writes the cell, last of all; depth: of
    the loops that all are in, which the end has one more of for each dimension of the row."""

    array: Array
    statements: tuple[Statement, ...]
    end: Statement
    cell: Access
    depth: int


def _webs(scop: Scop, deps: Dependences, array: Array) -> Iterator[frozenset[str]]:
    """The names of statements between which values of the array flow, together."""
    users = [s.name for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    web = {name: frozenset((name,)) for name in users}
    for flow in deps.select("flow"):
        if flow.array == array.name:
            together = web[flow.relation.get_tuple_name(IN)] | web[flow.relation.get_tuple_name(OUT)]
            web |= {name: together for name in together}
    yield from dict.fromkeys(web.values())


def _web(scop: Scop, deps: Dependences, array: Array, names: frozenset[str]) -> _Web | None:
    """The web, if one statement at its end puts its value into a cell,
    and the cell may stand for the scalar all the time."""
    statements = tuple(s for s in scop.statements if s.name in names)
    ends = [s for s in statements if any(a.is_write and a.array != array.name for a in s.accesses)]
    if len(statements) < 2 or len(ends) != 1:
        return None
    end = ends[0]
    cell = _written_cell(scop, end, array)
    depth = len(end.iterators) - array.rank
    if cell is None or depth < 0 or any(s.iterators[:depth] != end.iterators[:depth] for s in statements):
        return None
    if array.rank and not _goes_by_cells(statements, end, array, depth):
        return None
    web = _Web(array, statements, end, cell, depth)
    plain = all(
        a.node is not None and a.kind != "may-write" for s in statements for a in s.accesses if a.array == array.name
    )
    flows = [
        d.relation for d in deps.select("flow") if d.array == array.name and d.relation.get_tuple_name(IN) in names
    ]
    if not plain or not all(agree(flow, depth) for flow in flows) or not _reads_are_written(web, flows):
        return None
    return web if _ends_all(web) and _is_last(scop, web) and _is_alone(scop, web) else None


def _written_cell(scop: Scop, end: Statement, array: Array) -> Access | None:
    """The cell of an array that a statement assigns the scalar's value to: of the same type, and all that it writes."""
    writes = [a for a in end.accesses if a.is_write]
    body = end.body
    if (
        len(writes) != 1
        or writes[0].kind != "write"
        or not isinstance(body, ir.Assignment)
        or body.op != "="
        or body.lvalue is not writes[0].node
    ):
        return None
    target = scop.arrays[writes[0].array]
    if not target.rank:
        return None  # one scalar in place of another gains nothing
    same = target.type.spelling == array.type.spelling and not (target.type.volatile or target.type.atomic)
    return writes[0] if same and writes[0].relation.is_single_valued() else None


def _goes_by_cells(statements: Sequence[Statement], end: Statement, array: Array, depth: int) -> bool:
    """Whether each instance of the statements is about one cell of a row, and the end's inner iterators number it."""
    if any(len({str(a.relation) for a in s.accesses if a.array == array.name}) != 1 for s in statements):
        return False
    subscripts = _subscripts(_use(end, array).node)
    named = tuple(one.name if isinstance(one, ir.ID) else None for one in subscripts)
    return named == end.iterators[depth:]


def _use(statement: Statement, array: Array) -> Access:
    """Of some array that a statement uses."""
    return next(access for access in statement.accesses if access.array == array.name)


def _subscripts(node: ir.Node | None) -> tuple[ir.Node, ...]:
    """Those of a reference, outermost dimension first."""
    return (*_subscripts(node.name), node.subscript) if isinstance(node, ir.ArrayRef) else ()


def _reads_are_written(web: _Web, flows: Sequence[isl.Map]) -> bool:
    """Whether the web's reads all get values of the web."""
    written = union_of_maps(flows).range()
    reads = union_of_sets(
        a.relation.domain()
        for s in web.statements
        for a in s.accesses
        if a.array == web.array.name and a.kind == "read"
    )
    return bool(reads.is_subset(written))


def _outer(statement: Statement, depth: int) -> isl.Map:
    """``{ S[i] -> [i0, …, i(depth-1)] }``"""
    count = len(statement.iterators)
    return statement.domain.identity().project_out(OUT, depth, count - depth).reset_tuple_id(OUT)


def _to_end(statement: Statement, web: _Web) -> isl.Map:
    """``{ S[i, …] -> E[i, cell] }``, E the end of the same iteration, for the same cell."""
    outer = _outer(statement, web.depth)
    if web.array.rank:
        outer = outer.flat_range_product(_use(statement, web.array).relation.reset_tuple_id(OUT))
    return outer.set_tuple_name(OUT, web.end.name)


def _ends_all(web: _Web) -> bool:
    """Whether each iteration that has instances of the web has its end."""
    return all(_to_end(s, web).range().is_subset(web.end.domain) for s in web.statements)


def _before(scop: Scop, first: isl.UnionSet, second: isl.UnionSet) -> isl.UnionMap:
    """All pairs of instances in their order, of statements of which some instances are given."""
    earlier, later = (scop.order.intersect_domain(some.universe()) for some in (first, second))
    return earlier.lex_lt_union_map(later)


def _is_last(scop: Scop, web: _Web) -> bool:
    """Whether the end comes after everything else of its iteration."""
    pairs = union_of_maps(_to_end(s, web) for s in web.statements if s is not web.end)
    return bool(pairs.is_subset(_before(scop, pairs.domain(), pairs.range())))


def _is_alone(scop: Scop, web: _Web) -> bool:
    """Whether nothing else looks at the cell from the first instance of an iteration on until its end, or changes it:
    what the end reads too is what was there before."""
    same = union_of_maps(_to_end(s, web) for s in web.statements)
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != web.cell.array or access is web.cell:
                continue
            touching = access.relation.apply_range(web.cell.relation.reverse())
            if statement is web.end and not touching.intersect(_identity(touching)).is_empty():
                return False
            if touching.is_empty():
                continue
            domains = (one.domain.to_union_set() for one in (statement, web.end))
            between = touching.to_union_map().intersect(_before(scop, *domains))
            if not _before(scop, same.domain(), between.domain()).apply_range(between).intersect(same).is_empty():
                return False
    return True


def _identity(relation: isl.Map) -> isl.Map:
    return isl.Map.identity(relation.get_space())


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _forwarded(scop: Scop, web: _Web) -> Scop:
    """The SCoP with the cell in the web's statements, and without those that then copy the cell to itself."""
    names = {s.name for s in web.statements}
    made = [_rewritten(s, web) if s.name in names else s for s in scop.statements]
    kept = tuple(s for s in made if s.name not in names or not _does_nothing(s))
    domain = union_of_sets(s.domain for s in kept)
    # what is declared and killed stays in the order
    order = scop.order.intersect_domain(domain.union(union_of_sets(k.domain for k in scop.kills)))
    return replace(scop, statements=kept, schedule=scop.schedule.intersect_domain(domain), order=order)


def _rewritten(statement: Statement, web: _Web) -> Statement:
    cell = web.cell.node
    relation = _to_end(statement, web).apply_range(web.cell.relation)

    def reference(access: Access, node: ir.Node) -> ir.Node | None:
        if access.array != web.array.name or cell is None:
            return None
        if not web.array.rank:
            return with_base(node, copied(cell))
        place = dict(zip(web.end.iterators[web.depth :], _subscripts(node), strict=True))
        moved: ir.Node = replaced(cell, lambda one: place.get(one.name, one) if isinstance(one, ir.ID) else one)
        return copied(moved)

    body, become = with_references(statement, reference)
    accesses = []
    for access in statement.accesses:
        node = become.get(access.node, access.node) if access.node is not None else None
        if access.array != web.array.name or node is None:
            accesses.append(replace(access, node=node))
        else:
            reached = relation.intersect_domain(access.relation.domain())  # conditions leave out instances as before
            accesses.append(replace(access, array=web.cell.array, node=node, relation=reached))
    return replace(statement, body=body, accesses=tuple(accesses))


def _does_nothing(statement: Statement) -> bool:
    body = statement.body
    if not isinstance(body, ir.Assignment) or body.op != "=":
        return False
    text = CPrinter().visit
    return bool(text(body.lvalue) == text(body.rvalue))


def _gains(before: Scop, after: Scop, names: frozenset[str]) -> bool:
    kept = {s.name for s in after.statements}
    return any(
        shape_of(after, after.statement(n)) is not None and shape_of(before, before.statement(n)) is None
        for n in names & kept
    )


def _makes_lanes(after: Scop, web: _Web) -> bool:
    """Whether sums that have to keep their order, of too much for straight code, now run side by side in a loop around
    them that walks through memory well."""
    sums = _sums(after, web)
    long = [s for s in sums if not _is_short(s, web.depth)]
    walking = [*sums, *_feeding(after, sums)]
    return web.array.type.floating and bool(long) and any(_walk_well(walking, k) for k in range(web.depth))


def _feeding(scop: Scop, sums: Sequence[Statement]) -> Iterator[Statement]:
    """The statements in the same loops that set scalars which sums add: ``t = a[k] - b[j][k]; s += t * t;``."""
    loops = {one.iterators for one in sums}
    read = {access.array for one in sums for access in one.accesses if access.kind == "read"}
    scalars = {name for name in read if scop.arrays[name].private and not scop.arrays[name].rank}
    for one in scop.statements:
        if one.iterators in loops and any(access.is_write and access.array in scalars for access in one.accesses):
            yield one


def _sums(after: Scop, web: _Web) -> list[Statement]:
    """The statements of a web that stand in loops of their own."""
    kept = {s.name for s in after.statements}
    return [after.statement(s.name) for s in web.statements if s.name in kept and len(s.iterators) > web.depth]


def _solves(after: Scop, deps: Dependences, web: _Web) -> bool:
    """Whether sums along the rows of a matrix take what sums before them have come to in the loop around, and loops
    around that are kept in their order, too: rows that have nothing to do with each other run together as they are."""
    if not (web.depth and web.array.type.floating):
        return False
    if not all(_is_carried(deps, web, k) for k in range(web.depth - 1)):
        return False
    return any(
        len(one.iterators) == web.depth + 1
        and not _is_short(one, web.depth)
        and _takes_results(deps, web, one)
        and _goes_along_rows(one, web.depth)
        for one in _sums(after, web)
    )


def _takes_results(deps: Dependences, web: _Web, reader: Statement) -> bool:
    """Whether a statement reads cells that the web's end has written in iterations before of the innermost loop around
    both."""
    flows = (one for one in deps.select("flow") if (one.source, one.sink) == (web.end.name, reader.name))
    return any(
        one.array == web.cell.array and not in_one_iteration(one.relation, web.depth - 1).is_empty() for one in flows
    )


def _is_carried(deps: Dependences, web: _Web, loop: int) -> bool:
    """Whether a loop around the web hands values on to its next iterations by other cells than the scalar."""
    names = {one.name for one in web.statements}
    inside = (one for one in deps.select("flow") if names.issuperset((one.source, one.sink)))
    return any(is_carried(one.relation, loop) for one in inside if one.array != web.array.name)


def _goes_along_rows(statement: Statement, depth: int) -> bool:
    """Whether the loop after so many walks along the rows of a matrix, the one before it across them."""
    for access in statement.accesses:
        rows = subscript_rows(access.relation)
        if rows is None or len(rows) < 2 or access.is_write:
            continue
        along = abs(rows[-1][depth]) == 1 and not any(row[depth] for row in rows[:-1])
        if along and any(row[depth - 1] for row in rows[:-1]) and not rows[-1][depth - 1]:
            return True
    return False


def _is_short(statement: Statement, depth: int) -> bool:
    """Whether all that runs inside of so many loops are a few instances: constant loops, and windows that move."""
    spans = [reach(statement.domain, depth, k) for k in range(depth, len(statement.iterators))]
    return None not in spans and prod(one or 0 for one in spans) <= MOST_INSTANCES


def _walk_well(statements: Sequence[Statement], iterator: int) -> bool:
    """Whether accesses move by one element along an iterator, those that write cells, or not at all."""
    for statement in statements:
        for access in statement.accesses:
            rows = subscript_rows(access.relation)
            if rows is None or any(row[iterator] for row in rows[:-1]):
                return False
            step = abs(rows[-1][iterator]) if rows else 0
            if step > 1 or (step < 1 and rows and access.is_write):
                return False
    return True


def _without_unused(scop: Scop) -> Scop:
    """Without private arrays that no statement touches any more."""
    used = {a.array for s in scop.statements for a in s.accesses}
    arrays = {name: array for name, array in scop.arrays.items() if name in used or not array.private}
    kills = tuple(k for k in scop.kills if all(a.array in arrays for a in k.accesses))
    return replace(scop, arrays=arrays, kills=kills)
