"""Rows of growing or shrinking length, recovered from subscripts."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.divisible_sums import always_divides
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize, scop_of

PARAMS = "int n, int m, unsigned u, unsigned long z, double *a, double *b"
LOWER = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)"
UPPER = "for (int i = 0; i < n; i++) for (int j = i; j < n; j++)"


def scop(body: str) -> Scop:
    return scop_of(body, params=PARAMS)


def cells(made: Scop) -> isl.Map:
    return next(
        access.relation for statement in made.statements for access in statement.accesses if access.array == "a"
    )


def guard(made: Scop) -> isl.Set:
    return made.guard.parameters if made.guard is not None else isl.Set("{ : }")


@pytest.mark.parametrize(
    "written",
    [
        "a[i * (i + 1) / 2 + j]",
        "a[j + (i * i + i) / 2]",
        "a[(i * (i + 1) >> 1) + j]",
        "a[(long)i * (i + 1) / 2 + j]",
        "*(a + i * (i + 1) / 2 + j)",
        "(a + i * (i + 1) / 2)[j]",
    ],
)
def test_spellings_of_a_triangle(written: str) -> None:
    made = scop(f"{LOWER} {written} = 0;")
    assert cells(made).is_equal(isl.Map("[n] -> { S0[i, j] -> a[i, j] : 0 <= j <= i < n }"))
    assert made.guard is None
    starts = made.arrays["a"].starts
    assert starts is not None
    assert (starts.square, starts.linear, starts.divisor) == (1, ((1, ""),), 2)


@pytest.mark.parametrize(
    ("loops", "written", "cell", "where"),
    [
        (LOWER, "a[j * (j + 1) / 2 + i]", "", ""),
        (UPPER, "a[j * (j + 1) / 2 + i]", "j, i", "0 <= i <= j < n"),
        (UPPER, "a[i * n - i * (i + 1) / 2 + j]", "i, j", "0 <= i <= j < n"),
        (UPPER, "a[i * (2 * n - i - 1) / 2 + j]", "i, j", "0 <= i <= j < n"),
        (UPPER, "a[i * (2 * n - i + 1) / 2 + j - i]", "i, j", "0 <= i <= j < n"),
        (UPPER, "a[(n - 1 - i) * (n - i) / 2 + n - 1 - j]", "n - i, n - 1 - j", "0 <= i <= j < n"),
        (
            "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++)",
            "a[n * i - i * (i + 1) / 2 + j - i - 1]",
            "i, j - 1",
            "0 <= i < j < n",
        ),
        ("for (int i = 1; i <= n; i++) for (int j = 1; j <= i; j++)", "a[i * (i - 1) / 2 + j - 1]", "", ""),
        (
            "for (int i = 0; i < n; i++) for (int j = -i; j <= i; j++)",
            "a[i * i + i + j]",
            "i, j",
            "i < n and -i <= j <= i",
        ),
        ("for (int i = 1; i < n; i++) for (int j = 0; j < i; j++)", "a[(n + i) * (n + i + 1) / 2 + j]", "", ""),
    ],
)
def test_kinds_of_triangles(loops: str, written: str, cell: str, where: str) -> None:
    made = scop(f"{loops} {written} += 1;")
    if not cell:  # found or not, no two instances share a cell that have none in common
        assert made.arrays["a"].rank == (1 if loops == LOWER else 2)
        return
    assert cells(made).is_equal(isl.Map(f"[n] -> {{ S0[i, j] -> a[{cell}] : {where} }}"))
    assert made.guard is None


def test_all_subscripts_lie_in_one_triangle() -> None:
    body = "a[i * (i + 1) / 2 + j] -= a[i * (i + 1) / 2 + k] * a[j * (j + 1) / 2 + k] / a[j * (j + 3) / 2];"
    made = scop(f"{LOWER} for (int k = 0; k < j; k++) {body}")
    found = {str(access.relation.range().get_tuple_name()): access.kind for access in made.statements[0].accesses}
    assert found == {"a": "write"}
    assert made.arrays["a"].rank == 2


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * (i + 1) / 2 + j] = 0;",  # rows overlap
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i + 1; j++) a[i * (i + 1) / 2 + j] = 0;",
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i * i / 2 + j] = 0;",  # rounded
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i * (i + 1) / 3 + j] = 0;",
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i * j * (i + 1) / 2] = 0;",
    ],
)
def test_what_shows_no_triangle(body: str) -> None:
    assert scop(body).arrays["a"].rank == 1


def test_rows_that_are_long_enough_for_some_parameters() -> None:
    made = scop("for (int i = 0; i < m; i++) for (int j = i; j < m; j++) a[i * n - i * (i + 1) / 2 + j] = 0;")
    assert guard(made).is_equal(isl.Set("[n, m] -> { : m <= n }"))


def test_unsigned_products_must_not_wrap() -> None:
    loops = "for ({0} i = 0; i < {1}; i++) for ({0} j = 0; j <= i; j++) a[i * (i + 1) / 2 + j] = 0;"
    assert guard(scop(loops.format("unsigned", "u"))).is_equal(isl.Set("[u] -> { : u <= 8192 }"))
    assert guard(scop(loops.format("unsigned long", "z"))).is_equal(isl.Set("[z] -> { : z <= 268435456 }"))


def test_sums_that_a_number_always_divides() -> None:
    assert always_divides(2, {("i", "i"): 1, ("i",): 1})
    assert always_divides(2, {("i", "i"): -1, ("i", "n"): 2, ("i",): 3})
    assert not always_divides(2, {("i", "i"): 1, ("i",): 2})
    assert not always_divides(2, {("i", "j"): 1, ("i",): 1})
    assert not always_divides(16, {("i", "j", "k", "l"): 16})  # too many to try


def test_loops_over_rows_beside_loops_over_all_cells() -> None:
    source = f"""void f(int n, double *restrict a, double *restrict b) {{
  for (int k = 0; k < n * (n + 1) / 2; k++) a[k] = 0;
  {LOWER} for (int k = 0; k < n; k++) a[i * (i + 1) / 2 + j] += b[i * n + k] * b[j * n + k];
}}
"""
    result = optimize(source.encode(), Options(autodetect=True, eager=True))
    assert [remark.id for remark in result.remarks].count("region.transformed") == 2
