"""Places of rows' extrema: where a row has found its best, besides how good that is.

``if (h > best) { best = h; row = i; column = j; }`` is an extremum with two more numbers, which the iteration that
found it has set. With ``own_best``, which begins anew in each row, and ``own_column``, rows needn't wait for each
other; behind each ``if (own_best > best) { best = own_best; row = i; column = own_column; }`` takes what the first one
of the best iterations would have set. What doesn't move along a row stands there as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import copied, same_tree, walk
from scopt.poly.best_places import Search, accesses_in, search_of
from scopt.poly.isl_utils import OUT
from scopt.scheduler.passes.copies import scalar_for
from scopt.scheduler.passes.private_tables import Counted
from scopt.scheduler.passes.totals import stays


def searches_for(scop: Scop, name: str) -> dict[str, Search]:
    """The statements that search for the best value of a variable, by their names."""
    found = {one.name: search for one in scop.statements if (search := search_of(one)) is not None}
    return {key: one for key, one in found.items() if any(a.array == name and a.is_write for a in one.alone.accesses)}


def alone(scop: Scop, searches: Mapping[str, Search]) -> Scop:
    """The SCoP in which these statements are extrema and nothing else."""
    statements = tuple(searches[s.name].alone if s.name in searches else s for s in scop.statements)
    return replace(scop, statements=statements)


def with_places(
    scop: Scop, before: Scop, found: Counted, searches: Mapping[str, Search]
) -> tuple[Scop, tuple[str, ...]] | None:
    """A SCoP with a total (`before` has none) in which searches find places again, and the new variables; None if these
    can't be the row's own."""
    mine = [searches[one.name] for one in found.statements if one.name in searches]
    kept = {one.name: one for one in before.statements if one.name in searches}
    if mine and (len(mine) < len(found.statements) or not _are_alike(mine) or not _are_own(before, found, mine)):
        return None
    made = {one.name: kept.get(one.name, one) for one in scop.statements}
    arrays, names = dict(scop.arrays), list[str]()
    if mine:
        new = [one for one in scop.statements if one.name not in {s.name for s in before.statements}]
        clear = next(one for one in new if isinstance(one.body, ir.Assignment))
        add = next(one for one in new if isinstance(one.body, ir.If))
        own = dict[int, Array]()
        for k, (place, write) in enumerate(mine[0].places):
            if not all(_stays_along(one, one.places[k][0].rvalue, found.depth) for one in mine):
                own[k] = scalar_for(replace(scop, arrays=arrays), scop.arrays[write.array], "total")
                arrays[own[k].name] = own[k]
                names.append(own[k].name)
            add = _added(add, mine[0], k, own.get(k), place)
        made[clear.name] = _cleared(clear, own.values())
        made[add.name] = add
        made |= {one.statement.name: _counted(scop.statement(one.statement.name), one, own) for one in mine}
    return replace(scop, statements=tuple(made[one.name] for one in scop.statements), arrays=arrays), tuple(names)


def _are_alike(searches: Collection[Search]) -> bool:
    """Whether all set the same cells, in the same order."""
    first, *others = searches
    return all(
        len(one.places) == len(first.places)
        and all(same_tree(a.lvalue, b.lvalue) for (a, _), (b, _) in zip(one.places, first.places, strict=True))
        for one in others
    )


def _are_own(scop: Scop, found: Counted, searches: Collection[Search]) -> bool:
    """Whether places are single cells that nothing else in the nest touches."""
    writes = [write for one in searches for _, write in one.places]
    mine = {one.statement.name for one in searches}
    for write in writes:
        array = scop.arrays[write.array]
        kind = array.type
        plain = (kind.integer or kind.floating) and not (kind.volatile or kind.atomic or array.within or array.flat)
        led = array.pointer and not array.rank
        if not plain or led or write.node is None or not stays(scop, write.node):
            return False
        if not isl.Map.from_range(write.relation.range()).is_single_valued():
            return False
    cells = {write.array for write in writes}
    others = (one for one in scop.statements if one.name in found.inside and one.name not in mine)
    return not any(access.array in cells for one in others for access in one.accesses)


def _stays_along(search: Search, value: ir.Node, depth: int) -> bool:
    """Whether a place is told by the iterators around the row."""
    statement = search.statement
    inner = set(statement.iterators[depth:])
    plain = all(isinstance(one, ir.ID | ir.Constant | ir.BinaryOp) for one in walk(value))
    named = {one.name for one in walk(value) if isinstance(one, ir.ID)}
    return plain and not named & inner and not accesses_in(statement, value)


def _counted(statement: Statement, search: Search, own: Mapping[int, Array]) -> Statement:
    """The search with a total, and with places of the row's own."""
    assert isinstance(statement.body, ir.If)
    made, accesses = list[ir.Node]([statement.body.iftrue]), list(statement.accesses)
    whole = statement.domain.identity()
    for k, array in own.items():
        place, _ = search.places[k]
        copies = dict[ir.Node, ir.Node]()
        value, target = copied(place.rvalue, copies), ir.ID(array.name)
        made.append(ir.Assignment("=", target, value))
        accesses += [replace(a, node=copies[a.node]) for a in accesses_in(search.statement, place.rvalue) if a.node]
        accesses.append(Access(array.name, "may-write", _of_scalar(whole, array), target, statement.location))
    body = statement.body if len(made) == 1 else ir.If(statement.body.cond, ir.Compound(made), None)
    return replace(statement, body=body, accesses=tuple(accesses))


def _cleared(statement: Statement, own: Collection[Array]) -> Statement:
    """What begins a row's total, and its places: whatever these are, nobody looks."""
    if not own:
        return statement
    made, accesses = [statement.body], list(statement.accesses)
    for array in own:
        target = ir.ID(array.name)
        made.append(ir.Assignment("=", target, ir.Constant("int", "0")))
        accesses.append(_access(statement, array, "write", target))
    return replace(statement, body=ir.Compound(made), accesses=tuple(accesses))


def _added(statement: Statement, search: Search, k: int, own: Array | None, place: ir.Assignment) -> Statement:
    """What compares a row's total, and sets one more place."""
    assert isinstance(statement.body, ir.If)
    assert statement.body.iftrue is not None
    done = statement.body.iftrue
    before = done.block_items if isinstance(done, ir.Compound) else (done,)
    target, value = copied(place.lvalue), ir.ID(own.name) if own is not None else copied(place.rvalue)
    made = ir.Compound([*before, ir.Assignment("=", target, value)])
    _, write = search.places[k]
    cells = isl.Map.from_domain_and_range(statement.domain, write.relation.range())
    accesses = [*statement.accesses, replace(write, kind="may-write", relation=cells, node=target)]
    if own is not None:
        accesses.append(_access(statement, own, "read", value))
    return replace(statement, body=ir.If(statement.body.cond, made, None), accesses=tuple(accesses))


def _access(statement: Statement, array: Array, kind: str, node: ir.Node) -> Access:
    relation = _of_scalar(statement.domain.identity(), array)
    return Access(array.name, kind, relation, node, statement.location)  # type: ignore[arg-type]


def _of_scalar(identity: isl.Map, array: Array) -> isl.Map:
    return identity.project_out(OUT, 0, identity.dim(OUT)).set_tuple_name(OUT, array.name)
