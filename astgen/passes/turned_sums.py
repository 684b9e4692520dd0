"""Sums along rows beside each other: one call of a function that makes lanes of the rows, in the place of the loop.

``for j: { s0 += a[i][j] * x[j]; s1 += a[i + 1][j] * x[j]; … }`` reads a cell of each row at each step. The function
(`scopt.astgen.lower.row_sums`) turns blocks of such cells in registers, so that all rows' sums grow by one vector
operation a step, each still in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.body_syntax import address, call
from scopt.astgen.lower.row_sums import RowSums, Update, function_name
from scopt.astgen.lower.strip_statements import plus as added, statement_of
from scopt.astgen.lower.transposing import turned_lanes
from scopt.ir.ctypes import plain_type
from scopt.ir.expr import names, plus, substitute, subtract
from scopt.ir.nest import Block, Call, Const, Expr, For, LoopNest, Name
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, Array, CType, Scop, Statement
from scopt.ir.walks import same_tree, used_names, walk, with_nodes
from scopt.machine import Machine
from scopt.machine.streams import least_streamed
from scopt.poly.linear import subscript_rows

# What calls are named by, behind a statement's name.
SUMMED = "_summed"
_FLOATING = ("float", "double")
# Steps that a block has at most: shorter rows have none, or one.
_FEW = 8
# Statements, and rows' operands, at most: what is turned has to stay in registers (chosen).
_STATEMENTS, _ROWS = 6, 2


class Summed(Struct, frozen=True, eq=False):
    """statements: what a call does for each row and step, in their order. row, step: positions of the iterators that
    move; in their place the call has the first ones'. width: rows."""

    statements: tuple[str, ...]
    row: int
    step: int
    width: int


