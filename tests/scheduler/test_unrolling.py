"""Small loops inside of others: which become straight code, and which stay loops."""

from __future__ import annotations

import re
from collections.abc import Callable

import islpy as isl
import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from scopt.scheduler.decisions import small_loops
from scopt.scheduler.decisions.windows import Borders
from tests.fuzz.harness import in_one_form, without_thresholds
from tests.sources import scop_of, source_of

IMAGES = "int n, int m, float o[n][m], float a[n + 8][m + 8], float w[3][3], float u[2 * n][2 * m]"
WINDOW = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { float v = 0;
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) v += a[i + p][j + q] * w[p][q];
  o[i][j] = v; }"""
CELLS = """for (i = 0; i < n; i++) for (j = 0; j < m; j++)
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) o[i][j] += a[i + p][j + q] * w[p][q];"""
REPEATED = """for (i = 0; i < n; i++) for (j = 0; j < m; j++)
  for (int p = 0; p < 2; p++) for (int q = 0; q < 2; q++) u[2 * i + p][2 * j + q] = a[i][j];"""
POOLED = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { float v = u[2 * i][2 * j];
  for (int p = 0; p < 2; p++) for (int q = 0; q < 2; q++)
    v = u[2 * i + p][2 * j + q] > v ? u[2 * i + p][2 * j + q] : v;
  o[i][j] = v; }"""

RECORDS = "int n, float o[n][4], float a[n][4], float h[4][4], int c[n][3], int g[n]"
# Vectors of four numbers by a matrix: nothing to pack, since each is used four times.
TRANSFORMED = """for (i = 0; i < n; i++) for (int r = 0; r < 4; r++) { float s = 0;
  for (int k = 0; k < 4; k++) s += h[r][k] * a[i][k];
  o[i][r] = s; }"""
COLOURS = "for (i = 0; i < n; i++) { int r = c[i][0], k = c[i][1], b = c[i][2]; g[i] = (r + k + b) >> 2; }"
# A filter whose weights are looked up.
LOOKED_UP = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { float v = 0;
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) { int d = b[i + p][j + q]; v += w[p][q] * l[d < 0 ? -d : d]; }
  o[i][j] = v; }"""


def text(body: str, params: str = IMAGES, **options: bool) -> str:
    """What comes out; nothing may be refused."""
    result = optimize(source_of(body, params), Options(**{"eager": True, **options}))  # type: ignore[arg-type]
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return in_one_form(result.text.decode())


def loops(found: str) -> int:
    region = found[found.index("#pragma scop") : found.index("#pragma endscop")]
    return len(re.findall(r"\bfor \(", region))


MOMENTS = "for (i = 0; i < n; i++) for (int p = 0; p < 4; p++) for (int q = 0; q <= p; q++) h[p][q] += SUMMAND;"


@pytest.mark.parametrize(
    ("summand", "count"),
    [("a[i][p] * a[i][q]", 1), ("a[i][p] / (1 + a[i][q]) / (2 + a[i][q])", 3)],
    ids=["few", "much"],
)
def test_sums_into_a_few_cells_stay_in_registers(summand: str, count: int) -> None:
    found = text(MOMENTS.replace("SUMMAND", summand), RECORDS)
    assert loops(found) == count
    assert ("omp parallel" in found) == (count > 1)


@pytest.mark.parametrize(
    ("body", "vectors"),
    [(WINDOW, 1), (CELLS, 1), (REPEATED, 1), (POOLED, 1)],
    ids=["window", "cells", "repeated", "pooled"],
)
def test_the_loop_around_is_the_innermost_one(body: str, vectors: int) -> None:
    found = text(body)
    assert loops(found) == 2
    # the directive for gcc alone, which asks for a length, stands beside that of others
    assert found.count("omp simd") - found.count("simdlen") == vectors


@pytest.mark.parametrize(
    ("body", "params"),
    [
        (TRANSFORMED, RECORDS),
        (COLOURS, RECORDS),
        (LOOKED_UP, "int n, int m, float o[n][m], int b[n + 8][m + 8], float w[3][3], float l[256]"),
    ],
    ids=["transformed", "colours", "looked-up"],
)
def test_steps_through_records_walk_along_lines(body: str, params: str) -> None:
    found = text(body, params)
    assert loops(found) == (2 if "m" in params.split(",")[1] else 1)
    assert "omp simd" in found or "for simd" in found


def unheld(found: str) -> str:
    """The text with cells in the place of the variables that hold them."""
    cells = dict(re.findall(r"(\w+_\d+) = (\w+(?:\[[\w +]+\])+)[,;]", found))
    return re.sub(r"\w+_\d+", lambda name: cells.get(name[0], name[0]), found)


def window_sums(taps: int, sums: int) -> str:
    """A window's sums of products with what stands beside each of its cells."""
    names = [f"s{k}" for k in range(sums)]
    added = " ".join(f"{name} += d * a[i + p + {k}][j + q];" for k, name in enumerate(names))
    return f"""for (i = 0; i < n; i++) for (j = 0; j < m; j++) {{ float {", ".join(f"{name} = 0" for name in names)};
      for (int p = 0; p < {taps}; p++) for (int q = 0; q < 3; q++) {{ float d = a[i + p][j + q + 1]; {added} }}
      o[i][j] = {" * ".join(names)}; }}"""


