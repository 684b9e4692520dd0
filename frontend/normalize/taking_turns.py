"""Conditions whose ways take turns along the innermost loop, and store the same cells: ``if (x % 2) a[x] = b[x]; else
a[x] = c[x];``.

Taken apart, each way is a statement of every second cell: two loops that step over what the other one stores, or masks.
As one statement it stores one cell after the other, of what is a choice between values, which vectors blend. So do
interlaced fields, the colours of a sensor's mosaic, and signs that alternate.
"""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.frontend.normalize.once import runs_once
from scopt.frontend.normalize.tree_rewriting import items_of, names_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.trip_counts import iterations
from scopt.ir.walks import walk

# Iterations of a loop that is straight code, in which nothing has to be chosen.
_FEW = 16


def is_one(node: Any, loop: ir.For) -> bool:
    """Whether a statement is better not taken apart: a block that runs once, or such a condition. loop: the innermost
    one around it."""
    return runs_once(node) or (isinstance(node, ir.If) and _takes_turns(node, loop))


def _takes_turns(node: ir.If, loop: ir.For) -> bool:
    iterator, trips = loop_iterator(loop), iterations(loop)
    if iterator is None or (trips is not None and trips <= _FEW):
        return False
    if not any(_goes_by(one.cond, iterator) for one in walk(node) if isinstance(one, ir.If)):
        return False
    stored = _stored(node)
    return bool(stored) and _reads_no_others(node, stored)


def _goes_by(condition: Any, iterator: str) -> bool:
    """Whether a condition asks for what remains of an iterator."""
    remainders = (one for one in walk(condition) if isinstance(one, ir.BinaryOp) and one.op in ("%", "&"))
    return any(iterator in names_of(one.left) for one in remainders)


def _stored(node: Any) -> frozenset[str]:
    """The cells that each way of a statement stores, as they are spelled; none where it does anything else, or where
    ways differ."""
    match node:
        case ir.If():
            ways = _stored(node.iftrue), _stored(node.iffalse)
            return ways[0] if ways[0] == ways[1] else frozenset()
        case ir.Assignment(op="=", lvalue=ir.ArrayRef() as cell) if not effects(cell).called:
            return frozenset({CPrinter().visit(cell)})
        case ir.Compound():
            parts = [_stored(one) for one in items_of(node)]
            return frozenset().union(*parts) if all(parts) else frozenset()
    return frozenset()


def _reads_no_others(node: Any, stored: frozenset[str]) -> bool:
    """Whether all that a statement reads of the arrays it stores into are the cells that it stores: of others, it
    matters which way reads them."""
    cells = [one for one in walk(node) if isinstance(one, ir.ArrayRef)]
    inner = {id(one.name) for one in cells}
    whole = [one for one in cells if id(one) not in inner]
    arrays = {_array(one) for one in whole if CPrinter().visit(one) in stored}
    return all(CPrinter().visit(one) in stored for one in whole if _array(one) in arrays)


def _array(cell: ir.ArrayRef) -> str:
    """How what a cell is an element of is spelled, without subscripts."""
    array: Any = cell
    while isinstance(array, ir.ArrayRef):
        array = array.name
    return CPrinter().visit(array)
