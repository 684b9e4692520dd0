"""Integer variables that hold a function of iterators and parameters, as `int j = i + 1;`: uses get the value in their
place, and assignments that nobody waits for any more go.

Forward substitution as in books on parallelizing compilers (Wolfe, *High Performance Compilers for Parallel Computing*,
1996): along the statements in the order of their execution goes what is known of variables; behind an `if` it is a
choice by its condition, and in a loop nothing is known of what the loop changes. A value is made of iterators of the
loops around and of variables that the region doesn't change, so that it is the same wherever it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.dead_definitions import without_dead
from scopt.frontend.normalize.index_expressions import IndexExpressions
from scopt.frontend.normalize.index_uses import index_names
from scopt.frontend.normalize.tree_rewriting import names_of, number
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, is_value, symbol_of
from scopt.ir.effects import STEPS, Effects, effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, replaced, same_items

_WIDEST = 64
Known = Mapping[str, Any]


class LocalNames(Struct, frozen=True, eq=False):
    """What names mean in a region where each has one meaning. symbols: iterators that loops declare apart; inside:
    names declared in the region; iterators: names that its loops step. symbolic: macros with names of their own.
    functions: of the file, by name. read_after(name): whether the region's last value may be read behind it."""

    symbols: Mapping[str, Symbol]
    inside: frozenset[str]
    iterators: frozenset[str]
    symbolic: frozenset[str]
    functions: Mapping[str, Any]
    read_after: Callable[[str], bool]


def substituted_locals(items: Iterable[Any], names: LocalNames) -> tuple[Any, ...]:
    """The statements of a region with values in the place of such variables."""
    items = tuple(items)
    done = effects(*items)
    if done.opaque:
        return items
    wanted = index_names(items)
    candidates = frozenset(
        name for name in wanted & done.changed if (symbol := names.symbols.get(name)) and _is_candidate(symbol, done)
    )
    if not candidates:
        return items
    walk = _Walk(names, done, candidates)
    made, _ = walk.sequence(items, _Place())
    live = {name for name in walk.definitions.values() if name not in names.inside and names.read_after(name)}
    return tuple(without_dead(made, walk.definitions, frozenset(live)))


def _is_candidate(symbol: Symbol, done: Effects) -> bool:
    """Whether only its name can reach a variable."""
    return is_value(symbol) and not symbol.pointer and _is_integer(symbol.type) and symbol.name not in done.taken


def _is_integer(ctype: CType) -> bool:
    return ctype.integer and 0 < ctype.bits <= _WIDEST


class _Place(Struct, frozen=True, eq=False):
    """known: values of variables. iterators: types of those of the loops around."""

    known: Known = field(default_factory=dict)
    iterators: Mapping[str, CType] = field(default_factory=dict)

    def without(self, names: frozenset[str]) -> _Place:
        """The place behind a statement that changes variables, or where one may stand in front of it."""
        return replace(self, known={name: value for name, value in self.known.items() if name not in names})

    def put_in(self, node: Any) -> Any:
        """An expression with the values of the variables that it doesn't change itself."""
        if not self.known or node is None:
            return node
        known = self.without(effects(node).changed).known
        return replaced(node, lambda inner: known.get(inner.name, inner) if isinstance(inner, ir.ID) else inner)


