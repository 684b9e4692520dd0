"""Cells that a jammed loop uses again and again, that a loop accumulates into, or that all of its iterations read, in
local variables; likewise what iterations that write records (`scopt.astgen.passes.record_cells`) use several times,
and what they have to read first (`scopt.astgen.passes.reads_ahead`).

Compilers would keep them in registers by themselves, if they knew that the arrays don't overlap. Here the subscripts
tell, within the bounds of the enclosing loops. A reduction clause names variables: a loop that reduces cells which
can't be held is no vector loop. What is decided here is proved again, from the access relations, by
`scopt.astgen.passes.held_check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.decided import decides
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.body_uses import Body, Use, held_in, moves, recurs, with_held
from scopt.astgen.passes.chains import is_unrolled
from scopt.astgen.passes.held_across import hold_across
from scopt.astgen.passes.lookups_apart import looks_up_apart
from scopt.astgen.passes.loop_runs import runs, some_iteration
from scopt.astgen.passes.reads_ahead import read_ahead
from scopt.astgen.passes.record_cells import Cell, by_address, records, subscripts_of
from scopt.ir.ctypes import is_complex
from scopt.ir.expr import names, plus, substitute
from scopt.ir.nest import Block, Call, Expr, For, Held, Hold, If, LoopNest, Name
from scopt.ir.nest_walks import Item, calls
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.magnitudes import sums_narrow_cells
from scopt.poly.nest_sets import Context, NestSpace, equal
from scopt.poly.sure_cells import surely_touched

# Cells that all iterations of a vector loop read, at most, for which there are registers. More are spread, and put on
# the stack as vectors (measured with 96: twice the time); where they are, they are operands that the load spreads.
MOST_SPREAD = 32
# Cells that an iteration reads again, at most, for which there are registers: from the first cache they come without
# being stored on the stack.
MOST_BACK = 8


def hold_cells(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with cells held in variables, for all of a jammed loop or
    for one iteration of it, wherever that is legal."""
    taken = names_in_use(scop, nest)
    space = NestSpace.of(scop, nest)
    held = LoopNest(_Holder(scop, space, taken).block(nest.body, space.outside()))
    return hold_across(scop, held)


