"""Results of rows: where scalars get a cell for each row, and that results stay the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import ir, pipeline
from scopt.ir.nest import Name
from scopt.ir.scop import Access, Array
from scopt.options import Options
from scopt.poly.body_rewriting import with_references
from scopt.rewritten_scop import dependences_of, rewriting_fault, rows_scops
from scopt.scheduler.passes.expansion import Expansion, with_cells
from tests.conftest import RunC
from tests.sources import PARAMS, scop_of, source_of

SUM = "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < m; j++) s += A[i][j] * x[j]; "
BEFORE = "double norm, at; int some;"


def scalars(body: str) -> list[str]:
    """The arrays that rows' results get, each of which is shown to hold what the scalar does."""
    scop = scop_of(body, before=BEFORE)
    found = rows_scops(scop, dependences_of(scop, Options()), Options())
    assert not any(rewriting_fault(scop, one) for one, _ in found)
    assert len(found) in (0, 1, 2)
    return sorted(found[0][0].extents) if found else []


@pytest.mark.parametrize(
    ("tail", "found"),
    [
        ("norm += s * s; }", ["s_all"]),
        ("if (s < norm) { norm = s; at = i; } }", ["s_all"]),
        ("y[i] = i > 0 ? y[i - 1] + s : s; }", ["s_all"]),
        ("double e = s - y[i]; y[i] = e; norm += e * e; }", ["e_all", "s_all"]),
        ("double e = s; for (j = 0; j < m; j++) B[i][j] = e; norm += e * e; }", ["e_all"]),
        ("double d = s; for (j = 0; j < m; j++) if (A[i][j] > d) d = A[i][j]; norm += d; }", ["d_all"]),
        ("if (s < 0) some++; y[i] = s; norm += y[i]; }", ["s_all"]),  # threads may count, lanes not
        ("y[i] = s; }", []),  # nothing keeps the rows in order
        ("norm += s; for (j = 0; j < m; j++) B[0][j] += s; }", []),  # what is inside does
        ("x[0] = s; }", []),  # the next row reads it
        ("norm += 1; y[i] = s; }", []),  # it needs no values of rows
    ],
)
def test_what_keeps_rows_in_order(tail: str, found: list[str]) -> None:
    assert scalars(SUM + tail) == found


def test_rows_inside_of_loops_in_order() -> None:
    """Their cells serve one iteration of the loops around after the other, which must not run beside each other."""
    assert scalars(f"for (k = 0; k < n; k++) {SUM} norm += s; }}") == ["s_all"]
    assert not scalars(f"for (k = 0; k < n; k++) {{ B[k][0] = 0; {SUM} B[k][0] += s; }} }}")


CLUSTERS = """for (i = 0; i < n; i++) {
  int at = 0; double norm = 1e9;
  for (j = 0; j < m; j++) {
    s = 0; for (k = 0; k < n; k++) s += A[i][k] * B[j][k];
    if (s < norm) { norm = s; at = j; }
  }
  for (k = 0; k < n; k++) C[at][k] += A[i][k];
}"""


def test_rows_in_more_loops_than_what_keeps_their_order() -> None:
    scop = scop_of(CLUSTERS, before="double C[99][99];")
    (made, _), *_ = rows_scops(scop, dependences_of(scop, Options()), Options())
    assert sorted(made.extents) == ["at_all"]
    assert rewriting_fault(scop, made) is None
    taker = next(one for one in made.scop.statements if any(a.array == "C" and a.is_write for a in one.accesses))

    def other(access: Access, node: ir.Node) -> ir.Node | None:
        match node:
            case ir.ArrayRef(name=ir.ArrayRef(name=base, subscript=row), subscript=column) if access.array == "C":
                return ir.ArrayRef(ir.ArrayRef(base, ir.BinaryOp("+", row, ir.Constant("int", "1"))), column)
        return None

    body, become = with_references(taker, other)
    accesses = tuple(replace(a, node=become.get(a.node, a.node)) if a.node else a for a in taker.accesses)
    moved = replace(taker, body=body, accesses=accesses)
    others = tuple(moved if one is taker else one for one in made.scop.statements)
    assert rewriting_fault(scop, replace(made, scop=replace(made.scop, statements=others))) is not None


