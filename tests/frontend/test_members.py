"""Members of structures: which get names before the region, which are arrays of their own, what may overlap."""

from __future__ import annotations

import re

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC

BEFORE = """
typedef struct { double x, y; float v[4]; } vec;
typedef union { float f; unsigned u; } word;
typedef struct { unsigned lo : 4, hi : 4; int w; } bits;
typedef struct { int n; double a[40][40], b[40], sum; double *data; int *index; vec pos; vec *cells; } grid;
typedef struct { int n; unsigned char *data; } image;
extern grid G; extern vec P[100];
"""


def scop_of_function(parameters: str, body: str, *, marked: bool = False, flags: tuple[str, ...] = ()) -> Scop:
    inside = f"#pragma scop\n{body}\n#pragma endscop\n" if marked else f"{body}\n"
    tu = parse(f"{BEFORE}void f({parameters}) {{\n{inside}}}\n".encode(), "in.c", Options(cpp_flags=flags))
    if marked:
        return extract(tu, tu.regions[0], "scop0")
    found = detect(tu)
    if not found.regions:
        raise Refusal(found.remarks[0].id, found.remarks[0].message, found.remarks[0].location)
    return extract(tu, found.regions[0], "scop0")


def test_members_of_elements_are_arrays_of_their_own() -> None:
    scop = scop_of_function(
        "int n, vec *restrict p", "for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) p[i].v[k] = p[i].x;"
    )
    assert {name: array.rank for name, array in scop.arrays.items()} == {"p__v": 2, "p__x": 1}
    assert {array.within for array in scop.arrays.values()} == {"p"}
    assert scop.prologue == ()


def test_members_of_one_object_get_names() -> None:
    scop = scop_of_function("grid *restrict s", "for (int i = 0; i < s->n; i++) s->a[i][0] = s->b[i] + s->data[i];")
    assert scop.prologue == (
        "const int s_n = s->n;",
        "__typeof__(s->a[0]) *s_a = s->a;",
        "double *s_b = s->b;",
        "double *s_data = s->data;",
    )
    assert [parameter.name for parameter in scop.parameters] == ["s_n"]


def test_a_member_that_is_written_is_reached_through_its_address() -> None:
    scop = scop_of_function("grid *restrict s, int n", "for (int i = 0; i < n; i++) s->sum += s->b[i];")
    assert "double *s_sum = &s->sum;" in scop.prologue
    assert scop.arrays["s_sum"].rank == 1


def test_what_a_pointer_in_a_const_structure_leads_to_is_written() -> None:
    scop = scop_of_function("int n, const grid s", "for (int i = 0; i < n; i++) s.data[i] += s.b[i];")
    assert scop.prologue == ("double *s_data = s.data;", "const double *s_b = s.b;")


def test_what_is_read_around_a_load_tells_when_there_is_one() -> None:
    """A matrix product: the loop over k asks for a->n before it loads a->data."""
    body = (
        "for (int i = 0; i < c->n; i++) for (int j = 0; j < c->n; j++) { double t = 0; for (int k = 0; k < a->n; k++)"
        " t += a->data[i * a->n + k] * b->data[k * b->n + j]; c->data[i * c->n + j] = t; }"
    )
    scop = scop_of_function("grid *c, const grid *a, const grid *b", body)
    assert scop.prologue == (
        "const int c_n = c->n;",
        "const int a_n = 0 < c_n ? a->n : 0;",
        "double *a_data = 0 < c_n ? a->data : 0;",
        "double *b_data = 0 < c_n && 0 < a_n ? b->data : 0;",
        "const int b_n = 0 < c_n && 0 < a_n ? b->n : 0;",
        "double *c_data = c->data;",
    )


def test_loads_that_may_not_happen_stand_under_a_condition() -> None:
    scop = scop_of_function(
        "grid *s, int n, double (*restrict x)[40]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < s->n; j++) x[i][j] = 1;",
    )
    assert scop.prologue == ("const int s_n = 0 < n ? s->n : 0;",)