class _Holder(Struct, frozen=True, eq=False):
    scop: Scop
    space: NestSpace
    taken: frozenset[str]

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case For() if (
                item.step == 1
                and all(isinstance(one, Call) for one in item.body.items)
                and (self.wanted(item) or self.may_write_records(item) or read_ahead(self.scop, item))
                and not looks_up_apart(self.scop, item)
            ):
                return self.loop(item, context)
            case For():
                item = self.without_reductions(item)
                return replace(item, body=self.block(item.body, self.space.inside(item, context)))
            case If():
                return self.space.changed(item, context, self.block)
        return item

    def wanted(self, loop: For) -> bool:
        return loop.mark.jammed or bool(self.reduced(loop)) or loop.mark.simd or self.is_chain(loop)

    def may_write_records(self, loop: For) -> bool:
        """Whether one iteration writes several cells of an array."""
        if loop.mark.jammed or loop.mark.reductions:
            return False
        written = [
            access.array
            for call in loop.body.items
            if isinstance(call, Call)
            for access in self.scop.statement(call.statement).accesses
            if access.is_write and self.scop.arrays[access.array].rank
        ]
        return len(set(written)) < len(written)

    def is_chain(self, loop: For) -> bool:
        """Whether a loop of one thread has a statement that accumulates into cells of an array: each iteration would
        wait for the last one's store, and no compiler makes vectors of that where other references might be to the
        cell, as far as types tell."""
        if loop.mark.parallel or loop.mark.simd:
            return False
        calls = [item for item in loop.body.items if isinstance(item, Call)]
        return any(self.accumulates(self.scop.statement(call.statement), call, loop) for call in calls)

    def accumulates(self, statement: Statement, call: Call, loop: For) -> bool:
        """Whether a statement writes nothing but cells of arrays that the loop doesn't move: as many as there are
        registers for."""
        if is_unrolled(self.scop, statement, loop):
            return False
        cells = [
            self.subscripts(statement, self.written(statement, access), call)
            for access in statement.accesses
            if access.is_write
        ]
        stay = (cell and not any(loop.iterator in names(subscript) for subscript in cell) for cell in cells)
        return 0 < len(cells) <= MOST_BACK and all(stay)

    def reduced(self, loop: For) -> frozenset[str]:
        """The arrays whose cells a loop reduces."""
        return frozenset(
            one.array for one in loop.mark.reductions if self.scop.arrays[one.array].rank and not one.whole
        )

    def without_reductions(self, loop: For) -> For:
        """The loop as one that is neither parallel nor a vector loop, if it reduces cells of arrays."""
        plain = replace(loop.mark, parallel=False, simd=False, private=(), reductions=())
        return replace(loop, mark=plain, work=None) if self.reduced(loop) else loop

    def reducing(self, loop: For, calls: Sequence[Call], held: Sequence[Held]) -> For:
        """The loop with the names of the variables that it reduces; one that may not be a vector loop if something
        isn't in a variable."""
        names = {cell.name: cell.array for cell in held if cell.stored}
        for array in self.reduced(loop):
            for call in calls:
                statement, variables = self.scop.statement(call.statement), dict(call.held)
                writes = [k for k, access in enumerate(statement.accesses) if access.array == array and access.is_write]
                if any(variables.get(position) not in names for position in writes):
                    return self.without_reductions(loop)
        cells = self.reduced(loop)
        found = (
            replace(
                one,
                held=tuple(name for name, array in names.items() if array == one.array) if one.array in cells else (),
            )
            for one in loop.mark.reductions
        )
        return replace(loop, mark=replace(loop.mark, reductions=tuple(found)))

    def loop(self, loop: For, context: Context) -> Item:
        """A jammed loop, or one that reduces cells, below the loads of the cells that it doesn't move."""
        reduced, inner = self.reduced(loop), self.space.inside(loop, context)
        calls = tuple(item for item in loop.body.items if isinstance(item, Call))
        best = all(one.best for one in loop.mark.reductions)  # lanes have copies of our own
        body = self.uses(calls, branches=(loop.mark.simd or self.is_chain(loop)) and (best or not reduced))
        if body is None:  # extremes behind branches are no reductions, but wait for their stores all the same
            plain = self.without_reductions(loop)
            return self.loop(plain, context) if reduced and not loop.mark.jammed and self.is_chain(plain) else plain
        whole, each, back = list[Cell](), list[Cell](), list[Cell]()
        stored = [cell for cell, uses in body.uses.items() if any(use.write for use in uses)]
        by_record = self.may_write_records(loop) and self.mixes(loop, body, stored)
        branching = any(_jumps(self.scop.statement(call.statement).body, branches=False) for call in calls)
        ahead = read_ahead(self.scop, loop)
        if not by_record and not self.wanted(loop) and not ahead:
            return loop
        for cell, uses in body.uses.items():
            changed = self.may_change(cell[0], body.written)
            helps = cell in ahead or self.helps(loop, cell, uses, changed) or self.decides(loop, cell, uses, calls)
            helps = helps or self.comes_again(loop, cell, calls, body)
            if not helps and self.comes_back(loop, cell, body):
                helps = any(use.write for use in uses) or len(back) < MOST_BACK
                back.append(cell)
            if not helps and not (by_record and recurs(loop, cell, uses, changed)):
                continue
            moving = moves(loop, cell)
            if moving and branching and not loop.mark.jammed:
                continue  # gcc: extremes beside sums of columns take 1.2 times as long (0.6 times in jammed rows)
            if self.holdable(cell, body, inner, filled=moving):
                (each if moving else whole).append(cell)
        if loop.mark.simd and not (loop.mark.jammed or reduced) and len(whole) > MOST_SPREAD:
            whole = []
        if by_record:
            each.sort(key=by_address)
        fresh = self.fresh_names([*whole, *each])
        held = [held_in(cell, next(fresh), body.uses[cell]) for cell in (*whole, *each)]
        calls = with_held(calls, held, body)
        inside = Block(calls) if not each else Block((Hold(tuple(held[len(whole) :]), Block(calls)),))
        made = (
            self.reducing(replace(loop, body=inside), calls, held[: len(whole)])
            if reduced
            else replace(loop, body=inside)
        )
        if not whole:
            return made
        outer = Hold(tuple(held[: len(whole)]), Block((made,)))
        if runs(loop, context, inner):
            return outer
        return If(some_iteration(self.space, loop, context), Block((outer,)))

    def mixes(self, loop: For, body: Body, stored: Sequence[Cell]) -> bool:
        """Whether an iteration writes a record, and reads cells of its own after it has written some."""
        uses = [use for cell, some in body.uses.items() if moves(loop, cell) for use in some]
        first = min((use.call for use in uses if use.write), default=len(uses))
        last = max((use.call for use in uses if not use.write), default=-1)
        return first < last and bool(records(self.scop, loop.iterator, stored))

    def helps(self, loop: For, cell: Cell, uses: Sequence[Use], changed: bool) -> bool:
        """Whether a variable would be better than the cell. changed: the body writes what might be the cell, as far as
        compilers see."""
        written = any(use.write for use in uses)
        if any(one.whole and one.array == cell[0] for one in loop.mark.reductions):
            return False
        if moves(loop, cell):
            if loop.mark.simd and not loop.mark.jammed:  # compilers keep stores between which others may read
                return len({use.call for use in uses if use.write}) > 1
            return loop.mark.jammed and written and len({use.call for use in uses}) > 1
        if cell[0] in self.reduced(loop):
            return True
        if written:
            return not (loop.mark.simd or loop.mark.parallel)
        return loop.mark.jammed or changed or (loop.mark.simd and sums_narrow_cells(self.scop, calls(loop.body)))

    def decides(self, loop: For, cell: Cell, uses: Sequence[Use], calls: Sequence[Call]) -> bool:
        access = self.scop.statement(calls[uses[0].call].statement).accesses[uses[0].access]
        return loop.mark.simd and not (moves(loop, cell) or access.is_write) and decides(self.scop, loop, access)

    def comes_again(self, loop: For, cell: Cell, calls: Sequence[Call], body: Body) -> bool:
        """Whether a vector loop reads a cell behind a store that might change it, as far as types tell, and again in
        its next iteration, before any: clang hands such values on from iteration to iteration, and makes no vectors
        then."""
        uses = body.uses[cell]
        if not loop.mark.simd or not moves(loop, cell) or any(use.write for use in uses):
            return False
        stores = [
            number
            for number, call in enumerate(calls)
            if self.may_change(cell[0], (a.array for a in self.scop.statement(call.statement).accesses if a.is_write))
        ]
        if not stores or max(use.call for use in uses) <= stores[0]:
            return False
        following = {loop.iterator: plus(Name(loop.iterator), 1)}
        return any(
            array == cell[0]
            and min(use.call for use in others) <= stores[0]
            and tuple(substitute(one, following) for one in subscripts) == cell[1]
            for (array, subscripts), others in body.uses.items()
        )

    def comes_back(self, loop: For, cell: Cell, body: Body) -> bool:
        """Whether an iteration of a vector loop reads a cell again, which it has read or stored, behind another store
        that might change it, as far as types tell: compilers load what they know (and vectors just stored across two
        lines are waited for), and of loops told to carry nothing they make no second form with arrays apart."""
        if not loop.mark.simd or loop.mark.jammed or not moves(loop, cell):
            return False
        first = min(use.call for use in body.uses[cell])
        last = max((use.call for use in body.uses[cell] if not use.write), default=0)
        between = (
            other[0]
            for other, uses in body.uses.items()
            if other != cell and any(use.write and first <= use.call < last for use in uses)
        )
        return self.may_change(cell[0], between)

    def may_change(self, array: str, written: Iterable[str]) -> bool:
        """Whether stores to some arrays might change a cell of one, as far as compilers know: they are told neither
        that arrays are apart, nor, in a loop that has no dependences, look for that when it runs."""
        own = self.scop.arrays[array]
        others = (self.scop.arrays[name] for name in written)
        return any(
            own is other or (other.rank and (own.pointer or other.pointer) and _alike(own.type, other.type))
            for other in others
        )

    def uses(self, calls: Sequence[Call], *, branches: bool) -> Body | None:
        """All references of the calls; None if some aren't known, or aren't always made: but for `branches` on data
        (masks in vectors, which wait for all operands; a chain, which waits for its store; one by one, what is read
        again costs nothing)."""
        body = Body()
        for number, call in enumerate(calls):
            statement = self.scop.statement(call.statement)
            if _jumps(statement.body, branches=branches) or not statement.accesses:  # in buffers, which nobody knows
                return None
            for position, access in enumerate(statement.accesses):
                if access.node is None:
                    return None
                unsure = access.kind == "read" and not always_evaluated(statement.body, access.node)
                unsure = unsure and not surely_touched(self.scop, statement, access)
                if access.is_write:
                    body.written.add(access.array)
                made = self.written(statement, access) if branches else access
                where = self.subscripts(statement, replace(made, kind="write") if access.is_write else made, call)
                subscripts = self.subscripts(statement, made, call)
                if where is None:
                    body.unknown.add(access.array)
                elif subscripts is None:
                    body.maybe.add((access.array, where))
                else:
                    cell = (access.array, subscripts)
                    body.uses.setdefault(cell, []).append(Use(number, position, access.is_write))
                    if unsure or access.kind != "may-write":
                        (body.unsure if unsure else body.sure).add(cell)
        return body

    def written(self, statement: Statement, access: Access) -> Access:
        """A reference as one that is made whatever data say, if they decide about a store to a cell that the SCoP
        surely writes: to store there what it has is no more than that."""
        if access.kind != "may-write" or not surely_touched(self.scop, statement, access, written=True):
            return access
        return replace(access, kind="write")

    def subscripts(self, statement: Statement, access: Access, call: Call) -> tuple[Expr, ...] | None:
        """The cell of a reference, over the nest's iterators; None if it isn't one, given by linear subscripts."""
        return subscripts_of(self.scop, access, call.args)

    def holdable(self, cell: Cell, body: Body, inner: Context, *, filled: bool) -> bool:
        """Whether a variable may stand for the cell: no other reference of the body touches it,
        at any iteration if it doesn't move. filled: also if it is written first, so that its value isn't needed."""
        array = self.scop.arrays[cell[0]]
        kind = array.type
        missing = cell[0] in body.unknown or cell in body.unsure - body.sure
        missing = missing or any(one[0] == cell[0] and self.meet(cell, one, inner) for one in body.maybe)
        if missing or kind.volatile or kind.atomic or not (kind.floating or kind.integer):
            return False
        uses = body.uses[cell]
        written = any(use.write for use in uses)
        first = min(use.call for use in uses)
        filled = filled and kind.bits != 1  # whose memory may hold what is neither true nor false
        if written and not filled and not any(use.call == first and not use.write for use in uses):
            return False  # it needs no value from memory
        others = [other for other in body.uses if other[0] == cell[0] and other != cell]
        return not any(
            (written or any(use.write for use in body.uses[other])) and self.meet(cell, other, inner)
            for other in others
        )

    def meet(self, cell: Cell, other: Cell, inner: Context) -> bool:
        same = inner.domain
        for a, b in zip(cell[1], other[1], strict=True):
            same = same.intersect(equal(self.space.value(a, inner), self.space.value(b, inner)))
        return not same.is_empty()

    def fresh_names(self, cells: Sequence[Cell]) -> Iterator[str]:
        """A name for each cell: the array's, and a number."""
        used: set[str] = set()
        for array, _ in cells:
            base = self.scop.arrays[array].spelling
            name = next(name for k in count() if (name := f"{base}_{k}") not in self.taken | used)
            used.add(name)
            yield name


def _alike(one: CType, other: CType) -> bool:
    """Whether an lvalue of one type may name an object of the other: a character may, integers of a size count as one
    type (C23, 6.5.1), and a complex number is an array of two."""
    if one.bits == 8 or other.bits == 8 or is_complex(one) != is_complex(other):
        return True
    return (one.bits, one.floating, one.integer) == (other.bits, other.floating, other.integer)


def _jumps(node: ir.Node, *, branches: bool) -> bool:
    """Whether a statement has parts that it doesn't always execute, but for `branches` and for operands."""
    kinds = (ir.For, ir.While, ir.DoWhile, ir.Switch) if branches else (ir.If, ir.For, ir.While, ir.DoWhile, ir.Switch)
    return any(isinstance(part, kinds) for part in walk(node))
