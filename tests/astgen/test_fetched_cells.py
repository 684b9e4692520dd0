"""Vector loops that fetch cells which last for some iterations: which do, what they compute, and which faults are
seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.fetched_cells import FETCH, FETCHED
from scopt.astgen.transformed_program import Program
from scopt.check.fetched_strips import check_fetched_strips
from scopt.diagnostics import InternalError
from tests.check.planted import assignment_fault, fetched_fault, program_of
from tests.conftest import RunC
from tests.sources import optimize, source_of

PARAMS = (
    "int n, const unsigned char a[restrict 700][700], const unsigned char c[restrict 700][700], "
    "unsigned char o[restrict 700][700][3]"
)
COLOURS = """
for (j = 0; j < n; j++)
  for (i = 0; i < n; i++) {
    int y = 298 * (a[j][i] - 16), u = c[j / 2][i & ~1] - 128, v = c[j / 2][(i & ~1) + 1] - 128;
    o[j][i][0] = (unsigned char)((y + 409 * v + 128) >> 8);
    o[j][i][1] = (unsigned char)((y - 100 * u - 208 * v + 128) >> 8);
    o[j][i][2] = (unsigned char)((y + 516 * u + 128) >> 8);
  }"""


def text(body: str, params: str = PARAMS) -> str:
    return optimize(source_of(body, params)).text.decode().partition("#pragma scop\n")[2]


@pytest.mark.parametrize(
    ("body", "step"),
    [
        (COLOURS, 2),
        (COLOURS.replace("i & ~1", "i / 4 * 2"), 4),
        (COLOURS.replace("i & ~1", "i / 4 * 2").replace("i = 0", "i = 2"), 2),
        (COLOURS.replace("[(i & ~1) + 1]", "[i >> 2]"), 2),
    ],
)
def test_cells_are_fetched_by_groups(body: str, step: int) -> None:
    made = text(body)
    assert "unsigned char c_x[256];" in made
    assert f"it + 256); i += {step}) {{" in made
    assert f"c_x[i - it + {step - 1}] = c[" in made
    assert "= c_x[i - it] - 128;" in made


def test_records_may_be_at_pointers() -> None:
    loops = "for (int j = 0; j < n; j++) for (int i = 0; i < m; i++)"
    loaded = "int y = a[j * m + i] + 5, u = c[(j >> 1) * (m >> 1) + (i >> 1)] * 3;"
    stored = "unsigned char *p = o + 3 * (j * m + i); p[0] = y - u; p[1] = y + u; p[2] = y;"
    params = "int n, int m, const unsigned char *restrict a, const unsigned char *restrict c, unsigned char *restrict o"
    made = text(f"{loops} {{ {loaded} {stored} }}", params)
    assert "c_x[256];" in made
    assert "(m >> 1)" in made.partition("c_x[")[2]  # the length of a row, which is read back


@pytest.mark.parametrize(
    "body",
    [
        COLOURS.replace("i = 0", "i = 1"),
        COLOURS.replace("i < n", "i < 40"),
        COLOURS.replace("i & ~1", "i"),
        COLOURS.replace("(i & ~1) + 1", "(i + 1) / 2"),  # another group
        COLOURS.replace("i & ~1", "i / 11"),
        COLOURS.replace("c[j / 2]", "o[j / 2][3]"),
    ],
)
def test_others_stay_one_loop(body: str) -> None:
    assert "_x[" not in text(body)


def test_results_stay(run_c: RunC) -> None:
    bodies = [COLOURS, COLOURS.replace("i & ~1", "i / 4 * 2").replace("i = 0", "i = 2")]
    functions = "".join(
        f"void f{k}({PARAMS}) {{\n  int i, j;\n#pragma scop{body}\n#pragma endscop\n}}\n"
        for k, body in enumerate(bodies)
    )
    source = f"""#include <stdio.h>
{functions}
static unsigned char a[700][700], c[700][700], o[700][700][3];
int main(void) {{
  unsigned hash = 5381;
  for (int k = 0; k < 700 * 700; k++) a[0][k] = (unsigned char)(k * 7), c[0][k] = (unsigned char)(k * 13 >> 2);
  for (int n = 0; n <= 700; n += n < 9 ? 1 : 173) {{ f0(n, a, c, o); f1(n, a, c, o); }}
  for (int k = 0; k < 700 * 2100; k++) hash = hash * 33 + o[0][0][k];
  printf("%u\\n", hash);
}}
"""
    made = optimize(source.encode()).text.decode()
    assert made.count("c_x[256]") >= 2
    flags = ("-O1", "-w")
    before = run_c(source, *flags, name="before")
    assert run_c(made, *flags, "-fopenmp", "-fsanitize=address", name="after") == before


LOOKED_UP = """
for (j = 0; j < n; j++)
  for (i = 0; i < m; i++) {
    int at = ((unsigned)i * step) >> 16, f = (((unsigned)i * step) >> 8) & 255;
    o[j][i] = (unsigned char)((a[j][at] * (256 - f) + a[j][at + 1] * f) >> 8);
  }"""
ROWS = (
    "int n, int m, unsigned step, const unsigned char a[restrict 90][702], unsigned char o[restrict 90][702], "
    "const unsigned char b[restrict 256]"
)


def test_cells_that_data_name_are_fetched_one_by_one() -> None:
    made = text(LOOKED_UP, ROWS)
    assert "int a_x[256];" in made
    assert "int a_x_2[256];" in made
    assert "= (unsigned char)((a_x[i - it] * (256 - f) + a_x_2[i - it] * f) >> 8);" in made
    assert "m > 63" in made


@pytest.mark.parametrize(
    "body",
    [
        LOOKED_UP.replace("i < m", "i < 40"),  # short
        LOOKED_UP.replace("i < m", "i < j"),  # nobody knows how long
        LOOKED_UP.replace("a[j][at]", "o[j][at]"),  # what is looked up changes
        LOOKED_UP.replace("o[j][i]", "o[i][j]"),  # no vectors of the rest
        "for (j = 0; j < n; j++) for (i = 0; i < m; i++) o[j][i] = b[a[j][i]] + 1;",  # too little else to do
    ],
)
def test_other_lookups_stay(body: str) -> None:
    assert "_x[" not in text(body, ROWS)


def test_results_of_looked_up_cells_stay(run_c: RunC) -> None:
    source = f"""#include <stdio.h>
