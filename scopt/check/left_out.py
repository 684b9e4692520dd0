"""Blocks of iterations that the text leaves out: nothing of what they might change is asked for otherwise.

The text asks, for each iteration of a block, whether any condition holds (`scopt.poly.searches` says why that is
enough); that it asks for just these conditions is seen from the statements here, and that it says so from the text
(`scopt.astgen.emit.reparse`).
"""

from __future__ import annotations

from scopt.astgen.emit.names import KEYWORDS
from scopt.astgen.generation import Program
from scopt.astgen.passes.skipping import runs_of
from scopt.diagnostics import InternalError
from scopt.ir.nest import For, LoopMark
from scopt.ir.nest_walks import items, used_names
from scopt.ir.walks import same_tree
from scopt.poly.searches import SUFFIX, tests_of


def check_searches(program: Program) -> None:
    """Raise InternalError if a block may be left out that would have done anything."""
    scop, body = program.scop, program.nest.body
    taken = scop.reserved | scop.typedefs | set(scop.arrays) | KEYWORDS | used_names(body)
    taken |= {name for p in scop.parameters for name in (p.name, p.spelling)}
    taken |= {array.spelling for array in scop.arrays.values()}
    taken |= {cell.name for item in items(body) for cell in getattr(item, "cells", ())}
    for loop in items(body):
        if not isinstance(loop, For) or not loop.mark.searched:
            continue
        found, runs = loop.mark.searched, runs_of(scop, loop)
        tests = tests_of(scop, found, runs) if runs else None
        if found in taken or tests is None or loop.mark != LoopMark(searched=found):
            raise InternalError(f"{scop.location}: searches: a loop over '{loop.iterator}' that can't be left out")
        known = {one.name for one in scop.statements}
        for test, (statement, _) in zip(tests, runs, strict=True):
            printed = scop.statement(test.name)
            if test is statement and f"{test.name}{SUFFIX}" in known:
                raise InternalError(f"{scop.location}: searches: {test.name} doesn't stand beside what asks")
            same = same_tree(printed.body, test.body) and printed.iterators == statement.iterators
            same = same and [a.node for a in printed.accesses] == [a.node for a in test.accesses]
            if not same or printed.iterator_types != statement.iterator_types:
                raise InternalError(f"{scop.location}: searches: {test.name} asks for something else")
