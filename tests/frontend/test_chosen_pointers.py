"""Pointers that are one of several."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.diagnostics import Refusal
from scopt.options import Options
from tests.sources import optimize, scop_of

PARAMS = "int n, int m, double *a, double *b, double *c, const int *flag, double **rows"
SOURCE = """#include <stdio.h>
struct pair { int x, y; };
static inline int mirror(int i, int n) { if (i < 0) return -i; if (i >= n) return 2 * n - 2 - i; return i; }
static void image(int h, int w, const unsigned char *src, const unsigned char *zeros, unsigned char *dst, int *sum) {
#pragma scop
  for (int y = 0; y < h; y++) {
    const unsigned char *row = src + y * w, *up = src + mirror(y - 1, h) * w;
    const unsigned char *down = y + 1 < h ? row + w : row, *prior = y > 0 ? row - w : zeros;
    const unsigned char *next = prior + 1;
    unsigned char *out = dst + y * w;
    for (int x = 0; x < w; x++) out[x] = up[x] + 2 * row[x] + down[x] * 3;
    for (int x = 0; x < w - 1; x++) out[x] -= prior[x] ^ next[x], sum[y] += *prior + (prior + 1)[x];
  }
#pragma endscop
}
static void fields(int n, float *u, float *v, float *w, const int *flag, struct pair *p, struct pair *q) {
#pragma scop
  float *list[3] = {u, v + 1, w};
  for (int c = 0; c < 3; c++) {
    float *f = c == 0 ? v : c < 2 ? w : u;
    for (int i = 1; i < n; i++) f[i] = f[i - 1] * 0.5f + list[c][i], list[0][i] += 0.25f;
  }
  for (int i = 0; i < n; i++) {
    float *f = flag[i] > 1 ? u : v;
    struct pair *r = flag[i] & 1 ? p : q;
    for (int k = 0; k < 4; k++) f[k] += k, r->x += k, r[i].y++;
  }
#pragma endscop
}
int main(void) {
  static unsigned char src[99], zeros[20], dst[99];
  static float u[40], v[40], w[40];
  struct pair p[9] = {{0}}, q[9] = {{0}};
  int sum[9] = {0}, flag[9] = {0, 1, 2, 3, 2, 1, 0, 3, 1};
  for (int i = 0; i < 99; i++) src[i] = i * 7, zeros[i % 20] = i, u[i % 40] = i, v[i % 40] = 3 * i;
  for (int n = 0; n < 9; n++) {
    image(n, 10 - n, src, zeros, dst, sum);
    fields(n, u, v, w, flag, p, q);
  }
  for (int i = 0; i < 99; i++) printf("%d %a %a %a ", dst[i], u[i % 40], v[i % 40], w[i % 40]);
  for (int i = 0; i < 9; i++) printf("%d %d %d %d %d ", sum[i], p[i].x, p[i].y, q[i].x, q[i].y);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("declared", "arrays"),
    [
        ("double *p = i > 0 ? a + i : a", {"a"}),  # one array, at an offset that is chosen
        ("double *p = i > 0 ? a : b", {"a", "b"}),
        ("double *p = flag[i] ? a : b", {"a", "b", "p_is"}),
        ("double *l[2] = {a, b}; double *p = l[i % 2]", {"a", "b"}),
    ],
)
def test_what_is_written(declared: str, arrays: set[str]) -> None:
    made = scop_of(f"for (int i = 0; i < n; i++) {{ {declared}; p[m] += c[i]; }}", params=PARAMS)
    assert {access.array for one in made.statements for access in one.accesses if access.is_write} == arrays


@pytest.mark.parametrize(
    "body",
    [
        "double *p = flag[i] ? a : b; c[i] = p - a;",  # the pointer itself
        "double *p = i ? a : b; p[i] = p[0] = 1;",
        "double *p = i ? a : b; m = 3; p[i] = 1;  p = b; p[1] = 2;",
        "double *p = (flag[i]++) ? a : b; p[i] = 1;",
        "double *l[2] = {a, b}; l[0] = b; l[1][i] = 1;",
    ],
)
def test_other_pointers(body: str) -> None:
    with pytest.raises(Refusal):
        scop_of(f"for (int i = 0; i < n; i++) {{ {body} }}", params=PARAMS)


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert "#pragma scop\n  for" not in text
    assert "*list" not in text
    flags = ("-O1", "-ffp-contract=off")
    assert run_c(text, *flags, name="after") == run_c(SOURCE, *flags, name="before")
