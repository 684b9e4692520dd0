"""Whether a loop inside of another one is ever entered, as a condition without the outer iterator.

``for (j = 0; j < n; j++) for (k = 0; k < j; k++)``: the inner loop is entered in some iteration if and only if it is in
the last one, ``0 < n - 1``; in ``for (k = j; k < n; k++)`` the first one decides, ``0 < n``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scopt import ir
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import symbol_of
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import effects
from scopt.ir.walks import replaced, walk

_SMALLER_FIRST = {"<": True, "<=": True, ">": False, ">=": False}


def in_some_iteration(condition: Any, loop: ir.For, symbols: Mapping[str, Symbol]) -> Any:
    """A condition that holds where `condition` holds in some iteration of a loop that is entered, which the text has
    tested before; None where that can't be said."""
    name = loop_iterator(loop)
    if name is None or not mentions(condition, name):
        return None if name is None else condition
    if isinstance(loop.init, ir.DeclList):
        symbols = {**symbols, name: symbol_of(loop.init.decls[0], symbols)}
    step = _step(loop, name)
    if step is None or name in effects(loop.stmt).changed or not _same_signs(condition, loop, symbols):
        return None
    if not isinstance(condition, ir.BinaryOp) or condition.op not in _SMALLER_FIRST:
        return None
    sides = condition.left, condition.right
    mentioned = [side for side in sides if mentions(side, name)]
    if len(mentioned) != 1 or not _is_shifted(mentioned[0], name, symbols):
        return None
    # The least value of a smaller side allows most, the greatest one of a larger side.
    wants_least = (mentioned[0] is condition.left) == _SMALLER_FIRST[condition.op]
    value = start_of(loop) if wants_least == (step > 0) else _last(loop, name, step)
    return None if value is None else _with(condition, name, value)


def in_iterations_around(condition: Any, around: Sequence[ir.For], symbols: Mapping[str, Symbol]) -> Any:
    """The same for the one of the loops around whose iterator a condition mentions; None for several of them."""
    asked = [loop for loop in around if mentions(condition, loop_iterator(loop) or "")]
    if not asked:
        return condition
    return in_some_iteration(condition, asked[0], symbols) if len(asked) == 1 else None


def are_independent(loops: Sequence[ir.For]) -> bool:
    """Whether no two loops' heads ask for the same iterator of one around them: both may have an iteration that lets
    them be entered, but none that does both."""
    for depth, outer in enumerate(loops):
        name = loop_iterator(outer) or ""
        if sum(mentions(inner.init, name) or mentions(inner.cond, name) for inner in loops[depth + 1 :]) > 1:
            return False
    return True


def mentions(node: Any, name: str) -> bool:
    return any(isinstance(part, ir.ID) and part.name == name for part in walk(node))


def _step(loop: ir.For, name: str) -> int | None:
    match loop.next:
        case ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=stepped)) if stepped == name:
            return 1
        case ir.UnaryOp(op="--" | "p--", expr=ir.ID(name=stepped)) if stepped == name:
            return -1
    return None


def _same_signs(condition: Any, loop: ir.For, symbols: Mapping[str, Symbol]) -> bool:
    """Whether comparisons compare what is written: all variables are signed integers, or none is."""
    parts = [condition, loop.cond, start_of(loop)]
    names = {part.name for one in parts for part in walk(one) if isinstance(part, ir.ID)}
    known = [symbols.get(name) for name in names]
    types = [one.type for one in known if one is not None and not one.dims and one.type.integer]
    return len(types) == len(names) and len({one.signed for one in types}) == 1


def _is_shifted(node: Any, name: str, symbols: Mapping[str, Symbol]) -> bool:
    """Whether an expression is the iterator, or the next number."""
    if isinstance(node, ir.Cast) and isinstance(node.to_type.type.type, ir.IdentifierType):
        own = " ".join(node.to_type.type.type.names) == symbols[name].type.spelling
        return own and _is_shifted(node.expr, name, symbols)
    if isinstance(node, ir.BinaryOp) and node.op == "+" and isinstance(node.right, ir.Constant):
        return node.right.value == "1" and _is_shifted(node.left, name, symbols)
    return isinstance(node, ir.ID) and node.name == name


def start_of(loop: ir.For) -> Any:
    """What a loop's iterator begins with."""
    return loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue


def _last(loop: ir.For, name: str, step: int) -> Any:
    """The iterator's value in the last iteration."""
    match loop.cond:
        case ir.BinaryOp(op="<" | ">" | "<=" | ">=" as op, left=ir.ID(name=compared), right=end) if compared == name:
            if _SMALLER_FIRST[op] != (step > 0) or mentions(end, name):
                return None
            one = ir.Constant("int", "1")
            return end if op.endswith("=") else ir.BinaryOp("-" if step > 0 else "+", end, one)
    return None


def _with(condition: Any, name: str, value: Any) -> Any:
    return replaced(condition, lambda node: value if isinstance(node, ir.ID) and node.name == name else node)
