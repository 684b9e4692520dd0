"""Whether statements leave the pointers to an array's rows what they are (``double **a``), as far as names tell: they
write cells alone, and hand the pointers on to functions that do likewise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scopt import ir
from scopt.frontend.syntax.pointer_values import parameters_of
from scopt.frontend.syntax.structs import reference_of
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.effects import bases, effects, targets
from scopt.ir.walks import used_names, walk

# Calls inside of calls that are looked into.
_DEPTH = 2


def keeps_rows(
    tu: TranslationUnit, items: Iterable[Any], symbols: Mapping[str, Symbol], rows: Symbol, depth: int = _DEPTH
) -> bool:
    """Whether statements do so. symbols: what names mean in front of them."""
    nodes = list(walk(*items))
    done, declared = effects(*items), [node for node in nodes if isinstance(node, ir.Decl)]
    if rows.name in done.assigned | done.declared or done.opaque or done.unnamed:
        return False
    if any(one.pointer_depth > one.pointer for one in (symbol_of(node, symbols) for node in declared)):
        return False  # other names for them
    taken = (node.expr for node in nodes if isinstance(node, ir.UnaryOp) and node.op == "&")
    written = [reference_of(node) for node in (*targets(*items), *taken) if rows.name in bases(node)]
    if not all(isinstance(one.base, ir.ID) and len(one.subscripts) >= rows.pointer_depth for one in written):
        return False
    calls = [node for node in nodes if isinstance(node, ir.FuncCall) and node.args is not None]
    return all(
        _keeps(tu, call, position, symbols, rows, depth)
        for call in calls
        for position, argument in enumerate(call.args.exprs)
        if _hands_on(argument, rows)
    )


def _hands_on(argument: Any, rows: Symbol) -> bool:
    """Whether an argument may be anything else than a cell, or its address."""
    mentioned = sum(name == rows.name for name in used_names(argument))
    return mentioned > sum(_is_cell(node, rows) for node in walk(argument))


def _is_cell(node: Any, rows: Symbol) -> bool:
    for _ in range(rows.pointer_depth):
        if not isinstance(node, ir.ArrayRef):
            return False
        node = node.name
    return isinstance(node, ir.ID) and node.name == rows.name


def _keeps(
    tu: TranslationUnit, call: ir.FuncCall, position: int, symbols: Mapping[str, Symbol], rows: Symbol, depth: int
) -> bool:
    """Whether a function keeps the rows that it gets as an argument."""
    function = tu.functions.get(call.name.name) if isinstance(call.name, ir.ID) else None
    argument = call.args.exprs[position] if call.args is not None else None
    if function is None or not depth or not isinstance(argument, ir.ID):
        return False
    parameters = parameters_of(function)
    if position >= len(parameters) or function.param_decls:
        return False
    own = symbol_of(parameters[position], symbols)
    if own.pointer_depth != rows.pointer_depth:
        return False
    return keeps_rows(tu, (function.body,), symbols, own, depth - 1)