class Summing(Struct, frozen=True, eq=False):
    """What calls stand for, by name of their statement. functions: that they call."""

    calls: Mapping[str, Summed] = {}
    functions: tuple[RowSums, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The functions' definitions."""
        return tuple(one.text for one in self.functions)


def with_turned_sums(
    source: Scop, scop: Scop, originals: Mapping[str, str], nest: LoopNest, machine: Machine
) -> tuple[Scop, LoopNest, Summing]:
    """The nest with such calls, the SCoP with their statements, and what they stand for. originals: by name of a
    statement of the nest that isn't the source's own, the one that it stands for."""
    maker = _Maker(source, scop, originals, machine)
    body = map_block(nest.body, maker.item)
    made = [one for one in maker.made.values() if one is not None]
    whole = replace(scop, statements=(*scop.statements, *(one.statement for one in made)))
    return whole, LoopNest(body), Summing({one.statement.name: one.summed for one in made}, tuple(maker.functions))


class _Sum(Struct, frozen=True, eq=False):
    """statement: the call. summed: what it stands for."""

    statement: Statement
    summed: Summed


class _Maker(Struct, eq=False):
    """made: by names of the statements, their sums in one call; None where there are none."""

    source: Scop
    scop: Scop
    originals: Mapping[str, str]
    machine: Machine
    made: dict[tuple[str, ...], _Sum | None] = field(default_factory=dict)
    functions: list[RowSums] = field(default_factory=list)

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(step=1, body=Block((Call() as first, *_) as inside), lower=lower, upper=upper) if _is_beside(item):
                length, summed = plus(subtract(upper, lower), 1), _place(item, inside)
                short = isinstance(length, Const) and length.value < _FEW
                made = self.sums(summed) if summed is not None and not short else None
                if made is not None:
                    return (_in_one_call(made, item, first, length),)
        return (item,)

    def sums(self, summed: Summed) -> _Sum | None:
        key = summed.statements
        if key not in self.made:
            self.made[key] = self.new(summed)
        found = self.made[key]
        same = found is not None and (found.summed.row, found.summed.step, found.summed.width) == (
            summed.row,
            summed.step,
            summed.width,
        )
        return found if same else None

    def new(self, summed: Summed) -> _Sum | None:
        statements = [self.scop.statement(name) for name in summed.statements]
        iterators = statements[0].iterators
        if any(one.iterators != iterators for one in statements):
            return None
        moving = iterators[summed.row], iterators[summed.step]
        parts = _Parts(self.source, self.scop, moving, summed.width)
        updates = []
        for one in statements:
            update = parts.update(one, self.source.statement(self.originals.get(one.name, one.name)))
            if update is None:
                return None
            updates.append(update)
        function = self.function(parts, tuple(updates))
        if function is None:
            return None
        name, inside = f"{statements[0].name}{SUMMED}", [*iterators, "$count"]
        domain = isl.Set(f"{{ {name}[{', '.join(f'x{k}' for k in range(len(inside)))}] }}")
        body = call(function.name, [ir.ID("$count"), *parts.arguments()])
        return _Sum(statement_of(self.source, name, domain, inside, body), summed)

    def function(self, parts: _Parts, updates: tuple[Update, ...]) -> RowSums | None:
        """One that was made, if it does the same."""
        if len(parts.types) != 1 or not 0 < len(parts.rows) <= _ROWS or parts.clash():
            return None
        (ctype,) = parts.types.values()
        lanes = turned_lanes(ctype, parts.width, self.machine)
        if lanes < 2 or parts.width % lanes or not any(one.target.startswith("own") for one in updates):
            return None
        name = function_name(self.source.name.removeprefix("scop"), len(self.functions))
        counts = len(parts.rows), len(parts.common), len(parts.scalars), len(parts.own)
        streamed = least_streamed(self.machine) * 8 // ctype.bits
        made = RowSums(name, updates, *counts, ctype, parts.width, self.source.long_type, lanes, streamed)
        same = next((one for one in self.functions if one.same(made)), None)
        if same is None:
            self.functions.append(made)
        return same or made


def _is_beside(loop: For) -> bool:
    """Whether a loop runs instances of several rows in each step."""
    mark = loop.mark
    return (mark.beside or mark.jammed) and not (mark.simd or mark.parallel or mark.reductions)


def _place(loop: For, inside: Sequence[Item]) -> Summed | None:
    """What calls beside each other do, where they are for rows that follow each other."""
    calls = [one for one in inside if isinstance(one, Call)]
    if len(calls) < len(inside) or any(one.held for one in calls):
        return None
    width = sum(one.statement == calls[0].statement for one in calls)
    each = len(calls) // width
    group = [one.statement for one in calls[:each]]
    if [one.statement for one in calls] != group * width or len(set(group)) < each or each > _STATEMENTS:
        return None
    first = calls[0].args
    apart = {k for one in calls for k, pair in enumerate(zip(one.args, first, strict=False)) if pair[0] != pair[1]}
    along = [k for k, argument in enumerate(first) if loop.iterator in names(argument)]
    if len(apart) != 1 or len(along) != 1 or apart == {*along} or any(len(one.args) != len(first) for one in calls):
        return None
    (row,), (step,) = apart, along
    follow = all(subtract(one.args[row], first[row]) == Const(k // each) for k, one in enumerate(calls))
    steady = loop.iterator not in names(subtract(first[step], Name(loop.iterator)))
    return Summed(tuple(group), row, step, width) if follow and steady else None


def _in_one_call(made: _Sum, loop: For, first: Call, length: Expr) -> Call:
    args, step = list(first.args), made.summed.step
    args[step] = substitute(args[step], {loop.iterator: loop.lower})
    return Call(made.statement.name, (*args, length))


class _Parts(Struct, eq=False):
    """The references of some statements. moving: iterators of rows and steps. rows, common: cells that move along the
    steps, of rows of their own and of none. own: cells that move with the row alone, side by side. scalars: variables
    that stay. temporaries: those that each step sets first. types: of all of them, but for typedefs' names, by
    spelling. written: arrays of the source."""

    source: Scop
    scop: Scop
    moving: tuple[str, str]
    width: int
    rows: list[ir.ArrayRef] = field(default_factory=list)
    common: list[ir.ArrayRef] = field(default_factory=list)
    own: list[ir.ArrayRef] = field(default_factory=list)
    scalars: list[ir.ID] = field(default_factory=list)
    temporaries: list[str] = field(default_factory=list)
    types: dict[str, CType] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    def update(self, statement: Statement, original: Statement) -> Update | None:
        """What a statement does, over names for its references; None if it has other parts."""
        match statement.body:
            case ir.Assignment(op="+=" | "-=" | "=" as op, lvalue=target, rvalue=value):
                become = dict(self.named(value, original))
                if None in become.values():
                    return None
                made = with_nodes(value, become)
                name = self.target(target, op, original)
                return None if name is None else Update(name, op, made)
        return None

    def target(self, node: ir.Node, op: str, original: Statement) -> str | None:
        if isinstance(node, ir.ID):
            array = next((one for one in self.source.arrays.values() if one.spelling == node.name), None)
            plain = array is not None and not array.rank and array.private and op == "="
            known = node.name in self.temporaries or any(one.name == node.name for one in self.scalars)
            if array is None or not plain or known or not self.has_type(array):
                return None
            self.temporaries.append(node.name)
            return f"temporary{len(self.temporaries) - 1}"
        found = self.cell(node, original) if isinstance(node, ir.ArrayRef) else None
        self.written |= {one.array for one in original.accesses if one.is_write}
        return found if found is not None and found.startswith("own") else None

    def named(self, node: ir.Node, original: Statement) -> Iterator[tuple[ir.Node, ir.ID | None]]:
        match node:
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                yield from self.named(left, original)
                yield from self.named(right, original)
            case ir.UnaryOp(op="-", expr=inner):
                yield from self.named(inner, original)
            case ir.Constant(type=kind) if kind in _FLOATING:
                self.types.setdefault(kind, CType(kind))
            case ir.ID(name=name) if name in self.temporaries:
                yield node, ir.ID(f"temporary{self.temporaries.index(name)}")
            case ir.ID(name=name):
                array = next((one for one in self.source.arrays.values() if one.spelling == name), None)
                plain = array is not None and not array.rank and self.has_type(array)
                yield node, ir.ID(_listed(self.scalars, node, "scalar")) if plain else None
            case ir.ArrayRef():
                found = self.cell(node, original)
                yield node, None if found is None else ir.ID(found)
            case _:
                yield node, None

    def cell(self, node: ir.ArrayRef, original: Statement) -> str | None:
        """The name of a cell."""
        buffer = self.buffer(node)
        if buffer is not None:
            fits = buffer.rank == 1 and buffer.sizes == (self.width,) and self.moving[0] in used_names(node.subscript)
            return _listed(self.own, node, "own") if fits and self.has_type(buffer) else None
        access = next((one for one in original.accesses if same_tree(one.node, node)), None)
        array = self.source.arrays[access.array] if access is not None else None
        if access is None or array is None or not self.has_type(array):
            return None
        rows = self.moves(access, original)
        if rows is None or not is_cell(node, array.spelling, array.rank):
            return None
        *outer, last = rows
        if any(step for _, step in outer) or last not in ((1, 0), (0, 1)):
            return None
        moved = any(row for row, _ in outer)
        if last == (1, 0):
            return None if moved or array.rows else _listed(self.own, node, "own")
        return _listed(self.rows, node, "row") if moved else _listed(self.common, node, "common")

    def buffer(self, node: ir.ArrayRef) -> Array | None:
        """The one of our own that a reference is to."""
        if not isinstance(node.name, ir.ID):
            return None
        arrays = self.scop.arrays.items()
        return next(
            (one for key, one in arrays if key not in self.source.arrays and one.spelling == node.name.name), None
        )

    def moves(self, access: Access, original: Statement) -> list[tuple[int, int]] | None:
        """By how much each subscript grows with the row, and with the step."""
        rows = subscript_rows(access.relation)
        if rows is None or not set(self.moving) <= set(original.iterators):
            return None
        row, step = map(original.iterators.index, self.moving)
        return [(int(one[row]), int(one[step])) for one in rows]

    def has_type(self, array: Array) -> bool:
        own = plain_type(array.type, self.source.long_type)
        if own is None or own.spelling not in _FLOATING or own.volatile or own.atomic:
            return False
        self.types[own.spelling] = own
        return True

    def clash(self) -> bool:
        """Whether an array that is written is read in another way, too: what is turned is read before."""
        cells = [one for one in self.own if self.buffer(one) is None]
        others = {name for one in (*self.rows, *self.common) for name in _base(one)}
        mine = [name for one in cells for name in _base(one)]
        written = {self.source.arrays[name].spelling for name in self.written}
        return bool(written & others) or any(mine.count(name) > 1 for name in written)

    def arguments(self) -> Iterator[ir.Node]:
        for node in self.rows:
            yield from (address(next_row(node, self.moving[0], further)) for further in range(self.width))
        yield from map(address, self.common)
        yield from self.scalars
        yield from map(address, self.own)


def next_row(node: ir.Node, iterator: str, further: int) -> ir.Node:
    """A reference to the same cell of a row so much further. iterator: the rows'."""
    moving = [one for one in walk(node) if isinstance(one, ir.ID) and one.name == iterator]
    become: dict[ir.Node, ir.Node] = {one: added(one, further) for one in moving}
    made: ir.Node = with_nodes(node, become)
    return made


def _base(node: ir.Node) -> Iterator[str]:
    """The name of a reference's array."""
    while isinstance(node, ir.ArrayRef):
        node = node.name
    if isinstance(node, ir.ID):
        yield node.name


def _listed(known: list, node: ir.Node, what: str) -> str:  # type: ignore[type-arg]
    """The name of a part, which is added to those that are known if it is a new one."""
    place = next((k for k, one in enumerate(known) if same_tree(one, node)), len(known))
    if place == len(known):
        known.append(node)
    return f"{what}{place}"
