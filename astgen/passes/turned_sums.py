"""Sums along rows beside each other: one call of a function that makes lanes of the rows, in the place of the loop.

``for j: { s0 += a[i][j] * x[j]; s1 += a[i + 1][j] * x[j]; … }`` reads a cell of each row at each step. The function
(`scopt.astgen.lower.row_sums`) turns blocks of such cells in registers, so that all rows' sums grow by one vector
operation a step, each still in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.body_syntax import address, call, row_length
from scopt.astgen.lower.row_sums import RowSums, function_name
from scopt.astgen.lower.strip_statements import statement_of
from scopt.astgen.lower.tile_records import Turned
from scopt.astgen.lower.transposing import turned_lanes
from scopt.ir.ctypes import plain_type
from scopt.ir.expr import names, plus, substitute, subtract
from scopt.ir.nest import Block, Call, Const, Expr, For, LoopNest, Name
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.walks import same_tree, with_nodes
from scopt.machine import Machine
from scopt.poly.linear import subscript_rows

_FLOATING = ("float", "double")
# Steps that a block has at most: shorter rows have none, or one.
_FEW = 8


class Summing(Struct, frozen=True, eq=False):
    """What calls of such functions stand for. turned: by name of the statement of one step of one row, the call for
    all. functions: that they call."""

    turned: Mapping[str, Turned] = {}
    functions: tuple[RowSums, ...] = ()


def with_turned_sums(
    source: Scop, scop: Scop, originals: Mapping[str, str], nest: LoopNest, machine: Machine
) -> tuple[Scop, LoopNest, Summing]:
    """The nest with such calls, the SCoP with their statements, and what they stand for. originals: by name of a
    statement of the nest that isn't the source's own, the one that it stands for."""
    maker = _Maker(source, scop, originals, machine)
    body = map_block(nest.body, maker.item)
    made = (one for one in maker.made.values() if one is not None)
    whole = replace(scop, statements=(*scop.statements, *(one.statement for one in made)))
    turned = {name: one.turned for name, one in maker.made.items() if one is not None}
    return whole, LoopNest(body), Summing(turned, tuple(maker.functions))


class _Sum(Struct, frozen=True, eq=False):
    """statement: the call. turned: what it stands for. width: rows."""

    statement: Statement
    turned: Turned
    width: int


class _Maker(Struct, eq=False):
    """made: by name of a statement, its sums in one call; None where there are none."""

    source: Scop
    scop: Scop
    originals: Mapping[str, str]
    machine: Machine
    made: dict[str, _Sum | None] = field(default_factory=dict)
    functions: list[RowSums] = field(default_factory=list)

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(step=1, body=Block((Call() as first, *others)), lower=lower, upper=upper) if item.mark.beside:
                length = plus(subtract(upper, lower), 1)
                if not isinstance(length, Const) or length.value >= _FEW:
                    place = _place(item, first, others)
                    made = None if place is None else self.sums(first.statement, *place, 1 + len(others))
                    if made is not None:
                        return (_in_one_call(made, item, first, length),)
        return (item,)

    def sums(self, name: str, row: int, step: int, width: int) -> _Sum | None:
        """Of a statement whose iterators at these places go through rows and steps."""
        if name not in self.made:
            self.made[name] = self.new(self.scop.statement(name), row, step, width)
        found = self.made[name]
        same = found is not None and (found.turned.row, found.turned.step, found.width) == (row, step, width)
        return found if same else None

    def new(self, statement: Statement, row: int, step: int, width: int) -> _Sum | None:
        original = self.source.statement(self.originals.get(statement.name, statement.name))
        moving = statement.iterators[row], statement.iterators[step]
        match statement.body:
            case ir.Assignment(op="+=" | "-=" as op, lvalue=ir.ArrayRef(name=ir.ID(name=buffer)) as cell, rvalue=value):
                ctype = self.type_of(buffer, width)
            case _:
                return None
        if ctype is None or not set(moving) <= set(original.iterators):
            return None
        parts = _Parts(self.source, original, *map(original.iterators.index, moving), ctype)
        operand = parts.operand(value)
        lanes = turned_lanes(ctype, width, self.machine)
        if operand is None or not parts.rows or lanes < 2 or width % lanes:
            return None
        counts = len(parts.rows), len(parts.common), len(parts.scalars)
        function = self.function(op, operand, counts, ctype, width, lanes)
        body = call(function.name, [ir.ID("$count"), *parts.arguments(), address(cell)])
        iterators = [*statement.iterators, "$count"]
        name = f"{statement.name}_summed"
        domain = isl.Set(f"{{ {name}[{', '.join(f'x{k}' for k in range(len(iterators)))}] }}")
        return _Sum(statement_of(self.source, name, domain, iterators, body), Turned(name, row, step), width)

    def type_of(self, buffer: str, width: int) -> CType | None:
        """Of the cells of a buffer of our own that has one for each row."""
        if buffer in self.source.arrays or buffer not in self.scop.arrays:
            return None
        array = self.scop.arrays[buffer]
        ctype = plain_type(array.type, self.scop.long_type)
        fits = array.rank == 1 and array.sizes == (width,) and array.spelling == buffer
        return ctype if fits and ctype is not None and ctype.spelling in _FLOATING else None

    def function(
        self, op: str, operand: ir.Node, counts: tuple[int, int, int], ctype: CType, width: int, lanes: int
    ) -> RowSums:
        """One that was made, if it does the same."""
        name = function_name(self.source.name.removeprefix("scop"), len(self.functions))
        made = RowSums(name, op, operand, *counts, ctype, width, self.source.long_type, lanes)
        same = next((one for one in self.functions if one.same(made)), None)
        if same is None:
            self.functions.append(made)
        return same or made


def _place(loop: For, first: Call, others: list[Item]) -> tuple[int, int] | None:
    """Which arguments of a statement are the row, and the step, where calls beside each other are for rows that follow
    each other."""
    calls = [first, *(one for one in others if isinstance(one, Call))]
    if len(calls) <= len(others) or {one.statement for one in calls} != {first.statement} or first.held:
        return None
    apart = {k for one in calls for k, pair in enumerate(zip(one.args, first.args, strict=True)) if pair[0] != pair[1]}
    along = [k for k, argument in enumerate(first.args) if loop.iterator in names(argument)]
    if len(apart) != 1 or len(along) != 1 or apart == {*along}:
        return None
    (row,), (step,) = apart, along
    follow = all(subtract(one.args[row], first.args[row]) == Const(k) for k, one in enumerate(calls))
    steady = loop.iterator not in names(subtract(first.args[step], Name(loop.iterator)))
    return (row, step) if follow and steady and not any(one.held for one in calls) else None


def _in_one_call(made: _Sum, loop: For, first: Call, length: Expr) -> Call:
    args = list(first.args)
    args[made.turned.step] = substitute(args[made.turned.step], {loop.iterator: loop.lower})
    return Call(made.turned.name, (*args, length))


class _Parts(Struct, eq=False):
    """The references of an operand. row, step: positions among the iterators of the statement. ctype: what all of them
    are of. rows, common: cells that move along the steps, of rows of their own and of none; with the subscript that the
    row moves. scalars: variables that stay."""

    source: Scop
    statement: Statement
    row: int
    step: int
    ctype: CType
    rows: list[tuple[ir.ArrayRef, int]] = field(default_factory=list)
    common: list[ir.ArrayRef] = field(default_factory=list)
    scalars: list[ir.ID] = field(default_factory=list)

    def operand(self, value: ir.Node) -> ir.Node | None:
        """An expression over names for its references; None if it has other parts."""
        become = dict(self.named(value))
        return with_nodes(value, become) if None not in become.values() else None

    def named(self, node: ir.Node) -> Iterator[tuple[ir.Node, ir.ID | None]]:
        match node:
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                yield from self.named(left)
                yield from self.named(right)
            case ir.UnaryOp(op="-", expr=inner):
                yield from self.named(inner)
            case ir.Constant(type=kind) if kind == self.ctype.spelling:
                return
            case ir.ArrayRef() | ir.ID():
                yield node, self.name_of(node)
            case _:
                yield node, None

    def name_of(self, node: ir.ArrayRef | ir.ID) -> ir.ID | None:
        """What stands for a reference."""
        access = next((one for one in self.statement.accesses if same_tree(one.node, node)), None)
        if access is None or access.kind != "read" or not self.has_type(access):
            return None
        array = self.source.arrays[access.array]
        if isinstance(node, ir.ID):
            return _listed(self.scalars, node, "scalar") if not array.rank and node.name == array.spelling else None
        rows = subscript_rows(access.relation)
        if rows is None or array.rows or not is_cell(node, array.spelling, array.rank):
            return None
        *outer, last = ((one[self.row], one[self.step]) for one in rows)
        moved = [k for k, moves in enumerate(outer) if moves != (0, 0)]
        if last != (0, 1):
            return None
        if not moved:
            return _listed(self.common, node, "common")
        if len(moved) != 1 or outer[moved[0]] != (1, 0):
            return None
        known = next((k for k, (one, _) in enumerate(self.rows) if same_tree(one, node)), len(self.rows))
        if known == len(self.rows):
            self.rows.append((node, moved[0]))
        return ir.ID(f"row{known}")

    def has_type(self, access: Access) -> bool:
        own = plain_type(self.source.arrays[access.array].type, self.source.long_type)
        return own is not None and own.spelling == self.ctype.spelling and not (own.volatile or own.atomic)

    def arguments(self) -> Iterator[ir.Node]:
        for node, subscript in self.rows:
            yield from (address(node), row_length(node, subscript, self.source.flat))
        yield from map(address, self.common)
        yield from self.scalars


def _listed(known: list, node: ir.Node, what: str) -> ir.ID:  # type: ignore[type-arg]
    """The name of a part, which is added to those that are known if it is a new one."""
    place = next((k for k, one in enumerate(known) if same_tree(one, node)), len(known))
    if place == len(known):
        known.append(node)
    return ir.ID(f"{what}{place}")
