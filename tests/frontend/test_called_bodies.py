"""Functions whose statements stand in the place of calls: what they compute, and which stay away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.frontend.normalize.called_bodies import with_called_bodies
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.symbols import scope_at
from scopt.options import Options
from tests.sources import PARAMS, optimize, source_of

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
typedef struct { double x, y; } P;
struct q { int a[3]; short s; };
static P rot(P a) { P r; r.x = -a.y; r.y = a.x; return r; }
static P self(P a, double k) { a.x *= k; if (a.x > 5) return a; a.y += a.x; return a; }
static int find(const int *v, int n, int w) { for (int i = 0; i < n; i++) { if (v[i] == w) return i; }
  return -1; }
static int find2(const int m[4][5], int w, int *row) { for (int i = 0; i < 4; i++) for (int j = 0; j < 5;
  j++) { if (m[i][j] == w) { *row = i; return j; } if (m[i][j] > 90) continue; } *row = -1; return -2; }
int code(int k) { switch (k % 5) { case 0: return 7; case 1: k += 3; break; case 2: { if (k > 10) return k;
  } /* falls */ case 3: k *= 2; break; default: return -k; } return k + 1; }
static int deep(int n) { int s = 0; for (int i = 0; i < n; i++) { int j = 0; do { switch ((i + j) % 3) {
  case 0: s += 1; break; case 1: if (s > 20) return s * 100; default: s += 2; } j++; if (s == 17) break; }
  while (j < 3); if (s > 40) { if (n & 1) return -s; s -= 7; } } return s; }
static void swap(double *a, double *b) { double t = *a; *a = *b; *b = t; }
static void both(double v, double *p) { *p = v + 1; *p += v; }
static double use(double v) { double t = v, u = 2; both(t, &t); swap(&t, &u); swap(&t, &t); return t * 10 +
  u; }
static int clip(double lo, double hi, double *a, double *b) { *a = lo; *b = hi; if (lo > hi) return 0; for
  (int k = 0; k < 3; k++) { if (*a > 2.5) return k; *a += 0.5; if (*b < *a) return -1; } return 9; }
static int tab(int k) { static const signed char t[] = { -3, 5, 7, -9 }; const int u[2][2] = { { 1, -2 }, {
  3, 4 } }; return t[k & 3] * u[k & 1][k >> 1 & 1]; }
static P mk(int i) { if (i % 3 == 0) return (P){ i, 1 }; P z = { 0.5 * i }; return z; }
static struct q put(struct q v, int i) { v.a[i % 3] += i; v.s = (short)(v.s * 3 + i); return v; }
static void maybe(int *o, int i) { if (i % 4 == 1) return; o[0] = i; while (o[0] > 10) { o[0] -= 7; if
  (o[0] == 12) return; } o[0] += 100; }
static unsigned char narrow(unsigned char c, int d) { c += d; if (c > 200) return c - 300; return c; }
#define N 200
static int v[N], o[N], r2[N]; static double d[N], e[N]; static P p[N]; static struct q s[N]; static const
  int m[4][5] = { { 1, 2, 3, 4, 95 }, { 6, 7, 8, 9, 10 }, { 11, 92, 13, 14, 15 }, { 16, 17, 18, 19, 20 } };
static unsigned char b[N];
int main(void)
{
  for (int i = 0; i < N; i++) { v[i] = i * 7 % 23; d[i] = 0.25 * (i % 17); p[i].x = i % 5; p[i].y = i % 3;
  s[i].s = i; b[i] = i * 3; }
#pragma scop
  for (int i = 0; i < N; i++) p[i] = rot(self(p[i], 1.5));
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) { P a = p[i]; a = rot(a); a = self(a, a.x); P c = a; c.x += 1; p[i].x = a.x +
  c.y; p[i].y = c.x; }
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) o[i] = find(v, 23, i % 29);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) { int w = 77; v[i] = find2(m, i % 22, &w); r2[i] = w; }
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) r2[i] += code(i) + 3 * code(o[i] + 2);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) o[i] += deep(i % 40);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) e[i] = use(d[i]);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) { double a, c; int k = clip(d[i], e[i] * 0.1, &a, &c); d[i] = a + c * k; }
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) v[i] += tab(i);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) { P z = mk(i); e[i] += z.x * 2 + z.y; }
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) s[i] = put(put(s[i], i), 2 * i);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) maybe(&r2[i], i);
#pragma endscop
#pragma scop
  for (int i = 1; i < N; i++) maybe(&v[i - 1], v[i]);
#pragma endscop
#pragma scop
  for (int i = 0; i < N; i++) b[i] = narrow(b[i], i);
#pragma endscop
  for (int i = 0; i < N; i++) printf("%d %d %d %g %g %g %g %d %d %d %d %d\n", v[i], o[i], r2[i], d[i],
  e[i], p[i].x, p[i].y, s[i].a[0], s[i].a[1], s[i].a[2], s[i].s, b[i]);
  return 0;
}
"""


