"""Functions that are one expression of their parameters: ``if (i < 0) return -i; return i < n ? i : 2 * n - 2 - i;`` is
a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scopt import ir
from scopt.frontend.normalize.plain_switches import without_switches


def formula_of(function: ir.FuncDef) -> Any | None:
    """What a function returns, if its statements do nothing but choose that."""
    return _formula(function.body.block_items or ())


def _formula(items: Sequence[Any]) -> Any | None:
    if not items:
        return None
    match items[0]:
        case ir.Return(expr=value):
            return value
        case ir.Compound(block_items=inner):
            return _formula((*(inner or ()), *items[1:]))
        case ir.If(cond=cond, iftrue=then, iffalse=otherwise):
            rest = items[1:]
            value, other = _formula((then, *rest)), _formula((*([] if otherwise is None else [otherwise]), *rest))
            return None if value is None or other is None else ir.TernaryOp(cond, value, other, items[0].coord)
        case ir.EmptyStatement():
            return _formula(items[1:])
        case ir.Switch():
            (made,) = without_switches(items[:1])
            return None if isinstance(made, ir.Switch) else _formula((made, *items[1:]))
    return None
