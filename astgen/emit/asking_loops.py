"""Searches as they are printed: the loop that asks whether anything is found, and the one that runs."""

from __future__ import annotations

from msgspec.structs import replace

from scopt.ir.nest import Block, Call, For
from scopt.ir.scop import Scop
from scopt.poly.searches import SUFFIX as TESTS


def asking(scop: Scop, loop: For) -> For:
    """The loop that asks whether a search has to run: with the statements that ask in the place of those that they are
    for."""
    known = {one.name for one in scop.statements}
    calls_ = (one for one in loop.body.items if isinstance(one, Call))
    made = (replace(one, statement=f"{one.statement}{TESTS}") for one in calls_)
    both = zip(loop.body.items, made, strict=True)
    return replace(asked(loop), body=Block(tuple(new if new.statement in known else old for old, new in both)))


def asked(loop: For) -> For:
    """A search as a loop that runs."""
    return replace(loop, mark=replace(loop.mark, searched=""))
