"""A local array's values, ``double f[4] = { a, a * b }``, as assignments to its elements."""

from __future__ import annotations

from collections.abc import Mapping

from scopt import ir
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.effects import effects
from scopt.ir.walks import changed, walk

# Elements at most that become assignments.
_ELEMENTS = 16


def elements_of(node: ir.Decl) -> list[ir.Assignment] | None:
    """What gives the elements of a local array their values; None for declarations of anything else."""
    match node:
        case ir.Decl(
            name=str(name),
            type=ir.ArrayDecl(type=ir.TypeDecl(), dim=ir.Constant(value=size)),
            init=ir.InitList(exprs=some),
        ) if size.isdigit() and len(some) <= int(size) <= _ELEMENTS and not node.storage:
            pass
        case _:
            return None
    if any(isinstance(one, ir.InitList | ir.NamedInitializer | ir.FuncCall) for one in walk(*some)):
        return None
    if effects(*some).changed or name in {one.name for one in walk(*some) if isinstance(one, ir.ID)}:
        return None
    values = [*some, *(ir.Constant("int", "0", node.coord) for _ in range(len(some), int(size)))]
    cells = (ir.ArrayRef(ir.ID(name, node.coord), ir.Constant("int", str(k)), node.coord) for k in range(len(values)))
    return [ir.Assignment("=", cell, value, node.coord) for cell, value in zip(cells, values, strict=True)]


def has_numbers(node: ir.Decl, scope: Mapping[str, Symbol]) -> bool:
    """Whether an array's elements are numbers, not structures."""
    ctype = symbol_of(node, scope).type
    return bool(ctype.integer or ctype.floating)


def without_values(node: ir.Decl) -> ir.Decl:
    """A local array's declaration without its values, which it gets later."""
    inner = node.type.type
    quals = [one for one in inner.quals or () if one != "const"]
    return changed(node, init=None, quals=[], type=changed(node.type, type=changed(inner, quals=quals)))
