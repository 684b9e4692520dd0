"""Cells that bound loops: which are read once before the region, and what they may overlap with."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options

BEFORE = """
typedef struct { int n; double x; int size[3]; int w : 4; double *data; } level;
int N[8], grid[3][2]; int *sizes; double A[99][99]; volatile int V[4];
"""
PARAMETERS = "int k, int *dims, int *x, double *a, unsigned char *bytes, level *s, level **rows"


def scop(body: str, marked: bool = False) -> Scop:
    inside = f"#pragma scop\n{body}\n#pragma endscop" if marked else body
    tu = parse(f"{BEFORE}void f({PARAMETERS}) {{\n{inside}\n}}\n".encode(), "in.c", Options())
    if marked:
        return extract(tu, tu.regions[0], "scop0")
    found = detect(tu)
    whole = [region for region in found.regions if region.parent is region.function.body]
    if not whole:
        raise Refusal(found.remarks[0].id, found.remarks[0].message, found.remarks[0].location)
    return extract(tu, whole[0], "scop0")


@pytest.mark.parametrize(
    ("body", "prologue"),
    [
        ("for (int i = 0; i < N[k]; i++) A[i][0] = 0;", ["const int N_k = N[k];"]),
        ("for (int i = 0; i < *dims; i++) A[i][0] = *dims;", ["const int dims_0 = dims[0];"]),
        (
            "for (int i = 0; i < grid[1][0]; i++) for (int j = 0; j < dims[k + 1]; j++) A[i][j] = 0;",
            ["const int grid_1_0 = grid[1][0];", "const int dims_k_1 = 0 < grid_1_0 ? dims[k + 1] : 0;"],
        ),
        ("for (int i = 0; i < s[k].n; i++) s[i].x = s[k].n;", ["const int s_k_n = s[k].n;"]),
        (
            "for (int i = 0; i < s->size[k]; i++) A[i][0] = 0;",
            ["int *s_size = s->size;", "const int s_size_k = s_size[k];"],
        ),
        (
            "for (int i = 0; i < dims[k]; i++) A[i][0] += s->data[i];",
            ["const int dims_k = dims[k];", "double *s_data = 0 < dims_k ? s->data : 0;"],
        ),
        (
            "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) a[i * dims[0] + j] += 1;",
            ["const int dims_0 = dims[0];"],
        ),
        (
            "int n; for (int i = 0; i < k; i++) { n = *dims; for (int j = 0; j < n; j++) A[i][j] = 0; }",
            ["const int dims_0 = 0 < k ? dims[0] : 0;"],
        ),
        (
            "int n, m; for (int i = 0; i < k; i++) { n = dims[0]; for (int j = 0; j < n; j++) "
            "{ m = dims[1]; for (int l = 0; l < m; l++) A[i][j] += x[l]; } }",
            ["const int dims_0 = 0 < k ? dims[0] : 0;", "const int dims_1 = 0 < k && 0 < dims_0 ? dims[1] : 0;"],
        ),
    ],
)
def test_cells_get_names(body: str, prologue: list[str]) -> None:
    assert list(scop(body).prologue) == prologue


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < N[k]; i++) N[i] = 3;",
        "for (int i = 0; i < s[k].n; i++) s[i].n = 3;",
        "for (int i = 0; i < V[k]; i++) A[i][0] = 0;",
        "for (int i = 0; i < s[k].w; i++) A[i][0] = 0;",
        "for (int i = 0; i < rows[k]->n; i++) A[i][0] = 0;",
        "for (int i = 0; i < 9; i++) for (int j = 0; j < N[i]; j++) A[i][j] = 0;",
        "for (int i = 0; i < N[k]; i++) { A[i][0] = 0; k = 2; }",
        "for (int i = 0; i < 9; i++) if (A[i][0] > 1) for (int j = 0; j < N[k]; j++) A[i][j] = 0;",
    ],
)
def test_what_may_change_or_may_not_be_there_stays(body: str) -> None:
    try:
        made = scop(body)
    except Refusal:
        return
    assert made.prologue == ()


@pytest.mark.parametrize(
    ("body", "tested"),
    [
        ("for (int i = 0; i < dims[0]; i++) a[i] = 1;", False),
        ("for (int i = 0; i < dims[0]; i++) x[i] = 1;", True),
        ("for (int i = 0; i < N[0]; i++) x[i] = 1;", True),
        ("for (int i = 0; i < s[k].n; i++) x[i] = 1;", True),
        ("for (int i = 0; i < sizes[0]; i++) a[i] = 1;", False),
        ("for (int i = 0; i < sizes[0]; i++) bytes[i] = 1;", True),
    ],
)
def test_what_may_be_written_is_tested(body: str, tested: bool) -> None:
    made = scop(body)
    assert len(made.prologue) == 1
    assert bool(made.guard and made.guard.apart) is tested


def test_a_pointer_that_bytes_may_change_is_tested_too() -> None:
    made = scop("for (int i = 0; i < sizes[0]; i++) bytes[i] = 1;")
    assert made.guard is not None
    assert {stretch.base for pair in made.guard.apart for stretch in pair} == {"&sizes[0]", "&(sizes)", "bytes"}
