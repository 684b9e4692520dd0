"""Cells in variables: what is held, what isn't since it would be wrong, and that the checks see what is wrong."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import Emitted, emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.held import hold_cells
from scopt.astgen.passes.held_check import check_held
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Call, Const, Expr, For, Held, Hold, If, LoopMark, LoopNest, Name, Sum
from scopt.ir.nest_walks import items, map_block
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize, scop_of

ROW, J, N = Name("i"), Name("j"), Name("n")
LAST = Sum(((1, N),), -1)
UPDATE = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] = x[i] + A[i][j] * y[j];"
OWN = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] = x[i] + A[i][j] * x[j];"


def nest(
    *calls: Call | Hold, upper: Expr = LAST, jammed: bool = True, simd: bool = False, first: int = 0, last: int = 1
) -> LoopNest:
    """A loop over j in a loop over i, from `first` to n - `last`."""
    inner = For("j", Const(0), upper, 1, Block(calls), LoopMark(jammed=jammed, simd=simd))
    return LoopNest(Block((For("i", Const(first), Sum(((1, N),), -last), 1, Block((inner,))),)))


def held(scop: Scop, loops: LoopNest) -> list[tuple[str, bool]]:
    """The held cells' arrays, and whether they are stored."""
    made = hold_cells(scop, loops)
    check_held(scop, made)
    return [(cell.array, cell.stored) for item in items(made.body) if isinstance(item, Hold) for cell in item.cells]


def test_cells_that_the_loop_does_not_move_are_held() -> None:
    assert held(scop_of(UPDATE), nest(Call("S0", (ROW, J)))) == [("x", True)]


def test_cells_that_a_loop_accumulates_into_are_held() -> None:
    assert held(scop_of(UPDATE), nest(Call("S0", (ROW, J)), jammed=False)) == [("x", True)]
    # where each iteration updates a cell of its own, none waits for the last one
    assert held(scop_of(UPDATE), nest(Call("S0", (J, ROW)), jammed=False)) == []


def test_cells_that_a_loop_accumulates_into_are_held_beside_other_statements() -> None:
    both = Call("S0", (ROW, J)), Call("S1", (ROW, J))
    count = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { out[j] = in[j] > 9; total[i] += in[j]; }"
    params = "int n, unsigned char *in, unsigned char *out, int *total"
    assert held(scop_of(count, params), nest(*both, jammed=False)) == [("total", True)]
    # its own statement reads what another one writes at times
    own = count.replace("in[j] > 9", "1").replace("unsigned char *out", "int *out").replace("in[j];", "out[j];")
    assert held(scop_of(own.replace("total", "out"), params), nest(*both, jammed=False)) == []
    # the last iteration's value is that of another cell
    assert held(scop_of(count.replace("total[i] +=", "total[i] ="), params), nest(*both, jammed=False)) == []


def test_a_chain_is_held_beside_branches_that_leave_its_cell_alone() -> None:
    statements = "if (in[j] > 9) out[j] = 9; top[i] = in[j] > top[i] ? in[j] : top[i];"
    body = f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ {statements} }}"
    params = "int n, int *in, int *out, int *top"
    both = nest(Call("S0", (ROW, J)), Call("S1", (ROW, J)), jammed=False)
    assert held(scop_of(body, params), both) == [("top", True)]
    assert held(scop_of(body.replace("out[j] = 9", "top[j] = 9"), params), both) == []


