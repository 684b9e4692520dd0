"""Inductions, heads with several variables, and loops over pointers: what they are taken for, and what they aren't."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.ir.printing import CPrinter
from scopt.options import Options
from tests.sources import scop_of, source_of

PARAMS = (
    "int n, int m, unsigned u, long w, double *restrict x, double *restrict y, float *restrict f,"
    " struct { int a, b; } *restrict q, void *v"
)


def cells(body: str, array: str = "x", after: str = "") -> list[isl.Map]:
    """What each statement touches of an array."""
    scop = scop_of(body, PARAMS, after=after)
    return [
        a.relation.intersect_domain(s.domain)
        for s in scop.statements
        for a in s.accesses
        if scop.arrays[a.array].spelling == array
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("k = 3; for (i = 0; i < n; i++) { x[k] = 0; k++; }", "[n] -> { S0[i] -> x[i + 3] : 0 <= i < n }"),
        ("k = 3; for (i = 0; i < n; i++) { k++; x[k] = 0; }", "[n] -> { S0[i] -> x[i + 4] : 0 <= i < n }"),
        ("k = 3; for (i = 0; i < n; i++) x[k++] = 0;", "[n] -> { S0[i] -> x[i + 3] : 0 <= i < n }"),
        ("k = 3; for (i = 0; i < n; i++) x[++k] = 0;", "[n] -> { S0[i] -> x[i + 4] : 0 <= i < n }"),
        ("for (i = 2; i < n; i++) { x[m] = 0; m += 2; }", "[n, m] -> { S0[i] -> x[m + 2i - 4] : 2 <= i < n }"),
        ("k = m; for (i = n; i > 0; i--) { x[k] = 0; k--; }", "[n, m] -> { S0[i] -> x[m - n + i] : 0 < i <= n }"),
        (
            "k = 0; for (i = 0; i < n; i += 2) { x[k] = 0; k += 6; }",
            "[n] -> { S0[i] -> x[3i] : 0 <= i < n and i mod 2 = 0 }",
        ),
        ("k = 0; for (i = 0; i < n; i++) { k += 5; x[k] = 0; k -= 3; }", "[n] -> { S0[i] -> x[2i + 5] : 0 <= i < n }"),
        ("for (i = 0, j = m; i < n; i++, j -= 2) x[j] = 0;", "[n, m] -> { S0[i] -> x[m - 2i] : 0 <= i < n }"),
        ("for (int a = 0, b = 7; a < n; b++, a++) x[b] = 0;", "[n] -> { S0[a] -> x[a + 7] : 0 <= a < n }"),
        ("for (int a = 0, b = m - 1; a < b; a++) x[b - a] = 0;", "[m] -> { S0[a] -> x[m - 1 - a] : 0 <= a < m - 1 }"),
        ("for (i = 0; i < n; i++) *x++ = 0;", "[n] -> { S0[i] -> x[i] : 0 <= i < n }"),
        ("for (i = 0; i < n; i++) { x[1] = 0; x += 2; }", "[n] -> { S0[i] -> x[2i + 1] : 0 <= i < n }"),
        ("for (double *p = x; p < x + n; p++) *p = 0;", "[n] -> { S0[p_2] -> x[p_2] : 0 <= p_2 < n }"),
        ("for (double *p = x + m; p != x + n; ++p) *p = 0;", "[n, m] -> { S0[p_2] -> x[m + p_2] : 0 <= p_2 < n - m }"),
        (
            "for (double *p = x + n; p >= x + 2; p--) p[1] = 0;",
            "[n] -> { S0[p_2] -> x[n + 1 - p_2] : 0 <= p_2 < n - 1 }",
        ),
    ],
)
def test_cells(body: str, expected: str) -> None:
    (touched,) = cells(body)
    assert touched.is_equal(isl.Map(expected))


def test_nested_loops_go_through_rows() -> None:
    (touched,) = cells("k = 0; for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[k++] = 0;")
    assert touched.is_equal(isl.Map("[n, m] -> { S0[i, j] -> x[i, j] : 0 <= i < n and 0 <= j < m }"))
    (touched,) = cells("for (i = 0; i < n; i++) { for (j = 0; j < m; j++) *x++ = 0; x += w - m; }")
    assert touched.is_equal(isl.Map("[n, m, w] -> { S0[i, j] -> x[i, j] : m <= w and 0 <= i < n and 0 <= j < m }"))


def test_members_behind_a_pointer() -> None:
    scop = scop_of("for (i = 0; i < n; i++, q++) q->b = i;", PARAMS)
    (touched,) = [a.relation.intersect_domain(s.domain) for s in scop.statements for a in s.accesses if a.is_write]
    assert touched.range().is_equal(
        isl.Set("[n] -> { q_b[i] : 0 <= i < n }").set_tuple_name(touched.range().get_tuple_name())
    )


def test_last_values_are_assigned_where_somebody_looks() -> None:
    body = "k = 0; for (i = 0; i < n; i++) { x[k] = 0; k += 2; }"
    assert len(scop_of(body, PARAMS).statements) == 1
    assert [len(s.iterators) for s in scop_of(body, PARAMS, after="m = k;").statements] == [1, 0]


@pytest.mark.parametrize(
    "body",
    [
        "k = 0; for (i = 0; i < n; i++) for (j = 0; j <= i; j++) x[k++] = 0;",
        "k = 0; for (i = 0; i < n; i++) { for (j = 0; j <= i; j++) x[k + j] = 0; k += i + 1; }",
        "k = 0; for (i = 0; i < n; i++) { m = k; for (j = 0; j <= i; j++) { x[m] = 0; m++; } k += 1 + i; }",
        "for (i = 0; i < n; i++) { for (j = 0; j <= i; j++) x[j] = 0; x += i + 1; }",
        "for (int a = 0, b = 0; a < n; a++) for (int c = 0; c <= a; c++, b++) x[b] = 0;",
        # iterators' names that other loops have, too
        (
            "for (int a = 0, b = 0; a < n; a++) for (int c = 0; c <= a; c++, b++) x[b] = 0;"
            " for (int c = 0; c < n; c++) for (int a = 0; a < n; a++) y[c] += a;"
        ),
    ],
)
def test_rows_of_a_triangle(body: str) -> None:
    (found,) = cells(body)
    assert found.reset_tuple_id(isl.dim_type.out).is_equal(isl.Map("[n] -> { S0[i, j] -> [i, j] : 0 <= j <= i < n }"))


@pytest.mark.parametrize(
    "other",
    [
        "for (long a = 0; a < n; a++) y[a] = 0;",  # of another type
        "{ int a = m; y[a] = 0; }",
        "for (int c = 0; c < n; c++) { for (int a = 0; a < n; a++) for (int a = 0; a < n; a++) y[a] = 0; }",
    ],
)
def test_names_that_mean_several_things_are_left_alone(other: str) -> None:
    body = f"for (int a = 0, b = 0; a < n; a++) for (int c = 0; c <= a; c++, b++) x[b] = 0; {other}"
    with pytest.raises(Refusal):
        cells(body)


@pytest.mark.parametrize(
    "body",
    [
        "k = 0; for (i = 0; i < n; i++) { if (y[i] > 0) k++; x[k] = 0; }",  # in some iterations
        "k = 0; for (i = 0; i < n; i++) { x[k] = 0; if (y[i] > 0 && k++ > 3) y[i] = 1; }",
        "k = 0; for (i = 0; i < n; i++) { x[k] = 0; k += i * i; }",  # by amounts that grow by other amounts
        "k = 0; for (i = 0; i < n; i++) { x[k] = 0; k *= 2; }",
        "k = 0; for (i = 0; i < n; i++) { x[k++] = k; }",  # in no order
        "k = 0; for (i = 0; i < n; i += 2) { x[k] = 0; k++; }",  # no whole number for a step
        "k = 0; for (i = 0; i < n; i++) { for (j = 3; j < i; j++) x[k++] = 0; }",  # not run by all iterations
        "k = 0; for (i = 0; i < n; i++) { for (j = 0; j <= i; j++) x[k--] = 0; }",
        (
            "k = 0; for (i = 0; i < n; i++) { y[k] = 0; for (j = 0; j < m; j++) x[k++] = 0; }"
        ),  # where the inner loop may not run
        "k = 0; for (i = 0; i < n; i++) { for (j = 0; j < m; j++) x[k++] = 0; for (j = 0; j < n; j++) x[k++] = 0; }",
        "k = y[0] > 0; for (i = 0; i < n; i++) { x[k] = 0; k++; k = k + k; }",
    ],
)
def test_other_variables_keep_their_steps(body: str) -> None:
    scop = scop_of(body, PARAMS)
    assert any(
        access.array == "k" and access.is_write and statement.iterators
        for statement in scop.statements
        for access in statement.accesses
    )


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) { *x = 0; if (y[i] > 0) x++; }",
        "for (i = 0; i < n; i++) { *x++ = 0; y[0] = x[0]; x = y; }",
        "for (double *p = x; p < y; p++) *p = 0;",  # how far it is isn't known
        "for (float *p = (float *)x; p < (float *)x + n; p++) *p = 0;",
        "for (char *p = v; p < v + n; p++) *p = 0;",
        "for (float *p = (float *)x; p < f; p++) *p = 0;",
        "for (double *p = x; p < x + n; p++) { *p = 0; n--; }",
        "for (double *p = x; p < x + n; p += 2) *p = 0;",
        "for (double *p = x; p > x + n; p++) *p = 0;",
        "for (double *p = x; p < x + n; p++) { *p = 0; if (*p > 3) break; }",
    ],
)
def test_other_pointers_are_refused(body: str) -> None:
    try:
        scop = scop_of(body, PARAMS)
    except Refusal:
        return
    assert "statement.opaque" in [remark.id for remark in scop.assumptions]


def test_a_pointer_that_is_used_after_its_loop_is_left_alone() -> None:
    body = "for (i = 0; i < n; i++) *x++ = 0;"
    scop_of(body, PARAMS)
    with pytest.raises(Refusal):
        scop_of(body, PARAMS, after="*x = 1;")


def test_values_keep_their_types() -> None:
    scop = scop_of("k = 1; for (i = 0; i < n; i++) { x[k] = k / 2 + u; k += 2; u -= 3; y[u % 8] = 0; }", PARAMS)
    text = "".join(CPrinter().visit(statement.body) for statement in scop.statements)
    assert "(int) (" in text
    assert "((unsigned int) u) - (3 * ((unsigned int) i))" in text


def test_finding_regions_leaves_the_tree_alone() -> None:
    source = source_of(
        "for (i = 0, k = 0; i < n; i++, k += 2) x[k] = 0; for (double *p = y; p < y + n; p++) *p = 1;"
    ).replace(b"#pragma", b"//")
    tu = parse(source, "in.c", Options(autodetect=True))
    before = CPrinter().visit(tu.ast)
    regions = detect(tu).regions
    for region in regions:
        extract(tu, region, "scop")
    assert regions
    assert CPrinter().visit(tu.ast) == before
