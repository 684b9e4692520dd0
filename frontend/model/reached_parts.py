"""Where a part of an expression may be evaluated: behind ``&&``, ``||`` and ``?:``, or in a branch."""

from __future__ import annotations

from typing import Any

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.affine import NotAffine, Scope, condition
from scopt.poly.isl_utils import universe_params


def may_hold(node: Any, scope: Scope) -> isl.Set:
    """A parameter set outside of which a condition is false; the more of it is affine, the smaller.
    Nothing is taken for granted for that."""
    return _outcome(node, replace(scope, assume=lambda violation: False), wanted=True)


def may_fail(node: Any, scope: Scope) -> isl.Set:
    """The same of a condition's being true."""
    return _outcome(node, replace(scope, assume=lambda violation: False), wanted=False)


def _outcome(node: Any, scope: Scope, *, wanted: bool) -> isl.Set:
    match node:
        case ir.UnaryOp(op="!"):
            return _outcome(node.expr, scope, wanted=not wanted)
        case ir.BinaryOp(op="&&" | "||" as op):
            # the right side is evaluated where the left one leaves it open
            left = _outcome(node.left, scope, wanted=wanted)
            reached = scope.within(_outcome(node.left, scope, wanted=op == "&&"))
            right = _outcome(node.right, reached, wanted=wanted).intersect(reached.domain)
            return left.intersect(right) if wanted == (op == "&&") else left.union(right)
    try:
        holds = condition(node, scope)
    except NotAffine:
        return universe_params()
    return holds if wanted else holds.complement()
