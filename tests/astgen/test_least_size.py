"""Small sizes of a marked region get the original loops, where entering the new ones takes a while."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.machine import Machine
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.sources import without_helpers

TURN = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[j][i] = A[i][j];"
MULTIPLY = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { C[i][j] = 0;
    for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }"""
SMOOTH = """for (int t = 0; t < m; t++) { for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i] + x[i + 1];
    for (int i = 1; i < n - 1; i++) x[i] = y[i]; }"""
SUMS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i] += A[i][j] * y[j];"


def text_of(body: str, options: Options = Options()) -> str:  # noqa: B008 - it can't be changed
    """What becomes of a marked region."""
    arrays = "double A[n][m], double B[m][n], double C[n][n], double x[n], double y[n]"
    source = f"void f(int n, int m, {arrays}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    result = optimize(source.encode(), options)
    assert [region.transformed for region in result.regions] == [True]
    return without_helpers(result.text.decode())


@pytest.mark.parametrize("body", [TURN, MULTIPLY, SMOOTH, SUMS])
def test_the_original_stands_behind_a_test_of_its_work(body: str) -> None:
    text = text_of(body)
    assert f"}} else {{\n{body}\n" in text
    assert text.count(body) == 1


@pytest.mark.parametrize(("body", "least"), [(TURN, "4000"), (MULTIPLY, "1000")])
def test_what_one_thread_gains_by_is_worth_little_work(body: str, least: str) -> None:
    (test,) = (line for line in text_of(body).splitlines() if line.startswith("if (") and f" > {least}" in line)
    assert "scopt_threads" not in test


@pytest.mark.parametrize("autodetect", [False, True])
def test_register_tiles_ask_for_whole_rows_or_for_sums_that_wait(autodetect: bool) -> None:
    """Compilers make vectors of rows of columns; a tile of a single row of eight takes as long as all of them."""
    loop = "for (int {0} = 0; {0} < {1}; {0}++)"
    i, j, k = (loop.format(*one) for one in ("in", "jm", "kp"))
    inside = "C[i][j] += A[i][k] * B[k][j];"
    for body, tests in (
        (f"{i} {k} {j} {inside}", "n > 7 && p > 2 && (double)m * p > 8"),
        (f"{i} {j} {k} {inside}", "m > 2 && (double)n * m > 15 && (double)m * p > 79"),
    ):
        marks = ("", "") if autodetect else ("#pragma scop\n", "\n#pragma endscop")
        arrays = "double (*restrict A)[p], double (*restrict B)[m], double (*restrict C)[m]"
        source = f"void f(int n, int m, int p, {arrays}) {{\n{body.join(marks)}\n}}\n"
        text = optimize(source.encode(), Options(autodetect=autodetect)).text.decode()
        assert f"000 && {tests}) {{" in text


def test_short_strips_run_in_pieces_of_eight_rows_and_one_by_one() -> None:
    """Columns with a maximum each, which are read once; a window's sums, which aren't."""
    body = """for (int j = 0; j < m; j++) { double top = A[0][j];
      for (int i = 1; i < n; i++) if (A[i][j] > top) top = A[i][j];
      y[j] = top; }"""
    text = text_of(body)
    assert "&& m > 7, 1)) {" in text[: text.index("if (m > 0 && m <= 15) {")]
    assert "for (long jt = 0; jt < m - 7L; jt += 8)" in text
    assert "for (long jt = 8L * (m / 8); jt < m; jt++)" in text
    window = """for (int i = 0; i < m; i++) { double s = 0;
      for (int j = 0; j < n; j++) s += x[i + j] * y[j];
      A[0][i] += s; }"""
    assert "if (m > 0 && m <= 31) {" in text_of(window)


def test_nobody_asks_for_the_length_of_short_strips_beside_others() -> None:
    """A layer with few cells behind one with many: these run one by one."""
    layer = """for (int j = 0; j < {0}; j++) {{ double s = 0;
        for (int i = 0; i < {1}; i++) s += {2}[i][j] * {3}[i];
        {4}[j] = exp(-s); }}"""
    source = f"""#include <math.h>
    void f(int n, int m, int p, float u[restrict n][m], float v[restrict m][p], float *restrict x,
      float *restrict y, float *restrict z) {{
#pragma scop
      {layer.format("m", "n", "u", "x", "y")}
      {layer.format("p", "m", "v", "y", "z")}
#pragma endscop
    }}
    """
    text = optimize(source.encode(), Options()).text.decode()
    tests, forms = text[: text.index("_rows")], " ".join(text.split())
    for name in ("m", "p"):
        assert f"{name} > 7" not in tests
        assert f"{name} <= 15) {{" in forms


def test_wavefronts_of_threads_alone_are_asked_for_their_work() -> None:
    """An edit distance: the tiles gain nothing for one thread."""
    body = """for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {
      if (x[i] == y[j]) C[i][j] = C[i - 1][j - 1] + 1;
      else C[i][j] = C[i - 1][j] > C[i][j - 1] ? C[i - 1][j] : C[i][j - 1]; }"""
    text = text_of(body)
    test = next(line for line in text.splitlines() if line.startswith(("if (", "  if (")))
    assert "000 && scopt_threads() > 1) {" in test
    assert f"}} else {{\n{body}\n" in text


def test_loops_that_fork_again_and_again_need_more_work() -> None:
    (test,) = (line for line in text_of(SMOOTH).splitlines() if line.startswith("  if (") or line.startswith("if ("))
    assert int(test.rsplit(" ", 2)[1].rstrip(")")) >= 30000


def test_a_loop_that_has_no_other_gain_isnt_asked_for_its_work_twice() -> None:
    text = text_of(SUMS)
    assert "  #pragma omp parallel for firstprivate(" in text
    assert "#pragma omp parallel for if" not in text


