"""Loops whose iterations exchange pointers, ``tmp = a; a = b; b = tmp;``: stencils with two or three buffers, dynamic
programs with two rows.

What an iteration does to the pointers is a permutation of the values that they have in front of the loop. After k
iterations, its order, all are what they were: iteration i is one of k copies of the body, by the remainder of i, and in
each copy the pointers' first values stand in their places. Nothing sets a pointer any more; those that somebody reads
behind the region get their last values there, by as many of the exchanges as are left over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.exchanged_rows import in_rows
from scopt.frontend.normalize.exchanges import Exchange, Known, exchange_of
from scopt.frontend.normalize.members import Hoisted
from scopt.frontend.normalize.tree_rewriting import names_of, number, value_of
from scopt.frontend.normalize.turns import Turns, text_of, turns_of
from scopt.frontend.syntax.structs import Definitions, Types
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.effects import effects
from scopt.ir.walks import changed, walk


class ExchangedPointers(Struct, frozen=True, eq=False):
    """items: the statements. behind: C statements, one each, that give pointers their last values behind the region.
    form: of such loops, as in `scopt.ir.scop.Scop.exchanged`. rows: arrays of two pointers that stand for them."""

    items: tuple[Any, ...]
    behind: tuple[str, ...] = ()
    form: str = ""
    rows: tuple[Hoisted, ...] = ()


class Surroundings(Struct, frozen=True, eq=False):
    """symbols: what names mean where the region begins. structs: definitions of structures. before: the statements in
    front of the region that are executed one after the other, and then the region. defined: functions with a body in
    the file. read_after: whether what the region leaves in a variable may be read. reserved: names that mean something.
    long_type: an integer type of 64 bits. in_rows: stores to cells of rows leave the pointers to them what they are."""

    symbols: Mapping[str, Symbol]
    structs: Definitions
    before: Sequence[Any]
    defined: Collection[str]
    read_after: Callable[[str], bool]
    reserved: frozenset[str]
    long_type: str
    in_rows: bool


def with_exchanged_pointers(items: Sequence[Any], around: Surroundings) -> ExchangedPointers:
    """The statements of a region with such loops in that form: those that are executed once, whatever data say."""
    if not any(isinstance(item, (ir.For, ir.Compound)) for item in items):
        return ExchangedPointers(tuple(items))
    maker = _Maker(around, tuple(items))
    made = maker.block(items, around.symbols, (), ())
    return ExchangedPointers(tuple(made), tuple(maker.behind), maker.form, tuple(maker.rows))


class _Maker(Struct, eq=False):
    """region: its statements. behind, rows, form: as in `ExchangedPointers`."""

    around: Surroundings
    region: tuple[Any, ...]
    behind: list[str] = []
    form: str = ""
    rows: list[Hoisted] = []

    def block(
        self, items: Sequence[Any], scope: Mapping[str, Symbol], before: Sequence[Any], after: Sequence[Any]
    ) -> list[Any]:
        """The items of a block that is executed once. before, after: what is executed in front of it and behind it in
        the region."""
        inner, made = dict(scope), []
        for place, item in enumerate(items):
            rest = (*items[place + 1 :], *after)
            if isinstance(item, ir.Decl) and item.name:
                inner[item.name] = symbol_of(item, inner)
            if isinstance(item, ir.Compound):
                block = self.block(item.block_items or (), inner, (*before, *items[:place]), rest)
                item = changed(item, block_items=block) if self.form else item
            elif isinstance(item, ir.For):
                item = self.loop(item, inner, (*before, *items[:place]), rest)
            made.append(item)
        return made

    def loop(self, loop: ir.For, scope: Mapping[str, Symbol], before: Sequence[Any], after: Sequence[Any]) -> Any:
        """What stands in a loop's place: itself, if it isn't one of that kind. before: what is executed in front of it
        in the region."""
        turns = turns_of(loop)
        known = Known(self.around.structs, scope, (*self.around.before, *before), self.around.defined)
        exchange = exchange_of(loop, turns, scope, known) if turns is not None and _is_told(turns, scope) else None
        if turns is None or exchange is None or not _is_last(turns, exchange, after):
            return loop
        wanted = [key for key in exchange.outer if self.is_wanted(key, scope)]
        if wanted:
            inside = {one.name for one in walk(*self.region) if isinstance(one, ir.Decl)}
            named = {name for key in exchange.outer for name in names_of(key)} | names_of(turns.start)
            if (named | names_of(turns.end)) & inside:
                return loop
            self.behind.append(self.left_over(turns, exchange, wanted))
        rows = in_rows(loop, turns, exchange, Types(scope, self.around.structs), self.taken())
        if rows is None or not self.around.in_rows or not self.are_first(exchange, before):
            self.form = "copies"
            return changed(loop, stmt=_in_copies(loop, turns, exchange))
        self.form = self.form or "rows"
        self.rows.append(rows[1])
        return rows[0]

    def are_first(self, exchange: Exchange, before: Sequence[Any]) -> bool:
        """Whether the pointers have the values that they have in front of the region, where a loop begins. before: what
        is executed in front of it in the region."""
        done = effects(*before)
        names = {name for key in exchange.cycle for name in names_of(key)}
        declared = {one.name for one in walk(*self.region) if isinstance(one, ir.Decl)}
        plain = all(isinstance(key, ir.ID) for key in exchange.cycle) and not (done.opaque or done.unnamed)
        return not names & (declared | done.changed) and (plain or not before)

    def taken(self) -> frozenset[str]:
        return self.around.reserved | {one.symbol.name for one in self.rows}

    def is_wanted(self, key: Any, scope: Mapping[str, Symbol]) -> bool:
        """Whether the value that the region leaves in a pointer may be read."""
        if not isinstance(key, ir.ID):
            return True
        own = scope.get(key.name) is not self.around.symbols.get(key.name)
        return not own and self.around.read_after(key.name)

    def left_over(self, turns: Turns, exchange: Exchange, wanted: Sequence[Any]) -> str:
        """The statement behind the region: the exchanges that don't make each other good."""
        steps, order = turns.number(self.around.long_type), exchange.order
        body = " ".join(f"{text_of(one)};" for one in exchange.setters)
        cycle = [text_of(key) for key in exchange.cycle]
        if all(text_of(key) in cycle for key in wanted) and order == 2:
            return f"if ({steps} > 0 && {steps} % 2 == 1) {{ {body} }}"
        names = (f"turn_{k}" if k > 1 else "turn" for k in count(1))
        used = self.around.reserved | {name for one in exchange.setters for name in names_of(one)}
        name = next(name for name in names if name not in used)
        declared = f"{self.around.long_type} {name} = {steps} > 0 ? ({steps} - 1) % {order} + 1 : 0"
        return f"for ({declared}; {name} > 0; {name}--) {{ {body} }}"


