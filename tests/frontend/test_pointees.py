"""What the file shows that pointers lead to."""

from __future__ import annotations

import pytest

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.frontend.syntax.pointees import Pointees
from scopt.frontend.syntax.stored_pointers import stored_pointers
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.options import Options
from tests.sources import optimize

BEFORE = """#include <stdlib.h>
static double *u, *v; double *w; static double A[9], B[9][9]; static double *kept, *stepped;
static double *fresh(int n) { double *p = malloc(n); if (!p) exit(1); return p; }
static double *cached(int n) { static double *p; if (!p) p = malloc(n); return p; }
static double *same(double *p) { return p; }
static double *registered(int n) { double *p = malloc(n); kept = p; return p; }
static void keep(double *p) { kept = p; }
static double *given(int n) { double *p = malloc(n); keep(p); return p; }
static double *shared(void) { return A; }
double *visible(int n) { double *p = malloc(n); return p; }
void unknown(double **p);
static void set(void) { u = malloc(8); v = malloc(8); w = malloc(8); stepped = malloc(8); stepped++; stepped += 3; }
struct box { double *p, own[9]; };
"""


def are_apart(body: str, more: str = "") -> bool:
    """Whether what `f` gets is."""
    text = f"{BEFORE}static void f(double *a, double *b) {{ a[0] = b[0]; }}\n{more}\nvoid g(int n) {{ {body} }}\n"
    tu = parse(text.encode(), "in.c", Options())
    return Pointees.of(tu.ast, tu.defined_functions).are_apart(tu.functions["f"], "a", "b")


@pytest.mark.parametrize(
    "body",
    [
        "double *p = malloc(n), *q = malloc(n); f(p, q);",
        "double *p, *q; p = (double *)malloc(n); q = calloc(n, 8); f(p + 3, &q[n]); f(p, q - n);",
        "double *p = fresh(n), *q = fresh(n); f(p, q);",
        "double *p = registered(n), *q = fresh(n); f(q, p);",
        "double *p = fresh(n); registered(n); f(p, kept);",
        "double *p = fresh(n), *q = fresh(n); p += n; q++; f(p, q);",
        "double *p = NULL, *q = fresh(n); if (n) p = fresh(n); f(p, q);",
        "f(A, B[2]); f(A + 1, &B[n][3]);",
        "double p[9], *q = fresh(n); f(p, q); f(&p[2], A);",
        "set(); f(u, v); f(u, stepped);",
        "double *p = n ? A : B[0], *q = fresh(n); f(p, q);",
    ],
)
def test_apart(body: str) -> None:
    assert are_apart(body)


@pytest.mark.parametrize(
    "body",
    [
        "double *p = malloc(n); f(p, p);",
        "double *p = malloc(n), *q = p + 3; f(p, q);",
        "double *p = malloc(n), *q = malloc(n); f(p, q); f(q, p);",
        "double *p = malloc(n), *q = malloc(n), *t = p; p = q; q = t; f(p, q);",
        "double *p = cached(n), *q = cached(n); f(p, q);",
        "double *p = fresh(n), *q = same(p); f(p, q);",
        "double *p = visible(n), *q = visible(n); f(p, q);",
        "double *p = fresh(n), *q = fresh(n); unknown(&p); f(p, q);",
        "double *p = fresh(n), *q = fresh(n); *(long *)&p = 3; f(p, q);",
        "set(); f(u, w);",
        "set(); f(u, u);",
        "set(); f(u, v); u = v;",
        "double *p = registered(n); f(p, kept);",
        "double *p = given(n); f(p, kept);",
        "{ double *u = fresh(n); (void)u; } double *q = fresh(n); u = q; f(u, q);",
        "{ double A[9]; (void)A; } f(A, &A[2]); f(A, shared());",
        "f(A, A + 3);",
        "f(B[1], B[2]);",
        "struct box s; s.p = fresh(n); f(s.p, A);",
        "struct box s; f(s.own, A);",
        "double *p = fresh(n), *t[2] = {p, p}; f(t[0], t[1]);",
        "double *p = fresh(n); f(p, n + p);",
        "double *p = fresh(n), *q = fresh(n); { double *p = q; f(p, q); }",
        "double *p = fresh(n), *q = fresh(n); f(p, q); void (*h)(double *, double *) = f; h(p, p);",
        "double *p = fresh(n); f(p, (double *)n);",
        "double *p = fresh(n), *q = realloc(p, n); f(p, q);",
        "double *x; for (int i = 0; i < n; i++) { double *p = fresh(n); if (i) f(p, x); x = p; }",
    ],
)
def test_perhaps_not_apart(body: str) -> None:
    assert not are_apart(body)


