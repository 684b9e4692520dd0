"""Nodes: their fields, children and places."""

from __future__ import annotations

import pytest

from scopt import ir


def test_fields_come_in_order_and_by_name() -> None:
    x, y = ir.ID("x"), ir.ID("y")
    node = ir.BinaryOp("+", x, right=y)
    assert (node.op, node.left, node.right, node.coord) == ("+", x, y, None)
    place = ir.Coord("f.c", 1, 2)
    assert ir.ID("x", place).coord is place


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), (("x", None, None), {}), (("x",), {"nam": 1}), (("x",), {"name": "y"})]
)
def test_other_fields_are_refused(values: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        ir.ID(*values, **named)


def test_children_have_roles_and_what_is_missing_is_left_out() -> None:
    x, y = ir.ID("x"), ir.ID("y")
    loop = ir.For(None, x, None, ir.Compound([y]))
    assert [role for role, _ in loop.children()] == ["cond", "stmt"]
    assert [(role, child) for role, child in loop.stmt.children()] == [("block_items", y)]
    assert loop.parts == (x, loop.stmt)
    assert ir.Compound(None).children() == ()


def test_nodes_are_themselves() -> None:
    assert ir.ID("x") != ir.ID("x")
    assert len({ir.ID("x"), ir.ID("x")}) == 2
    assert repr(ir.UnaryOp("-", ir.ID("x"))) == "UnaryOp(op='-', expr=ID(name='x'))"
