"""Short loops below conditions on data: which ones are written out, and which stay."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt import ir
from scopt.ir.walks import walk
from tests.sources import scop_of

PARAMS = "int n, double x[300], const double y[300], const double f[100], const int to[100]"


def updates(small: str, condition: str = "f[i] > 0") -> tuple[int, int]:
    """Of the statements, how many loops they have, and how many stores."""
    scop = scop_of(f"for (i = 0; i < n; i++) if ({condition}) {small}", PARAMS)
    nodes = [node for one in scop.statements for node in walk(one.body)]
    return (
        sum(1 for one in nodes if isinstance(one, ir.For)),
        sum(1 for one in scop.statements for access in one.accesses if access.is_write),
    )


def test_updates_of_cells_are_written_out() -> None:
    assert updates("for (int a = 0; a < 3; a++) x[3 * i + a] += f[i] * y[a];") == (0, 3)
    assert updates("for (int a = -1; a <= 1; a++) { x[i + 1 + a] -= y[a + 1]; x[a + 200] += 1; }") == (0, 6)
    nested = "for (int a = 0; a < 2; a++) { for (int b = 0; b < 3; b++) x[3 * a + b] += y[b]; x[a + 9] += y[a]; }"
    assert updates(nested) == (0, 8)


@pytest.mark.parametrize(
    "small",
    [
        "for (int a = 0; a < 9; a++) x[3 * i + a] += y[a];",  # more than there are registers for
        "for (int a = 0; a < 5; a++) for (int b = 0; b < 5; b++) x[5 * a + b] += y[b];",
        "for (int a = 0; a < 3; a++) x[3 * i + a] = y[a];",  # nothing waits for these
        "for (int a = 0; a < 3; a++) { x[a] += y[a]; if (y[a] > 1) break; }",
    ],
)
def test_other_loops_stay(small: str) -> None:
    assert updates(small)[0] > 0


def test_loops_below_conditions_of_iterators_are_loops_of_the_region() -> None:
    scop = scop_of("for (i = 0; i < n; i++) if (i > 3) for (int a = 0; a < 3; a++) x[3 * i + a] += y[a];", PARAMS)
    assert [one.domain.dim(isl.dim_type.set) for one in scop.statements] == [2]
