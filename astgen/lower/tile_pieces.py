"""The instances of a contraction cut into register tiles: which steps a whole tile can make, which cells a tile has,
what has to be packed.

All sets live in one flat space ``[p0, …, pD-1, i0, …, in-1]``: the schedule's coordinates outside of a register tile,
then the statement's iterators.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from msgspec import Struct

from scopt.diagnostics import ScoptError
from scopt.ir.marked_schedule import RegisterTiling
from scopt.poly.isl_utils import IN, SET, compact, equalities

Place = tuple[int, ...]


class Pieces(Struct, frozen=True, eq=False):
    """One contraction's sets. steps and what follows are without the dimensions that they say nothing of: those are
    unconstrained.

    own: the instances of each statement, instances: all. outside: how many coordinates come first.
    steps: values of the reduction loop at which all cells of a tile are updated: those that the register tile makes, an
      interval for each tile.
    before, after: instances that are left, in steps before those and after them.
    tiles: those that make steps. has_whole, has_partial: whether all cells of some, or not all of some, exist. cells:
      of all tiles.
    complete: says of a tile that all of its cells exist.
    """

    own: tuple[isl.Set, ...]
    instances: isl.Set
    outside: int
    steps: isl.Set
    before: isl.Set
    after: isl.Set
    tiles: isl.Set
    has_whole: bool
    has_partial: bool
    cells: isl.Set
    complete: isl.Set


class Irregular(ScoptError):
    """A contraction that can't be cut into register tiles."""


def pieces(
    tiling: RegisterTiling,
    domains: Sequence[isl.Set],
    prefix: isl.Map,
    step_origin: int,
    column_origin: int,
    row_origin: int,
    *,
    copied: bool = False,
) -> Pieces:
    """domains: of each statement. prefix: ``{ [i0, …] -> [p0, …] }`` for all of them, the schedule's coordinates
    outside of a register tile.
    step_origin, column_origin, row_origin: the coordinates that are the first step of the block, the first column and
      the first row of the tile.
    copied: whole tiles count as partial ones, which work on a copy of their cells.

    Raises Irregular.
    """
    outside = prefix.dim(isl.dim_type.out)
    together = domains[0]
    for other in domains[1:]:
        together = together.union(other)
    own = tuple(_with_coordinates(prefix, one) for one in domains)
    instances = _with_coordinates(prefix, compact(together))
    row, column, step = (
        outside + k for k in (tiling.contraction.row, tiling.contraction.column, tiling.contraction.reduction)
    )
    # of all blocks of steps: what tiles are whole doesn't depend on the block then
    cells = free(instances, step, step_origin).coalesce()
    any_cell = free(instances, row, column).coalesce()
    ragged = free(any_cell.intersect(cells).subtract(instances), row, column).coalesce()
    steps = _regular(any_cell.subtract(ragged).coalesce())
    rest = instances.subtract(steps).coalesce()
    before, after = _around(rest, steps, step, row, column)
    with_steps = free(steps, step)
    ranges = (row, row_origin, tiling.rows), (column, column_origin, tiling.columns)
    everything = box(instances, ranges)
    all_tiles = free(cells, row, column)
    whole = None if copied else _with_all_cells(cells, ranges)
    if whole is not None:
        lacking = all_tiles.subtract(whole)
    else:
        lacking = all_tiles if copied else free(all_tiles.intersect(everything).subtract(cells), row, column)
    tiles = with_steps.intersect(all_tiles).coalesce()
    has_partial = not lacking.intersect(tiles).is_empty()
    has_whole = not tiles.is_subset(lacking)
    whole = compact(all_tiles.subtract(lacking)) if whole is None else whole
    complete = compact(whole.gist(all_tiles.coalesce()))
    return Pieces(own, instances, outside, steps, before, after, tiles, has_whole, has_partial, cells, complete)


