"""Loops over a few stages whose numbers are constants: what their variable is in each of them; and such loops inside of
regions as their body for each of the numbers.

``for (h = 1; h < 8; h <<= 1) for (k = 0; k < 8; k += 2 * h) for (j = k; j < k + h; j++) …`` (a butterfly in a block, in
a loop over blocks or samples) would be a statement that is executed as a whole: its step is no constant. With numbers
in the stage's place the loops inside are as any other ones, and compilers know how long they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.opaque import has_jump
from scopt.frontend.normalize.statement_counts import counted
from scopt.frontend.normalize.tree_rewriting import items_of, mentions, number, step_of, substituted, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.frontend.syntax.unit import Region
from scopt.ir.effects import effects
from scopt.ir.walks import copied, mapped, walk

# Stages, iterations of loops inside in all of them, nodes of the copies, and the largest number: of any integer type.
_MOST_STAGES, _MOST_ITERATIONS, _MOST_NODES, _LARGEST = 6, 96, 2000, 127
# Statements of all copies in a region: with more of them schedulers take longer than these loops are worth.
_MOST_STATEMENTS = 8

_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
}

Values = Mapping[str, int]


class Stages(Struct, frozen=True):
    """name: the variable, of a type. values: what it is, stage by stage. last: behind the loop."""

    name: str
    type: str
    values: tuple[int, ...]
    last: int


def stages_of(loop: Any, scope: Mapping[str, Symbol]) -> Stages | None:
    """The stages of a loop; None if it isn't one over a few constant ones. scope: what names mean where it stands."""
    name = loop_iterator(loop) if isinstance(loop, ir.For) else None
    if name is None or not _may_be_copied(loop, name):
        return None
    declared = loop.init.decls[0] if isinstance(loop.init, ir.DeclList) else None
    symbol = symbol_of(declared, scope) if declared is not None else scope.get(name)
    if symbol is None or not _is_plain(symbol):
        return None
    try:
        *stages, last = islice(_values(loop, name, {}), _MOST_STAGES + 2)
        total = sum(_iterations(loop.stmt, {name: stage}) for stage in stages)
    except _Unknown:
        return None
    if not 1 < len(stages) <= _MOST_STAGES or not 0 < total <= _MOST_ITERATIONS:
        return None
    if len(stages) * sum(1 for _ in walk(loop.stmt)) > _MOST_NODES:
        return None
    return Stages(name, symbol.type.spelling, tuple(stages), last)


def with_stage_copies(region: Region, scope: Mapping[str, Symbol]) -> Region:
    """A marked region with such loops as copies of their bodies, if that makes a few statements of all: elsewhere they
    are regions by themselves. scope: what names mean where the region begins."""
    if not region.marked or region.pragmas.used:
        return region
    made = list[ir.Compound]()

    def change(node: Any) -> Any:
        loop = mapped(node, change)
        # The model has loops that step by a constant, and a variable that isn't the loop's own may be read behind it.
        if not isinstance(loop, ir.For) or not isinstance(loop.init, ir.DeclList) or step_of(loop.next) is not None:
            return loop
        stages = stages_of(loop, scope)
        # A number has the type `int`; another one's arithmetic may be another one.
        if stages is None or stages.type != "int":
            return loop
        body = ir.Compound(items_of(loop.stmt), loop.stmt.coord)
        copies = [copied(substituted(body, stages.name, number(value))) for value in stages.values]
        made.append(ir.Compound(copies, loop.coord))
        return made[-1]

    items = tuple(map(change, region.items))
    return replace(region, items=items) if made and counted(made) <= _MOST_STATEMENTS else region


def _is_plain(symbol: Symbol) -> bool:
    """Whether nothing but the loop itself looks at a variable while it runs, and each of the numbers fits."""
    own = symbol.kind in ("local", "parameter") and not (symbol.static or symbol.address_taken)
    ctype = symbol.type
    whole = ctype.integer and "bool" not in ctype.spelling.lower()
    return own and whole and not (symbol.dims or symbol.pointer or ctype.volatile or ctype.atomic)


def _may_be_copied(loop: ir.For, name: str) -> bool:
    """Whether the body may stand there several times, with the stage as a number, and loops in it depend on that."""
    places = ir.Label | ir.Case | ir.Default | ir.Pragma
    jumps = has_jump(loop.stmt) or any(isinstance(node, places) for node in walk(loop.stmt))
    lasting = any(isinstance(node, ir.Decl) and node.storage for node in walk(loop.stmt))
    own = effects(loop.stmt)
    hidden = any(isinstance(node, ir.Decl) and node.name == name for node in walk(loop.stmt))
    if jumps or lasting or hidden or own.opaque or name in own.changed | own.taken:
        return False
    heads = [(node.init, node.cond, node.next) for node in walk(loop.stmt) if isinstance(node, ir.For)]
    return any(mentions(part, name) for head in heads for part in head if part is not None)


# --- numbers ----------------------------------------------------------------------------------------------------------


class _Unknown(Exception):
    """A number that isn't constant, or is too large."""


def _values(loop: ir.For, name: str, values: Values) -> Iterator[int]:
    """What a loop's variable is in each of its iterations, and behind it. values: of others. Raises _Unknown."""
    start = loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue
    value = _value(start, values)
    for _ in range(_MOST_ITERATIONS + 1):
        yield value
        if not _value(loop.cond, {**values, name: value}):
            return
        value = _next(loop.next, name, {**values, name: value})
    raise _Unknown


def _next(node: Any, name: str, values: Values) -> int:
    match node:
        case ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=own)) if own == name:
            return _value(ir.BinaryOp("+", node.expr, number(1)), values)
        case ir.UnaryOp(op="--" | "p--", expr=ir.ID(name=own)) if own == name:
            return _value(ir.BinaryOp("-", node.expr, number(1)), values)
        case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value) if own == name:
            return _value(value, values)
        case ir.Assignment(op=op, lvalue=ir.ID(name=own), rvalue=value) if own == name:
            return _value(ir.BinaryOp(op[:-1], node.lvalue, value), values)
    raise _Unknown


def _value(node: Any, values: Values) -> int:
    """From 0 to the largest number: as in C then, whatever the types are. Raises _Unknown."""
    found = value_of(node)
    match node:
        case ir.ID(name=name) if name in values:
            found = values[name]
        case ir.BinaryOp(op=op, left=left, right=right) if op in _COMPUTED:
            first, second = _value(left, values), _value(right, values)
            if op == "/" and not second:
                raise _Unknown
            found = int(_COMPUTED[op](first, second))
    if found is None or not 0 <= found <= _LARGEST:
        raise _Unknown
    return found


def _iterations(node: Any, values: Values) -> int:
    """Of all loops below a statement that have no others inside. Raises _Unknown."""
    if isinstance(node, ir.While | ir.DoWhile):
        raise _Unknown
    if not isinstance(node, ir.For):
        return sum(_iterations(part, values) for part in node.parts)
    name = loop_iterator(node)
    if name is None:
        raise _Unknown
    *reached, _ = _values(node, name, values)
    return sum(max(1, _iterations(node.stmt, {**values, name: value})) for value in reached)
