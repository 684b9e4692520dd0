"""Whether a loop has an iteration where it is reached, and the condition that says so."""

from __future__ import annotations

from scopt.ir.expr import compare, conjunction
from scopt.ir.nest import Condition, For, Max, Min
from scopt.poly.nest_sets import Context, NestSpace, free


def runs(loop: For, context: Context, inner: Context) -> bool:
    """Whether the loop has an iteration whenever it is reached. inner: the context inside of it."""
    return bool(context.domain.is_subset(free(inner.domain, inner.iterators[loop.iterator])))


def some_iteration(space: NestSpace, loop: For, context: Context) -> Condition:
    """Says of a place where a loop is reached that the loop has iterations."""
    lowers = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    uppers = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    each = (compare(lower, "<=", upper) for lower in lowers for upper in uppers)
    return conjunction(one for one in each if not context.domain.is_subset(space.condition(one, context)))