def _with_all_cells(cells: isl.Set, ranges: Sequence[tuple[int, int, int]]) -> isl.Set | None:
    """The tiles all of whose cells are in a convex set: each of its constraints holds where it is worst. None for other
    sets. ranges: as those of `box`.

    What is left of tiles by projection has a piece for each border that a tile may begin at: a test of many cases, each
    of which what comes behind it has to look at.
    """
    if cells.n_basic_set() != 1:
        return None
    (piece,) = cells.get_basic_sets()
    cell = [dimension for dimension, _, _ in ranges]
    divisions = [piece.get_div(k) for k in range(piece.dim(isl.dim_type.div))]
    if any(one.is_nan() or one.involves_dims(IN, dimension, 1) for one in divisions for dimension in cell):
        return None
    result = isl.BasicSet.universe(cells.get_space())
    for constraint in piece.get_constraints():
        if constraint.is_equality() and any(constraint.involves_dims(SET, dimension, 1) for dimension in cell):
            return None
        for dimension, origin, size in ranges:
            factor = constraint.get_coefficient_val(SET, dimension).to_python()
            first = constraint.get_coefficient_val(SET, origin).to_python() + factor
            worst = constraint.get_constant_val().to_python() + min(factor * (size - 1), 0)
            constraint = (
                constraint.set_coefficient_val(SET, dimension, isl.Val(0))
                .set_coefficient_val(SET, origin, isl.Val(first))
                .set_constant_val(isl.Val(worst))
            )
        result = result.add_constraint(constraint)
    return isl.Set.from_basic_set(result)


def _with_coordinates(prefix: isl.Map, domain: isl.Set) -> isl.Set:
    return prefix.intersect_domain(domain).reverse().wrap().flatten().coalesce()


def _regular(steps: isl.Set) -> isl.Set:
    """The most general one of a set's pieces: what is left at the borders isn't worth cases in the code."""
    found = steps.get_basic_sets()
    return (
        isl.Set.from_basic_set(max(found, key=lambda piece: (-equalities(piece), piece.dim(isl.dim_type.div))))
        if len(found) > 1
        else steps
    )


def free(things: isl.Set, *dimensions: int) -> isl.Set:
    """Without the constraints on some dimensions."""
    for dimension in dimensions:
        things = things.project_out(SET, dimension, 1).insert_dims(SET, dimension, 1)
    return things


def box(like: isl.Set, ranges: Sequence[tuple[int, int, int]]) -> isl.Set:
    """origin <= dimension < origin + size, for (dimension, origin's dimension, size)."""
    space = like.get_space()
    result = isl.Set.universe(space)
    for dimension, origin, size in ranges:
        local = isl.LocalSpace.from_space(space)
        distance = isl.Aff.var_on_domain(local, SET, dimension).sub(isl.Aff.var_on_domain(local, SET, origin))
        top = isl.Aff.zero_on_domain(local).add_constant_val(isl.Val(size - 1)).sub(distance)
        result = result.intersect(isl.Set.from_basic_set(distance.ge_basic_set(isl.Aff.zero_on_domain(local))))
        result = result.intersect(isl.Set.from_basic_set(top.ge_basic_set(isl.Aff.zero_on_domain(local))))
    return result


def _around(rest: isl.Set, steps: isl.Set, step: int, row: int, column: int) -> tuple[isl.Set, isl.Set]:
    """The instances before and after the steps of their tile; those of tiles without steps are before."""
    if rest.is_empty():
        return rest, rest
    space = rest.get_space().map_from_set()
    later = isl.Map.universe(space)
    for dimension in range(rest.dim(SET)):
        if dimension == step:
            later = later.order_lt(isl.dim_type.in_, dimension, isl.dim_type.out, dimension)
        elif dimension not in (row, column):
            later = later.equate(isl.dim_type.in_, dimension, isl.dim_type.out, dimension)
    after = rest.intersect(later.intersect_domain(steps).range())
    early = rest.intersect(later.reverse().intersect_domain(steps).range())
    if not after.intersect(early).is_empty():
        raise Irregular("the steps of a register tile are not an interval")
    return rest.subtract(after).coalesce(), after.coalesce()
