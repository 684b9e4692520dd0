"""Extraction: what becomes a SCoP, and what is refused with which remark."""

from __future__ import annotations

import re
from pathlib import Path

import islpy as isl
import pytest

from scopt import ir
from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.pipeline import optimize


def scop_of(body: str, params: str = "int n, double A[100][100], double *x", before: str = "") -> Scop:
    """The SCoP of a marked region in a function with these parameters."""
    source = f"{before}\nvoid f({params}) {{\n  int i, j, k;\n  double s;\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    tu = parse(source.encode(), "in.c", Options())
    assert not tu.remarks
    return extract(tu, tu.regions[0], "scop0")


def domain(body: str, statement: str = "S0", **kwargs: str) -> isl.Set:
    return scop_of(body, **kwargs).statement(statement).domain


@pytest.mark.parametrize(
    "loop",
    [
        "for (j = (i + k) % 2; j < n; j += 2)",
        "for (j = 1 + (i + k) % 2; j < n - 1; j += 2)",
        "for (j = 3 - (i + 2 * k) % 4; j < n; j += 4)",
        "for (j = n - 1; j >= 1; j--) if ((i + j + k) % 2 == 0)",
    ],
)
def test_colours_of_a_grid_are_remainders_alone(loop: str) -> None:
    found = domain(f"for (k = 0; k < 2; k++) for (i = 1; i < n; i++) {loop} A[i][j] = k;")
    assert "exists" not in str(found)
    assert "floor" not in str(found)


def test_the_border_iterations_of_a_colour_are_remainders_alone() -> None:
    body = """for (k = 0; k < 2; k++)
      for (i = 0; i < n; i++)
        for (j = (i + k) % 2; j < n; j += 2)
          A[i][j] += A[i][j == 0 ? n - 1 : j - 1];"""
    parts = [one.domain for one in scop_of(body).statements]
    assert len(parts) == 2
    assert not any(re.search("exists|floor", str(one)) for one in parts)


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for (i = 0; i < n; i++)", "[n] -> { S0[i] : 0 <= i < n }"),
        ("for (i = n - 1; i >= 0; i--)", "[n] -> { S0[i] : 0 <= i < n }"),
        ("for (i = 0; i <= n; i += 3)", "[n] -> { S0[i] : 0 <= i <= n and i mod 3 = 0 }"),
        ("for (i = n; i > 0; i = i - 2)", "[n] -> { S0[i] : 0 < i <= n and (n - i) mod 2 = 0 }"),
        ("for (i = 0; n > i; ++i)", "[n] -> { S0[i] : 0 <= i < n }"),
        ("for (i = 0; i != n; i++)", "[n] -> { S0[i] : 0 <= i < n }"),
        ("for (i = 0; i != 12; i += 4)", "{ S0[i] : 0 <= i < 12 and i mod 4 = 0 }"),
        ("for (i = 0; i < n && i < 50; i++)", "[n] -> { S0[i] : 0 <= i < n and i < 50 }"),
        ("for (i = 0; i < (n < 50 ? n : 50); i++)", "[n] -> { S0[i] : 0 <= i < n and i < 50 }"),
        ("for (i = 0; i < n / 2; i++)", "[n] -> { S0[i] : 0 <= i and 2i + 2 <= n }"),
        (
            "for (i = -3; i < n % 4; i++)",
            "[n] -> { S0[i] : -3 <= i < n mod 4 and n >= 0; S0[i] : n < 0 and -3 <= i < -((-n) mod 4) }",
        ),
        ("for (int m = 0; m < n; m++) for (i = m; i < m; i++)", "[n] -> { S0[m, i] : false }"),
        ("for (i = 0; i < 10; i++) if (i != 4)", "{ S0[i] : 0 <= i < 10 and i != 4 }"),
        ("for (unsigned u = 0; u < un; u++)", "[un] -> { S0[u] : 0 <= u < un }"),
        ("for (unsigned long u = 1; u < ul; u++)", "[ul] -> { S0[u] : 1 <= u < ul }"),
        ("for (i = 0; 2 * i < n + 1; i++)", "[n] -> { S0[i] : 0 <= i and 2i <= n }"),
        ("for (i = 0; i < 20; i++) if (!(i % 2) || i > 17)", "{ S0[i] : 0 <= i < 20 and (i mod 2 = 0 or i > 17) }"),
        # A condition that fails and would hold again later ends the loop all the same.
        ("for (i = 0; i < 5 || i > 8; i++) if (i < 20)", "{ S0[i] : 0 <= i < 5 }"),
    ],
)
def test_iteration_domains(loop: str, expected: str) -> None:
    params = "int n, unsigned un, unsigned long ul, double *x"
    assert domain(f"{loop} x[0] = 0;", params=params).is_equal(isl.Set(expected))


