"""Both sides of ``&&`` and ``||`` evaluated, as ``&`` and ``|``, in vector loops where the right one may be evaluated
anyway.

A side that isn't evaluated is a branch. clang makes no vector loop of some, gcc loads with masks. Where the right side
computes nothing that can fail, and the cells that it looks at are there whatever the left one says, nothing tells the
two forms apart (if-conversion: Allen et al., "Conversion of control dependence to data dependence", POPL 1983).
Comparisons of one value with several constants are added up then (`scopt.astgen.passes.equalities`).
"""

from __future__ import annotations

from math import inf

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.divided_ints import is_quotient
from scopt.astgen.passes.equalities import compared, joined
from scopt.astgen.passes.inner_conditions import in_one_condition
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.truths import COMPARISONS, is_truth, truth
from scopt.ir.walks import rewritten, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import union_of_maps
from scopt.poly.sure_cells import is_in_its_array, is_made_always, is_touched_each_way
from scopt.poly.value_limits import values

EAGER = {"&&": "&", "||": "|"}
SUFFIX = "_eager"
# Bits of integers that an int has room for sums and products of.
_NARROW = 16
_LARGEST = 2**31 - 1
# Constants that clang makes a switch of.
_ONE_OF = 3


def with_eager_conditions(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops evaluate all of their conditions that they may, and the
    SCoP with these statements."""
    statements = {one.name: one for one in source.statements}
    return with_vector_statements(scop, nest, lambda name: _eager(source, statements.get(name)))


def has_sums_of_comparisons(scop: Scop, nest: LoopNest) -> bool:
    """Whether vector loops ask whether a value is one of several constants, which no compiler makes vectors of as it
    stands in the source: of three, or of some in a condition that has another one inside."""
    loops = (item for item in items(nest.body) if isinstance(item, For) and item.mark.simd)
    names = {call.statement for loop in loops for call in calls(loop.body)}
    for one in scop.statements:
        asked = sum(isinstance(node, ir.BinaryOp) and node.op in ("==", "!=") for node in walk(one.body))
        made = _eager(scop, one) if one.name in names and asked > 1 else None
        terms = 0 if made is None else max(map(compared, walk(made.body)))
        if terms >= _ONE_OF or (terms and made is not None and in_one_condition(scop, one, one.body) is not None):
            return True
    return False


def _eager(scop: Scop, statement: Statement | None) -> Statement | None:
    if statement is None:
        return None
    body = _both_conditions(scop, statement) or with_both_sides(scop, statement, statement.body)
    return None if body is statement.body else replace(statement, name=statement.name + SUFFIX, body=body)


def _both_conditions(scop: Scop, statement: Statement) -> ir.Node | None:
    """The body as one with a single condition; None where that would have a branch of its own."""
    merged = in_one_condition(scop, statement, statement.body)
    made = None if merged is None else with_both_sides(scop, statement, merged)
    if made is None or any(isinstance(one, ir.BinaryOp) and one.op in EAGER for one in walk(made.cond)):
        return None
    return made


def with_both_sides(scop: Scop, statement: Statement, node: ir.Node) -> ir.Node:
    """A part of a statement's body that evaluates all of its conditions that it may, with the same references."""
    if not any(isinstance(one, ir.BinaryOp) and one.op in (*EAGER, "|", "&") for one in walk(node)):
        return node
    references = {access.node for access in statement.accesses}
    sure = Sure(scop, statement)
    become: dict[ir.Node, ir.Node] = {}

    def change(one: ir.Node, made: ir.Node) -> ir.Node:
        if not isinstance(one, ir.BinaryOp):
            return made
        if one.op in EAGER and sure.may_be_evaluated(one.right):
            both = truth(made.left), truth(made.right)
            return joined(EAGER[one.op], *both, scop.constants) or ir.BinaryOp(EAGER[one.op], *both)
        if one.op in ("|", "&") and is_truth(made.left) and is_truth(made.right):
            return joined(one.op, made.left, made.right, scop.constants) or made
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
                return name in self.statement.iterators or self.is_steady(name)
            case ir.UnaryOp(op="!", expr=inner):
                return self.may_be_evaluated(inner)
            case ir.UnaryOp(op="-", expr=inner):
                return self.fits(node) and self.may_be_evaluated(inner)
            case ir.BinaryOp(op=op, left=left, right=right):
                safe = op in (*COMPARISONS, "&&", "||", "&", "|", "^") or (op in ("+", "-", "*") and self.fits(node))
                return safe and self.may_be_evaluated(left) and self.may_be_evaluated(right)
        return False

    def is_steady(self, name: str) -> bool:
        """Whether a name that is no reference is that of a constant, or of a variable that the region never writes."""
        parameters = {one.spelling for one in self.scop.parameters}
        return name in self.scop.constants or (name.isidentifier() and name in parameters)

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
            if kind.integer and 0 < kind.bits <= _NARROW:
                return float(1 << (kind.bits - kind.signed))
            found = values(self.scop, self.statement, node) if kind.integer else None
            return inf if found is None else max(map(abs, found))
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
            case ir.BinaryOp(op="/" | "%", left=one):
                return self.largest(one)
            case ir.FuncCall(args=ir.ExprList(exprs=[one, _])) if is_quotient(self.scop, node):
                return self.largest(one)
            case ir.BinaryOp(op="*", left=left, right=right):
                return max(self.largest(left), 1) * max(self.largest(right), 1)
        return inf

    def kind(self, node: ir.Node) -> CType | None:
        """The type of a reference."""
        return next((self.scop.arrays[one.array].type for one in self.statement.accesses if one.node is node), None)

    def is_there(self, access: Access) -> bool:
        """Whether the cells that a reference looks at exist: C says how large their array is, the statement refers to
        them whatever its conditions say, or the region does where none decides about it."""
        array = self.scop.arrays[access.array]
        if not array.rank:
            return True
        if not is_made_always(self.statement, access):
            return False
        if not access.relation.is_single_valued():
            return self.is_in_a_table(access)
        if is_in_its_array(self.scop, self.statement, access) or is_touched_each_way(self.statement, access):
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