@pytest.mark.parametrize(
    ("outer", "inner", "entered"),
    [
        ("i = 0; i < n; i++", "j = i; j < m; j++", "0 < n && ((int) 0) < m"),
        ("i = 0; i < n; i++", "j = m; j > i; j--", "0 < n && ((int) m) > 0"),
        ("i = 0; i < n; i++", "j = 0; j < i; j++", "0 < n && 0 < n - 1"),
        ("i = 0; i < n; i++", "j = 0; j < i + 1; j++", "0 < n && 0 < n - 1 + 1"),
        ("i = n; i > 0; i--", "j = i; j < m; j++", "((int) n) > 0 && ((int) (0 + 1)) < m"),
        ("i = 0; i < n; i++", "j = 2 * i; j < m; j++", None),  # no iteration is known to be the last one to allow it
        ("i = 0; i < n; i += 2", "j = 0; j < i; j++", None),
        ("i = 0; i < n; i++", "j = i; j < i + m; j++", None),
    ],
)
def test_loads_of_which_one_iteration_decides(outer: str, inner: str, entered: str | None) -> None:
    body = f"for (int {outer}) for (int {inner}) x[i][j] = s->n;"
    scop = scop_of_function("grid *s, int n, int m, double (*restrict x)[40]", body, marked=True)
    assert scop.prologue == (f"const int s_n = {entered} ? s->n : 0;" if entered else "int *s_n = &s->n;",)


def test_loads_that_several_loops_decide_stay_where_they_are() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = i; k < m; k++)"
    scop = scop_of_function("grid *s, int n, int m, double (*restrict x)[40]", f"{loops} x[i][j] = s->n;", marked=True)
    assert scop.prologue == ("int *s_n = &s->n;",)


@pytest.mark.parametrize(
    ("before", "valid"),
    [
        ("int p = s->n;", True),
        ("int p = s->n; s = other;", False),
        ("int p = s->n; done(s);", False),
        ("int p = 0; if (m > 0) p = s->n;", False),
        ("int p = other->n; { grid *s = other; p = s->n; }", False),
    ],
)
def test_a_pointer_that_was_followed_before_is_valid(before: str, valid: bool) -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 2 * i; j < p; j++)"
    text = f"void done(grid *); void f(grid *s, grid *other, int n, int m, double (*restrict x)[40]) {{ {before}\n"
    marked = f"#pragma scop\n{loops} x[i][j] = s->n;\n#pragma endscop\n}}\n"
    tu = parse(f"{BEFORE}{text}{marked}".encode(), "in.c", Options())
    assert extract(tu, tu.regions[0], "scop0").prologue == (
        ("const int s_n = s->n;" if valid else "int *s_n = &s->n;"),
    )


def test_members_and_what_they_lead_to_have_names_of_their_own_in_tests() -> None:
    read = "int l = j; if (l > m) l = m; o->data[i * j + j] = s->data[i * n + l];"
    loops = f"for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {{ {read} }}"
    scop = scop_of_function("const image *s, image *o, int m, int n", loops)
    assert scop.guard is not None
    (test,) = scop.guard.tests
    (head,) = re.findall(r"scopt_apart_\w+\((.*)\)\n", test.definition)
    parameters = re.findall(r"\w+(?=,|$)", head)
    assert "s_data_" in parameters
    assert len(parameters) == len({*parameters})


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        ("if (x[i] > 1) x[i] = s->data[i]; else { x[i] = 3; s->data[i] = 4; }", True),
        ("x[i] = x[i] > 1 ? s->data[i] : s->data[i + 1];", True),
        ("if (x[i] > 1) { if (i) x[i] = s->data[i]; else x[i] = s->data[1]; } else x[i] = s->sum + s->data[2];", True),
        ("int q = 0; for (int k = 0; k < 9; k++) { if (y[k] > i) break; q = k; } x[i] = s->data[i] + q;", True),
        ("if (x[i] > 1) x[i] = s->data[i];", False),
        ("if (x[i] > 1) x[i] = s->data[i]; else for (int k = 0; k < m; k++) x[k] = s->data[i];", False),
        ("x[i] = x[i] > 1 || s->data[i] > 2 ? 1 : s->data[i];", False),
        ("for (int k = 0; k < 9; k++) { if (y[k] > i) break; x[k] = s->data[i]; }", False),
        ("for (int k = 0; k < 9; k++) { if (y[k] > i) goto out; } x[i] = s->data[i]; out:;", False),
    ],
)
def test_one_of_two_branches_is_executed(body: str, *, sure: bool) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ {body} }}"
    text = f"void f(grid *restrict s, int n, int m, double *restrict x, double *restrict y) {{ {loop} }}"
    tu = parse(f"{BEFORE}{text}".encode(), "in.c", Options())
    found = detect(tu)
    whole = [extract(tu, one, "scop0") for one in found.regions if one.first == 0 and one.parent is one.function.body]
    prologues = [line for scop in whole for line in scop.prologue]
    assert any(line.endswith("= 0 < n ? s->data : 0;") for line in prologues) == sure


