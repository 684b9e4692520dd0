"""Loops whose iterations compute where they look cells up: which statements may run ahead, and which behind.

``for x: { t = …; k = (int)t; if (k > n - 2) k = n - 2; y[x] = tab[k] + (t - k) * (tab[k + 1] - tab[k]); }``: what gives
`t` and `k` their values needs nothing of what is looked up, so that some iterations' values may be computed first; then
their cells are looked up, and then the rest runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from scopt import ir
from scopt.ir.expr import linear, names, weighted
from scopt.ir.nest import Call, Expr, For, Name
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import used_names, walk
from scopt.poly.body_rewriting import always_evaluated, names_cells
from scopt.poly.linear import affine_rows


class Split(Struct, frozen=True):
    """ahead, behind: calls, in their order. cells: what is looked up between these, each a reference in a call behind.
    handed: the arrays' names of variables that are given values ahead, and read later."""

    ahead: tuple[Call, ...]
    behind: tuple[Call, ...]
    cells: tuple[tuple[Call, Access], ...]
    handed: tuple[str, ...]


def split_of(scop: Scop, loop: For) -> Split | None:
    """The parts of a loop any number of whose iterations may run part by part; None if it has none.

    Iterations hand nothing on: each has array elements that it writes to itself, one to the right of those of the
    iteration before it, and gives variables values before it reads them. Statements behind give none to variables that
    those ahead read or write, nor elements that these read after them.
    """
    calls = [item for item in loop.body.items if isinstance(item, Call)]
    if loop.step != 1 or len(calls) < len(loop.body.items) or len({call.statement for call in calls}) < len(calls):
        return None
    if not all(_is_plain(scop, loop, call) for call in calls):
        return None
    written = {access.array for call in calls for access in _accesses(scop, call) if access.is_write}
    variables = {name for name in written if not scop.arrays[name].rank}
    if not _are_own(scop, loop, calls, written - variables) or not _are_given(scop, calls, variables):
        return None
    cells = [(call, one) for call in calls for one in _computed(scop, scop.statement(call.statement), written)]
    behind = _behind(scop, calls, {call.statement for call, _ in cells}, variables)
    late_ones = {call.statement for call in behind}
    ahead = [call for call in calls if call.statement not in late_ones]
    early = {access.array for call in ahead for access in _accesses(scop, call) if access.is_write}
    late = {access.array for call in behind for access in _accesses(scop, call) if access.is_write}
    where = {name for _, one in cells for name in used_names(*_subscripts(one.node))}
    if not where.isdisjoint(scop.arrays[name].spelling for name in late) or not early <= variables - late:
        return None
    read = [access.array for call in behind for access in _accesses(scop, call) if not access.is_write]
    handed = tuple(dict.fromkeys(name for name in read if name in early))
    if not handed or not _keeps_order(scop, calls, behind, early):
        return None
    return Split(tuple(ahead), tuple(behind), tuple(cells), handed)


def _accesses(scop: Scop, call: Call) -> tuple[Access, ...]:
    return scop.statement(call.statement).accesses


def _is_plain(scop: Scop, loop: For, call: Call) -> bool:
    """Whether a call is of a statement that assigns once, or to variables below conditions, and nothing else, for the
    iterations of a loop."""
    moved = [one for one in call.args if loop.iterator in names(one)]
    if call.held or call.chosen or call.kept or moved != [Name(loop.iterator)]:
        return False
    body, writes = scop.statement(call.statement).body, [one for one in _accesses(scop, call) if one.is_write]
    if any(one.node is None for one in writes):
        return False
    if isinstance(body, ir.If):
        return _are_assignments(body) and not any(scop.arrays[one.array].rank for one in writes)
    return isinstance(body, ir.Assignment) and _has_no_effects(body.lvalue) and _has_no_effects(body.rvalue)


def _are_assignments(node: ir.Node | None) -> bool:
    """Whether there is nothing but assignments below conditions."""
    match node:
        case None:
            return True
        case ir.If(cond=cond, iftrue=one, iffalse=other):
            return _has_no_effects(cond) and _are_assignments(one) and _are_assignments(other)
        case ir.Compound(block_items=items):
            return all(map(_are_assignments, items or ()))
        case ir.Assignment(lvalue=ir.ID(), rvalue=value):
            return _has_no_effects(value)
    return False