def test_many_statements_of_few_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_loops, "MOST_OF_ALL", 12)
    assert loops(text(window_sums(2, 2))) == 2
    monkeypatch.setattr(small_loops, "_FEW_INSTANCES", 5)
    assert loops(text(window_sums(2, 2))) > 2


def test_order_of_a_sum_is_kept() -> None:
    found = text(WINDOW)
    terms = re.findall(r"v \+= .*\* w\[(\d)\]\[(\d)\]", unheld(found))
    assert terms == [(str(p), str(q)) for p in range(3) for q in range(3)]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (WINDOW.replace("q < 3", "q < n"), "a size that isn't known"),
        (WINDOW.replace("q < 3", "q <= i % 2"), "not the same each time"),
        (WINDOW.replace("a[i + p][j + q]", "a[j + p][i + q]"), "the loop around would jump"),
        (
            "for (i = 0; i < n; i++) for (j = 0; j < 16; j++) o[i][j] = 2 * a[i][j];",
            "the small loop is a good vector loop",
        ),
    ],
)
def test_others_stay(body: str, why: str) -> None:
    assert "[j + 1]" not in text(body), why
    assert "+= a[i][j]" not in text(body), why


def test_as_many_of_the_innermost_loops_as_straight_code_may_have() -> None:
    found = text(WINDOW.replace("p < 3", "p < 11").replace("q < 3", "q < 11").replace("* w[p][q]", ""))
    assert "for (long p = 0; p < 11; p++)" in found
    assert [int(q) for q in re.findall(r"\+= a\[i \+ p\]\[j \+ (\d+)\];", unheld(found))] == [*range(1, 11)]


def test_loops_that_the_order_of_a_sum_is_mixed_into() -> None:
    """So that the band is one for tiles, its members for p and q are skewed by those around."""
    params = "int n, int m, float o[n][m], float a[16][n + 2][m + 2], float w[16][3][3]"
    found = text(
        """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { float v = 0;
      for (int c = 0; c < 16; c++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++)
        v += a[c][i + p][j + q] * w[c][p][q];
      o[i][j] = v; }""",
        params,
    )
    terms = re.findall(r"\+= a\[c\].* \* w\[c\]\[(\d)\]\[(\d)\]", unheld(found))
    assert terms == [(str(p), str(q)) for p in range(3) for q in range(3)]


def test_not_without_vectors() -> None:
    assert loops(text(WINDOW, simd=False)) > 2


def test_loops_that_never_run() -> None:
    body = "for (i = 0; i < n; i++) for (j = 3; j < 2; j++) for (int p = 0; p < 3; p++) o[i][j] += p;"
    result = optimize(source_of(body, IMAGES), Options(eager=True))
    assert "internal.error" not in [remark.id for remark in result.remarks]


def test_other_wishes_leave_straight_code_and_vectors() -> None:
    source = source_of(WINDOW, IMAGES).decode().replace("#pragma scop\n", "#pragma scopt parallel(i)\n#pragma scop\n")
    found = in_one_form(optimize(source, Options(eager=True)).text.decode())
    assert loops(found) == 2
    assert "omp simd" in found


def test_not_loops_that_the_user_names() -> None:
    pragma = "#pragma scopt vector(q)\n"
    source = source_of(REPEATED, IMAGES).decode().replace("#pragma scop\n", f"{pragma}#pragma scop\n")
    assert "for (long q = 0; q < 2; q++)" in optimize(source, Options(eager=True)).text.decode()