void f({ROWS}) {{
  int i, j;
#pragma scop{LOOKED_UP}
#pragma endscop
}}
static unsigned char a[90][702], o[90][702], b[256];
int main(void) {{
  unsigned hash = 5381;
  for (int k = 0; k < 90 * 702; k++) a[0][k] = (unsigned char)(k * 13 >> 2);
  for (int m = 0; m <= 700; m += m < 9 ? 3 : 63) f(90, m, 1u << 15 | m, a, o, b);
  for (int k = 0; k < 90 * 702; k++) hash = hash * 33 + o[0][k];
  printf("%u\\n", hash);
}}
"""
    made = optimize(source.encode()).text.decode()
    assert "a_x[256]" in made
    before = run_c(source, "-O1", "-w", name="looked")
    assert run_c(made, "-O1", "-w", "-fopenmp", "-fsanitize=address", name="looked-after") == before


@pytest.mark.parametrize(
    "fault",
    [
        assignment_fault(f"{FETCH}0", lambda body: ir.Assignment("=", body.lvalue, ir.Constant("int", "1"))),
        assignment_fault(f"{FETCH}0", lambda body: ir.Assignment("=", body.rvalue, body.lvalue)),
        assignment_fault(FETCHED, lambda body: ir.Assignment("+=", body.lvalue, body.rvalue)),
        fetched_fault(lambda one: replace(one, group=4)),
        fetched_fault(lambda one: replace(one, strip="i")),
        fetched_fault(lambda one: replace(one, cells=one.cells[1:])),
        fetched_fault(lambda one: replace(one, cells=(one.cells[0], one.cells[0]))),
        fetched_fault(lambda one: replace(one, forms=one.forms[1:])),
        fetched_fault(lambda one: replace(one, forms=((one.forms[0][0], one.forms[1][1]), *one.forms[1:]))),
    ],
)
def test_faults_are_refused(fault: Callable[[Program], Program]) -> None:
    program, _ = program_of(COLOURS, PARAMS)
    check_fetched_strips(program)
    with pytest.raises(InternalError, match="fetched"):
        check_fetched_strips(fault(program))
