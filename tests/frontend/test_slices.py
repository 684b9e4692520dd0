"""Values of index arrays: the slices that find them out read what the region reads, and nothing else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.ir.scop import MemoryTest
from scopt.options import Options

PARAMETERS = "int n, int m, const int *a, const int *b, const unsigned long *c, const double *x, double *y"
DONE = "* x[k] / (x[k] + 2) / (x[k] + 3)"
WORK = "/ x[i] / (x[i] + 1) / x[i + 1]"
AGAIN = "for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) { y[a[i]] += x[i]; y[a[i]] *= 2; }"
MATRIX = f"for (int i = 0; i < n; i++) for (int k = a[i]; k < a[i + 1]; k++) y[i] += x[b[k]] {DONE};"


def memory_test(body: str) -> MemoryTest:
    tu = parse(f"void f({PARAMETERS}) {{ {body.replace('WORK', WORK)} }}\n".encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    (test,) = guard.tests
    return test


def slices(body: str) -> list[str]:
    """The bodies of the slices, on a line each."""
    found = re.findall(r"static int scopt_values\w+\([^)]*\)\n\{\n(.*?)\n\}\n", memory_test(body).definition, re.DOTALL)
    return [" ".join(text.split()) for text in found]


def test_rows_behind_each_other_are_one_loop() -> None:
    """A sparse matrix by rows, its ends in variables or not; where more than a cell is asked for, it is row by row."""
    first, second, third = slices(MATRIX)
    assert "for (int i = 0; i < n; i++) { low = a[i] < low ? a[i] : low;" in first
    assert "a[i + 1] > high ? a[i + 1] : high;" in second
    assert "for (int i = 0; i < n; i++) ordered &= a[i] <= a[i + 1]; if (!ordered) return 0; if (0 < n) {" in third
    flat = "for (int k = a[0]; k < behind; k++) { low = b[k] < low"
    pragma = (
        "#pragma omp parallel for simd reduction(min:low) reduction(max:high) if(parallel: behind - a[0] > 1000000)"
    )
    assert f"const int behind = a[n]; {pragma} {flat}" in third
    ends = "for (int i = 0; i < n; i++) { double s = 0; int from = a[i], to = a[i + 1]; for (int k = from; k < to; k++)"
    assert flat in slices(f"{ends} s += x[b[k]]; y[i] = s; }}")[-1]
    other = MATRIX.replace("y[i]", "if (b[k] != i) y[i]")
    assert f"{flat} ? b[k] : low; high = b[k] > high ? b[k] : high; }}" in slices(other)[-1]
    (*_, text) = slices(f"{ends} s += x[b[k + i]] {DONE}; y[i] = s; }}")
    assert "for (int k = from; k < to; k++) { low = b[k + i] < low" in text


def test_threads_count_where_a_build_hides_them_from_the_file() -> None:
    assert "#if defined(_OPENMP) || defined(SCOPT_THREADS)\n" in memory_test(MATRIX).definition


def test_loops_that_see_the_same_are_entered_once() -> None:
    (text,) = slices("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = x[a[i] * m + j];")
    assert (
        "for (int j = 0; j < m; j++) { low = a[i] < low ? a[i] : low; high = a[i] > high ? a[i] : high; break; }"
        in text
    )


def test_tables_of_rows() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 4; k++)"
    text = f"void f(int n, int q[][4], int *x, int *y) {{ {loops} y[i * n + j] += x[q[i][k] * n + j] * 3; }}\n"
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert "const q_cell (*q)[4] = q_cells;" in guard.tests[0].definition


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) y[i] += x[i + b[k]] * (x[k] + 2);", False),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) y[3 * i + j] = x[a[i] + j] WORK;", True),
        (MATRIX, True),
        (f"for (int i = 0; i < n; i++) y[a[i]] += x[i] WORK; {AGAIN}", False),
        (f"for (int i = 0; i < n; i++) y[b[i]] += x[i] WORK; {AGAIN}", True),
    ],
    ids=["a-few-of-the-region", "nearly-as-many", "as-many", "once-more", "once-others"],
)
def test_values_are_looked_at_for_one_thread_where_they_are_few(body: str, *, threads: bool) -> None:
    assert ("(omp_get_max_threads)() < 2" in memory_test(body).definition) is threads


def test_other_loops_may_count_with_the_same_variables() -> None:
    other = "for (i = 0; i < m; i++) x[i] /= 2;"
    (text,) = slices(
        f"int i, k; for (k = 0; k < m; k++) {{ {other} for (i = 0; i < n; i++) y[i] = x[a[i]] WORK; {other} }}"
    )
    assert text.count("for (int i = 0; i < n; i++) { low = a[i] < low") == text.count("for (int i") == 1


def test_variables_may_get_their_values_behind_their_declarations() -> None:
    (text,) = slices("for (int i = 0; i < n; i++) { int j; j = b[i]; if (j < m) y[i] += x[a[j]] WORK; }")
    assert "int j = b[i]; if (j < m) { low = a[j] < low" in text


def test_conditions_stand_around() -> None:
    (text,) = slices("for (int i = 0; i < n; i++) if (b[i] > m) { int j = b[i + 1]; y[i] = x[a[j]] WORK; }")
    assert "if (b[i] > m) { low = a[b[i + 1]]" in text


@pytest.mark.parametrize(
    "body",
    [
        # not worth it
        "for (int i = 0; i < n; i++) y[i] = x[a[i]];",
        # only sometimes evaluated, or with effects, or a value from an earlier iteration
        "for (int i = 0; i < n; i++) y[i] = i > m && x[b[i]] > 0 ? x[a[i]] WORK : 0;",
        "int k = 0; for (int i = 0; i < n; i++) { y[i] = x[a[k]] WORK; if (b[i] > m) k = b[i]; }",
        "int k = 0; for (int i = 0; i < n; i++) { k = a[k]; y[i] = x[k] WORK; }",
        "int k = 0; for (int i = 0; i < n; i++) { if (k < 3) { k = b[i]; y[i] = x[a[k]] WORK; } }",
    ],
)
def test_what_is_not_sure_is_not_looked_at(body: str) -> None:
    with pytest.raises(Refusal):
        memory_test(body)


def test_arrays_that_may_be_written_are_not_looked_at() -> None:
    text = "void f(int n, int *a, int *x, int *y) { for (int i = 0; i < n; i++) y[x[a[i]]] = a[i]; }\n"
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    with pytest.raises(Refusal) as refused:
        extract(tu, find_autodetected(tu)[0], "scop0")
    assert refused.value.remark.id == "alias.may-overlap"


def test_values_are_those_that_are_seen(tmp_path: Path) -> None:
    large = memory_test("for (int i = 0; i < n; i++) y[i] = x[c[i]] WORK;").definition.replace("scopt_", "large_")
    test = memory_test(MATRIX)
    source, binary = tmp_path / "seen.c", tmp_path / "seen"
    calls = [f"scopt_values_1_{test.call.split('(')[0].split('_')[-1]}_{k}" for k in range(3)]
    wide = re.search(r"large_values\w+", large)
    assert wide is not None
    source.write_text(f"""
{test.definition}{large}
int main(void) {{
  static const int a[] = {{2, 5, 5, 5, 6, 4}}, b[] = {{99, 99, -3, 7, 1, 8, 99}};
  static const unsigned long c[] = {{3, 1ul << 63}};
  long least[3], greatest[3];
  {calls[0]}(4, a, &least[0], &greatest[0]);
  {calls[1]}(4, a, &least[1], &greatest[1]);
  {calls[2]}(4, a, b, &least[2], &greatest[2]);
  if (least[0] != 2 || greatest[0] != 5 || least[1] != 5 || greatest[1] != 6) return 1;
  if (least[2] != -3 || greatest[2] != 8) return 2;
  if ({calls[2]}(0, a, b, &least[2], &greatest[2]) != 1 || least[2] || greatest[2]) return 3;
  if ({calls[2]}(5, a, b, &least[2], &greatest[2]) != 0) return 4;
  return {wide[0]}(1, c, least, greatest) != 1 || {wide[0]}(2, c, least, greatest) != 0;
}}
""")
    subprocess.run(["cc", "-w", "-o", binary, source], check=True)
    assert subprocess.run([binary], check=False).returncode == 0
