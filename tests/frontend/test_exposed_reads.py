"""What a statement of several, executed as a whole, reads of what was there before it."""

from __future__ import annotations

import islpy as isl
import pytest

from tests.sources import scop_of

# More than a block has: so that it is one statement.
LONG = "y[i] += 1; y[i] += 2; y[i] += 3; y[i] += 4; y[i] += 5; y[i] += 6; y[i] += 7;"


@pytest.mark.parametrize(
    ("body", "read", "written"),
    [
        ("for (int k = 0; k < 4; k++) w[k] = x[i]; for (int k = 0; k < 4; k++) y[i] += w[k];", [], [0, 1, 2, 3]),
        ("for (int k = 0; k < 3; k++) w[k] = x[i]; for (int k = 0; k < 4; k++) y[i] += w[k];", [3], [0, 1, 2]),
        ("w[0] = x[i]; for (int k = 1; k < 4; k++) w[k] = w[k - 1];", [], [0, 1, 2, 3]),
        ("for (int k = 1; k < 4; k++) w[k] = w[k - 1];", [0], [1, 2, 3]),
        ("w[3] = x[i]; for (int k = 2; k >= 0; k--) w[k] = w[k + 1];", [], [0, 1, 2, 3]),
        ("w[3] = x[i]; for (int k = 2; k >= 0; k--) w[k + 1] = w[k];", [0, 1, 2], [1, 2, 3]),
        ("for (int k = 0; k < 4; k++) { y[i] += w[k]; w[k] = x[i]; }", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("for (int k = 0; k < 4; k++) { w[k] = x[i]; for (int l = 0; l <= k; l++) y[i] += w[l]; }", [], [0, 1, 2, 3]),
        (
            "for (int k = 0; k < 4; k++) { w[k] = x[i]; for (int l = k; l < 4; l++) y[i] += w[l]; }",
            [1, 2, 3],
            [0, 1, 2, 3],
        ),
        ("if (x[i]) w[0] = 1; y[i] += w[0];", [0], []),
        ("w[1] = 1; if (x[i]) y[i] += w[1] + w[2]; w[2] = 1;", [2], [1, 2]),
        ("w[0] += 1; y[i] += w[0];", [0], [0]),
        ("while (x[i] > y[i]) { w[0] = x[i]; y[i] += 9; } y[i] += w[0];", [0], []),
        ("for (int k = 0; k < m; k++) w[0] = k; y[i] += w[0];", [0], []),
    ],
)
def test_cells_that_a_statement_has_written_itself_are_its_own(body: str, read: list[int], written: list[int]) -> None:
    code = f"for (i = 0; i < n; i++) {{ do {{ {LONG} {body} }} while (0); }}"
    scop = scop_of(code, "int n, int m, int w[4], int x[n], int y[n]")
    (statement,) = scop.statements
    cells: dict[str, set[int]] = {"read": set(), "write": set()}
    for access in statement.accesses:
        reached = access.relation.range()
        for cell in range(4) if access.array == "w" and access.kind in cells else ():
            if not reached.intersect(isl.Set(f"{{ w[{cell}] }}")).is_empty():
                cells[access.kind].add(cell)
    if "k < m" not in body:
        assert sorted(cells["write"]) == written
    assert sorted(cells["read"]) == read
