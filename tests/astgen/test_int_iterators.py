"""Where iterators lie, and whether they are added in subscripts as ints."""

from __future__ import annotations

import pytest

from scopt.astgen.emit.int_iterators import Interval, is_added_in_subscript, is_divided, is_where_loops_begin, narrowed
from scopt.ir.ctypes import limits_of
from scopt.ir.expr import compare, conjunction, plus
from scopt.ir.nest import Condition, Const, Name, Or
from scopt.ir.scop import CType

INT = CType("int", integer=True, bits=32)
LAST = limits_of(INT)[1]
SHORT = compare(plus(Name("xt"), 32), "<=", Name("n"))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (SHORT, (0, LAST - 32)),
        (compare(Name("n"), ">", Name("xt")), (0, LAST - 1)),
        (compare(Name("xt"), ">=", Const(7)), (7, LAST + 100)),
        (conjunction((SHORT, compare(Name("xt"), ">", Const(4)))), (5, LAST - 32)),
        (compare(Name("xt"), "!=", Name("n")), (0, LAST + 100)),
        (Or((SHORT, compare(Name("n"), ">", Const(4)))), (0, LAST + 100)),
        (compare(Name("xt"), "<=", Name("y")), (0, LAST + 100)),  # which may be anything
    ],
)
def test_conditions_narrow_where_iterators_lie(condition: Condition, expected: Interval) -> None:
    found = narrowed(condition, {"n": INT}, {"xt": (0, LAST + 100), "y": None})
    assert found == {"xt": expected, "y": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s += a[(int)x + d];", True),
        ("u = (int)x + d;\nv = u + 1;\ns += a[v];", True),
        ("s += a[b[k] + (int)y][d[k] + (int)x];", True),
        ("u = (int)x + d;\ns += u;", False),
        ("v = u + 1;\ns += a[v] * (int)x;", False),
        ("u = (int)x * d;\ns += a[u];", False),
    ],
)
def test_iterators_that_subscripts_add(text: str, expected: bool) -> None:
    assert is_added_in_subscript(text, "x") is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y[x] = a[x] * g[(int)x / 64];", True),
        ("y[x] = a[x] * g[(int)x * 3 % m];", True),
        ("y[x] = g[((int)x >> 4) + 1];", True),
        ("y[x] = (int)x & 1 ? a[x] : b[x];", True),
        ("y[x] = (int)x && k ? a[x] : b[x];", False),
        ("y[x] = a[x] * (int)x + k / 2;", False),
        ("y[x] = a[x] * g[(int)xs / 64];", False),
    ],
)
def test_iterators_of_which_parts_are_asked_for(text: str, expected: bool) -> None:
    assert is_divided(text, "x") is expected


def test_iterators_that_loops_of_statements_begin_at() -> None:
    assert is_where_loops_begin("for (m = (int)x; m > 0 && v[m - 1] > a; m--)\n  v[m] = v[m - 1];", "x")
    assert not is_where_loops_begin("for (m = 0; m < x; m++)\n  v[m] = a;", "x")
