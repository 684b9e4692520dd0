"""Loops that look up at places which they compute, in strips: which are, what they compute, which faults are seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.places_ahead import PLACED, PLACED_FETCH
from scopt.astgen.transformed_program import Program
from scopt.check.fetched_strips import check_fetched_strips
from scopt.diagnostics import InternalError
from tests.check.planted import assignment_fault, fetched_fault, program_of
from tests.conftest import RunC
from tests.sources import optimize, source_of

PARAMS = (
    "int n, int m, float q, const float *restrict x, const float *restrict c, float *restrict y, float *restrict z, "
    "const unsigned char g[restrict 90][400], const float u[restrict 90][400], unsigned char o[restrict 90][400]"
)
TABLE = """
for (int i = 0; i < n; i++) {
  float p = ((x[i] - 0.5f) * q + 2.0f) * 1.5f - 1.0f;
  int k = (int)p;
  if (k < 0) k = 0;
  if (k > 254) k = 254;
  float w = p - k;
  y[i] += c[k] + w * (c[k + 1] - c[k]);
}"""
GRID = """
for (int j = 0; j < n; j++)
  for (int i = 0; i < m; i++) {
    float a = i + u[j][i], b = j - q * u[j][i];
    if (a < 0.0f) a = 0.0f;
    if (a > 398.5f) a = 398.5f;
    if (b < 0.0f) b = 0.0f;
    if (b > 88.5f) b = 88.5f;
    int k = (int)a, l = (int)b;
    float v = a - k, w = b - l;
    float top = g[l][k] + v * (g[l][k + 1] - g[l][k]), below = g[l + 1][k] + v * (g[l + 1][k + 1] - g[l + 1][k]);
    o[j][i] = (unsigned char)(top + w * (below - top));
  }"""
# What is read is what another iteration doesn't write.
MOVED = """
for (int j = 0; j < n; j++)
  for (int i = 0; i < m; i++) {
    float a = ((y[i] + 1.5f) * q - 0.5f) * 0.75f;
    int k = (int)a;
    k = k < 0 ? 0 : k > 254 ? 254 : k;
    a = a - k;
    float d = g[3][k] + a * (g[3][k + 1] - g[3][k]);
    y[i] = y[i] * 0.5f + d;
    z[i] += y[i];
  }"""


def text(body: str) -> str:
    return optimize(source_of(body, PARAMS)).text.decode().partition("#pragma scop\n")[2]


def test_tables_are_looked_up_between_vector_loops() -> None:
    made = text(TABLE)
    assert "int ks[64];" in made
    assert "c_x[i - it] = c[k];" in made
    assert "c_x_3" not in made  # each cell once
    assert "y[i] += c_x[i - it] + w * (c_x_2[i - it] - c_x[i - it]);" in made
    assert "k = scopt_blend(k < 0, 0, k);" in made  # which gcc would compute `w` from


def test_threads_have_shares() -> None:
    made = text(TABLE)
    shared = made.partition("#pragma omp parallel for")[2]
    assert "is += 256" in shared.partition("int ks[64];")[0]


def test_cells_of_bytes_are_widened() -> None:
    made = text(GRID)
    assert "int g_x[64];" in made
    assert "m > 15" in made
    assert "a = scopt_pickf(a < 0.0f, 0.0f, a);" in made


@pytest.mark.parametrize(
    "body",
    [
        TABLE.replace("y[i] +=", "y[k] +="),  # no vectors behind
        TABLE.replace("y[i] +=", "y[2 * i] +="),
        TABLE.replace("x[i]", "y[i - 1]"),  # what another iteration writes
        TABLE.replace("c[k]", "y[k]"),
        TABLE.replace("y[i] += c[k]", "k = (int)c[k]; y[i] += c[k]"),  # one lookup after another
        TABLE.replace("i < n", "i < 9"),  # short
        TABLE.replace("float w = p - k;", "").replace("c[k] + w * (c[k + 1] - c[k])", "c[k]"),  # too little else
        TABLE.replace("for (int i", "int last = 0;\nfor (int i").replace("(int)p;", "(int)p + last; last = k;"),
        GRID.replace("i < m", "i < j"),  # nobody knows how long
        GRID.replace("o[j][i] =", "if (w > 0.5f) o[j][i] ="),
    ],
)
def test_other_loops_stay(body: str) -> None:
    assert "[64];" not in text(body)


def test_what_is_written_behind_may_be_read_ahead() -> None:
    assert "as[i - it_2] = a;" in text(MOVED)


def test_results_stay(run_c: RunC) -> None:
    functions = "".join(
        f"void f{k}({PARAMS}) {{\n#pragma scop{body}\n#pragma endscop\n}}\n"
        for k, body in enumerate((TABLE, GRID, MOVED))
    )
    source = f"""#include <stdio.h>
{functions}
static float x[400], c[256], y[400], z[400], u[90][400];
static unsigned char g[90][400], o[90][400];
int main(void) {{
  unsigned hash = 5381;
  for (int k = 0; k < 400; k++) x[k] = k * 0.75f - 20, y[k] = k % 7;
  for (int k = 0; k < 256; k++) c[k] = k * 37 % 64 * 0.25f;
  for (int k = 0; k < 90 * 400; k++) g[0][k] = (unsigned char)(k * 13 >> 2), u[0][k] = (k * 29 % 97 - 48) * 0.375f;
  for (int n = 0; n <= 400; n += n < 9 ? 3 : 43) {{
    f0(n, n, 1.25f, x, c, y, z, g, u, o);
    f1(n < 90 ? n : 90, n, 0.5f, x, c, y, z, g, u, o);
    f2(2, n, 3.5f, x, c, y, z, g, u, o);
    for (int k = 0; k < 400; k++) hash = hash * 33 + (unsigned)(int)(y[k] * 64) + (unsigned)(int)z[k];
    for (int k = 0; k < 90 * 400; k++) hash = hash * 33 + o[0][k];
  }}
  printf("%u\\n", hash);
}}
"""
    made = optimize(source.encode()).text.decode()
    assert made.count("int ks[64]") >= 3
    flags = ("-O1", "-w", "-ffp-contract=off")
    before = run_c(source, *flags, "-lm", name="before")
    assert run_c(made, *flags, "-fopenmp", "-fsanitize=address", name="after") == before


@pytest.mark.parametrize(
    "fault",
    [
        assignment_fault(f"{PLACED_FETCH}0", lambda body: ir.Assignment("=", body.lvalue, ir.Constant("int", "1"))),
        assignment_fault(PLACED, lambda body: ir.Assignment("-=", body.lvalue, body.rvalue)),
        assignment_fault("save_", lambda body: ir.Assignment("=", body.lvalue, ir.Constant("int", "1"))),
        assignment_fault("load_", lambda body: ir.Assignment("+=", body.lvalue, body.rvalue)),
        fetched_fault(lambda one: replace(one, group=2)),
        fetched_fault(lambda one: replace(one, strip="i")),
        fetched_fault(lambda one: replace(one, cells=one.cells[1:])),
        fetched_fault(lambda one: replace(one, forms=())),
        fetched_fault(lambda one: replace(one, ahead=one.ahead[1:])),
        fetched_fault(lambda one: replace(one, ahead=())),
        fetched_fault(lambda one: replace(one, handed=one.handed[1:])),
        fetched_fault(lambda one: replace(one, handed=(replace(one.handed[0], buffer="c_x"), *one.handed[1:]))),
    ],
)
def test_faults_are_refused(fault: Callable[[Program], Program]) -> None:
    program, _ = program_of(TABLE, PARAMS)
    check_fetched_strips(program)
    with pytest.raises(InternalError, match="fetched"):
        check_fetched_strips(fault(program))
