"""What rewriting statements' references takes: other nodes in their place, and values that stay in an iteration."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt import ir
from scopt.ir.scop import Access, Statement
from scopt.ir.walks import changed, rewritten
from scopt.poly.isl_utils import IN, OUT


def with_references(
    statement: Statement, make: Callable[[Access, ir.Node], ir.Node | None]
) -> tuple[ir.Node, dict[ir.Node, ir.Node]]:
    """A statement's body with other references, and what has become of its nodes that aren't the same.

    make(access, reference): what stands in the place of an access's reference, in which others have been replaced; None
    leaves it. Where a reference has several accesses the first one is given.
    """
    first: dict[ir.Node, Access] = {}
    for access in statement.accesses:
        if access.node is not None:
            first.setdefault(access.node, access)
    become: dict[ir.Node, ir.Node] = {}

    def change(node: ir.Node, made: ir.Node) -> ir.Node:
        new = make(first[node], made) if node in first else None
        return made if new is None else new

    return rewritten(statement.body, change, become), become


def names_cells(reference: ir.Node) -> bool:
    """Whether a reference is a variable, or a subscripted one: no member of that, which a cell can't stand for."""
    while isinstance(reference, ir.ArrayRef):
        reference = reference.name
    return isinstance(reference, ir.ID)


def with_base(reference: ir.Node, cell: ir.Node) -> ir.Node:
    """A reference with a cell in the place of a scalar, or of the array that it subscripts."""
    return changed(reference, name=with_base(reference.name, cell)) if isinstance(reference, ir.ArrayRef) else cell


def agree(relation: isl.Map, depth: int) -> bool:
    """Whether sources and sinks have the same first iterators."""
    same = isl.Map.universe(relation.get_space())
    for k in range(depth):
        same = same.equate(IN, k, OUT, k)
    return bool(relation.is_subset(same))


def always_evaluated(root: ir.Node, leaf: ir.Node | None) -> bool:
    """Whether no condition decides if an operand is looked at: else a copy could read what doesn't exist."""
    if root is leaf:
        return True
    if isinstance(root, ir.BinaryOp) and root.op in ("&&", "||"):
        return always_evaluated(root.left, leaf)
    if isinstance(root, ir.If | ir.TernaryOp):
        return always_evaluated(root.cond, leaf)
    if not isinstance(
        root, ir.Assignment | ir.BinaryOp | ir.UnaryOp | ir.Cast | ir.FuncCall | ir.ExprList | ir.ArrayRef
    ):
        return False
    return any(always_evaluated(child, leaf) for child in root.parts)
