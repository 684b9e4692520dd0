"""Sums of products: what subscripts of arrays of one dimension are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.poly.isl_utils import constant_pw_aff

Monomial = tuple[str, ...]
Terms = dict[Monomial, int]


class Atom(Struct, frozen=True, eq=False):
    """A factor of a subscript's products. moves: it depends on an iterator.
    node: C expression. value: on the parameter domain."""

    node: Any
    value: isl.PwAff
    moves: bool


def constant_sum(value: int) -> Terms:
    return {(): value} if value else {}


def plus(a: Terms, b: Terms) -> Terms:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def scaled(terms: Terms, factor: int) -> Terms:
    return {monomial: factor * coefficient for monomial, coefficient in terms.items()}


def times(a: Terms, b: Terms) -> Terms:
    total: Terms = {}
    for left, some in a.items():
        for right, others in b.items():
            total = plus(total, {tuple(sorted((*left, *right))): some * others})
    return total


def summed(terms: Terms, sums: Mapping[str, Terms]) -> Terms:
    """The same with atoms that stand for sums multiplied out."""
    total: Terms = {}
    for monomial, coefficient in terms.items():
        made: Terms = {(): coefficient}
        for key in monomial:
            made = times(made, sums.get(key, {(key,): 1}))
        total = plus(total, made)
    return total


def sum_value(terms: Terms, atoms: Mapping[str, Atom]) -> isl.PwAff:
    """The value of a sum whose products have one atom at most."""
    total = constant_pw_aff(0)
    for monomial, coefficient in terms.items():
        value = atoms[monomial[0]].value if monomial else constant_pw_aff(1)
        total = total.add(value.scale_val(isl.Val(coefficient)))
    return total


def sum_node(terms: Terms, atoms: Mapping[str, Atom]) -> Any:
    """A C expression of such a sum: what moves comes first, a constant last."""

    def rank(item: tuple[Monomial, int]) -> tuple[bool, bool, bool]:
        monomial, coefficient = item
        return not monomial, coefficient < 0, bool(monomial) and not atoms[monomial[0]].moves

    node: Any = None
    for monomial, coefficient in sorted(terms.items(), key=rank):
        term = product_node(abs(coefficient), [atoms[key].node for key in monomial])
        first = term if coefficient > 0 else ir.UnaryOp("-", term)
        node = first if node is None else ir.BinaryOp("+" if coefficient > 0 else "-", node, term)
    return ir.Constant("int", "0") if node is None else node


def product_node(factor: int, nodes: Sequence[Any]) -> Any:
    """A C expression of a product."""
    node: Any = None if factor == 1 and nodes else ir.Constant("int", str(factor))
    for one in nodes:
        node = one if node is None else ir.BinaryOp("*", node, one)
    return node
