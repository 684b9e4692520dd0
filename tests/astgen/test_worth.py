"""What pays: regions whose work nobody knows are no error."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import islpy as isl
import pytest

from scopt.astgen.worth import _extent, _scaled, most_work
from scopt.ir.nest import Compare, Const, Exceeds, Name
from scopt.options import Options
from tests.sources import optimize, scop_of, without_helpers


def test_how_often_a_loop_runs_that_only_its_outer_one_bounds() -> None:
    machine = Options().machine
    assert most_work(scop_of("for (i = 2; i <= n; i++) for (j = n; j > i; j--) x[j - 2] -= x[j];"), machine) is None
    work = most_work(scop_of("for (i = 2; i <= 50; i++) for (j = 50; j > i; j--) x[j - 2] -= x[j];"), machine)
    assert work is not None
    assert work > 1000


def test_iterators_that_only_parameters_bound_have_no_extent() -> None:
    """A stride that depends on a parameter makes isl take the dimension for bounded."""
    space = (
        "[n] -> { S[b, i, m] : b mod 32 = 0 and b <= i <= b + 31 and i >= 0 and (n + m) mod 2 = 0 and 0 <= m <= n - 2 }"
    )
    scop = cast(Any, SimpleNamespace(statements=[SimpleNamespace(name="S", domain=isl.Set(space))]))
    assert [_extent(scop, "S", dimension) for dimension in range(3)] == [None, 32, None]


def test_vectors_make_original_loops_quicker_whatever_the_test_of_work_is_like() -> None:
    """A product of extents, and one of them alone, have to be worth a fork with all lanes."""
    product, single = Exceeds((Name("n"), Name("m")), 5000), Compare(Name("n"), ">", Const(5000))
    assert _scaled(product, 8) == Exceeds((Name("n"), Name("m")), 40000)
    assert _scaled(single, 8) == Compare(Name("n"), ">", Const(40000))
    assert _scaled(Compare(Name("n"), "==", Const(1)), 8) == Compare(Name("n"), "==", Const(1))


def test_the_work_of_the_source_is_asked_for_where_strips_run_other_statements() -> None:
    """Rows beside each other: their statements aren't those of the SCoP that the original loops are built from."""
    source = """void f(int m, int n, const float *in, float *out) {
  for (int c = 0; c < m; c++) {
    float z = 0;
    for (int i = 0; i < n; i++) { z = 0.5f * in[c * n + i] - 0.3f * z; out[c * n + i] = z; }
  }
}
"""
    result = optimize(source, Options(autodetect=True))
    assert [region.transformed for region in result.regions] == [True]
    assert "if ((double)m * n > " in result.text.decode()


SWEEPS = """void f(int t, int n, double u[n][n]) {
  for (int k = 0; k < t; k++)
    for (int c = 0; c < 2; c++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          if ((i + j) % 2 == c) u[i][j] += 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}
"""
BRANCHES = """void f(int h, int w, int c[h][w]) {
  for (int y = 1; y < h; y++)
    for (int x = 0; x < w; x++) {
      int least = c[y - 1][x];
      if (x > 0 && c[y - 1][x - 1] < least) least = c[y - 1][x - 1];
      c[y][x] += least;
    }
}
"""
LONGEST = """void f(int n, const int *restrict x, int *restrict length) {
  for (int i = 0; i < n; i++) {
    int longest = 0;
    for (int j = 0; j < i; j++)
      if (x[j] < x[i] && length[j] > longest) longest = length[j];
    length[i] = longest + 1;
  }
}
"""


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (LONGEST, Options(autodetect=True)),
        (SWEEPS, Options(autodetect=True, parallel=False)),
        (BRANCHES, Options(autodetect=True)),
    ],
)
def test_what_gains_without_threads(source: str, options: Options) -> None:
    """Sweeps that come back to what a tile keeps, branches that become part of vectors, or masks."""
    text = optimize(source, options).text.decode()
    assert "parallel" not in text
    assert "if (__builtin_expect((double)" in text  # beside branches, which compilers weigh


