"""Whether the text of a loop over constant stages, parsed again, is the loop's body for each stage, in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import InternalError
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.constants import constant_value
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.walks import same_tree

# Every integer type has it.
_LARGEST = 127


def check_written_stages(loop: ir.For, text: str, scope: Mapping[str, Symbol], typedefs: Collection[str]) -> None:
    """Raise InternalError if it isn't that. scope: what names mean where the loop begins."""
    types = "".join(f"typedef int {name};\n" for name in sorted(typedefs))
    try:
        items = list(parse_c(f"{types}void region(void)\n{{\n{text}}}\n").ext[-1].body.block_items or [])
    except CSyntaxError as error:
        raise InternalError(f"the stages written out: {error}") from error
    name = str(loop_iterator(loop))
    decl = loop.init.decls[0] if isinstance(loop.init, ir.DeclList) else None
    symbol = symbol_of(decl, scope) if decl is not None else scope[name]
    start = decl.init if decl is not None else loop.init.rvalue
    body = list(loop.stmt.block_items or []) if isinstance(loop.stmt, ir.Compound) else [loop.stmt]
    value = constant_value(start, scope)
    if decl is None and (not items or not _sets(items.pop(), None, name, _behind(loop, scope, symbol))):
        raise InternalError(f"'{name}' is something else behind the stages")
    for item in items:
        first, *rest = item.block_items or [None] if isinstance(item, ir.Compound) else [None]
        if not _goes_on(loop, scope, symbol, value) or not _sets(first, decl, name, value):
            raise InternalError(f"'{name}' is {value} in no stage, or in another one")
        if len(rest) != len(body) or not all(map(same_tree, rest, body)):
            raise InternalError(f"a stage of '{name}' does something else than the loop")
        value = _stepped(loop, scope, symbol, value)
    if _goes_on(loop, scope, symbol, value):
        raise InternalError(f"a stage of '{name}' is missing")


def _behind(loop: ir.For, scope: Mapping[str, Symbol], symbol: Symbol) -> int | None:
    """What a loop leaves in its variable."""
    value = constant_value(loop.init.rvalue, scope)
    while _goes_on(loop, scope, symbol, value):
        value = _stepped(loop, scope, symbol, value)
    return value


def _at(scope: Mapping[str, Symbol], symbol: Symbol, value: int | None) -> Mapping[str, Symbol]:
    return {**scope, symbol.name: replace(symbol, value=value)}


def _goes_on(loop: ir.For, scope: Mapping[str, Symbol], symbol: Symbol, value: int | None) -> bool:
    """Whether the loop has an iteration with a value. Raises InternalError where C doesn't say so."""
    found = constant_value(loop.cond, _at(scope, symbol, value))
    if value is None or found is None or not 0 <= value <= _LARGEST:
        raise InternalError(f"what '{symbol.name}' is isn't known")
    return bool(found)


def _stepped(loop: ir.For, scope: Mapping[str, Symbol], symbol: Symbol, value: int | None) -> int | None:
    match loop.next:
        case ir.UnaryOp(op="++" | "p++" | "--" | "p--" as op, expr=variable):
            amount = ir.BinaryOp(op[-1], variable, ir.Constant("int", "1"))
        case ir.Assignment(op="=", rvalue=amount):
            pass
        case ir.Assignment(op=op, lvalue=variable, rvalue=right):
            amount = ir.BinaryOp(op[:-1], variable, right)
        case _:
            raise InternalError(f"the step of '{symbol.name}'")
    return constant_value(amount, _at(scope, symbol, value))


def _sets(node: Any, decl: ir.Decl | None, name: str, value: int | None) -> bool:
    """Whether a statement gives the variable a value, by the declaration that the loop has, if it has one."""
    match node:
        case ir.Decl(name=own, init=ir.Constant(value=given)) if decl is not None:
            return bool(own == name and given == str(value) and same_tree(node.type, decl.type))
        case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=ir.Constant(value=given)) if decl is None:
            return bool(own == name and given == str(value))
    return False
