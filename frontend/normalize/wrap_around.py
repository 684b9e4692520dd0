"""Variables that hand a value of one iteration to the next one, ``d[i] = x[i] - last; last = x[i];``, where that value
can be computed anew: the first iteration apart, the others begin with ``last = x[i - 1];``.

Wrap-around variables (Padua and Wolfe, "Advanced compiler optimizations for supercomputers", 1986), for all that an
iteration can compute from what the loop leaves as it is: iterators, cells, and arithmetic on a few of these. It is done
where nothing else that can be seen keeps iterations in order, so that a vector loop is gained by another load or two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.opaque import LOOPS, leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import (
    cast,
    is_plain,
    items_of,
    mentions,
    names_of,
    plus,
    step_of,
    substituted,
    value_of,
)
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.ctypes import is_complex
from scopt.ir.effects import Effects, assigns, changes_of, effects, target
from scopt.ir.walks import changed, copied, same_tree, walk

# Cells and operations of a value that is computed anew; nodes of a loop that may stand there twice.
_CELLS, _OPERATIONS, _LONGEST = 3, 6, 300
_OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class WrapAround(Struct, frozen=True, eq=False):
    """symbol(name): what a name means in the whole region. is_iterator(loop): whether a loop's iterator is a signed
    variable that only its name leads to, and whose last value nobody reads. is_steady(name): whether a name is that of
    a macro, or of a variable that only its name leads to. used_after(name): whether the value that the loop leaves in a
    variable may be read. fresh(name): a name of its own for such a variable. defined: functions with a body in this
    file."""

    symbol: Callable[[str], Symbol | None]
    is_iterator: Callable[[ir.For], bool]
    is_steady: Callable[[str], bool]
    used_after: Callable[[str], bool]
    fresh: Callable[[str], str]
    defined: frozenset[str]

    def apart(self, loop: Any) -> Any:
        """What stands in a loop's place: itself, if it isn't one of that kind."""
        count = _count(loop) if isinstance(loop, ir.For) else None
        if count is None or not self.is_simple(count):
            return loop
        made, rest = self.first_apart(count, {})
        return made if rest is not None and self.is_free(rest) else loop

    def is_simple(self, count: _Count) -> bool:
        """Whether a loop runs through its iterations, and does nothing else but to compute values."""
        loop = count.loop
        if any(isinstance(node, (*LOOPS, ir.Switch, ir.Pragma)) for node in walk(loop.stmt)):
            return False
        if out_of_statements(loop.stmt) is not None or next(leaving(loop.stmt), None) is not None:
            return False
        if sum(1 for _ in walk(loop.stmt)) > _LONGEST or not self.is_iterator(loop):
            return False
        done = effects(loop)
        if done.opaque or done.unnamed or done.taken or not done.called <= VALUE_FUNCTIONS - self.defined:
            return False
        ends = names_of(count.start) | names_of(count.end)
        return not ends & done.changed and all(map(self.is_steady, ends))

    def first_apart(self, count: _Count, own: Mapping[str, Symbol]) -> tuple[Any, _Count | None]:
        """The loop with its first iteration apart for each variable that is handed on, and the loop over the rest; the
        loop and None if there is none. own: variables that iterations declare in the place of those handed on."""
        found = next(self.handed_on(count, own), None)
        if found is None:
            return count.loop, None
        name, position, value = found
        symbol, fresh = self.symbol(name), self.fresh(name)
        if symbol is None or fresh in own:
            return count.loop, None
        items = list(items_of(count.loop.stmt))
        if not any(mentions(item, name) for item in items[position + 1 :]):
            del items[position]
        declared = ir.Decl(fresh, [], [], [], [], _type(fresh, symbol), copied(value), None, count.loop.coord)
        rest = count.behind_first([declared, *(substituted(item, name, ir.ID(fresh)) for item in items)])
        inner, last = self.first_apart(rest, {**own, fresh: replace(symbol, name=fresh)})
        behind = []
        if self.used_after(name):
            behind.append(_set(name, self.at_the_end(count, value)))
        stands = count.compared(copied(count.start))
        block = ir.Compound([count.only_first(items), inner, *behind], count.loop.coord)
        return ir.If(stands, block, None, count.loop.coord), last or rest

    def at_the_end(self, count: _Count, value: Any) -> Any:
        """What the value that the next iteration begins with is behind the last one."""
        beyond, spelling = plus(copied(count.end), count.step if "=" in count.op else 0), self.iterator_type(count)
        names = [node.name for node in walk(beyond) if isinstance(node, ir.ID)]
        numbers = all(value_of(node) is not None for node in walk(beyond) if isinstance(node, ir.Constant))
        types = {"int" if (one := self.symbol(name)) is None else one.type.spelling for name in names} or {"int"}
        beyond = beyond if numbers and types == {spelling} else cast(spelling, beyond)
        return substituted(value, count.name, beyond)

    def iterator_type(self, count: _Count) -> str:
        init = count.loop.init
        if isinstance(init, ir.DeclList):
            return " ".join(init.decls[0].type.type.names)
        symbol = self.symbol(count.name)
        assert symbol is not None
        return symbol.type.spelling

    def handed_on(self, count: _Count, own: Mapping[str, Symbol]) -> Iterator[tuple[str, int, Any]]:
        """Variables whose value in an iteration is what the one before has computed: with the position of the statement
        that does that, and the value as the next iteration says it."""
        items = items_of(count.loop.stmt)
        done = effects(count.loop)
        for position, item in enumerate(items):
            match item:
                case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
                    pass
                case _:
                    continue
            if not self.is_number(name) or changes_of(name, count.loop) > 1 or not _read_first(name, items, position):
                continue
            found = _Values(self, count.name, done, own).of(value, items[:position])
            if found is None or name in names_of(found) or not _is_cheap(found):
                continue
            yield name, position, substituted(found, count.name, plus(ir.ID(count.name), -count.step))

    def is_number(self, name: str) -> bool:
        symbol = self.symbol(name)
        if symbol is None or symbol.static or symbol.address_taken or symbol.kind not in ("local", "parameter"):
            return False
        if symbol.dims or symbol.pointer or symbol.type.volatile or symbol.type.atomic:
            return False
        return symbol.type.integer or (symbol.type.floating and not is_complex(symbol.type))

    def is_free(self, count: _Count) -> bool:
        """Whether nothing that can be seen at once keeps the iterations of a loop in order."""
        items = items_of(count.loop.stmt)
        for name in effects(count.loop.stmt).assigned:
            first = next(k for k, item in enumerate(items) if mentions(item, name) or changes_of(name, item))
            if not _sets(items[first], name) and not self.is_sum(name, items):
                return False
        cells = [node for node in _cells(count.loop.stmt)]
        written = [found for node in walk(count.loop.stmt) if isinstance(found := target(node), ir.ArrayRef)]
        bases = {_base(node) for node in written}
        return all(_base(node) not in bases or any(same_tree(node, other) for other in written) for node in cells)

    def is_sum(self, name: str, items: Sequence[Any]) -> bool:
        """Whether a loop does nothing else with an integer but to add to it."""
        symbol = self.symbol(name)
        nodes = [node for node in walk(*items) if assigns(node, name)]
        updates = all(isinstance(node, ir.UnaryOp) or node.op in ("+=", "-=") for node in nodes)
        return (
            symbol is not None
            and symbol.type.integer
            and updates
            and sum(mentions(item, name) for item in items) == len(nodes)
        )


class _Values(Struct, frozen=True, eq=False):
    """What expressions of a loop's body are. done: what the loop does. own: variables that its iterations declare, and
    the source doesn't know."""

    names: WrapAround
    iterator: str
    done: Effects
    own: Mapping[str, Symbol]

    def of(self, node: Any, before: Sequence[Any]) -> Any | None:
        """An expression as the loop's iterator, and what it leaves as it is, make it; None if there is more to it.
        before: the statements in front of it in its iteration."""
        match node:
            case ir.Constant():
                return node
            case ir.ID(name=name):
                if name not in self.done.changed:
                    return node if self.names.is_steady(name) or self.names.is_number(name) else None
                return self.variable(node, before)
            case ir.Cast(to_type=ir.Typename(type=ir.TypeDecl())):
                found = self.of(node.expr, before)
                return found and changed(node, expr=found)
            case ir.UnaryOp(op="+" | "-" | "!" | "~"):
                found = self.of(node.expr, before)
                return found and changed(node, expr=found)
            case ir.BinaryOp(op=op) if op not in ("/", "%"):
                left, right = (self.of(side, before) for side in (node.left, node.right))
                return changed(node, left=left, right=right) if left is not None and right is not None else None
            case ir.ArrayRef():
                return self.cell(node, before)
        return None

    def variable(self, node: ir.ID, before: Sequence[Any]) -> Any | None:
        """The value of a variable that the loop changes: that of its last assignment, in the same iteration."""
        name = node.name
        position = next((k for k in reversed(range(len(before))) if name in effects(before[k]).changed), None)
        symbol = self.own.get(name) or self.names.symbol(name)
        if position is None:
            return node if name == self.iterator else None
        if symbol is None or not (name in self.own or self.names.is_number(name)):
            return None
        match before[position]:
            case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value) if own == name:
                pass
            case ir.Decl(init=value) if value is not None:
                pass
            case _:
                return None
        found = self.of(value, before[:position])
        return found and cast(symbol.type.spelling, found)

    def cell(self, node: ir.ArrayRef, before: Sequence[Any]) -> Any | None:
        """A cell of an array that the loop only reads."""
        subscript = self.of(node.subscript, before)
        match node.name:
            case ir.ArrayRef():
                base = self.cell(node.name, before)
            case ir.ID(name=name):
                symbol = self.names.symbol(name)
                plain = symbol is not None and not symbol.type.volatile and not symbol.type.atomic
                kept = name not in self.done.written | self.done.passed
                base = node.name if plain and kept else None
            case _:
                base = None
        return changed(node, name=base, subscript=subscript) if base is not None and subscript is not None else None