def test_strips_around_short_loops_stay() -> None:
    source = """void f(int n, const unsigned key[4], unsigned text[n][2]) {
  for (int p = 0; p < n; p++) {
    unsigned l = text[p][0], r = text[p][1], sum = 0;
    for (int k = 0; k < 80; k++) {
      sum += 77;
      l += ((r << 4) + key[0]) ^ (r + sum) ^ ((r >> 5) + key[1]);
      r += ((l << 4) + key[2]) ^ (l + sum) ^ ((l >> 5) + key[3]);
    }
    text[p][0] = l;
    text[p][1] = r;
  }
}
"""
    assert "l_rows[32]" in optimize(source, Options(autodetect=True)).text.decode()


DISTANCE = """void f(int m, int n, const char *a, const char *b, int previous[n + 1], int current[n + 1]) {
#pragma scop
  for (int i = 1; i <= m; i++) {
    current[0] = i;
    for (int j = 2; j <= n; j++) {
      int cost = previous[j - 2] + (a[i - 1] != b[j - 1]);
      if (previous[j] + 1 < cost)
        cost = previous[j] + 1;
      if (current[j - 2] + 1 < cost)
        cost = current[j - 2] + 1;
      current[j] = cost;
    }
    for (int j = 0; j <= n; j++)
      previous[j] = current[j];
  }
#pragma endscop
}
"""
GRID = """void f(int t, int n, double u[n][n]) {
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("source", "options", "found"),
    [
        (DISTANCE, Options(), True),
        (DISTANCE, Options(tile_sizes=(16,)), False),  # somebody wants to see tiles
        (GRID, Options(), False),  # rows beside each other, tiles that come back
    ],
)
def test_wavefronts_that_gain_by_threads_alone(source: str, options: Options, found: bool) -> None:
    text = without_helpers(optimize(source, options).text.decode())
    assert "#pragma omp parallel for" in text
    test = next(line for line in text.splitlines() if line.startswith("  if ("))
    assert test.endswith(" && scopt_threads() > 1) {") == found
    assert not found or source.split("#pragma")[1][6:] in text


ONE_THREAD = """#define MAX(a, b) ((a) > (b) ? (a) : (b))
void f(int n, const unsigned char *x, const unsigned char *y, unsigned char *z) {
  for (int i = 0; i < n; i++) %s
}
"""


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ("z[i] = MAX(MAX(x[i], y[i]), x[i + 1]);", True),  # narrow choices
        ("{ int m = x[i] < y[i] ? x[i] : y[i]; z[i] = m; }", True),
        ("z[i] = (x[i] * y[i] + z[i] * (255 - y[i]) + 127) / 255;", True),  # a narrow division
        (
            "{ z[3 * i] = (x[i] * 3 + y[i]) >> 4; z[3 * i + 1] = (x[i] - y[i] * 3) >> 3; z[3 * i + 2] = x[i] >> 4; }",
            True,
        ),
        ("z[i] = x[i] ^ y[i];", False),
        ("z[i] = (x[i] + y[i] + 1) >> 1;", False),
    ],
)
def test_narrow_values_and_records_gain_on_one_thread(body: str, alone: bool) -> None:
    text = without_helpers(optimize((ONE_THREAD % body).encode(), Options(autodetect=True)).text.decode())
    condition = text[text.index("if (") : text.index("{", text.index("if ("))]
    assert ("scopt_threads() > 1" not in condition) is alone


def test_searches_pay_from_a_microsecond_on() -> None:
    source = """int f(int n, const float *x) {
  int at = 0;
  for (int i = 1; i < n; i++) if (x[i] > x[at]) at = i;
  return at;
}
"""
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert 100 < int(text.split("if (__builtin_expect(n > ")[1].split(",")[0].split()[0]) < 2000


@pytest.mark.parametrize(
    ("body", "small"),
    [
        ("for (int j = 0; j < n; j++) for (int i = 1; i < n; i++) a[i][j] = a[i - 1][j] + b[i][j];", True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += b[i][j];", False),  # the compiler's, too
        ("for (int i = 0; i < n; i++) { y[i] = x[i] - last; last = x[i]; }", True),
        ("for (int i = 0; i + 1 < n; i++) { y[i] = x[i] * x[i]; z[i] = y[i] * y[i + 1]; }", True),
    ],
)
def test_other_vector_loops_than_the_compilers_pay_from_a_microsecond_on(body: str, small: bool) -> None:
    source = f"""static float a[4000][4000], b[4000][4000], x[4000000], y[4000000], z[4000000];
