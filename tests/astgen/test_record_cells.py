"""Records that loops write: which there are, what stands in variables, and which of their values stand apart."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.astgen.lower.body_syntax import integer
from scopt.astgen.passes.record_cells import records
from scopt.ir.expr import weighted
from scopt.ir.nest import Const, Name
from scopt.options import Options
from tests.check.planted import program_of, refused, with_body
from tests.conftest import RunC
from tests.fuzz.harness import in_one_form, without_thresholds
from tests.sources import optimize, scop_of, source_of

I = Name("i")  # noqa: E741
PARAMS = "int n, unsigned char *a, unsigned char *b, float *v, float (*w)[4]"
# The last element is computed in another way.
BLENDED = """for (i = 0; i < n; i++) {
  for (k = 0; k < 3; k++) b[4 * i + k] = (unsigned char)((a[4 * i + k] * a[4 * i + 3] + b[4 * i + k]) >> 8);
  b[4 * i + 3] = a[4 * i + 3]; }"""
# Each element is scaled by the same result.
SCALED = """for (i = 0; i < n; i++) {
  float s = 1.0f / (1 + v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]);
  for (k = 0; k < 3; k++) v[3 * i + k] *= s; }"""
ALIKE = "for (i = 0; i < n; i++) for (k = 0; k < 4; k++) w[i][k] = w[i][k] * 0.5f + 1;"


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options())
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


@pytest.mark.parametrize(
    ("factor", "places", "size"),
    [(3, (2, 0, 1), 3), (3, (4, 2, 3), 3), (3, (0, 1), 0), (3, (0, 1, 3), 0), (1, (0,), 0), (17, range(17), 0)],
)
def test_whole_records(factor: int, places: tuple[int, ...], size: int) -> None:
    scop = scop_of("for (i = 0; i < n; i++) x[i] = y[i];")
    cells = [("x", (weighted([(factor, I), (1, Name("n"))], place),)) for place in places]
    found = records(scop, "i", [*cells, ("y", (I,))])
    assert [[cell[1] for cell in one.cells] for one in found] == (
        [[(weighted([(factor, I), (1, Name("n"))], min(places) + k),) for k in range(size)]] if size else []
    )


def test_records_in_rows_of_a_constant_length() -> None:
    scop = scop_of("for (i = 0; i < n; i++) w[i][0] = v[i];", PARAMS)
    rows = [("w", (I, Const(k))) for k in range(4)]
    assert [one.cells for one in records(scop, "i", rows)] == [tuple(rows)]
    assert records(scop, "i", rows[:3]) == []
    assert records(scop, "j", rows) == []


def test_elements_that_are_computed_differently() -> None:
    found = in_one_form(text(BLENDED))
    assert "b[i * 4 + 1] = scopt_laneu8((unsigned char)" in found
    assert "b[i * 4 + 3] = a_0;" in found  # in the same loop
    assert found.count("= scopt_laneu8(") == 1


def test_elements_that_share_a_result() -> None:
    found = text(SCALED)
    assert "float v_0 = v[i * 3], v_1 = v[i * 3 + 1], v_2 = v[i * 3 + 2];" in found
    assert "v_1 = scopt_lanef(v_1 * s);" in found


@pytest.mark.parametrize(
    "body",
    [
        ALIKE,
        BLENDED.replace("b[4 * i + 3] = a[4 * i + 3];", ""),  # there is a gap
        # the value might be one instruction with what goes on with it
        SCALED.replace("*= s;", "*= s;\n  v[3 * n + i] = v[3 * i] + v[3 * i + 1];"),
    ],
)
def test_what_stays_together(body: str) -> None:
    assert "scopt_lane" not in text(body)


def test_other_functions_and_values_are_refused() -> None:
    program, deps = program_of(SCALED, PARAMS)
    name = next(one.name for one in program.scop.statements if one.name.endswith("_lane"))
    called = program.scop.statement(name).body.rvalue
    for value in (
        integer(1),
        called.args.exprs[0],
        ir.FuncCall(ir.ID("scopt_laned"), called.args),
        ir.FuncCall(called.name, ir.ExprList([called.args.exprs[0].left])),
    ):
        changed = with_body(program, name, lambda body, value=value: ir.Assignment("=", body.lvalue, value))
        refused(changed, deps, "another statement")


MAIN = """#include <stdio.h>
static unsigned char a[4096], b[4096];
static float v[4096], w[1024][4];
static unsigned long long sum;
static void add(const void *cells, size_t size)
{
  for (const unsigned char *p = cells, *end = p + size; p < end; p++)
    sum = (sum ^ *p) * 1099511628211u;
}
int main(void)
{
  for (int n = 0; n < 700; n = 2 * n + 1) {
    for (int k = 0; k < 4096; k++)
      a[k] = k * 7, b[k] = k * k, v[k] = k % 13 - 5.5f, w[k / 4][k % 4] = k % 7;
    f(n, a, b, v, w);
    add(a, sizeof a), add(b, sizeof b), add(v, sizeof v), add(w, sizeof w);
  }
  printf("%llx", sum);
}
"""


def test_every_bit_is_as_in_the_original(run_c: RunC) -> None:
    source = source_of(BLENDED + SCALED + ALIKE, PARAMS).decode()
    result = optimize(source.encode(), Options())
    flags = ("-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-w")
    made = without_thresholds(result.text.decode())
    assert "scopt_lane" in made
    assert run_c(made + MAIN, *flags) == run_c(source + MAIN, *flags)
