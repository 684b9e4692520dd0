"""How references move whose subscripts add what memory says: ``in[y + dy[k]][x + dx[k]]`` goes from cell to cell along
x, wherever it begins. Scalars that each iteration sets before (``u = x + dx[k]; in[v][u]``) move as what they
are set to.

Only for estimates: no dependence follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.linear import Vector, whole

_NOTHING = whole(0)


def data_moves(scop: Scop, statement: Statement, access: Access, direction: Vector) -> Vector | None:
    """By how much each subscript grows when the statement's iterators move by a direction, if that is the same
    wherever data say that it begins; else None."""
    subscripts: list[ir.Node] = []
    node: ir.Node | None = access.node
    while isinstance(node, ir.ArrayRef):
        subscripts.append(node.subscript)
        node = node.name
    if not isinstance(node, ir.ID) or not subscripts or len(subscripts) != scop.arrays[access.array].rank:
        return None
    steps = dict(zip(statement.iterators, direction, strict=True))
    found = [_growth(scop, statement, one, steps, frozenset()) for one in reversed(subscripts)]
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


def _growth(
    scop: Scop, statement: Statement, node: ir.Node, steps: Mapping[str, Fraction], seen: frozenset[str]
) -> Fraction | None:
    """By how much an expression grows; None if nobody knows. seen: scalars that it is a part of the value of."""
    match node:
        case ir.Constant():
            return _NOTHING
        case ir.ID(name=name) if name in steps:
            return steps[name]
        case ir.ID():
            return _of_scalar(scop, statement, node, steps, seen)
        case ir.Cast(expr=inner):
            return _growth(scop, statement, inner, steps, seen)
        case ir.UnaryOp(op="-" | "+" as sign, expr=inner):
            own = _growth(scop, statement, inner, steps, seen)
            return None if own is None else -own if sign == "-" else own
    if isinstance(node, ir.ArrayRef) and any(
        a.node is node and _changes(scop, statement, a, steps) for a in statement.accesses
    ):
        return None
    parts = [_growth(scop, statement, part, steps, seen) for part in _operands(node)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    match node:
        case ir.BinaryOp(op="+"):
            return known[0] + known[1]
        case ir.BinaryOp(op="-"):
            return known[0] - known[1]
        case ir.BinaryOp(op="*", left=ir.Constant() as factor) if factor.value.isdecimal():
            return int(factor.value) * known[1]
        case ir.BinaryOp(op="*", right=ir.Constant() as factor) if factor.value.isdecimal():
            return int(factor.value) * known[0]
    return None if any(known) else _NOTHING


def _changes(scop: Scop, statement: Statement, access: Access, steps: Mapping[str, Fraction]) -> bool:
    """Whether what a reference reads may change on the way: what is written in front of the loops that are moved along
    stays."""
    moved = next((k for k, name in enumerate(statement.iterators) if steps.get(name)), len(statement.iterators))
    within = statement.iterators[: moved + 1]
    return any(one.iterators[: moved + 1] == within for one in _writers(scop).get(access.array, ()))


def _operands(node: ir.Node) -> list[ir.Node]:
    """Of a reference to an array, its subscripts."""
    if not isinstance(node, ir.ArrayRef):
        return list(node.parts)
    inner = [] if isinstance(node.name, ir.ID) else _operands(node.name)
    return [*inner, node.subscript]


def _of_scalar(
    scop: Scop, statement: Statement, node: ir.ID, steps: Mapping[str, Fraction], seen: frozenset[str]
) -> Fraction | None:
    """Of a scalar: nothing if the region doesn't write it; else of what its only assignment, in the same loops, gives
    it."""
    own = [access.array for access in statement.accesses if access.node is node]
    writers = _writers(scop).get(own[0], ()) if own else ()
    if not writers:
        return _NOTHING
    one, body = writers[0], writers[0].body
    if len(writers) > 1 or own[0] in seen or not isinstance(body, ir.Assignment) or body.op != "=":
        return None
    if statement.iterators[: len(one.iterators)] != one.iterators:
        return None
    return _growth(scop, one, body.rvalue, steps, seen | {own[0]})


@lru_cache(maxsize=4)
def _writers(scop: Scop) -> Mapping[str, tuple[Statement, ...]]:
    """By array, the statements that write it."""
    found: dict[str, tuple[Statement, ...]] = {}
    for statement in scop.statements:
        for name in dict.fromkeys(access.array for access in statement.accesses if access.is_write):
            found[name] = (*found.get(name, ()), statement)
    return found