void f(int n, float last) {{ {body} }}
"""
    text = without_helpers(optimize(source.encode(), Options(autodetect=True)).text.decode())
    test = text[text.index("if (") :].split(") {")[0]
    assert (int(test.split("> ")[1].split()[0]) < 3000) is small


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("size", [300, 2000])
def test_one_thread_has_the_original_of_strips_along_diagonals(size: int, marked: bool) -> None:
    """One copy of the loops, with the test of the parallel one: rows stay in the first cache anyway."""
    loops = "for (int i = 1; i < N; i++) for (int j = 1; j < N; j++) a[i][j] = a[i - 1][j - 1] + b[i][j];"
    body = f"#pragma scop\n{loops}\n#pragma endscop\n" if marked else f"{loops}\n"
    source = f"#define N {size}\nstatic float a[N][N], b[N][N];\nvoid f(void) {{\n{body}}}\n"
    text = without_helpers(optimize(source.encode(), Options(autodetect=not marked)).text.decode())
    assert text.count("omp simd") == text.count("scopt_threads() > 1") == 1


WINDOW = """static unsigned char g[300][400], o[300][400];
void f(void) {
  for (int y = %s; y < 300 - %s; y++)
    for (int x = %s; x < 400 - %s; x++) {
      int sum = 0;
      for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
          if (y + i >= 0 && y + i < 300 && x + j >= 0 && x + j < 400) sum += g[y + i][x + j];
      o[y][x] = sum > 3;
    }
}
"""


@pytest.mark.parametrize(("border", "alone"), [("0", True), ("1", False)])
def test_windows_that_borders_cut_off_are_whole_inside(border: str, alone: bool) -> None:
    """Compilers unroll whole windows alone; they make no vectors of the loop around the others."""
    text = optimize((WINDOW % ((border,) * 4)).encode(), Options(autodetect=True)).text.decode()
    assert "omp simd" in text
    assert ("scopt_threads() > 1" not in text) is alone


def test_windows_that_move_with_a_loop_are_no_short_loops_outside() -> None:
    window = "for (int k = i - 2; k <= i + 2; k++) for (int l = j - 2; l <= j + 2; l++)"
    body = f"{{ float s = 0, t = 0; {window} {{ s += a[k][l] * a[k][l]; t += a[k][l]; }} b[i][j] = s * t; }}"
    loops = f"for (int i = 2; i < n - 2; i++) for (int j = 2; j < n - 2; j++) {body}"
    source = f"void f(int n, float a[900][900], float b[900][900]) {{ {loops} }}\n"
    made = optimize(source, Options(autodetect=True, assume=("noalias",)))
    assert [remark.id for remark in made.remarks if remark.kind == "missed"] == []
    assert b"s += a[i + 2][j + 2] * a[i + 2][j + 2];" in made.text


PERIODIC = """#define N 160
static double c[N][N], m[N][N], o[N][N];
void f(void) {
  for (int i = 0; i < N; i++) {
    int im = i == 0 ? N - 1 : i - 1;
    for (int j = 0; j < N; j++) {
      int jm = j == 0 ? N - 1 : j - 1, jp = j == N - 1 ? 0 : j + 1;
      double n = m[im][j] * m[i][j], w = m[i][jm] - m[i][jp];
      o[i][j] = c[i][j] + n + w;
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      c[i][j] = o[i][j];
}
"""


def test_one_iteration_at_a_border_is_no_short_loop() -> None:
    """Where it stands in another one's vector loop, that is no reason for loops without vectors."""
    text = optimize(PERIODIC.encode(), Options(autodetect=True)).text.decode()
    assert "m[i][j - 1] - m[i][j + 1]" in text


@pytest.mark.parametrize(("size", "transformed"), [(60, False), (600, True)])
def test_known_sizes_that_never_pass_the_test(size: int, transformed: bool) -> None:
    """Loops that no size that can be leads to stay as they were, for compilers to see nothing else."""
    source = f"""#define N {size}
    static double u[N + 1][N + 1], f[N + 1][N + 1];
    void g(double h) {{
      for (int i = 1; i <= N; i++) for (int j = 1; j <= N; j++) u[i][j] = f[i][j] - h * (f[i][j] - f[i - 1][j]);
    }}"""
    result = optimize(source.encode(), Options(autodetect=True))
    assert ("region.transformed" in {remark.id for remark in result.remarks}) is transformed


def test_strips_count_beside_parallel_loops_that_are_always_too_short() -> None:
    """A total in order is collected row by row beside them."""
    source = """#define T 4000
double exp(double);
double log(double);
void f(const signed char x[T][40], double p[40][20], double e[40], double w[20], double u[40][20], double *z) {
  for (int m = 0; m < 3; m++) {
    for (int i = 0; i < 40; i++) for (int q = 0; q < 20; q++) { p[i][q] = log(e[i] * w[q]); u[i][q] = 0; }
    for (int t = 0; t < T; t++) {
      double o[20], total = 0, mean = 0;
      for (int q = 0; q < 20; q++) {
        double l = 0;
        for (int i = 0; i < 40; i++) if (x[t][i] >= 0) l += p[i][q];
        o[q] = w[q] * exp(l);
        total += o[q];
      }
      for (int q = 0; q < 20; q++) { o[q] /= total; mean += o[q] * w[q]; }
      z[t] = mean;
      for (int i = 0; i < 40; i++) if (x[t][i] >= 0) for (int q = 0; q < 20; q++) u[i][q] += o[q];
    }
    for (int i = 0; i < 40; i++) {
      double g = 0, h = 0;
      for (int q = 0; q < 20; q++) { double r = exp(p[i][q]) * u[i][q]; g += r; h += r * w[q]; }
      e[i] += g / h;
    }
  }
}
"""
    result = optimize(source.encode(), Options(autodetect=True))
    assert "region.transformed" in {remark.id for remark in result.remarks}
    assert re.search(rb"l_rows\[q\]\);\s*for \(long q[^\n]*\n\s*total \+= o", result.text)


def test_what_one_thread_gains_is_asked_for_its_own_work_where_sizes_are_known() -> None:
    """Too little for threads; strips without buffers, and rows beside each other."""
    source = """#define SIZE 200
void lags(const float *x, float *y) {
  for (int lag = 0; lag < SIZE; lag++) {
    float s = 0, t = 0;
    for (int i = 0; i < SIZE; i++) { s += x[i] * x[i + lag]; t += x[i + lag] * x[i + lag]; }
    y[lag] = s / t;
  }
}
void spectrum(const float *c, const float *x, float *y) {
  for (int k = 0; k < SIZE; k++) {
    float s = 0;
    for (int i = 0; i < SIZE; i++) s += c[k * SIZE + i] * x[i];
    y[k] = s * s;
  }
}
"""
    result = optimize(source.encode(), Options(autodetect=True))
    assert [region.transformed for region in result.regions] == [True, True], result.remarks


@pytest.mark.parametrize(("others", "alone"), [("a[i][j] * b[i][j]", False), ("f(a) + f(b) + f(c) + f(d)", True)])
def test_rows_that_compilers_make_too_many_tests_of(others: str, alone: bool) -> None:
    for name in "abcd":
        others = others.replace(f"f({name})", f"{name}[i - 1][j] + {name}[i][j] + {name}[i + 1][j]")
    source = f"""void f(int n, int m, double **a, double **b, double **c, double **d, double **x) {{
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < m; j++) x[i][j] = {others};
}}"""
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert text.count("threads() > 1") == 1
    assert ("&& scopt_threads() > 1\n" in text) is not alone


@pytest.mark.parametrize(("own", "alone"), [("", True), ("restrict", False)])
def test_pointers_that_only_the_program_tells_apart(own: str, alone: bool) -> None:
    """Nothing has to be tested where all of the program is there, but compilers would have to."""
    names = [f"{kind}{k}" for kind in "xy" for k in range(4)]
    sums = " ".join(f"y{k}[i] = x{k}[i] + x{(k + 1) % 4}[i];" for k in range(4))
    given = ", ".join("malloc(n * sizeof(double))" for _ in names)
    source = f"""#include <stdlib.h>
static void f(int n, {", ".join(f"double *{own} {name}" for name in names)}) {{
  for (int i = 0; i < n; i++) {{ {sums} }}
}}
int main(int n, char **v) {{ f(n, {given}); f(n + 1, {given}); return 0; }}
"""
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert "parallel for simd" in text
    assert ("#pragma omp simd\n" in text) is alone


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        # more than compilers unroll; as much as they do; cells, which pointers may reach
        ("{ float s = 0; for (int k = 0; k < 40; k++) s += w[k] * x[i + k]; y[i] = s; }", True),
        ("{ float s = 0; for (int k = 0; k < 5; k++) s += w[k] * x[i + k]; y[i] = s; }", False),
        ("{ y[i] = 0; for (int k = 0; k < 5; k++) y[i] += w[k] * x[i + k]; }", True),
        # straight code before compilers look for vectors
        ("for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) y[8 * i + k] += w[j] * x[8 * i + k];", True),
        ("y[i] = w[0] * x[i] + w[1];", False),
        # the first iteration, which gcc doesn't cut off; the last one, which it has a mask for
        ("if (i == 0) y[i] = x[i]; else y[i] = x[i] + x[i - 1];", True),
        ("if (i == n - 1) y[i] = x[i]; else y[i] = x[i] + x[i + 1];", False),
        # what has loops of its own, as long as data say, has no use for straight code
        (
            "{ float s = 0; for (int o = -1; o < 2; o++) if (i + o >= 0 && i + o < n)"
            " for (int k = 0; k < (int)x[i + o]; k++) s += w[k & 31]; y[i] = s; }",
            False,
        ),
    ],
)
def test_loops_that_compilers_do_not_make_by_themselves_gain_on_one_thread(body: str, alone: bool) -> None:
    source = f"void f(int n, const float w[40], const float *x, float *y) {{ for (int i = 0; i < n; i++) {body} }}"
    text = without_helpers(optimize(source.encode(), Options(autodetect=True)).text.decode())
    condition = text[text.index("if (") : text.index("{", text.index("if ("))]
    assert ("scopt_threads() > 1" not in condition) is alone


