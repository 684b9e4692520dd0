"""C's integer expressions as quasi-affine functions: the same values as C computes."""

from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given, strategies as st

from scopt import ir
from scopt.frontend.model.affine import INT, LONG, NotAffine, Scope, affine, condition, type_range
from scopt.ir.from_pycparser import parse_c
from scopt.ir.scop import CType

UNSIGNED = CType("unsigned int", integer=True, signed=False, bits=32)
NAMES = ("i", "j", "n")


def expression(text: str) -> ir.Node:
    return parse_c(f"int f(void) {{ return {text}; }}").ext[0].body.block_items[0].expr


def evaluated(aff: isl.PwAff, values: dict[str, int]) -> int:
    """The value of a function on the parameter domain at one point."""
    for name, value in values.items():
        aff = aff.intersect_domain(isl.Set(f"[{name}] -> {{ : {name} = {value} }}"))
    return int(aff.max_val().to_python())


def quotient(a: int, b: int) -> int:
    """C's division: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """An affine C expression, and the same in Python with C's rounding."""
    if depth == 0 or draw(st.booleans()):
        leaf = draw(st.sampled_from([*NAMES, "3", "7", "0"]))
        return leaf, leaf
    left = draw(trees(depth - 1))
    kind = draw(st.sampled_from(["+", "-", "*", "/", "%", "&", "^", "?", "neg"]))
    if kind in "&^":
        mask = draw(st.sampled_from([0, 1, 3, 7] if kind == "^" else [0, 1, 2, 3, 4, 7, -1, -2, -8]))
        return f"(({left[0]}) {kind} ({mask}))", f"({left[1]} {kind} {mask})"
    if kind in "*/%":
        constant = draw(st.sampled_from([2, 3, 5, -2, -3]))
        python = {
            "*": f"({left[1]} * {constant})",
            "/": f"quotient({left[1]}, {constant})",
            "%": f"({left[1]} - {constant} * quotient({left[1]}, {constant}))",
        }[kind]
        return f"(({left[0]}) {kind} ({constant}))", python
    if kind == "neg":
        return f"(-({left[0]}))", f"(-({left[1]}))"
    right = draw(trees(depth - 1))
    if kind == "?":
        return (
            f"({left[0]} < {right[0]} ? {left[0]} : {right[0]})",
            f"(({left[1]}) if {left[1]} < {right[1]} else ({right[1]}))",
        )
    return f"({left[0]} {kind} {right[0]})", f"({left[1]} {kind} {right[1]})"


@given(trees(), st.tuples(*[st.integers(-20, 20)] * 3))
def test_values_are_those_of_c(tree: tuple[str, str], point: tuple[int, int, int]) -> None:
    values = dict(zip(NAMES, point, strict=True))
    scope = Scope(lambda name, node: INT)
    expected = eval(tree[1], {"quotient": quotient, **values})
    assert evaluated(affine(expression(tree[0]), scope).aff, values) == expected


def test_division_of_what_is_not_negative_is_a_floor() -> None:
    scope = Scope(lambda name, node: INT, domain=isl.Set("[i] -> { : i >= 0 }"))
    assert affine(expression("i / 4"), scope).aff.n_piece() == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i * j", "nonlinear"),
        ("i / j", "nonlinear"),
        ("a[i]", "indirect"),
        ("i & 5", "nonlinear"),
        ("i & n", "nonlinear"),
        ("i ^ -2", "nonlinear"),
        ("1.5", "nonlinear"),
        ("g(i)", "call"),
        ("i / 0", "nonlinear"),
        # constants, but not the same one everywhere
        ("i / (n > 5 ? 2 : 4)", "nonlinear"),
        ("i >> (n > 5 ? 2 : 4)", "nonlinear"),
        ("i & (n > 5 ? 1 : 3)", "nonlinear"),
    ],
)
def test_not_affine(text: str, reason: str) -> None:
    with pytest.raises(NotAffine) as caught:
        affine(expression(text), Scope(lambda name, node: INT))
    assert caught.value.reason == reason


def unsigned_scope(domain: str) -> Scope:
    return Scope(lambda name, node: UNSIGNED, domain=isl.Set(domain), ranges=lambda: type_range("n", UNSIGNED))


def test_unsigned_arithmetic_that_may_wrap_is_refused() -> None:
    with pytest.raises(NotAffine) as caught:
        affine(expression("n - 1u"), unsigned_scope("[n] -> { : }"))
    assert caught.value.reason == "unsigned-wrap"


def test_unsigned_arithmetic_that_provably_does_not_wrap() -> None:
    assert evaluated(affine(expression("n - 1u"), unsigned_scope("[n] -> { : n >= 1 }")).aff, {"n": 5}) == 4


def test_comparison_of_signed_with_unsigned() -> None:
    """-1 < 1u is false in C: the negative operand becomes huge."""

    def lookup(name: str, node: object) -> CType:
        return INT if name == "i" else UNSIGNED

    with pytest.raises(NotAffine):
        condition(expression("i < n"), Scope(lookup))
    holds = condition(
        expression("i < n"), Scope(lookup, domain=isl.Set("[i] -> { : i >= 0 }"), ranges=lambda: type_range("i", INT))
    )
    assert holds.is_equal(isl.Set("[i, n] -> { : i < n }"))


@pytest.mark.parametrize(
    ("literal", "signed", "bits"),
    [
        ("2147483647", True, 32),
        ("2147483648", True, 64),
        ("0x7fffffff", True, 32),
        ("0x80000000", False, 32),
        ("037777777777", False, 32),
        ("0xffffffff", False, 32),
        ("0x100000000", True, 64),
        ("0xffffffffL", True, 64),
        ("0xf000000000000000", False, 64),
        ("0xf000000000000000LL", False, 64),
        ("4294967295u", False, 32),
        ("4294967296u", False, 64),
        ("0", True, 32),
        ("0ul", False, 64),
    ],
)
def test_types_of_constants(literal: str, signed: bool, bits: int) -> None:
    found = affine(expression(literal), Scope(lambda name, node: INT)).type
    assert (found.signed, found.bits) == (signed, bits)


@pytest.mark.parametrize("text", ["(long)0xf000000000000000LL", "(long)(h + 0x8000000000000000)", "(int)4294967295"])
def test_conversions_of_large_constants_are_refused(text: str) -> None:
    unsigned = CType("unsigned long", integer=True, signed=False, bits=64)
    target = LONG if "(long)" in text else INT
    few = isl.Set("[h] -> { : 0 <= h <= 9 }")
    scope = Scope(lambda name, node: unsigned, domain=few, cast_type=lambda node: target)
    assert evaluated(affine(expression("(long)(h + 7)"), scope).aff, {"h": 2}) == 9
    with pytest.raises(NotAffine):
        affine(expression(text), scope)
