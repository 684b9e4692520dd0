"""Which variables decide what loops run over and which cells they touch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.ir.effects import target
from scopt.ir.walks import walk


def bound_names(items: Iterable[Any]) -> frozenset[str]:
    """Variables that loops' conditions compare iterators with."""
    loops = [node for node in walk(*items) if isinstance(node, ir.For) and node.cond is not None]
    return frozenset(name for loop in loops for name in names_of(loop.cond))


def index_names(items: Iterable[Any]) -> frozenset[str]:
    """Variables of subscripts, loops' heads and conditions, and those that these get their values from."""
    found: set[str] = set()
    sources: dict[str, set[str]] = {}
    for node in walk(*items):
        match node:
            case ir.ArrayRef():
                found |= names_of(node.subscript)
            case ir.UnaryOp(op="*"):
                found |= names_of(node.expr)
            case ir.For():
                for part in (node.init, node.cond, node.next):
                    found |= names_of(part) if part is not None else frozenset()
            case ir.If() | ir.While() | ir.DoWhile() | ir.TernaryOp():
                found |= names_of(node.cond)
            case ir.BinaryOp(op="&&" | "||"):
                found |= names_of(node)
            case ir.Decl(name=name, init=init) if name and init is not None:
                sources.setdefault(name, set()).update(names_of(init))
        if isinstance(lvalue := target(node), ir.ID):
            sources.setdefault(lvalue.name, set()).update(names_of(node))
    todo = list(found)
    while todo:
        for name in sources.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return frozenset(found)