def test_tiles_of_sweeps_gain_on_one_thread_without_vectors() -> None:
    """Rows of one colour are no vectors; a cache keeps them all the same."""
    text = optimize(SWEEPS, Options(autodetect=True)).text.decode()
    assert text.count(" && scopt_threads() > 1) {") == text.count("#pragma omp parallel")


WHOLE_SEARCHES = """void f(int n, %s, double *c, double *d, double *e) {
  for (int i = 0; i < n; i++) {
    double x = a[i], t = 0;
    while (x > 1e-3) {
      x = x * 0.75 - b[i];
      t += x > 0.5 ? x : 1;
    }
    c[i] = t + x;
    d[i] = t;
    e[i] = x;
  }
}
"""


@pytest.mark.parametrize(
    ("inputs", "weighed"),
    [("const double a[restrict], const double b[restrict]", False), ("const double *a, const double *b", True)],
)
def test_regions_for_threads_behind_many_tests_are_no_cold_code(inputs: str, weighed: bool) -> None:
    text = optimize(WHOLE_SEARCHES % inputs, Options(autodetect=True)).text.decode()
    guard = next(line for line in text.split("\n") if "if (" in line and "n > " in line)
    assert "scopt_threads() > 1" in text[text.index(guard) :].split("{")[0]
    assert ("__builtin_expect(" in guard) is weighed


