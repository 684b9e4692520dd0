"""Small pieces of C syntax for statements of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scopt import ir
from scopt.astgen.emit.flat import row_length as flat_row_length
from scopt.ir.scop import Array, CType
from scopt.ir.walks import changed, replaced

Terms = Sequence[tuple[str, int]]


def integer(value: int) -> ir.Constant:
    return ir.Constant("int", str(value))


def linear(terms: Terms) -> ir.Node:
    """Σ factor · iterator."""
    result: ir.Node | None = None
    for name, factor in terms:
        term: ir.Node = ir.ID(name)
        if abs(factor) != 1:
            term = ir.BinaryOp("*", integer(abs(factor)), term)
        first = term if factor > 0 else ir.UnaryOp("-", term)
        result = first if result is None else ir.BinaryOp("+" if factor > 0 else "-", result, term)
    assert result is not None
    return result


def element(array: Array, index: Terms) -> ir.ArrayRef:
    return ir.ArrayRef(ir.ID(array.spelling), linear(index))


def assignment(target: ir.Node, value: ir.Node) -> ir.Assignment:
    return ir.Assignment("=", target, value)


def address(target: ir.Node) -> ir.UnaryOp:
    return ir.UnaryOp("&", target)


def call(function: str, arguments: Sequence[ir.Node]) -> ir.FuncCall:
    return ir.FuncCall(ir.ID(function), ir.ExprList(list(arguments)))


def row_length(cell: ir.ArrayRef, subscript: int, flat: Mapping[str, Array]) -> ir.Node:
    """The distance, in elements, of two cells that differ by one in a subscript (counted from the outermost one).

    flat: arrays that C knows one dimension of, by their names in C.
    """
    subscripts = []
    node: ir.Node = cell
    while isinstance(node, ir.ArrayRef):
        subscripts.append(node)
        node = node.name
    name = node
    if isinstance(name, ir.ID) and name.name in flat:
        return flat_row_length(flat[name.name], subscript)

    def at_zero(count: int) -> ir.Node:
        result = name
        for _ in range(count):
            result = ir.ArrayRef(result, integer(0))
        return result

    return ir.BinaryOp(
        "/", ir.UnaryOp("sizeof", at_zero(subscript + 1)), ir.UnaryOp("sizeof", at_zero(len(subscripts)))
    )


def substituted(node: ir.Node, names: Mapping[str, str]) -> ir.Node:
    """A node with some identifiers replaced."""

    def change(n: ir.Node) -> ir.Node:
        return changed(n, name=names[n.name]) if isinstance(n, ir.ID) and n.name in names else n

    made: ir.Node = replaced(node, change)
    return made


def array_of(name: str, ctype: CType, sizes: Sequence[int], alignment: int) -> Array:
    """A local array. alignment: bytes of a line: a vector that lies in two takes as long as two."""
    whole: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(ctype.spelling.split()))
    for size in reversed(sizes):
        whole = ir.ArrayDecl(whole, integer(size), [])
    declaration = ir.Decl(name, [], [ir.Alignas(integer(alignment))], [], [], whole, None, None)
    bounds = tuple(integer(size) for size in sizes)
    return Array(name, name, ctype, bounds, tuple(sizes), private=True, local=True, declaration=declaration)