# --- loops that count -------------------------------------------------------------------------------------------------


class _Count(Struct, frozen=True, eq=False):
    """A loop over an iterator that steps by 1 or -1: from start, while it compares (op) with end."""

    loop: ir.For
    name: str
    start: Any
    op: str
    end: Any
    step: int

    def compared(self, value: Any) -> Any:
        return ir.BinaryOp(self.op, value, copied(self.end), self.loop.coord)

    def only_first(self, items: Sequence[Any]) -> ir.For:
        """The loop over the first iteration."""
        until = ir.BinaryOp("<=" if self.step > 0 else ">=", ir.ID(self.name), copied(self.start), self.loop.coord)
        body = ir.Compound([copied(item) for item in items], self.loop.stmt.coord)
        return changed(copied(self.loop), cond=until, stmt=body)

    def behind_first(self, items: Sequence[Any]) -> _Count:
        """The loop over all other iterations, with another body."""
        start = plus(copied(self.start), self.step)
        if isinstance(self.loop.init, ir.DeclList):
            init: Any = changed(self.loop.init, decls=[changed(self.loop.init.decls[0], init=start)])
        else:
            init = changed(self.loop.init, rvalue=start)
        body = ir.Compound([copied(item) for item in items], self.loop.stmt.coord)
        loop = changed(self.loop, init=init, stmt=body)
        return _Count(loop, self.name, start, self.op, self.end, self.step)


