"""Locals that are functions of iterators and parameters: what is put in, what vanishes, and what has to stay."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.scop import Scop
from tests.sources import scop_of

PARAMS = "int n, int m, unsigned u, long w, double *restrict x, double *restrict y, double A[100][100], int *restrict p"


def written(scop: Scop, array: str = "x") -> list[isl.Map]:
    """What each statement writes of an array."""
    return [
        a.relation.intersect_domain(s.domain)
        for s in scop.statements
        for a in s.accesses
        if a.is_write and scop.arrays[a.array].spelling == array
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (i = 0; i < n; i++) { int e = i + 2; x[e] = 0; }", "[n] -> { S0[i] -> x[i + 2] : 0 <= i < n }"),
        ("for (i = 0; i < n; i++) { k = 2 * i; k += 1; x[k] = 0; }", "[n] -> { S0[i] -> x[2i + 1] : 0 <= i < n }"),
        ("for (i = 0; i < n; i++) { k = i; k++; x[k] = 0; }", "[n] -> { S0[i] -> x[i + 1] : 0 <= i < n }"),
        (
            "int h = n / 2; for (i = 0; i < h; i++) x[i] = 0;",
            "[n] -> { S0[i] -> x[i] : 0 <= i and 2i + 1 < n }",
        ),
        (
            "for (i = 0; i < n; i++) { int e = i & 1; x[e ^ 1] = 0; }",
            "[n] -> { S0[i] -> x[1 - (i mod 2)] : 0 <= i < n }",
        ),
        (
            "for (i = 0; i < 300; i++) { unsigned char e = i; if (i < 256) x[e] = 0; }",
            "{ S0[i] -> x[i] : 0 <= i < 256 }",
        ),
    ],
)
def test_the_statement_is_alone_and_knows_its_cells(body: str, expected: str) -> None:
    scop = scop_of(body, PARAMS)
    assert len(scop.statements) == 1
    (touched,) = written(scop)
    assert touched.is_equal(isl.Map(expected))


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) { k = p[i]; x[k] = 0; }",
        "for (i = 0; i < n; i++) { k = i; for (j = 0; j < m; j++) { x[k] = 0; k += p[j]; } }",
        "for (i = 0; i < n; i++) { k = i; if (y[i] > 0) k = 0; x[k] = 0; }",
        "k = 0; for (i = 0; i < n; i++) { x[k] = 0; if (p[i] > 0) k = i; }",
    ],
)
def test_what_the_run_decides_stays_unknown(body: str) -> None:
    scop = scop_of(body, PARAMS)
    assert any(not one.is_single_valued() for one in written(scop))


def test_conversions_are_tested_where_they_may_change_values() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { unsigned char e = i; x[e] = 0; }", PARAMS)
    assert scop.guard is not None
    assert scop.guard.parameters.is_equal(isl.Set("[n] -> { : n <= 256 }"))


def test_last_values_stay() -> None:
    body = "for (i = 0; i < n; i++) { k = i + 1; x[k] = 0; }"
    assert len(scop_of(body, PARAMS).statements) == 1
    kept = scop_of(body, PARAMS, after="x[0] = k;")
    assert written(kept, "k")
    (touched,) = written(kept)
    assert touched.is_equal(isl.Map("[n] -> { S1[i] -> x[i + 1] : 0 <= i < n }"))


def test_values_used_for_their_own_sake_stay() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { int e = 3 * i; x[i] = y[i] * e; }", PARAMS)
    assert len(scop.statements) == 2


def test_addresses_that_are_taken() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { k = i + 1; x[k] = 0; }", PARAMS, after='scanf("%d", &k);')
    assert written(scop, "k")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for (i = 0; i < n; i++) x[i] = y[i == 0 ? n - 1 : i - 1];", 2),
        ("for (i = 0; i < n; i++) x[i] = y[i == 0 ? n - 1 : i - 1] + y[(i + 1) % n];", 3),
        ("for (i = 0; i < n; i++) { int e = i - 1; if (e < 0) e = n - 1; x[e] = 0; }", 2),
        ("for (i = 0; i < n; i++) x[i] = y[i < m ? i : i - m];", 1),
        ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = y[i == 0 ? n : i];", 1),
        ("for (i = 0; i < n; i++) x[i] = i == 0 ? y[0] : 2;", 1),
    ],
)
def test_first_and_last_iterations_stand_alone(body: str, count: int) -> None:
    assert len(scop_of(body, PARAMS).statements) == count


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) for (j = 0; j < 100; j++) if (j > 0 && A[i][j - 1] > y[j]) x[i] = 1;",
        "for (i = 0; i < n; i++) for (j = 0; j < 100; j++) if (j == 0 || A[i][j - 1] > y[j]) x[i] = 1;",
        "for (i = 0; i < n; i++) for (j = 0; j < 100; j++) x[i] += j < 99 ? A[i][j + 1] : 0;",
        "for (i = 0; i < n; i++) for (j = 0; j < 100; j++) if (!(j == 0) && y[j] > 0) x[i] += A[i][j - 1];",
        "for (i = 0; i < n; i++) for (j = 0; j < 100; j++) if (p[j]) x[i] += A[i][j - 1];",
    ],
)
def test_guarded_accesses_stay_inside(body: str) -> None:
    scop = scop_of(body, PARAMS)
    (array,) = [a.name for a in scop.arrays.values() if a.spelling == "A"]
    read = [a.relation.intersect_domain(s.domain) for s in scop.statements for a in s.accesses if a.array == array]
    inside = isl.Set(f"{{ {array}[r, c] : 0 <= c < 100 }}")
    assert read
    assert "p[j]" in body or all(one.range().is_subset(inside) for one in read)
