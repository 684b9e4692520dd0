"""Regions of several loops that the time for a region isn't enough for: their loops are taken each by itself at once,
instead of when that time is over."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt.diagnostics import Remark
from scopt.ir.scop import Dependences, Scop
from scopt.poly.loop_order import statements_in_order
from scopt.poly.source_loops import source_loops

# What is said of such regions.
LARGE = "region.large"
# Of the loops around all statements, added up, the square that a second of a region's time stands for (measured: the
# time from dependences to a text that is proved grows with the square, 0.002 s for each; half of a region's time, and a
# fifth more once it has come far, is for the first form).
SQUARE_A_SECOND = 495


def too_large(scop: Scop, budget: float, deps: Callable[[], Dependences]) -> Remark | None:
    """Why a region's loops are taken each by itself; None where it is small enough for a budget, in seconds, where it
    is one loop that threads share as a whole, or that has no others beside each other inside, and without a budget.
    deps: the dependences, which take long to find."""
    around = sum(one.domain.dim(isl.dim_type.set) for one in scop.statements)
    if not budget or around * around <= SQUARE_A_SECOND * budget or not _has_nests(scop, deps):
        return None
    message = (
        f"left as it was: {len(scop.statements)} statements, with {around} loops around them in all, would take more "
        f"than {budget:g} s; the loops inside are taken each by itself"
    )
    return Remark("missed", LARGE, message, scop.location, "allow more with --budget")


def _has_nests(scop: Scop, deps: Callable[[], Dependences]) -> bool:
    """Whether there are several loops, or several in one that runs in order."""
    loops = [own for own in source_loops(scop).values() if own]
    outer = {own[:1] for own in loops}
    if len(outer) != 1:
        return len(outer) > 1
    return len({own[:2] for own in loops}) > 1 and bool(statements_in_order(scop, deps(), next(iter(outer))))