def test_loads_behind_a_jump_stay_where_they_are() -> None:
    body = "for (int i = 0; i < n; i++) { if (x[i] > 1) continue; x[i] = s->b[0] + s->data[0]; }"
    with pytest.raises(Refusal):
        scop_of_function("grid *s, int n, double *restrict x", body, marked=True)


def test_jumps_of_loops_inside_leave_only_these() -> None:
    inner = "for (int k = 0; k < n; k++) { if (x[i] > k) break; x[i] += 2; }"
    loop = f"for (int i = 0; i < n; i++) {{ x[i] = 0; {inner} x[i] += s->data[i]; }}"
    assert scop_of_function("grid *s, int n, double *restrict x", loop).prologue == (
        "double *s_data = 0 < n ? s->data : 0;",
    )


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { p[i].f = 1; p[i].u = 2; }",
        "for (int i = 0; i < n; i++) { q[i].lo = 1; q[i].hi = 2; }",
        "for (int i = 0; i < n; i++) { r[i].x = 1; r[i] = r[i + 1]; }",
    ],
)
def test_shared_bytes_are_one_cell(body: str) -> None:
    scop = scop_of_function("int n, word *restrict p, bits *restrict q, vec *restrict r", body)
    assert len(scop.arrays) == 1
    assert {
        access.kind for statement in scop.statements for access in statement.accesses if access.node is not None
    } & {"may-write"}


def test_a_local_structure_is_one_private_cell() -> None:
    body = "for (int i = 0; i < n; i++) { vec d; d.x = r[i].x; d.y = r[i].y; r[i].x = d.x * d.y; }"
    scop = scop_of_function("int n, vec *restrict r", body)
    assert scop.arrays["d"].private
    assert scop.arrays["d"].rank == 0


def test_a_pointer_that_is_subscripted_and_followed_is_one_array() -> None:
    scop = scop_of_function("int n, vec *restrict p", "for (int i = 0; i < n; i++) p[i].x = p->x;")
    assert list(scop.arrays) == ["p__x"]


@pytest.mark.parametrize(
    ("parameters", "body", "tested"),
    [
        ("int n, vec *p, vec *q", "for (int i = 0; i < n; i++) p[i].x = q[i].x;", True),
        ("int n, vec *p, vec *q", "for (int i = 0; i < n; i++) p[i].x = q[i].y;", False),
        ("int n, double *p, float *q", "for (int i = 0; i < n; i++) p[i] = q[i];", False),
        ("int n, double *p, char *q", "for (int i = 0; i < n; i++) p[i] = q[i];", True),
        ("int *a, grid *s", "for (int i = 0; i < s->n; i++) a[i] = 1;", True),
        ("double *a, grid *s", "for (int i = 0; i < s->n; i++) a[i] = 1;", False),
        ("grid *s", "for (int i = 0; i < s->n; i++) s->b[i] = s->sum;", False),
        ("grid *s", "for (int i = 0; i < s->n; i++) s->data[i] = s->b[i];", True),
        ("void", "for (int i = 0; i < 100; i++) P[i].x = G.b[0];", False),
    ],
)
def test_what_may_overlap_is_tested(parameters: str, body: str, tested: bool) -> None:
    assert (scop_of_function(parameters, body).guard is not None) == tested


def test_without_strict_aliasing_types_tell_nothing_apart() -> None:
    body = "for (int i = 0; i < n; i++) p[i] = q[i];"
    assert scop_of_function("int n, double *p, float *q", body, flags=("-fno-strict-aliasing",)).guard is not None
    words = f"typedef int word __attribute__((may_alias)); void f(int n, word *p, float *q) {{ {body} }}"
    tu = parse(words.encode(), "in.c", Options())
    assert extract(tu, detect(tu).regions[0], "scop0").guard is not None


def test_volatile_structures_are_refused() -> None:
    with pytest.raises(Refusal) as caught:
        scop_of_function("int n, volatile vec *p", "for (int i = 0; i < n; i++) p[i].x = 1;", marked=True)
    assert caught.value.remark.id == "access.volatile"


ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s->data[i * s->n + j] = s->data[(i + 1) * s->n + j];"


