"""Subscripts that choose between neighbours in rows kept in one dimension: ``a[y == 0 ? c : c - n]`` with a cell `c` of
``y * n + x`` is ``a[c - (y == 0 ? 0 : 1) * n]``.

What both ways have in common stands in front of the choice, and so does the length of a row behind it: then the sum
shows rows and columns, of which the choice concerns one (clamped and periodic borders of grids). The common part is one
that either way computes, so that nothing overflows that didn't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import number
from scopt.frontend.syntax.symbols import symbol_of
from scopt.ir.truths import operands
from scopt.ir.walks import mapped, same_items, same_tree, walk


def with_chosen_distances(items: Iterable[Any], types: ExpressionTypes) -> tuple[Any, ...]:
    """A region's statements with choices of distances in subscripts."""
    items = tuple(items)
    loops = (node.init for node in walk(*items) if isinstance(node, ir.For) and isinstance(node.init, ir.DeclList))
    iterators = {decl.name: symbol_of(decl, types.scope) for init in loops for decl in init.decls}
    types = replace(types, scope={**types.scope, **iterators})
    made = tuple(_visited(item, types, False) for item in items)
    return items if same_items(made, items) else made


class _Way(Struct, frozen=True, eq=False):
    """What a choice adds to the common part: sign · product of factors, outermost first; 0 with sign 0."""

    sign: int
    factors: tuple[Any, ...] = ()


def _visited(node: Any, types: ExpressionTypes, inside: bool) -> Any:
    """inside: of a subscript."""
    subscript = node.subscript if isinstance(node, ir.ArrayRef) else None
    made = mapped(node, lambda part: _visited(part, types, inside or part is subscript))
    return _apart(made, types) if inside and isinstance(made, ir.TernaryOp) else made


def _apart(node: ir.TernaryOp, types: ExpressionTypes) -> Any:
    """A choice as a sum, if rows lie in the common part of its ways."""
    then, other = node.iftrue, node.iffalse
    for common in (*_prefixes(then), *_prefixes(other)):
        ways = _way(then, common), _way(other, common)
        if ways[0] is None or ways[1] is None or not any(_is_row(part) for part in _terms(common)):
            continue
        rests = [factor for way in ways if way is not None for factor in way.factors]
        if all(_is_signed(part, types) for part in (then, other, common, *rests)):
            return _sum(node.cond, common, ways[0], ways[1]) or node
    return node


def _sum(cond: Any, common: Any, then: _Way, other: _Way) -> Any | None:
    """The common part and the choice, which is multiplied by what both ways are, a row's length; None if that isn't
    all that varies: other distances say nothing of rows."""
    lengths = [
        [one for one in operands("*", term) if isinstance(one, ir.ID)] for term in _terms(common) if _is_row(term)
    ]
    shared: list[Any] = []
    for factor in (then if then.sign else other).factors:
        ways = [_without(way, [*shared, factor]) for way in (then, other)]
        rows = any(_all_in([*shared, factor], length) for length in lengths)
        if isinstance(factor, ir.ID) and rows and None not in ways:
            shared.append(factor)
    if not shared and not all(isinstance(one, ir.Constant) for way in (then, other) for one in way.factors):
        return None
    left = [_without(way, shared) or way for way in (then, other)]
    # Where one way is the common part alone, the choice says how often the other one is added, or taken away.
    alone = next((way for way in left if not way.sign), None)
    op = "+"
    if alone is not None:
        signs = [way.sign for way in left if way.sign]
        op = "-" if signs and signs[0] < 0 else "+"
        left = [_Way(abs(way.sign), way.factors) for way in left]
    choice: Any = ir.TernaryOp(cond, _value(left[0]), _value(left[1]), cond.coord)
    for factor in shared:
        choice = ir.BinaryOp("*", choice, factor, cond.coord)
    return ir.BinaryOp(op, common, choice, cond.coord)


def _way(node: Any, common: Any) -> _Way | None:
    """What is added to the common part; None if the node is no such sum of two."""
    if same_tree(node, common):
        return _Way(0)
    if isinstance(node, ir.BinaryOp) and node.op in ("+", "-") and same_tree(node.left, common):
        return _Way(1 if node.op == "+" else -1, tuple(operands("*", node.right)))
    return None


def _without(way: _Way, factors: Sequence[Any]) -> _Way | None:
    """The way divided by factors; None where they don't divide it."""
    rest = list(way.factors)
    for factor in factors if way.sign else ():
        found = next((k for k, one in enumerate(rest) if same_tree(one, factor)), None)
        if found is None:
            return None
        del rest[found]
    return _Way(way.sign, tuple(rest))


def _value(way: _Way) -> Any:
    if not way.sign:
        return number(0)
    product: Any = way.factors[0] if way.factors else number(1)
    for factor in way.factors[1:]:
        product = ir.BinaryOp("*", product, factor, factor.coord)
    return product if way.sign > 0 else ir.UnaryOp("-", product, product.coord)


def _all_in(factors: Sequence[Any], product: Sequence[Any]) -> bool:
    """Whether a product has all of these factors, and others besides."""
    rest = _without(_Way(1, tuple(product)), factors)
    return rest is not None and bool(rest.factors)


def _prefixes(node: Any) -> Iterator[Any]:
    """A sum, and what it adds its last part to."""
    yield node
    if isinstance(node, ir.BinaryOp) and node.op in ("+", "-"):
        yield node.left


def _terms(node: Any) -> Iterator[Any]:
    if isinstance(node, ir.BinaryOp) and node.op in ("+", "-"):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _is_row(term: Any) -> bool:
    """Whether a term is a product of several variables, as those that go from row to row of an unknown length are."""
    return sum(not isinstance(factor, ir.Constant) for factor in operands("*", term)) > 1


def _is_signed(node: Any, types: ExpressionTypes) -> bool:
    ctype = types.of(node)
    return ctype is not None and ctype.integer and ctype.signed
