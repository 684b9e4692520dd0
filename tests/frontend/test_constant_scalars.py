"""Variables that are one number: where that stands in their place, and what has to stay a variable."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.ir.walks import walk
from tests.sources import scop_of

PARAMS = "int n, double *restrict x, float *restrict y, double *restrict z"


def numbers(declaration: str, use: str = "x[i] = z[i] * a;") -> list[str] | None:
    """The constants of the only statement; None where there are more statements."""
    statements = scop_of(f"for (i = 0; i < n; i++) {{ {declaration} {use} }}", PARAMS).statements
    if len(statements) > 1:
        return None
    return [node.value for node in walk(statements[0].body) if isinstance(node, ir.Constant)]


@pytest.mark.parametrize(
    ("declaration", "found"),
    [
        ("double a = 1.005;", ["1.005"]),
        ("const double a = -1.005;", ["1.005"]),
        ("double a = 2;", ["2.0"]),
        ("float a = 0.1;", ["0.1f"]),
        ("float a = 0.1f;", ["0.1f"]),
        ("float a = 3;", ["3.0f"]),
        ("int a = 7;", ["7"]),
        ("double a = 0.5; { double a = 2.0; x[i] += a; }", None),  # each name has its own
        ("double a = 0.1f;", None),  # no constant of its own type is surely as much
        ("float a = 1e-40;", None),
        ("float a = 1.000000059604644775390625;", None),  # in the middle between two floats
        ("float a = 16777217;", None),
        ("unsigned char a = 200;", None),
        ("int a = 2.5;", None),
        ("int a = 0xffffffff;", None),  # -1, where the constant is no int
        ("int a = 3000000000;", None),
        ("float a = -0;", None),  # an integer, which has no such zero
        ("float a = -0.0f;", ["0.0f"]),
        ("volatile double a = 0.5;", None),
        ("double a = 0.5; if (z[i] > 0) a = 2.0;", None),
        ("double a; a = 0.5;", None),
    ],
)
def test_what_a_variable_is(declaration: str, found: list[str] | None) -> None:
    if "volatile" in declaration:
        with pytest.raises(Exception, match="volatile"):
            numbers(declaration)
    else:
        assert numbers(declaration) == found


def test_declared_in_front_of_the_loops() -> None:
    (statement,) = scop_of("double a = 0.5; for (i = 0; i < n; i++) x[i] *= a;", PARAMS).statements
    assert [access.array for access in statement.accesses if access.array == "a"] == []
