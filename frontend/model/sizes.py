"""Numbers of elements, ``sizeof a / sizeof a[0]``, as constants that bounds may use.

Their values may come from macros, and stay what the compiler says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scopt import ir
from scopt.frontend.normalize.members import Hoisted
from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import Symbol
from scopt.ir.printing import CPrinter
from scopt.ir.walks import used_names, with_nodes


def hoist_sizes(
    items: Sequence[Any], symbols: dict[str, Symbol], inside: frozenset[str], reserved: frozenset[str]
) -> tuple[tuple[Any, ...], tuple[Hoisted, ...]]:
    """The items with names for the quotients of sizes in the heads of loops, and these; `symbols` gets the names."""
    char = ir.TypeDecl(None, [], None, ir.IdentifierType(["char"]))
    size_type = typed_constant(ir.UnaryOp("sizeof", ir.Typename(None, [], None, char)), symbols)
    if size_type is None:
        return tuple(items), ()
    found: dict[str, Hoisted] = {}
    named: dict[ir.Node, ir.Node] = {}
    for node in _quotients(items):
        if frozenset(used_names(node)) & inside:
            continue
        text = CPrinter(reduce_parentheses=True).visit(node)
        if text not in found:
            name = _fresh(
                f"{next(iter(sorted(frozenset(used_names(node)))), 'type')}_length", symbols, inside, reserved
            )
            symbols[name] = Symbol(name, "local", size_type[1], size=size_type[1].bits // 8)
            found[text] = Hoisted(symbols[name], f"const {size_type[1].spelling} {name} = {text};")
        named[node] = ir.ID(found[text].symbol.name, node.coord)
    return tuple(with_nodes(item, named) for item in items), tuple(found.values())


def _quotients(items: Sequence[Any]) -> list[Any]:
    """The quotients in the heads of loops."""
    found: list[Any] = []
    todo: list[tuple[Any, bool]] = [(item, False) for item in items]
    while todo:
        node, head = todo.pop(0)
        match node:
            case ir.For():
                todo += [(part, True) for part in (node.init, node.cond, node.next) if part is not None]
                todo.append((node.stmt, False))
            case ir.BinaryOp(op="/", left=ir.UnaryOp(op="sizeof"), right=ir.UnaryOp(op="sizeof")) if head:
                found.append(node)
            case _:
                todo += [(child, head) for child in node.parts]
    return found


def _fresh(wish: str, symbols: dict[str, Symbol], inside: frozenset[str], reserved: frozenset[str]) -> str:
    name, number = wish, 2
    while name in reserved or name in symbols or name in inside:
        name, number = f"{wish}_{number}", number + 1
    return name
