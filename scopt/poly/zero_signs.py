"""Which floating-point values are never the zero with a sign.

Of two zeros none is the greater one, so that the order of comparisons decides which of them an extremum is; of all
other numbers that are as good as each other, there is one. Rounding is to nearest, as C has it if nobody asks for
another mode, and small results stay what they are: then a sum is the zero with a sign only where both operands are, and
a difference where its left one is. Products may be so small that nothing but their sign is left, and so may what they
are added to, where compilers make one operation of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.first_best import value_bits
from scopt.poly.isl_utils import IN
from scopt.poly.source_loops import source_loops, source_order

# Functions whose values are at least 0, whatever they are given.
_NOT_NEGATIVE = frozenset(("fabs", "exp", "exp2", "cosh", "hypot"))
_FUNCTIONS = ("fmax", "fmin")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Sign(IntEnum):
    """What is known of a value. UNSIGNED_ZERO: it is no zero with a sign. NOT_NEGATIVE: nor less than 0; it may be no
    number."""

    ANY = 0
    UNSIGNED_ZERO = 1
    NOT_NEGATIVE = 2


def never_minus_zero(scop: Scop, statement: Statement, value: ir.Node) -> bool:
    """Whether the value of a part of a statement is never the zero with a sign."""
    return _Signs(scop, {}).of(statement, value) >= Sign.UNSIGNED_ZERO


class _Signs(Struct, frozen=True, eq=False):
    """assumed: of variables that are being looked at: it holds of what they are given if it did of what they were given
    before."""

    scop: Scop
    assumed: Mapping[str, Sign]

    def of(self, statement: Statement, node: ir.Node) -> Sign:
        own = [one for one in statement.accesses if one.node is node]
        if own:
            return self.of_cell(statement, own[0])
        if value_bits(self.scop, statement, node) == 0:
            return Sign.NOT_NEGATIVE if isinstance(node, ir.Constant) else Sign.UNSIGNED_ZERO
        match node:
            case ir.Constant():
                return Sign.NOT_NEGATIVE
            case ir.UnaryOp(op="-", expr=ir.Constant(value=text)) if _is_no_zero(text):
                return Sign.UNSIGNED_ZERO
            case ir.UnaryOp(op="+", expr=inner):
                return self.of(statement, inner)
            case ir.Cast(expr=inner):
                return self.converted(statement, inner, value_bits(self.scop, statement, node))
            case ir.BinaryOp(op="+" | "-" | "*" | "/" as op, left=left, right=right):
                return self.of_operation(statement, op, left, right)
            case ir.TernaryOp():
                return self.of_choice(statement, node)
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=arguments)) if is_library(self.scop, name):
                return self.of_call(statement, name.removesuffix("f"), arguments)
        return Sign.ANY

    def of_cell(self, statement: Statement, access: Access) -> Sign:
        array = self.scop.arrays[access.array]
        if array.type.integer:
            return Sign.UNSIGNED_ZERO if array.type.signed else Sign.NOT_NEGATIVE
        last = None if array.within or array.type.volatile else _last_write(self.scop, statement, access)
        if last is not None:
            return self.given(*last)
        plain = array.private and not (array.rank or array.within or array.pointer)
        return self.of_variable(array) if plain else Sign.ANY

    def of_variable(self, array: Array) -> Sign:
        """Of a variable that has no value but those that the SCoP's statements give it."""
        if array.name in self.assumed:
            return self.assumed[array.name]
        assumed = Sign.NOT_NEGATIVE
        while assumed > Sign.ANY:
            inner = replace(self, assumed={**self.assumed, array.name: assumed})
            given = [inner.given(one, write) for one, write in _writes(self.scop, array)]
            found = min(given, default=Sign.ANY)
            if found >= assumed:
                break
            assumed = found
        return assumed

    def given(self, statement: Statement, write: Access) -> Sign:
        """Of what a statement assigns."""
        value = _assigned(statement, write)
        bits = self.scop.arrays[write.array].type.bits
        return Sign.ANY if value is None else self.converted(statement, value, bits)

    def converted(self, statement: Statement, value: ir.Node, bits: int | None) -> Sign:
        """Of a value that is converted to a floating-point type: of what is too small for it, the sign is left."""
        found, own = self.of(statement, value), value_bits(self.scop, statement, value)
        if own is None or not bits:
            return Sign.ANY
        return found if own <= bits or found == Sign.NOT_NEGATIVE else Sign.ANY

    def of_operation(self, statement: Statement, op: str, left: ir.Node, right: ir.Node) -> Sign:
        first, second = self.of(statement, left), self.of(statement, right)
        both = min(first, second)
        if op == "*" and same_tree(left, right) and not any(isinstance(one, ir.FuncCall) for one in walk(left)):
            return Sign.NOT_NEGATIVE
        if op != "-" and both == Sign.NOT_NEGATIVE:
            return Sign.NOT_NEGATIVE
        if op in ("*", "/") or self.is_product(statement, left) or self.is_product(statement, right):
            return Sign.ANY
        return Sign.UNSIGNED_ZERO if first or (op == "+" and second) else Sign.ANY

    def is_product(self, statement: Statement, node: ir.Node, seen: frozenset[str] = frozenset()) -> bool:
        """Whether compilers may make one operation of a product and what is done with it. seen: variables that are
        looked at."""
        match node:
            case ir.BinaryOp(op="*"):
                return True
            case ir.UnaryOp(expr=inner) | ir.Cast(expr=inner):
                return self.is_product(statement, inner, seen)
            case ir.TernaryOp(iftrue=then, iffalse=other):
                return any(self.is_product(statement, one, seen) for one in (then, other))
        arrays = [self.scop.arrays[one.array] for one in statement.accesses if one.node is node]
        plain = [one for one in arrays if one.private and not one.rank and one.name not in seen]
        return any(
            value is None or self.is_product(other, value, seen | {array.name})
            for array in plain
            for other, write in _writes(self.scop, array)
            for value in (_assigned(other, write),)
        )

    def of_choice(self, statement: Statement, node: ir.TernaryOp) -> Sign:
        """Of a choice; ``x < 0 ? -x : x`` is at least 0, and no zero with a sign if x isn't."""
        found = []
        for branch, holds in ((node.iftrue, True), (node.iffalse, False)):
            positive = _is_positive(node.cond, branch, holds=holds)
            found.append(Sign.NOT_NEGATIVE if positive else self.of(statement, branch))
            if found[-1] == Sign.UNSIGNED_ZERO and _is_positive(node.cond, branch, holds=holds, zero=True):
                found[-1] = Sign.NOT_NEGATIVE
        return min(found)

    def of_call(self, statement: Statement, name: str, arguments: list[ir.Node]) -> Sign:
        if name in _NOT_NEGATIVE:
            return Sign.NOT_NEGATIVE
        given = min((self.of(statement, one) for one in arguments), default=Sign.ANY)
        if name == "sqrt":  # of what is less than 0, no number
            return Sign.NOT_NEGATIVE if given else Sign.ANY
        return given if name in _FUNCTIONS else Sign.ANY


