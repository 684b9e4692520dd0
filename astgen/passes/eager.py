"""Both sides of ``&&`` and ``||`` evaluated, as ``&`` and ``|``, in vector loops where the right one may be evaluated
anyway.

A side that isn't evaluated is a branch. clang makes no vector loop of some, gcc loads with masks. Where the right side
computes nothing that can fail, and the cells that it looks at are there whatever the left one says, nothing tells the
two forms apart (if-conversion: Allen et al., "Conversion of control dependence to data dependence", POPL 1983).
"""

from __future__ import annotations

from math import inf

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.truths import COMPARISONS, truth
from scopt.ir.walks import rewritten, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import union_of_maps
from scopt.poly.sure_cells import is_in_its_array, is_made_always

EAGER = {"&&": "&", "||": "|"}
SUFFIX = "_eager"
# Bits of integers that an int has room for sums and products of.
_NARROW = 16
_LARGEST = 2**31 - 1


def with_eager_conditions(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops evaluate all of their conditions that they may, and the
    SCoP with these statements."""
    statements = {one.name: one for one in source.statements}
    return with_vector_statements(scop, nest, lambda name: _eager(source, statements.get(name)))


def _eager(scop: Scop, statement: Statement | None) -> Statement | None:
    if statement is None:
        return None
    body = with_both_sides(scop, statement, statement.body)
    return None if body is statement.body else replace(statement, name=statement.name + SUFFIX, body=body)


def with_both_sides(scop: Scop, statement: Statement, node: ir.Node) -> ir.Node:
    """A part of a statement's body that evaluates all of its conditions that it may, with the same references."""
    if not any(isinstance(one, ir.BinaryOp) and one.op in EAGER for one in walk(node)):
        return node
    references = {access.node for access in statement.accesses}
    sure = Sure(scop, statement)
    become: dict[ir.Node, ir.Node] = {}

    def change(one: ir.Node, made: ir.Node) -> ir.Node:
        if isinstance(one, ir.BinaryOp) and one.op in EAGER and sure.may_be_evaluated(one.right):
            return ir.BinaryOp(EAGER[one.op], truth(made.left), truth(made.right))
        return made

    made = rewritten(node, change, become)
    return made if references.isdisjoint(become) else node


class Sure(Struct, frozen=True, eq=False):
    """What a statement of a SCoP may evaluate, whatever its conditions say."""

    scop: Scop
    statement: Statement

    def may_be_evaluated(self, node: ir.Node) -> bool:
        """Whether an expression does nothing but look at cells that are there, and compute what can't fail."""
        own = [access for access in self.statement.accesses if access.node is node]
        if own:
            return all(access.kind == "read" and self.is_there(access) for access in own)
        match node:
            case ir.Constant():
                return True
            case ir.ID(name=name):
                return name in self.statement.iterators
            case ir.UnaryOp(op="!", expr=inner):
                return self.may_be_evaluated(inner)
            case ir.UnaryOp(op="-", expr=inner):
                return self.fits(node) and self.may_be_evaluated(inner)
            case ir.BinaryOp(op=op, left=left, right=right):
                safe = op in (*COMPARISONS, "&&", "||", "&", "|") or (op in ("+", "-", "*") and self.fits(node))
                return safe and self.may_be_evaluated(left) and self.may_be_evaluated(right)
        return False

    def fits(self, node: ir.Node) -> bool:
        """Whether a sum, or a product, doesn't overflow: one of floating-point numbers, or of narrow integers."""
        return self.is_floating(node) or self.largest(node) <= _LARGEST

    def is_floating(self, node: ir.Node) -> bool:
        kind = self.kind(node)
        if kind is not None:
            return kind.floating
        match node:
            case ir.Constant(type=spelling):
                return spelling in ("float", "double", "long double")
            case ir.UnaryOp(op="-", expr=inner):
                return self.is_floating(inner)
            case ir.BinaryOp(op="+" | "-" | "*", left=left, right=right):
                return self.is_floating(left) or self.is_floating(right)
        return False

    def largest(self, node: ir.Node) -> float:
        """What an integer, or a value that it is computed of, is at most, whatever its sign."""
        kind = self.kind(node)
        if kind is not None:
            return float(1 << (kind.bits - kind.signed)) if kind.integer and 0 < kind.bits <= _NARROW else inf
        match node:
            case ir.Constant(type="int", value=value) if value.isdecimal():
                return float(value)
            case ir.UnaryOp(op="-", expr=inner):
                return self.largest(inner)
            case ir.UnaryOp(op="!") | ir.BinaryOp(op="&&" | "||"):
                return 1
            case ir.BinaryOp(op=op) if op in COMPARISONS:
                return 1
            case ir.BinaryOp(op="+" | "-", left=left, right=right):
                return self.largest(left) + self.largest(right)
            case ir.BinaryOp(op="*", left=left, right=right):
                return max(self.largest(left), 1) * max(self.largest(right), 1)
        return inf

    def kind(self, node: ir.Node) -> CType | None:
        """The type of a reference."""
        return next((self.scop.arrays[one.array].type for one in self.statement.accesses if one.node is node), None)

    def is_there(self, access: Access) -> bool:
        """Whether the cells that a reference looks at exist: C says how large their array is, or the region refers to
        them where no condition decides about it."""
        array = self.scop.arrays[access.array]
        if not array.rank:
            return True
        if not is_made_always(self.statement, access):
            return False
        if not access.relation.is_single_valued():
            return self.is_in_a_table(access)
        if is_in_its_array(self.scop, self.statement, access):
            return True
        cells = isl.UnionSet.from_set(access.relation.intersect_params(self.scop.context).range())
        surely = union_of_maps(
            other.relation
            for statement in self.scop.statements
            for other in statement.accesses
            if other.array == access.array
            and other.kind in ("read", "write")
            and other.relation.is_single_valued()
            and always_evaluated(statement.body, other.node)
        )
        return bool(cells.is_subset(surely.range()))

    def is_in_a_table(self, access: Access) -> bool:
        """Whether a cell that data name exists whatever they are: a cell's type says how many there may be. Other
        bounds may hold where the reference is made alone, `x < 0 || table[x]`."""
        array, node = self.scop.arrays[access.array], access.node
        if not isinstance(node, ir.ArrayRef) or array.pointer or array.rank != 1 or array.sizes[0] is None:
            return False
        kind = self.kind(node.subscript)
        if kind is None or not kind.integer or kind.signed or not 0 < kind.bits <= _NARROW:
            return False
        return array.sizes[0] >= 1 << kind.bits and self.may_be_evaluated(node.subscript)
