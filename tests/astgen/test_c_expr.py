from __future__ import annotations

import pytest

from scopt.astgen.emit.c_expr import ExprPrinter, Kind, helper_name
from scopt.astgen.emit.c_read import Reader, Typed, Unreadable, canonical, canonical_condition
from scopt.diagnostics import InternalError
from scopt.ir import expr as ex
from scopt.ir.expr import plus
from scopt.ir.from_pycparser import parse_c
from scopt.ir.nest import Compare, Condition, Const, Expr, FloorDiv, Max, Min, Mod, Name, Select, Sum
from scopt.ir.scop import CType
from tests.astgen.scops import DOUBLE, INT, LONG, SIZE, UNSIGNED, S, make_scop

CHAR = CType("unsigned char", integer=True, signed=False, bits=8)
SCOP = make_scop(
    S("S0[i] : 0 <= i < n"),
    parameters={"n": INT, "m": INT, "u": UNSIGNED, "z": SIZE, "l": LONG, "c": CHAR, "x": DOUBLE},
    reserved=("scopt_min",),
)
IT, J, N, M, U, Z, L, C = (Name(name) for name in ("i", "j", "n", "m", "u", "z", "l", "c"))


def text(e: Expr) -> str:
    return ExprPrinter.of(SCOP).expr(e).text


def condition(c: Condition) -> str:
    return ExprPrinter.of(SCOP).condition(c).text


def read(source: str) -> Expr:
    return reader().usable(parse(source)).value


def parse(source: str):  # type: ignore[no-untyped-def]
    return parse_c(f"int f(void) {{ return {source}; }}").ext[0].body.block_items[0].expr


def reader() -> Reader:
    return within(within(Reader.of(SCOP), "i"), "j")


def within(outer: Reader, name: str, spelling: str = "long", upper: Expr = N) -> Reader:
    """In a loop from 0 on."""
    return outer.within(name, spelling, Const(0), upper, 1)


EXPRESSIONS = [
    (Const(-3), "-3"),
    (Const(2**31), "2147483648L"),
    (IT, "i"),
    (N, "n"),
    (ex.plus(IT, -1), "i - 1"),
    (ex.plus(N, -1), "n - 1L"),
    (ex.weighted(((1, IT), (-1, N)), -1), "i - n - 1"),
    (ex.weighted(((1, N), (-1, IT)), -1), "n - i - 1"),
    (ex.add(N, M), "(long)m + n"),
    (ex.weighted(((1, N), (1, M)), -1), "(long)m + n - 1"),
    (ex.weighted(((1, N), (-1, M))), "(long)n - m"),
    (ex.scale(N, 2), "2L * n"),
    (ex.scale(IT, 2), "2 * i"),
    (ex.weighted(((2, N), (1, M))), "m + 2L * n"),
    (ex.scale(N, -1), "-(long)n"),
    (ex.scale(N, -2), "-2L * n"),
    (ex.scale(IT, -1), "-i"),
    (ex.weighted(((-1, N),), 5), "5L - n"),
    (ex.weighted(((-1, IT),), 5), "5 - i"),
    (ex.weighted(((-1, IT),), -5), "-i - 5"),
    (ex.plus(L, -1), "l - 1"),
    (ex.plus(U, -1), "u - 1L"),
    (Z, "(long)z"),
    (ex.plus(Z, -1), "(long)z - 1"),
    (ex.plus(C, -1), "c - 1L"),
    (FloorDiv(IT, 4), "scopt_floord(i, 4)"),
    (FloorDiv(IT, 4, nonnegative=True), "i / 4"),
    (FloorDiv(N, 4, nonnegative=True), "n / 4"),
    (FloorDiv(ex.plus(N, -1), 4, nonnegative=True), "(n - 1L) / 4"),
    (ex.scale(FloorDiv(IT, 4, nonnegative=True), 3), "3 * (i / 4)"),
    (ex.scale(FloorDiv(IT, 4, nonnegative=True), -1), "-(i / 4)"),
    (ex.weighted(((1, IT), (-1, FloorDiv(IT, 4, nonnegative=True)))), "i - i / 4"),
    (Mod(IT, 4), "scopt_mod(i, 4)"),
    (Mod(IT, 4, nonnegative=True), "i % 4"),
    (ex.minimum((IT, N, J)), "scopt_min_(i, scopt_min_(j, n))"),
    (ex.scale(ex.maximum((IT, N)), 2), "2 * scopt_max(i, n)"),
    (Select(Compare(IT, "<", N), IT, ex.plus(N, 1)), "i < n ? i : n + 1L"),
    (ex.plus(Select(Compare(IT, "<", N), IT, J), 1), "(i < n ? i : j) + 1"),
    (Select(Compare(IT, "<", N), N, U), "i < n ? (long)n : u"),
]


@pytest.mark.parametrize(("e", "expected"), EXPRESSIONS)
def test_expressions(e: Expr, expected: str) -> None:
    assert text(e) == expected


@pytest.mark.parametrize("e", [e for e, _ in EXPRESSIONS])
def test_what_is_printed_reads_back(e: Expr) -> None:
    assert canonical(read(text(e))) == canonical(e)


