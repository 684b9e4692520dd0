"""Numbers that are only handed on: ``a_x = p[i].x; made_x = a_x * s; t_x = made_x;`` is ``t_x = p[i].x * s;``.

Of variables that bodies of functions, structures and literals became here; those of the source keep their names.
Expressions stay as they are: a name takes another one's place, or that of a cell which it is a copy of, and a whole
value is assigned to what it is handed on to. So each number is rounded, and converted, where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.structs import Definitions, Types
from scopt.frontend.syntax.symbols import Symbol, is_value
from scopt.ir.effects import STEPS, effects
from scopt.ir.walks import changed, copied, mapped, replaced, used_names, walk

_ARITHMETIC = (ir.Constant, ir.BinaryOp, ir.Cast, ir.TernaryOp, ir.Typename, ir.TypeDecl, ir.IdentifierType)
_SIGNS = ("+", "-", "~", "!")
_PLAIN = (ir.Assignment, ir.Decl)


def without_copies(
    items: Sequence[Any],
    symbols: Mapping[str, Symbol],
    structs: Definitions,
    own: Collection[str],
    iterators: Collection[str],
    defined: Collection[str],
) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, without such variables. own: names that the
    source doesn't have. iterators: of its loops. defined: functions of the program's own."""
    given = _given(items)
    taken = effects(*items).taken
    numbers = frozenset(
        name for name, symbol in symbols.items() if is_value(symbol) and not symbol.pointer and name not in taken
    ) | ({*iterators} - symbols.keys() - taken)
    once = frozenset(name for name in numbers & {*own} if given[name] == 1)
    if not once:
        return tuple(items)
    quiet = frozenset(VALUE_FUNCTIONS).difference(defined)
    copies = _Copies(Types(symbols, structs), numbers, once, quiet, Counter(_read(items)))
    made = copies.block(items)
    unused = once - {*used_names(*made)}
    return tuple(_without_declarations(item, unused) for item in made if not _is_declared(item, unused))


def _given(items: Iterable[Any]) -> Counter[str]:
    """In how many places each name gets a value."""
    found = Counter[str]()
    for node in walk(*items):
        match node:
            case ir.Assignment(lvalue=ir.ID(name=name)):
                found[name] += 1
            case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if op in STEPS:
                found[name] += 1
            case ir.Decl(name=str(name), init=init) if init is not None:
                found[name] += 1
    return found


def _read(items: Iterable[Any]) -> list[str]:
    """The names that are read, each as often as it is."""
    nodes = list(walk(*items))
    given = {node.lvalue for node in nodes if isinstance(node, ir.Assignment) and node.op == "="}
    return [node.name for node in nodes if isinstance(node, ir.ID) and node not in given]


