"""Rewrites of loop nests: each keeps what is executed, and does what it is for."""

from __future__ import annotations

from scopt.astgen.loops.bounds import plain_bounds
from scopt.astgen.loops.rounding import settle_divisions
from scopt.astgen.loops.simplify import simplify
from scopt.ir import expr as ex
from scopt.ir.nest import Block, Call, Compare, Const, Expr, FloorDiv, For, If, LoopNest, Max, Min, Mod, Name, Select
from scopt.ir.nest_walks import items, rename_iterators
from tests.astgen.scops import INT, S, make_scop, trace

SCOP = make_scop(S("S0[i] : 0 <= i < n"))
IT, N, ZERO, LAST = Name("i"), Name("n"), Const(0), ex.plus(Name("n"), -1)


def call(arg: Expr = IT) -> Call:
    return Call("S0", (arg,))


def loop(*body: For | If | Call, lower: Expr = ZERO, upper: Expr = LAST, step: int = 1, iterator: str = "i") -> For:
    return For(iterator, lower, upper, step, Block(body))


def when(condition: ex.Condition, *then: For | If | Call, otherwise: tuple[For | If | Call, ...] | None = None) -> If:
    return If(condition, Block(then), None if otherwise is None else Block(otherwise))


def nest(*body: For | If | Call) -> LoopNest:
    return LoopNest(Block(body))


POSITIVE, EVEN = Compare(N, ">", Const(0)), Compare(Mod(IT, 2, zero_test=True), "==", Const(0))


def test_empty_blocks_go() -> None:
    assert simplify(SCOP, nest(loop(), when(POSITIVE), when(POSITIVE, otherwise=()))) == nest()


def test_an_if_without_then_is_turned_round() -> None:
    (branch,) = simplify(SCOP, nest(when(POSITIVE, otherwise=(call(Const(0)),)))).body.items
    assert branch == when(Compare(N, "<=", Const(0)), call(Const(0)))


def test_nested_ifs_become_one() -> None:
    assert simplify(SCOP, nest(loop(when(POSITIVE, when(EVEN, call()))))) == nest(
        loop(when(ex.conjunction((POSITIVE, EVEN)), call()))
    )


def test_nested_ifs_with_an_else_stay() -> None:
    kept = nest(loop(when(POSITIVE, when(EVEN, call(), otherwise=(call(Const(1)),)))))
    assert simplify(SCOP, kept) == kept


def test_decided_ifs_go() -> None:
    decided = nest(when(ex.TRUE, call(Const(1))), when(ex.FALSE, call(), otherwise=(call(Const(2)),)))
    assert simplify(SCOP, decided) == nest(call(Const(1)), call(Const(2)))


def test_a_loop_with_one_iteration_is_substituted() -> None:
    one = loop(when(ex.Compare(IT, "==", N), call(ex.plus(IT, 1))), lower=N, upper=N)
    assert simplify(SCOP, nest(one)) == nest(call(ex.plus(N, 1)))


def test_renaming_reaches_every_use() -> None:
    inner = loop(call(ex.add(IT, Name("j"))), lower=IT, upper=ex.minimum((N, ex.plus(IT, 3))), iterator="j")
    renamed = rename_iterators(Block((loop(inner),)), {"i": "a", "j": "b"})
    assert repr(renamed).count("'i'") == repr(renamed).count("'j'") == 0
    assert [item.iterator for item in items(renamed) if isinstance(item, For)] == ["a", "b"]


def cases(then: Expr, otherwise: Expr) -> Expr:
    return Select(Compare(N, ">", Const(5)), then, otherwise)


def test_a_bound_with_cases_becomes_the_greatest_case_if_that_adds_nothing() -> None:
    guarded = when(ex.conjunction((Compare(IT, "<", N), Compare(IT, ">=", Const(0)))), call())
    before = nest(loop(guarded, upper=cases(ex.plus(N, -1), N)))
    after = plain_bounds(SCOP, before)
    assert after.body.items[0].upper == N  # type: ignore[union-attr]
    for n in (0, 4, 5, 6, 9):
        assert trace(after, {"n": n}) == trace(before, {"n": n})


def test_a_bound_with_cases_stays_if_the_greatest_case_adds_something() -> None:
    before = nest(loop(call(), upper=cases(ex.plus(N, -1), N)))
    assert plain_bounds(SCOP, before) == before


def test_a_lower_bound_with_cases() -> None:
    guarded = when(Compare(IT, ">=", Const(0)), call())
    before = nest(loop(guarded, lower=cases(Const(0), Const(-1))))
    assert plain_bounds(SCOP, before).body.items[0].lower == Const(-1)  # type: ignore[union-attr]
    strided = nest(loop(guarded, lower=cases(Const(0), Const(-1)), step=2))
    assert plain_bounds(SCOP, strided) == strided


def test_cases_in_one_parameter_do_if_nothing_is_beyond_them() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n and i < m"), parameters={"n": INT, "m": INT})
    other = ex.plus(Name("m"), -1)
    larger = Select(Compare(N, ">", Name("m")), LAST, other)
    in_both, in_one = (
        form((Compare(IT, "<", N), Compare(IT, "<", Name("m")))) for form in (ex.conjunction, ex.disjunction)
    )
    for condition, upper in ((in_both, ex.minimum((LAST, other))), (in_one, ex.maximum((LAST, other)))):
        (after,) = plain_bounds(scop, nest(loop(when(condition, call()), upper=larger))).body.items
        assert isinstance(after, For)
        assert after.upper == upper


def divisions(rewritten: LoopNest) -> list[bool]:
    (only,) = rewritten.body.items
    assert isinstance(only, For)
    bounds = only.upper.args if isinstance(only.upper, Min | Max) else (only.upper,)
    return [bound.nonnegative for bound in bounds if isinstance(bound, FloorDiv | Mod)]


def test_a_division_is_cs_own_only_where_the_numerator_is_never_negative() -> None:
    half = FloorDiv(ex.plus(N, -1), 2, nonnegative=True)
    assert divisions(settle_divisions(SCOP, nest(loop(call(), upper=half)))) == [False]
    bounded = make_scop(S("S0[i] : 0 <= i < n"), context="n > 0")
    assert divisions(settle_divisions(bounded, nest(loop(call(), upper=FloorDiv(ex.plus(N, -1), 2))))) == [True]


def test_an_enclosing_guard_proves_a_division() -> None:
    half = FloorDiv(ex.plus(N, -1), 2)
    (branch,) = settle_divisions(
        SCOP, nest(when(POSITIVE, loop(call(), upper=half), otherwise=(loop(call(), upper=half),)))
    ).body.items
    assert isinstance(branch, If)
    assert branch.otherwise is not None
    assert divisions(LoopNest(branch.then)) == [True]
    assert divisions(LoopNest(branch.otherwise)) == [False]


def test_an_exact_division_may_be_negative() -> None:
    strided = loop(call(FloorDiv(IT, 2)), lower=Const(-10), upper=ex.plus(N, 0), step=2)
    (only,) = settle_divisions(SCOP, nest(strided)).body.items
    assert "nonnegative=True" in repr(only)
