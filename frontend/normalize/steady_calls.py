"""Calls of the mathematical library that are the same in all iterations of a loop, in front of it: ``for (i …) a[i] +=
cos(w * j) * b[i];`` is ``double steady = cos(w * j); for (i …) a[i] += steady * b[i];``.

A loop that calls such a function is no vector loop, and compilers leave many of these calls where they are, since they
may set `errno` (loop-invariant code motion: Aho, Lam, Sethi and Ullman, *Compilers*, 9.1.5). Nothing but the call
moves, so that no operation is contracted with another one than before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import substituted
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, base_name, is_value, symbol_of
from scopt.ir.effects import effects
from scopt.ir.walks import changed, copied, mapped, replaced, same_tree, walk
from scopt.machine.math_calls import CALLED

_NAME = "steady"
# What arguments may be made of besides names and cells of arrays: nothing fails that computes it.
_PLAIN = (ir.Constant, ir.Cast, ir.Typename, ir.TypeDecl, ir.IdentifierType, ir.ExprList, ir.BinaryOp)
_COMPARED = ("<", "<=", ">", ">=", "!=")
_LEAVING = (ir.Break, ir.Continue, ir.Goto, ir.Label, ir.Return, ir.Pragma)


def with_steady_calls(
    items: Iterable[Any], symbols: Mapping[str, Symbol], reserved: Collection[str], defined: Collection[str]
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """The statements of a region, in which each name has one meaning, in that form, and the new variables.

    reserved: names that may not be given to variables. defined: functions of the file's own."""
    items = tuple(items)
    known = VALUE_FUNCTIONS - frozenset(defined)
    maker = _Maker(symbols, frozenset(reserved), known, effects(*items).changed)
    return tuple(map(maker.visit, items)), maker.made


class _Maker(Struct, frozen=True, eq=False):
    """known: functions that only compute a value. changed: variables, pointers among them, that the region sets.
    made: the new variables."""

    symbols: Mapping[str, Symbol]
    reserved: frozenset[str]
    known: frozenset[str]
    changed: frozenset[str]
    made: dict[str, Symbol] = field(default_factory=dict)

    def visit(self, node: Any) -> Any:
        """A statement with calls in front of the outermost loop that they don't change in."""
        if not isinstance(node, ir.For):
            inside = isinstance(node, ir.Compound | ir.If)
            return mapped(node, lambda one: one if one is None else self.visit(one)) if inside else node
        calls = self.steady(node)
        if not calls:
            body = self.visit(node.stmt)
            return node if body is node.stmt else changed(node, stmt=body)
        loop, before = node, list[Any]()
        for call in calls:
            name = call.name.name
            decl = self.declared("float" if name[-1] == "f" and name[:-1] in CALLED else "double")
            loop = _with_variable(loop, call, decl.name)
            value = ir.Assignment("=", ir.ID(decl.name), copied(call), node.coord)
            entered = self.entered(node) if _may_fail(call) else None
            before += decl, value if entered is None else ir.If(entered, value, None, node.coord)
        return ir.Compound([*before, changed(loop, stmt=self.visit(loop.stmt))], node.coord)

    def steady(self, loop: ir.For) -> list[Any]:
        """The calls that each iteration of a loop does alike, each of them once."""
        done = effects(loop)
        if done.opaque or done.unnamed or any(isinstance(one, _LEAVING) for one in walk(loop.stmt)):
            return []
        elsewhere = bool(done.called - self.known or done.through & self.changed)
        found: list[Any] = []
        for call, sure in _evaluated(loop.stmt):
            if not self.is_pure(call) or not effects(call).read.isdisjoint(done.written):
                continue
            if _may_fail(call) and not (sure and self.entered(loop) is not None):
                continue
            arrays = _arrays(call)
            if (elsewhere and arrays) or arrays & self.changed:
                continue
            if not any(same_tree(call, one) or call in walk(one) for one in found):
                found.append(call)
        return found

    def is_pure(self, call: Any) -> bool:
        """Whether a call is one of the functions, of what is computed from names and cells."""
        name = call.name.name if isinstance(call.name, ir.ID) else ""
        if name not in CALLED & self.known or name[-1] == "l":
            return False
        for one in walk(call.args):
            match one:
                case ir.ID(name=other):
                    if other not in CALLED and not self.is_told(other):
                        return False
                case ir.ArrayRef() | ir.UnaryOp(op="-" | "+"):
                    continue
                case ir.FuncCall():
                    if not self.is_pure(one):
                        return False
                case ir.BinaryOp(op="&&" | "||"):
                    return False
                case _:
                    if not isinstance(one, _PLAIN):
                        return False
        return True

    def is_told(self, name: str) -> bool:
        """Whether a variable is written by its name alone, or leads to plain cells."""
        symbol = self.symbols.get(name)
        if symbol is None or symbol.type.volatile or symbol.type.atomic:
            return symbol is None  # a macro or an enumerator
        return is_value(symbol) or bool(symbol.dims)

    def entered(self, loop: ir.For) -> Any:
        """Whether a loop has iterations, as a condition of sums of names; None if that isn't one."""
        name = loop_iterator(loop)
        if name is None or not isinstance(loop.cond, ir.BinaryOp) or loop.cond.op not in _COMPARED:
            return None
        start = loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue
        condition = substituted(copied(loop.cond), name, copied(start))
        sums = (
            isinstance(one, ir.Constant | ir.ID) or (isinstance(one, ir.BinaryOp) and one.op in ("+", "-", *_COMPARED))
            for one in walk(condition)
        )
        return condition if all(sums) else None

    def declared(self, spelling: str) -> ir.Decl:
        taken = self.reserved | self.symbols.keys() | self.made.keys()
        name = next(name for k in count() if (name := f"{_NAME}_{k}" if k else _NAME) not in taken)
        decl = ir.Decl(name, [], [], [], [], ir.TypeDecl(name, [], None, ir.IdentifierType([spelling])), None, None)
        self.made[name] = symbol_of(decl, self.symbols)
        return decl


def _with_variable(loop: ir.For, call: Any, name: str) -> Any:
    return replaced(loop, lambda one: ir.ID(name) if same_tree(one, call) else one)


def _may_fail(call: Any) -> bool:
    """Whether what a call is given reads a cell, or divides."""
    return any(isinstance(one, ir.ArrayRef) or (isinstance(one, ir.BinaryOp) and one.op in "/%") for one in walk(call))


def _arrays(call: Any) -> frozenset[str]:
    return frozenset(name for one in walk(call) if isinstance(one, ir.ArrayRef) if (name := base_name(one)))


def _evaluated(node: Any, *, sure: bool = True) -> Iterator[tuple[Any, bool]]:
    """The calls that a statement does whatever data say, those outside before those in their arguments, and whether
    that is sure: loops inside may have no iterations."""
    match node:
        case ir.If() | ir.TernaryOp():
            yield from _evaluated(node.cond, sure=sure)
        case ir.BinaryOp(op="&&" | "||"):
            yield from _evaluated(node.left, sure=sure)
        case ir.For():
            yield from _evaluated(node.stmt, sure=False)
        case ir.While() | ir.DoWhile() | ir.Switch() | None:
            return
        case _:
            if isinstance(node, ir.FuncCall):
                yield node, sure
            for part in node.parts:
                yield from _evaluated(part, sure=sure)