CONDITIONS = [
    (Compare(IT, "<", N), "i < n"),
    (Compare(N, ">", IT), "i < n"),
    (Compare(ex.weighted(((1, N), (-1, IT)), -1), ">=", Const(0)), "i < n"),
    (Compare(N, ">=", Const(1)), "n > 0"),
    (Compare(Const(0), "<", N), "n > 0"),
    (Compare(ex.plus(N, -3), ">=", M), "n >= m + 3L"),
    (Compare(Mod(IT, 3, zero_test=True), "==", Const(0)), "i % 3 == 0"),
    (Compare(U, "<", N), "(long)u < n"),
    (Compare(U, "<", IT), "i > u"),
    (Compare(U, ">", Const(-1)), "(long)u >= 0"),
    (Compare(U, ">", Const(0)), "u > 0"),
    (Compare(U, ">", Const(-4)), "u + 4L > 0"),
    (Compare(Z, ">", N), "(long)z > n"),
    (Compare(IT, "!=", ex.scale(J, -2)), "i + 2 * j != 0"),
    (ex.conjunction((Compare(IT, "<", N), Compare(J, ">", Const(0)))), "i < n && j > 0"),
    (
        ex.disjunction((ex.conjunction((Compare(IT, "<", N), Compare(J, ">", Const(0)))), Compare(IT, "==", J))),
        "(i < n && j > 0) || i == j",
    ),
]


@pytest.mark.parametrize(("c", "expected"), CONDITIONS)
def test_conditions(c: Condition, expected: str) -> None:
    assert condition(c) == expected
    assert canonical_condition(reader().condition(parse(expected))) == canonical_condition(c)


@pytest.mark.parametrize(
    "source",
    [
        "n + m",
        "n - 1",
        "2 * n",
        "-n",
        "z",
        "z + i",
        "(int)i",
        "i * j",
        "i / n",
        "i / -2",
        "i % 0",
        "n < i ? n : u",
        "unknown + i",
        "f(i, j)",
        "scopt_min(i, j)",
        "2147483648 + i",
        "i = 3",
        "x + i",
    ],
)
def test_what_could_overflow_or_means_something_else_is_not_read(source: str) -> None:
    with pytest.raises(Unreadable):
        read(source)


def test_a_comparison_of_signed_with_unsigned_is_not_read() -> None:
    for source in ("n < u", "u > n", "u < -1"):
        with pytest.raises(Unreadable):
            reader().condition(parse(source))
    assert reader().condition(parse("u < 5")) == Compare(U, "<", Const(5))


def test_an_iterator_may_not_hide_another_name() -> None:
    for name in ("i", "n"):
        with pytest.raises(Unreadable):
            within(reader(), name)


def test_an_int_is_an_iterator_that_never_leaves_the_type() -> None:
    below = plus(N, -1)
    for upper in (below, Const(2**31 - 2), Min((Name("i"), below)), FloorDiv(Sum(((3, N),)), 4)):
        assert within(reader(), "k", "int", upper).usable(parse("k")) == Typed(Name("k"), Kind.INT)
    for upper in (N, Const(2**31 - 1), U, Max((Const(9), N)), Sum(((2, N),), -9)):
        with pytest.raises(Unreadable):
            within(reader(), "k", "int", upper)
    with pytest.raises(Unreadable):
        within(reader(), "k", "short", Const(9))


def test_sums_of_ints_that_fit() -> None:
    inner = within(reader(), "k", "int", plus(N, -1))
    assert inner.usable(parse("(k + 1) % 2")).kind is Kind.INT
    for source in ("k + 2", "2 * k", "k + n", "i + k - (k + 2)"):
        with pytest.raises(Unreadable):
            inner.usable(parse(source))
    assert within(reader(), "k", "int", Const(99)).usable(parse("2 * k + 3")).kind is Kind.INT


def test_a_constant_beyond_64_bits_is_an_error() -> None:
    with pytest.raises(InternalError):
        text(Const(2**63))


def test_helpers_avoid_the_names_of_the_file() -> None:
    assert helper_name("scopt_min", frozenset({"scopt_min", "scopt_min_"})) == "scopt_min__"
    assert helper_name("scopt_max", frozenset({"scopt_min"})) == "scopt_max"


def test_flags_of_a_remainder_print_alike() -> None:
    assert canonical(Mod(IT, 3, zero_test=True)) == canonical(Mod(IT, 3, nonnegative=True)) != canonical(Mod(IT, 3))


def test_a_constant_inside_or_outside_of_a_minimum_is_the_same() -> None:
    inside = ex.add(J, ex.minimum((ex.plus(IT, 1), ex.plus(N, 1))))
    outside = ex.plus(ex.add(J, ex.minimum((IT, N))), 1)
    assert inside != outside
    assert canonical(inside) == canonical(outside)
    assert canonical(ex.minimum((IT, N))) == Min((IT, N))
    assert canonical(ex.maximum((IT, N))) == Max((IT, N))