def _has_no_effects(node: ir.Node) -> bool:
    return not any(
        isinstance(one, ir.Assignment) or (isinstance(one, ir.UnaryOp) and ("++" in one.op or "--" in one.op))
        for one in walk(node)
    )


def _are_own(scop: Scop, loop: For, calls: Sequence[Call], written: set[str]) -> bool:
    """Whether each iteration has one element of each array that is written, the next one's to its right."""
    cells: dict[str, tuple[Expr, ...]] = {}
    for call in calls:
        for access in _accesses(scop, call):
            if access.array not in written:
                continue
            own = _cell(scop, access, call.args)
            if access.kind == "may-write" or own is None or cells.setdefault(access.array, own) != own:
                return False
            if any(loop.iterator in names(one) for one in own[:-1]):
                return False
            if linear(own[-1])[0].get(Name(loop.iterator), 0) != 1:
                return False
    return True


def _cell(scop: Scop, access: Access, args: Sequence[Expr]) -> tuple[Expr, ...] | None:
    """The subscripts of a call's reference, if these are linear."""
    parameters = tuple(one.name for one in scop.parameters)
    found = []
    for row in affine_rows(access.relation, parameters):
        if row is None:
            return None
        *factors, constant = row
        things = (*args, *map(Name, parameters))
        found.append(weighted([(c, x) for c, x in zip(factors, things, strict=True) if c], constant))
    return tuple(found)


def _are_given(scop: Scop, calls: Sequence[Call], variables: set[str]) -> bool:
    """Whether each iteration gives variables values before it reads them, and nothing reads them later."""
    kinds = [scop.arrays[name] for name in variables]
    if not all(
        one.private and (one.type.integer or one.type.floating) and not (one.type.volatile or one.type.atomic)
        for one in kinds
    ):
        return False
    given = set[str]()
    for call in calls:
        own = _accesses(scop, call)
        if any(one.array in variables - given for one in own if not one.is_write):
            return False
        given |= {one.array for one in own if one.kind == "write"}
    return True


def _computed(scop: Scop, statement: Statement, written: set[str]) -> list[Access]:
    """References of a statement to cells that nothing in an iteration writes, at places that it computes; no part of
    another one."""
    spellings = {scop.arrays[name].spelling for name in written}
    variables = {scop.arrays[name].spelling for name in written if not scop.arrays[name].rank}
    found = []
    for access in statement.accesses:
        node, array = access.node, scop.arrays[access.array]
        if access.kind != "read" or not isinstance(node, ir.ArrayRef) or not names_cells(node):
            continue
        known = (array.type.integer or array.type.floating) and not (array.type.volatile or array.type.atomic)
        steady = not spellings - variables & {*used_names(node)} and access.array not in written
        if known and steady and variables & {*used_names(node)} and always_evaluated(statement.body, node):
            found.append(access)
    parts = {id(node) for access in found for one in _subscripts(access.node) for node in walk(one)}
    return [access for access in found if id(access.node) not in parts]


def _subscripts(node: ir.Node | None) -> list[ir.Node]:
    found = []
    while isinstance(node, ir.ArrayRef):
        found.append(node.subscript)
        node = node.name
    return found


def _behind(scop: Scop, calls: Sequence[Call], looking: set[str], variables: set[str]) -> list[Call]:
    """Those that look up, or write elements, and those that need their values."""
    found, late = set[str](), set[str]()
    while True:
        count, stored = len(found), set[str]()
        for call in calls:
            own = _accesses(scop, call)
            if any(one.is_write and one.array not in variables for one in own) or call.statement in looking:
                found.add(call.statement)
            if any(one.array in late | stored for one in own):
                found.add(call.statement)
            if call.statement in found:
                stored |= {one.array for one in own if one.is_write}
        late |= stored & variables
        if len(found) == count:
            return [call for call in calls if call.statement in found]


def _keeps_order(scop: Scop, calls: Sequence[Call], behind: Sequence[Call], early: set[str]) -> bool:
    """Whether statements ahead of others come before these where one writes what the other one reads."""
    read, stored, late = set[str](), set[str](), {call.statement for call in behind}
    for call in calls:
        own = _accesses(scop, call)
        if call.statement in late:
            read |= {one.array for one in own if not one.is_write and one.array in early}
            stored |= {one.array for one in own if one.is_write}
        elif any(one.array in (read if one.is_write else stored) for one in own):
            return False
    return True
