"""Whether variables may stand for cells: proved from the access relations, for the nest as it is printed.

While a cell is held, the references that its variable replaces touch that cell and no other, and no other reference
touches it (but reads of a cell that isn't written); it is loaded and stored only where the body touches it anyway, and
threads inside only read it or reduce it.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct

from scopt.astgen.emit.names import KEYWORDS
from scopt.astgen.passes.carried_cells import carried
from scopt.astgen.passes.loop_runs import runs
from scopt.astgen.passes.narrow_parts import is_part
from scopt.diagnostics import InternalError
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Expr, For, Held, Hold, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Access, Scop
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import SET
from scopt.poly.nest_sets import Context, NestSpace, free
from scopt.poly.reductions import update_of
from scopt.poly.sure_cells import surely_touched


def check_held(scop: Scop, nest: LoopNest) -> None:
    """Raise InternalError unless what `nest` holds leaves all values as they are without."""
    space = NestSpace.of(scop, nest)
    taken = scop.reserved | scop.typedefs | set(scop.arrays) | KEYWORDS
    taken |= {name for p in scop.parameters for name in (p.name, p.spelling)}
    _Checker(scop, space, frozenset(taken)).block(nest.body, space.outside(), ())


class _Use(Struct, frozen=True, eq=False):
    """A reference inside a `Hold`. cells: ``{ dates -> A[…] }``.
    name: of the variable that stands for it, if one does. made: whatever conditions say; sure: the cell exists."""

    access: Access
    cells: isl.Map
    name: str | None
    made: bool
    sure: bool


class _Checker(Struct, frozen=True, eq=False):
    scop: Scop
    space: NestSpace
    taken: frozenset[str]

    def block(self, block: Block, context: Context, held: tuple[Held, ...]) -> None:
        for item, inner in self.space.items(block, context):
            match item:
                case For():
                    self.reductions(item, held)
                    self.block(item.body, self.space.inside(item, inner), held)
                case Hold():
                    self.hold(item, inner, held)
                    self.block(item.body, inner, (*held, *item.cells))
                case Call():
                    self.call(item, held)

    def call(self, call: Call, held: tuple[Held, ...]) -> None:
        """A call's variables are declared around it, and stand for their arrays;
        for a reference as a whole, or not at all."""
        arrays = {cell.name: cell.array for cell in held}
        statement = self.scop.statement(call.statement)
        if held and not statement.accesses:
            self.refuse(f"nobody knows what {call.statement} touches")
        handed = {cell.name: cell.array for cell in held if cell.carried}
        if any(handed.get(name) != statement.accesses[position].array for position, name in call.kept):
            self.refuse(f"{call.statement} hands something else on")
        variables = {statement.accesses[position].node: name for position, name in call.held}
        for position, access in enumerate(statement.accesses):
            name = dict(call.held).get(position)
            if name is not None and arrays.get(name) != access.array:
                self.refuse(f"{call.statement} uses '{name}' for '{access.array}'")
            if (name is not None and access.node is None) or (
                access.node is not None and variables.get(access.node) != name
            ):
                self.refuse(f"a reference of {call.statement} is replaced in part")

    def hold(self, hold: Hold, context: Context, around: tuple[Held, ...]) -> None:
        self.check_names(hold, context, around)
        stored = {cell.name for cell in hold.cells if cell.stored}
        for inner in items(hold.body):
            if not isinstance(inner, For):
                continue
            reduced = {name for one in inner.mark.reductions for name in one.held}
            if (inner.mark.parallel or inner.mark.simd) and stored - reduced:
                self.refuse(f"a parallel loop inside of what holds '{hold.cells[0].name}'")
        uses = list(self.uses(hold.body, context))
        for cell in hold.cells:
            if cell.carried:
                self.carried(cell, hold, context)
                continue
            if cell.part:
                self.part(cell, hold, context)
            self.cell(cell, context, [use for use in uses if use.access.array == cell.array])

    def part(self, cell: Held, hold: Hold, context: Context) -> None:
        """What is added to a cell is all that the statements of one loop do with its variable, which holds it."""
        match hold.body.items:
            case [For() as loop] if all(isinstance(one, Call) for one in loop.body.items):
                users = [call for call in calls(loop.body) if cell.name in dict(call.held).values()]
                if cell.stored and is_part(self.space, cell.array, users, loop, context, cell.part):
                    return
        self.refuse(f"'{cell.name}' may not hold what is added to '{cell.array}'")

    def carried(self, cell: Held, hold: Hold, context: Context) -> None:
        """A variable begins with what the first iteration of the loop inside reads, and gets in each iteration what the
        next one reads; nothing else of its array is held there but what is handed on likewise."""
        loop = hold.body.items[0]
        handed = carried(self.scop, loop, cell.array) if isinstance(loop, For) and len(hold.body.items) == 1 else []
        found = next((one for one in handed if one.first == cell.subscripts), None)
        if found is None or not isinstance(loop, For):
            self.refuse(f"'{cell.name}' isn't handed on")
            return
        right = (cell.stored, cell.part) == (False, "")
        others = {one.name for one in hold.cells if one.carried} - {cell.name}
        for number, call in enumerate(calls(loop.body)):
            accesses = self.scop.statement(call.statement).accesses
            held = [(k, name) for k, name in call.held if accesses[k].array == cell.array and name not in others]
            kept = [k for k, name in call.kept if name == cell.name]
            right = right and all(name == cell.name and (number, k) in found.reads for k, name in held)
            right = right and kept == ([found.write] if number == found.writer else [])
        if not right or not runs(loop, context, self.space.inside(loop, context)):
            self.refuse(f"'{cell.name}' is something else than what is handed on in '{cell.array}'")

    def reductions(self, loop: For, around: tuple[Held, ...]) -> None:
        """What a loop reduces are variables that stand outside of it; in it, each is used by updates of the clause's
        operator and nothing else, and no update of the same array is left that isn't in a variable of the clause.
        """
        outside = {cell.name: cell.array for cell in around if cell.stored}
        for one in loop.mark.reductions:
            held = bool(self.scop.arrays[one.array].rank) and not one.whole
            if bool(one.held) != held or any(outside.get(name) != one.array for name in one.held):
                self.refuse(f"a loop reduces '{one.array}', but not in variables around it")
            for call in calls(loop.body) if one.held else ():
                statement, names = self.scop.statement(call.statement), dict(call.held)
                update = update_of(self.scop, statement)
                own = (
                    update.own
                    if update is not None and (update.operator, update.array) == (one.operator, one.array)
                    else ()
                )
                for position, access in enumerate(statement.accesses):
                    reduced = names.get(position) in one.held
                    if reduced != (access in own) or (access.is_write and access.array == one.array and not reduced):
                        self.refuse(f"{call.statement} doesn't reduce '{one.array}' as the loop around it says")

    def check_names(self, hold: Hold, context: Context, around: tuple[Held, ...]) -> None:
        own = [cell.name for cell in hold.cells]
        iterators = {item.iterator for item in items(hold.body) if isinstance(item, For)} | set(context.iterators)
        hidden = set(own) & (self.taken | iterators | {cell.name for cell in around})
        if hidden or len(set(own)) < len(own):
            self.refuse(f"a variable hides another name: {', '.join(own)}")
        for cell in hold.cells:
            for subscript in cell.subscripts:
                if not names(subscript) <= set(context.iterators) | {p.name for p in self.scop.parameters}:
                    self.refuse(f"the cell of '{cell.name}' moves")

    def uses(self, block: Block, context: Context) -> Iterator[_Use]:
        for item, inner in self.space.items(block, context):
            match item:
                case For():
                    yield from self.uses(item.body, self.space.inside(item, inner))
                case Hold():
                    yield from self.uses(item.body, inner)
                case Call():
                    instances, held = self.instances(item, inner), dict(item.held)
                    statement = self.scop.statement(item.statement)
                    for position, access in enumerate(statement.accesses):
                        name = held.get(position)
                        made = access.kind != "may-write" and always_evaluated(statement.body, access.node)
                        sure = (
                            name is None
                            or made
                            or surely_touched(self.scop, statement, access, written=access.is_write)
                        )
                        yield _Use(access, instances.apply_range(access.relation), name, made, sure)

    def cell(self, cell: Held, context: Context, uses: list[_Use]) -> None:
        """One variable against all references to its array."""
        if self.scop.arrays[cell.array].type.volatile or self.scop.arrays[cell.array].type.atomic:
            self.refuse(f"'{cell.array}' must be read each time")
        here = self.function(cell.subscripts, cell.array, context)
        touched = context.domain.subtract(context.domain)
        # what is only written under a condition may be a cell that the program may not write
        perhaps = any(use.name == cell.name and use.access.is_write and not use.made for use in uses)
        for use in uses:
            if use.name == cell.name:
                if not use.cells.is_subset(here) or (use.access.is_write and not cell.stored):
                    self.refuse(f"'{cell.name}' isn't the cell of '{cell.array}' that it stands for")
                if (use.access.is_write and use.sure) if perhaps else use.sure:
                    touched = touched.union(use.cells.domain())
            elif (cell.stored or use.access.is_write) and not use.cells.intersect(here).is_empty():
                self.refuse(f"another reference touches the cell that '{cell.name}' stands for")
        inner = range(2 * len(context.iterators), self.space.space.dim(SET))
        if cell.part and not cell.subscripts:
            return  # variables are there in any case
        if not context.domain.is_subset(free(touched, *inner)):
            self.refuse(f"'{cell.name}' is loaded where nothing touches its cell")

    def instances(self, call: Call, context: Context) -> isl.Map:
        """``{ dates -> S[…] }`` for a call."""
        return self.function(call.args, call.statement, context).intersect_domain(context.domain)

    def function(self, values: tuple[Expr, ...], name: str, context: Context) -> isl.Map:
        dates = self.space.space
        target = dates.params().set_from_params().add_dims(SET, len(values)).set_tuple_name(SET, name)
        result = isl.MultiPwAff.zero(dates.map_from_domain_and_range(target))
        for k, value in enumerate(values):
            result = result.set_pw_aff(k, self.space.piecewise(value, context))
        return isl.Map.from_multi_pw_aff(result)

    def refuse(self, what: str) -> None:
        raise InternalError(f"{self.scop.location}: cells in variables: {what}")
