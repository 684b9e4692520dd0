"""Loops that step by a variable, or ask for a bit, as loops over blocks."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.poly.dependences import dependences
from tests.sources import scop_of

PARAMS = "int n, int h, int b, unsigned u, unsigned v, double *x, double *y"


@pytest.mark.parametrize(
    ("body", "blocks", "write"),
    [
        (
            "for (int i = 0; i < n; i += 2 * h) for (int k = 0; k < h; k++) x[i + k] += x[i + k + h];",
            "0 < n ? (2 * h) > 0 ? ((long) n - 1) / (long) (2 * h) + 1 : -1 : 0",
            "[h, i_blocks] -> { S0[q, k] -> x[q, k] : 0 <= q < i_blocks and 0 <= k < h }",
        ),
        (
            "for (int i = 0; i < n; i += h << 1) for (int k = i; k < i + h; k++) x[k + h] += x[k];",
            "0 < n ? (h << 1) > 0 ? ((long) n - 1) / (long) (h << 1) + 1 : -1 : 0",
            "[h, i_blocks] -> { S0[q, k] -> x[q, k + h] : 0 <= q < i_blocks and 0 <= k < h }",
        ),
        (
            "for (int k = 0; k < h; k++) for (int i = k; i < n; i += 2 * h) x[i] += x[i + h];",
            "0 < h && 0 < n ? (2 * h) > 0 && (long) n % (long) (2 * h) == 0 && (long) h <= (long) (2 * h) ? "
            "(long) n / (long) (2 * h) : -1 : 0",
            "[h, i_blocks] -> { S0[k, q] -> x[q, k] : 0 <= q < i_blocks and 0 <= k < h }",
        ),
        (
            "for (int i = 0; i < n; i++) if (i & h) x[i] += x[i ^ h];",
            "0 < n ? (long) h > 0 && ((long) h & ((long) h - 1)) == 0 && (long) n % (long) h == 0 && "
            "(long) n / (long) h % 2 == 0 ? (long) n / (long) h / 2 : -1 : 0",
            "[h, i_blocks] -> { S0[q, k] -> x[q, k + h] : 0 <= q < i_blocks and 0 <= k < h }",
        ),
        (
            "for (int i = 0; i < n; i++) { int l = i ^ h; if (l > i) x[i] += x[l]; }",
            "0 < n ? (long) h > 0 && ((long) h & ((long) h - 1)) == 0 && (long) n % (long) h == 0 && "
            "(long) n / (long) h % 2 == 0 ? (long) n / (long) h / 2 : -1 : 0",
            "[h, i_blocks] -> { S0[q, k] -> x[q, k] : 0 <= q < i_blocks and 0 <= k < h }",
        ),
    ],
)
def test_blocks(body: str, blocks: str, write: str) -> None:
    scop = scop_of(body, PARAMS)
    (statement,) = scop.statements
    assert scop.prologue == (f"const long i_blocks = {blocks};",)
    (found,) = [one.relation for one in statement.accesses if one.is_write]
    wanted = isl.Map(write)
    assert found.intersect_domain(statement.domain).is_equal(wanted), found
    assert scop.guard is not None
    assert scop.guard.parameters.is_subset(isl.Set("[i_blocks] -> { : i_blocks >= 0 }"))
    assert not dependences(scop).all


def test_unsigned_steps_do_not_wrap_around() -> None:
    scop = scop_of("for (unsigned i = 0; i < u; i += 2 * v) for (unsigned k = 0; k < v; k++) x[i + k] = 0;", PARAMS)
    (number,) = scop.prologue
    assert "<= 4294967295 - (long) (2 * v)" in number


def test_both_halves_in_their_order() -> None:
    scop = scop_of("for (int i = 0; i < n; i++) y[i] = x[i] + x[i ^ 1 << b];", PARAMS)
    first, second = scop.statements
    assert "const int i_half = 0 < n ? (1 << b) : 0;" in scop.prologue
    cells = [one.relation.range() for s in (first, second) for one in s.accesses if one.is_write]
    assert cells[0].is_disjoint(cells[1])


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) if (i & h) x[i] += y[i];",  # a mask
        "for (int i = 0; i < n; i++) if (i & 6) x[i] += x[i ^ 6];",  # no power of two
        "for (int i = 1; i < n; i++) if (i & h) x[i] += x[i ^ h];",
        "for (int i = 0; i < n; i++) if (i & t) { x[i] += x[i ^ t]; t = 2; }",
    ],
)
def test_others_stay(body: str) -> None:
    assert not scop_of(body, PARAMS).prologue