@pytest.mark.parametrize(("ends", "message"), [("top[j]", "rows of lengths of their own are too short"), ("0", None)])
def test_threads_share_no_row_whose_length_is_its_own(ends: str, message: str | None) -> None:
    """A skyline's columns: one would have to be longer than any is. Those of a triangle may be."""
    source = f"""void f(int n, const int *restrict top, double a[n][n], double *restrict x) {{
  for (int j = 0; j < n; j++)
    for (int k = {ends}; k < j; k++) x[k] -= a[j][k] * x[j];
}}
"""
    result = optimize(source, Options(autodetect=True))
    told = [remark.message for remark in result.remarks if remark.id == "region.no-gain"]
    assert [region.transformed for region in result.regions] == [message is None]
    assert message is None or (len(told) == 1 and message in told[0])


def test_loops_that_no_threads_share_are_no_reason_for_what_only_threads_gain_by() -> None:
    body = """for (int i = 0; i < n; i++) b[i] = 2 * b[i] + x[i];
    for (int k = 1; k < m; k++) y[k] = y[k - 1] * b[k] + x[k];
    for (int i = 0; i < n; i++) b[i] = b[i] * y[m - 1];"""
    source = f"void f(int n, int m, double *restrict b, double *restrict y, const double *restrict x) {{\n{body}\n}}\n"
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert re.search(r"if \(n > \d+ && scopt_threads\(\) > 1\)", text)
    assert "m > " not in text
