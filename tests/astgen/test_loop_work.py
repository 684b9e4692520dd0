from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import pipeline
from scopt.astgen.emit.balance import imbalanced
from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.loop_work import add_work_guards, is_tile_loop
from scopt.astgen.emit.statement_costs import likely_size
from scopt.ir import expr as ex
from scopt.ir.nest import Block, Call, Compare, Const, Exceeds, FloorDiv, For, LoopMark, LoopNest, Mod, Name
from scopt.ir.nest_walks import items
from scopt.options import Options
from tests.astgen.scops import INT, S, loops, make_scop
from tests.sources import source_of

PARALLEL, SIMD = LoopMark(parallel=True), LoopMark(simd=True)
MATRIX = S("S0[i, j] : 0 <= i < n and 0 <= j < m", "A[i][j] = A[i][j] * 2.0;")
TWO = {"n": INT, "m": INT}
ROWS = ("S0[i, j] -> [i]", "S0[i, j] -> [j]")


def fors(nest: LoopNest) -> dict[str, For]:
    return {item.iterator: item for item in items(nest.body) if isinstance(item, For)}


def test_a_known_size_counts_for_what_it_is() -> None:
    n, long, rows = Name("n"), ex.plus(Name("m"), 1), {"m": 1_500_000, "n": 12}
    assert [likely_size(one, rows) for one in (n, long, Name("w"))] == [12, 1_500_001, 512]


@pytest.mark.parametrize("sizes", [(), (32, 32)])
def test_the_guard_is_the_product_of_the_extents(sizes: tuple[int, ...]) -> None:
    scop = make_scop(MATRIX, parameters=TWO)
    nest = add_work_guards(scop, loops(scop, *ROWS, sizes=sizes, marks={0: PARALLEL}))
    outer = next(iter(fors(nest).values()))
    # one nanosecond an instance; tiles don't change the amount of work
    assert outer.work == Exceeds((Name("n"), Name("m")), 20000)


def test_a_triangle_counts_half() -> None:
    scop = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j < i", "A[i][j] = A[i][j] * 2.0;"))
    nest = add_work_guards(scop, loops(scop, *ROWS, marks={0: PARALLEL}))
    assert fors(nest)["i"].work == Exceeds((Name("n"), Name("n")), 50000)


def test_of_two_ends_the_nearer_one_counts() -> None:
    scop = make_scop(
        S("S0[t, i, j] : 0 <= t < n and 0 <= i < m and 0 <= j <= t and j < w", "A[t][i] = A[t][i] * 2;"),
        parameters=TWO | {"w": INT},
    )
    nest = add_work_guards(
        scop, loops(scop, "S0[t, i, j] -> [t]", "S0[t, i, j] -> [i]", "S0[t, i, j] -> [j]", marks={1: PARALLEL})
    )
    work = fors(nest)["i"].work
    assert isinstance(work, Exceeds)
    assert ex.minimum((Name("w"), ex.plus(Name("t"), 1))) in work.factors


def test_an_enclosing_iterator_is_in_scope() -> None:
    scop = make_scop(S("S0[t, i] : 0 <= t < n and 0 <= i < t", "A[i] = 0;"))
    nest = add_work_guards(scop, loops(scop, "S0[t, i] -> [t]", "S0[t, i] -> [i]", marks={1: PARALLEL}))
    assert fors(nest)["i"].work == Compare(Name("t"), ">", Const(50000))
    assert fors(nest)["t"].work is None


def test_expensive_statements_pay_sooner() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = exp(A[i]) / sin(A[i]);"))
    work = fors(add_work_guards(scop, loops(scop, "S0[i] -> [i]", marks={0: PARALLEL})))["i"].work
    assert isinstance(work, Compare)
    assert isinstance(work.right, Const)
    assert work.right.value < 1000


