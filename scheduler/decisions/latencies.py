"""How long results wait for their operands: chains of operations in the statements' expressions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache

import islpy as isl

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import same_tree, walk
from scopt.machine import Machine
from scopt.machine.costs import operation_latency
from scopt.poly.components import ordered_components
from scopt.poly.isl_utils import sets_of
from scopt.poly.linear import Vector, subscript_rows
from scopt.poly.reductions import selected


def cycles_to(root: ir.Node, leaf: ir.Node, machine: Machine, *, integer: bool = False) -> int | None:
    """Latencies of the operations on the way from an operand to the whole; None if it isn't part of it. integer: the
    operand is one, and so is what is computed from it."""
    if root is leaf:
        return 0
    for child in root.parts:
        below = cycles_to(child, leaf, machine, integer=integer)
        if below is not None:
            return below + operation_latency(_operator(root), machine, integer=integer)
    return None


# Where an access goes: the array, and its subscripts without their constants.
Place = tuple[str, tuple[Vector, ...] | None]


def places_of(accesses: Iterable[Access]) -> frozenset[Place]:
    """Where accesses go, up to a distance that is always the same."""
    return frozenset(_place(access) for access in accesses)


def waiting(scop: Scop, statement: Statement, written: Collection[Place], machine: Machine) -> int:
    """Cycles from the operand of a statement that waits longest to its result. written: where there is a wait for what
    is read: what is far away has been there for long."""
    longest = 0
    for access in statement.accesses:
        if access.kind == "read" and access.node is not None and _place(access) in written:
            integer = scop.arrays[access.array].type.integer
            longest = max(longest, cycles_to(statement.body, access.node, machine, integer=integer) or 0)
    return longest


# From one statement to another.
Edge = tuple[str, str]


def longest_circuit(inside: Mapping[Edge, int], carried: Mapping[Edge, int]) -> int:
    """The longest way from a statement to itself that leads once from an iteration to a later one. inside: cycles of
    the edges in an iteration; those on circuits, as inner loops make them, don't count. carried: of those to later
    ones."""
    around = _on_circuits_together(inside)

    @cache
    def way(start: str, end: str) -> int | None:
        if start == end:
            return 0
        found = [
            cycles + rest
            for (source, sink), cycles in inside.items()
            if source == start and around[source] != around[sink] and (rest := way(sink, end)) is not None
        ]
        return max(found, default=None)

    ways = ((cycles, way(sink, source)) for (source, sink), cycles in carried.items())
    return max((cycles + rest for cycles, rest in ways if rest is not None), default=0)


def _on_circuits_together(edges: Collection[Edge]) -> dict[str, int]:
    """Numbers of statements: the same ones for those that wait for each other."""
    names = sorted({name for edge in edges for name in edge})
    successors = [{names.index(sink) for source, sink in edges if source == name} for name in names]
    return {names[k]: number for number, part in enumerate(ordered_components(successors)) for k in part}


def on_circuits(names: Iterable[str], edges: Iterable[Edge]) -> frozenset[str]:
    """The statements that wait for themselves, through others or not: chains of all others are as short as the way from
    the first statement to the last, and overlap with those of other iterations."""
    kept = list(names)
    place = {name: k for k, name in enumerate(kept)}
    successors: list[set[int]] = [set() for _ in kept]
    for source, sink in edges:
        if source in place and sink in place:
            successors[place[source]].add(place[sink])
    parts = ordered_components(successors)
    return frozenset(kept[k] for part in parts for k in part if len(part) > 1 or k in successors[k])


def resets(statement: Statement) -> bool:
    """Whether a statement decides if a scalar gets a value that has nothing to do with the one it had: as a branch that
    is foreseen, nothing waits for it; as a choice, which compilers make of it beside other rows, everything does. A
    minimum or maximum takes little either way."""
    if not isinstance(statement.body, ir.If) or selected(statement.body) is not None:
        return False
    found = (node for node in walk(statement.body) if isinstance(node, ir.Assignment) and node.op == "=")
    return any(
        isinstance(one.lvalue, ir.ID) and not any(same_tree(part, one.lvalue) for part in walk(one.rvalue))
        for one in found
    )


def decides(scop: Scop, node: isl.ScheduleNode) -> bool:
    """Whether all that a band does is under conditions on data: nothing waits for branches that are foreseen."""
    names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
    return all(isinstance(scop.statement(name).body, ir.If) for name in names)


def _place(access: Access) -> Place:
    rows = subscript_rows(access.relation)
    return access.array, None if rows is None else tuple(_shortened(row) for row in rows)


def _shortened(row: Vector) -> Vector:
    """Without zeros at its end: of loops that other statements may be outside of."""
    count = max((k + 1 for k, value in enumerate(row) if value), default=0)
    return row[:count]


def _operator(node: ir.Node) -> str:
    match node:
        case ir.BinaryOp(op=op):
            return str(op)
        case ir.Assignment(op=op):
            return str(op).removesuffix("=")
        case ir.UnaryOp(op="-" | "~"):
            return "^"
        case ir.TernaryOp() | ir.If():
            return "?:"
    return ""
