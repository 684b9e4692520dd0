"""Contiguity: iterators that walk along a cache line belong into the innermost dimension, for SIMD.

Source: Vasilache, Meister, Baskaran and Lethin, "Joint scheduling and layout optimization to enable multi-level
vectorization" (2012), whose contiguity constraints keep such iterators out of outer dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping

from scopt.ir.scop import Scop
from scopt.poly.linear import subscript_rows
from scopt.scheduler.constraints.scheduling_problem import Draft, Step

# Cost of a unit of a coefficient; an iterator further in costs a little more, so that the original order wins where
# nothing else decides.
UNIT, POSITION = 64, 4
# The largest extra cost of a contiguous iterator: more than some places further in,
# less than another unit of a coefficient.
CONTIGUOUS = 24


def small(draft: Draft, step: Step, penalties: Mapping[str, tuple[int, ...]] | None = None) -> None:
    """The last objective: small coefficients and shifts, outer iterators first. penalties: by statement, more cost for
    each iterator, for the contiguous ones: they are then taken last."""
    terms: dict[int, int] = {}
    for statement in step.statements:
        space = step.spaces[statement]
        extra = (penalties or {}).get(statement, (0,) * space.depth)
        for position in range(len(space.columns)):
            column = draft.magnitude(draft.coefficient(statement, position))
            if position < space.depth:
                terms[column] = UNIT + POSITION * position + extra[position]
            else:
                terms[column] = UNIT if position < len(space.columns) - 1 else 1
    draft.minimize(terms)


def contiguity_penalties(scop: Scop) -> dict[str, tuple[int, ...]]:
    """By statement, the extra cost of each iterator: more for those along which more accesses walk by one element,
    writes counted twice."""
    penalties = {}
    for statement in scop.statements:
        score = [0] * len(statement.iterators)
        for access in statement.accesses:
            rows = subscript_rows(access.relation) or ()
            for position in range(len(score)):
                moves = [row[position] for row in rows]
                if moves and not any(moves[:-1]) and abs(moves[-1]) == 1:
                    score[position] += 2 if access.is_write else 1
        most = max(score, default=0) or 1
        penalties[statement.name] = tuple(CONTIGUOUS * value // most for value in score)
    return penalties
