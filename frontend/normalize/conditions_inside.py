"""Conditions on data around loops as conditions inside of them: ``if (w[i] > 0) for (j …) a[i][j] *= w[i];`` is ``int
holds = w[i] > 0; for (j …) if (holds) a[i][j] *= w[i];``.

As it stands, such a condition is one statement, whatever its loops would allow (if-conversion: Allen, Kennedy,
Porterfield and Warren, "Conversion of control dependence to data dependence", 1983). What it decides about is told by
one variable, which nothing in its branches changes, so that compilers take it out of innermost loops again.

Counts and stores below one condition (``if (to[i] != best) { to[i] = best; moved++; }``) come apart in the same way:
together, they would wait for the count of the iteration before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.opaque import LOOPS, leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import items_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, is_value, symbol_of
from scopt.ir.effects import effects
from scopt.ir.trip_counts import iterations
from scopt.ir.truths import conjunction, conjuncts, truth
from scopt.ir.walks import changed, copied, mapped, walk

_NAME = "holds"
# Iterations of a loop that compilers unroll anyway.
_FEW = 16
# Statements that such conditions decide about at most: each is one more that has to be scheduled.
_MOST = 16
# What may stand in a bound: it has a value whether the condition holds or not, and nothing fails that computes it.
_TOTAL = (ir.Constant, ir.Cast, ir.Typename, ir.TypeDecl, ir.IdentifierType, ir.ExprList)
_OPERATORS = frozenset(["+", "-", "*", "<", "<=", ">", ">=", "!=", "==", "&&", "||", "!", "++", "--", "p++", "p--"])


def with_conditions_inside(
    items: Iterable[Any],
    symbols: Mapping[str, Symbol],
    iterators: Collection[str],
    types: ExpressionTypes,
    reserved: Collection[str],
    read_after: Callable[[str], bool],
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """The statements of a region, in which each name has one meaning, in that form, and the new variables.

    iterators: names of the loops'. reserved: names that may not be given to variables. read_after: whether what the
    region leaves in a variable may be read."""
    items = tuple(items)
    inside = sum((Counter(_inside_of_loops(item)) for item in items), Counter[str]())
    outside = Counter(one.name for one in walk(*items) if isinstance(one, ir.ID)) - inside
    kept = frozenset(name for name in iterators if outside[name] or read_after(name))
    maker = _Maker(symbols, types, frozenset(iterators), kept, effects(*items).written, frozenset(reserved))

    return tuple(map(maker.visit, items)), maker.made


def _inside_of_loops(node: Any) -> Iterator[str]:
    """The names in loops that have them for iterators."""
    name = loop_iterator(node) if isinstance(node, ir.For) else None
    if name is not None:
        yield from (name for one in walk(node) if isinstance(one, ir.ID) and one.name == name)
    for part in node.parts:
        yield from (other for other in _inside_of_loops(part) if other != name)


def _done_by(node: Any) -> Iterator[Any]:
    """The statements below a condition, and conditions below it."""
    match node:
        case ir.If():
            yield from _done_by(node.iftrue)
            yield from _done_by(node.iffalse)
        case ir.Compound():
            for one in node.block_items or ():
                yield from _done_by(one)
        case None | ir.EmptyStatement():
            return
        case _:
            yield node


def _decided_by(node: Any) -> Iterator[Any]:
    """The conditions that a statement has."""
    return (one.cond for one in walk(node) if isinstance(one, ir.If))


def _is_moving(cell: Any) -> bool:
    """Whether it is a cell of an array at a place that isn't a constant."""
    refs = (one for one in walk(cell) if isinstance(one, ir.ArrayRef))
    return any(not isinstance(one.subscript, ir.Constant) for one in refs)


def _is_linear(condition: Any) -> bool:
    """Whether a condition compares sums of names and constants."""
    match condition:
        case ir.BinaryOp(op="<" | "<=" | ">" | ">=" | "==" | "+" | "-", left=left, right=right):
            return _is_linear(left) and _is_linear(right)
        case ir.BinaryOp(op="*", left=left, right=right):
            return (isinstance(left, ir.Constant) and _is_linear(right)) or (
                isinstance(right, ir.Constant) and _is_linear(left)
            )
    return isinstance(condition, ir.ID | ir.Constant)


class _Refused(Exception):
    """The condition stays around its statements."""