def test_truncating_division_is_not_floor() -> None:
    relation = scop_of("for (i = -5; i <= 5; i++) x[7 + i / 2] = i;").statements[0].accesses[-1].relation
    assert relation.intersect_domain(isl.Set("{ S0[-5] }")).range().is_equal(isl.Set("{ x[5] }"))


def test_accesses_of_a_compound_assignment() -> None:
    accesses = scop_of("for (i = 0; i < n; i++) A[i][i + 1] += x[2 * i];").statements[0].accesses
    assert [(a.array, a.kind) for a in accesses] == [("x", "read"), ("A", "read"), ("A", "write")]
    assert accesses[-1].relation.is_equal(isl.Map("[n] -> { S0[i] -> A[i, i + 1] : 0 <= i < n }"))


def test_pointer_forms() -> None:
    scop = scop_of(
        "for (i = 0; i < 9; i++) *(p + i) = (*B)[i][1] + *q;", params="double *p, double (*B)[9][9], double *q"
    )
    assert {a.array: str(a.relation.range()) for a in scop.statements[0].accesses} == {
        "B": "{ B[0, i1, 1] : 0 <= i1 <= 8 }",
        "q": "{ q[0] }",
        "p": "{ p[i0] : 0 <= i0 <= 8 }",
    }


def test_pointers_that_leave_their_row_go_on_in_the_next_ones() -> None:
    found = scop_of("for (j = 0; j < 8; j++) { double *p = &A[0][j]; p[7 * 100] = p[100] + (&A[4][3])[-5]; }")
    cells = {str(a.relation.range().lexmin()) for a in found.statements[0].accesses if a.array == "A"}
    assert {cell.partition("[")[2].partition("]")[0] for cell in cells} == {"7, 0", "1, 0", "3, 98"}


def test_data_dependent_if_is_one_statement_with_may_writes() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { if (x[i] > 0) A[0][i] = 1; else s = x[i]; }")
    kinds = {(a.array, a.kind) for a in scop.statements[0].accesses}
    assert len(scop.statements) == 1
    assert {("A", "may-write"), ("s", "may-write"), ("x", "read")} <= kinds


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("if (x[i] > 0) A[0][i] = 1; else A[0][i] = 2;", ["write", "write"]),
        ("if (x[i] > 0) A[0][i] += 1; else { s = 1; A[0][i] = 2; }", ["write", "write"]),
        ("if (x[i] > 0) A[0][i] = 1; else if (x[i] > 1) A[0][i] = 2; else A[0][i] = 3;", ["write"] * 3),
        ("if (x[i] > 0) A[0][i] = 1; else if (x[i] > 1) A[0][i] = 2;", ["may-write"] * 2),
        ("if (x[i] > 0) A[0][i] = 1; else A[1][i] = 2;", ["may-write"] * 2),
        ("if (x[i] > 0) { A[0][i] = 1; A[1][i] = 1; } else A[1][i] = 2;", ["may-write", "write", "write"]),
        ("if (x[i] > 0) { for (k = 0; k < x[i]; k++) A[0][i] = 1; } else A[0][i] = 2;", ["may-write"] * 2),
        ("if (x[i] > 0) A[(int)x[i]][i] = 1; else A[(int)x[i]][i] = 2;", ["may-write"] * 2),
        ("if (x[i] > 0) y[n * i + 1] = 1; else y[n * i + 1] = 2;", ["write"] * 2),
        ("if (x[i] > 0) x[i] > 1 ? (A[0][i] = 1) : 0; else A[0][i] = 2;", ["may-write"] * 2),
    ],
)
def test_what_is_written_on_each_way_is_surely_written(body: str, kinds: list[str]) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {body} }}", params="int n, double A[100][100], double *x, double *y")
    accesses = [a for statement in scop.statements for a in statement.accesses]
    assert [a.kind for a in accesses if a.array in ("A", "y") and a.is_write] == kinds


