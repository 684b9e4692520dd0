"""Control flow that stays inside one statement: loops that end where data says so, `switch`, and jumps that don't leave
it.

A SCoP's loops run over affine sets. Any other loop can still be part of one, as a statement that is executed as a
whole, with accesses that it may
make: the loops around it are then as parallel as its accesses allow. What the model can't hold at all is a jump out of
  such a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.walks import changed, mapped, walk

LOOPS = (ir.For, ir.While, ir.DoWhile)
_NEVER = (ir.Goto, ir.Label, ir.Return)
_OWN = (ir.While, ir.DoWhile, ir.Switch)


class Construct(Struct, frozen=True):
    """What is said of a construct that can't be part of a SCoP: a remark's id, message and hint."""

    id: str
    message: str
    hint: str


_CONSTRUCTS = {
    ir.While: Construct(
        "control.while", "'while' loops are not supported", "write it as a 'for' loop with affine bounds"
    ),
    ir.DoWhile: Construct(
        "control.while", "'do' loops are not supported", "write it as a 'for' loop with affine bounds"
    ),
    ir.Goto: Construct("control.goto", "'goto' is not supported", "use structured control flow"),
    ir.Label: Construct("control.goto", "labels are not supported", "use structured control flow"),
    ir.Break: Construct("control.break", "'break' is not supported", "put the condition into the loop's bounds"),
    ir.Continue: Construct(
        "control.continue", "'continue' is not supported", "use an 'if' around the rest of the body"
    ),
    ir.Return: Construct(
        "control.return", "'return' inside a SCoP is not supported", "leave the function after the region"
    ),
    ir.Switch: Construct(
        "control.switch", "this 'switch' is not supported", "end each of its ways with 'break', or use 'if' statements"
    ),
}


def construct_of(node: Any) -> Construct:
    """What to say of a node that `blocking` gave."""
    return _CONSTRUCTS[type(node)]


def blocking(node: Any) -> Any | None:
    """What makes a node part of an opaque statement at best: it is such a construct itself, or a `for` that a jump of
    its own ends or continues.

    None for everything that the walk over affine control can take apart.
    """
    if isinstance(node, _OWN):
        return node
    if isinstance(node, ir.For):
        return next(leaving(node.stmt), None)
    return None


def ends_on_data(loop: ir.For) -> bool:
    """Whether a loop goes on as long as what lies where its iterator says has some value, besides a bound: as those
    that make room in a sorted list, ``for (r = k; r > 0 && top[r - 1] > x; r--)``."""
    name = loop_iterator(loop)
    return (
        isinstance(loop.cond, ir.BinaryOp)
        and loop.cond.op == "&&"
        and name is not None
        and any(isinstance(node, (ir.ArrayRef, ir.FuncCall)) and name in names_of(node) for node in walk(loop.cond))
    )


def leaving(node: Any) -> Iterator[Any]:
    """The jumps in a node that end or continue something around it."""
    return _jumps(node, breaks=True, continues=True)


@lru_cache(maxsize=1 << 12)
def has_jump(node: Any) -> bool:
    """Whether a loop's body has any jump, be it in a loop inside."""
    return any(isinstance(inner, ir.Break | ir.Continue | ir.Goto | ir.Return | ir.Switch) for inner in walk(node))


@lru_cache(maxsize=1 << 12)
def may_end_early(body: Any) -> bool:
    """Whether a loop's body may be left before its end. What ends or continues a loop inside of it leaves only that."""
    ends = any(isinstance(node, ir.Goto | ir.Return | ir.Switch) for node in walk(body))
    return ends or next(leaving(body), None) is not None


def _jumps(node: Any, *, breaks: bool, continues: bool) -> Iterator[Any]:
    todo = [(node, breaks)]
    while todo:
        inner, ending = todo.pop()
        if (isinstance(inner, ir.Break) and ending) or (isinstance(inner, ir.Continue) and continues):
            yield inner
        elif inner is not None and not isinstance(inner, LOOPS):
            ending = ending and not isinstance(inner, ir.Switch)
            todo += [(part, ending) for part in reversed(inner.parts)]


def out_of_statements(node: Any) -> Any | None:
    """A jump that can't even be part of an opaque statement: to a label, or out of the function; None without any."""
    if isinstance(node, _NEVER):
        return node
    return next((found for child in node.parts if (found := out_of_statements(child)) is not None), None)


def scalar_iterators(items: Iterable[Any], own: Callable[[ir.For], ir.For]) -> tuple[Any, ...]:
    """The items, where the variables that loops of opaque statements step are plain scalars, unless they are declared
    in the loop.

    Their values are often used after the loop, as in a search. The `for` then has no iterator of its own: its init is a
    list of one expression. own: a loop with one declared, where nobody asks for the value.
    """
    return tuple(_marked(item, inside=False, own=own) for item in items)


def _marked(node: Any, *, inside: bool, own: Callable[[ir.For], ir.For]) -> Any:
    inside = inside or blocking(node) is not None or (isinstance(node, ir.For) and ends_on_data(node))
    if (
        inside
        and isinstance(node, ir.For)
        and loop_iterator(node) is not None
        and not isinstance((node := own(node)).init, ir.DeclList)
    ):
        node = changed(node, init=ir.ExprList([node.init], node.init.coord))
    return mapped(node, lambda child: _marked(child, inside=inside, own=own))


def counted_form(loop: ir.For) -> ir.For:
    """A loop with the iterator that `scalar_iterators` took from it."""
    init = loop.init
    return changed(loop, init=init.exprs[0]) if isinstance(init, ir.ExprList) and len(init.exprs) == 1 else loop