class _Maker(Struct, frozen=True, eq=False):
    """kept: iterators whose values something else may read. written: names that the region writes, or that it declares.
    made: the new variables."""

    symbols: Mapping[str, Symbol]
    types: ExpressionTypes
    iterators: frozenset[str]
    kept: frozenset[str]
    written: frozenset[str]
    reserved: frozenset[str]
    made: dict[str, Symbol] = field(default_factory=dict)

    def visit(self, node: Any) -> Any:
        """A statement with such conditions. What stays below another one on data is a part of one statement, where
        conditions in several places only cost."""
        if node is None:
            return None
        before = dict(self.made)
        inside = mapped(node, self.visit)
        if not isinstance(node, ir.If):
            return inside
        made = self.condition(inside)
        if made is inside and inside is not node and not self.is_plain(node.cond):
            self.restore(before)
            return node
        return made

    def restore(self, made: Mapping[str, Symbol]) -> None:
        """Forget the variables that came after these."""
        before = dict(made)
        self.made.clear()
        self.made.update(before)

    def condition(self, node: ir.If) -> Any:
        """What stands in the place of a condition: a block, where loops that it decides about are taken apart."""
        loops = [one for one in walk(node.iftrue, node.iffalse) if isinstance(one, ir.For)]
        long = any((iterations(one) or math.inf) > _FEW for one in loops)
        whole = any(isinstance(one, ir.While | ir.DoWhile) for one in walk(node.iftrue, node.iffalse))
        if not (long or whole or self.counts_beside_stores(node)) or self.is_plain(node.cond):
            return node
        if out_of_statements(node) is not None or not self.is_pure(node.cond):
            return node
        if whole or any(isinstance(one, ir.Break | ir.Continue) for one in walk(node)):
            return self.counting_apart(node)
        made = dict(self.made)
        plain, data = self.plain_apart(node)
        try:
            inside = ir.Compound([*self.parts(data, ())], node.coord)
            return inside if plain is None else ir.If(plain, inside, None, node.coord)
        except _Refused:
            self.restore(made)
            return self.counting_apart(node)

    def plain_apart(self, node: ir.If) -> tuple[Any, ir.If]:
        """What a condition asks of iterators and constants alone, which stays around the loops and tells which cells
        they reach; and the condition without it."""
        parts = [*conjuncts(node.cond)]
        plain = [one for one in parts if node.iffalse is None and self.is_plain(one) and _is_linear(one)]
        data = [one for one in parts if one not in plain]
        if not plain or not data:
            return None, node
        return conjunction(plain), changed(node, cond=conjunction(data))

    def counting_apart(self, node: ir.If) -> Any:
        """A condition that stays around loops, with what its branches only count behind it: threads may do the rest in
        any order then."""
        branches = [list(items_of(one)) if one is not None else [] for one in (node.iftrue, node.iffalse)]
        everywhere = Counter(one.name for one in walk(node) if isinstance(one, ir.ID))
        counts = [[one for one in items if self.steps(one)] for items in branches]
        counted = Counter(self.counted(one) for one in (*counts[0], *counts[1]))
        alone = {name for name, number in counted.items() if number == everywhere[name] and self.is_own(name)}
        apart = [[one for one in some if self.counted(one) in alone] for some in counts]
        if not alone or any(next(leaving(one), None) is not None for one in (*branches[0], *branches[1])):
            return node
        decl = self.declared()
        holds = ir.ID(decl.name)
        rest = [ir.Compound([one for one in items if one not in apart[k]]) for k, items in enumerate(branches)]
        return ir.Compound(
            [
                decl,
                ir.Assignment("=", ir.ID(decl.name), truth(copied(node.cond)), node.coord),
                changed(node, cond=holds, iftrue=rest[0], iffalse=rest[1] if node.iffalse is not None else None),
                *(self.below(one, (holds,)) for one in apart[0]),
                *(self.below(one, (ir.UnaryOp("!", holds),)) for one in apart[1]),
            ],
            node.coord,
        )

    def is_own(self, name: str | None) -> bool:
        """Whether a variable can't be reached but by its name."""
        symbol = self.symbols.get(name or "")
        return symbol is not None and is_value(symbol)

    def steps(self, node: Any) -> bool:
        """Whether a statement does nothing but to add a constant to an integer variable."""
        constant = not isinstance(node, ir.Assignment) or isinstance(node.rvalue, ir.Constant)
        return constant and self.counted(node) is not None

    def counts_beside_stores(self, node: ir.If) -> bool:
        """Whether a condition decides about stores to cells and counts, which may be taken in any order where nothing
        else here asks for them: ``if (to[i] != best) { to[i] = best; moved++; }``."""
        found = list(_done_by(node))
        counts = [one for one in found if self.counted(one) is not None]
        stores = [one for one in found if isinstance(one, ir.Assignment) and _is_moving(one.lvalue)]
        if not (counts and stores) or len(counts) + len(stores) < len(found):
            return False
        names = {self.counted(one) for one in counts}
        others = [*stores, *(one.rvalue for one in counts if isinstance(one, ir.Assignment)), *_decided_by(node)]
        return not any(isinstance(one, ir.ID) and one.name in names for one in walk(*others))

    def counted(self, node: Any) -> str | None:
        """The integer variable that a statement adds to."""
        match node:
            case ir.Assignment(op="+=" | "-=", lvalue=ir.ID(name=name)):
                pass
            case ir.UnaryOp(op="++" | "p++" | "--" | "p--", expr=ir.ID(name=name)):
                pass
            case _:
                return None
        symbol = self.symbols.get(name)
        plain = symbol is not None and symbol.type.integer and not symbol.dims and not symbol.pointer
        return name if plain and name not in self.iterators else None

    def parts(self, node: ir.If, held: tuple[Any, ...]) -> Iterator[Any]:
        """A condition's value in a variable, and what it decides about below it. held: what has to hold anyway."""
        decl = self.declared()
        yield decl
        yield self.below(ir.Assignment("=", ir.ID(decl.name), truth(copied(node.cond)), node.coord), held)
        holds = ir.ID(decl.name)
        found = [*self.inside(node.iftrue, (*held, holds))]
        if node.iffalse is not None:
            found += self.inside(node.iffalse, (*held, ir.UnaryOp("!", holds)))
        if sum(1 for one in walk(*found) if isinstance(one, ir.If)) > _MOST:
            raise _Refused
        yield from found

    def inside(self, node: Any, held: tuple[Any, ...]) -> Iterator[Any]:
        """A statement of a branch, as what decides about it may stand inside of loops."""
        match node:
            case ir.Compound():
                yield ir.Compound(
                    [made for one in node.block_items or () for made in self.inside(one, held)], node.coord
                )
            case ir.For():
                self.check_header(node)
                body = [made for one in items_of(node.stmt) for made in self.inside(one, held)]
                yield changed(node, stmt=ir.Compound(body, node.stmt.coord))
            case ir.If() if any(isinstance(one, LOOPS) for one in walk(node.iftrue, node.iffalse)):
                if not self.is_plain(node.cond):
                    yield from self.parts(node, held)
                    return
                branches = [
                    ir.Compound([*self.inside(one, held)], node.coord) if one is not None else None
                    for one in (node.iftrue, node.iffalse)
                ]
                yield changed(node, iftrue=branches[0], iffalse=branches[1])
            case ir.Decl():
                yield from self.declaration(node, held)
            case ir.DeclList():
                for decl in node.decls:
                    yield from self.declaration(decl, held)
            case ir.Assignment() | ir.UnaryOp() | ir.If() if not any(isinstance(one, LOOPS) for one in walk(node)):
                yield self.below(node, held)
            case ir.EmptyStatement():
                return
            case _:
                raise _Refused

    def declaration(self, node: ir.Decl, held: tuple[Any, ...]) -> Iterator[Any]:
        """A variable, whose value is set as an assignment does, unless it is a number."""
        symbol = self.symbols.get(node.name)
        if symbol is None or not is_value(symbol) or symbol.pointer:
            raise _Refused
        if node.init is None or isinstance(node.init, ir.Constant):
            yield node
            return
        yield changed(node, init=None)
        yield self.below(ir.Assignment("=", ir.ID(node.name), node.init, node.coord), held)

    def below(self, statement: Any, held: tuple[Any, ...]) -> Any:
        if not held:
            return statement
        return ir.If(conjunction([copied(one) for one in held]), statement, None, statement.coord)

    def check_header(self, node: ir.For) -> None:
        """Raises _Refused unless a loop may run where the condition doesn't hold."""
        name = loop_iterator(node)
        if name is None or (name in self.kept and not isinstance(node.init, ir.DeclList)):
            raise _Refused
        init = node.init.decls[0].init if isinstance(node.init, ir.DeclList) else node.init
        for one in walk(init, node.cond, node.next):
            match one:
                case ir.ID(name=name):
                    total = name in self.iterators or self.is_constant(name)
                case ir.Assignment(op=op):
                    total = op in ("=", "+=", "-=")
                case ir.BinaryOp(op=op) | ir.UnaryOp(op=op):
                    total = op in _OPERATORS
                case _:
                    total = isinstance(one, _TOTAL)
            if not total:
                raise _Refused

    def is_plain(self, condition: Any) -> bool:
        """Whether it asks for iterators and constants alone."""
        return all(
            (not isinstance(one, ir.ID) or one.name in self.iterators or self.is_constant(one.name))
            and not isinstance(one, ir.ArrayRef | ir.StructRef | ir.FuncCall)
            for one in walk(condition)
        )

    def is_constant(self, name: str) -> bool:
        """Whether a name is a number that nothing in the region changes."""
        symbol = self.symbols.get(name)
        if symbol is None:
            return True  # a macro or an enumerator
        return name not in self.written and symbol.type.integer and not symbol.dims and not symbol.pointer

    def is_pure(self, condition: Any) -> bool:
        done = effects(condition)
        if done.written or done.called or done.opaque or done.unnamed or done.taken:
            return False
        kinds = (self.types.of(one) for one in walk(condition) if isinstance(one, ir.ID | ir.ArrayRef | ir.StructRef))
        return not any(kind is not None and (kind.volatile or kind.atomic) for kind in kinds)

    def declared(self) -> ir.Decl:
        taken = self.reserved | self.symbols.keys() | self.made.keys()
        name = next(name for k in count() if (name := f"{_NAME}_{k}" if k else _NAME) not in taken)
        decl = ir.Decl(name, [], [], [], [], ir.TypeDecl(name, [], None, ir.IdentifierType(["int"])), None, None)
        self.made[name] = symbol_of(decl, self.symbols)
        return decl