def test_loop_inside_an_opaque_statement_gets_its_own_iterator() -> None:
    """An iterator declared outside would be shared by all threads."""
    body = scop_of("for (i = 0; i < n; i++) if (x[i] > 0) for (k = 0; k < x[i]; k++) A[i][k] = k;").statements[0].body
    assert isinstance(body, ir.If)
    assert isinstance(body.iftrue.init, ir.DeclList)
    assert body.iftrue.init.decls[0].type.type.names == ("int",)


def test_iterator_declared_in_the_body_of_the_loop_around() -> None:
    assert domain("for (i = 0; i < n; i++) { int q; for (q = 0; q < i; q++) x[q] = 0; }").is_equal(
        isl.Set("[n] -> { S0[i, q] : 0 <= q < i < n }")
    )


def test_indirect_read_may_read_everything() -> None:
    scop = scop_of("for (i = 0; i < n; i++) s += x[col[i]];", params="int n, double *x, int *col")
    whole = next(a for a in scop.statements[0].accesses if a.array == "x")
    assert whole.relation.range().is_equal(isl.Set("[n] -> { x[d] : n > 0 }"))


def test_locals_are_private_and_renamed_where_they_collide() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) { double t = x[i]; x[i] = t * t; }\n"
        "for (i = 0; i < n; i++) { float t; t = 1; A[i][0] = t; }"
    )
    assert {name: (a.local, a.private) for name, a in scop.arrays.items() if name.startswith("t")} == {
        "t": (True, True),
        "t_2": (True, True),
    }


def test_scalar_that_is_read_later_is_not_private() -> None:
    loop = b"for (int i = 0; i < n; i++) { s = x[i]; t = s; x[i] = t; }"
    source = b"double f(int n, double *x) { double s, t;\n#pragma scop\n" + loop + b"\n#pragma endscop\nreturn s; }"
    tu = parse(source, "in.c", Options())
    arrays = extract(tu, tu.regions[0], "scop0").arrays
    assert (arrays["s"].private, arrays["t"].private) == (False, True)


def test_function_of_this_file_in_a_bound() -> None:
    before = "static int least(int a, int b) { return a < b ? a : b; }"
    assert domain("for (i = 0; i < least(n, 7); i++) x[i] = 0;", before=before).is_equal(
        isl.Set("[n] -> { S0[i] : 0 <= i < n and i < 7 }")
    )


def test_pure_attribute_allows_a_call() -> None:
    before = "double g(double) __attribute__((const));"
    assert len(scop_of("for (i = 0; i < n; i++) x[i] = g(x[i]);", before=before).statements) == 1


def test_names_that_isl_would_misread() -> None:
    scop = scop_of(
        "for (int exists = 0; exists < n; exists++) mod[exists] = max;", params="int n, double *mod, double max"
    )
    assert {a.spelling for a in scop.arrays.values()} == {"mod", "max"}


def test_rows_of_characters_are_rows_as_others() -> None:
    scop = scop_of("for (i = 0; i < n; i++) a[i][0] = b[i + 1][i];", params="int n, char **a, const unsigned char *b[]")
    assert all(array.rows and array.rank == 2 for array in scop.arrays.values())


