"""Regions whose reductions may be reordered: what is printed, and that no clause can be left out."""

from __future__ import annotations

import re
from pathlib import Path

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt import pipeline
from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.loops.isl_loops import build
from scopt.astgen.passes.held import hold_cells
from scopt.astgen.passes.held_check import check_held
from scopt.cli import main
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import For, Hold, LoopNest, Reduction
from scopt.ir.nest_walks import Item, items, map_block
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.legality import ParallelDim, check_marks, check_order
from scopt.poly.readback import nest_to_schedule
from scopt.poly.reordering import Reorder, updates_of
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of, source_of

PARAMS = "int n, double *x, double *y, double A[100][100], unsigned *u, int *a"
SUM = "for (i = 0; i < n; i++) s += x[i];"
CELLS = "for (i = 0; i < n; i++) for (j = 0; j < i; j++) x[i] -= A[i][j] * x[j];"
ONE_CELL = "for (i = 0; i < n; i++) y[0] += x[i];"
READ = "for (i = 0; i < n; i++) { s += x[i]; y[i] = s; }"
REASSOCIATE = Options(reassociate=True)


def clauses(body: str, options: Options = REASSOCIATE) -> set[str]:
    result = pipeline.optimize(source_of(body, PARAMS), options)
    assert not any(remark.id in ("internal.error", "schedule.simplified") for remark in result.remarks)
    return set(re.findall(r"reduction\([^)]*\)", result.text.decode()))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SUM, {"reduction(+: s)"}),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += A[i][j];", {"reduction(+: s)"}),
        ("for (i = 0; i < n; i++) s *= x[i];", {"reduction(*: s)"}),
        ("for (i = 0; i < n; i++) if (x[i] < s) s = x[i];", {"reduction(min: s)"}),
        ("for (i = 0; i < n; i++) s = x[i] > s ? x[i] : s;", {"reduction(max: s)"}),
        (ONE_CELL, {"reduction(+: y_0)"}),
        (CELLS, {f"reduction(+: {', '.join(f'x_{k}' for k in range(8))})"}),
        (READ, set()),
        ("for (i = 0; i < n; i++) { s += x[i]; s *= y[i]; }", set()),
        ("for (i = 0; i < n; i++) x[i] += y[i];", set()),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) y[j] += A[i][j] * x[i];", set()),
    ],
)
def test_clauses(body: str, expected: set[str]) -> None:
    assert clauses(body) == expected


def test_outermost_loops_run_in_parallel_and_innermost_ones_are_vector_loops() -> None:
    text = pipeline.optimize(
        source_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += A[i][j];", PARAMS), REASSOCIATE
    ).text.decode()
    outer, inner, alone = (line.strip() for line in text.splitlines() if "#pragma omp" in line)
    assert outer.startswith("#pragma omp parallel for")
    assert "simd" not in outer
    assert inner == alone == "#pragma omp simd reduction(+: s)"


def test_a_loop_that_needs_no_reduction_is_preferred() -> None:
    text = pipeline.optimize(
        source_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) y[i] += A[i][j];", PARAMS), REASSOCIATE
    ).text.decode()
    parallel = [line for line in text.splitlines() if "parallel" in line]
    assert len(parallel) == 1
    assert "reduction" not in parallel[0]


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ("for (i = 0; i < n; i++) u[0] += u[i + 1];", {"reduction(+: u_0)"}),
        ("for (i = 0; i < n; i++) a[0] |= a[i + 1];", {"reduction(|: a_0)"}),
        ("for (i = 0; i < n; i++) a[0] += a[i + 1];", set()),
        (SUM, set()),
        ("for (i = 0; i < n; i++) if (x[i] < s) s = x[i];", set()),  # of NaNs, and of zeros, the first one counts
    ],
)
def test_without_the_option_only_what_stays_exact(body: str, alone: set[str]) -> None:
    assert clauses(body, Options()) == alone
    assert len(clauses(body)) == 1


def test_signed_sums_that_wrap_around() -> None:
    assert clauses("for (i = 0; i < n; i++) a[0] += a[i + 1];", Options(cpp_flags=("-fwrapv",))) == {
        "reduction(+: a_0)"
    }


def test_a_remark_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.c").write_bytes(source_of(SUM, PARAMS))
    assert main(["--reassociate", str(tmp_path / "in.c")]) == 0
    assert "in another order: sum in 's' [reduction.reordered]" in capsys.readouterr().err
    assert main([str(tmp_path / "in.c")]) == 0
    assert "reduction.reordered" not in capsys.readouterr().err


