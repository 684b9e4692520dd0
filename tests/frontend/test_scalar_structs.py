"""Structures that regions declare, and compound literals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize, scop_of

BEFORE = """typedef struct { double x, y; } vec;
typedef struct { vec p; int k; } gap;
typedef struct { int next, value; } item;
void g(vec v);
"""
PARAMS = "int n, vec *v, vec *w, gap *q, item *nodes, double *out"
SOURCE = """#include <stdio.h>
typedef struct { double x, y; } vec;
typedef struct { vec p, v; long id, n; } body;
typedef struct { int next, value; } item;
static void f(int n, body *b, vec *w, item *nodes, int *at) {
#pragma scop
  for (int i = 0; i < n; i++) {
    vec a = w[i], c = (vec){a.y, .x = 2};
    body one = {.p = {1, 2}, .id = i}, two;
    two = b[i];
    two.p.x += a.x * c.y;
    if (i & 1) one = two; else one.v = a;
    w[i] = (vec){one.p.x + a.y, w[i].x - one.v.y};
    b[i] = one;
    if (one.n > 3) b[i].v = (vec){.y = one.n};
  }
  for (int i = 0; i < n; i++) {
    item cur = nodes[i % 3];
    cur = nodes[cur.next];
    at[i] = cur.value * 10 + cur.next;
  }
#pragma endscop
}
int main(void) {
  for (int n = 0; n < 9; n++) {
    body b[9];
    vec w[9];
    item nodes[9];
    int at[9] = {0};
    for (int i = 0; i < 9; i++) {
      b[i] = (body){{i, 2 * i}, {i / 3.0, 7}, i, 9 - i}, w[i] = (vec){i * 0.3, n};
      nodes[i] = (item){(i * 2 + 1) % 9, i * i};
    }
    f(n, b, w, nodes, at);
    for (int i = 0; i < 9; i++)
      printf("%a %a %a %ld ", b[i].p.x, b[i].p.y, b[i].v.x, b[i].id), printf("%a %a %d ", w[i].x, w[i].y, at[i]);
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("vec d = v[i]; out[i] = d.x;", ["out"]),
        ("vec d = v[i]; out[i] = d.x * d.x + d.y * d.y;", ["d_x", "d_y", "out"]),
        ("v[i] = (vec){out[i], 1};", ["v__x", "v__y"]),
        ("vec d = {0}; d.y = out[i]; v[i] = d;", ["d_y", "d_y", "v__x", "v__y"]),
        ("gap d = q[i]; out[i] = d.p.y;", ["d", "out"]),  # a copy may take what lies in the gap along
        ("item d = nodes[i]; d = nodes[d.next]; out[i] = d.value;", ["d", "d", "out"]),
    ],
)
def test_members(body: str, written: list[str]) -> None:
    made = scop_of(f"for (int i = 0; i < n; i++) {{ {body} }}", params=PARAMS, before=BEFORE)
    assert [access.array for one in made.statements for access in one.accesses if access.is_write] == written


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert "one_p_x" in text
    flags = ("-O1", "-ffp-contract=off")
    assert run_c(text, *flags, name="after") == run_c(SOURCE, *flags, name="before")