REFUSED = [
    ("while (x[0] > 0) x[0]--;", "control.while"),
    ("do { x[0]--; } while (x[0] > 0);", "control.while"),
    ("for (i = 0; i < n; i++) { if (x[i] > 0) goto out; } out: x[0] = 0;", "control.goto"),
    ("for (i = 0; i < n; i++) { if (x[i] > 0) break; x[i] = 0; }", "control.break"),
    ("for (i = 0; i < n; i++) { if (i == 3) break; x[i] = 0; }", "control.break"),
    ("for (i = 0; i < n; i++) { if (x[i] > 0) { if (i == n) continue; x[i]--; } x[i] = 0; }", "control.continue"),
    ("for (i = 0; i < n; i++) if (x[i] > 0) return;", "control.return"),
    ("switch (n) { case 1: x[0] = 1; case 2: x[0] = 2; }", "control.switch"),
    ("for (i = 0; i < n; i++) x[i] = g(i);", "call.unknown"),
    ("for (i = 0; i < i * n; i++) x[i] = 0;", "affine.nonlinear-bound"),
    ("for (i = 0; i < n; i++) { x[i] = 0; i++; }", "loop.iterator-modified"),
    ("for (i = 0; i < n; i++) x[i++] = 0;", "loop.iterator-modified"),
    ("for (i = 0; i < n; i++) for (i = 0; i < n; i++) x[i] = 0;", "loop.iterator-modified"),
    ("for (i = 0; i < n; i++) v[i] = 0;", "access.volatile"),
    ("for (w = 0; w < n; w++) x[w] = 0;", "access.volatile"),
    ("for (unsigned u = un - 1; u >= 0; u--) x[u] = 0;", "loop.wrap"),
    ("for (unsigned u = 10; u >= 0; u--) x[u] = 0;", "loop.wrap"),
    ("for (i = 0; i != n; i += 2) x[i] = 0;", "loop.not-equal"),
    ("for (i = 0; i < n; i += idx[0]) x[i] = 0;", "loop.step"),
    ("for (i = 0; i < n; i *= 2) x[i] = 0;", "loop.step"),
    ("for (i = 0; i < n; i += m > 5 ? 1 : 2) x[i] = 0;", "loop.step"),
    ("for (i = 0, j = 0; i < n; i++, j += x[i]) x[i] = 0;", "loop.form"),
    ("for (i = 0, j = 0; i < n; i++, j += i) x[j] = 0;", "loop.form"),
    ("for (i = m, j = m++; i < n; i++) x[j] = 0;", "loop.form"),
    ("for (int a = 2, b = a; b < n; b++) x[b] = a;", "loop.form"),
    ("for (i = 0; i < n; ) { x[i] = 0; }", "loop.form"),
    ("for (i = 0; i < n; i--) x[i] = 0;", "loop.unbounded"),
    ("for (i = 0; i < m; i++) m = 3;", "affine.variant-bound"),
    ("for (i = 0; i < n; i++) r->q = 0;", "access.struct"),
    ("for (i = 0; i < n; i++) ppp[i][0][0][0][i] = 0;", "access.pointer-to-pointer"),
    ("for (i = 0; i < n; i++) { double *t = pp[i]; pp[i] = pp[0]; pp[0] = t; t[0] = 0; }", "access.partial"),
    ("for (i = 0; i < n; i++) A[i][100] = 0;", "access.out-of-bounds"),
    ("for (i = 0; i < n; i++) x++;", "access.pointer-modified"),
    ("for (i = 0; i < n; i += 3) ; x[0] = i;", "loop.iterator-live-out"),
    ("for (i = 0; i < n; i++) x[i] = f2(&s);", "call.unknown"),
    ("for (i = 0; i < n; i++) x[i] = sqrt(*(n ? &s : x));", "access.form"),
    ("{\n#pragma omp parallel\nfor (i = 0; i < n; i++) x[i] = 0; }", "region.openmp"),
    ("{\n#pragma omp simd linear(s)\nfor (i = 0; i < n; i++) x[i] = 0; }", "region.openmp"),
    ("for (i = 0; i < n; i++) { double t[n]; t[0] = 1; x[i] = t[0]; }", "decl.variable-length"),
    ("for (i = 0; i < n; i++) { __typeof__(x[0]) t = x[i]; x[i] = t * t; }", "decl.form"),
    ("for (i = 0; i < n; i++) { __auto_type t = x[i]; x[i] = t * t; }", "decl.form"),
    ("for (i = 0; i < n; i++) x[i] = (typeof(s))x[i];", "decl.form"),
    ("for (i = 0; i < n; i++) { fixed t = x[i]; x[i] = t * t; }", "decl.form"),
]


@pytest.mark.parametrize(("body", "expected"), REFUSED)
def test_refused(body: str, expected: str) -> None:
    params = (
        "int n, unsigned un, int m, double A[100][100], double *x, int *idx, volatile double *v, volatile int w,"
        "double **pp, double *****ppp, struct r { double y; } *r"
    )
    with pytest.raises(Refusal) as caught:
        scop_of(body, params=params, before="double g(int); typedef const double fixed;")
    assert caught.value.remark.id == expected
    assert caught.value.remark.location.line >= 5