class _Copies(Struct, frozen=True, eq=False):
    """numbers: variables that only their names lead to. once: those of ours that get a value in one place. quiet:
    functions that write nothing. read: how often names are read."""

    types: Types
    numbers: frozenset[str]
    once: frozenset[str]
    quiet: frozenset[str]
    read: Counter[str]

    def block(self, items: Iterable[Any]) -> list[Any]:
        done = [self.within(item) for item in items]
        declared, place = set[str](), 0
        while place < len(done):
            item = done[place]
            if isinstance(item, ir.Decl):
                declared.add(item.name)
            found = _definition(item)
            shorter = None
            if found is not None and found[0] in self.once & declared:
                shorter = self.replaced(done, place, *found) or self.handed_on(done, place, *found)
            if shorter is None:
                place += 1
            else:
                done = shorter
        return done

    def within(self, node: Any) -> Any:
        if isinstance(node, ir.Compound):
            return changed(node, block_items=self.block(node.block_items or ()))
        return mapped(node, self.within) if isinstance(node, (ir.If, ir.For, ir.While, ir.DoWhile)) else node

    def replaced(self, items: list[Any], place: int, name: str, value: Any) -> list[Any] | None:
        """The block with what a variable is a copy of in its place."""
        readers = [k for k in range(place + 1, len(items)) if name in used_names(items[k])]
        if sum(_mentions(items[k], name) for k in readers) != self.read[name]:
            return None
        if not self.same_type(ir.ID(name), value):
            return None
        if not readers:
            return [*items[:place], *_declared_only(items[place]), *items[place + 1 :]]
        if not self.stays(items, place, readers[-1], value):
            return None
        if not isinstance(value, ir.ID) and not self.is_read_once(name, items[readers[-1]]):
            return None
        times = self.read[name]
        self.read.update({other: (times - 1) * count for other, count in Counter(used_names(value)).items()})

        def put_in(node: Any) -> Any:
            return copied(value) if isinstance(node, ir.ID) and node.name == name else node

        made = [replaced(item, put_in) if k in readers else item for k, item in enumerate(items)]
        return [*made[:place], *_declared_only(items[place]), *made[place + 1 :]]

    def is_read_once(self, name: str, item: Any) -> bool:
        """Whether a statement may read a cell where a variable has been. (What stands in subscripts stays: they are
        told by it.)"""
        typed, done = self.types.of(ir.ID(name)), effects(item)
        if typed is None or not typed.type.floating or self.read[name] != 1 or any(map(_may_skip, walk(item))):
            return False
        return _writes_at_last(item) and not done.opaque and done.called <= self.quiet

    def stays(self, items: list[Any], place: int, last: int, value: Any) -> bool:
        """Whether a variable, or a cell, has the same value until a statement has read it."""
        names = {*used_names(value)}
        between = effects(*items[place + 1 : last])
        if not names.isdisjoint(between.changed):
            return False
        if isinstance(value, ir.ID):
            own = _definition(items[last])
            return value.name in self.numbers and (
                value.name not in effects(items[last]).changed or (own is not None and own[0] == value.name)
            )
        return self.writes_numbers(items[place + 1 : last])

    def handed_on(self, items: list[Any], place: int, name: str, value: Any) -> list[Any] | None:
        """The block with a value assigned to what a variable hands it on to."""
        if self.read[name] != 1:
            return None
        last = next((k for k in range(place + 1, len(items)) if name in used_names(items[k])), None)
        if last is None:
            return None
        between = items[place + 1 : last]
        match items[last]:
            case ir.Assignment(op="=", lvalue=target, rvalue=ir.ID(name=own)) if own == name:
                pass
            case _:
                return None
        if not all(isinstance(one, _PLAIN) for one in between) or not self.same_type(ir.ID(name), target):
            return None
        if isinstance(target, ir.ID) and target.name in self.numbers and target.name not in {*used_names(*between)}:
            if any(isinstance(one, ir.Decl) and one.name == target.name for one in between):
                return None
            first = changed(items[last], rvalue=value, coord=items[place].coord)
            return [*items[:place], *_declared_only(items[place]), first, *between, *items[last + 1 :]]
        if not effects(*between).changed.isdisjoint(used_names(value)) or not self.may_wait(value, between):
            return None
        made = changed(items[last], rvalue=value)
        return [*items[:place], *_declared_only(items[place]), *between, made, *items[last + 1 :]]

    def writes_numbers(self, items: Sequence[Any]) -> bool:
        """Whether statements write nothing but variables that no pointer leads to."""
        done = effects(*items)
        return done.assigned <= self.numbers and not (done.through or done.called or done.opaque or done.unnamed)

    def may_wait(self, value: Any, between: Sequence[Any]) -> bool:
        """Whether a value is the same behind statements that write none of its variables."""
        cells = [node for node in walk(value) if isinstance(node, ir.StructRef)]
        inside = {part for cell in cells for part in walk(cell)}
        rest = [node for node in walk(value) if node not in inside]
        if not self.is_arithmetic(rest) or not all(map(self.is_member, cells)):
            return False
        if not cells or self.writes_numbers(between):
            return True
        done = effects(*between)
        if done.called or done.opaque or not all(map(_writes_at_last, between)):
            return False
        stored = [one.lvalue for one in between if isinstance(one, ir.Assignment)]
        others = [one for one in stored if not (isinstance(one, ir.ID) and one.name in self.numbers)]
        return all(self.apart(cell, other) for cell in cells for other in others)

    def is_arithmetic(self, nodes: Iterable[Any]) -> bool:
        """Whether nodes compute with numbers that only their names lead to."""
        for node in nodes:
            match node:
                case ir.ID(name=name):
                    plain = name in self.numbers
                case ir.UnaryOp(op=op):
                    plain = op in _SIGNS
                case _:
                    plain = isinstance(node, _ARITHMETIC)
            if not plain:
                return False
        return True

    def is_member(self, cell: ir.StructRef) -> bool:
        """Whether only numbers, and a pointer or an array that has only one name, say where a member is."""
        match cell.name:
            case ir.ArrayRef(name=ir.ID(name=name), subscript=subscript):
                plain = self.is_arithmetic(walk(subscript))
            case ir.ID(name=name):
                plain = True
            case _:
                return False
        symbol = self.types.scope.get(name)
        return plain and symbol is not None and (is_value(symbol) or (bool(symbol.dims) and not symbol.pointer))

    def apart(self, cell: ir.StructRef, other: Any) -> bool:
        """Whether two members surely don't share memory: different ones of one structure."""
        if not isinstance(other, ir.StructRef) or cell.field == other.field:
            return False
        both = [self.structure(one) for one in (cell, other)]
        if not isinstance(both[0], ir.Struct) or both[0] is not both[1]:
            return False
        return {cell.field, other.field} <= {one.name for one in both[0].decls or ()}

    def is_in_bits(self, cell: Any) -> bool:
        """Whether a member has a number of bits of its own: values are converted to these."""
        if not isinstance(cell, ir.StructRef):
            return False
        definition = self.structure(cell)
        own = [one for one in getattr(definition, "decls", None) or () if one.name == cell.field]
        return len(own) != 1 or own[0].bitsize is not None

    def structure(self, cell: ir.StructRef) -> Any:
        """The definition of the structure that has a member; None if it isn't known."""
        typed = self.types.of(cell.name)
        inner = typed.element() if typed is not None and cell.type == "->" else typed
        return inner.struct if inner is not None else None

    def same_type(self, some: Any, other: Any) -> bool:
        """Whether a variable, and another one or a cell that is found without effects, have one type."""
        if any(isinstance(one, (ir.FuncCall, ir.Assignment)) or _steps(one) for one in walk(other)):
            return False
        if self.is_in_bits(other):
            return False
        types = [self.types.of(one) for one in (some, other)]
        plain = [one.type.spelling for one in types if one is not None and not (one.layers or one.composite)]
        known = [one for one in types if one is not None and not (one.type.volatile or one.type.atomic)]
        return len(plain) == len(known) == 2 and plain[0] == plain[1]