def test_what_a_vector_loop_reads_of_the_array_that_it_writes() -> None:
    """Compilers can't tell the cells apart, and read the one that all iterations need again and again."""
    own = "for (i = 0; i < n - 1; i++) for (j = i + 1; j < n; j++) A[i + 1][j] -= 0.5 * A[i + 1][i] * y[i];"
    inner = For("j", Sum(((1, ROW),), 1), LAST, 1, Block((Call("S0", (ROW, J)),)), LoopMark(simd=True))
    outer = For("i", Const(0), Sum(((1, N),), -2), 1, Block((inner,)))
    assert held(scop_of(own), LoopNest(Block((outer,)))) == [("A", False), ("y", False)]
    # where the loop may have no iterations, below a test
    last = LoopNest(Block((replace(outer, upper=LAST),)))
    assert held(scop_of(own), last) == [("A", False), ("y", False)]
    assert any(isinstance(item, If) for item in items(hold_cells(scop_of(own), last).body))


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ("double *x, double *y", ["y"]),  # the store to x[j] may change y[i], as far as compilers know
        ("int *x, unsigned *y", ["y"]),
        ("char *x, double *y", ["y"]),
        ("double *x, float *y", []),
        ("double *x, long *y", []),
        ("double x[9], double y[9]", ["y"]),  # parameters are pointers
    ],
)
def test_what_a_vector_loop_reads_of_other_arrays(kinds: str, found: list[str]) -> None:
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[j] += y[i];", f"int n, {kinds}")
    assert held(scop, nest(Call("S0", (ROW, J)), jammed=False, simd=True)) == [(name, False) for name in found]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("A[m][0]", [("A", False), ("y", False)]),
        ("(y[j] > 0 ? A[m][0] : 0)", [("y", False)]),  # perhaps there is no such cell
        ("(y[j] > 0 ? A[i + 1][i] : 0)", [("y", False)]),
        ("(y[j] > 0 ? A[n - 1][n - 1] : 0)", [("y", False)]),  # it is written, here and there
    ],
)
def test_what_a_condition_reads(value: str, found: list[tuple[str, bool]]) -> None:
    own = f"for (i = 0; i < n - 1; i++) for (j = i + 1; j < n; j++) A[i + 1][j] -= 0.5 * {value} * y[i];"
    inner = For("j", Sum(((1, ROW),), 1), LAST, 1, Block((Call("S0", (ROW, J)),)), LoopMark(simd=True))
    outer = For("i", Const(0), Sum(((1, N),), -2), 1, Block((inner,)))
    assert held(scop_of(own), LoopNest(Block((outer,)))) == found


def test_what_a_condition_reads_is_there_where_something_else_writes_it() -> None:
    first = "for (j = 0; j < n; j++) x[j] = 0;"
    own = "for (i = 0; i < n - 1; i++) for (j = i + 1; j < n; j++) x[j] -= y[j] > 0 ? x[i] : 1;"
    inner = For("j", Sum(((1, ROW),), 1), LAST, 1, Block((Call("S1", (ROW, J)),)), LoopMark(simd=True))
    outer = For("i", Const(0), Sum(((1, N),), -2), 1, Block((inner,)))
    assert held(scop_of(first + own), LoopNest(Block((outer,)))) == [("x", False)]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("if (y[i] > A[i][j]) x[j] = y[i];", [("y", False)]),
        ("if (y[i] > A[i][j]) { double d = A[i][j] - y[i]; x[j] = d; }", [("y", False)]),
        ("if (A[i][j] > 0) x[j] = y[i];", []),  # perhaps there is no such cell
        ("if (A[i][j] > 0) x[i] = A[i][j];", []),  # perhaps it may not be written
        ("if (A[i][j] > x[i]) x[i] = A[i][j];", []),
    ],
)
def test_what_a_statement_does_at_times(statement: str, found: list[tuple[str, bool]]) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {statement}")
    assert held(scop, nest(Call("S0", (ROW, J)), jammed="x[i]" in statement, simd="x[i]" not in statement)) == found


@pytest.mark.parametrize(("cell", "found"), [("A[i + 1][i]", [("A", False)]), ("A[i + 1][n - 1]", [])])
def test_what_all_iterations_read_of_an_array_that_they_write_at_times(
    cell: str, found: list[tuple[str, bool]]
) -> None:
    own = f"for (i = 0; i < n - 1; i++) for (j = i + 1; j < n; j++) if (A[i + 1][j] < {cell}) A[i + 1][j] = {cell};"
    inner = For("j", Sum(((1, ROW),), 1), LAST, 1, Block((Call("S0", (ROW, J)),)), LoopMark(simd=True))
    outer = For("i", Const(0), Sum(((1, N),), -2), 1, Block((inner,)))
    assert held(scop_of(own), LoopNest(Block((outer,)))) == found


