"""Pointers of which only matters whether they are null."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from scopt.ir.scop import Scop
from tests.sources import scop_of


def reads(scop: Scop) -> set[str]:
    return {access.array for statement in scop.statements for access in statement.accesses if access.kind == "read"}


@pytest.mark.parametrize(
    "body",
    [
        "if (p) x[i] = 1;",
        "x[i] = p ? 2 : 3;",
        "if (!p) x[i] = 1; else x[i] = 2;",
        "if (p && y[i] > 0) x[i] = 1;",
        "if (y[i] > 0 || p != 0) x[i] = 1;",
        "x[i] = (void *)0 == p;",
        "do { x[i] += 1; } while (p && x[i] < 3);",
    ],
)
def test_no_cell_of_them_is_read(body: str) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {body} }}", params="int n, double *x, double *y, double *p")
    assert "p" not in reads(scop)
    assert "p" not in scop.arrays


def test_cells_behind_them_are_read() -> None:
    scop = scop_of("for (i = 0; i < n; i++) if (p) x[i] = p[i];", params="int n, double *x, double *p")
    assert reads(scop) == {"p"}


@pytest.mark.parametrize("body", ["if (p == x) x[i] = 1;", "if (p + 1) x[i] = 1;", "if (p) p++;", "if (v) x[i] = 1;"])
def test_other_uses_stay_refused(body: str) -> None:
    with pytest.raises(Refusal):
        scop_of(f"for (i = 0; i < n; i++) {{ {body} }}", params="int n, double *x, double *p, double *volatile v")