@pytest.mark.parametrize("body", [WINDOW, CELLS], ids=["window", "cells"])
def test_also_where_nobody_asks(body: str) -> None:
    lines = [line for line in source_of(body, IMAGES).splitlines() if not line.startswith(b"#pragma")]
    result = optimize(b"\n".join(lines), Options(autodetect=True, assume=("noalias",)))
    assert "region.transformed" in [remark.id for remark in result.remarks]
    assert b"w[2][2]" in result.text


PROGRAM = """
#include <stdio.h>
static float o[21][34], a[29][42], w[3][3], u[42][68];
void f(int n, int m, float o[n][m], float a[n + 8][m + 8], float w[3][3], float u[2 * n][2 * m]);
int main(void)
{
  for (int i = 0; i < 29; i++) for (int j = 0; j < 42; j++) a[i][j] = (i * 7 + j * 5) % 11 - 4.25f;
  for (int i = 0; i < 42; i++) for (int j = 0; j < 68; j++) u[i][j] = (i * 3 + j * 13) % 17 - 7.5f;
  for (int i = 0; i < 9; i++) w[i / 3][i % 3] = i * 0.37f - 1;
  f(21, 34, o, a, w, u);
  for (int i = 0; i < 21; i++) for (int j = 0; j < 34; j++) printf("%a ", o[i][j]);
  for (int i = 0; i < 42; i++) for (int j = 0; j < 68; j++) printf("%a ", u[i][j]);
}
"""


@pytest.mark.parametrize("body", [WINDOW, CELLS, REPEATED, POOLED], ids=["window", "cells", "repeated", "pooled"])
def test_results_stay(body: str, run_c: Callable[..., str]) -> None:
    flags = ("-O2", "-fopenmp", "-ffp-contract=off")
    outputs = []
    for name, source in (("ours", text(body)), ("theirs", source_of(body, IMAGES).decode())):
        outputs.append(run_c(source + PROGRAM, *flags, name=name))
    assert outputs[0] == outputs[1]


POOLS = "int n, int m, float o[n][m], float x[2 * n][2 * m], float a[n][m]"
MOVING = {
    "pool with padding": """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { float v = 0;
      for (int p = 2 * i - 1; p <= 2 * i + 1; p++) for (int q = 2 * j - 1; q <= 2 * j + 1; q++)
        if (p >= 0 && q >= 0 && p < 2 * n && q < 2 * m) v += x[p][q];
      o[i][j] = v; }""",
    "clipped": """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { float v = 0;
      for (int q = j > 1 ? j - 1 : 0; q <= (j + 1 < m ? j + 1 : m - 1); q++) v += a[i][q];
      o[i][j] = v; }""",
    "dilated": """for (i = 2; i < n - 2; i++) for (j = 2; j < m - 2; j++) { float v = 0;
      for (int p = i - 2; p <= i + 2; p += 2) for (int q = j - 2; q <= j + 2; q += 2)
        v += a[p][q] * x[(p - i + 2) / 2][(q - j + 2) / 2];
      o[i][j] = v; }""",
    "taps": """for (i = 0; i < n; i++) for (j = 3; j < m - 3; j++) { float v = 0;
      for (int q = j - 3; q <= j + 3; q++) v += x[0][q - j + 3] * a[i][q];
      o[i][j] = v; }""",
}


@pytest.mark.parametrize("body", MOVING.values(), ids=MOVING.keys())
def test_windows_that_move_with_the_loops_around_are_straight_inside(body: str) -> None:
    found = text(body, POOLS)
    terms = [line.strip() for line in found.splitlines() if line.strip().startswith("v += ")]
    interior = [term for term in terms if re.search(r"\[(2 \* )?j( - \d)?\]", term)]
    assert len(interior) >= {"clipped": 2, "taps": 4}.get(next(k for k, b in MOVING.items() if b == body), 6)


def test_borders_keep_their_loops() -> None:
    found = text(MOVING["pool with padding"], POOLS)
    assert "if (i == 0)" in found
    inside = re.findall(r"v \+= x\[2 \* i(?: [-+] 1)?\]\[2 \* j(?: [-+] 1)?\];", found)
    assert len(inside) == len(set(inside)) == 9


def test_dates_in_several_pieces_that_are_all_alike_have_no_borders() -> None:
    everything = isl.Set("[n] -> { [i] : 0 < i <= n - 2 or i = n - 1 >= 0 }")
    assert Borders(isl.UnionMap("{ S[i] -> [i] }"), everything, everything).parts == []


def test_sums_that_come_to_a_constant() -> None:
    found = text(MOVING["dilated"], POOLS)
    assert "x[0][2]" in found
    assert "(int)" not in found[found.index("#pragma scop") :]


