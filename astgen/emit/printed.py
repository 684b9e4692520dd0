"""Pieces of printed text, parsed again, and what is expected of them."""

from __future__ import annotations

from scopt import ir
from scopt.astgen.emit.c_read import Unreadable
from scopt.astgen.emit.loop_hints import without_hints
from scopt.ir.from_pycparser import parse_c
from scopt.ir.scop import Scop


def parsed(scop: Scop, text: str) -> list[ir.Node]:
    """The statements of the printed text."""
    types = "".join(f"typedef int {name};\n" for name in sorted(scop.typedefs))
    tree = parse_c(f"{types}void region(void)\n{{\n{without_hints(text)}}}\n")
    return list(tree.ext[-1].body.block_items or [])


def expect(printed: object, meant: object, what: str) -> None:
    if printed != meant:
        raise Unreadable(f"the {what} is {printed}, not {meant}")


def statements_of(node: ir.Node) -> list[ir.Node]:
    return list(node.block_items or []) if isinstance(node, ir.Compound) else [node]


def step_of(node: ir.Node, iterator: str) -> int:
    match node:
        case ir.UnaryOp(op="p++", expr=ir.ID(name=name)) if name == iterator:
            return 1
        case ir.UnaryOp(op="p--", expr=ir.ID(name=name)) if name == iterator:
            return -1
        case ir.Assignment(op="+=" | "-=" as op, lvalue=ir.ID(name=name), rvalue=ir.Constant(value=value)) if (
            name == iterator
        ):
            return int(value) if op == "+=" else -int(value)
    raise Unreadable(f"the step of '{iterator}'")


def expression_of(scop: Scop, text: str) -> ir.Node:
    match parsed(scop, f"return {text};\n"):
        case [ir.Return(expr=ir.Node() as expr)]:
            return expr
    raise Unreadable(f"the clause '{text}'")
