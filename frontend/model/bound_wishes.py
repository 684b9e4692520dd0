"""The loops that pragmas ask for, in terms of statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.text.directives import Directives
from scopt.ir.scop import LoopDirective


def bound(
    wished: Directives, statements: Iterable[tuple[str, Sequence[str], Sequence[Any]]]
) -> tuple[LoopDirective, ...]:
    """The wishes for loops in terms of statements.

    statements: name, iterators and loops around it (nodes of the region's own tree, outermost first) of each. A name in
    a wish is the one that the iterator has in the source; in the SCoP it may have got another one.
    """
    listed = tuple(statements)
    result = []
    for kind, wishes in (("parallel", wished.parallel), ("vector", wished.vector)):
        for wish in wishes:
            targets = tuple(
                (name, iterator)
                for name, iterators, loops in listed
                for iterator, loop in zip(iterators, loops, strict=True)
                if loop_iterator(loop) == wish.iterator and _inside(wish.loop, loop, loops)
            )
            result.append(
                LoopDirective("parallel" if kind == "parallel" else "vector", wish.iterator, targets, wish.location)
            )
    return tuple(result)


def _inside(scope: Any, loop: Any, loops: Sequence[Any]) -> bool:
    """Whether a loop, one of those around a statement, is the scope or lies in it."""
    return scope is None or any(
        outer is scope for outer in loops[: next(k for k, node in enumerate(loops) if node is loop) + 1]
    )