# Small systems: triangular loops over the cells of a record, which many statements share.
FACTORED = """for (i = 0; i < n; i++) for (int k = 0; k < 4; k++) for (int p = k + 1; p < 4; p++) {
  L[i][p][k] /= L[i][k][k];
  for (int q = k + 1; q < 4; q++) L[i][p][q] -= L[i][p][k] * L[i][k][q]; }"""
FACTORS = "int n, double L[n][4][4], double d[n]"


def test_a_record_is_straight_code() -> None:
    """One loop, which no compiler tries to put vectors together for."""
    found = text(FACTORED, FACTORS)
    assert loops(found) == 1
    assert "omp simd" not in found
    assert found.count("scopt_scalar();") == 1


def test_records_that_are_only_read_have_no_vectors() -> None:
    sums = " + ".join(f"L[i][{k}][{3 - k}] * L[i][{k}][0]" for k in range(4))
    body = f"for (i = 0; i < n; i++) d[i] = {sums};"
    found = text(body, FACTORS)
    assert "omp simd" not in found
    assert "scopt_scalar();" in found


def test_records_whose_threads_share_them_have_no_vectors_either() -> None:
    """Beside cells of a vector, too; where there is much to divide for a cell or two, vectors pay."""
    inner = "for (int k = 0; k < 4; k++) { L[i][k][k] += d[i]; d[i] *= L[i][k][k]; }"
    body = f"for (i = 0; i < n; i++) {{ d[i] = 1; {inner} }}"
    assert "scopt_scalar();" in text(body, FACTORS)
    few = "for (i = 0; i < n; i++) d[i] = 1 / (L[i][0][0] / (2 + L[i][1][1]));"
    assert "scopt_scalar();" not in text(few, FACTORS)


def test_records_of_several_arrays_stay_one_loop() -> None:
    """Straight code turns from one array to the next, and back: loops of their own would get the same lines again."""
    inner = "for (int k = 0; k < 4; k++) { o[i][k] = 0; p[i][k] = 1; a[i][k] = o[i][k] + 1; }"
    found = text(f"for (i = 0; i < n; i++) {inner}", f"{RECORDS}, float p[n][4]")
    assert loops(found) == 1


def test_records_are_computed_alike(run_c: Callable[..., str]) -> None:
    main = """
#include <stdio.h>
static double a[999][4][4], d[999];
int main(void) {
  for (int i = 0; i < 999; i++) for (int p = 0; p < 4; p++) for (int q = 0; q < 4; q++)
    a[i][p][q] = (i * 37 + p * 11 + q * 5) % 23 + 50 * (p == q);
  f(999, a, d);
  for (int i = 0; i < 999; i++) for (int p = 0; p < 4; p++) for (int q = 0; q < 4; q++) printf("%a ", a[i][p][q]);
  return 0;
}
"""
    before = run_c(source_of(FACTORED, FACTORS).decode() + main, "-O1", "-ffp-contract=off", "-w", name="before")
    after = without_thresholds(text(FACTORED, FACTORS)) + main
    assert run_c(after, "-O2", "-fopenmp", "-ffp-contract=off", "-w", name="after") == before


@pytest.mark.parametrize(
    ("step", "kind", "straight"), [(4, "short", False), (1, "short", True), (4, "float", True)], ids=str
)
def test_sums_of_integers_along_lines_stay_loops_where_the_loop_around_steps(
    step: int, kind: str, straight: bool
) -> None:
    sums = "float" if kind == "float" else "int"
    body = f"""for (i = 0; i < n; i++) for (j = 0; j < m; j++) {{ {sums} v = 0;
      for (int k = 0; k < 32; k++) v += h[k] * x[i][{step} * j + k];
      y[i][j] = v; }}"""
    found = text(body, f"int n, int m, {kind} h[32], {kind} x[n][4 * m + 32], {sums} y[n][m]")
    assert ("h[31]" in found) == straight


@pytest.mark.parametrize("scheduler", ["identity", "pluto"])
@pytest.mark.parametrize(
    "body",
    [
        "for (i = m + 2; i < m; i++) for (j = 0; j < m; j++) a[j] = a[j] + a[j];",
        "for (i = 0; i <= 5; i++) { b[i] = 1; for (j = 0; j < m; j++) { if (j < j) a[j] = 2; a[j] += a[j]; } }",
    ],
    ids=["region", "statement"],
)
def test_what_never_runs(body: str, scheduler: str) -> None:
    result = optimize(source_of(body, params="int m, double *a, double *b"), Options(scheduler=scheduler))
    assert not {remark.id for remark in result.remarks} & {"internal.error", "schedule.simplified"}


