"""Loops over a few stages whose numbers are constants, over a few cells, as one copy of their body for each stage:
``for (h = 1; h < 8; h *= 2) for (i = 0; i < 8; i += 2 * h) …`` (transforms of blocks, trees of sums).

What they do takes some nanoseconds, so that there is nothing in them for threads or tiles. But where the stage is a
number, compilers know how long the loops inside are, write them out, and find vectors across blocks, or in a block; gcc
doesn't before it looks for vectors, as long as the stage is a variable (2.5 times as fast).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from scopt import ir
from scopt.frontend.normalize.members import has_jump
from scopt.frontend.normalize.tree_rewriting import mentions, number, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, scope_at, symbol_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.walks import changed, walk

# Stages, iterations of loops inside in all of them, nodes of the copies, and the largest number: of any integer type.
_MOST_STAGES, _MOST_ITERATIONS, _MOST_NODES, _LARGEST = 6, 96, 2000, 127

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


def written_out(tu: TranslationUnit, region: Region) -> str | None:
    """The text of a region that is such a loop; None if it is anything else."""
    loop = region.items[0] if len(region.items) == 1 else None
    name = loop_iterator(loop) if isinstance(loop, ir.For) else None
    if loop is None or name is None or not _may_be_copied(loop, name):
        return None
    scope = scope_at(tu, region)
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
    texts = []
    for stage in stages:
        body = list(loop.stmt.block_items or ()) if isinstance(loop.stmt, ir.Compound) else [loop.stmt]
        set_to = ir.Assignment("=", ir.ID(name), number(stage))
        first = changed(declared, init=number(stage)) if declared is not None else set_to
        texts.append(_text(ir.Compound([first, *body])))
    end = "" if declared is not None else f"{name} = {last};\n"
    return "".join(texts) + end


def _text(node: Any) -> str:
    return str(CPrinter(reduce_parentheses=True).visit(node))


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
    if jumps or lasting or own.opaque or name in own.changed | own.taken:
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
