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
from scopt.ir.walks import walk
from scopt.machine import Machine
from scopt.machine.costs import instance_cost, least_instance, takes_its_time

# What functions are called that run loops which end on data.
ENDING = "scopt_ending"


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


def is_ending_call(body: ir.Node) -> bool:
    """Whether a statement calls a function of ours that runs a loop which ends on data."""
    return isinstance(body, ir.FuncCall) and isinstance(body.name, ir.ID) and body.name.name.startswith(f"{ENDING}_")


def is_uneven(scop: Scop, name: str, *, again: bool) -> bool:
    """Whether threads had better fetch iterations of a loop with this statement than have their shares of them, since
    data say how long an instance takes.

    again: they come to the loop again and again, for short iterations. Where an instance has all of its loops or none,
      shares hardly differ then, and each thread finds its rows in its own cache; fetching takes longer than it saves.
    """
    body = scop.statement(name).body
    if is_ending_call(body):
        return True
    return takes_its_time(body) and not (again and _counts(body, {one.spelling for one in scop.parameters}))


def _counts(body: ir.Node, fixed: set[str]) -> bool:
    """Whether all loops in a statement run as often as names say that never change, each time."""
    for node in walk(body):
        match node:
            case ir.While() | ir.DoWhile() | ir.Break() | ir.Goto() | ir.Return():
                return False
            case ir.For(
                init=ir.DeclList(decls=[ir.Decl(name=name)]) | ir.Assignment(lvalue=ir.ID(name=name)),
                cond=ir.BinaryOp(left=ir.ID(name=other)),
            ) if name == other:
                parts = [part for part in (node.init, node.cond, node.next) if part is not None]
                if any(isinstance(one, ir.ArrayRef | ir.FuncCall) for part in parts for one in walk(part)):
                    return False
                used = {one.name for part in parts for one in walk(part) if isinstance(one, ir.ID)}
                if not used <= fixed | {name}:
                    return False
            case ir.For():
                return False
    return True


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
