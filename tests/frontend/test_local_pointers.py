"""Pointers that a region sets once and follows: what stands in their place, and when they stay."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options

BEFORE = """
typedef struct { double x, y, z; } vec;
typedef struct { vec pos, vel; double mass; float w[4]; } body;
typedef struct { int n, rows, cols; body *bodies; body own[50]; double *data; vec centre; } world;
typedef const double *row_t;
double M[40][30]; int count;
double g(double);
"""
PARAMETERS = "world *s, int n, int m, double *restrict a, double *restrict b, body *restrict p, int *restrict x"


def scop(body: str) -> Scop:
    tu = parse(f"{BEFORE}void f({PARAMETERS}) {{\n{body}\n}}\n".encode(), "in.c", Options())
    found = detect(tu)
    whole = [region for region in found.regions if region.parent is region.function.body]
    if not whole:
        raise Refusal(found.remarks[0].id, found.remarks[0].message, found.remarks[0].location)
    return extract(tu, whole[0], "scop0")


def accesses(body: str) -> set[str]:
    """The arrays that a region reads and writes, with their ranks."""
    return {f"{name}/{array.rank}" for name, array in scop(body).arrays.items()}


ROWS, COLUMNS = "for (int i = 0; i < n; i++)", "for (int j = 0; j < m; j++)"


@pytest.mark.parametrize(
    ("body", "arrays"),
    [
        (
            f"{ROWS} {{ body *q = &p[i]; q->mass = q->pos.x + (*q).vel.y + q[0].w[2]; }}",
            {"p__mass/1", "p__pos__x/1", "p__vel__y/1", "p__w/2"},
        ),
        (f"{ROWS} {{ const body *q = p + i; a[i] = q->mass; }}", {"p__mass/1", "a/1"}),
        (f"{ROWS} {{ const float *q = p[i].w; a[i] = q[1] + q[2]; }}", {"p__w/2", "a/1"}),
        (
            f"{ROWS} {{ body *q = &p[i]; vec *v = &q->pos; v->x = a[i]; (*v).y = v[0].z; }}",
            {"p__pos__x/1", "p__pos__y/1", "p__pos__z/1", "a/1"},
        ),
        (f"{ROWS} {{ body *q = &s->bodies[i]; q->mass = a[i]; }}", {"s_bodies__mass/1", "a/1"}),
        (f"{ROWS} {{ body *q = &s->own[i]; q->mass = a[i]; }}", {"s_own__mass/1", "a/1"}),
        (
            "for (int i = 0; i < s->n; i++) { const body *q = s->bodies + i; a[i] = q->mass; }",
            {"s_bodies__mass/1", "a/1"},
        ),
        (f"{ROWS} {{ vec *c = &s->centre; a[i] = c->x; }}", {"a/1", "s_centre_x/0"}),
        (f"{ROWS} {{ double *r = &s->data[i * s->cols]; for (int j = 0; j < s->cols; j++) r[j] = 0; }}", {"s_data/2"}),
        (f"{ROWS} {{ double *r; r = a + i * m; {COLUMNS} r[j] = 0; }}", {"a/2"}),
        (f"double *r; {ROWS} {{ r = a + i * m; {COLUMNS} r[j] = 0; }}", {"a/2"}),
        (f"{ROWS} {{ row_t r = M[i]; b[i] = r[3] + *(r + 4); }}", {"M/2", "b/1"}),
        (f"{ROWS} {{ int k = i * m; double *r = a + k; {COLUMNS} r[j] = 0; }}", {"a/2"}),
        (
            f"{ROWS} {{ double *r = a + i * m, *t = r + 1; for (int j = 0; j < m - 1; j++) t[j] = b[j]; }}",
            {"a/2", "b/1"},
        ),
    ],
)
def test_what_they_lead_to_takes_their_place(body: str, arrays: set[str]) -> None:
    assert accesses(body) == arrays


@pytest.mark.parametrize(
    "body",
    [
        f"{ROWS} {{ double *r = a + i; r[0] = 0; r = b; r[1] = 0; }}",
        f"{ROWS} {{ int k = i; double *r = a + k; k = 3; r[0] = k; }}",
        f"{ROWS} {{ double *r = a + count; count = i; r[1] = 0; }}",
        f"{ROWS} {{ double *r = a + i; {{ double **t = &r; a[i] = 0; }} r[1] = 0; }}",
        f"{ROWS} {{ float *r = (float *)a + i; r[0] = 0; }}",
        f"{ROWS} {{ volatile double *r = a + i; r[0] = 0; }}",
        f"{ROWS} {{ double *volatile r = a + i; r[0] = 0; }}",
        f"{ROWS} {{ static double *r = M[0]; r[i] = 0; }}",
        f"{ROWS} {{ double *r = s->data; s->data = b; r[i] = 0; }}",
        f"{ROWS} {{ vec *v = &p[i].pos; v[1].x = 0; }}",
        f"{ROWS} {{ vec *v = &s->bodies[x[i]].pos; x[i] = 1; v->x = 0; }}",
    ],
)
def test_what_may_change_stays(body: str) -> None:
    with pytest.raises(Refusal):
        scop(body)


def test_what_is_read_behind_the_region_stays() -> None:
    body = f"double *r = b; {ROWS} {{ r = a + i * m; {COLUMNS} r[j] = 0; }} r[2] = 1;"
    with pytest.raises(Refusal):
        scop(body)


def test_a_value_of_another_iteration_stays() -> None:
    with pytest.raises(Refusal):
        scop(f"double *r = b; {ROWS} {{ b[i] = r[2]; r = a + i * m; }}")


def test_members_of_the_same_type_are_tested() -> None:
    body = "for (int i = 0; i < s->n; i++) { int *r = &y[i]; r[0] = 0; }"
    tu = parse(f"{BEFORE}void f(world *s, int *y) {{ {body} }}\n".encode(), "in.c", Options())
    made = extract(tu, detect(tu).regions[0], "scop0")
    assert "assume.apart" in [remark.id for remark in made.assumptions]
