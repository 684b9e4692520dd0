"""Which arrays a tile keeps in panels, and which cells it copies."""

from __future__ import annotations

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt.astgen.lower.strip_lowering import Buffered, lower_strips
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule, PackedTile, PanelMark
from scopt.ir.nest import Const
from scopt.ir.scop import Dependences, Scop
from scopt.machine import Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

SIZED = "int n, int m, double A[{rows}][3000], double Q[{rows}][3000], double R[3000][3000]"
LARGE = SIZED.format(rows=3000)
# Each column is subtracted from those after it: {shift} says in which columns of A.
COLUMNS = """
for (k = 0; k < n; k++) {{
  for (i = 0; i < m; i++) Q[i][k] = A[i][{k}] / (k + 2.0);
  for (j = k + 1; j < n; j++) {{
    R[k][j] = 0.0;
    for (i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][{j}];
    for (i = 0; i < m; i++) A[i][{j}] = A[i][{j}] - Q[i][k] * R[k][j];
  }}
}}"""
PLAIN = COLUMNS.format(k="k", j="j")
SHIFTED = COLUMNS.format(k="k + 1", j="j + 1")
FIRST_TOO = PLAIN.replace("/ (k + 2.0)", "/ (k + 2.0) + A[i][0]")
GUARDED = PLAIN.replace("= A[i][k] / (k + 2.0)", "= R[k][k] > 0.0 ? A[i][k] : 1.0")


def parts(body: str, params: str = LARGE, options: Options | None = None) -> tuple[Scop, Dependences, MarkedSchedule]:
    scop, options = scop_of(body, params=params), options or Options()
    deps = dependences(scop)
    return (
        scop,
        deps,
        apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps, options, None).tree, options),
    )


def packed(body: str, params: str = LARGE, options: Options | None = None) -> list[tuple[str, int, int]]:
    """Array, first column and width of all panels."""
    _, _, marked = parts(body, params, options)
    found = [(one.array, one.dimensions[-1]) for tile in marked.packed.values() for one in tile.panels]
    return [(name, last.first, last.cells.value) for name, last in found if isinstance(last.cells, Const)]


# --- where there are panels -------------------------------------------------------------------------------------------


def test_columns_that_tiles_come_back_to_are_packed() -> None:
    assert packed(PLAIN) == [("A", 0, 32), ("Q", 0, 32)]


def test_panels_begin_at_the_least_column() -> None:
    assert packed(SHIFTED) == [("A", 1, 32), ("Q", 0, 32)]


def test_panels_have_room_for_neighbouring_columns() -> None:
    (a, q) = packed(COLUMNS.format(k="k", j="j").replace("= A[i][k] / (k + 2.0)", "= A[i][k] + A[i][k + 1]"))
    assert a[2] == q[2] + 1


def test_rows_of_unknown_number_are_many() -> None:
    assert packed(PLAIN, "int n, int m, double A[][3000], double Q[][3000], double R[3000][3000]") == [
        ("A", 0, 32),
        ("Q", 0, 32),
    ]


def test_an_array_with_references_to_other_columns_stays_where_it_is() -> None:
    assert "A" not in {array for array, _, _ in packed(FIRST_TOO, SIZED.format(rows=6000))}


@pytest.mark.parametrize(
    ("body", "params", "options"),
    [
        pytest.param(PLAIN, SIZED.format(rows=500), Options(), id="the TLB holds all rows"),
        pytest.param(
            PLAIN,
            LARGE.replace("A[3000][3000]", "A[3000][40]").replace("Q[3000][3000]", "Q[3000][40]"),
            Options(),
            id="rows are short",
        ),
        pytest.param(PLAIN, LARGE, Options(register_tile=False), id="no packing wanted"),
        pytest.param(PLAIN, LARGE, Options(tile=False), id="no tiles"),
        pytest.param(
            GUARDED, SIZED.format(rows=1400), Options(), id="what is read may not exist, and Q alone has few rows"
        ),
    ],
)
def test_no_panels_where(body: str, params: str, options: Options) -> None:
    assert packed(body, params, options) == []


# --- what is copied ---------------------------------------------------------------------------------------------------


def domain(buffered: Buffered, name: str) -> isl.Set:
    return next(one.domain for one in buffered.scop.statements if one.name == name)


def test_only_tiles_copy_that_read_from_outside_or_write() -> None:
    scop, deps, marked = parts(PLAIN)
    buffered = lower_strips(scop, deps, marked, Machine())
    copies = sorted(one.name for one in buffered.scop.statements if one.name.endswith(("_in", "_out")))
    assert copies == ["A_in", "A_out", "Q_in", "Q_out"]
    diagonal = isl.Set("{ [t, j, o, i, c] : t = 2j }")
    # Q's columns are computed in the tiles on the diagonal, and read in the others
    assert domain(buffered, "Q_in").reset_tuple_id().intersect(diagonal).is_empty()
    assert domain(buffered, "Q_out").reset_tuple_id().is_subset(diagonal)
    assert all(domain(buffered, name).n_basic_set() == 1 for name in copies)


def test_without_a_parallel_loop_there_is_one_panel_of_each_array() -> None:
    scop, deps, marked = parts(PLAIN)
    plain = {**marked.marks, **{name: replace(mark, parallel=False) for name, mark in marked.loops.items()}}
    buffered = lower_strips(scop, deps, replace(marked, marks=plain), Machine())
    assert [one.name for one in buffered.allocations] == ["A_panel", "Q_panel"]
    assert buffered.pointers == {}


# --- checks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"first": 1}, {"first": -1}, {"cells": Const(31)}], ids=["too far right", "too far left", "too narrow"]
)
def test_cells_outside_of_their_panel_are_found(change: dict[str, int | Const]) -> None:
    scop, deps, marked = parts(PLAIN)
    ((key, tile),) = marked.packed.items()
    rows, columns = tile.panels[0].dimensions
    panel = replace(tile.panels[0], dimensions=(rows, replace(columns, **change)))
    wrong = replace(tile, panels=(panel, *tile.panels[1:]))
    with pytest.raises(InternalError, match="outside of its panel"):
        lower_strips(scop, deps, replace(marked, marks={**marked.marks, key: PanelMark(wrong)}), Machine())


def test_origins_that_move_inside_of_a_tile_are_found() -> None:
    scop, deps, marked = parts(PLAIN)
    ((key, tile),) = marked.packed.items()
    halves = tuple(one.scale_down_val(isl.Val(16)).floor().scale_val(isl.Val(16)) for one in _members(tile, scop))
    with pytest.raises(InternalError, match="begin at different columns"):
        lower_strips(
            scop,
            deps,
            replace(marked, marks={**marked.marks, key: PanelMark(replace(tile, origins=halves))}),
            Machine(),
        )


def _members(tile: PackedTile, scop: Scop) -> tuple[isl.UnionPwAff, ...]:
    """An iterator of each statement, in place of each origin."""
    names = "; ".join(
        f"{one.name}[{', '.join(one.iterators)}] -> [({one.iterators[0]})]"
        for one in scop.statements
        if one.name in tile.statements
    )
    return tuple(isl.UnionPwAff(f"{{ {names} }}").intersect_domain(origin.domain()) for origin in tile.origins)