def test_extremes_of_jammed_rows_are_held_where_they_are_written_anyway() -> None:
    """x[j] of two rows beside each other: a condition decides about each store."""
    least = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (A[i][j] < x[j]) x[j] = A[i][j];"
    first = "for (j = 0; j < n; j++) x[j] = A[0][j];"
    for before, found in (("", []), (first, [("x", True)])):
        name = "S1" if before else "S0"
        both = Call(name, (ROW, J)), Call(name, (Sum(((1, ROW),), 1), J))
        assert held(scop_of(before + least), nest(*both, simd=True, last=2)) == found
        # stores to one cell that don't come from rows beside each other: gcc takes 1.2 times as long with variables
        assert held(scop_of(before + least), nest(*both, simd=True, jammed=False, last=2)) == []


def test_what_is_written_at_times_is_not_stored_each_time() -> None:
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (x[j] > 0) x[j] = 0;")
    positions = [k for k, access in enumerate(scop.statements[0].accesses) if access.array == "x"]
    call = Call("S0", (ROW, J), held=tuple((k, "x_0") for k in positions))
    with pytest.raises(InternalError, match="where nothing touches"):
        check_held(scop, nest(Hold((Held("x_0", "x", (J,), True),), Block((call,))), jammed=False))


def test_cells_of_one_iteration_are_held_there() -> None:
    """Rows and columns change places: x[j] is updated twice, y is only read."""
    both = Call("S0", (J, ROW)), Call("S0", (J, Sum(((1, ROW),), 1)))
    assert held(scop_of(UPDATE), nest(*both, simd=True, last=2)) == [("y", False), ("y", False), ("x", True)]


@pytest.mark.parametrize(
    ("body", "upper", "found"),
    [
        (OWN, LAST, []),  # x[j] is x[i] at times
        (OWN, Sum(((1, ROW),), -1), [("x", True)]),  # never
        (OWN, ROW, []),
        (UPDATE.replace("x[i] +", "(y[j] > 0 && x[i] > 0) +"), LAST, [("x", True)]),  # written anyway
        (UPDATE.replace("x[i] +", "1 +"), LAST, []),  # never read
        (UPDATE.replace("y[j]", "y[t]"), LAST, [("x", True), ("y", False)]),
        (UPDATE.replace("x[i]", "x[t]"), LAST, [("x", True)]),
        (UPDATE.replace("y[j]", "x[t]"), LAST, []),  # x[t] is x[i] once
        (UPDATE.replace("x[i]", "s"), LAST, []),  # compilers keep scalars
    ],
)
def test_no_other_reference_may_touch_a_held_cell(body: str, upper: Expr, found: list[tuple[str, bool]]) -> None:
    assert held(scop_of(body), nest(Call("S0", (ROW, J)), upper=upper)) == found


def test_nothing_is_loaded_where_the_loop_has_no_iteration() -> None:
    scop = scop_of(OWN)
    made = hold_cells(scop, nest(Call("S0", (ROW, J)), upper=Sum(((1, ROW),), -1)))
    assert "if (i > 0) {" in emit(scop, made).text
    assert (
        "if" not in emit(scop, hold_cells(scop, nest(Call("S0", (ROW, J)), upper=Sum(((1, ROW),), -1), first=1))).text
    )


def volatile(scop: Scop) -> Scop:
    array = scop.arrays["x"]
    return replace(scop, arrays={**scop.arrays, "x": replace(array, type=replace(array.type, volatile=True))})


def test_volatile_cells_are_not_held() -> None:
    assert held(volatile(scop_of(UPDATE)), nest(Call("S0", (ROW, J)))) == []


# --- the checks -------------------------------------------------------------------------------------------------------


def example() -> tuple[Scop, LoopNest, Emitted]:
    scop = scop_of(UPDATE)
    calls = (Call("S0", (Sum(((1, ROW),), k), J)) for k in range(4))
    made = hold_cells(scop, nest(*calls, last=4))
    return scop, made, emit(scop, made)