@pytest.mark.parametrize(
    ("body", "tested"),
    [
        ("for (unsigned u = 0; u < un; u += 2) x[u] = 0;", "[un] -> { : un <= 4294967294 }"),
        ("for (unsigned u = 0; u < n; u++) x[u] = 0;", "[n] -> { : n >= 0 }"),
        ("for (unsigned char c = 0; c < n; c++) x[c] = 0;", "[n] -> { : n <= 255 }"),
        ("for (unsigned u = 1; u < un - 1; u++) x[u] = 0;", "[un] -> { : un > 0 }"),
        ("for (unsigned u = 0; u < un; u++) x[(int)u] = 0;", "[un] -> { : un <= 2147483648 }"),
    ],
)
def test_values_that_make_arithmetic_exact_are_tested(body: str, tested: str) -> None:
    scop = scop_of(body, params="int n, unsigned un, double *x")
    assert scop.guard is not None
    assert scop.guard.parameters.is_equal(isl.Set(tested))
    assert scop.context.is_subset(scop.guard.parameters)
    assert [remark.id for remark in scop.assumptions] == ["assume.values"]


@pytest.mark.parametrize(
    ("body", "fits"),
    [
        ("for (unsigned long u = 0; u < un; u++) x[u] = 0;", ()),
        ("for (unsigned long u = 0; u < un; u++) if (u < um) x[u] = 0;", ("un", "um")),
        ("for (unsigned long u = um; u < un; u++) x[u] = 0;", ("un", "um")),
    ],
)
def test_unsigned_parameters_that_may_be_larger_than_signed_ones_are_tested(body: str, fits: tuple[str, ...]) -> None:
    guard = scop_of(body, params="unsigned long un, unsigned long um, double *x").guard
    assert sorted(guard.fits if guard is not None else ()) == sorted(fits)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("size_t i = n; i-- > 0;", "0 <= i < n"),
        ("size_t i = n; i--;", "0 <= i < n"),
        ("size_t i = n; i-- > 2;", "2 <= i < n"),
        ("unsigned i = un - 1; i < un; i--", "0 <= i < un"),
    ],
)
def test_loops_that_count_down_to_zero(header: str, values: str) -> None:
    scop = scop_of(
        f"for ({header}) x[i] = 0;", params="size_t n, unsigned un, double *x", before="typedef unsigned long size_t;"
    )
    assert scop.statements[0].domain.is_equal(isl.Set(f"[n, un] -> {{ S0[i] : {values} }}"))


def test_iterator_used_after_the_region_is_assigned() -> None:
    source = (
        b"int f(int n, double *x) { int i;\n#pragma scop\nfor (i = 0; i < n; "
        b"i++) x[i] = 0;\n#pragma endscop\nreturn i; }"
    )
    tu = parse(source, "in.c", Options())
    last = extract(tu, tu.regions[0], "scop0").statements[-1]
    assert (last.iterators, [access.array for access in last.accesses if access.is_write]) == ((), ["i"])


@pytest.mark.parametrize(
    "text",
    [
        "static _Thread_local double a[9]; void f(int n) { for (int i = 0; i < n; i++) a[i] = i; }",
        "extern __thread int m; void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = m; }",
        "extern __thread int m; void f(double *a) { for (int i = 0; i < m; i++) a[i] = i; }",
        "static double a[9];\n#pragma omp threadprivate(a)\nvoid f(int n) { for (int i = 0; i < n; i++) a[i] = i; }",
        "void f(int n, double *x) { static int b, a[9];\n#pragma omp threadprivate(b, a)\n#pragma scop\n"
        " for (int i = 0; i < n; i++) a[i] = x[i];\n#pragma endscop\n}",
    ],
)
def test_variables_of_threads_are_left_alone(text: str) -> None:
    """Another thread's would be read and written."""
    result = optimize(text.encode(), Options(autodetect=True, eager=True))
    assert [remark.id for remark in result.remarks] == ["access.thread-local"]
    assert result.text == text.encode()