def told(source: bytes, folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    (folder / "in.c").write_bytes(source)
    assert main([*options, str(folder / "in.c"), "-o", str(folder / "out.c")]) == 0
    return capsys.readouterr().err


def test_a_remark_names_what_keeps_its_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = (
        "one after the other, since the result depends on the order: sum in 's' (give "
        "--reassociate if its last digits don't matter)"
    )
    assert kept in told(source_of(SUM, PARAMS), tmp_path, capsys)
    assert "reduction.in-order" not in told(source_of(SUM, PARAMS), tmp_path, capsys, "--reassociate")
    # rows run side by side: no step waits for the one before
    rows = source_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[i][j] * y[j];", PARAMS)
    assert "reduction.in-order" not in told(rows, tmp_path, capsys)
    exact = source_of("for (i = 0; i < n; i++) u[0] += u[i + 1];", PARAMS)
    assert "reduction.in-order" not in told(exact, tmp_path, capsys)


def test_integers_are_told_of_overflow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loops = "for (i = 0; i < n; i++) { t = 0; for (j = 0; j < 2; j++) t += c[300 * i + j]; d[i] = t / 3; }"
    body = source_of(loops, "int n, unsigned char *c, int *d")
    found = told(body, tmp_path, capsys)
    assert "signed numbers might overflow on the way in another order: sum in 't' (give -fwrapv" in found
    assert "reduction.in-order" not in told(body, tmp_path, capsys, "-fwrapv")


def test_a_loop_that_is_left_alone_is_told_of_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dot = (
        b"double dot(int n, double *x, double *y)\n{\n  double s = 0;\n  for (int i = 0; i "
        b"< n; i++)\n    s += x[i] * y[i];\n  return s;\n}\n"
    )
    errors = told(dot, tmp_path, capsys, "--autodetect")
    assert "give --reassociate if the last digits don't matter of the sum in 's') [region.no-gain]" in errors
    assert "region.no-gain" not in told(dot, tmp_path, capsys, "--autodetect", "--reassociate")


# --- nothing can be left out ------------------------------------------------------------------------------------------


def transformed(body: str) -> tuple[Scop, Dependences, MarkedSchedule]:
    scop = scop_of(body, PARAMS)
    deps = dependences(scop, updates=updates_of(scop, Reorder.ALL))
    return scop, deps, apply_passes(scop, deps, scop.schedule, Options())


def reductions(marked: MarkedSchedule) -> list[Reduction]:
    return [one for mark in marked.loops.values() for one in mark.reductions]


@pytest.mark.parametrize("body", [SUM, CELLS, ONE_CELL])
def test_a_loop_that_carries_reductions_has_the_clause(body: str) -> None:
    scop, deps, marked = transformed(body)
    check_marks(scop, deps, marked)
    assert len(reductions(marked)) == 1
    for change in ((), (replace(reductions(marked)[0], operator="*"),)):
        marks = {
            name: replace(mark, reductions=change if mark.reductions else ()) for name, mark in marked.loops.items()
        }
        with pytest.raises(
            InternalError, match=r"reduction dependence over '.' is carried|a parallel loop reduces 's', which S0"
        ):
            check_marks(scop, deps, replace(marked, marks=marks))


@pytest.mark.parametrize("body", [SUM, CELLS, ONE_CELL])
def test_the_same_of_generated_loops(body: str) -> None:
    scop, deps, marked = transformed(body)
    read = nest_to_schedule(scop, build(scop, marked))

    def loops(*, clause: bool) -> list[ParallelDim]:
        return [
            ParallelDim(
                one.dimension, one.statements, one.mark.private, reductions=one.mark.reductions if clause else ()
            )
            for one in read.loops
        ]

    check_order(scop, deps, read.schedule, loops(clause=True))
    with pytest.raises(InternalError, match="is carried by the parallel loop"):
        check_order(scop, deps, read.schedule, loops(clause=False))


def test_a_variable_that_is_reduced_is_not_read_inside() -> None:
    """The pairs with the reader would be carried; a reader with no other iteration around is refused by itself."""
    scop = scop_of("for (i = 0; i < n; i++) { s += x[i]; y[i] = s; }", PARAMS)
    deps = dependences(scop, updates=updates_of(scop, Reorder.ALL))
    dates = scop.order
    alone = Dependences((), deps.reductions)
    loop = ParallelDim(1, scop.domain, (), reductions=(Reduction("+", "s"),))
    with pytest.raises(InternalError, match="a parallel loop reduces 's', which S1 needs inside"):
        check_order(scop, alone, dates, [loop])


@pytest.mark.parametrize(("body", "legal"), [(SUM, True), (READ, False)])
def test_a_reversed_sum_is_legal_but_not_across_a_reader(body: str, legal: bool) -> None:
    scop = scop_of(body, PARAMS)
    deps = dependences(scop, updates=updates_of(scop, Reorder.ALL))
    backwards = isl.UnionMap("{ S0[i] -> [-i, 0]; S1[i] -> [-i, 1] }").intersect_domain(scop.domain)
    if legal:
        check_order(scop, deps, backwards)
    for table in (deps.strict(),) if legal else (deps, deps.strict()):
        with pytest.raises(InternalError, match="is not executed in order"):
            check_order(scop, table, backwards)


def printed(body: str) -> tuple[Scop, LoopNest]:
    scop, _, marked = transformed(body)
    return scop, hold_cells(scop, build(scop, marked))


def changed(nest: LoopNest, *reductions: Reduction) -> LoopNest:
    """The nest with other clauses where it has some."""

    def item(one: Item) -> tuple[Item, ...]:
        clause = isinstance(one, For) and one.mark.reductions
        return (
            replace(one, mark=replace(one.mark, reductions=reductions)) if clause and isinstance(one, For) else one,
        )

    return LoopNest(map_block(nest.body, item))


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        (Reduction("+", "y"),),
        (Reduction("*", "y", ("y_0",)),),
        (Reduction("+", "y", ("y_1",)),),
        (Reduction("+", "x", ("y_0",)),),
    ],
)
def test_cells_are_reduced_in_the_variables_of_the_clause(wrong: tuple[Reduction, ...]) -> None:
    scop, nest = printed(ONE_CELL)
    check_held(scop, nest)
    assert [one for item in items(nest.body) if isinstance(item, For) for one in item.mark.reductions] == [
        Reduction("+", "y", ("y_0",))
    ]
    with pytest.raises(InternalError, match="cells in variables"):
        check_held(scop, changed(nest, *wrong))