PROGRAM = """#include <stdio.h>
static double a[300][200], x[300], y[300], z[300], w[300];
static int c[300][200], p[300][200], total[300];
static double run(int n, int m, double a[restrict][200], double x[restrict], double y[restrict], double z[restrict],
                  double w[restrict], int c[restrict][200], int p[restrict][200], int total[restrict])
{
  double loss = 0.1, best = 1e9;
  int at = -1;
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++) s += a[i][j] * x[j];
    double e = s - y[i];
    y[i] = e;
    loss += e * e / 2;
    if (s < best) { best = s; at = i; }
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    int t = 0;
    for (int j = 0; j < m; j++) { t += c[i][j]; p[i][j] = t; }
    total[i] = i > 0 ? total[i - 1] + t : t;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    double least = a[i][0], sum = 0;
    for (int j = 1; j < m; j++) if (a[i][j] < least) least = a[i][j];
    for (int j = 0; j < m; j++) sum += (a[i][j] - least) * x[j];
    double both = sum / 3 + least;
    loss += both;
    w[i] = loss;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    double least = 1e9;
    int near = 0;
    for (int j = 0; j < m; j++) {
      double d = 0;
      for (int k = 0; k < 3; k++) d += (a[i][k] - a[j][k]) * (a[i][k] - a[j][k]);
      if (d < least && j != i) { least = d; near = j; }
    }
    total[near]++;
    for (int k = 0; k < 3; k++) z[near + k] += a[i][k];
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++) {
      double most = -1e9, step = a[i][j] - a[i][j - 1];
      int turn = 0;
      for (int k = 0; k < 5; k++)
        if (x[k] * step - y[k] > most) { most = x[k] * step - y[k]; turn = k; }
      c[0][0] = c[0][0] * 3 + turn + (int)(most * 4);
    }
#pragma endscop
  return loss + at + best;
}
int main(void)
{
  int sizes[] = {0, 1, 7, 8, 33, 200};
  for (int u = 0; u < 6; u++)
    for (int v = 0; v < 6; v++) {
      for (int i = 0; i < 300; i++)
        x[i] = i % 7 * .1, y[i] = i % 5, z[i] = 0, total[i] = 0, w[i] = 0;
      for (int i = 0; i < 300; i++)
        for (int j = 0; j < 200; j++) a[i][j] = (i * 37 + j * 11) % 101 * .3, c[i][j] = (i * 31 + j * 17) % 23 - 9;
      double r = run(sizes[u], sizes[v], a, x, y, z, w, c, p, total), s = r;
      for (int i = 0; i < 300; i++) s += y[i] + w[i] * 3 + total[i] + p[i][i % 200] + z[i] + c[i][i % 30];
      printf("%a %a\\n", r, s);
    }
}
"""


@pytest.mark.parametrize("options", [Options(), Options(parallel=False)], ids=["threads", "one thread"])
def test_results_stay_the_same(run_c: RunC, options: Options) -> None:
    made = pipeline.optimize(PROGRAM, options).text.decode()
    for name in ("t_all", "both_all", "near_all", "most_all") if options.parallel else ():
        assert f"*{name} = __builtin_malloc" in made
    assert run_c(made, "-O2", "-fopenmp", "-ffp-contract=off") == run_c(
        PROGRAM, "-O1", "-ffp-contract=off", name="original"
    )


@pytest.mark.parametrize(("first", "wrong"), [("s = x[i]; if (y[i] > 0)", False), ("if (y[i] > 0)", True)])
def test_a_value_that_an_earlier_row_may_have_left_is_seen(first: str, wrong: bool) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {first} s = y[i]; for (j = 0; j < m; j++) A[i][j] = s; }}")
    cells = tuple(with_cells(one, scop.arrays["s"], "s_all", (0,)) for one in scop.statements)
    arrays = {**scop.arrays, "s_all": Array("s_all", "s_all", scop.arrays["s"].type, (None,), (None,))}
    made = Expansion(replace(scop, statements=cells, arrays=arrays), {"s_all": (Name("n"),)})
    assert (rewriting_fault(scop, made) is not None) == wrong


def test_lanes_sink_as_a_whole_where_there_is_nothing_for_threads() -> None:
    """Channels of a filter, one sample after the other: sections hand on values, channels their peak."""
    body = """for (t = 0; t < n; t++) {
      double peak = 0;
      for (i = 0; i < 16; i++) {
        s = B[t][i];
        for (k = 0; k < m; k++) { double u = s * y[k] + z[0][k][i]; z[0][k][i] = s - u * x[k]; s = u; }
        A[t][i] = s;
        peak = fmax(peak, fabs(s));
      }
      x[0] += peak;
    }"""
    source = source_of(body, params=f"{PARAMS}, double z[2][40][16]", before="#include <math.h>")
    text = pipeline.optimize(source, Options()).text.decode()
    assert "#pragma omp simd private(u)" in text


def test_statements_that_never_run_are_in_no_row() -> None:
    never = "if (j == j + 1 && j < i) x[j] *= t + t;"
    source = source_of(f"for (i = 0; i < m; i++) {{ double t = A[i][0]; for (j = 0; j < n; j++) {{ {never} }} }}")
    assert "internal.error" not in {remark.id for remark in pipeline.optimize(source, Options()).remarks}