def test_through_functions() -> None:
    twice = "static void h(double *x, double *y, double *z) { f(x, y); f(x, z); }"
    assert are_apart("double *p = fresh(n); h(p, A, B[0]);", twice)
    assert not are_apart("double *p = fresh(n); h(p, A, B[0]); h(A, B[0], A);", twice)


def test_recursion() -> None:
    again = "static void h(double *x, double *y, int n) { if (n) h(x + 1, y, n - 1); f(x, y); }"
    assert are_apart("double *p = fresh(n); h(p, A, n);", again)
    swapped = again.replace("h(x + 1, y", "h(y, x")
    assert not are_apart("double *p = fresh(n); h(p, A, n);", swapped)


def test_functions_of_other_files_may_call() -> None:
    text = "static double A[9], B[9]; void f(double *a, double *b) { a[0] = b[0]; } void g(void) { f(A, B); }"
    tu = parse(text.encode(), "in.c", Options())
    assert not Pointees.of(tu.ast, tu.defined_functions).are_apart(tu.functions["f"], "a", "b")


def test_parameters_hide_what_the_file_calls_by_their_names() -> None:
    hiding = "static void h(double *A, double *u) { f(A, u); }"
    assert are_apart("double *p = malloc(n); h(p, A);", hiding)
    assert not are_apart("h(A, A);", hiding)


def test_what_changes_in_the_function() -> None:
    text = "static double A[9], B[9]; static void f(double *a, double *b) { a = b; } void g(void) { f(A, B); }"
    tu = parse(text.encode(), "in.c", Options())
    assert not Pointees.of(tu.ast, tu.defined_functions).are_apart(tu.functions["f"], "a", "b")


@pytest.mark.parametrize(("second", "tested"), [("p", False), ("q", True)])
def test_gathered_reads_need_no_test_where_vectors_are_apart(second: str, tested: bool) -> None:
    """What a sparse product reads of its vector is looked at otherwise."""
    source = f"""#include <stdlib.h>
    typedef struct {{ int n, *first, *column; double *value; }} matrix;
    static void product(const matrix *a, const double *x, double *y) {{
      for (int i = 0; i < a->n; i++) {{
        double s = 0;
        for (int k = a->first[i]; k < a->first[i + 1]; k++) s += a->value[k] * x[a->column[k]];
        y[i] = s;
      }}
    }}
    void run(const matrix *a, int n) {{
      double *p = malloc(n * 8), *q = malloc(n * 8), *r = malloc(n * 8);
      product(a, p, q);
      product(a, {second}, r);
    }}"""
    text = optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert ("a_column[k] < low" in text) is tested


def test_a_name_that_means_two_things() -> None:
    """A block's variable hides one of the file's there, and nowhere else."""
    text = """#include <stdlib.h>
    static double *u;
    static void h(double *a) { if (a) { double *u = malloc(8); free(u); } a[0] = u[0]; }
    void g(int n) { double *p = malloc(n); u = p; h(p); }"""
    tu = parse(text.encode(), "in.c", Options())
    assert not Pointees.of(tu.ast, tu.defined_functions).are_apart(tu.functions["h"], "a", "u")


@pytest.mark.parametrize(
    ("declared", "more", "tested"),
    [
        ("static double", "", False),  # nothing points to it
        ("double", "", True),
        ("static double", "double *g(void) { return &scale; }", True),
        ("static double", "static double *const kept[] = { &scale };", True),
        ("extern const double", "double const *g(void) { return &scale; }", False),  # nothing is stored there
    ],
)
def test_what_pointers_may_write(declared: str, more: str, tested: bool) -> None:
    """Only numbers that may be written through a pointer are told apart from what a region writes."""
    text = f"{declared} scale;\n{more}\nvoid f(int n, double *a) {{ for (int i = 0; i < n; i++) a[i] *= scale; }}\n"
    tu = parse(text.encode(), "f.c", Options(autodetect=True))
    guard = extract(tu, find_autodetected(tu)[0], "scop0").guard
    assert bool(guard is not None and guard.apart) is tested


