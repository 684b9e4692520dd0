"""Neighbouring loops that work on the same lines, and their tests of how much work there is."""

from __future__ import annotations

import re

from scopt.options import Options
from tests.sources import optimize, source_of

STEP = (
    "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) y[i][j] = (x[i][j - 1] + x[i][j + 1] + x[i - 1][j]) * w;"
)
BACK = "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) x[i][j] = y[i][j];"
LARGEST = """for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) {
  if (y[i][j] > r[0]) r[0] = y[i][j];
  x[i][j] = y[i][j]; }"""
APART = "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) u[i][j] = v[i][j];"
PARAMS = (
    "int steps, int n, int m, double w, double x[n][m], double y[n][m], double u[n][m], double v[n][m], double r[1]"
)


def _limits(*loops: str, params: str = PARAMS) -> list[int]:
    """What the loops of threads ask for, of a time loop around some nests."""
    text = optimize(
        source_of("for (int t = 0; t < steps; t++) {" + " ".join(loops) + "}", params),
        Options(scheduler="identity", tile=False),
    )
    return [int(limit) for limit in re.findall(r"\(double\)n \* m > (\d+)", text.text.decode())]


def test_threads_share_both_loops_or_none() -> None:
    first, second = _limits(STEP, BACK)
    assert first == second


def test_loops_of_other_arrays_are_shared_by_themselves() -> None:
    first, second = _limits(STEP, APART)
    assert first < second


def test_lines_that_one_thread_works_on_stay_in_its_caches() -> None:
    (alone,) = _limits(STEP)
    (beside,) = _limits(STEP, LARGEST)
    assert alone < 30000 < 90000 < beside


def test_what_computes_for_longer_than_lines_travel_is_shared() -> None:
    heavy = STEP.replace("* w", "".join(f"/ (w + {k})" for k in range(40)))
    assert _limits(heavy) == _limits(heavy, LARGEST)


def test_loops_without_pragmas_leave_small_arrays_to_the_core_that_has_them() -> None:
    """What runs before and after a function isn't known; of a time loop that does nothing else it is."""
    loop = f"{STEP} double (*z)[m] = x; x = y; y = z;"
    texts = (f"void f({PARAMS}) {{ int i, j; {body} }}" for body in (loop, f"while (steps--) {{ {loop} }}"))
    limits = []
    for text in texts:
        made = optimize(text.encode(), Options(autodetect=True, assume=("noalias",))).text.decode()
        limits += re.findall(r"\(double\)n \* m > (\d+)", made)[:1]
    called, alone = map(int, limits)
    assert 2 * alone < called


def test_cells_of_inner_loops_of_constant_lengths_travel_too() -> None:
    """Of so many cells in each iteration fewer iterations fill a cache."""
    few, many = (
        _limits(
            "for (i = 1; i < n; i++) for (j = 1; j < m; j++) for (k = 0; k < LEN; k++) z[i][j][k] = z[i][j][k] * w + 1;"
            "for (i = 1; i < n; i++) for (j = 1; j < m; j++) for (k = 0; k < LEN; k++) {"
            "  if (z[i][j][k] > r[0]) r[0] = z[i][j][k]; }".replace("LEN", length),
            params="int steps, int n, int m, double w, double z[n][m][40], double r[1]",
        )
        for length in ("2", "40")
    )
    assert many < few
