"""Loops around others that step by more than one: ``for (q = lo; q <= hi; q += 4)`` as ``for (k = 0; lo + 4 * k <= hi;
k++)``, with ``lo + 4 * k`` in the place of ``q``.

Rows are lanes of vectors then, one beside the other, and so are their cells in buffers: a loop that steps would leave
out three of four lanes. Loops whose inner loops run along the step (``for (i = ii; i < ii + 4; i++)``) stay as they
are: together they count by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scopt import ir
from scopt.frontend.normalize.opaque import LOOPS
from scopt.frontend.normalize.tree_rewriting import mentions, number, slope_of, step_of, substituted, value_of
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, rebuilt, walk


def with_unit_steps(
    item: Any,
    iterator_type: Callable[[Any], CType | None],
    constant_type: Callable[[str], CType | None],
    fresh: Callable[[str], str],
) -> Any:
    """A statement of a region with such loops counting by one.

    iterator_type: of an integer that a loop's head declares, and to which no pointer leads; None for others.
    constant_type: of a variable that keeps its value all through the region; None for others. fresh: makes names.
    """

    def visit(node: Any) -> Any:
        return _counted_by_one(node, iterator_type, constant_type, fresh) or node

    return rebuilt(item, visit)


def _counted_by_one(
    loop: Any,
    iterator_type: Callable[[Any], CType | None],
    constant_type: Callable[[str], CType | None],
    fresh: Callable[[str], str],
) -> Any | None:
    if not isinstance(loop, ir.For) or loop.next is None or loop.cond is None:
        return None
    match loop.init:
        case ir.DeclList(decls=[ir.Decl(name=str(own), init=start) as decl]) if start is not None:
            pass
        case _:
            return None
    step, ctype = step_of(loop.next), iterator_type(decl)
    if step is None or step[0] != own or step[1] < 2 or ctype is None:
        return None
    if not _is_first_value(start, ctype, constant_type) or not _is_upper_bound(loop.cond, own):
        return None
    if (
        not _is_around_others(loop.stmt, own)
        or not _is_in_sums(loop.stmt, own)
        or own in effects(loop.cond, loop.stmt).changed
    ):
        return None
    count = fresh(own)
    place: Any = ir.BinaryOp("*", number(step[1]), ir.ID(count, loop.coord), loop.coord)
    if not (isinstance(start, ir.Constant) and start.value == "0"):
        place = ir.BinaryOp("+", start, place, loop.coord)
    declared = changed(
        decl, name=count, type=ir.TypeDecl(count, [], None, ir.IdentifierType(ctype.spelling.split())), init=number(0)
    )
    return changed(
        loop,
        init=changed(loop.init, decls=(declared,)),
        cond=substituted(loop.cond, own, place),
        next=ir.UnaryOp("p++", ir.ID(count, loop.coord), loop.coord),
        stmt=substituted(loop.stmt, own, place),
    )


def _is_first_value(start: Any, ctype: CType, constant_type: Callable[[str], CType | None]) -> bool:
    """Whether a value is the same in all of the region, and of the iterator's type, so that sums with it are."""
    match start:
        case ir.Constant(type="int", value=value):
            return str(value).isdecimal()
        case ir.ID(name=name):
            found = constant_type(name)
            return found is not None and found.spelling == ctype.spelling
    return False


def _is_upper_bound(cond: Any, own: str) -> bool:
    match cond:
        case ir.BinaryOp(op="<" | "<=", left=left, right=right):
            return mentions(left, own) == 1 and not mentions(right, own)
    return False


def _is_around_others(body: Any, own: str) -> bool:
    """Whether there are loops inside, all of them `for` loops whose heads don't ask for the iterator, and whose ends
    aren't numbers: those may run along the step, too (``b[i + k]`` with eight values of ``k``)."""
    inner = [node for node in walk(body) if isinstance(node, LOOPS)]
    if not inner or any(isinstance(node, ir.Decl) and node.name == own for node in walk(body)):
        return False
    for node in inner:
        if not isinstance(node, ir.For) or node.cond is None:
            return False
        heads = [part for part in (node.init, node.cond, node.next) if part is not None]
        end = node.cond.right if isinstance(node.cond, ir.BinaryOp) else None
        if any(mentions(head, own) for head in heads) or end is None or value_of(end) is not None:
            return False
    return True


def _is_in_sums(body: Any, own: str) -> bool:
    """Whether the iterator is multiplied by numbers alone: how far rows reach whose distance a variable says
    (``a[i * m + k]``) is known better where it steps."""
    products = (node for node in walk(body) if isinstance(node, ir.BinaryOp) and node.op == "*")
    places = (node for node in products if not any(isinstance(one, ir.ArrayRef) for one in walk(node)))
    return all(slope_of(node, own) is not None for node in places)