def _count(loop: ir.For) -> _Count | None:
    name = loop_iterator(loop)
    if name is None or name in effects(loop.stmt, loop.cond).changed or not isinstance(loop.cond, ir.BinaryOp):
        return None
    start = loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue
    step, cond = step_of(loop.next), loop.cond
    if step is None or step[0] != name or abs(step[1]) != 1 or not is_plain(start):
        return None
    sides = (cond.op, cond.left, cond.right)
    if isinstance(cond.right, ir.ID) and cond.right.name == name and cond.op in _OPPOSITE:
        sides = (_OPPOSITE[cond.op], cond.right, cond.left)
    op, own, end = sides
    if not isinstance(own, ir.ID) or own.name != name or not is_plain(end) or mentions(end, name):
        return None
    return _Count(loop, name, start, op, end, step[1]) if op in (("<", "<=") if step[1] > 0 else (">", ">=")) else None


def _type(name: str, symbol: Symbol) -> Any:
    return ir.TypeDecl(name, [], None, ir.IdentifierType(symbol.type.spelling.split()))


# --- statements -------------------------------------------------------------------------------------------------------


def _set(name: str, value: Any) -> ir.Assignment:
    return ir.Assignment("=", ir.ID(name), copied(value), getattr(value, "coord", None))


def _sets(item: Any, name: str) -> bool:
    """Whether a statement surely gives a variable a value, and doesn't ask for the one that it has."""
    match item:
        case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value):
            return bool(own == name) and not mentions(value, name)
    return isinstance(item, ir.Decl) and item.name == name


def _read_first(name: str, items: Sequence[Any], position: int) -> bool:
    """Whether a variable is looked at in front of the statement that sets it, or in it."""
    return any(mentions(item, name) for item in items[:position])


def _is_cheap(value: Any) -> bool:
    nodes = list(walk(value))
    cells = sum(isinstance(node, ir.ArrayRef) and not isinstance(node.name, ir.ArrayRef) for node in nodes)
    return cells <= _CELLS and sum(isinstance(node, ir.BinaryOp) for node in nodes) <= _OPERATIONS


def _cells(node: Any) -> Iterator[ir.ArrayRef]:
    """The cells that a node names, those in subscripts too; not the rows of cells."""
    rows = {id(found.name) for found in walk(node) if isinstance(found, ir.ArrayRef)}
    return (found for found in walk(node) if isinstance(found, ir.ArrayRef) and id(found) not in rows)


def _base(node: Any) -> str:
    """The name that a cell is reached by; the empty string for what has none."""
    while isinstance(node, ir.ArrayRef):
        node = node.name
    return str(node.name) if isinstance(node, ir.ID) else ""
