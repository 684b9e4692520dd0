"""Conditions of which a part is affine, and checks after which a program ends: a region takes for granted to pass those
whose conditions are affine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import islpy as isl

from scopt import ir
from scopt.frontend.model.affine import NotAffine, Scope, condition
from scopt.frontend.normalize.failing_checks import never_returns
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.effects import effects
from scopt.ir.truths import conjunction, conjuncts
from scopt.ir.walks import changed
from scopt.poly.isl_utils import project_out_params, universe_params


def is_passed(tu: TranslationUnit, failing: Any, holds: isl.Set, scope: Scope, iterators: Sequence[str]) -> bool:
    """Whether what stands below a condition ends the program, and the region could take for granted that no iteration
    gets there; or, if that is the simpler condition, also that there are some. holds: parameter set over iterators and
    parameters where the condition does."""
    if not never_returns(tu, failing):
        return False
    violation = scope.domain.intersect(holds)
    some = project_out_params(scope.domain, list(iterators))
    return scope.assume(violation) or scope.assume(violation.union(universe_params().subtract(some)))


def with_affine_outside(node: ir.If, domain: isl.Set, scope_in: Callable[[isl.Set], Scope]) -> ir.If | None:
    """`if (a && b)` as `if (a) if (b)`, with what is affine outside; None where nothing is, or there is an else. So is
    `if (b) if (a)`. domain: parameter set of the iterations that get there. scope_in: what names mean in some of
    those."""
    conditions, inside = list(conjuncts(node.cond)), node
    while not inside.iffalse and isinstance(one := _only(inside.iftrue), ir.If) and not one.iffalse:
        inside, conditions = one, [*conditions, *conjuncts(one.cond)]
    done = effects(*conditions)
    if inside.iffalse is not None or done.assigned or done.through or done.called or done.unnamed:
        return None
    affine, data = [], []
    for part in conditions:
        try:
            domain = domain.intersect(condition(part, scope_in(domain)))
            affine.append(part)
        except NotAffine:
            data.append(part)
    if not affine:
        return None
    below = ir.If(conjunction(data), inside.iftrue, None, node.coord) if data else inside.iftrue
    return changed(node, cond=conjunction(affine), iftrue=below)


def _only(node: Any) -> Any:
    """The one statement of a block; any other statement itself."""
    while isinstance(node, ir.Compound) and len(node.block_items or ()) == 1:
        node = node.block_items[0]
    return node