def test_variables_of_threads_that_a_header_names(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("static double a[9];\n#pragma omp threadprivate(a)\n")
    text = b'#include "own.h"\nvoid f(int n) { for (int i = 0; i < n; i++) a[i] = i; }'
    told = [
        [remark.id for remark in optimize(text, options, file=str(tmp_path / "in.c")).remarks]
        for options in (Options(autodetect=True, eager=True), Options(autodetect=True, eager=True, ignore_openmp=True))
    ]
    assert (told[0], "access.thread-local" in told[1]) == (["access.thread-local"], False)


def test_threads_copy_variables_around_the_region() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { x[i] = s; }", params="int n, double A[100][100], double *x, double t[9]")
    assert {"A", "n", "s", "t", "x"} <= scop.by_value


def test_a_variable_may_have_a_type_s_name() -> None:
    made = scop_of("for (i = 0; i < n; i++) data[i] = 0;", params="int n, double *data", before="typedef int data;")
    assert "data" not in made.typedefs
    assert "data" in scop_of("for (i = 0; i < n; i++) x[i] = 0;", before="typedef int data;").typedefs
    loop = "for (int i = 0; i < n; i++) x[i] = 0;"
    inside = f"void f(int n, double *x) {{\n  typedef int own;\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    tu = parse(inside.encode(), "in.c", Options())
    assert "own" in extract(tu, tu.regions[0], "scop0").typedefs


def test_sizes_are_guessed_from_the_extents_of_arrays() -> None:
    """Each from the dimension that it bounds, whatever other sizes say about whether there are instances at all."""
    body = "for (i = 0; i < n; i++) for (j = 1; j < m - 1; j++) for (k = 0; k < p; k++) A[i][j] = A[i][j + 1];"
    scop = scop_of(body, "int n, int m, int p, double A[40][60]")
    assert {one.name: one.estimate for one in scop.parameters} == {"n": 40, "m": 60, "p": None}


def test_sizes_are_guessed_beside_others_that_are_known() -> None:
    """A window that ends with the row, or before: the array that has its cells tells how long it is."""
    body = "for (i = 0; i < n; i++) for (j = 0; j <= i && j < w; j++) { p[j] = A[i - j]; }"
    scop = scop_of(body, "int n, int w, double A[400], double p[16]")
    assert {one.name: one.estimate for one in scop.parameters} == {"n": 400, "w": 16}
    scop = scop_of(body, "int n, int w, double A[n], double p[16]")
    assert {one.name: one.estimate for one in scop.parameters} == {"n": None, "w": None}


def test_arrays_named_like_words_of_isl_are_told_from_other_names() -> None:
    """`floord` is a word of isl's; the name that stands for it must not be that of another array or parameter."""
    body = "for (i = 0; i < n; i++) floord[i] = floord_1[i] + floord_2;"
    scop = scop_of(body, "int n, double *floord, double *floord_1, double floord_2")
    assert {one.spelling for one in scop.arrays.values()} == {"floord", "floord_1", "floord_2"}
    assert {scop.arrays[access.array].spelling for access in scop.statement("S0").accesses} == {
        "floord",
        "floord_1",
        "floord_2",
    }


def test_instances_with_bounds_of_several_values_are_one_piece() -> None:
    low, high = "(i > 3 ? i - 3 : 0)", "(i + 3 < n ? i + 3 : n - 1)"
    scop = scop_of(f"for (i = 0; i < n; i++) for (j = {low}; j <= {high}; j++) if (j > i || i > j) A[i][j] = x[j];")
    assert [len(one.domain.get_basic_sets()) for one in scop.statements] == [2]
    assert all(access.relation.n_basic_map() == 2 for access in scop.statements[0].accesses)


def test_affine_conditions_below_conditions_on_data_bound_the_domain() -> None:
    scop = scop_of("for (i = 0; i < n; i++) if (x[i] > 0) { if (i > 2 && x[i] < 5) { if (i < 9) s = i; } }")
    assert scop.statements[0].domain == isl.Set("[n] -> { S0[i] : 2 < i < n and i < 9 }")
    assert isinstance(scop.statements[0].body, ir.If)
    scop = scop_of("for (i = 0; i < n; i++) if (x[i] > 0) { if (i > 2) s = i; else s = 3; }")
    assert scop.statements[0].domain == isl.Set("[n] -> { S0[i] : 0 <= i < n }")
    scop = scop_of("for (i = 0; i < n; i++) if (x[i] > 0) { if (i > 2) s = i; x[0] = s; }")
    assert scop.statements[0].domain == isl.Set("[n] -> { S0[i] : 0 <= i < n }")
