"""Loops that compilers make calls of memset and memcpy of, which are quicker than what could be made of them."""

from __future__ import annotations

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import used_names


def is_library_loop(scop: Scop, statement: Statement) -> bool:
    """Whether the innermost loop of a statement sets a row to zero or to a byte, or copies one."""
    body = statement.body
    if not (isinstance(body, ir.Assignment) and body.op == "=" and statement.iterators):
        return False
    target = body.lvalue
    if not _is_row(target, statement.iterators[-1]):
        return False
    types = [scop.arrays[access.array].type for access in statement.accesses]
    match body.rvalue:
        case ir.ArrayRef():
            return (
                _is_row(body.rvalue, statement.iterators[-1])
                and len(types) == 2
                and types[0].spelling == types[1].spelling
            )
        case ir.Constant(value=value):
            return types[-1].bits == 8 or value.strip("+-0.fFlLuU") == "" or value == r"'\0'"
        case ir.ID():
            return types[-1].bits == 8
    return False


def _is_row(node: ir.Node, iterator: str) -> bool:
    """Whether the last subscript of a reference is the iterator with something added, and no other one has it."""
    if not isinstance(node, ir.ArrayRef) or iterator in used_names(node.name):
        return False
    match node.subscript:
        case ir.ID(name=name):
            return bool(name == iterator)
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            own, other = (left, right) if op == "-" or iterator not in used_names(right) else (right, left)
            return isinstance(own, ir.ID) and own.name == iterator and iterator not in used_names(other)
    return False


__all__ = ["is_library_loop"]