def is_library(scop: Scop, name: str) -> bool:
    """Whether a function is that of C's library."""
    return name in scop.library.get(name, ())


def _writes(scop: Scop, array: Array) -> Iterator[tuple[Statement, Access]]:
    for one in scop.statements:
        for access in one.accesses:
            if access.array == array.name and access.is_write:
                yield one, access


def _last_write(scop: Scop, statement: Statement, read: Access) -> tuple[Statement, Access] | None:
    """The statement in front of another one, in the same iteration of the same loops, that gives a cell the value
    that the other one reads there; None if that isn't known."""
    order, loops = source_order(scop), source_loops(scop)
    before = order[: order.index(statement.name)] if statement.name in order else ()
    found = [(one, write) for one, write in _writes(scop, scop.arrays[read.array]) if one.name in before]
    if not found:
        return None
    last, write = max(found, key=lambda own: before.index(own[0].name))
    plain = write.kind == "write" and isinstance(last.body, ir.Assignment) and last.body.lvalue is write.node
    if not plain or loops[last.name] != loops[statement.name] or len(last.iterators) != len(statement.iterators):
        return None
    there, here = (one.relation.reset_tuple_id(IN) for one in (write, read))
    return (last, write) if there.is_single_valued() and here.is_subset(there) else None


def _assigned(statement: Statement, write: Access) -> ir.Node | None:
    """What a statement assigns by a reference; None if that isn't known."""
    for node in walk(statement.body):
        match node:
            case ir.Assignment(op=op, lvalue=target, rvalue=ir.Node() as value) if target is write.node:
                if op == "=":
                    return value
                return ir.BinaryOp(op[:-1], target, value) if op in ("+=", "-=", "*=", "/=") else None
    return None


def _is_no_zero(text: str) -> bool:
    """Whether a constant is something else than 0, whatever its type, as it is written in decimal digits."""
    try:
        return float(text.rstrip("fFlLuU")) >= 1e-30
    except ValueError:
        return False


def _is_positive(condition: ir.Node | None, branch: ir.Node, *, holds: bool, zero: bool = False) -> bool:
    """Whether a branch, where a condition holds or doesn't, is more than 0, or no number. zero: or may be 0."""
    match condition:
        case ir.BinaryOp(op=op, left=left, right=ir.Constant() as other) if op in _TURNED:
            pass
        case ir.BinaryOp(op=turned, left=ir.Constant() as other, right=left) if turned in _TURNED:
            op = _TURNED[turned]
        case _:
            return False
    if not _is_zero(other):
        return False
    negated = isinstance(branch, ir.UnaryOp) and branch.op == "-"
    side = branch.expr if negated else branch
    if not same_tree(side, left) or any(isinstance(one, ir.FuncCall) for one in walk(left)):
        return False
    known = op if holds else {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}[op]
    return known == ("<" if negated else ">") or (zero and known == ("<=" if negated else ">="))


def _is_zero(node: ir.Constant) -> bool:
    try:
        return float(node.value.rstrip("fFlLuU")) == 0
    except ValueError:
        return False