def test_they_compute_the_same(run_c: Callable[..., str]) -> None:
    result = optimize(PROGRAM.encode(), Options())
    assert sum(one.id == "region.transformed" for one in result.remarks) == 13
    text = result.text.decode()
    assert run_c(text, "-fopenmp", name="made") == run_c(PROGRAM, name="plain")


@pytest.mark.parametrize(
    "function",
    [
        "static int calls; static void g(double *p, int i) { if (i > 5) return; calls++; p[0] = calls; }",
        "static void g(double *p, int i) { static int last; last += i; p[0] = last; }",
        "extern volatile int port; static void g(double *p, int i) { while (port) i++; p[0] = i; }",
        "static void g(double *p, int i) { if (p[0] > 5) exit(i); p[0] = i; } ",
        "static double (*h)(int); static void g(double *p, int i) { if (i > 5) return; p[0] = h(i); }",
        "__attribute__((weak)) void g(double *p, int i) { if (i > 5) return; p[0] = i; }",
        "static void g(double *p, int i) { if (i > 5) goto end; p[0] = i; end:; }",
        "static void o(int *); static void g(double *p, int i) { int k = i; o(&k); p[0] = k; }",
        "static void g(double *p, int i) { if (i > 5) return; p[0] = p[-1] + i; }",  # is looked into, and in order
    ],
)
def test_others_stay_in_order(function: str) -> None:
    source = source_of("for (i = 1; i < n; i++) g(&x[i], i);", before=f"void exit(int);\n{function}")
    assert "omp parallel" not in optimize(source, Options()).text.decode()


DRAWN = """
#include <stdio.h>
#define N 900
static inline float draw(unsigned *s)
{ *s = *s * 1664525u + 1013904223u; return (float)(*s >> 8) * (1.0f / 16777216.0f); }
static unsigned seed[N];
struct agents { unsigned *seed; };
static int state[N];
static double at[N];
static void clear(const struct agents *all, int n, double *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++) if (draw(&all->seed[i]) < 0.25) at[i] = 0;
#pragma endscop
}
int main(void)
{
  const double p[3] = {0.3, 0.5, 0.1};
  for (int i = 0; i < N; i++) seed[i] = i * 2654435761u, state[i] = i % 3;
#pragma scop
  for (int i = 0; i < N; i++) {
    if (state[i] == 2) continue;
    if (draw(&seed[i]) < p[state[i]]) state[i] = 2;
    else if (state[i] == 0 && draw(&seed[i]) > 0.5) state[i] = 1;
    at[i] += 2 * draw(&seed[i]) - 1;
  }
#pragma endscop
  clear(&(struct agents){seed}, N, at);
  double sum = 0;
  for (int i = 0; i < N; i++) sum = 0.99 * sum + state[i] + at[i] + seed[i] % 7;
  printf("%a\\n", sum);
}
"""


