"""Rows of lists that lie one after the other, ``for (i …) for (k = p[i]; k < p[i + 1]; k++)``: sparse matrices.

Where `p` doesn't descend, the rows are the cells from where the first one begins to where the last one ends, each once.
What is seen there may be seen in one loop, which is as many vectors, and not in short ones that end where data say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.walks import used_names, walk


class ListedRows(Struct, frozen=True):
    """inner: the loop over a row's cells; rest: the path below it. cell: its iterator. begin, end: cells of `array`
    where a row begins and ends. names: variables that have these cells' values."""

    inner: ir.For
    rest: tuple[Any, ...]
    cell: str
    array: str
    begin: ir.ArrayRef
    end: ir.ArrayRef
    names: frozenset[str]


def listed_rows(loop: ir.For, own: str, rest: Sequence[Any]) -> ListedRows | None:
    """The rows of a loop that counts with `own`, from a path below it; None if it has no such rows."""
    before: Sequence[Any] = ()
    if rest and isinstance(rest[0], ir.Compound):
        items = rest[0].block_items or ()
        before = items[: next((k for k, one in enumerate(items) if one is rest[1]), 0)] if len(rest) > 1 else ()
        rest = rest[1:]
    if len(rest) < 2 or not isinstance(rest[0], ir.For) or not _ascends(loop, own):
        return None
    inner = rest[0]
    match inner.init:
        case (
            ir.DeclList(decls=[ir.Decl(name=cell, init=first)])
            | ir.Assignment(op="=", lvalue=ir.ID(name=cell), rvalue=first)
        ) if first is not None and _ascends(inner, cell):
            values = _values(before)
            begin, end = (_value(one, values) for one in (first, inner.cond.right))
            names = frozenset(one.name for one in (first, inner.cond.right) if isinstance(one, ir.ID))
        case _:
            return None
    match begin, end:
        case (
            ir.ArrayRef(name=ir.ID(name=array), subscript=ir.ID(name=at)),
            ir.ArrayRef(
                name=ir.ID(name=other),
                subscript=ir.BinaryOp(op="+", left=ir.ID(name=next_at), right=ir.Constant(value="1")),
            ),
        ) if array == other and at == next_at == own:
            return ListedRows(inner, tuple(rest[1:]), cell, array, begin, end, names)
    return None


def up_to_value(path: Sequence[Any], node: Any, certain: Callable[[Any, Any], bool]) -> Sequence[Any]:
    """A path to what evaluates a node, only as far as to a condition that has the same value in it anyway, as in
    ``if (col[k] != i) s += x[col[k]];``. certain: whether an expression evaluates a part of it in any case."""
    text, names = str(CPrinter().visit(node)), used_names(node)
    for place, statement in enumerate(path):
        if isinstance(statement, ir.If) and effects(statement).changed.isdisjoint(names):
            same = (one for one in walk(statement.cond) if type(one) is type(node))
            if any(str(CPrinter().visit(one)) == text and certain(statement.cond, one) for one in same):
                return path[: place + 1]
    return path


def _ascends(loop: ir.For, own: str) -> bool:
    """Whether a loop counts one by one as long as its iterator is less than something."""
    match loop.cond, loop.next:
        case ir.BinaryOp(op="<", left=ir.ID(name=left)), ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=counted)):
            return bool(left == counted == own)
    return False


def _values(items: Sequence[Any]) -> dict[str, Any]:
    """The values that variables are declared with."""
    lists = (one.decls if isinstance(one, ir.DeclList) else (one,) for one in items)
    return {one.name: one.init for several in lists for one in several if isinstance(one, ir.Decl) and one.init}


def _value(node: Any, values: dict[str, Any]) -> Any:
    return values.get(node.name) if isinstance(node, ir.ID) else node
