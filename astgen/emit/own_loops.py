"""Loops that are part of statements, taken as a whole: how often they run, as far as that is a sum over parameters and
iterators around, and what one iteration costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import Struct

from scopt import ir
from scopt.ir.expr import plus, subtract, weighted
from scopt.ir.nest import Const, Expr, Name
from scopt.ir.scop import Scop, Statement
from scopt.ir.trip_counts import iterations
from scopt.machine import Machine
from scopt.machine.costs import instance_cost, least_instance


class OwnLoop(Struct, frozen=True):
    """cost: nanoseconds of an iteration. extent: how many there are, over the statement's iterators."""

    cost: Fraction
    extent: Expr
    iterators: tuple[str, ...]


def own_loops(scop: Scop, machine: Machine) -> dict[str, OwnLoop]:
    """By statement, of its loops the one that takes longest."""
    found: dict[str, OwnLoop] = {}
    least = least_instance(machine)
    for statement in scop.statements:
        known = _names(scop, statement)
        loops = [
            OwnLoop(max(instance_cost(loop.stmt, machine), least), extent, statement.iterators)
            for loop in _outermost(statement.body)
            if iterations(loop) is None and (extent := _extent(loop, known)) is not None
        ]
        if loops:
            found[statement.name] = max(loops, key=lambda one: one.cost)
    return found


def _names(scop: Scop, statement: Statement) -> dict[str, str]:
    return {one.spelling: one.name for one in scop.parameters} | {name: name for name in statement.iterators}


def _outermost(node: ir.Node) -> Iterator[ir.For]:
    if isinstance(node, ir.For):
        yield node
        return
    for child in node.parts:
        yield from _outermost(child)


def _extent(loop: ir.For, known: Mapping[str, str]) -> Expr | None:
    match loop:
        case ir.For(
            init=ir.DeclList(decls=[ir.Decl(name=name, init=first)])
            | ir.Assignment(lvalue=ir.ID(name=name), rvalue=first),
            cond=ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=other), right=last),
            next=ir.UnaryOp(op="p++" | "++", expr=ir.ID(name=again)),
        ) if name == other == again:
            low, high = _sum(first, known), _sum(last, known)
            return None if low is None or high is None else plus(subtract(high, low), int(op == "<="))
    return None


def _sum(node: ir.Node | None, known: Mapping[str, str]) -> Expr | None:
    match node:
        case ir.Constant(type="int", value=value) if value.isdecimal():
            return Const(int(value))
        case ir.ID(name=name) if name in known:
            return Name(known[name])
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            a, b = _sum(left, known), _sum(right, known)
            return None if a is None or b is None else weighted([(1, a), (1 if op == "+" else -1, b)], 0)
    return None
