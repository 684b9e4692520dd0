"""Loops that run once, as macros of several statements have them: ``do { s += a * b; n++; } while (0)`` is a block."""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.frontend.normalize.opaque import leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import value_of
from scopt.ir.walks import walk

_STATEMENTS = (ir.Assignment, ir.Decl, ir.FuncCall)
# Of these a block has that many at most: more are the round of a cipher, or a cell's update by a formula, which wait
# for each other anyway, and as one statement are scheduled in a moment.
_MOST = 6


def runs_once(loop: Any) -> bool:
    """Whether a statement is a loop that is a block, which nothing leaves before its end."""
    if not isinstance(loop, ir.DoWhile) or value_of(loop.cond) != 0 or loop.stmt is None:
        return False
    return next(leaving(loop.stmt), None) is None and out_of_statements(loop.stmt) is None


def is_short_block(loop: ir.DoWhile) -> bool:
    """Whether a loop is a block of a few statements."""
    return runs_once(loop) and sum(isinstance(node, _STATEMENTS) for node in walk(loop.stmt)) <= _MOST
