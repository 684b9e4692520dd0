"""Which loops ask for vectors as long as a register, how that is printed, and that it is read as what it is."""

from __future__ import annotations

import pytest

from scopt.astgen.emit.loop_hints import for_both, is_for_both, without_hints
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize, source_of

PARAMS = "int n, int m, unsigned char *a, unsigned char *b, short *c, float *x, float *y, int *e, double z[40]"
HEAVY = "y[i] = ((((((x[i] * 3 + 1) * x[i] + 2) * x[i] + 3) * x[i] + 4) * x[i]) + 5) * x[i];"


def printed(body: str) -> str:
    return optimize(source_of(body, PARAMS), Options()).text.decode()


@pytest.mark.parametrize(
    ("body", "lanes"),
    [
        ("for (i = 0; i < n; i++) b[i] = (a[i] + a[i + 1] + 1) >> 1;", 64),
        ("for (i = 0; i < n; i++) c[i] = (c[i] * 3) >> 2;", 32),
        ("for (i = 0; i < n; i++) c[i] = a[i] * m;", 64),
        ("for (i = 0; i < n; i++) { int d = a[i] - b[i]; if (d < 0) d = -d; b[i] = d > m ? 255 : 0; }", 64),
        (
            "for (i = 0; i < n; i++) { b[2 * i] = a[2 * i + 1]; b[2 * i + 1] = a[2 * i]; }",
            64,
        ),
        (f"for (i = 0; i < n; i++) {HEAVY}", 16),
    ],
)
def test_rows_ask_for_whole_registers(body: str, lanes: int) -> None:
    text = printed(body)
    assert f"simdlen({lanes})" in text
    lines = [line.strip() for line in text.splitlines()]
    assert all(is_for_both(lines[k - 3 : k + 2]) for k, line in enumerate(lines) if "simdlen" in line)


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) y[i] = x[i] + 1;",  # which waits for memory
        f"for (i = 0; i < n; i++) {HEAVY.replace('+ 5', '/ 5')}",
        "for (i = 0; i < n; i++) y[i] = x[a[i]] * a[i];",
        "for (i = 0; i < n; i++) if (a[i] > 9) a[i] = 9;",
        "for (i = 0; i < n; i++) { a[i] = c[2 * i]; b[i] = c[2 * i + 1]; }",
        "for (i = 0; i < n; i++) b[i] = (a[i] > 9) + (a[i] < 3);",
        "for (i = 0; i < 30; i++) z[i] = ((((((z[i] * 3 + 1) * z[i] + 2) * z[i] + 3) * z[i] + 4) * z[i]) + 5) * m;",
        "for (i = 0; i < 200; i++) b[i] = (a[i] + a[i + 1] + 1) >> 1;",
    ],
)
def test_others(body: str) -> None:
    assert "simdlen" not in printed(body)


MEDIA = """struct medium { double ca, cb, kp; };
void sweep(int n, const unsigned char *mat, const struct medium med[4], double *e, double *j, const double *h) {
#pragma scop
  for (int i = 1; i < n; i++) {
    const struct medium *m = &med[mat[i]];
    double old = e[i];
    e[i] = m->ca * old + m->cb * (h[i] - h[i - 1] - j[i]);
    j[i] = m->kp * j[i] + m->cb * (e[i] + old);
  }
#pragma endscop
}
"""


def test_places_that_variables_hold_are_looked_up() -> None:
    text = optimize(MEDIA, Options()).text.decode()
    assert "omp simd" in text
    assert "simdlen" not in text


@pytest.mark.parametrize("directive", ["omp simd", "omp simd private(s)", "omp parallel for simd if(parallel: n > 9)"])
@pytest.mark.parametrize("size", [16, 32, 64])
def test_both_lines_are_one_directive(directive: str, size: int) -> None:
    lines = for_both(directive, 16, size)
    text = "".join(f"  {line}\n" for line in lines) + "  for (;;)\n"
    assert is_for_both(lines)
    one = directive.replace("simd", "simd simdlen(16)", 1)
    assert without_hints(text) == f"#pragma {one}\n  for (;;)\n"
    wrong = [("__clang__", "n"), ("ifdef", "ifndef"), ("||", "&&"), ("!", ""), ("__AVX", "__SSE"), ("#else", "#endif")]
    for old, new in (*wrong, ("#pragma omp simd", "#pragma omp")):
        other = [line.replace(old, new, 1) for line in lines]
        assert other == [*lines] or not is_for_both(other)
    assert not is_for_both([*lines[:3], f"{lines[3]} private(t)", lines[4]])
    assert without_hints(text.replace(" simdlen(16)", " simdlen(16) private(t)")) != without_hints(text)


PROGRAM = """
#include <stdio.h>
static void f(int n, unsigned char *restrict a, unsigned char *restrict b, float *restrict x, float *restrict y) {
#pragma scop
  for (int i = 1; i < n - 1; i++) b[i] = (unsigned char)((a[i - 1] + 2 * a[i] + a[i + 1] + 2) >> 2);
  for (int i = 0; i < n; i++) y[i] = ((((x[i] * 3 + 1) * x[i] + 2) * x[i] + 3) * x[i] + 4) * x[i] + b[i];
#pragma endscop
}
int main(void) {
  static unsigned char a[999], b[999]; static float x[999], y[999];
  for (int p = 0; p < 999; p++) a[p] = p * 37 % 256, x[p] = p % 91 / 16.0f;
  for (int n = 0; n < 999; n += 31) {
    f(n, a, b, x, y);
    for (int p = 0; p < n; p++) printf("%d %a ", b[p], y[p]);
  }
}
"""


def test_values_are_the_same(run_c: RunC) -> None:
    text = optimize(PROGRAM, Options()).text
    assert text.count(b"simdlen") > 1
    flags = ("-O3", "-w", "-fopenmp", "-ffp-contract=off")
    assert run_c(text, *flags, name="emitted") == run_c(PROGRAM, *flags, name="original")
