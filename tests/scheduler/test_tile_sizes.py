"""Footprints, and the tile sizes that come from them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from scopt.ir.scop import Scop
from scopt.machine import Cache, Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.locality.footprints import ReferenceGroup, reference_groups, rows_in_cache, tile_space, trip_count
from scopt.scheduler.locality.tile_sizes import CANDIDATES, TiledBand, contraction_sizes, piece, row_sizes, tile_unit
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

pytestmark = pytest.mark.usefixtures("no_rows_beside")

UNIT = {k: tuple(Fraction(int(k == column)) for column in range(3)) for k in range(3)}
ARRAYS = "int n, int m, double A[500][1000], double B[500][1000], double x[1000], float F[512][1024]"
STENCIL = """for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
    B[i][j] = A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j];
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
    A[i][j] = B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]; }"""
COLUMNS = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[i] += A[i][j] * y[j];"


def groups_of(body: str, rows: tuple[tuple[Fraction, ...], ...], params: str = ARRAYS) -> tuple[ReferenceGroup, ...]:
    """Of a SCoP with one statement, in tiles of these rows."""
    scop = scop_of(body, params)
    return reference_groups(scop, tile_space(scop, {}, {"S0": rows}))


def band_of(scop: Scop, rows: tuple[tuple[Fraction, ...], ...], machine: Machine, *, simd: bool = True) -> TiledBand:
    """Tiles in the same rows for all statements."""
    space = tile_space(scop, {}, {s.name: rows for s in scop.statements})
    return TiledBand(scop, machine, space, reference_groups(scop, space), len(rows), (1,) * len(rows), simd)


def stencil(machine: Machine) -> TiledBand:
    """In tiles of t and t + i, with whole rows."""
    return band_of(
        scop_of(STENCIL, ARRAYS), (UNIT[0], tuple(a + b for a, b in zip(UNIT[0], UNIT[1], strict=True))), machine
    )


def sizes_in(scop: Scop, options: Options) -> str:
    tree = get_scheduler("pluto").schedule(scop, dependences(scop), options, None).tree
    return str(apply_passes(scop, dependences(scop), tree, options).tree.get_root())


# --- footprints -------------------------------------------------------------------------------------------------------


def test_references_that_differ_by_constants_are_a_group() -> None:
    body = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) B[i][j] = A[i][j - 1] + A[i - 1][j + 1] + A[j][i];"
    groups = groups_of(body, (UNIT[0][:2], UNIT[1][:2]))
    assert [(group.array, group.spread) for group in groups] == [("A", (1, 2)), ("A", (0, 0)), ("B", (0, 0))]


def test_lines_of_a_tile() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[j][i] + x[j];"
    groups = {group.array: group for group in groups_of(body, (UNIT[0][:2], UNIT[1][:2]))}
    assert groups["A"].lines((10, 64), 64) == 10 * (8 + 1)
    assert groups["A"].lines((10, 5000), 64) == 10 * 1000 * 8 // 64  # whole rows follow each other
    assert groups["B"].lines((1, 64), 64) == 64
    assert (groups["x"].lines((10, 64), 64), groups["x"].lines((64, 1), 64)) == (9, 1)
    assert groups["A"].lines((10, 64), 4096) == 20  # pages


def test_brute_force_never_finds_more_lines() -> None:
    """Cells of boxes at all places of a row: no more lines than said."""
    group = groups_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][i + j] = 0;", (UNIT[0][:2], UNIT[1][:2]))[0]
    for rows, columns in ((1, 1), (3, 7), (8, 8), (5, 30)):
        worst = max(
            len({(i * 8000 + (i + j) * 8) // 64 for i in range(rows) for j in range(start, start + columns)})
            for start in range(8)
        )
        assert worst <= group.lines((rows, columns), 64)


def test_skewed_members_move_the_iterators_behind_them() -> None:
    """Along t, with t + i fixed, i goes down: a tile of both has as many rows as both together."""
    rows = (UNIT[0][:2], (Fraction(1), Fraction(1)))
    group = groups_of("for (t = 0; t < m; t++) for (i = 0; i < n; i++) x[i] += 1;", rows)[0]
    assert group.moves == ((Fraction(-1), Fraction(1)),)
    assert group.length(0, (10, 20)) == 29


def test_a_tile_between_hyperplanes_has_few_instances() -> None:
    rows = ((Fraction(2), Fraction(1)), (Fraction(2), Fraction(-1)))
    scop = scop_of("for (t = 0; t < m; t++) for (i = 0; i < n; i++) x[i] += 1;", ARRAYS)
    assert tile_space(scop, {}, {"S0": rows}).instances == {"S0": Fraction(1, 4)}


def test_loops_inside_a_tile_run_in_full() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) A[i][j] += B[i][k];"
    scop = scop_of(body, ARRAYS)
    band = band_of(scop, (UNIT[0], UNIT[1]), Machine())
    assert band.sizes(16) == (16, 16, 1000)
    assert trip_count(band.groups, 0) == 500


@pytest.mark.parametrize(
    ("stride", "rows"), [(64, 512), (4096, 8), (8192, 8), (2048, 16), (8000, 512), (16000, 256), (0, 8)]
)
def test_rows_whose_stride_divides_a_way_compete(stride: int, rows: int) -> None:
    assert rows_in_cache(stride, Cache(32 << 10, 8)) == rows


# --- sizes ------------------------------------------------------------------------------------------------------------


def with_last_cache(size: int) -> Machine:
    return replace(Machine(), caches=(*Machine().caches[:2], Cache(size, 16)))


def test_larger_caches_never_make_smaller_tiles() -> None:
    units = [tile_unit(stencil(with_last_cache(2 << power))) for power in range(20, 27)]
    assert units == sorted(units)
    assert set(units) <= set(CANDIDATES)


def test_slower_memory_never_makes_smaller_tiles_and_faster_memory_no_larger_ones() -> None:
    units = [
        tile_unit(stencil(replace(with_last_cache(1 << 40), bandwidth=float(width)))) for width in (1000, 100, 20, 5, 1)
    ]
    assert units == sorted(units)
    assert units[0] < units[-1]


def test_footprints_fit_where_any_tile_does() -> None:
    for power in range(21, 27):
        band = stencil(with_last_cache(1 << power))
        unit = tile_unit(band)
        assert band.footprint(unit) <= 1 << power or unit == CANDIDATES[0]


def test_bands_that_nothing_is_known_of_have_a_plain_size() -> None:
    space = tile_space(scop_of("x[0] = 1;", ARRAYS), {}, {})
    assert tile_unit(TiledBand(scop_of("x[0] = 1;", ARRAYS), Machine(), space, (), 2, (1, 1), False)) == 32


def test_extreme_machines_have_sizes() -> None:
    for machine in (
        replace(Machine(), gigahertz=1e-9, bandwidth=1e-9),
        replace(Machine(), gigahertz=1e12, bandwidth=1e12),
    ):
        assert tile_unit(stencil(machine)) in CANDIDATES


def test_a_cheap_fork_allows_small_tiles() -> None:
    scop = scop_of("for (i = 1; i < n; i++) for (j = 1; j < n; j++) x[j] = x[j] + x[j - 1];", ARRAYS)
    rows = (UNIT[0][:2], UNIT[1][:2])
    units = [
        tile_unit(band_of(scop, rows, replace(Machine(), fork_nanoseconds=cost), simd=False))
        for cost in (10, 25_000, 10_000_000)
    ]
    assert units == sorted(units)
    assert units[0] < units[1] < units[2]


@pytest.mark.parametrize(("extent", "rows"), [(1000, 16), (1024, 8), (2048, 8), (1536, 8), (2000, 16)])
def test_rows_side_by_side_are_those_that_stay_apart(extent: int, rows: int) -> None:
    """Powers of two put all rows into the same sets."""
    groups = groups_of(
        COLUMNS, (UNIT[1][:2], UNIT[0][:2]), f"int n, int m, double A[500][{extent}], double x[500], double y[{extent}]"
    )
    assert row_sizes(Machine(), groups, 0, 1, balance=False) == (512, rows)
    assert row_sizes(Machine(), groups, 0, 1, balance=True) == (32, 8 if rows == 8 else 32)


def test_arrays_share_the_prefetcher() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[i] += A[i][j] * B[i][j];"
    groups = groups_of(body, (UNIT[1][:2], UNIT[0][:2]))
    assert [
        row_sizes(replace(Machine(), streams=streams), groups, 0, 1, balance=False)[1] for streams in (16, 32, 64)
    ] == [8, 16, 32]


def test_jumps_that_no_loop_makes_up_for_have_plain_sizes() -> None:
    groups = groups_of(
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[i] += A[2 * i][2 * j];", (UNIT[1][:2], UNIT[0][:2])
    )
    assert row_sizes(Machine(), groups, 0, 1, balance=False) == (32, 32)


def test_pieces_of_rows_are_counted_in_lines() -> None:
    doubles = groups_of("for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[j] += A[i][j];", (UNIT[0][:2], UNIT[1][:2]))
    floats = groups_of("for (i = 0; i < n; i++) for (j = 0; j < m; j++) F[i][j] = 0;", (UNIT[0][:2], UNIT[1][:2]))
    assert [piece(Machine(), groups, parallel=True) for groups in (doubles, floats)] == [128, 256]
    assert piece(Machine(), doubles, parallel=False) == 256


# --- contractions -----------------------------------------------------------------------------------------------------


def test_blocks_of_the_default_machine() -> None:
    sizes = contraction_sizes(Machine(), 8, 24)
    assert (sizes.block, sizes.depth, sizes.chunk, sizes.tile) == (128, 256, 5, 48)


@pytest.mark.parametrize("first", [4 << 10, 32 << 10, 48 << 10, 128 << 10])
@pytest.mark.parametrize("second", [256 << 10, 1 << 20, 4 << 20])
@pytest.mark.parametrize("element", [4, 8])
def test_blocks_fit_into_their_caches(first: int, second: int, element: int) -> None:
    machine = replace(Machine(), caches=(Cache(first, 8), Cache(second, 16), Cache(32 << 20, 16)))
    columns = 24 * 8 // element
    sizes = contraction_sizes(machine, 8, columns, element)
    assert sizes.depth * 8 * element <= first // 2
    assert sizes.block * sizes.depth * element <= max(second // 4, 8 * sizes.depth * element)
    assert (sizes.block % 8, sizes.tile % 8, sizes.tile % columns) == (0, 0, 0)
    assert min(sizes.block, sizes.depth, sizes.chunk, sizes.tile) > 0
    larger = contraction_sizes(
        replace(machine, caches=tuple(replace(c, size=2 * c.size) for c in machine.caches)), 8, columns, element
    )
    assert (larger.depth, larger.tile) >= (sizes.depth, sizes.tile)
    assert larger.block * larger.depth >= sizes.block * sizes.depth


# --- in the passes ----------------------------------------------------------------------------------------------------


def test_sizes_come_from_the_machine_unless_the_user_gives_some() -> None:
    # a private variable: such rows aren't jammed
    body = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { s = A[i][j]; x[i] += s * y[j]; }"
    scop = scop_of(body, "int n, int m, double A[500][1000], double x[500], double y[1000]")
    assert "mod 16" in sizes_in(scop, Options())
    assert "mod 8" in sizes_in(scop, Options(machine=replace(Machine(), streams=8)))
    given = sizes_in(scop, Options(tile_sizes=(20, 12), machine=replace(Machine(), streams=8)))
    assert "mod 20" in given
    assert "mod 12" in given
    assert "mod 8" not in given


def test_a_stencils_sizes_in_the_tree() -> None:
    scop = scop_of(STENCIL, ARRAYS)
    assert "/64)" in sizes_in(scop, Options(machine=replace(Machine(), bandwidth=40.0)))
    assert "/128)" in sizes_in(scop, Options())


def test_strips_of_a_sweep_that_streams_lines_are_as_many_as_cores() -> None:
    body = "for (i = 1; i < n; i++) for (j = 0; j < m; j++) A[i][j] -= y[i] * A[i - 1][j];"
    for columns, size in ((4000, 1000), (1300, 328), (900_000, 64 << 10)):
        scop = scop_of(body, f"int n, int m, double A[3000][{columns}], double y[3000]")
        assert f"mod {size})" in sizes_in(scop, Options())
    again = body.replace("A[i][j]", "z[j]").replace("A[i - 1][j]", "x[j]")
    scop = scop_of(again, "int n, int m, double x[4000], double y[3000], double z[4000]")
    assert "mod 256)" in sizes_in(scop, Options())


def with_second_cache(size: int) -> Options:
    first, _, last = Machine().caches
    return Options(machine=replace(Machine(), caches=(first, Cache(size, 16), last)))


def test_what_a_diamond_uses_stays_in_the_second_cache() -> None:
    scop = scop_of(STENCIL, ARRAYS)
    assert "/32)" in sizes_in(scop, with_second_cache(512 << 10))
    assert "/64)" in sizes_in(scop, with_second_cache(768 << 10))
    assert "/128)" in sizes_in(scop, with_second_cache(2 << 20))
    # tiles of a few rows would pay for little else than their bounds
    assert "/128)" in sizes_in(scop, with_second_cache(64 << 10))


VOLUME = """for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) for (k = 1; k < n - 1; k++)
    W[i][j][k] = V[i][j][k - 1] + V[i][j][k + 1] + V[i][j - 1][k] + V[i][j + 1][k] + V[i - 1][j][k] + V[i + 1][j][k];
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) for (k = 1; k < n - 1; k++)
    V[i][j][k] = W[i][j][k - 1] + W[i][j][k + 1] + W[i][j - 1][k] + W[i][j + 1][k] + W[i - 1][j][k] + W[i + 1][j][k];
}"""


def test_members_between_a_diamond_and_the_vector_loop_are_tiled() -> None:
    scop = scop_of(VOLUME, "int n, int m, double V[160][160][160], double W[160][160][160]")
    small, large = (sizes_in(scop, with_second_cache(size)) for size in (1 << 20, 8 << 20))
    assert "floor((2t + j)/16)" in small
    assert "floor((2t + j)/64)" in large
    assert "floor((2t + k)/" not in small + large
    assert "floor((2t + j)/20)" in sizes_in(scop, Options(tile_sizes=(32, 32, 20)))


def test_diamonds_of_planes_may_be_small() -> None:
    """A grid of 160 has ten tiles of 16, and five of 32."""
    loops = "".join(f"for ({x} = 1; {x} < n - 1; {x}++) " for x in "ijk")
    body = f"""for (t = 0; t < m; t++) {loops}
      P[(t + 1) % 3][i][j][k] = 2 * P[t % 3][i][j][k] - P[(t + 2) % 3][i][j][k] + P[t % 3][i - 1][j][k]
        + P[t % 3][i + 1][j][k] + P[t % 3][i][j - 1][k] + P[t % 3][i][j + 1][k - 1] + P[t % 3][i][j][k + 1];"""
    sizes = sizes_in(scop_of(body, "int n, int m, float P[3][160][160][160]"), Options(scheduler="pluto"))
    assert "floor((t + i)/16)" in sizes
    assert "/32)" not in sizes