def test_a_cell_that_is_not_held_makes_no_vector_loop() -> None:
    """The other reference may be the same cell for some n."""
    scop, nest = printed("for (i = 0; i < n; i++) { y[0] += x[i]; } for (i = 0; i < n; i++) y[n] += y[i];")
    assert not any(
        isinstance(item, For) and item.mark.reductions and not item.mark.reductions[0].held for item in items(nest.body)
    )
    check_held(scop, nest)


@pytest.mark.parametrize(
    ("old", "new"), [("+: s", "*: s"), ("+: s", "+: x"), (" reduction(+: s)", ""), ("+: s", "+: s, n")]
)
def test_the_printed_clause_is_the_one_that_was_checked(old: str, new: str) -> None:
    scop, nest = printed(SUM)
    emitted = emit(scop, nest)
    check_printed(scop, nest, emitted)
    assert old in emitted.text
    with pytest.raises(InternalError, match="the printed C is not the loop nest"):
        check_printed(scop, nest, replace(emitted, text=emitted.text.replace(old, new)))


def test_what_is_held_stands_around_the_loop() -> None:
    _, nest = printed(ONE_CELL)
    (hold,) = (item for item in items(nest.body) if isinstance(item, Hold))
    assert [cell.name for cell in hold.cells] == ["y_0"]
    assert any(isinstance(item, For) and item.mark.parallel and item.mark.simd for item in hold.body.items)


def test_wavefronts_keep_reductions_in_order() -> None:
    """In any order, the updates would make a permutable band; in wavefronts of its tiles, they would meet."""
    body = (
        "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) for (k = 0; k < n; k++) x[i] += x[k];"
        " for (j = 1; j < n; j++) { for (k = j + 1; k < n; k++) y[3] *= x[j]; x[0] = s + 1; } }"
    )
    assert clauses(body) == set()  # nothing had to be given up


def test_arrays_of_a_loop_that_reduces_are_private() -> None:
    """The sum in x is one of unsigned numbers; t is declared inside."""
    text = b"""void f(int n, unsigned A[200])
{
  for (int i = 0; i < n; i++) {
    unsigned x = A[i];
    for (int j = n - 1; j > i; j--) {
      for (int k = i; k < n; k++) {
        unsigned t[2];
        t[0] = A[k + 2];
        t[1] = A[k + 2];
        for (int l = 4; l > 0; l--)
          x -= A[n + 3];
      }
      A[j] = A[j] + A[j];
    }
  }
}
"""
    result = pipeline.optimize(text, Options(autodetect=True, eager=True, scheduler="identity", fusion="no"))
    told = [remark.id for remark in result.remarks if remark.kind != "analysis"]
    assert told == ["reduction.reordered", "region.transformed"]
    assert "omp simd private(t)" in result.text.decode()
