"""Memory that subscripts reach which aren't affine: what functions find out about it, against what is touched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.ir.scop import MemoryTest
from scopt.options import Options

ROWS = "for (int i = 0; i < n; i++) {"
FLOATS = "for (int i = 0; i < n; i++) for (int j = 0; j < 24; j++) {"
# Loops, with a subscript and the type of all variables; those with ~ have bounds that aren't the ends themselves.
SUBSCRIPTS = [
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)", "i * (i + 1) / 2 + j"),
    ("int", "for (int i = 0; i < n; i++) for (int j = i; j < n; j++)", "n * i - i * (i - 1) / 2 + j - i"),
    ("size_t", "for (size_t i = 0; i < n; i++) for (size_t j = 0; j < i + 1; j++)", "i * (i + 1) / 2 + j"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)", "i * h + j * k"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)", "i / h * m + j / k"),
    ("long", "for (long i = 0; i < n; i++) for (long j = 0; j < m; j++)", "(i + m - j) % n"),
    (
        "int",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (i * k - h >= 0 && i * k - h < m)",
        "~(i * k - h) >> 1",
    ),
    ("int", "for (int i = 0; i < n; i++) for (int j = m - 1; j >= 0; j--)", "(i > j ? i : j) * h"),
    ("unsigned", "for (unsigned i = 0; i < n; i++) for (unsigned j = i; j < m; j += 2)", "~(j - i) * h + (i & 3)"),
    ("int", "for (int i = 0; i < n; i++) for (int j = -2; j <= 2; j++) if (i + j >= 0 && i + j < n)", "(i + j) * h"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)", "~i * j - j * j"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)", "~(i * j) % (h + k) - i * k"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (j > 7 || i * j > 4)", "~i * i - j * j"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++)", "(i + OFFSET[j]) * m + i"),
    ("int", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (j + 9 >= 1)", "j * (j + 1) / 2 * (i + m)"),
    ("int", "for (int i = 0; i < n; i++) { int v = 3; while (v < m * h && v * v < 40) v += 2; if (v < m)", "~v * k"),
    ("int", "for (int i = 0; i < n; i++) { int v = 9; while (v * v > m + i) v -= 2; if (v > 1)", "~v * k"),
    ("int", f"{ROWS} int v = 0; for (int j = 0; j < m; j++) if (i * j % 5 == 2) v = j;", "~v * h"),
    ("int", f"{ROWS} int v = 2; for (int j = m; j > 0; j--) if (j % k == 1) v = i - j;", "~v * h"),
    ("int", f"{ROWS} int v = h; for (int j = 0; j < m; j++) {{ if (j % 3 == 1) v = i * k;", "~v - j"),
    ("int", f"{FLOATS} float q = j * 0.75f - 2.5f; if (q >= 0 && q < m)", "(int)q * h"),
    ("int", f"{FLOATS} double q = j * 0.5 - 3; if (!(q < 0.0 || q > m - 1))", "(int)q * h"),
    ("int", f"{FLOATS} float q = sqrtf(j * 9.0f) / h; int v = q; if (v < m)", "~v * k"),
    ("int", f"{FLOATS} double q = j * 0.5 - 9.5; if (q <= -1 && q >= -m)", "~(int)q * h"),
    ("int", f"{FLOATS} float q = j * 0.75f - 2.5f; int v = (int)floorf(q); if (q >= 0.0f && v < m)", "v * h"),
    ("int", f"{FLOATS} double q = j + 0.999999999999; if (q >= 0 && q < m)", "~(int)(float)q * h"),
]
TABLE = "static const int OFFSET[3] = {-1, 0, 2};\n"
SEEN = f"""{TABLE}
#include <math.h>
#include <stddef.h>
#include <stdio.h>
static long seen, from, to;
static void see(long x) {{ from = seen && from < x ? from : x; to = seen++ && to > x ? to : x; }}
"""
# Where the test would have y: right behind x, right before, on the last element and on the first.
TRIED = """
static void try{k}(long a, long b, long c, long d) {
  TYPE n = a, m = b, h = c, k = d;
  long long tight = 0, bad = 0;
  seen = 0;
  LOOPS see((long)(SUBSCRIPT)); END
  if (!seen || a * b * c * d == 0) return;
  char *x = (char *)(1l << 40), *y = x + 8 * (to + 1);
  tight += CALL;
  y = x + 8 * (from - (long)n);
  tight += CALL;
  y = x + 8 * to;
  bad += CALL;
  y = x + 8 * from + 7;
  bad += CALL;
  y = x + 8 * (from - (long)n) + 1;
  bad += CALL;
  printf("{k} %lld %lld\\n", tight, bad);
}
"""


def memory_test(ctype: str, loops: str, subscript: str) -> MemoryTest:
    """The test that a function needs which reads at a subscript."""
    function = f"void f({', '.join(f'{ctype} {p}' for p in 'nmhk')}, double *x, double *y)"
    end = "}" * loops.count("{")
    head = f"{TABLE}typedef unsigned long size_t;\nfloat sqrtf(float);\n{function}"
    text = f"{head} {{\n  {loops} y[i] += x[({subscript}) + i * i % 1];{end}\n}}\n"
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert not guard.apart
    (test,) = guard.tests
    return test


def test_what_is_touched_lies_within(tmp_path: Path) -> None:
    text, calls = SEEN, []
    for k, (ctype, loops, subscript) in enumerate(SUBSCRIPTS):
        test = memory_test(ctype, loops, subscript.removeprefix("~"))
        call = test.call.replace("sizeof(*x)", "8").replace("sizeof(*y)", "8").replace("scopt_apart", f"apart{k}")
        tried = TRIED.replace("TYPE", ctype).replace("LOOPS", loops).replace("SUBSCRIPT", subscript.removeprefix("~"))
        tried = tried.replace("END", "}" * loops.count("{"))
        text += test.definition.replace("scopt_apart", f"apart{k}") + tried.replace("CALL", call).replace("{k}", str(k))
        calls += [
            f"try{k}({n}, {m}, {h}, {i});" for n in (1, 4, 5) for m in (1, 6) for h, i in ((1, 1), (3, 2), (2, 5))
        ]
    source, binary = tmp_path / "seen.c", tmp_path / "seen"
    source.write_text(f"{text}\nint main(void) {{ {' '.join(calls)} }}\n")
    subprocess.run(["cc", "-fwrapv", "-o", binary, source, "-lm"], check=True)
    found = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(found) > len(calls) // 2
    for k, tight, bad in (map(int, line.split()) for line in found):
        assert not bad, SUBSCRIPTS[k]
        assert tight == 2 or "~" in SUBSCRIPTS[k][2], SUBSCRIPTS[k]


@pytest.mark.parametrize(
    ("loops", "subscript"),
    [
        ("for (int i = 0; i < n; i++)", "(int)y[i] * h"),
        ("for (int i = 0; i < n; i++)", "((int)y[i] < m ? (int)y[i] : m) * h"),
        ("for (int i = 0, j = 0; i < n; i++, j += i)", "j * h"),
        ("for (int i = 0; i < n; i++) for (int j = 0; (int)x[j] < m; j++)", "j * h"),
        ("for (int i = 0; i < n; i++)", "i * h / -2"),
        (f"{FLOATS} int v = 0; while (x[v] < j) v += i; if (v < m)", "v * h"),
        (f"{FLOATS} int v = 0; while (x[v] < j) v++; if (v > m) v = -i * j; if (v < m)", "v * v * h"),
        (f"{ROWS} int v = 1; for (int j = 0; j < m; j++) if (x[j] > 0) v = 2 * v;", "v * h"),
        (f"{ROWS} int v = 1; for (int j = 0; j < m; j++) if (x[j] > 0) v = (int)x[j];", "v * h"),
        (f"{ROWS} int v = 0, w = 0; for (int j = 0; j < m; j++) {{ v = w; w = v - j;", "v * h"),
        (f"{FLOATS} float q = y[i]; if (q < m)", "(int)q * h"),
        (f"{FLOATS} float q = 1; q += y[i]; if (q < m)", "(int)q * h"),
        (f"{FLOATS} float q = y[i]; int v = (int)q; q = j; if (q >= 0 && v < m)", "v * h"),
        (f"{FLOATS} float q = j; if (q >= y[i] && q < m)", "(int)(q - 1) * h"),
    ],
)
def test_nothing_is_known_of_other_values(loops: str, subscript: str) -> None:
    with pytest.raises(Refusal) as refused:
        memory_test("int", loops, subscript)
    assert refused.value.remark.id.startswith(("alias.may-overlap", "affine", "loop"))


def test_numbers_that_do_not_fit_are_no_ends(tmp_path: Path) -> None:
    test = memory_test("long", "for (long i = 0; i < n; i++) for (long j = 0; j < m; j++)", "i * h * k + j")
    source, binary = tmp_path / "large.c", tmp_path / "large"
    call = test.call.replace("sizeof(*x)", "8").replace("sizeof(*y)", "8")
    source.write_text(
        f"{test.definition}\nint main(void) {{\n  char *x = (char *)(1l << 40), *y = (char *)(1l << 41);\n"
        f"  long n = 10, m = 10, h = 10, k = 10;\n  if (!{call}) return 1;\n  h = k = 1l << 32;\n  return {call};\n}}\n"
    )
    subprocess.run(["cc", "-o", binary, source], check=True)
    assert subprocess.run([binary], check=False).returncode == 0


def test_data_that_conditions_clamp_have_bounds() -> None:
    text = (
        "void f(int n, int m, double *x, double *y) { for (int i = 0; i < n; i++) { int v = (int)y[i];"
        " if (v < 0) v = 0; if (v >= m) v = m - 1; y[i] = x[v * n + i]; } }\n"
    )
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert "values" not in guard.tests[0].definition


def test_what_both_branches_change_is_unknown() -> None:
    text = (
        "void f(int n, double *x, double *y) { for (int i = 0; i < n; i++) { int v = 0;"
        " if (y[i] > 0) v = 1 << i; else v = 2 << i; y[i] = x[v]; } }\n"
    )
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    with pytest.raises(Refusal):
        extract(tu, find_autodetected(tu)[0], "scop0")


def test_bits_that_a_loop_collects_have_bounds() -> None:
    text = (
        "void f(int n, const float *c, const double *x, double *y) { for (int i = 0; i < n; i++) { int v = 0;"
        " for (int k = 0; k < 6; k++) v |= (c[6 * i + k] > 1) << k; y[i] = x[v * n + i]; } }\n"
    )
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert "mul_overflow(64, n" in guard.tests[0].definition


def test_many_pointers_are_told_apart_at_once() -> None:
    """Members of structures with what else lies in their objects; what data name by the bounds of its subscripts."""
    names = ", ".join(f"double *p{k}" for k in range(7))
    stores = " ".join(f"p{k}[i] = a[i].x * p{k + 1}[i];" for k in range(6))
    text = (
        f"struct c {{ double x, y; }};\nvoid f(int n, struct c *a, struct c *b, {names}) {{ for (int i = 0; i < n; i++)"
        f" {{ {stores} int v = (int)p6[i]; if (v >= 0 && v < n) b[i].y += p6[v * n]; }} }}\n"
    )
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert not guard.apart
    (test,) = guard.tests
    assert test.call.count("sizeof(*") == 9


def test_pairs_are_told_apart_where_values_are_looked_at() -> None:
    """One test of all together doesn't look at index arrays."""
    names = ", ".join(f"double *p{k}" for k in range(8))
    stores = " ".join(f"p{k}[i] = t;" for k in range(7))
    text = (
        f"void f(int n, const int *first, const int *at, const double *x, {names}) {{ for (int i = 0; i < n; i++) {{"
        f" double t = p7[i]; for (int k = first[i]; k < first[i + 1]; k++) {{ t += x[at[k]] * t / (t * t + 3) / 7; }}"
        f" {stores} }} }}\n"
    )
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert len(guard.apart) == 28
    assert guard.tests[0].pairs == 7


@pytest.mark.parametrize(("inner", "looked_at"), [("j < m", True), ("j < 3", False)])
def test_rows_that_bytes_pick_are_looked_at(inner: str, looked_at: bool) -> None:
    """There may be fewer than 256."""
    text = (
        "void f(int n, int m, const unsigned char *s, const int *table, int *sum) { for (int i = 0; i < n; i++)"
        f" for (int j = 0; {inner}; j++) sum[j] = sum[j] * 3 + table[s[i] * m + j]; }}\n"
    )
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert guard is not None
    assert ("scopt_values" in guard.tests[0].definition) is looked_at
    assert "max_threads" not in guard.tests[0].definition
