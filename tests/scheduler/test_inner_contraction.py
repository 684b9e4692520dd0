"""Contractions below a tiled band: which part of a tile reads nothing that the tile writes, and where it runs."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.marked_schedule import MarkedSchedule, TileMark
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import walk
from scopt.poly.legality import check_marks, check_order
from scopt.poly.reordering import Reorder, updates_of
from scopt.scheduler import get_scheduler
from scopt.scheduler.decisions.inner_contraction import inner_contraction
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

PARAMETERS = "int n, int A[99][99], double C[99][99]"
# Cells are maxima over all ways to cut what lies between a row and a column in two.
FOLD = """for (i = n - 1; i >= 0; i--) for (j = i + 1; j < n; j++) {
  A[i][j] = A[i][j] >= A[i][j - 1] ? A[i][j] : A[i][j - 1];
  for (k = i + 1; k < j; k++) A[i][j] = A[i][j] >= A[i][k] + A[k + 1][j] ? A[i][j] : A[i][k] + A[k + 1][j]; }"""


def analysed(body: str, reorder: Reorder = Reorder.SAFE) -> tuple[Scop, Dependences]:
    scop = scop_of(body, PARAMETERS)
    return scop, dependences(scop, updates=updates_of(scop, reorder))


def passed(scop: Scop, deps: Dependences, options: Options = Options()) -> MarkedSchedule:  # noqa: B008 - frozen
    result = apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps.strict(), options).tree, options)
    check_order(scop, deps, result.tree.get_map())
    check_marks(scop, deps, result)
    return result


def tiled_instances(schedule: MarkedSchedule) -> isl.UnionSet:
    """What runs in register tiles."""
    places = (n for n in walk(schedule.tree.get_root()) if n.get_type() == isl.schedule_node_type.mark)
    (place,) = (node for node in places if isinstance(mark := schedule.mark(node), TileMark) and mark.place == "tile")
    return place.get_domain()


def test_steps_between_the_rows_and_the_columns_of_a_tile_run_in_register_tiles() -> None:
    schedule = passed(*analysed(FOLD))
    # the rows of a tile are turned round: its last one is a multiple of 48
    expected = "[n] -> { S1[i, j, k] : 0 <= i and j < n and k > 48 + 48*floor((i - 1)/48) and k < 48*floor(j/48) }"
    assert tiled_instances(schedule).is_equal(isl.UnionSet(expected))
    assert [mark.parallel for mark in schedule.loops.values()].count(True) == 1
    (tiling,) = schedule.tilings.values()
    assert (tiling.rows, tiling.columns, tiling.block) == (8, 48, 48)


def test_tiles_of_registers_begin_where_tiles_of_the_band_begin() -> None:
    schedule = passed(*analysed(FOLD))
    dates = isl.Map.from_union_map(schedule.tree.get_map().intersect_domain(tiled_instances(schedule))).range()
    # two coordinates of the wavefront, one of the sequence; then the first one of the 48 rows whose operands are packed
    first = dates.project_out(isl.dim_type.set, 4, dates.dim(isl.dim_type.set) - 4).project_out(isl.dim_type.set, 0, 3)
    assert not first.is_empty()
    assert first.is_subset(isl.Set("[n] -> { [row] : (row - 1) mod 48 = 0 }"))


@pytest.mark.parametrize(
    "body",
    [
        FOLD.replace(
            "A[", "C["
        ),  # maxima of floating-point numbers stay in their order: there is something before and after
        FOLD.replace("A[k + 1][j]", "A[k][j + i]"),  # an operand of row and column
        FOLD.replace("A[i][k] + A[k + 1][j]", "A[i][j - 1] + A[k + 1][j]"),  # an operand that the tile writes
    ],
)
def test_elsewhere_there_is_no_such_part(body: str) -> None:
    assert not passed(*analysed(body)).tilings


def test_floating_point_maxima_may_be_reassociated() -> None:
    scop, deps = analysed(FOLD.replace("A[", "C["), Reorder.ALL)
    assert passed(scop, deps).tilings


@pytest.mark.parametrize("options", [Options(register_tile=False), Options(tile=False)])
def test_options_turn_it_off(options: Options) -> None:
    assert not passed(*analysed(FOLD), options).tilings


def test_the_users_tiles_are_whole_register_tiles() -> None:
    (tiling,) = passed(*analysed(FOLD), Options(tile_sizes=(100,))).tilings.values()
    assert (tiling.block, tiling.depth) == (96, 104)  # the steps are no loop of the tiled band


def test_a_band_with_two_contractions_below_keeps_its_loops() -> None:
    twice = FOLD.replace(
        "}", "for (k = i + 1; k < j; k++) A[i][j] = A[i][j] >= A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j]; }"
    )
    scop, deps = analysed(twice)
    tree = get_scheduler("pluto").schedule(scop, deps.strict(), Options()).tree
    bands = [n for n in walk(tree.get_root()) if n.get_type() == isl.schedule_node_type.band and n.band_n_member() == 2]
    assert all(inner_contraction(scop, node, Options()) is None for node in bands)
    assert bands
