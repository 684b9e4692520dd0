"""What is asked of blocks: questions that leave out a change, or that may not be asked early, are refused."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.check.block_questions import Block, Reader
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from tests.sources import scop_of

PARAMS = "int n, int *a, int *b, double *x, int at, int best, double top, double low, double fixed[1000], int last"


def read(body: str, loops: str = "for (i = 0; i < n; i++)") -> tuple[Scop, Statement, ir.Node]:
    """A statement, and what it is about to be asked, which stands behind it as `c[i] = …`, of the same nodes."""
    scop = scop_of(f"{loops} {{ {body} }}", PARAMS, after="a[0] = at + best + top + low;")
    return scop, scop.statements[0], scop.statements[0].body


def is_enough(body: str, asked: str) -> bool:
    scop, statement, _ = read(body)
    other = scop_of(f"for (i = 0; i < n; i++) last = {asked};", PARAMS, after="a[0] = last;").statements[0].body
    assert isinstance(other, ir.Assignment)
    assert isinstance(other.rvalue, ir.Node)
    reader = Reader(
        Block(scop, frozenset(a.array for a in statement.accesses if a.is_write), frozenset(), frozenset()),
        statement,
        frozenset({"i"}),
    )
    return reader.is_enough(_of(other.rvalue, statement.body))


def _of(asked: ir.Node, body: ir.Node) -> ir.Node:
    """What is asked with the statement's own nodes where these say the same."""
    texts = {ir.printing.CPrinter().visit(one): one for one in reversed(list(walk(body))) if _is_value(one)}

    def visit(node: ir.Node) -> ir.Node:
        same = texts.get(ir.printing.CPrinter().visit(node))
        return same if same is not None else ir.walks.mapped(node, visit)

    return visit(asked)


def _is_value(node: ir.Node) -> bool:
    return isinstance(node, ir.BinaryOp | ir.UnaryOp | ir.ArrayRef | ir.ID | ir.FuncCall)


SECOND = "if (x[i] > top) { low = top; top = x[i]; } else if (x[i] > low) low = x[i];"
GUARDED = "if (a[i] && x[i] < top) { top = x[i]; at = i; }"


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("if (x[i] > top) { top = x[i]; at = i; }", "x[i] > top"),
        ("if (x[i] > top) top = x[i]; else at = i;", "(x[i] > top) | !(x[i] > top)"),
        (SECOND, "(x[i] > top) | (x[i] > low)"),
        ("top = x[i] < top ? x[i] : top;", "x[i] < top"),
        ("low = low <= x[i] ? low : x[i];", "!(low <= x[i])"),
        (GUARDED, "a[i] && x[i] < top"),
        ("if (a[i] && fixed[i] < top) { top = fixed[i]; at = i; }", "a[i] && fixed[i] < top"),
        ("if (x[i] * top - low > 3.0) { top = x[i]; at = i; }", "x[i] * top - low > 3.0"),
        ("if (x[i] > x[at]) at = i;", "x[i] > x[at]"),
        ("if (a[i] == best) { if (b[i] > 3) at = i; }", "a[i] == best"),
    ],
)
def test_questions_that_are_enough(body: str, asked: str) -> None:
    assert is_enough(body, asked)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("if (x[i] > top) { top = x[i]; at = i; }", "x[i] >= top"),  # the same thing has to be asked
        ("if (x[i] > top) { top = x[i]; at = i; }", "!(x[i] > top)"),
        ("if (x[i] > top) { top = x[i]; at = i; }", "x[i] > top || a[i] > 3"),  # nobody knows whether a[i] is there
        ("if (x[i] > top) { top = x[i]; at = i; }", "(x[i] > top) & (a[i] > 3)"),
        ("if (x[i] > top) top = x[i]; else at = i;", "x[i] > top"),
        (SECOND, "x[i] > top"),
        ("top = x[i] < top ? x[i] : low;", "x[i] < top"),
        ("low = low <= x[i] ? low : x[i];", "low <= x[i]"),
        (GUARDED, "(a[i] != 0) & (x[i] < top)"),  # a cell that might not be there
        (GUARDED, "x[i] < top"),
        (GUARDED, "!a[i] || x[i] < top"),
        ("if (a[i] - best < 3) { best = a[i]; at = i; }", "a[i] - best < 3"),  # might overflow
        ("if (x[i] > x[at + 1]) at = i;", "x[i] > x[at + 1]"),
        ("if (a[i] && x[i] > x[at]) at = i;", "a[i] && x[i] > x[at]"),  # where nothing has looked at x[at] before
        ("if (x[i] > top && a[i] < best) { best = a[i]; top = x[i]; }", "x[i] > top && a[i] < best"),
        ("if (x[i] > fixed[a[i]]) fixed[b[i]] = x[i];", "x[i] > fixed[a[i]]"),  # another cell in each iteration
        ("if (a[i] & 2 && x[i] > top) top = x[i];", "a[i] & (x[i] > top)"),  # bits, no truth
        ("if (a[i]) at = i;", "a[i]"),  # of which an int might not hold all bits
    ],
)
def test_others_are_not(body: str, asked: str) -> None:
    assert not is_enough(body, asked)


def test_temporary_values() -> None:
    """What a block computes from what may change has to be floating-point arithmetic."""
    for body, floating, early in (
        ("low = top - x[i];", True, True),
        ("low = fabs(top) * x[i];", True, True),
        ("at = best + a[i];", False, False),
        ("at = a[i] + b[i];", False, True),
        ("low = top > 0.0 ? x[i] : 0.0;", True, False),
    ):
        scop, statement, node = read(body)
        assert isinstance(node, ir.Assignment)
        assert isinstance(node.rvalue, ir.Node)
        reader = Reader(
            Block(scop, frozenset({"top", "best"}), frozenset({"low", "at"}), frozenset()), statement, frozenset({"i"})
        )
        assert reader.is_early(node.rvalue, floating=floating) is early
