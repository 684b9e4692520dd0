"""Small pieces of C syntax for statements of our own."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from scopt.astgen.emit.flat import row_length as flat_row_length
from scopt.ir.scop import Array, CType

Terms = Sequence[tuple[str, int]]
# Bytes of a line, and of the longest vectors.
_LINE = 64


def integer(value: int) -> c_ast.Constant:
    return c_ast.Constant("int", str(value))


def linear(terms: Terms) -> c_ast.Node:
    """Σ factor · iterator."""
    result: c_ast.Node | None = None
    for name, factor in terms:
        term: c_ast.Node = c_ast.ID(name)
        if abs(factor) != 1:
            term = c_ast.BinaryOp("*", integer(abs(factor)), term)
        first = term if factor > 0 else c_ast.UnaryOp("-", term)
        result = first if result is None else c_ast.BinaryOp("+" if factor > 0 else "-", result, term)
    assert result is not None
    return result


def element(array: Array, index: Terms) -> c_ast.ArrayRef:
    return c_ast.ArrayRef(c_ast.ID(array.spelling), linear(index))


def assignment(target: c_ast.Node, value: c_ast.Node) -> c_ast.Assignment:
    return c_ast.Assignment("=", target, value)


def address(target: c_ast.Node) -> c_ast.UnaryOp:
    return c_ast.UnaryOp("&", target)


def call(function: str, arguments: Sequence[c_ast.Node]) -> c_ast.FuncCall:
    return c_ast.FuncCall(c_ast.ID(function), c_ast.ExprList(list(arguments)))


def row_length(cell: c_ast.ArrayRef, subscript: int, flat: Mapping[str, Array]) -> c_ast.Node:
    """The distance, in elements, of two cells that differ by one in a subscript (counted from the outermost one).

    flat: arrays that C knows one dimension of, by their names in C.
    """
    subscripts = []
    node: c_ast.Node = cell
    while isinstance(node, c_ast.ArrayRef):
        subscripts.append(node)
        node = node.name
    name = node
    if isinstance(name, c_ast.ID) and name.name in flat:
        return flat_row_length(flat[name.name], subscript)

    def at_zero(count: int) -> c_ast.Node:
        result = name
        for _ in range(count):
            result = c_ast.ArrayRef(result, integer(0))
        return result

    return c_ast.BinaryOp(
        "/", c_ast.UnaryOp("sizeof", at_zero(subscript + 1)), c_ast.UnaryOp("sizeof", at_zero(len(subscripts)))
    )


def nodes(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A node and all below it."""
    yield node
    for _, child in node.children():
        yield from nodes(child)


def substituted(node: c_ast.Node, names: Mapping[str, str]) -> c_ast.Node:
    """A copy with some identifiers replaced."""
    made = copy.deepcopy(node)
    for n in nodes(made):
        if isinstance(n, c_ast.ID) and n.name in names:
            n.name = names[n.name]
    return made


def array_of(name: str, ctype: CType, size: int) -> Array:
    """A local array that starts where a line does: a vector that lies in two lines takes as long as two."""
    element_type = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(ctype.spelling.split()))
    declaration = c_ast.Decl(
        name, [], [c_ast.Alignas(integer(_LINE))], [], [], c_ast.ArrayDecl(element_type, integer(size), []), None, None
    )
    return Array(name, name, ctype, (integer(size),), (size,), private=True, local=True, declaration=declaration)
