"""Checks after which a program ends."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.normalize.failing_checks import never_returns
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC

BEFORE = """#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { size_t rows, cols; double *data; } mat;
extern void note(int);
static void die(const char *what, int where) { printf("%s %d\\n", what, where); fflush(stdout); exit(0); }
static inline double get(const mat *m, size_t i, size_t j) {
  assert(i < m->rows && j < m->cols);
  return m->data[i * m->cols + j];
}
"""


def values_of(parameters: str, body: str) -> str:
    tu = parse(f"{BEFORE}void f({parameters}) {{ {body} }}\n".encode(), "in.c", Options())
    found = detect(tu)
    if not found.regions:
        raise Refusal(found.remarks[0].id, found.remarks[0].message, found.remarks[0].location)
    guard = extract(tu, found.regions[0], "scop0").guard
    return str(guard.parameters) if guard is not None else ""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for (int i = 0; i < n; i++) { if (i > m) abort(); x[i] = 1; }", "n <= 1 + m"),
        ("for (int i = 0; i < n; i++) {\nassert(i < m);\nx[i] = 1; }", "n <= m"),
        ('for (int i = 0; i < n; i++) { if (i >= m) { fprintf(stderr, "%d\\n", i); exit(1); } x[i] = 1; }', "n <= m"),
        ('for (int i = 0; i < n; i++) { if (i == m) die("bad", i); else x[i] = 1; }', "m < 0"),
        ("for (int i = 0; i < n; i++) { if (i > n) abort(); x[i] = 1; }", ""),
        ("for (int i = 0; i < n; i++) { i < m ? (void)0 : abort(); x[i] = 1; }", "n <= m"),
    ],
)
def test_regions_take_for_granted_to_pass_them(body: str, said: str) -> None:
    values = values_of("int n, int m, double *restrict x", body)
    assert said in values if said else not values


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { if (x[i] > m) abort(); x[i] = 1; }",
        "for (int i = 0; i < n; i++) { if (i > m) note(i); x[i] = 1; }",
        "for (int i = 0; i < n; i++) { if (i > m) { if (m) break; abort(); } x[i] = 1; }",
        "for (int i = 0; i < n; i++) { abort(); x[i] = 1; }",
    ],
)
def test_what_data_decide_or_nothing_decides_stays(body: str) -> None:
    with pytest.raises(Refusal):
        values_of("int n, int m, double *restrict x", body)


def test_functions_that_end_in_calls_of_each_other_end_nothing() -> None:
    functions = "static void two(void); static void one(void) { two(); } static void two(void) { one(); }"
    tu = parse(f"{functions} static void last(void) {{ one(); }}".encode(), "in.c", Options())
    assert not any(never_returns(tu, tu.functions[name].body) for name in ("one", "two", "last"))


def test_programs_end_where_they_did(run_c: RunC) -> None:
    body = """
void scale(int n, int m, double *restrict x) {
  for (int i = 0; i < n; i++) {
    if (i >= m) die("scale", (int)(x[i - 1] * 100));
    x[i] = x[i] * 2 + 1;
  }
}
void product(mat *c, const mat *a, const mat *b) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < b->cols; j++) {
      double s = 0;
      for (size_t k = 0; k < a->cols; k++) s += get(a, i, k) * get(b, k, j);
      c->data[i * c->cols + j] = s;
    }
}
double x[400], y[400], z[400];
int main(void) {
  for (int i = 0; i < 400; i++) x[i] = i % 7, y[i] = i % 5;
  mat a = {20, 20, x}, b = {20, 20, y}, c = {20, 20, z};
  product(&c, &a, &b);
  for (int i = 0; i < 400; i += 9) printf("%g ", z[i]);
  scale(300, 300, x);
  for (int i = 0; i < 400; i += 9) printf("%g ", x[i]);
  scale(300, 77, x);
}
"""
    result = optimize(f"{BEFORE}{body}".encode(), Options(autodetect=True, eager=True), file="in.c")
    text = result.text.decode()
    assert text.count("omp parallel for") >= 2
    assert any("no check fails" in remark.message for remark in result.remarks)
    assert run_c(text, name="emitted") == run_c(f"{BEFORE}{body}", name="original")


def test_nothing_is_read_in_front_of_a_region_that_a_check_keeps_it_from(run_c: RunC) -> None:
    """Members behind null pointers, cells that aren't there, quotients by zero."""
    source = (
        BEFORE
        + """
void all(mat *m, int n) {
#pragma scop
  if (n < 0) die("all", n);
  for (int i = 0; i < 300; i++) m->data[i] = i + m->cols;
#pragma endscop
}
void each(mat *m, int n, int k) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (k < 0) die("each", k);
    m->data[i] += i + m->cols;
  }
#pragma endscop
}
void up_to(double *x, const int *length, int k) {
#pragma scop
  if (k < 0) die("up_to", k);
  for (int i = 0; i < *length; i++) x[i] += 2;
#pragma endscop
}
void parts(double *x, int n, int k) {
#pragma scop
  if (k == 0) die("parts", k);
  for (int i = 0; i < n / k; i++) x[i] += 3;
#pragma endscop
}
double x[400];
int main(void) {
  mat m = {20, 20, x};
  int length = 200;
  all(&m, 1), each(&m, 300, 1), up_to(x, &length, 1), parts(x, 300, 2);
  for (int i = 0; i < 400; i += 9) printf("%g ", x[i]);
  CALL;
}
"""
    )
    made = optimize(source.encode(), Options(eager=True), file="in.c").text.decode()
    assert made.count("omp simd") >= 2
    calls = ("all(0, -1)", "each(0, 300, -1)", "up_to(x, 0, -1)", "parts(x, 300, 0)", "each(&m, 100, 1)")
    for number, call in enumerate(calls):
        emitted, original = (text.replace("CALL", call) for text in (made, source))
        assert run_c(emitted, name=f"emitted{number}") == run_c(original, name=f"original{number}")


def test_functions_of_the_file_end_what_their_bodies_end(run_c: RunC) -> None:
    source = """#include <stdio.h>
static int count, x[300], y[300];
static void err(int k) { count += k; }
void f(int n) {
  for (int i = 0; i < n; i++) {
    x[i] = i;
    if (i > 3) { y[i] = 3; err(i); }
  }
}
int main(void) { f(300); for (int i = 0; i < 300; i++) count = count * 31 + y[i] + x[i]; printf("%d\\n", count); }
"""
    text = optimize(source.encode(), Options(autodetect=True, eager=True), file="in.c").text.decode()
    assert run_c(text, "-fwrapv", name="emitted") == run_c(source, "-fwrapv", name="original")
