"""Blocks that the text leaves out: faults in what it asks are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.generation import lowered_program, rewritten
from scopt.astgen.rewrite_setting import Setting, Watch
from scopt.astgen.transformed_program import Program
from scopt.check.left_out import check_searches
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, For
from scopt.ir.nest_walks import Item, items, map_block
from scopt.ir.scop import Statement
from scopt.ir.walks import rebuilt
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

PARAMS = "int n, double x[1000], double y[1000], int at, double top"
BODY = "for (i = 0; i < n; i++) { s = x[i] * y[i]; if (s > top) { top = s; at = i; } }"


def program() -> Program:
    scop = scop_of(BODY, PARAMS, after="y[0] = at + top;")
    deps, options = dependences(scop), Options()
    marked = apply_passes(scop, deps, scop.schedule, options, (), ())
    lowered = lowered_program(scop, deps, marked, options.machine, Watch())
    return rewritten(lowered, Setting(options, (), False), Watch())


def changed(made: Program, change: Callable[[ir.Node], ir.Node]) -> Program:
    """With another question."""

    def other(one: Statement) -> Statement:
        return replace(one, body=rebuilt(one.body, change)) if one.name.endswith("_test") else one

    return replace(made, scop=replace(made.scop, statements=tuple(map(other, made.scop.statements))))


def marked_as(made: Program, **changes: object) -> Program:
    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and item.mark.searched:
            return (replace(item, mark=replace(item.mark, **changes)),)
        return (item,)

    return replace(made, nest=replace(made.nest, body=map_block(made.nest.body, visit)))


def without_temporary(made: Program) -> Program:
    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and item.mark.searched:
            return (replace(item, body=Block(item.body.items[::-1])),)
        return (item,)

    return replace(made, nest=replace(made.nest, body=map_block(made.nest.body, visit)))


def turned(node: ir.Node) -> ir.Node:
    return ir.BinaryOp("<", node.left, node.right) if isinstance(node, ir.BinaryOp) and node.op == ">" else node


def assigned(node: ir.Node) -> ir.Node:
    return ir.Assignment("=", node.lvalue, node.rvalue) if isinstance(node, ir.Assignment) else node


def elsewhere(node: ir.Node) -> ir.Node:
    return ir.ID("found2") if isinstance(node, ir.ID) and node.name == "found" else node


def test_sound_ones_are_not_refused() -> None:
    made = program()
    assert any(isinstance(item, For) and item.mark.searched for item in items(made.nest.body))
    check_searches(made)


@pytest.mark.parametrize(
    "fault",
    [
        lambda made: changed(made, turned),
        lambda made: changed(made, assigned),
        lambda made: changed(made, elsewhere),
        lambda made: marked_as(made, searched="top"),
        lambda made: marked_as(made, searched="other"),
        lambda made: marked_as(made, parallel=True),
        lambda made: marked_as(made, simd=True),
        without_temporary,
    ],
)
def test_faults_are_refused(fault: Callable[[Program], Program]) -> None:
    with pytest.raises(InternalError):
        check_searches(fault(program()))
