"""Loops that sum integers up: small ones, which gcc would write out, and rows' sums, which need no directive.

Before it looks for vectors, gcc writes loops of up to sixteen iterations out. It then makes vectors of the loop around,
whose lanes it puts together from neighbouring iterations; where these are far apart (rows of a matrix, records that
are no power of two long) nothing is left but as many scalar operations: up to eleven times as long as a vector along
the sum (measured, for dot products, differences, counts and extremes of 8, 16 and 32 bits).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.loop_hints import is_straight
from scopt.astgen.passes.byte_distances import is_distance_of_bytes
from scopt.astgen.passes.chains import stays
from scopt.ir.expr import names, subtract
from scopt.ir.nest import Block, Call, Const, For, Hold, LoopMark, LoopNest, Name
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.linear import subscript_rows
from scopt.poly.reductions import update_of

# Iterations that fill whole vectors, at least one of eight ints, and that gcc writes out.
_WHOLE = (8, 16)
# Elements from one iteration of the loop around to the next, up to which gcc puts vectors together.
_NEAR = 16
_BITS = 32


def with_kept_loops(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same loops; those that gcc is to keep are marked."""
    return LoopNest(map_block(nest.body, _Marking(scop).item))


def with_plain_sums(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same loops; sums of integers along rows are no vector loops that somebody asks for.

    Compilers make vectors of these by themselves. Where OpenMP's directive asks for lanes of a sum, gcc adds what fills
    no vector one by one, up to 63 bytes of a row (measured: rows of 40 to 250 cells take two to three times as long).
    """

    def item(one: Item) -> tuple[Item, ...]:
        return (replace(one, mark=LoopMark()),) if isinstance(one, For) and _only_sums(scop, one) else (one,)

    def outer(one: Item) -> tuple[Item, ...]:
        return (replace(one, body=map_block(one.body, item)),) if isinstance(one, For) else (one,)

    return LoopNest(map_block(nest.body, outer))


def _only_sums(scop: Scop, loop: For) -> bool:
    """Whether a vector loop does nothing but collect integers in variables, without branches."""
    plain = LoopMark(simd=True, private=loop.mark.private, reductions=loop.mark.reductions)
    calls = [one for one in loop.body.items if isinstance(one, Call)]
    if not loop.mark.reductions or replace(loop.mark, lanes=0, wide=0) != plain or len(calls) != len(loop.body.items):
        return False
    statements = [scop.statement(one.statement) for one in calls]
    written = [scop.arrays[access.array] for one in statements for access in one.accesses if access.is_write]
    if not all(map(is_straight, statements)) or any(_chooses(one) for one in statements):
        return False  # without the directive a choice may be a branch
    return all(array.type.integer and not array.rank for array in written)


def _chooses(statement: Statement) -> bool:
    return any(isinstance(node, ir.TernaryOp) for node in walk(statement.body))


class _Marking(Struct, frozen=True, eq=False):
    scop: Scop

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(mark=mark) if not (mark.simd or mark.jammed or mark.beside or mark.scalar or mark.around):
                return (replace(item, body=self.inside(item, item.body)),)
        return (item,)

    def inside(self, outer: For, block: Block) -> Block:
        return Block(tuple(self.marked(outer, one) for one in block.items))

    def marked(self, outer: For, item: Item) -> Item:
        match item:
            case Hold():
                return replace(item, body=self.inside(outer, item.body))
            case For() if _is_small(item) and self.sums(outer, item):
                return replace(item, mark=LoopMark(kept=True))
        return item

    def sums(self, outer: For, loop: For) -> bool:
        """Whether a loop does nothing but compute sums of the loop around's own, of cells that lie side by side, and
        far from those of the next iteration around. Absolute differences of bytes may be summed up over several loops
        (measured, blocks of 8 and 16 rows: a third of the time; sums of products are slower that way)."""
        pairs = [(one, self.scop.statement(one.statement)) for one in loop.body.items if isinstance(one, Call)]
        totals = [
            (one, statement)
            for one, statement in pairs
            if self.is_total(statement) and stays(statement, one, loop.iterator)
        ]
        if len(pairs) != len(loop.body.items) or not totals:
            return False
        if not is_distance_of_bytes(self.scop, [one for _, one in pairs]) and not (
            all(self.is_own(outer, call, statement) for call, statement in totals)
            and self.only_computes([one for _, one in pairs], [one for _, one in totals])
        ):
            return False
        sums = {_written(statement).array for _, statement in totals}
        reads = [
            (call, access)
            for call, statement in pairs
            for access in statement.accesses
            if self.scop.arrays[access.array].rank and access.array not in sums
        ]
        steps = [_step(access, call, loop.iterator) for call, access in reads]
        far = {self.is_far(access, call, outer.iterator) for call, access in reads}
        return any(steps) and all(step in (0, 1) for step in steps) and far - {None} == {True}

    def is_total(self, statement: Statement) -> bool:
        """Whether a statement adds to what its cell holds, which it has no other use for.

        One that works on buffers alone (a strip's rows) has no access, and is none.
        """
        written = {one.array for one in statement.accesses if one.is_write}
        match statement.body:
            case ir.Assignment(op="+=" | "-=" | "&=" | "|=" | "^=", lvalue=target):
                own = [one for one in statement.accesses if one.array in written]
                return bool(own) and all(one.node is target for one in own)
        return update_of(self.scop, statement) is not None

    def is_own(self, outer: For, call: Call, statement: Statement) -> bool:
        """Whether an iteration of the loop around begins a sum anew."""
        write = _written(statement)
        if self.scop.arrays[write.array].rank:
            return _moves(write, call, outer.iterator) not in (None, ())
        others = (self.scop.statement(one.statement) for one in outer.body.items if isinstance(one, Call))
        return any(write.array in _set_by(self.scop, one) for one in others)

    def only_computes(self, statements: Sequence[Statement], totals: Sequence[Statement]) -> bool:
        """Whether statements compute integers of 32 bits without branches, and hand nothing on but sums, which no other
        one of them looks at."""
        sums, given = {_written(one).array for one in totals}, set[str]()
        own = {access.array for one in statements for access in one.accesses if access.is_write}
        for statement in statements:
            writes = [access.array for access in statement.accesses if access.is_write]
            reads = {access.array for access in statement.accesses if not access.is_write} & own
            if len(writes) != 1 or not is_straight(statement) or not self.is_plain(writes[0]):
                return False
            mine = sums & set(writes) if statement in totals else set[str]()
            if not reads <= given | mine or (not mine and (sums & set(writes) or self.scop.arrays[writes[0]].rank)):
                return False
            given |= set(writes) - sums
        return True

    def is_plain(self, name: str) -> bool:
        kind = self.scop.arrays[name].type
        return kind.integer and 0 < kind.bits <= _BITS and not (kind.volatile or kind.atomic)

    def is_far(self, access: Access, call: Call, iterator: str) -> bool | None:
        """Whether a reference goes on far with a loop, or nobody knows how far; None where it stays."""
        moves, array = _moves(access, call, iterator), self.scop.arrays[access.array]
        if moves == ():
            return None
        if moves is None or any(moves[:-2]) or array.within or array.rows:
            return True
        size = array.sizes[-1] if any(moves[:-1]) else 0
        return size is None or abs(moves[-2:][0] * size + moves[-1]) > _NEAR


def _is_small(loop: For) -> bool:
    match loop:
        case For(lower=Const(first), upper=Const(last), step=1, mark=LoopMark(private=()) as mark):
            return mark == LoopMark() and last - first + 1 in _WHOLE
    return False


def _written(statement: Statement) -> Access:
    return next(access for access in statement.accesses if access.is_write)


def _set_by(scop: Scop, statement: Statement) -> frozenset[str]:
    """The scalar that a statement gives a value, whatever it was."""
    writes = [access.array for access in statement.accesses if access.is_write and access.kind == "write"]
    reads = {access.array for access in statement.accesses if not access.is_write}
    return frozenset(name for name in writes if name not in reads and not scop.arrays[name].rank)


def _step(access: Access, call: Call, iterator: str) -> int | None:
    """By how many elements of a row a reference moves on with a loop; None where it leaves the row, or nobody knows."""
    moves = _moves(access, call, iterator)
    if moves == ():
        return 0
    return None if moves is None or any(moves[:-1]) else moves[-1]


def _moves(access: Access, call: Call, iterator: str) -> tuple[int, ...] | None:
    """By how much each subscript grows with an iterator; () where it stays, None where that isn't known."""
    rows = subscript_rows(access.relation)
    moved = [k for k, argument in enumerate(call.args) if iterator in names(argument)]
    if not moved:
        return ()
    if rows is None or any(iterator in names(subtract(call.args[k], Name(iterator))) for k in moved):
        return None
    moves = [sum(row[k] for k in moved) for row in rows]
    if not any(moves):
        return ()
    return tuple(map(int, moves)) if all(one == int(one) for one in moves) else None
