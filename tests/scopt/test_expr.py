from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from scopt.ir import expr as ex
from scopt.ir.nest import And, Compare, Const, Expr, FloorDiv, Max, Min, Mod, Name, Or, Select, Sum

NAMES = ("i", "j", "n")
VALUES = st.fixed_dictionaries({name: st.integers(-20, 20) for name in NAMES})
SMALL = st.integers(-5, 5)
OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])


def _grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    some = st.lists(inner, min_size=1, max_size=3)
    divisor = st.integers(1, 6)
    condition = st.builds(ex.compare, inner, OPERATORS, inner)
    return st.one_of(
        st.builds(lambda parts, c: ex.weighted(parts, c), st.lists(st.tuples(SMALL, inner), max_size=3), SMALL),
        st.builds(ex.minimum, some),
        st.builds(ex.maximum, some),
        st.builds(ex.floor_div, inner, divisor),
        st.builds(ex.modulo, inner, divisor),
        st.builds(ex.select, condition, inner, inner),
    )


EXPRESSIONS = st.recursive(
    st.one_of(st.builds(Name, st.sampled_from(NAMES)), st.builds(Const, SMALL)), _grow, max_leaves=8
)
SUMS = st.builds(
    lambda parts, c: ex.weighted(parts, c), st.lists(st.tuples(SMALL, st.builds(Name, st.sampled_from(NAMES)))), SMALL
)
CONDITIONS = st.recursive(
    st.builds(ex.compare, EXPRESSIONS, OPERATORS, EXPRESSIONS),
    lambda inner: st.one_of(
        st.builds(ex.conjunction, st.lists(inner, max_size=3)), st.builds(ex.disjunction, st.lists(inner, max_size=3))
    ),
    max_leaves=4,
)


def normal(e: Expr) -> bool:
    """Whether an expression is in the normal form that the constructors promise."""
    match e:
        case Const() | Name():
            return True
        case Sum(terms, constant):
            parts = [x for _, x in terms]
            bare = len(terms) == 1 and terms[0][0] == 1
            return (
                bool(terms)
                and all(c != 0 and not isinstance(x, Sum | Const) and normal(x) for c, x in terms)
                and len(set(parts)) == len(parts)
                and parts == sorted(parts, key=ex.order)
                and not (bare and (constant == 0 or isinstance(terms[0][1], Min | Max)))
            )
        case FloorDiv(numerator, divisor) | Mod(numerator, divisor):
            return divisor > 1 and normal(numerator)
        case Min(args) | Max(args):
            flat = not any(isinstance(a, type(e)) for a in args)
            return (
                len(args) > 1
                and flat
                and len(set(args)) == len(args)
                and list(args) == sorted(args, key=ex.order)
                and all(map(normal, args))
            )
        case Select(_, then, otherwise):
            return then != otherwise and normal(then) and normal(otherwise)


@given(EXPRESSIONS)
def test_constructors_keep_the_normal_form(e: Expr) -> None:
    assert normal(e)


@given(EXPRESSIONS, EXPRESSIONS, VALUES, SMALL)
def test_arithmetic_has_the_values_of_arithmetic(a: Expr, b: Expr, values: dict[str, int], k: int) -> None:
    x, y = ex.evaluate(a, values), ex.evaluate(b, values)
    assert ex.evaluate(ex.add(a, b), values) == x + y
    assert ex.evaluate(ex.subtract(a, b), values) == x - y
    assert ex.evaluate(ex.scale(a, k), values) == k * x
    assert ex.evaluate(ex.plus(a, k), values) == x + k
    assert ex.evaluate(ex.minimum((a, b, ex.plus(a, k))), values) == min(x, y, x + k)
    assert ex.evaluate(ex.maximum((a, b, ex.plus(a, k))), values) == max(x, y, x + k)
    assert ex.evaluate(ex.floor_div(a, 3), values) == x // 3
    assert ex.evaluate(ex.modulo(a, 3), values) == x % 3


@given(SUMS, SUMS)
def test_equal_sums_are_equal_objects(a: Expr, b: Expr) -> None:
    assert ex.add(a, b) == ex.add(b, a)
    assert ex.subtract(ex.add(a, b), b) == a
    assert ex.scale(ex.add(a, b), 3) == ex.add(ex.scale(a, 3), ex.scale(b, 3))


@given(EXPRESSIONS, EXPRESSIONS, VALUES)
def test_substitution_is_evaluation_with_other_values(e: Expr, new: Expr, values: dict[str, int]) -> None:
    replaced = ex.substitute(e, {"i": new, "j": Name("i")})
    assert normal(replaced)
    changed = {**values, "i": ex.evaluate(new, values), "j": values["i"]}
    assert ex.evaluate(replaced, values) == ex.evaluate(e, changed)
    assert "j" not in ex.names(replaced) or "j" in ex.names(new)


@given(CONDITIONS, VALUES)
def test_negation(condition: And | Or | Compare, values: dict[str, int]) -> None:
    assert ex.satisfied(ex.negate(condition), values) is not ex.satisfied(condition, values)


def test_constants_decide_conditions() -> None:
    assert ex.compare(ex.plus(Name("i"), 1), ">", Name("i")) == ex.TRUE
    assert ex.conjunction((ex.TRUE, ex.FALSE)) == ex.FALSE
    assert ex.disjunction((ex.FALSE,)) == ex.FALSE
    assert ex.select(ex.FALSE, Name("i"), Name("j")) == Name("j")


def test_min_drops_an_argument_that_lies_above_another_one() -> None:
    assert ex.minimum((Name("n"), ex.plus(Name("n"), 3))) == Name("n")
    assert ex.maximum((Name("n"), ex.plus(Name("n"), 3))) == ex.plus(Name("n"), 3)


def test_a_constant_moves_into_a_minimum() -> None:
    assert ex.plus(ex.minimum((Name("i"), Name("n"))), 1) == Min((ex.plus(Name("i"), 1), ex.plus(Name("n"), 1)))


def test_division_takes_out_what_the_divisor_divides() -> None:
    e = ex.floor_div(ex.weighted(((64, Name("i")), (1, Name("n"))), 3), 32)
    assert e == ex.add(ex.scale(Name("i"), 2), FloorDiv(ex.plus(Name("n"), 3), 32))


def test_unknown_names_have_no_value() -> None:
    with pytest.raises(KeyError):
        ex.evaluate(Name("x"), {})