def _is_told(turns: Turns, scope: Mapping[str, Symbol]) -> bool:
    """Whether the loop's bounds are compared as the numbers that they are: no negative one becomes a large one."""
    first = value_of(turns.start)
    if turns.step > 0 and first is not None and first >= 0:
        return True
    bounds = [node for end in (turns.start, turns.end) for node in walk(end)]
    plain = all(isinstance(one, (ir.ID, ir.BinaryOp, ir.UnaryOp)) or value_of(one) is not None for one in bounds)
    symbols = [scope.get(one.name) for one in bounds if isinstance(one, ir.ID)]
    return plain and all(one is not None and one.type.integer and one.type.signed for one in symbols)


def _is_last(turns: Turns, exchange: Exchange, after: Sequence[Any]) -> bool:
    """Whether nothing behind the loop in the region names the pointers, or changes how often it runs."""
    names = {name for key in exchange.outer for name in names_of(key)}
    bounds = names_of(turns.start) | names_of(turns.end)
    return not any(names & names_of(item) for item in after) and not bounds & effects(*after).changed


def _in_copies(loop: ir.For, turns: Turns, exchange: Exchange) -> Any:
    """The body that does, in each iteration, what the copy for that does."""
    made: Any
    *some, made = (ir.Compound(list(copy), loop.stmt.coord) for copy in exchange.copies)
    for place in reversed(range(len(some))):
        rest = ir.BinaryOp("%", turns.since_start(), number(exchange.order), loop.coord)
        made = ir.If(ir.BinaryOp("==", rest, number(place), loop.coord), some[place], made, loop.coord)
    return ir.Compound([made], loop.stmt.coord)
