"""Variables that hold products of members, as the program finds out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize

COPY = "for (int t = 0; t < g->f; t++) for (int y = 0; y < g->h; y++) for (int x = 0; x < g->w; x++)"
PLANES = f"{COPY} a[t * size + y * g->w + x] = b[(t + 1) * size + y * g->w + x];"


def scop(before: str, body: str = PLANES) -> Scop:
    source = f"""struct grid {{ int f, h, w; long wide; float part; }};
void k(struct grid *g, double *restrict a, double *restrict b) {{
{before}
#pragma scop
{body}
#pragma endscop
}}"""
    tu = parse(source.encode(), "in.c", Options())
    return extract(tu, tu.regions[0], "scop0")


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("int size = g->h * g->w;", PLANES),
        ("const long size = (long)g->w * g->h;", PLANES),
        ("int w = g->w; int size = g->h * g->w;", PLANES.replace("g->w", "w")),
        ("int size = g->h * g->w, all = size * g->f;", f"{PLANES} for (int i = 0; i < all; i++) a[i] += 1;"),
    ],
)
def test_planes_are_planes_of_rows(before: str, body: str) -> None:
    found = scop(before, body)
    assert found.arrays["a"].rank == 3
    assert found.guard is not None
    assert "size_is_product = 1" in str(found.guard.parameters) or "all_is_product = 1" in str(found.guard.parameters)


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("int size = g->h * g->w; size++;", PLANES),
        ("int size = g->h + g->w;", PLANES),
        ("int size = g->h * (int)g->part;", PLANES),
        ("int size = g->h * g->w;", f"g->w = 3; {PLANES}"),
        ("long size = g->h * g->w;", PLANES),  # computed in another type
    ],
)
def test_other_variables_stay(before: str, body: str) -> None:
    assert scop(before, body).arrays["a"].rank < 3


SOURCE = """#include <stdio.h>
typedef struct { int n, w, h; } opts;
static float src[3000], acc[1000], dst[1000];
static void mean(const opts *o, opts *other) {
  int size = o->w * o->h;
  other->w /= 2;
#pragma scop
  for (int p = 0; p < size; p++) acc[p] = 0.5f;
  for (int f = 0; f < o->n; f++)
    for (int y = 0; y < o->h; y++)
      for (int x = 1; x < o->w - 1; x++)
        acc[y * o->w + x] += src[f * size + y * o->w + x - 1] + src[f * size + y * o->w + x + 1];
  for (int p = 0; p < size; p++) dst[p] = acc[p] / size;
#pragma endscop
}
int main(void) {
  for (int i = 0; i < 3000; i++) src[i] = (i * 7 % 31) * 0.3f;
  for (int h = 0; h < 12; h += 5)
    for (int w = 0; w < 20; w += 3) {
      opts o = {3, w, h}, other = o;
      mean(&o, &other);
      mean(&o, &o);
    }
  for (int i = 0; i < 1000; i++) printf("%a %a ", acc[i], dst[i]);
  return 0;
}
"""


def test_results_are_the_same_where_members_change(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert "const int size_is_product = (double)o_w * o_h == size;" in text
    assert "row_1" in text
    assert run_c(text, "-O1", "-ffp-contract=off", name="after") == run_c(SOURCE, "-O1", "-ffp-contract=off", name="b")
