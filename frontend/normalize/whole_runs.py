"""Long regions in fewer statements: where the bodies of loops have more than schedulers take in their time, what stands
one after the other in them, loops of few iterations among it, is a block that is executed as a whole. Without such
loops that is done only in regions that would be left alone else: compilers make vectors of straight code.

Such code works on a few cells of its own: the steps of a solver for the unknowns of a cell, the rounds of a cipher.
What there is to gain are the loops around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.once import is_short_block, runs_once
from scopt.frontend.normalize.opaque import blocking, out_of_statements
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, constant_value
from scopt.ir.effects import effects
from scopt.ir.walks import changed, mapped, walk

# Statements that are taken together (what is longer takes schedulers long), and those that blocks are made of.
MOST = 40
LONGEST = 160
# Statements of straight code that is a block at least.
STRAIGHT = 20
# Iterations of a loop in a block at most.
FEW = 16

Span = tuple[int, int]


def with_whole_runs(
    items: tuple[Any, ...], symbols: Mapping[str, Symbol], symbolic: Mapping[str, int], *, straight: bool = False
) -> tuple[tuple[Any, ...], frozenset[Any]]:
    """A region's statements, in which each name has one meaning, and the blocks among them that are executed as a
    whole. symbolic: integer macros. straight: blocks may have no loops, too."""
    total = sum(map(_statements, items))
    if total <= MOST:
        return items, frozenset()
    found = _Finder(symbols, symbolic, STRAIGHT if straight else None)
    runs = sorted((run for item in items for run in found.runs(item, {}, inside=False)), key=_length, reverse=True)
    chosen: dict[Any, Sequence[Any]] = {}
    for run in runs:
        if total <= MOST:
            break
        chosen[run[0]] = run
        total -= _length(run) - 1
    if not chosen:
        return items, frozenset()
    used = _Uses.of(items)
    blocks: list[Any] = []

    def block(node: ir.Compound) -> ir.Compound:
        made: list[Any] = []
        rest = list(node.block_items or ())
        while rest:
            run = chosen.get(rest[0], ())
            if not run:
                made.append(change(rest.pop(0)))
                continue
            del rest[: len(run)]
            before, inner = used.apart(run)
            blocks.append(ir.Compound(inner, run[0].coord))
            made += [*before, blocks[-1]]
        return changed(node, block_items=made)

    def change(node: Any) -> Any:
        if isinstance(node, ir.Compound):
            return block(node)
        if isinstance(node, ir.For) and node.stmt in chosen:
            blocks.append(ir.Compound([node.stmt], node.stmt.coord))
            return changed(node, stmt=blocks[-1])
        return mapped(node, change)

    return tuple(map(change, items)), frozenset(blocks)


def is_long(items: Iterable[Any], symbols: Mapping[str, Symbol], symbolic: Mapping[str, int]) -> bool:
    """Whether there are more stores and loops than can be taken together, and no blocks can be made of them."""
    items = tuple(items)
    stores = sum(
        isinstance(node, ir.For) or (isinstance(node, ir.Assignment) and not isinstance(node.lvalue, ir.ID))
        for node in walk(*items)
    )
    return stores > LONGEST or (stores > MOST and not with_whole_runs(items, symbols, symbolic)[1])


def _statements(node: Any) -> int:
    """About how many statements a part of a region is taken for."""
    match node:
        case None | ir.EmptyStatement() | ir.Decl(init=None):
            return 0
        case ir.Decl(init=ir.InitList(exprs=values)):
            return len(values)  # which become assignments
        case ir.Compound():
            return sum(map(_statements, node.block_items or ()))
        case ir.DoWhile() if is_short_block(node):
            return _statements(node.stmt)
        case ir.For() if blocking(node) is None:
            return _statements(node.stmt)
        case ir.If():
            return _statements(node.iftrue) + _statements(node.iffalse)
    return 1


def _length(run: Sequence[Any]) -> int:
    return sum(map(_statements, run))


class _Finder(Struct, frozen=True, eq=False):
    """straight: statements of a run without loops at least; None if there are none."""

    symbols: Mapping[str, Symbol]
    symbolic: Mapping[str, int]
    straight: int | None = None

    def runs(self, node: Any, spans: Mapping[str, Span], *, inside: bool) -> Iterator[Sequence[Any]]:
        """The runs of short statements, with loops among them, below a statement. spans: values of the iterators of
        loops of few iterations around it; inside: it stands in a loop."""
        match node:
            case ir.Compound():
                yield from self.runs_of(node.block_items or (), spans, inside=inside)
            case ir.For() if blocking(node) is None:
                below = {**spans, **self.span_of(node, spans)}
                if isinstance(node.stmt, ir.Compound):
                    yield from self.runs(node.stmt, below, inside=True)
                elif node.stmt is not None:
                    yield from self.runs_of([node.stmt], below, inside=True)
            case ir.If():
                for part in (node.iftrue, node.iffalse):
                    if isinstance(part, ir.Compound):
                        yield from self.runs(part, spans, inside=inside)

    def runs_of(self, items: Sequence[Any], spans: Mapping[str, Span], *, inside: bool) -> Iterator[Sequence[Any]]:
        run: list[Any] = []
        for item in (*items, None):
            if inside and item is not None and self.is_short(item, spans):
                run.append(item)
                continue
            if self.is_block(run):
                yield run
            run = []
            if item is not None:
                yield from self.runs(item, spans, inside=inside)

    def is_block(self, run: Sequence[Any]) -> bool:
        """Whether there is anything to gain by taking a run as a whole."""
        if self.straight is not None and _length(run) >= self.straight:
            return True
        return any(isinstance(one, ir.For) for part in run for one in walk(part)) and _length(run) > 1

    def is_short(self, node: Any, spans: Mapping[str, Span]) -> bool:
        """Whether a statement has loops of few iterations at most, and nothing in it leaves it."""
        match node:
            case ir.Compound():
                return all(self.is_short(one, spans) for one in node.block_items or ())
            case ir.DoWhile():
                return runs_once(node) and self.is_short(node.stmt, spans)
            case ir.For():
                span = self.span_of(node, spans)
                return bool(span) and blocking(node) is None and self.is_short(node.stmt, {**spans, **span})
            case ir.If():
                return all(part is None or self.is_short(part, spans) for part in (node.iftrue, node.iffalse))
            case ir.Decl():
                plain = not node.storage and isinstance(node.type, (ir.TypeDecl, ir.ArrayDecl))
                return plain and not isinstance(node.init, ir.InitList)
            case ir.Assignment() | ir.UnaryOp() | ir.ExprList() | ir.EmptyStatement():
                return out_of_statements(node) is None
        return False

    def span_of(self, loop: ir.For, spans: Mapping[str, Span]) -> dict[str, Span]:
        """The values of a loop's iterator, if they are few."""
        name = loop_iterator(loop)
        if name is None or loop.stmt is None or name in effects(loop.stmt).changed:
            return {}
        start = loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue
        first = self.span(start, spans)
        match loop.cond:
            case ir.BinaryOp(op="<" | "<=" | ">" | ">=" as op, left=ir.ID(name=left), right=right) if left == name:
                last = self.span(right, spans)
            case _:
                return {}
        if first is None or last is None:
            return {}
        found = (first[0], last[1]) if op in ("<", "<=") else (last[0], first[1])
        return {name: found} if found[1] - found[0] < FEW else {}

    def span(self, node: Any, spans: Mapping[str, Span]) -> Span | None:
        """The least and the greatest value of a bound."""
        match node:
            case ir.ID(name=name) if name in spans:
                return spans[name]
            case ir.ID(name=name) if name in self.symbolic:
                return self.symbolic[name], self.symbolic[name]
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                a, b = self.span(left, spans), self.span(right, spans)
                if a is None or b is None:
                    return None
                return (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[1], a[1] - b[0])
        value = constant_value(node, self.symbols) if node is not None else None
        return None if value is None else (value, value)


class _Uses(Struct, frozen=True, eq=False):
    """What a region's statements name. counts: how often, by name."""

    items: tuple[Any, ...]
    counts: Counter[str]

    @staticmethod
    def of(items: tuple[Any, ...]) -> _Uses:
        return _Uses(items, _mentions(items))

    def apart(self, run: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Declarations in front of a run, of names that others use too, and the run without them."""
        before: list[Any] = []
        inner: list[Any] = []
        own = _mentions(run)
        for item in run:
            if not isinstance(item, ir.Decl) or own[item.name] == self.counts[item.name]:
                inner.append(item)
                continue
            before.append(changed(item, init=None))
            if item.init is not None:
                inner.append(ir.Assignment("=", ir.ID(item.name, item.coord), item.init, item.coord))
        return before, inner


def _mentions(items: Sequence[Any]) -> Counter[str]:
    return Counter(one.name for one in walk(*items) if isinstance(one, ir.ID))