def test_constant_work_needs_no_guard() -> None:
    large = make_scop(S("S0[i] : 0 <= i < 1000000", "A[i] = 0;"))
    loop = fors(add_work_guards(large, loops(large, "S0[i] -> [i]", marks={0: PARALLEL})))["i"]
    assert (loop.mark, loop.work) == (PARALLEL, None)
    small = make_scop(S("S0[i] : 0 <= i < 100", "A[i] = 0;"))
    loop = fors(add_work_guards(small, loops(small, "S0[i] -> [i]", marks={0: PARALLEL})))["i"]
    assert (loop.mark, loop.work) == (LoopMark(), None)


def test_a_small_vector_loop_stays_a_vector_loop() -> None:
    small = make_scop(S("S0[i] : 0 <= i < 100", "A[i] = 0;"))
    both = LoopMark(parallel=True, simd=True, private=("t",))
    loop = fors(add_work_guards(small, loops(small, "S0[i] -> [i]", marks={0: both})))["i"]
    assert loop.mark == replace(both, parallel=False)


def test_only_the_outermost_parallel_loop_is_parallel() -> None:
    scop = make_scop(MATRIX, parameters=TWO)
    nest = add_work_guards(scop, loops(scop, *ROWS, marks={0: PARALLEL, 1: LoopMark(parallel=True, simd=True)}))
    assert fors(nest)["i"].mark == PARALLEL
    assert fors(nest)["j"].mark == SIMD
    assert fors(nest)["j"].work is None


def test_nothing_is_marked_inside_a_vector_loop() -> None:
    scop = make_scop(MATRIX, parameters=TWO)
    nest = add_work_guards(scop, loops(scop, *ROWS, marks={0: SIMD, 1: LoopMark(parallel=True, simd=True)}))
    assert [loop.mark for loop in fors(nest).values()] == [SIMD, LoopMark()]


def test_balance() -> None:
    triangle = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j <= i"))
    assert imbalanced(fors(loops(triangle, *ROWS))["i"])
    assert not imbalanced(fors(loops(triangle, *ROWS))["j"])
    assert imbalanced(fors(loops(triangle, *ROWS, sizes=(8, 8)))["it"])
    square = make_scop(MATRIX, parameters=TWO)
    assert not imbalanced(fors(loops(square, *ROWS, sizes=(8, 8)))["it"])
    # a parallelogram's inner loop moves with the outer one and keeps its length
    assert not imbalanced(fors(loops(square, "S0[i, j] -> [i]", "S0[i, j] -> [i + j]"))["i"])


def test_colours_are_balanced() -> None:
    """What remainders make of an inner loop's length is an iteration at most."""
    row = For("j", Const(0), Name("n"), 2, Block((Call("S0", (Name("i"), Name("j"))),)))
    rows = For("i", Const(0), Name("n"), 1, Block((replace(row, lower=ex.modulo(Name("i"), 2)),)))
    assert not imbalanced(rows)
    floor = ex.weighted([(2, FloorDiv(ex.plus(Name("i"), 1), 2)), (-1, Name("i"))])
    assert not imbalanced(replace(rows, body=Block((replace(row, lower=floor),))))
    assert imbalanced(replace(rows, body=Block((replace(row, lower=ex.modulo(Name("i"), 64)),))))


def test_tiles_that_may_be_empty() -> None:
    """The inner loop ends at a size that the tiles' bounds don't ask for."""
    first = ex.weighted([(8, Name("jt"))])
    inner = For("j", first, ex.minimum((ex.plus(first, 7), Name("m"))), 1, Block((Call("S0", (Name("j"),)),)))
    wave = For("jt", Const(0), Name("t"), 1, Block((inner,)))
    assert imbalanced(wave)
    assert not imbalanced(replace(wave, upper=ex.minimum((Name("t"), ex.floor_div(Name("m"), 8)))))


def test_tile_loops() -> None:
    nest = loops(make_scop(MATRIX, parameters=TWO), *ROWS, sizes=(8, 8))
    assert {name: is_tile_loop(loop) for name, loop in fors(nest).items()} == {
        "it": True,
        "jt": True,
        "i": False,
        "j": False,
    }


