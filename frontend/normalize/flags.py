"""Flags that iterations of a loop set to one value as bits that they collect: ``for (…) if (a[i] > m) any = 1;`` is
``int any_set = 0; for (…) any_set |= a[i] > m; if (any_set) any = 1;``.

Whichever iteration sets it, and however often, a flag has that value behind the loop, or the one it had. As it stands,
each iteration writes the same variable or leaves it alone, which binds them to their order; bits come together in any
order, in vectors and by threads. The value need not be 1, nor need anybody know what the flag is before the loop.

Below a condition on data that stays around its loops (``if (m == 0) for window: if (t[yy][xx] == CLOUD) m = 2;``), all
is one statement, whose flags stay as they were: compilers skip what sets them, where bits are collected each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.opaque import leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import items_of, number
from scopt.frontend.syntax.symbols import Symbol, is_value, symbol_of
from scopt.ir.effects import effects
from scopt.ir.truths import truth
from scopt.ir.walks import changed, mapped, replaced, same_tree, walk

_NAME = "set"


def with_flags_collected(
    items: Iterable[Any], symbols: Mapping[str, Symbol], iterators: Collection[str], reserved: Collection[str]
) -> tuple[tuple[Any, ...], dict[str, Symbol], dict[Any, Any]]:
    """The statements of a region, in which each name has one meaning, in that form, the new variables, and by block
    with a loop that collects bits, the loop as it was.

    iterators: names of the loops'. reserved: names that may not be given to variables."""
    maker = _Maker(symbols, frozenset(iterators), frozenset(reserved))
    return tuple(map(maker.visit, items)), maker.made, maker.before


def with_flags_below_conditions(
    items: tuple[Any, ...], before: Mapping[Any, Any], iterators: Collection[str]
) -> tuple[Any, ...]:
    """The statements, in which loops below conditions on data are as they were. before: as above."""
    known = effects(*items).written - frozenset(iterators)

    def visit(node: Any, *, below: bool) -> Any:
        if below and node in before:
            return before[node]
        inside = below or (isinstance(node, ir.If) and _asks_data(node.cond, known))
        return mapped(node, lambda part: part if part is None else visit(part, below=inside))

    return tuple(visit(one, below=False) for one in items) if before else items


def _asks_data(condition: Any, written: Collection[str]) -> bool:
    """Whether a condition asks for anything but iterators and constants."""
    return any(
        isinstance(one, ir.ArrayRef | ir.StructRef | ir.FuncCall) or (isinstance(one, ir.ID) and one.name in written)
        for one in walk(condition)
    )


class _Maker(Struct, frozen=True, eq=False):
    """made: the new variables. before: the loops as they were, by what has taken their place."""

    symbols: Mapping[str, Symbol]
    iterators: frozenset[str]
    reserved: frozenset[str]
    made: dict[str, Symbol] = field(default_factory=dict)
    before: dict[Any, Any] = field(default_factory=dict)

    def visit(self, node: Any) -> Any:
        """A statement with flags collected in the outermost loops that do nothing else with them."""
        if not isinstance(node, ir.For):
            inside = isinstance(node, ir.Compound | ir.If)
            return mapped(node, lambda one: one if one is None else self.visit(one)) if inside else node
        flags = self.flags(node)
        loop, before, behind = node, list[Any](), list[Any]()
        for name, value in flags.items():
            decl = self.declared(name)
            loop = changed(loop, stmt=_collecting(loop.stmt, name, decl.name))
            before += [decl, ir.Assignment("=", ir.ID(decl.name), number(0), node.coord)]
            behind.append(ir.If(ir.ID(decl.name), ir.Assignment("=", ir.ID(name), value, node.coord), None, node.coord))
        loop = mapped(loop, lambda one: self.visit(one) if one is loop.stmt else one)
        if not flags:
            return loop
        whole = ir.Compound([*before, loop, *behind], node.coord)
        self.before[whole] = node
        return whole

    def flags(self, loop: ir.For) -> dict[str, Any]:
        """The variables that a loop does nothing with but to set them under conditions, and to what."""
        found = [one for one in _conditional(loop.stmt, below=False) if isinstance(one.lvalue, ir.ID)]
        values: dict[str, Any] = {}
        for one in found:
            values.setdefault(one.lvalue.name, one.rvalue)
        if not values or out_of_statements(loop) is not None or next(leaving(loop.stmt), None) is not None:
            return {}
        written = effects(loop).written
        mentioned = Counter(one.name for one in walk(loop) if isinstance(one, ir.ID))
        sets = Counter(one.lvalue.name for one in found if same_tree(one.rvalue, values[one.lvalue.name]))
        return {
            name: value
            for name, value in values.items()
            if sets[name] == mentioned[name] and self.is_flag(name) and self.stays(value, written)
        }

    def is_flag(self, name: str) -> bool:
        """Whether a variable is a number that is written by its name alone."""
        symbol = self.symbols.get(name)
        return symbol is not None and is_value(symbol) and not symbol.pointer and name not in self.iterators

    def stays(self, value: Any, written: Collection[str]) -> bool:
        """Whether a value is the same in all iterations: a constant, or a variable that the loop leaves alone."""
        match value:
            case ir.Constant():
                return True
            case ir.UnaryOp(op="-" | "+", expr=inner):
                return self.stays(inner, written)
            case ir.ID(name=name):
                symbol = self.symbols.get(name)
                plain = symbol is None or symbol.kind == "enum-constant" or is_value(symbol)
                return plain and name not in written and name not in self.iterators
        return False

    def declared(self, flag: str) -> ir.Decl:
        taken = self.reserved | self.symbols.keys() | self.made.keys()
        names = (f"{flag}_{_NAME}_{k}" if k else f"{flag}_{_NAME}" for k in count())
        name = next(name for name in names if name not in taken)
        decl = ir.Decl(name, [], [], [], [], ir.TypeDecl(name, [], None, ir.IdentifierType(["int"])), None, None)
        self.made[name] = symbol_of(decl, self.symbols)
        return decl


def _conditional(node: Any, *, below: bool) -> Iterable[ir.Assignment]:
    """The assignments in a loop that are made under a condition, and nowhere that data end a loop. below: a condition
    has been met."""
    match node:
        case ir.Compound():
            for one in node.block_items or ():
                yield from _conditional(one, below=below)
        case ir.If():
            yield from _conditional(node.iftrue, below=True)
            yield from _conditional(node.iffalse, below=True)
        case ir.For() if next(leaving(node.stmt), None) is None:
            yield from _conditional(node.stmt, below=below)
        case ir.Assignment(op="=") if below:
            yield node


def _collecting(body: Any, flag: str, bits: str) -> Any:
    """A loop's body where a bit is set in a flag's place."""

    def change(node: Any) -> Any:
        match node:
            case ir.If(cond=condition, iftrue=then, iffalse=None) if _sets_alone(then, flag):
                return ir.Assignment("|=", ir.ID(bits), truth(condition), node.coord)
            case ir.Assignment(lvalue=ir.ID(name=name)) if name == flag:
                return ir.Assignment("|=", ir.ID(bits), number(1), node.coord)
        return node

    return replaced(body, change)


def _sets_alone(branch: Any, flag: str) -> bool:
    """Whether a condition's branch does nothing but to set a flag."""
    match list(items_of(branch)):
        case [ir.Assignment(op="=", lvalue=ir.ID(name=name))]:
            return bool(name == flag)
    return False