def test_what_writes_something_else_is_called_in_front_of_a_condition() -> None:
    plain = DRAWN.replace("else if (state[i] == 0 && draw(&seed[i]) > 0.5) state[i] = 1;", "")
    made = optimize(plain.encode(), Options()).text.decode()
    assert "omp parallel for" in made
    for region in made.split("#pragma scop")[1:]:
        assert "draw(" not in region.split("#pragma endscop")[0].split("#else")[0]


def test_so_are_their_results_the_same(run_c: Callable[..., str]) -> None:
    made = optimize(DRAWN.encode(), Options()).text.decode()
    assert run_c(made, "-fopenmp", name="made") == run_c(DRAWN, name="plain")


@pytest.mark.parametrize(
    "expression",
    [
        "draw(&s[i]) - draw(&s[i])",  # C leaves it open which of them is first
        "draw(&s[i]) + s[i]",
        "draw(&s[i]) + other(i)",  # might look at the same
    ],
)
def test_what_the_rest_looks_at_is_not_written_before(expression: str) -> None:
    before = (
        "static float draw(unsigned *s) { *s = *s * 3u + 1u; if (*s > 9u) *s -= 2u; return *s; }\nint other(int);\n"
    )
    source = source_of(f"for (i = 0; i < n; i++) x[i] = {expression};", f"{PARAMS}, unsigned *s", before)
    tu = parse(source, "in.c", Options())
    (region,) = tu.regions
    assert with_called_bodies(tu, region, scope_at(tu, region)).items is region.items


FACES = """
#include <stdio.h>
#include <stdlib.h>
typedef struct { double m, p; } flux;
typedef struct { int nx, ny; double *h, *u, *v; } grid;
static inline flux face(const grid *g, long a, long s, const double *un, double *left, double *right)
{
  const double *h = g->h;
  long b = a + s;
  double hl = h[a] + 0.5 * (h[a] - h[a - s]), hr = h[b] - 0.5 * (h[b + s] - h[b]);
  flux f;
  *left = 0.5 * hl * un[a];
  *right = 0.5 * hr * un[b];
  f.m = hl * un[a] - hr * un[b];
  f.p = hl * hl - hr * hr;
  return f;
}
__attribute__((noinline)) static void step(grid *g, double *r, double *q)
{
  for (int j = 1; j < g->ny - 1; j++)
    for (int i = 1; i < g->nx - 2; i++) {
      long a = (long)j * g->nx + i;
      double left, right;
      flux f = face(g, a, 1, KIND, &left, &right);
      r[a] = f.m + right;
      q[a] = f.p - left;
    }
}
int main(void)
{
  enum { X = 130, Y = 90 };
  grid g = {X, Y, malloc(8 * X * Y), malloc(8 * X * Y), malloc(8 * X * Y)};
  double *r = calloc(X * Y, 8), *q = calloc(X * Y, 8), sum = 0;
  for (int k = 0; k < X * Y; k++) g.h[k] = k % 7, g.u[k] = k % 11 * 0.25, g.v[k] = k % 5 - 0.125;
  step(&g, r, q);
  for (int k = 0; k < X * Y; k++) sum = 0.9 * sum + r[k] - 0.5 * q[k];
  printf("%a\\n", sum);
}
"""


def test_pointers_in_members_are_given_to_functions_that_write_numbers(run_c: Callable[..., str]) -> None:
    source = FACES.replace("KIND", "g->u")
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert "omp parallel for" in text
    assert run_c(text, "-fopenmp", name="made") == run_c(source, name="plain")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("*left = 0.5 * hl * un[a];", "*(char *)left = 1;"),
        ("*left = 0.5 * hl * un[a];", "((grid *)g)->u = left;"),
    ],
)
def test_they_are_not_where_the_function_may_write_the_member(old: str, new: str) -> None:
    source = FACES.replace("KIND", "g->u").replace(old, new)
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert "omp parallel for" not in text[text.index("void step") :]