WHOLE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef double ***cube;
struct grid { int n; double *u, *v, **m; cube c, d; };
static void *must(void *p) { if (!p) { puts("no"); exit(1); } return p; }
static cube cube_new(int n) {
  cube c = malloc(n * sizeof *c);
  for (int i = 0; i < n; i++) {
    c[i] = malloc(n * sizeof **c);
    for (int j = 0; j < n; j++) c[i][j] = calloc(n, 8);
  }
  return c;
}
static void f(double *a, double *b) { a[0] = b[0]; }
static void g(cube x, cube y) { x[0][0][0] = y[0][0][0]; }
static double *other;
"""


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        ("struct grid s; s.u = must(malloc(8)); s.v = must(malloc(8)); f(s.u, s.v);", True),
        ("double *p = must(malloc(8)), *q = must(malloc(8)); f(p, q);", True),
        ("struct grid s = {1, malloc(8), malloc(8)}; struct grid t = s; f(t.u, s.v);", True),
        ("struct grid s = {.v = malloc(8), .u = malloc(8)}; f(s.u, s.v);", True),
        ("struct grid s; double *p = malloc(8); s.u = p; s.v = malloc(8); f(p, s.v);", True),
        ("struct grid s; double *p = malloc(8); s.u = p; f(p, s.u);", False),
        ("struct grid s; double **p = &s.u; s.v = malloc(8); *p = s.v; f(s.u, s.v);", False),
        ("struct grid s; s.u = malloc(8); s.v = malloc(8); double *t = s.u; s.u = s.v; s.v = t; f(s.u, s.v);", False),
        ("struct grid s, t; s.u = malloc(8); t.v = malloc(8); memcpy(&t, &s, sizeof s); f(s.u, t.v);", False),
        ("struct grid s; s.u = s.v = malloc(8); f(s.u, s.v);", False),
        ("struct grid s; s.u = malloc(8); s.v = must(s.u); f(s.u, s.v);", False),
        ("struct grid s; s.u = malloc(8); *(void **)&s.v = s.u; s.v = malloc(8); f(s.u, s.v);", False),
        ("struct grid s; s.u = malloc(8); s.v = malloc(8); unknown(&s); f(s.u, s.v);", False),
    ],
)
def test_what_members_of_a_whole_program_lead_to(body: str, apart: bool) -> None:
    pointees, tu = _pointees(body)
    assert pointees.are_apart(tu.functions["f"], "a", "b") is apart


KINDS = [(True, 64, 1), (True, 64, 2)]


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        ("struct grid s; s.c = cube_new(n); s.d = cube_new(n); g(s.c, s.d);", True),
        ("struct grid s; cube *all[] = {&s.c, &s.d}; *all[0] = cube_new(n); *all[1] = cube_new(n); g(s.c, s.d);", True),
        ("struct grid s; s.c = cube_new(n); s.d = s.c; g(s.c, s.d);", False),
        ("struct grid s; s.c = cube_new(n); s.d = cube_new(n); s.c[0] = s.d[0]; g(s.c, s.d);", False),
        ("struct grid s; s.c = cube_new(n); s.d = cube_new(n); s.c[0][0] = s.d[0][0] + 1; g(s.c, s.d);", False),
        ("struct grid s; s.c = cube_new(n); s.d = cube_new(n); qsort(s.c, n, 8, 0); g(s.c, s.d);", False),
        ("cube p = cube_new(n), q = cube_new(n); g(p, q);", True),
        ("cube p = cube_new(n); g(p, p);", False),
    ],
)
def test_rows_that_were_allocated_one_by_one(body: str, apart: bool) -> None:
    pointees, tu = _pointees(body)
    assert pointees.rows_are_apart(tu.functions["g"], "x", "y", KINDS) is apart
    owned = "s.c[0]" not in body and "qsort" not in body
    assert pointees.rows_are_apart(tu.functions["g"], "x", "x", KINDS) is owned


def _pointees(body: str) -> tuple[Pointees, TranslationUnit]:
    tu = parse(f"{WHOLE}int main(int n, char **v) {{ {body} return 0; }}\n".encode(), "in.c", Options())
    return Pointees.of(tu.ast, tu.defined_functions - tu.library_functions, stored_pointers(tu)), tu