EXPECTED = """\
for (long i = 0; i < n - 3L; i++) {
  double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
  for (long j = 0; j < n; j++) {
    x_0 = x_0 + A[i][j] * y[j];
    x_1 = x_1 + A[i + 1][j] * y[j];
    scopt_apart();
    x_2 = x_2 + A[i + 2][j] * y[j];
    x_3 = x_3 + A[i + 3][j] * y[j];
  }
  x[i] = x_0;
  x[i + 1] = x_1;
  x[i + 2] = x_2;
  x[i + 3] = x_3;
}
"""


def test_the_example_is_as_it_should_be() -> None:
    scop, made, emitted = example()
    assert emitted.text == EXPECTED
    check_printed(scop, made, emitted)
    assert "scopt_apart" in emitted.helpers


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x_1 = x[i + 1],", "x_1 = x[i],"),
        ("x_1 = x[i + 1],", "x_1 = y[i + 1],"),
        ("x_1 = x[i + 1],", "x_1,"),
        ("double", "float"),
        ("  x[i + 3] = x_3;\n", ""),
        ("x[i + 3] = x_3", "x[i + 3] = x_2"),
        ("x[i + 3] = x_3", "x[i + 2] = x_3"),
        ("x[i + 3] = x_3", "x[i + 3] += x_3"),
        ("x_2 = x_2 +", "x_2 = x_1 +"),
        ("x_2 = x_2 +", "x_2 = x[i + 2] +"),
        ("    scopt_apart();\n", ""),
        ("scopt_apart()", "f()"),
    ],
)
def test_other_text_is_refused(old: str, new: str) -> None:
    scop, made, emitted = example()
    assert old in emitted.text
    with pytest.raises(InternalError):
        check_printed(scop, made, replace(emitted, text=emitted.text.replace(old, new, 1)))


def changed(made: LoopNest, **what: object) -> LoopNest:
    """The nest with the first held cell changed."""

    def visit(item: object) -> tuple[object, ...]:
        if not isinstance(item, Hold):
            return (item,)
        return (replace(item, cells=(replace(item.cells[0], **what), *item.cells[1:])),)  # type: ignore[arg-type]

    return LoopNest(map_block(made.body, visit))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "what",
    [
        {"stored": False},
        {"subscripts": (Sum(((1, ROW),), 1),)},
        {"subscripts": (J,)},
        {"array": "y"},
        {"name": "y"},
        {"name": "j"},
        {"name": "x_1"},
        {"name": "x_9"},
    ],
)
def test_another_cell_is_refused(what: dict[str, object]) -> None:
    scop, made, _ = example()
    check_held(scop, made)
    with pytest.raises(InternalError):
        check_held(scop, changed(made, **what))


def without_held(made: LoopNest, keep: int) -> LoopNest:
    """The nest with calls that name only some of the references that variables stand for."""

    def visit(item: object) -> tuple[object, ...]:
        return (replace(item, held=item.held[:keep]),) if isinstance(item, Call) else (item,)

    return LoopNest(map_block(made.body, visit))  # type: ignore[arg-type]


@pytest.mark.parametrize("keep", [0, 1])
def test_a_reference_that_is_not_replaced_is_refused(keep: int) -> None:
    scop, made, _ = example()
    with pytest.raises(InternalError):
        check_held(scop, without_held(made, keep))


def test_loads_where_nothing_touches_the_cell_are_refused() -> None:
    scop = scop_of(OWN)
    made = hold_cells(scop, nest(Call("S0", (ROW, J)), upper=Sum(((1, ROW),), -1)))

    def unguarded(item: object) -> tuple[object, ...]:
        return item.then.items if hasattr(item, "then") else (item,)

    with pytest.raises(InternalError, match="where nothing touches"):
        check_held(scop, LoopNest(map_block(made.body, unguarded)))  # type: ignore[arg-type]


def test_threads_inside_are_refused() -> None:
    scop, made, _ = example()

    def parallel(item: object) -> tuple[object, ...]:
        inner = isinstance(item, For) and item.iterator == "j"
        return (replace(item, mark=LoopMark(parallel=True)),) if inner else (item,)  # type: ignore[type-var]

    with pytest.raises(InternalError, match="parallel loop"):
        check_held(scop, LoopNest(map_block(made.body, parallel)))  # type: ignore[arg-type]