class _Walk(Struct, frozen=True, eq=False):
    """done: what the region does. definitions: the statements that give a variable a known value, with its name."""

    names: LocalNames
    done: Effects
    candidates: frozenset[str]
    definitions: dict[Any, str] = field(default_factory=dict)

    def sequence(self, items: Iterable[Any], place: _Place) -> tuple[list[Any], _Place]:
        made = []
        for item in items:
            one, place = self.statement(item, place)
            made.append(one)
        return made, place

    def statement(self, node: Any, place: _Place) -> tuple[Any, _Place]:
        """A statement with what is known in front of it put in, and the place behind it."""
        match node:
            case None | ir.EmptyStatement() | ir.Pragma() | ir.Typedef():
                return node, place
            case ir.Compound():
                items = node.block_items or ()
                made, place = self.sequence(items, place)
                return (node if same_items(made, items) else changed(node, block_items=made)), place
            case ir.DeclList():
                made, place = self.sequence(node.decls, place)
                return (node if same_items(made, node.decls) else changed(node, decls=made)), place
            case ir.Decl():
                init = place.put_in(node.init)
                made_decl = node if init is node.init else changed(node, init=init)
                return self.defined(made_decl, node.name, init, place)
            case ir.Assignment(lvalue=ir.ID(name=name)):
                return self.assigned(node, name, place)
            case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if op in STEPS:
                step = ir.BinaryOp("+" if "+" in op else "-", place.put_in(node.expr), number(1), node.coord)
                known = place.known.get(name)
                return self.defined(node, name, changed(step, left=known) if known is not None else None, place)
            case ir.If():
                return self.branch(node, place)
            case ir.For():
                return self.loop(node, place)
            case ir.While() | ir.DoWhile():
                inside = place.without(effects(node).changed)
                stmt, _ = self.statement(node.stmt, inside)
                cond = inside.put_in(node.cond)
                same = stmt is node.stmt and cond is node.cond
                return (node if same else changed(node, cond=cond, stmt=stmt)), inside
        return place.put_in(node), place.without(effects(node).changed)

    def assigned(self, node: ir.Assignment, name: str, place: _Place) -> tuple[Any, _Place]:
        rvalue = place.put_in(node.rvalue)
        made = node if rvalue is node.rvalue else changed(node, rvalue=rvalue)
        if node.op == "=":
            return self.defined(made, name, rvalue, place)
        known = place.known.get(name)
        value = ir.BinaryOp(node.op[:-1], known, rvalue, node.coord) if known is not None else None
        return self.defined(made, name, value, place)

    def defined(self, made: Any, name: str, value: Any | None, place: _Place) -> tuple[Any, _Place]:
        """A statement that gives a variable a value."""
        behind = place.without(effects(made).changed | {name})
        if name not in self.candidates or value is None:
            return made, behind
        expressions = self.expressions(place)
        if not expressions.holds(value) or not expressions.is_short(value):
            return made, behind
        made = changed(made)  # a node of its own
        self.definitions[made] = name
        read = expressions.converted(value, self.names.symbols[name].type)
        return made, replace(behind, known={**behind.known, name: read})

    def branch(self, node: ir.If, place: _Place) -> tuple[Any, _Place]:
        cond = place.put_in(node.cond)
        inside = place.without(effects(node.cond).changed)
        iftrue, then = self.statement(node.iftrue, inside)
        iffalse, otherwise = self.statement(node.iffalse, inside)
        made = changed(node, cond=cond, iftrue=iftrue, iffalse=iffalse)
        expressions = self.expressions(inside)
        chosen = expressions.holds(cond)
        known = {}
        for name, value in then.known.items():
            other = otherwise.known.get(name)
            if other is value:
                known[name] = value
            elif other is not None and chosen:
                choice = ir.TernaryOp(cond, value, other, node.coord)
                if expressions.is_short(choice):
                    known[name] = choice
        return made, replace(inside, known=known)

    def loop(self, node: ir.For, place: _Place) -> tuple[Any, _Place]:
        changes = effects(node).changed
        inside = place.without(changes)
        name, ctype = loop_iterator(node), self.iterator_type(node)
        stepped = effects(node.stmt, node.cond).changed if node.cond is not None else effects(node.stmt).changed
        if name is not None and ctype is not None and name not in stepped:
            inside = replace(inside, iterators={**inside.iterators, name: ctype})
        match node.init:
            case ir.DeclList(decls=decls):
                made = [changed(decl, init=place.without(changes).put_in(decl.init)) for decl in decls]
                init: Any = changed(node.init, decls=made)
            case ir.Assignment(lvalue=ir.ID()):
                init = changed(node.init, rvalue=place.put_in(node.init.rvalue))
            case _:
                init = inside.put_in(node.init)
        stmt, _ = self.statement(node.stmt, inside)
        made_loop = ir.For(init, inside.put_in(node.cond), inside.put_in(node.next), stmt, node.coord)
        kept = {other: value for other, value in inside.known.items() if name not in names_of(value)}
        return made_loop, replace(place, known=kept)

    def iterator_type(self, node: ir.For) -> CType | None:
        """Of a loop's iterator, None for one that is no plain integer."""
        if isinstance(node.init, ir.DeclList):
            symbol = symbol_of(node.init.decls[0], self.names.symbols)
        else:
            found = self.names.symbols.get(loop_iterator(node) or "")
            if found is None or not is_value(found):
                return None
            symbol = found
        plain = not (symbol.dims or symbol.pointer or symbol.type.volatile or symbol.type.atomic)
        return symbol.type if plain and _is_integer(symbol.type) else None

    def expressions(self, place: _Place) -> IndexExpressions:
        return IndexExpressions(
            self.names.symbols, place.iterators, self.is_steady, self.names.symbolic, self.names.functions
        )

    def is_steady(self, name: str) -> bool:
        """Whether a name is that of an integer which the region leaves as it is."""
        symbol = self.names.symbols.get(name)
        if symbol is None:
            return name in self.names.symbolic
        if symbol.kind not in ("local", "parameter", "global") or symbol.type.volatile or symbol.type.atomic:
            return False
        if symbol.dims or symbol.pointer or not _is_integer(symbol.type):
            return False
        if name in self.done.written or name in self.names.iterators:
            return False
        return is_value(symbol) or not self.may_be_stored_to()

    def may_be_stored_to(self) -> bool:
        """Whether the region may write integers that have no name of their own in it."""
        stored = [self.names.symbols.get(name) for name in self.done.through | self.done.passed]
        return self.done.unnamed or not all(
            symbol is not None and ((symbol.dims and not symbol.pointer) or symbol.type.floating) for symbol in stored
        )
