"""One value among several constants, as a sum of comparisons: ``(x == 3) + (x == 7) + (x == 12) != 0``.

Of ``x == 3 || x == 7``, and of ``(x == 3) | (x == 7)`` likewise, gcc makes a bit of a mask, ``4232 >> x & 1``, and
clang a switch; neither is anything for vectors (measured for vowels in a text: 0.03 of the time by either). What is
added they leave alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce

from scopt import ir
from scopt.ir.truths import is_truth, sum_of_equalities, truth
from scopt.ir.walks import same_tree

# What joins comparisons, the comparisons, and what a sum of those that hold is compared with 0 for.
_FORMS = {"|": ("==", "!="), "&": ("!=", "==")}
_ZERO = ir.Constant("int", "0")


def joined(op: str, left: ir.Node, right: ir.Node, constants: Collection[str]) -> ir.Node | None:
    """Conditions joined by ``|`` or ``&``, with sums of those that compare one value with constants; None where there
    are no two of these. constants: names of such."""
    leaves = [*_leaves(op, left), *_leaves(op, right)]
    groups = list[list[ir.Node]]()
    for leaf in leaves:
        known = _is_comparison(op, leaf, constants)
        others = (one for one in groups if known and _is_comparison(op, one[0], constants))
        group = next((one for one in others if same_tree(one[0].left, leaf.left)), None)
        if group is None:
            groups.append([leaf])
        else:
            group.append(leaf)
    if len(groups) == len(leaves):
        return None
    parts = [truth(one[0]) if len(one) == 1 else _sum(op, one) for one in groups]
    return reduce(lambda one, other: ir.BinaryOp(op, one, other), parts)


def compared(node: ir.Node) -> int:
    """How many comparisons a sum has that is compared with 0; 0 if it is none."""
    found = sum_of_equalities(node)
    return 0 if found is None else len(found[1])


def _leaves(op: str, node: ir.Node) -> Iterator[ir.Node]:
    """What is joined, sums of comparisons taken apart."""
    comparison, beside = _FORMS[op]
    match node:
        case ir.BinaryOp(op=other, left=left, right=right) if other == op and is_truth(left) and is_truth(right):
            yield from _leaves(op, left)
            yield from _leaves(op, right)
            return
    found = sum_of_equalities(node)
    if found is not None and found[0] == beside:
        yield from (ir.BinaryOp(comparison, one.left, one.right, one.coord) for one in found[1])
    else:
        yield node


def _is_comparison(op: str, node: ir.Node, constants: Collection[str]) -> bool:
    match node:
        case ir.BinaryOp(op=other, right=ir.Constant() | ir.UnaryOp(op="-", expr=ir.Constant())):
            return bool(other == _FORMS[op][0])
        case ir.BinaryOp(op=other, right=ir.ID(name=name)):
            return bool(other == _FORMS[op][0]) and name in constants
    return False


def _sum(op: str, comparisons: Sequence[ir.Node]) -> ir.Node:
    terms = [ir.BinaryOp("==", one.left, one.right, one.coord) for one in comparisons]
    return ir.BinaryOp(_FORMS[op][1], reduce(lambda one, other: ir.BinaryOp("+", one, other), terms), _ZERO)