@pytest.mark.parametrize(
    "options", [Options(eager=True), Options(machine=Machine(fork_nanoseconds=1))], ids=["eager", "free forks"]
)
def test_no_test_where_nobody_wants_one(options: Options) -> None:
    for body in (TURN, MULTIPLY):
        assert body not in text_of(body, options)


def test_no_test_where_nothing_takes_longer_than_the_original() -> None:
    """The loop stands in two forms anyway."""
    body = "for (int i = 0; i < n; i++) x[i] = y[i] * 2;"
    assert body not in text_of(body)


def test_no_test_where_sizes_are_known() -> None:
    source = "double A[64][64], B[64][64];\nvoid f(void) {\n#pragma scop\n%s\n#pragma endscop\n}\n"
    body = TURN.replace("< n", "< 64").replace("< m", "< 64")
    text = optimize((source % body).encode(), Options()).text.decode()
    assert body not in text


def test_threads_are_asked_for_where_tiles_gain_nothing_else() -> None:
    """No vectors, and all arrays stay in a core's caches."""
    source = """double u[100][100];
void f(int t, int n) {
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = u[i - 1][j] + u[i][j - 1] + u[i + 1][j] + u[i][j + 1];
#pragma endscop
}
"""
    text = optimize(source.encode(), Options()).text.decode()
    assert "&& scopt_threads() > 1) {" in text[: text.index("#pragma omp parallel")]
    text = optimize(source.replace("100", "900").encode(), Options()).text.decode()
    assert "scopt_threads() > 1) {" not in next(line for line in text.splitlines() if line.startswith("  if ("))


PROGRAM = f"""#include <stdio.h>
static void f(int n, double A[n][n], double B[n][n], double C[n][n])
{{
#pragma scop
{MULTIPLY}
#pragma endscop
}}
int main(void)
{{
  static double A[70 * 70], B[70 * 70], C[70 * 70];
  for (int n = 0; n <= 70; n += 7) {{
    for (int k = 0; k < n * n; k++) {{ A[k] = k % 13 * 0.5; B[k] = k % 7 - 3; C[k] = 9; }}
    f(n, (void *)A, (void *)B, (void *)C);
    for (int k = 0; k < n * n; k++) printf("%a ", C[k]);
  }}
}}
"""


def test_both_forms_compute_the_same(run_c: RunC, tmp_path: Path) -> None:
    text = optimize(PROGRAM.encode(), Options(), file=str(tmp_path / "in.c")).text.decode()
    assert text != PROGRAM
    flags = ("-O2", "-ffp-contract=off", "-fopenmp")
    assert run_c(text, *flags, name="emitted") == run_c(PROGRAM, *flags, name="original")


def test_rows_that_are_copied_are_no_gain_of_a_dynamic_program() -> None:
    """A longest common subsequence over two rows, one of which is copied to the other one."""
    source = """char a[3000], b[3000];
int x[3000], y[3000];
void f(int n) {
#pragma scop
  for (int i = 1; i < n; i++) {
    for (int j = 1; j < n; j++)
      if (a[i] == b[j]) y[j] = x[j - 1] + 1;
      else y[j] = x[j] > y[j - 1] ? x[j] : y[j - 1];
    for (int j = 0; j < n; j++) x[j] = y[j];
  }
#pragma endscop
}
"""
    text = optimize(source.encode(), Options()).text.decode()
    assert "&& scopt_threads() > 1) {" in text[: text.index("for (")]


def test_tests_that_never_hold_are_no_reason_for_others() -> None:
    """Loops that are short whatever happens, beside others."""
    source = """#include <math.h>
    struct record { double v[8]; };
    struct stats { double mean[8], sd[8]; };
    void f(struct record *r, int n, struct stats *s) {
      for (int i = 0; i < n; i++) for (int d = 0; d < 8; d++) s->mean[d] += r[i].v[d];
      for (int d = 0; d < 8; d++) s->mean[d] /= n;
      for (int i = 0; i < n; i++) for (int d = 0; d < 8; d++) s->sd[d] += r[i].v[d] * s->mean[d];
      for (int d = 0; d < 8; d++) s->sd[d] = sqrt(s->sd[d] / (n - 1));
      for (int i = 0; i < n; i++) for (int d = 0; d < 8; d++) r[i].v[d] = (r[i].v[d] - s->mean[d]) / s->sd[d];
    }"""
    result = optimize(source.encode(), Options(autodetect=True))
    assert "region.transformed" in {remark.id for remark in result.remarks}


def test_vectors_beside_many_pointers_are_asked_for_little_work() -> None:
    """Compilers make no tests of so many pairs, and so no vectors of the original."""
    names = "abcdefg"
    body = " ".join(f"{one}[i * n + j] = {one}[i * n + j] * 2 + x[i * n + j];" for one in names)
    source = f"""float *a, *b, *c, *d, *e, *f, *g, *x;
    void step(int n) {{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }} }}"""
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    region, loop = (int(one.split()[0].rstrip(")")) for one in text.split("(double)n * n > ")[1:])
    assert region < 1000 < loop


def test_a_region_that_gets_little_time_gains_alone_what_it_gains_otherwise() -> None:
    """Vector loops without their borders: one thread has them, too."""
    source = """void f(int n, double a[n][n], double b[n][n]) {
#pragma scop
  for (int t = 0; t < 10; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) b[i][j] = a[i][(j + 1) % n] - a[i][(j + n - 1) % n];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) a[i][j] += b[i][j] * 0.1;
  }
#pragma endscop
}
"""
    text = optimize(source.encode(), Options(hasty=True)).text.decode()
    assert "scopt_threads() > 1" not in next(line for line in text.splitlines() if line.lstrip().startswith("if ("))
