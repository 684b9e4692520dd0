"""References without a way there and back: ``x.m`` for ``(&x)->m``, ``x`` for ``*&x`` and ``(&x)[0]``, as macros that
take pointers leave them where structures lie in others: ``#define AT(f, i) ((f)->a[i])`` of ``AT(&flow->u, i)``.

The whole file's tree is read that way, so that an address that is followed at once counts nowhere as one that is taken.
"""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.ir.walks import changed, rebuilt, walk


def with_direct_references(ast: Any) -> Any:
    """The file's tree with these in the bodies of its functions."""
    made = [_direct(one) if isinstance(one, ir.FuncDef) else one for one in ast.ext]
    return ast if all(one is other for one, other in zip(made, ast.ext, strict=True)) else changed(ast, ext=made)


def direct(node: Any) -> Any:
    """A reference that begins with an address as one to the object itself; other nodes as they are."""
    match node:
        case ir.StructRef(type="->", name=ir.UnaryOp(op="&", expr=whole)):
            return changed(node, name=whole, type=".")
        case ir.UnaryOp(op="*", expr=ir.UnaryOp(op="&", expr=whole)):
            return whole
        case ir.ArrayRef(name=ir.UnaryOp(op="&", expr=whole), subscript=ir.Constant(value="0")):
            return whole
    return node


def _direct(function: ir.FuncDef) -> ir.FuncDef:
    if all(direct(node) is node for node in walk(function.body)):
        return function
    try:
        return changed(function, body=rebuilt(function.body, direct))
    except RecursionError:  # sums of thousands of terms, which nobody takes for a region anyway
        return function