NEXT = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
    out[j] = in[j] + in[j + 1];
    total += in[j + 1] > 9;
}"""


@pytest.mark.parametrize(
    ("body", "kinds", "found"),
    [
        (NEXT, "int *in, int *out", [("in", False)]),
        (NEXT.replace("in[j + 1] >", "in[j + 2] >"), "int *in, int *out", [("in", False)]),
        (NEXT.replace("in[j + 1] >", "in[j] >"), "int *in, int *out", [("in", False)]),
        (NEXT.replace("in[j + 1] >", "in[j + 3] >"), "int *in, int *out", []),
        (NEXT, "int *in, float *out", []),  # whose store can't change it
    ],
)
def test_what_a_vector_loop_reads_behind_a_store_and_again(
    body: str, kinds: str, found: list[tuple[str, bool]]
) -> None:
    calls = Call("S0", (ROW, J)), Call("S1", (ROW, J))
    assert held(scop_of(body, f"int n, {kinds}, int total"), nest(*calls, jammed=False, simd=True)) == found


def test_what_a_vector_loop_stores_and_reads_behind_another_store_is_held() -> None:
    body = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
        p[j] = p[j] * 2 + in[j];
        q[j] = in[j];
        out[j] = p[j] + q[j];
    }"""
    calls = tuple(Call(f"S{k}", (ROW, J)) for k in range(3))
    scop = scop_of(body, "int n, float *in, float *p, float *q, float *out")
    assert held(scop, nest(*calls, jammed=False, simd=True)) == [("p", True), ("in", False)]
    assert held(scop, nest(*calls, jammed=False)) == []  # compilers ask themselves whether arrays are apart


def test_cells_that_a_condition_adds_to_are_held_if_they_are_surely_written() -> None:
    added = "for (j = 0; j < n; j++) if (y[j] > 1) x[i] += A[i][j];"
    inner = For("j", Const(0), LAST, 1, Block((Call("S1", (ROW, J)),)))
    for before, found in (("x[i] = 2;", [("x", True)]), ("y[i] = 2;", [])):
        scop = scop_of(f"for (i = 0; i < n; i++) {{ {before} {added} }}")
        loops = LoopNest(Block((For("i", Const(0), LAST, 1, Block((Call("S0", (ROW,)), inner))),)))
        assert held(scop, loops) == found


def test_several_cells_that_a_condition_adds_to_are_held() -> None:
    added = "if (y[j] > 1) for (int a = 0; a < 2; a++) v[i][a] += A[i][j];"
    body = f"for (i = 0; i < n; i++) {{ v[i][0] = 2; v[i][1] = 3; for (j = 0; j < n; j++) {added} }}"
    scop = scop_of(body, "int n, double v[100][2], double A[100][100], double y[100]")
    inner = For("j", Const(0), LAST, 1, Block((Call("S2", (ROW, J)),)))
    loops = LoopNest(Block((For("i", Const(0), LAST, 1, Block((Call("S0", (ROW,)), Call("S1", (ROW,)), inner))),)))
    assert held(scop, loops) == [("v", True), ("v", True)]


def test_an_extremum_behind_a_branch_waits_in_a_variable() -> None:
    split = "c = q[i][k] + q[k + 1][i + l] + e[i] * e[k + 1]; if (c < q[i][i + l]) q[i][i + l] = c;"
    inner = f"q[i][i + l] = 99; for (k = i; k < i + l; k++) {{ {split} }}"
    body = f"for (l = 1; l < n; l++) for (i = 0; i < n - l; i++) {{ {inner} }}"
    head = "void f(int n, int q[restrict n][n], const int e[restrict n]) { int c, i, k, l;"
    source = f"{head}\n#pragma scop\n{body}\n#pragma endscop\n}}"
    made = optimize(source.encode(), Options(eager=True)).text.decode()
    assert "if (c < q_0)" in made
    other = optimize(source.replace("q[i][k] +", "q[k][i + l] +").encode(), Options(eager=True)).text.decode()
    assert "q_0" not in other  # q[i][i + l] itself, where k is i
