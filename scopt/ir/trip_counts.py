"""How often loops run whose bounds are constants, as far as their text says so."""

from __future__ import annotations

from scopt import ir
from scopt.ir.walks import walk


def iterations(loop: ir.Node) -> int | None:
    """Of ``for (int k = -1; k <= 1; k++)``: 3; None of other statements."""
    match loop:
        case ir.For(
            init=ir.DeclList(decls=[ir.Decl(name=name, init=first)]),
            cond=ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=other), right=last),
            next=ir.UnaryOp(op="p++" | "++", expr=ir.ID(name=again)),
        ) if name == other == again:
            low, high = _constant(first), _constant(last)
            return None if low is None or high is None else max(high - low + (op == "<="), 0)
    return None


def ends_on_data(body: ir.Node) -> bool:
    """Whether a statement has loops that data end: after how many iterations, nobody knows before."""
    loops = (node for node in walk(body) if isinstance(node, ir.For | ir.While | ir.DoWhile))
    return any(iterations(node) is None or any(isinstance(one, ir.Break) for one in walk(node)) for node in loops)


def _constant(node: ir.Node | None) -> int | None:
    match node:
        case ir.Constant(type="int", value=value) if value.isdecimal():
            return int(value)
        case ir.UnaryOp(op="-", expr=inner):
            found = _constant(inner)
            return None if found is None else -found
    return None
