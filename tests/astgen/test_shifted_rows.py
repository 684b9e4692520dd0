"""Loops around vector loops along rows that data shift."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.sources import optimize, source_of

PARAMS = "int n, int m, float x[40][900], float y[40][700], int delay[40][40]"
BEAMS = "for (i = 0; i < n; i++) for (k = 0; k < m; k++) for (j = 0; j < 512; j++) y[i][j] += x[k][j + delay[i][k]];"


def text(body: str, **options: bool) -> str:
    return optimize(source_of(body, PARAMS), Options(eager=True, **options)).text.decode()


def test_gcc_is_kept_from_running_two_rows_at_a_time() -> None:
    assert re.search(r"for \(long k[^\n]*\n *scopt_around\(\);\n(?:[^\n]*\n)? *#pragma omp simd", text(BEAMS))


def test_places_may_be_in_scalars() -> None:
    """They are ints all the way: a conversion would hide that the next place is the next cell."""
    loop = "for (i = 0; i < n; i++) for (j = 0; j < 512; j++) { int s = 0; PLACES y[i][j] = s; }"
    places = "for (k = 0; k < m; k++) { int u = j + delay[0][k]; s += u > k ? x[k][u] > x[0][k] : 3; }"
    found = text(loop.replace("PLACES", places))
    assert re.search(r"scopt_around\(\);(?:(?!for)[^#])*#pragma omp simd[^\n]*\n *for \(int j", found)


@pytest.mark.parametrize("place", ["i * k % 40", "(i * k) & 31"])
def test_cells_of_tables_are_in_variables_and_stay_apart(place: str) -> None:
    """To clang as well such a cell may have been changed by a store; gcc would read it in the vector loop."""
    loop = BEAMS.replace("x[k][j + delay[i][k]]", f"x[k][j] * x[{place}][7]")
    assert re.search(r"scopt_around\(\);\n *float x_0 = x\[[^;]*\]\[7\];\n(?:[^\n]*\n)? *#pragma omp simd", text(loop))


@pytest.mark.parametrize("shift", ["k", "delay[i][j % 40]", "delay[k][j % 40]"], ids=["no-shift", "lookup", "table"])
def test_other_loops_are_left_alone(shift: str) -> None:
    assert "scopt_around" not in text(BEAMS.replace("delay[i][k]", shift))


def test_one_thread_gains_by_that() -> None:
    source = source_of(BEAMS, PARAMS).replace(b"#pragma scop\n", b"").replace(b"#pragma endscop\n", b"")
    made = optimize(source, Options(autodetect=True, assume=("noalias",))).text.decode()
    assert "scopt_around" in made
    assert not re.search(r"if \([^\n]*(?<!= )scopt_threads\(\) > 1\) \{\n *\{\n", made)


def test_rows_may_be_at_pointers() -> None:
    loop = "for (k = 0; k < m; k++) for (j = 0; j < 512; j++) y[0][j] += p[k][2 * j];"
    made = optimize(source_of(loop, f"{PARAMS}, float **p"), Options(eager=True)).text.decode()
    assert re.search(r"for \(long k[^\n]*\n *scopt_around\(\);\n(?:[^\n]*\n)? *#pragma omp simd", made)
