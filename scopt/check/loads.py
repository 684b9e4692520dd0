"""Whether variables may stand for what references read, and for values of that: nothing in the region writes it, and it
is there wherever it is loaded. (That a variable's initial value, and what it stands for, are the same cell or value is
seen where the text is read: `scopt.astgen.emit.statement_match`.)"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from scopt import ir
from scopt.astgen.passes.common_reads import is_plain, read_only, reads_of, surely_there
from scopt.astgen.passes.common_values import value_type
from scopt.astgen.passes.row_variables import is_row_there, row_type, rows_of, written_variables
from scopt.astgen.transformed_program import Program
from scopt.check.reading import together
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Call, For, Hold, Loaded
from scopt.ir.nest_walks import calls
from scopt.ir.scop import Access, Statement
from scopt.ir.tree_node import Node
from scopt.ir.walks import used_names, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import IN, SET
from scopt.poly.nest_sets import Context, NestSpace, free


def check_loads(program: Program) -> None:
    """Raise InternalError unless each variable holds what all that it stands for reads."""
    nest = together(program)
    space = NestSpace.of(program.scop, nest)
    _Checker(program, space).block(nest.body, space.outside())


class _Checker(Struct, frozen=True, eq=False):
    program: Program
    space: NestSpace

    def block(self, block: Block, context: Context) -> None:
        for item, inner in self.space.items(block, context):
            match item:
                case For():
                    self.block(item.body, self.space.inside(item, inner))
                case Hold():
                    for load in item.loads:
                        self.load(load, item, inner)
                    self.block(item.body, inner)

    def load(self, load: Loaded, hold: Hold, context: Context) -> None:
        """One variable: its type is the cell's, and where it is loaded, something evaluates it, or it is there."""
        source = self.program.source
        there = context.domain.subtract(context.domain)
        for call, inner in self.calls(hold.body, context):
            references = [reference for reference, name in call.chosen if name == load.name]
            for reference in references:
                if self.is_value(call, reference, load):
                    there = there.union(inner.domain)
                    continue
                if (row := self.row(call, reference, load, hold)) is not None:
                    there = there.union(inner.domain) if row else there
                    continue
                original, access = self.read(call, reference)
                if source.arrays[access.array].type.spelling != load.type:
                    self.refuse(f"'{load.name}' has another type than '{access.array}'")
                body = self.program.scop.statement(call.statement).body
                if always_evaluated(body, reference) or surely_there(source, original, access):
                    there = there.union(inner.domain)
        deeper = range(2 * len(context.iterators), self.space.space.dim(SET))
        if not context.domain.is_subset(free(there, *deeper)):
            self.refuse(f"'{load.name}' is loaded where nothing reads it")

    def calls(self, block: Block, context: Context) -> Iterator[tuple[Call, Context]]:
        for item, inner in self.space.items(block, context):
            match item:
                case For():
                    yield from self.calls(item.body, self.space.inside(item, inner))
                case Hold():
                    yield from self.calls(item.body, inner)
                case Call():
                    yield item, inner

    def original(self, call: Call) -> Statement | None:
        """The statement of the SCoP that a call stands for."""
        expansion = self.program.buffered.expansions.get(call.statement)
        name = call.statement if expansion is None else str(expansion.get_tuple_name(IN))
        return next((one for one in self.program.source.statements if one.name == name), None)

    def is_value(self, call: Call, part: Node, load: Loaded) -> bool:
        """Whether a part of a call is no reference, but a value that is computed in any case, of the variable's type,
        and of nothing that may change."""
        if isinstance(part, ir.ArrayRef | ir.StructRef | ir.ID):
            return False
        original, body = self.original(call), self.program.scop.statement(call.statement).body
        if original is None or not any(node is part for node in walk(body)):
            self.refuse(f"{call.statement} has a variable in place of something else")
        assert original is not None
        if value_type(self.program.source, original, body, part) != load.type:
            self.refuse(f"{call.statement} has a variable in place of a value that may change")
        return True

    def row(self, call: Call, part: Node, load: Loaded, hold: Hold) -> bool | None:
        """Of a row, or a pointer to one, which no region writes, as long as it is of the variable's type, and nothing
        in the hold writes what picks it: whether it is there wherever the call runs. None of anything else."""
        source, original = self.program.source, self.original(call)
        rows = rows_of(source, original) if original is not None else ()
        access = next((access for row, access in rows if row is part), None)
        body = self.program.scop.statement(call.statement).body
        if original is None or access is None or not any(node is part for node in walk(body)):
            return None
        if row_type(source, source.arrays[access.array]) != load.type:
            self.refuse(f"'{load.name}' has another type than a pointer to '{access.array}'")
        if not written_variables(self.program.scop, calls(hold.body)).isdisjoint(used_names(part)):
            self.refuse(f"'{load.name}' is the row that something else picks meanwhile")
        return is_row_there(source, original, body, access)

    def read(self, call: Call, reference: object) -> tuple[Statement, Access]:
        """The statement of the SCoP that a call stands for, and the access that a reference of it is."""
        source, original = self.program.source, self.original(call)
        found = reads_of(original, read_only(source)) if original is not None else {}
        access = next((access for node, access in found.items() if node is reference), None)
        body = self.program.scop.statement(call.statement).body
        if original is None or access is None or access.node is None or access.node not in set(walk(body)):
            self.refuse(f"{call.statement} has a variable in place of something that may change")
        assert original is not None
        assert access is not None
        if access.node is None or not is_plain(source, original, access.node):
            self.refuse(f"{call.statement} has a variable in place of a reference that isn't a plain one")
        return original, access

    def refuse(self, what: str) -> None:
        raise InternalError(f"{self.program.source.location}: cells in variables: {what}")
