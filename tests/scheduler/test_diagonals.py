"""Vectors along diagonals: where they are claimed, what is kept in panels, and what stands in the way."""

from __future__ import annotations

import pytest

from scopt.ir.marked_schedule import BandChoice, MarkedSchedule
from scopt.ir.nest import Const
from scopt.machine.costs import diagonal_rows, diagonal_steps
from scopt.machine.processor import Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

PARAMS = "int n, int m, float S[][m], float W[][m], float T[][2][m], char B[][m], float *a, float *b, int *at"
NAME = "vectors along diagonals"
LEAST = "S[i-1][j-1] < S[i-1][j] ? S[i-1][j-1] : S[i-1][j]"
WARPED = "float d = a[i] - b[j]; float least = {least}; S[i][j] = (least < S[i][j-1] ? least : S[i][j-1]) + d * d;"
BODY = WARPED.format(least=LEAST)


LOOPS = "for (i = 1; i < n; i++) for (j = 1; j < m; j++)"


def marked(body: str, options: Options | None = None, loops: str = LOOPS, params: str = PARAMS) -> MarkedSchedule:
    scop, options = scop_of(f"{loops} {{ {body} }}", params=params), options or Options()
    deps = dependences(scop)
    tree = get_scheduler("pluto").schedule(scop, deps, options, None).tree
    return apply_passes(scop, deps, tree, options)


def choice(body: str, options: Options | None = None, params: str = PARAMS) -> BandChoice:
    return marked(body, options, params=params).choices[0]


def why_not(body: str, options: Options) -> str:
    return dict(choice(body, options).reasons).get(NAME, "")


def test_recurrences_with_long_chains_get_them() -> None:
    found = marked(BODY)
    assert [one.mechanism for one in found.choices] == [NAME]
    ((_, tile),) = found.packed.items()
    ((panel,), loops) = tile.panels, [mark for mark in found.loops.values()]
    diagonal, row = panel.dimensions
    assert (diagonal.terms, row.terms) == (((0, 1), (1, 1)), ((0, 1),))
    assert isinstance(diagonal.cells, Const)
    assert isinstance(row.cells, Const)
    rows, steps = diagonal_rows(Machine(), 4), diagonal_steps(Machine(), diagonal_rows(Machine(), 4), 4)
    assert (diagonal.cells.value, row.cells.value) == (steps + 2, rows + 1)
    assert (diagonal.first, row.first) == (-2, -1)
    assert sorted((mark.parallel, mark.simd, mark.private) for mark in loops) == [
        (False, True, ("d", "least")),
        (True, False, ("d", "least")),
    ]


def test_members_may_run_backwards() -> None:
    back = BODY.replace("i-1", "i+1").replace("j-1", "j+1")
    ((_, tile),) = marked(back, loops="for (i = n - 2; i > 0; i--) for (j = m - 2; j > 0; j--)").packed.items()
    diagonal, row = tile.panels[0].dimensions
    assert (set(diagonal.terms), row.terms) == ({(0, -1), (1, -1)}, ((0, -1),))


def test_tables_of_narrow_cells_are_for_clang() -> None:
    body = "S[i][j] = (S[i-1][j] < S[i][j-1] ? S[i-1][j] : S[i][j-1]) + B[at[i]][at[j]];"
    assert "a table of narrow ones" in why_not(body, Options())
    assert "narrow" not in why_not(body, Options(cc="/usr/bin/clang-19 -w"))
    assert "narrow" not in why_not(body.replace("B[", "W["), Options())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (BODY.replace("S[i][j] =", "S[i][j] = T[i][i%2][j] = "), ""),
        ("B[i][j] = B[i-1][j] * a[i] + B[i][j-1] * B[i-1][j-1];", "'B' can't be kept in panels"),
        ("S[i][j] = S[i-1][j] + S[i][j-1] * a[i]; S[i+j][j] = 1;", ""),
        ("S[i][j] = a[i] > 0 ? S[i-1][j] * S[i][j-1] : S[i-1][j-1];", "'S' can't be kept in panels"),
        ("S[i][j] = S[i-1][j] + a[j];", "its loops aren't two that can be tiled"),
    ],
)
def test_where_there_are_none(body: str, reason: str) -> None:
    found = choice(body)
    assert found.mechanism != NAME
    assert reason in dict(found.reasons).get(NAME, "")


@pytest.mark.parametrize(
    "options", [Options(simd=False), Options(tile=False), Options(register_tile=False)], ids=["simd", "tile", "buffers"]
)
def test_what_switches_them_off(options: Options) -> None:
    assert "switched off" in why_not(BODY, options)


def test_without_threads_tiles_run_in_order() -> None:
    found = marked(BODY, Options(parallel=False))
    assert [one.mechanism for one in found.choices] == [NAME]
    assert not any(mark.parallel for mark in found.loops.values())


def test_sizes_may_be_given() -> None:
    ((_, tile),) = marked(BODY, Options(tile_sizes=(20, 50))).packed.items()
    diagonal, row = tile.panels[0].dimensions
    assert (diagonal.cells, row.cells) == (Const(52), Const(21))


def test_tables_of_few_rows_get_none() -> None:
    params = PARAMS.replace("float S[][m]", "float S[90][3000]")
    assert "too few rows" in dict(choice(BODY, params=params).reasons)[NAME]


def test_sizes_follow_from_the_machine() -> None:
    assert diagonal_rows(Machine(), 1) >= diagonal_rows(Machine(), 8)
    assert diagonal_steps(Machine(), 64, 4) >= diagonal_steps(Machine(), 64, 4000) >= 64
