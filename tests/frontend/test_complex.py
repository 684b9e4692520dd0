"""Complex numbers: imaginary constants, functions that take or return them, what is computed with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.printing import CPrinter
from scopt.options import Options
from scopt.pipeline import optimize
from tests.fuzz.harness import without_thresholds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.0iF", "float _Complex"),
        ("2.5j", "double _Complex"),
        (".5fi", "float _Complex"),
        ("1e3Li", "long double _Complex"),
        ("0x1.8p3J", "double _Complex"),
        ("3i", "double _Complex"),
        ("1.0f", "float"),
        ("1.5", "double"),
        ("12ul", "unsigned long int"),
        ("'i'", "char"),
    ],
)
def test_imaginary_constants(text: str, kind: str) -> None:
    value = parse_c(f"int a = x + {text};").ext[0].init.right
    assert (value.value, value.type) == (text, kind)
    assert CPrinter().visit(value) == text


def test_names_behind_numbers_are_no_suffixes() -> None:
    with pytest.raises(CSyntaxError):
        parse_c("int a = 1 i;")
    with pytest.raises(CSyntaxError):
        parse_c("int a = 1.0ix;")


SOURCE = """#include <complex.h>
typedef double complex number;
struct material { double a, b; };
static inline number index_at(const struct material *m, double l) { return m->a + m->b / l - I * (m->b * l); }
static inline double power(number z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }
void f(int n, int m, const struct material *ms, const double *l, double *r, number *t, float complex *s) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      number v = index_at(&ms[j], l[i]), w = 1.0;
      for (int k = 0; k < 3; k++) w = w * v + csqrt(v) / (w - 0.5 * I);
      r[i * m + j] = power(w);
      t[i * m + j] = conj(w) * t[i * m + j];
      s[i * m + j] += 0.5 * w;
    }
#pragma endscop
}
"""
MAIN = """
#include <stdio.h>
static struct material ms[20];
static double l[30], r[600];
static number t[600];
static float complex s[600];
int main(void) {
  for (int j = 0; j < 20; j++) ms[j].a = 1 + 0.1 * j, ms[j].b = j % 3;
  for (int i = 0; i < 30; i++) l[i] = 0.5 + i;
  for (int k = 0; k < 600; k++) t[k] = k % 7 - I * (k % 5);
  f(30, 20, ms, l, r, t, s);
  for (int k = 0; k < 600; k++) printf("%a %a %a %a\\n", r[k], creal(t[k]), cimag(t[k]), cimag(s[k]));
  return 0;
}
"""


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    """Loops with complex numbers are shared by threads, and none of those with products is a vector loop."""
    made = optimize(SOURCE.encode(), Options(eager=True)).text.decode()
    assert "#pragma omp parallel for" in made
    assert "simd" not in made
    assert "index_at(&" not in made
    flags = "-ffp-contract=off", "-w", "-lm"
    before = run_c(SOURCE + MAIN, "-O1", *flags, name="before")
    assert run_c(without_thresholds(made) + MAIN, "-O2", "-fopenmp", *flags, name="after") == before


def test_sums_are_vector_loops() -> None:
    source = """#include <complex.h>
void f(int n, double complex *restrict a, const double complex *restrict b, double c) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] += c * b[i] - 2.0;
#pragma endscop
}
"""
    assert "omp parallel for simd" in optimize(source.encode(), Options(eager=True)).text.decode()