def test_the_guard_survives_substitution() -> None:
    work = Exceeds((Name("n"), ex.plus(Name("t"), 1)), 5)
    assert ex.substitute_condition(work, {"t": Const(2)}) == Exceeds((Name("n"), Const(3)), 5)


def test_a_trip_count_that_is_a_remainder() -> None:
    """Nothing is left of it where remainders are dropped from estimates."""
    body = "for (i = 0; i < n % 3; i++) for (j = 0; j < n; j++) x[j] = y[j] + x[j];"
    result = pipeline.optimize(source_of(body), Options(scheduler="isl", tile_sizes=(2,), budget=0.0), file="in.c")
    assert [remark.id for remark in result.remarks if remark.id == "internal.error"] == []
    assert result.regions[0].transformed


def test_what_is_left_over_doesnt_speak_for_the_rest() -> None:
    """Else a size that can be divided by three would have no threads."""
    few = S("S1[i, j] : 0 <= i < n and 0 <= j < 3", "A[i][j] = exp(A[i][j]) / sin(A[i][j]);")
    scop = make_scop(MATRIX, few, parameters=TWO)
    args, third = (Name("i"), Name("j")), ex.floor_div(Name("m"), 3)
    most = For("j", Const(0), ex.plus(third, -1), 1, Block((Call("S0", args),)))
    rest = For("j", Const(0), ex.plus(Mod(Name("m"), 3), -1), 1, Block((Call("S1", args),)))
    rows = For("i", Const(0), ex.plus(Name("n"), -1), 1, Block((most, rest)), PARALLEL)
    work = fors(add_work_guards(scop, LoopNest(Block((rows,)))))["i"].work
    assert isinstance(work, Exceeds)
    assert work.factors == (Name("n"), third)


@pytest.mark.parametrize(
    ("body", "domain", "clause"),
    [
        ("for (int w = 0; w < n / 8; w++) B[i] += A[w];", "0 <= t < n and", "static"),
        ("for (int w = 0; w < n / 8; w++) B[i] += A[w];", "t = 0 and", "guided"),
        ("for (int w = 0; w < c[i]; w++) B[i] += A[w];", "0 <= t < n and", "guided"),
        ("for (int w = 0; w < n / 8; w++) if (B[i] > A[w]) break;", "0 <= t < n and", "guided"),
        ("while (B[i] > 1) B[i] *= A[t];", "0 <= t < n and", "guided"),
    ],
)
def test_threads_that_come_back_keep_their_shares_of_short_iterations(body: str, domain: str, clause: str) -> None:
    scop = make_scop(S(f"S0[t, i] : {domain} 0 <= i < n", f"if (A[i] > 0) {body}"))
    nest = add_work_guards(scop, loops(scop, "S0[t, i] -> [t]", "S0[t, i] -> [i]", marks={1: PARALLEL}))
    assert f"schedule({clause})" in emit(scop, nest).text


LAYERS = """for (k = 0; k < t; k++) {
  for (i = 0; i < n; i++) { int s = 0; for (j = 0; j < n; j++) s += w[k][i][j] * x[j]; y[i] = s; }
  for (i = 0; i < n; i++) x[i] = y[i] / 2; }"""


@pytest.mark.parametrize("kind", ["signed char", "int"])
def test_sums_of_integers_are_vector_loops_to_compilers(kind: str) -> None:
    params = f"int t, int n, {kind} w[t][n][n], {kind} x[n], int y[n]"
    made = pipeline.optimize(source_of(LAYERS, params), Options()).text.decode()
    assert "if ((double)n * n > 100000 && scopt_threads() > 1)" in made


def test_sums_of_other_cells_take_their_time() -> None:
    body = LAYERS.replace("w[k][i][j]", "w[k][j][i]")
    params = "int t, int n, signed char w[t][n][n], signed char x[n], int y[n]"
    assert "n * n > 100000" not in pipeline.optimize(source_of(body, params), Options()).text.decode()
