"""Arrays that are reached through structures in structures, elements of arrays of structures, and functions and macros
that lead there: loops become what they are with arrays that have names, and every bit stays the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.differential.control import FLAGS
from tests.fuzz.harness import without_thresholds

BEFORE = """#include <math.h>
#include <stdio.h>
#include <stddef.h>
typedef struct { int nx, ny, stride; double *a; double **row; } grid;
typedef struct { grid u, v; grid lev[4]; double dt; } fields;
typedef struct { fields f; fields *next; grid *gs[3]; struct { double *x, *y; int n; } part; } sim;
#define IX(g, i, j) ((i) * (g)->stride + (j))
#define AT(g, i, j) ((g)->a[IX(g, i, j)])
#define CELL(g, i, j) (*cell(&(g), i, j))
#define GRID(s, k) (&(s)->f.lev[k])
static inline double *cell(grid *g, int i, int j) { return &g->a[i * g->stride + j]; }
static inline double *rowp(const grid *g, int i) { return g->a + (size_t)i * g->stride; }
static inline grid *ug(sim *s) { return &s->f.u; }
static inline const grid *level(const sim *s, int k) { return &s->f.lev[k]; }
static double steps;
"""
CASES = {
    "macro of addresses": "for (int i = 1; i < s->f.u.nx - 1; i++) for (int j = 1; j < s->f.u.ny - 1; j++)"
    " AT(&s->f.v, i, j) = AT(&s->f.u, i - 1, j) + 2 * AT(&s->f.u, i, j + 1);",
    "function of addresses": "for (int i = 1; i < s->f.u.nx - 1; i++) for (int j = 1; j < s->f.u.ny - 1; j++)"
    " CELL(s->f.v, i, j) = CELL(s->f.u, i - 1, j) - CELL(s->f.u, i + 1, j);",
    "rows": "for (int i = 1; i < s->f.u.nx - 1; i++) { const double *up = rowp(&s->f.u, i - 1);"
    " double *o = rowp(&s->f.v, i); for (int j = 1; j < s->f.u.ny - 1; j++) o[j] = up[j] + up[j + 1]; }",
    "functions that lead there": "for (int i = 1; i < ug(s)->nx - 1; i++) for (int j = 1; j < ug(s)->ny - 1; j++)"
    " AT(ug(s), i, j) = AT(level(s, 1), i, j) * 0.5;",
    "elements": "for (int i = 1; i < s->f.lev[k].nx - 1; i++) for (int j = 1; j < s->f.lev[k].ny - 1; j++)"
    " AT(GRID(s, k), i, j) = AT(GRID(s, k + 1), i, j) + i;",
    "pointers in arrays": "for (int i = 1; i < s->gs[0]->nx; i++) for (int j = 1; j < s->gs[0]->ny; j++)"
    " AT(s->gs[1], i, j) = sqrt(AT(s->gs[0], i, j) + 9);",
    "pointers in structures": "for (int i = 1; i < s->next->u.nx; i++) for (int j = 1; j < s->next->u.ny; j++)"
    " AT(&s->next->v, i, j) = AT(&s->next->u, i, j) - 1;",
    "structures of arrays": "for (int i = 0; i < s->part.n; i++) { double r = s->part.x[i] + s->part.y[i];"
    " s->part.x[i] = r; s->part.y[i] -= r; }",
    "red and black": "grid *g = &s->f.u; const grid *h = &s->f.v; for (int i = 1; i < g->nx - 1; i++)"
    " for (int j = 1 + ((i + k) & 1); j < g->ny - 1; j += 2) AT(g, i, j) = 0.25 * (AT(g, i - 1, j)"
    " + AT(g, i + 1, j) + AT(g, i, j - 1) + AT(g, i, j + 1)) - AT(h, i, j);",
    "by a condition": "grid *g = &s->f.u; const grid *h = &s->f.v; for (int i = 1; i < g->nx - 1; i++)"
    " for (int j = 1; j < g->ny - 1; j++) if ((i + j) % 2 == k) AT(g, i, j) = 0.25 * (AT(g, i - 1, j)"
    " + AT(g, i + 1, j) + AT(g, i, j - 1) + AT(g, i, j + 1)) - AT(h, i, j);",
}
AFTER = """static double cells[16][1600], *rows[16][40];
int main(void) {
  static sim one; static fields more;
  grid *all[] = { &one.f.u, &one.f.v, one.f.lev, one.f.lev + 1, one.f.lev + 2, one.f.lev + 3, &more.u, &more.v };
  one.next = &more; one.gs[0] = &more.lev[0]; one.gs[1] = &more.lev[1]; one.gs[2] = 0;
  one.part.x = cells[14]; one.part.y = cells[15]; one.part.n = 1600;
  for (int n = 1; n < 40; n += 6) {
    for (int k = 0; k < 8; k++) *all[k] = (grid){ n, n > 20 ? n - 5 : n, 40, cells[k], rows[k] };
    for (int k = 0; k < 2; k++) *one.gs[k] = (grid){ n, n, 40, cells[k + 8], rows[k + 8] };
    for (int k = 0; k < 16; k++) for (int i = 0; i < 1600; i++) cells[k][i] = (i * (k + 3)) % 17 / 3.0;
    for (int k = 0; k < 2; k++) { CALLS }
    double s = 0;
    for (int k = 0; k < 16; k++) for (int i = 0; i < 1600; i++) s = s * 0.99 + cells[k][i];
    printf("%a\\n", s);
  }
}
"""


def source_of(bodies: dict[str, str]) -> str:
    functions = (f"static void run{k}(sim *s, int k) {{\n{body}\n}}\n" for k, body in enumerate(bodies.values()))
    calls = " ".join(f"run{k}(&one, k);" for k in range(len(bodies)))
    return BEFORE + "".join(functions) + AFTER.replace("CALLS", calls)


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    source = source_of(CASES)
    result = optimize(source.encode(), Options(autodetect=True, eager=True), file=str(tmp_path / "in.c"))
    lines = {remark.location.line for remark in result.remarks if remark.id == "region.transformed"}
    written = {source[: source.index(body)].count("\n") + 1 for body in CASES.values()}
    assert written <= lines
    text = result.text.decode()
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 1; i < 9; i++) { s->f.lev[k].ny = i; AT(&s->f.lev[k], i, 1) = AT(&s->f.lev[1], i, 2); }",
        "for (int l = 0; l < 3; l++) AT(&s->f.lev[l], 0, 1) = AT(&s->f.lev[k], 1, 1);",
        "for (int i = 1; i < 9; i++) { s->gs[1] = s->gs[0]; s->gs[1]->a[i] = 1; }",
    ],
)
def test_places_that_change_have_no_names(body: str) -> None:
    text = optimize(source_of({"one": body}).encode(), Options(autodetect=True, eager=True), file="in.c").text.decode()
    assert "s_f_lev_k" not in text
    assert "s_gs_1" not in text
