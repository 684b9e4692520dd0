"""Loops over the directions of constant tables, as straight code."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.diagnostics import Refusal
from scopt.ir.scop import Scop
from tests.sources import scop_of

PARAMS = "int n, int m, double *a, double *b"
TABLES = """
static const int dx[4] = {1, 0, -1}, near[][2] = {{-1, 0}, {1, 2}};
static const signed char by[3] = {2, -1, 0};
static int moving[4] = {1, 0, -1};
static const int some[4] = {[2] = 1}, *far = dx;
extern const int other[4];
"""


def scop(body: str) -> Scop:
    return scop_of(body, params=PARAMS, before=TABLES)


def reads(made: Scop) -> set[int]:
    """The distances of what is read from the iterator."""
    found = set()
    for statement in made.statements:
        for access in statement.accesses:
            if access.array == "a" and access.kind == "read":
                space = isl.Map(f"[n, m] -> {{ {statement.name}[i] -> a[i] }}").reset_tuple_id(isl.dim_type.out)
                apart = access.relation.reset_tuple_id(isl.dim_type.out).reverse().apply_range(space).deltas()
                found.add(int(apart.dim_max_val(0).neg().to_python()))
    return found


@pytest.mark.parametrize(
    ("loop", "distances"),
    [
        ("for (int k = 0; k < 4; k++) b[i] += a[i + dx[k]];", {1, 0, -1}),
        ("for (int k = 1; k <= 2; ++k) b[i] += k * a[i + dx[k]];", {0, -1}),
        ("for (int k = 0; k < 3; k++) { int j = i - by[k]; b[i] += a[j]; }", {-2, 1, 0}),
        ("for (int k = 0; k < 2; k++) for (int l = 0; l < 2; l++) b[i] += a[i + near[k][l]];", {-1, 0, 1, 2}),
        ("for (unsigned k = 0; k < 3; k++) b[i] += k * a[i + dx[k]];", {1, 0, -1}),
    ],
)
def test_cells_of_tables_are_numbers(loop: str, distances: set[int]) -> None:
    assert reads(scop(f"for (int i = 3; i < n; i++) {{ {loop} }}")) == distances


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < 4; k++) b[i] += a[i + moving[k]];",
        "for (int k = 0; k < 4; k++) b[i] += a[i + some[k]];",
        "for (int k = 0; k < 3; k++) b[i] += a[i + far[k]];",
        "for (int k = 0; k < 3; k++) b[i] += a[i + other[k]];",
        "for (int k = 0; k < 5; k++) b[i] += a[i + dx[k]];",
        "for (int k = 0; k < m; k++) b[i] += a[i + dx[k]];",
        "for (int k = 0; k < 4; k++) { const int dx[4] = {0, 0, 0, 0}; b[i] += a[i + dx[k]]; }",
    ],
)
def test_other_cells_are_data(loop: str) -> None:
    try:
        made = scop(f"for (int i = 3; i < n; i++) {{ {loop} }}")
    except Refusal:
        return
    assert any(
        not access.relation.is_single_valued()
        for statement in made.statements
        for access in statement.accesses
        if access.array == "a"
    )


def test_weights_are_left_as_they_are() -> None:
    made = scop("for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) b[i] += dx[k] * a[i];")
    assert "dx" in made.arrays


STATE = """typedef struct { int n; double *v[3]; double **w[3]; } state;
static inline void flux(const double *l, double *f) {
  double z[4] = { 0.5, l[0] };
  for (int k = 0; k < 3; k++) f[k] = l[k] * z[k] + z[3]; }
"""


def test_components_that_pointers_lead_to() -> None:
    made = scop_of(
        "for (int k = 0; k < 3; k++) for (i = 0; i < n; i++) p->v[k][i] = 2 * i;",
        params="state *p, int n",
        before=STATE,
    )
    assert {"p_v_0", "p_v_1", "p_v_2"} == made.arrays.keys()


def test_rows_of_components_below_a_function_with_values_for_elements() -> None:
    body = """for (i = 0; i < n; i++) for (j = 1; j < n; j++) { double l[3], f[3];
      for (int k = 0; k < 3; k++) { const double *q = p->w[k][i] + j; l[k] = q[-1]; }
      flux(l, f);
      for (int k = 0; k < 3; k++) { double **q = p->w[k]; q[i][j] -= f[k]; } }"""
    made = scop_of(body, params="state *p, int n", before=STATE)
    assert {name for name, array in made.arrays.items() if array.rows} == {"p_w_0", "p_w_1", "p_w_2"}
    assert sum(any(a.is_write and a.array == "z_2" for a in one.accesses) for one in made.statements) == 4
