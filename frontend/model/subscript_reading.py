"""Subscripts read as sums of products of affine expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.affine import INT, NotAffine, Scope, Value, affine, constant_of
from scopt.frontend.model.product_sums import (
    Atom,
    Terms,
    constant_sum,
    plus,
    scaled,
    sum_node,
    sum_value,
    summed,
    times,
)
from scopt.ir.divisible_sums import always_divides
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import used_names
from scopt.poly.isl_utils import constant_pw_aff, param_pw_aff, universe_params

# Sums of products are divided by no more than this; the value that such a quotient has as an affine function.
_MOST_DIVISOR = 16
_NO_VALUE = isl.PwAff("{ [(NaN)] }")


class Subscript(Struct, frozen=True, eq=False):
    """A subscript as a sum of products of atoms.

    unsigned: bits of the unsigned type that it is computed in, modulo a power of two; 0 for a signed type, whose
      overflow is undefined.
    domain: parameter set of the iterators' and parameters' values there. iterators: names of those that move.
    sums: atoms that stand for sums of parameters, with these.
    quotients: atoms that stand for a sum of products that a number always divides, with both; no affine functions.
    exact: parameter set, where the quotients' operands don't wrap around.
    """

    terms: Terms
    atoms: Mapping[str, Atom]
    unsigned: int
    domain: isl.Set
    iterators: tuple[str, ...]
    sums: Mapping[str, Terms] = {}
    quotients: Mapping[str, tuple[Terms, int]] = {}
    exact: isl.Set = field(default_factory=universe_params)


def read_subscript(node: Any, scope: Scope, iterators: Iterable[str]) -> Subscript:
    """Raises NotAffine for what is no sum of products of affine expressions,
    or may wrap around in other ways than as a whole."""
    reader = _Reader(scope, frozenset(iterators))
    terms, ctype = reader.read(node)
    if reader.opaque and reader.unsigned:
        raise NotAffine("nonlinear", "an unsigned product with such operands is not affine", node)
    return Subscript(
        terms,
        reader.atoms,
        0 if ctype.signed else ctype.bits,
        scope.domain.intersect(scope.ranges()),
        tuple(sorted(iterators)),
        reader.sums,
        reader.quotients,
        reader.exact,
    )


class _Reader(Struct):
    scope: Scope
    iterators: frozenset[str]
    atoms: dict[str, Atom] = field(default_factory=dict)
    sums: dict[str, Terms] = field(default_factory=dict)
    quotients: dict[str, tuple[Terms, int]] = field(default_factory=dict)
    exact: isl.Set = field(default_factory=universe_params)
    opaque: bool = False
    unsigned: bool = False

    def read(self, node: Any) -> tuple[Terms, CType]:
        terms, ctype = self.any(node)
        self.unsigned = self.unsigned or not ctype.signed
        return terms, ctype

    def any(self, node: Any) -> tuple[Terms, CType]:
        match node:
            case ir.ID():
                return self.name(node)
            case ir.Constant():
                return self.other(node)
            case ir.UnaryOp(op="-" | "+" as op, expr=operand):
                terms, ctype = self.promoted(operand)
                return (scaled(terms, -1) if op == "-" else terms), ctype
            case ir.BinaryOp(op="+" | "-" | "*"):
                return self.operation(node)
            case ir.Cast():
                return self.cast(node)
            case ir.BinaryOp(op="/" | ">>", left=ir.BinaryOp() | ir.Cast()):
                return self.quotient(node)
        return self.other(node)

    def name(self, node: ir.ID) -> tuple[Terms, CType]:
        found = self.scope.lookup(node.name, node)
        if isinstance(found, Value):
            return self.other(node)
        self.atoms[node.name] = Atom(node, param_pw_aff(node.name), node.name in self.iterators)
        return {(node.name,): 1}, found

    def promoted(self, node: Any) -> tuple[Terms, CType]:
        terms, ctype = self.read(node)
        return terms, INT if ctype.bits < INT.bits else ctype

    def operation(self, node: ir.BinaryOp) -> tuple[Terms, CType]:
        (left, left_type), (right, right_type) = self.promoted(node.left), self.promoted(node.right)
        common = _common(left_type, right_type)
        for operand, ctype in ((node.left, left_type), (node.right, right_type)):
            if not ctype.signed and ctype.bits < common.bits:
                affine(operand, self.scope)  # it is widened, and must not have wrapped around before
        if node.op == "*":
            if not self.is_constant(left) and not self.is_constant(right):
                left, right = self.factor(node.left, left, common), self.factor(node.right, right, common)
            return times(left, right), common
        return plus(left, right if node.op == "+" else scaled(right, -1)), common

    def is_constant(self, terms: Terms) -> bool:
        return all(not monomial for monomial in terms)

    def factor(self, node: Any, terms: Terms, ctype: CType) -> Terms:
        """A sum of parameters that is a factor counts as one:
        the rows of ``a[i * (n + 2) + j]`` are as long as the sum says."""
        if (
            len(terms) < 2
            or any(self.atoms[key].moves for monomial in terms for key in monomial)
            or any(len(m) > 1 for m in terms)
        ):
            return terms
        key = " + ".join(f"{terms[m]} {'*'.join(m)}" for m in sorted(terms))
        whole = self.iterators.isdisjoint(used_names(node))  # else they cancel each other out
        self.atoms[key] = Atom(node if whole else sum_node(terms, self.atoms), sum_value(terms, self.atoms), False)
        self.sums[key] = terms
        return {(key,): 1}

    def cast(self, node: ir.Cast) -> tuple[Terms, CType]:
        target = self.scope.cast_type(node.to_type)
        terms, ctype = self.read(node.expr)
        if target is None or not target.integer or target.bits < INT.bits:
            return self.other(node)
        if target.bits > ctype.bits and ctype.signed and target.signed:
            return terms, target
        if target.bits == ctype.bits and target.signed == ctype.signed:
            return terms, target
        if ctype.signed and not target.signed and target.bits >= ctype.bits:
            return terms, target  # the same modulo a power of two
        affine(node, self.scope)
        return terms, target

    def quotient(self, node: ir.BinaryOp) -> tuple[Terms, CType]:
        """A half of a product such as ``i * (i + 1)``."""
        try:
            return self.other(node)
        except NotAffine:
            amount = constant_of(affine(node.right, self.scope).aff)
            dividend, ctype = self.promoted(node.left)
            if amount is None or not 0 < amount < _MOST_DIVISOR:
                raise
            divisor = amount if node.op == "/" else 1 << amount
            inner = {key for monomial in dividend for key in monomial}
            whole = summed(dividend, self.sums)
            if inner & self.quotients.keys() or not always_divides(divisor, whole):
                raise
        if not ctype.signed:
            self.exact = self.exact.intersect(self.without_wrapping(node.left, ctype))
        key = str(CPrinter().visit(node))
        self.quotients[key] = whole, divisor
        self.atoms[key] = Atom(node, _NO_VALUE, any(self.atoms[one].moves for one in inner))
        return {(key,): 1}, ctype

    def without_wrapping(self, node: Any, ctype: CType) -> isl.Set:
        """Where a product of unsigned factors has its mathematical value: none of them is too large. Raises NotAffine
        for anything else."""
        wraps: list[isl.Set] = []

        def note(violation: isl.Set) -> bool:
            wraps.append(violation)
            return True

        match node:
            case ir.BinaryOp(op="*", left=left, right=right):
                most = constant_pw_aff(1 << (ctype.bits // 2))
                scope = replace(self.scope, assume=note)
                values = [affine(operand, scope).aff for operand in (left, right)]
                small = reduce(isl.Set.intersect, (value.lt_set(most) for value in values))
                return reduce(isl.Set.subtract, wraps, small)
        raise NotAffine("nonlinear", "an unsigned quotient of such operands is not affine", node)

    def other(self, node: Any) -> tuple[Terms, CType]:
        """An affine expression of another kind, such as a quotient."""
        found = affine(node, self.scope)
        constant = constant_of(found.aff)
        if constant is not None:  # such as a macro's `(512 / 4)`
            return constant_sum(constant), found.type
        self.opaque = True
        key = str(CPrinter().visit(node))
        names = [found.aff.get_dim_name(isl.dim_type.param, k) for k in range(found.aff.dim(isl.dim_type.param))]
        self.atoms[key] = Atom(node, found.aff, any(name in self.iterators for name in names))
        return {(key,): 1}, found.type


def _common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions of two promoted integer types."""
    if left.signed == right.signed:
        return left if left.bits >= right.bits else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    return unsigned if unsigned.bits >= signed.bits else signed
