"""Pointers that loops set once and follow, and cells that bound loops: the program does what it did without scopt."""

from __future__ import annotations

from pathlib import Path

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.differential.control import FLAGS
from tests.fuzz.harness import without_thresholds

BEFORE = """#include <stdio.h>
#include <stddef.h>
typedef struct { double x, y; } vec;
typedef struct { vec pos, vel; double mass; float w[4]; int kind; } body;
typedef struct { int n, cols; body *bodies; body own[40]; double *data; vec centre; } world;
static body many[40];
static double d[1600], e[1600];
static unsigned char image[1600];
static world here;
static int cells[1600], sizes[4];
"""
# function, call
CASES = (
    (
        """void elements(world *s) {
  for (int i = 0; i < s->n; i++) {
    body *b = &s->bodies[i];
    const body *o = s->own + i;
    vec *v = &b->vel;
    v->x += 0.5 * o->mass;
    v->y = b->pos.x * o->w[i % 4] - (*v).y;
    b->kind = o[0].kind + i;
  }
}
""",
        "elements(&here)",
    ),
    (
        """void rows(const world *s, double *y, const double *x) {
  for (int i = 0; i < s->n; i++) {
    const double *row = &s->data[i * s->cols];
    double sum = s->centre.x;
    for (int j = 0; j < s->cols; j++)
      sum += row[j] * x[j];
    y[i] = sum;
  }
}
""",
        "rows(&here, d, e + 1500); rows(&here, e, e + 7)",
    ),
    (
        """void pairs(int n, body *p) {
  for (int i = 0; i < n; i++) {
    body *a = p + i;
    double f = 0;
    for (int j = 0; j < n; j++) {
      const body *b = &p[j];
      f += (b->pos.x - a->pos.x) * b->mass;
    }
    a->vel.x = f;
  }
}
""",
        "pairs(n, many)",
    ),
    (
        """void later(int n, int w, double *a, const double *b) {
  double *row;
  const double *up;
  for (int i = 1; i < n; i++) {
    int at = i * w;
    row = a + at;
    up = b + at - w;
    for (int j = 0; j < w; j++)
      row[j] = up[j] + 0.25 * *(up + w + j);
  }
}
""",
        "later(n, 40, d, e)",
    ),
    (
        """void pixels(int h, int w, unsigned char *restrict out, const double *in) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      unsigned char *px = out + 3 * (y * w + x);
      const double *from = &in[y * w + (w - 1 - x)];
      px[0] = *from;
      px[1] = *from * 3;
      *(px + 2) = px[0] ^ x;
    }
}
""",
        "pixels(n / 2, n / 2, image, e)",
    ),
    (
        """void counted(const int *n, int *a) {
  for (int i = 0; i < n[1]; i++)
    for (int j = 0; j < n[0]; j++)
      a[i * n[0] + j] += j + 1 & 1;
}
""",
        "counted(cells, cells + 100); counted(cells + 4, cells); counted(cells, cells + 6)",
    ),
    (
        """void levels(int k, double *a, const double *b) {
  for (int i = 1; i < sizes[k]; i++)
    for (int j = 0; j < sizes[k + 1]; j++)
      a[i * 40 + j] = b[(i - 1) * 40 + j] + 0.5 * sizes[k];
}
""",
        "levels(n % 3, d, e); levels(n % 2, e, e + 40)",
    ),
)
AFTER = """int main(void) {
  for (int n = 0; n < 40; n += 13) {
    here.n = n, here.cols = 40 - n, here.bodies = many, here.data = e;
    for (int i = 0; i < 40; i++) {
      body b = { { i % 7, i * 0.5 }, { i % 3, 1.5 }, i % 5 + 1, { i, 2, 3, 4 }, i };
      many[i] = here.own[i] = b;
    }
    for (int i = 0; i < 1600; i++) { d[i] = i % 11; e[i] = i % 17 / 3.0; image[i] = i * 7; cells[i] = i * 7 % 5 + 2; }
    for (int i = 0; i < 4; i++) sizes[i] = 20 - 3 * i + n / 13;
    CALLS
    double s = 0;
    for (int i = 0; i < 40; i++) s = s * 0.9 + many[i].vel.x + 3 * many[i].vel.y + many[i].kind + many[i].pos.x;
    for (int i = 0; i < 1600; i++) s = s * 0.99 + d[i] * 3 + e[i] * 5 + image[i] + cells[i];
    printf("%a\\n", s);
  }
}
"""


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    calls = " ".join(f"{call};" for _, call in CASES)
    source = BEFORE + "".join(function for function, _ in CASES) + AFTER.replace("CALLS", calls)
    result = optimize(source.encode(), Options(autodetect=True, eager=True), file=str(tmp_path / "in.c"))
    text = result.text.decode()
    parts = text.split("int main(void)")[0].split("\nvoid ")[1:]
    assert len(parts) == len(CASES)
    assert all("omp parallel for" in part for part in parts)
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")