def _definition(item: Any) -> tuple[str, Any] | None:
    """The variable that a statement gives a value, and the value."""
    match item:
        case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
            return name, value
        case ir.Decl(name=str(name), init=value) if value is not None and not isinstance(value, ir.InitList):
            return name, value
    return None


def _declared_only(item: Any) -> list[Any]:
    """What stays of a statement that gives a variable its value."""
    return [changed(item, init=None)] if isinstance(item, ir.Decl) else []


def _writes_at_last(item: Any) -> bool:
    """Whether a statement writes nothing but what it is there for."""
    inside = (one for one in walk(item) if one is not item)
    return isinstance(item, _PLAIN) and not any(isinstance(one, ir.Assignment) or _steps(one) for one in inside)


def _may_skip(node: Any) -> bool:
    """Whether an expression may leave a part of itself out: what is read in front of it is there for vectors."""
    return isinstance(node, ir.TernaryOp) or (isinstance(node, ir.BinaryOp) and node.op in ("&&", "||"))


def _steps(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op in STEPS


def _mentions(item: Any, name: str) -> int:
    return sum(1 for one in used_names(item) if one == name)


def _is_declared(item: Any, names: frozenset[str]) -> bool:
    return isinstance(item, ir.Decl) and item.name in names and item.init is None


def _without_declarations(item: Any, names: frozenset[str]) -> Any:
    if isinstance(item, ir.Compound):
        left = [_without_declarations(one, names) for one in item.block_items or () if not _is_declared(one, names)]
        return changed(item, block_items=left)
    inner = isinstance(item, (ir.If, ir.For, ir.While, ir.DoWhile))
    return mapped(item, lambda one: _without_declarations(one, names)) if inner else item
