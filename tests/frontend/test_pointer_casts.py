"""Pointers to bytes that a region takes for pointers to numbers."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC

BEFORE = """#include <stddef.h>
typedef struct { int w, h; void *data; } image;
static inline float *floats(const image *im, int y) { return (float *)im->data + (size_t)y * im->w; }
static inline unsigned char *bytes(const image *im, int y) { return (unsigned char *)im->data + (size_t)y * im->w; }
"""


def prologue_of(parameters: str, body: str) -> tuple[str, ...]:
    tu = parse(f"{BEFORE}void f({parameters}) {{ {body} }}\n".encode(), "in.c", Options())
    found = detect(tu)
    if not found.regions:
        raise Refusal(found.remarks[0].id, found.remarks[0].message, found.remarks[0].location)
    return extract(tu, found.regions[0], "scop0").prologue


@pytest.mark.parametrize(
    ("parameters", "body", "name"),
    [
        ("void *p, int n", "for (int i = 0; i < n; i++) ((double *)p)[i] *= 2;", "double *p_double = (double *)p;"),
        (
            "const void *p, float *restrict q, int n",
            "for (int i = 0; i < n; i++) q[i] = ((const float *)p)[i];",
            "const float *p_float = (const float *)p;",
        ),
        (
            "unsigned char *p, int n",
            "for (int i = 0; i < n; i++) *((short *)p + i) = ((const short *)p)[i] / 2;",
            "short *p_short = (short *)p;",
        ),
        (
            "const unsigned char *p, int *restrict q, int n",
            "for (int i = 0; i < n; i++) q[i] = ((const int *)p)[i] + p[i];",
            "const int *p_int = (const int *)p;",
        ),
        (
            "const image *a, int n",
            "for (int i = 0; i < n; i++) { int *q = (int *)a->data + i; *q += 1; }",
            "int *a_data_int = (int *)a_data;",
        ),
        (
            "const image *a",
            "for (int i = 0; i < a->w; i++) floats(a, 3)[i] = 1;",
            "float *a_data_float = (float *)a_data;",
        ),
    ],
)
def test_they_have_names_of_that_type(parameters: str, body: str, name: str) -> None:
    assert name in prologue_of(parameters, body)


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("void *p, void *q, int n", "for (int i = 0; i < n; i++) { ((double *)p)[i] = 2; p = q; }"),
        ("double *p, int n", "for (int i = 0; i < n; i++) ((long *)p)[i] &= 255;"),
        ("void *volatile p, int n", "for (int i = 0; i < n; i++) ((double *)p)[i] = 2;"),
        ("void *p, int n", "for (int i = 0; i < n; i++) ((volatile int *)p)[i] = 2;"),
        ("void *p, int n", "for (int i = 0; i < n; i++) ((float *)p)[i] = ((const int *)p)[i];"),
        ("unsigned char *p, int n", "for (int i = 1; i < n; i++) ((int *)p)[i] += p[i];"),
        ("void *p, void ***o, int n", "*o = &p; for (int i = 0; i < n; i++) ((int *)p)[i] = 2;"),
    ],
)
def test_others_stay(parameters: str, body: str) -> None:
    with pytest.raises(Refusal):
        prologue_of(parameters, body)


def test_every_bit_is_the_same_whatever_overlaps(run_c: RunC) -> None:
    functions = """
void widen(const image *a, image *b) {
  for (int y = 0; y < a->h; y++) {
    const unsigned char *p = bytes(a, y);
    float *q = floats(b, y);
    for (int x = 0; x < a->w; x++) q[x] = p[x] * 0.5f + 1;
  }
}
void mix(image *a, const image *b) {
  for (int y = 1; y < a->h; y++)
    for (int x = 0; x < a->w; x++) floats(a, y)[x] += floats(b, y - 1)[x] - 3;
}
"""
    main = """
static float room[4000]; static float other[4000];
int main(void) {
  for (int i = 0; i < 4000; i++) room[i] = i % 37, other[i] = i % 11;
  image a = {60, 50, room}, b = {60, 50, other}, c = {60, 50, room + 60}, d = {60, 50, room};
  widen(&a, &b); mix(&b, &a); mix(&c, &d); mix(&a, &a); widen(&a, &c);
  double s = 0;
  for (int i = 0; i < 4000; i++) s = s * 0.999 + room[i] + 3 * other[i];
  printf("%a\\n", s);
}
"""
    source = f"#include <stdio.h>\n{BEFORE}{functions}{main}"
    result = optimize(source.encode(), Options(autodetect=True, eager=True), file="in.c")
    text = result.text.decode()
    assert "float *b_data_float" in text
    assert text.count("omp parallel for") >= 2
    flags = ("-O2", "-fno-strict-aliasing")
    assert run_c(text, *flags, name="emitted") == run_c(source, *flags, name="original")


def test_a_pool_is_one_place_whatever_is_in_it(run_c: RunC) -> None:
    """In a marked region, names lead to places of their own."""
    source = """#include <stdio.h>
void fill(void *pool, int n, const float *x, const int *y, float *s, int *t) {
#pragma scop
  for (int i = 0; i < n; i++) ((float *)pool)[i] = x[i] * 2 + y[i];
  for (int i = 0; i < n; i++) s[i] = ((float *)pool)[n - 1 - i] + 1;
  for (int i = 0; i < n; i++) ((int *)pool)[i] = y[i] + 3 + (int)x[i];
  for (int i = 0; i < n; i++) t[i] += ((int *)pool)[n - 1 - i];
#pragma endscop
}
union { float one[300]; int other[300]; } pool;
float x[300], s[300];
int y[300], t[300];
int main(void) {
  for (int i = 0; i < 300; i++) x[i] = i % 17, y[i] = i % 23;
  fill(&pool, 300, x, y, s, t);
  for (int i = 0; i < 300; i += 7) printf("%g %d ", s[i], t[i]);
}
"""
    for number, scheduler in enumerate(("pluto", "isl")):
        made = optimize(source.encode(), Options(eager=True, scheduler=scheduler), file="in.c").text.decode()
        assert run_c(made, name=f"emitted{number}") == run_c(source, name=f"original{number}")


def test_pointers_to_one_pool_are_tested_whatever_their_types(run_c: RunC) -> None:
    source = """#include <stdio.h>
void fill(void *pool, int n, const float *restrict x, const int *restrict y, float *restrict s, int *restrict t) {
  float *f = pool;
  int *g = (int *)pool;
  for (int i = 0; i < n; i++) f[i] = x[i] * 2 + y[i];
  for (int i = 0; i < n; i++) s[i] = f[n - 1 - i] + 1;
  for (int i = 0; i < n; i++) g[i] = y[i] + 3 + (int)x[i];
  for (int i = 0; i < n; i++) t[i] += g[n - 1 - i];
}
union { float one[300]; int other[300]; } pool;
float x[300], s[300];
int y[300], t[300];
int main(void) {
  for (int i = 0; i < 300; i++) x[i] = i % 17, y[i] = i % 23;
  fill(&pool, 300, x, y, s, t);
  for (int i = 0; i < 300; i += 7) printf("%g %d ", s[i], t[i]);
}
"""
    result = optimize(source.encode(), Options(autodetect=True, eager=True, scheduler="isl"), file="in.c")
    assert any(one.id == "assume.apart" and "'f' and 'g'" in one.message for one in result.remarks)
    assert run_c(result.text.decode(), name="emitted") == run_c(source, name="original")