@pytest.mark.parametrize("before", ["int n = s->n;", "long n = s->n;", "unsigned long n = (unsigned)s->n;"])
def test_copies_of_members_take_their_place(before: str) -> None:
    scop = scop_of_function("grid *s", f"{before} {ROWS}")
    assert "const int s_n = s->n;" in scop.prologue
    assert scop.arrays["s_data"].rank == 2
    assert scop.guard is not None
    assert _are_equal(scop)


@pytest.mark.parametrize("before", ["char n = s->n;", "int n = s->n; s->n = 2;", "int n = P[0].y;"])
def test_other_variables_are_no_copies(before: str) -> None:
    assert not _are_equal(scop_of_function("grid *s", f"{before} {ROWS}"))


def _are_equal(scop: Scop) -> bool:
    """Whether the program asks for that."""
    asked = str(scop.guard.parameters) if scop.guard is not None else ""
    return "s_n = n" in asked or "n = s_n" in asked


def test_rows_in_front_are_found_by_a_copy_of_another_type(run_c: RunC) -> None:
    """Sums for both sides of the faces between rows."""
    source = """#include <stddef.h>
    #include <stdio.h>
    #include <stdlib.h>
    typedef struct { int nx, ny, stride; double *h, *u, *v; } grid;
    #define AT(g, i, j) ((size_t)((j) + 1) * (size_t)(g)->stride + (size_t)((i) + 1))
    __attribute__((noinline)) void faces(grid *g, double *r) {
      const size_t row = (size_t)g->stride;
      for (int j = -1; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
          size_t a = AT(g, i, j), b = a + row;
          double m = 0.5 * (g->h[a] + g->h[b]) * (g->u[a] - g->u[b]);
          r[a] -= m;
          r[b] += m * g->v[a];
        }
    }
    int main(void) {
      for (int most = 1; most < 90; most += 22) {
        grid g = {most, 70, most + 2, malloc(80000), malloc(80000), malloc(80000)};
        double *r = calloc(10000, 8), sum = 0;
        for (int k = 0; k < 10000; k++) g.h[k] = k % 7, g.u[k] = k % 11 * 0.25, g.v[k] = k % 5 - 0.125;
        faces(&g, r);
        for (int k = 0; k < 72 * g.stride; k++) sum = 0.9 * sum + r[k];
        printf("%a\\n", sum);
      }
    }
    """
    made = optimize(source.encode(), Options(autodetect=True))
    text = made.text.decode()
    assert "g_stride == (long)row" in " ".join(text.split()) or "(long)row == g_stride" in " ".join(text.split())
    assert "omp simd" in text
    assert run_c(text, "-fopenmp", name="made") == run_c(source, name="plain")


@pytest.mark.parametrize(
    ("heads", "condition", "test"),
    [
        (("j = 1 + ((i + c) & 1); j < m; j += 2", ""), "1 < n && ((int) (1 + (1 + c & 1))) < m", True),
        (("j = 1 + (i & 1); j < m; j += 2", ""), "1 < n && 2 < m", True),
        (("j = 1; j < m; j++", "if ((i + j) % 2 == c)"), "1 < n && 1 < m && (0 == c || 2 < m && 1 == c)", True),
        (("j = 1; j < m; j++", "if (c > 3)"), "1 < n && 1 < m && c > 3", False),
        (("j = 1; j < m; j++", "if (b[j] > 3)"), None, False),
        (("j = 1; j < m; j++", "if (j % 2 == 0) if (j % 2 == 1)"), None, False),
    ],
)
def test_first_iterations_reach_members(heads: tuple[str, str], condition: str | None, test: bool) -> None:
    """What isn't surely reached is loaded where the first iteration gets there, or the second of the inner loop; the
    region asks for that where it may be reached otherwise, too."""
    loops = f"for (int i = 1; i < n; i++) for (int {heads[0]}) {heads[1]} b[j] = g->data[j] + i;"
    parameters = "grid *g, double *b, int n, int m, int c"
    if condition is None:
        with pytest.raises(Refusal, match=r"access\."):
            scop_of_function(parameters, loops)
        return
    scop = scop_of_function(parameters, loops)
    loaded = [line for line in scop.prologue if "g_data" in line]
    assert loaded == [f"double *g_data = {condition} ? g->data : 0;"]
    assert any(remark.id == "assume.values" for remark in scop.assumptions) == test