def test_loops_that_never_run_need_no_decision() -> None:
    body = "for (i = 0; i < m; i++) a[i] = 1; for (i = 0; i < m; i++) for (j = 0; j < m; j++) if (m < 0) b[j] = 2;"
    options = Options(scheduler="pluto", decisions="random", parallel=False, simd=False, eager=True)
    result = optimize(source_of(body, params="int m, double *a, double *b"), options)
    assert not {remark.id for remark in result.remarks} & {"internal.error", "schedule.simplified"}


def test_straight_code_has_nothing_for_loops_without_iterations() -> None:
    """Which of several such statements have none is only seen with all that is known of them."""
    inner = "x[i] = 1; for (int l = 0; l < k; l++) y[l] = 2;"
    body = f"for (i = 0; i < 4; i++) for (j = i + 1; j <= 4; j += 2) for (k = 0; k < i; k++) {{ {inner} }}"
    band = scop_of(body).schedule.get_root().child(0)
    straight = small_loops.straightened(band)
    assert not list(small_loops.inner_bands(straight))
    assert straight.get_domain().is_equal(band.get_domain())


# Two passes of a transform of small blocks, then rounding: of eight numbers each.
BLOCKS = "int n, int q[n][8][8], float a[n][8][8], float c[8][8], float w[8][8], unsigned char o[n][8][8]"
BLOCK = """for (i = 0; i < n; i++) { float f[8][8];
  for (int k = 0; k < 8; k++) for (j = 0; j < 8; j++) { float s = 0;
    for (int p = 0; p < 8; p++) s += c[k][p] * a[i][p][j];
    f[k][j] = s; }
  for (int k = 0; k < 8; k++) for (j = 0; j < 8; j++) STORED; }"""


@pytest.mark.parametrize(
    "stored",
    ["q[i][k][j] = (int)floorf(f[k][j] / w[k][j])", "o[i][k][j] = (unsigned char)f[k][j]"],
    ids=["rounded", "narrow"],
)
def test_blocks_have_vectors_along_rows_and_what_spoils_them_has_a_loop_of_its_own(stored: str) -> None:
    found = text(BLOCK.replace("STORED", stored), BLOCKS)
    assert loops(found) == 5
    assert found.count("#pragma omp simd") == 2


def test_what_stores_cells_alike_shares_the_loop_of_a_block() -> None:
    found = text(BLOCK.replace("STORED", "z[i][k][j] = f[k][j] / w[k][j]"), f"{BLOCKS}, float z[n][8][8]")
    assert found.count("#pragma omp simd") == 1


# The peak of a signal between its samples, in each of some channels.
PEAKS = """for (i = 0; i < 5; i++) { CELL v = 0;
  for (j = 3; j < n; j++) for (int p = 0; p < 2; p++) { CELL s = 0;
    for (int q = 0; q < 4; q++) s += w[p][q] * x[i][j - q];
    s = ABS(s);
    if (s > v) v = s; }
  o[i] = v; }"""


@pytest.mark.parametrize(("cell", "function"), [("float", "fabsf"), ("int", "abs")])
def test_what_is_collected_in_any_order_has_lanes_around_small_loops(cell: str, function: str) -> None:
    params = f"int n, {cell} w[2][4], {cell} x[5][n], {cell} o[5]"
    before = f"#include <math.h>\n#include <stdlib.h>\n#define ABS {function}\n#define CELL {cell}\n"
    result = optimize(source_of(PEAKS, params, before), Options(eager=True))
    found = in_one_form(result.text.decode())
    assert "_rows" not in found  # lanes across five channels would be worse
    assert "omp simd" in found
    assert found.count("x[i][j - 3]") >= 2


def test_records_are_looked_at_by_lanes_across_rows() -> None:
    """Components would have to be put together from vectors."""
    body = """for (i = 0; i < n; i++) { double v = 1e30;
      for (j = 0; j < m; j++) { double s = 0;
        for (int q = 0; q < 3; q++) { double d = x[j][q] - y[i][q]; s += d * d; }
        s = sqrt(s);
        if (s < v) v = s; }
      o[i] = v; }"""
    params = "int n, int m, double x[m][3], double y[n][3], double o[n]"
    result = optimize(source_of(body, params, "#include <math.h>\n"), Options(eager=True))
    found = in_one_form(result.text.decode())
    assert "v_rows[32]" in found
    assert "s_rows" not in found  # in a register
