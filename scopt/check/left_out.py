"""Blocks of iterations that the text leaves out: all that they might change is asked for.

The text asks, for each iteration of a block, whether anything would change. That this is enough, and does no harm, is
seen from the statements (`scopt.check.block_questions`), and that the text says so by reading it
(`scopt.astgen.emit.reparse`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import KEYWORDS
from scopt.astgen.passes.skipping import runs_of
from scopt.astgen.transformed_program import Program
from scopt.check.block_questions import Block, Reader
from scopt.diagnostics import InternalError
from scopt.ir.nest import For, LoopMark
from scopt.ir.nest_walks import items, used_names
from scopt.ir.scop import Scop, Statement
from scopt.poly.searches import SUFFIX, Run


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
        if found in taken or not runs or loop.mark != LoopMark(searched=found):
            raise InternalError(f"{scop.location}: searches: a loop over '{loop.iterator}' that can't be left out")
        _Question(scop, found, runs).check()


class _Question(Struct, frozen=True, eq=False):
    """What the text asks of an iteration, in a variable found. runs: what an iteration does, in this order."""

    scop: Scop
    found: str
    runs: tuple[Run, ...]

    def check(self) -> None:
        known = {one.name for one in self.scop.statements}
        own = [one for one, _ in self.runs if f"{one.name}{SUFFIX}" not in known]
        temporary = {access.array for one in own for access in one.accesses if access.is_write}
        changing = frozenset(a.array for one, _ in self.runs for a in one.accesses if a.is_write) - temporary
        block = Block(self.scop, changing, frozenset(temporary), frozenset())
        given = set[str]()
        for statement, moving in self.runs:
            self.check_order(statement, own, temporary - given)
            reader = Reader(block, statement, moving)
            if all(statement is not one for one in own):
                self.check_asked(statement, reader)
                continue
            target = self.target(statement)
            floating = self.scop.arrays[target].type.floating
            value = statement.body.rvalue if isinstance(statement.body, ir.Assignment) else statement.body
            if not reader.is_early(value, floating=floating):
                raise self.wrong(statement, "computes what it can't know yet")
            if not reader.is_steady(value):
                block = replace(block, drifting=block.drifting | {target})
            given.add(target)

    def check_order(self, statement: Statement, own: Sequence[Statement], unknown: set[str]) -> None:
        """No statement looks at a temporary value of the iteration before, or at what nobody may look at early."""
        for access in statement.accesses:
            kind = self.scop.arrays[access.array].type
            if access.node is None or kind.volatile or kind.atomic:
                raise self.wrong(statement, "looks at something that may be anything")
            if access.array in unknown and not (access.is_write and any(statement is one for one in own)):
                raise self.wrong(statement, "looks at what isn't known yet")

    def target(self, statement: Statement) -> str:
        """The variable that a statement gives a value, which no other one does."""
        writes = [access for access in statement.accesses if access.is_write]
        match statement.body:
            case ir.Assignment(op="=", lvalue=ir.ID() as target) if len(writes) == 1:
                (write,) = writes
                others = [a for one, _ in self.runs for a in one.accesses if a.is_write and a.array == write.array]
                alone = write.node is target and write.kind == "write" and len(others) == 1
                if alone and not self.scop.arrays[write.array].rank:
                    return write.array
        raise self.wrong(statement, "doesn't stand beside what asks")

    def check_asked(self, statement: Statement, reader: Reader) -> None:
        printed = self.scop.statement(f"{statement.name}{SUFFIX}")
        alike = printed.iterators == statement.iterators and printed.iterator_types == statement.iterator_types
        alike = alike and [a.node for a in printed.accesses] == [a.node for a in statement.accesses]
        match printed.body:
            case ir.Assignment(op="|=", lvalue=ir.ID(name=self.found), rvalue=asked) if alike:
                if reader.is_enough(asked):
                    return
        raise self.wrong(printed, "asks for something else")

    def wrong(self, statement: Statement, what: str) -> InternalError:
        return InternalError(f"{self.scop.location}: searches: {statement.name} {what}")
