"""The loops around register tiles: blocks whose operands are packed, in caches; then tiles in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import islpy as isl
from msgspec.structs import replace

from scopt.ir.marked_schedule import Contraction, RegisterTiling
from scopt.ir.scop import Scop
from scopt.machine.costs import RegisterShape, register_shape
from scopt.options import Options
from scopt.poly.bands import Ordered
from scopt.poly.isl_utils import joined, sets_of
from scopt.poly.set_pieces import coordinate
from scopt.scheduler.decisions.contractions import contraction_of, packable, pure_part
from scopt.scheduler.decisions.user_sizes import fitted, rounded, size_of
from scopt.scheduler.locality.tile_sizes import ContractionSizes, contraction_sizes
from scopt.scheduler.locality.tiling import origin

# Steps of a block that are worth being taken in pairs.
_LEAST_PAIRED = 8


def wanted(options: Options) -> bool:
    """Whether contractions are to have register tiles."""
    return options.register_tile and options.tile


def register_tiling(scop: Scop, node: isl.ScheduleNode, options: Options) -> RegisterTiling | None:
    """The tiling of a leaf band that is a contraction and nothing else, where the operands may be packed."""
    if not wanted(options):
        return None
    contraction = contraction_of(scop, node)
    if contraction is None or len(sets_of(node.get_domain())) > len(contraction.statements):
        return None
    sizes = _sizes(contraction, options)
    simd = options.simd and bool(node.band_member_get_coincident(contraction.members[1]))
    shape = _shape(contraction, options)
    tiling = _tiling(contraction, shape, sizes.block, sizes.depth, simd=simd)
    blocks = register_bands(node, tiling, options)[0][0][1]
    prefix = node.get_prefix_schedule_multi_union_pw_aff()
    scope = prefix.flat_range_product(blocks) if node.get_schedule_depth() else blocks
    return tiling if packable(scop, contraction, scope) else None


def pure_tiling(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, options: Options
) -> tuple[RegisterTiling, isl.UnionSet, bool] | None:
    """The tiling of a part of a tile's instances, that part, and whether it runs before all others; None if there is no
    such part.

    node: the band over the points of a tile.
    """
    if not wanted(options):
        return None
    contraction = contraction_of(scop, node)
    if contraction is None:
        return None
    partial = node.band_get_partial_schedule()
    members = [partial.get_at(k) for k in range(node.band_n_member())]
    shape = joined([origin(members[k], band_tile(contraction, options)) for k in contraction.members])
    for first in (False, True):
        pure = pure_part(scop, dependences, node, contraction, shape, first=first)
        if not pure.is_empty():
            simd = bool(node.band_member_get_coincident(contraction.members[1]))
            return tiling_within(node, contraction, options, members, pure, simd=simd), pure, first
    return None


def tiling_within(
    node: isl.ScheduleNode,
    contraction: Contraction,
    options: Options,
    members: Sequence[isl.UnionPwAff],
    instances: isl.UnionSet,
    *,
    simd: bool,
) -> RegisterTiling:
    """The tiling of instances below what stands around a node.
    members: of their band. simd: its column carries nothing."""
    sizes = _sizes(contraction, options)
    row, _, step = contraction.members
    block = _extent_within(node, instances, members[row], sizes.tile, sizes.block)
    depth = _extent_within(node, instances, members[step], sizes.tile, sizes.depth)
    shape = _shape(contraction, options)
    return _tiling(contraction, shape, block, depth, simd=options.simd and simd)


def _tiling(contraction: Contraction, shape: RegisterShape, block: int, depth: int, *, simd: bool) -> RegisterTiling:
    """Operands are packed in fewer bits only where there are some pairs of steps, and vectors."""
    operation = contraction.operation
    if operation.narrow is not None and (not simd or depth < _LEAST_PAIRED):
        contraction = replace(contraction, operation=replace(operation, narrow=None))
    return RegisterTiling(contraction, shape.rows, shape.columns, block, depth, simd)


def _extent_within(
    node: isl.ScheduleNode, instances: isl.UnionSet, member: isl.UnionPwAff, tile: int, most: int
) -> int:
    """The size of blocks along a member: a tile's, where the loops around the node fix one."""
    values = isl.UnionMap.from_union_pw_aff(member).intersect_domain(instances)
    around = isl.UnionMap.from_multi_union_pw_aff(node.get_prefix_schedule_multi_union_pw_aff()).intersect_domain(
        instances
    )
    together = around.apply_range(around.reverse())
    distances = isl.Set.from_union_set(together.apply_domain(values).apply_range(values).deltas())
    largest = distances.dim_max_val(0)
    return tile if largest.is_int() and largest.to_python() < tile else most


def _shape(contraction: Contraction, options: Options) -> RegisterShape:
    """Which registers there are is only known when the result is compiled: where they are fewer, or shorter, than the
    machine's, a tile is made in several passes (see `scopt.astgen.lower.kernel`)."""
    return register_shape(options.machine, _bytes(contraction))


def _bytes(contraction: Contraction) -> int:
    return contraction.operation.type.bits // 8


def _sizes(contraction: Contraction, options: Options) -> ContractionSizes:
    """The machine's, or the user's as far as register tiles allow."""
    shape, element = _shape(contraction, options), _bytes(contraction)
    sizes = contraction_sizes(options.machine, shape.rows, shape.columns, element)
    user = options.tile_sizes
    return fitted(options.machine, sizes, shape, element, user, contraction.members) if user else sizes


def column_tiles(contraction: Contraction, options: Options) -> int:
    """How many tiles of columns a thread gets at a time."""
    return _sizes(contraction, options).chunk


def size_notes(tiling: RegisterTiling, options: Options) -> tuple[str, ...]:
    """What has become of the user's sizes in the blocks of register tiles."""
    user = options.tile_sizes
    if not user:
        return ()
    row, _, step = (size_of(user, member) for member in tiling.contraction.members)
    return rounded(user, rows_a_block=(row, tiling.block), steps=(step, tiling.depth))


def tile_notes(contraction: Contraction, options: Options) -> tuple[str, ...]:
    """The same where a part of a band's tiles runs in register tiles."""
    user = options.tile_sizes
    return rounded(user, iterations_a_tile=(user[0], band_tile(contraction, options))) if user else ()


def band_tile(contraction: Contraction, options: Options) -> int:
    """The tile size of a band with other statements beside the contraction:
    a multiple of a register tile's rows and columns."""
    return _sizes(contraction, options).tile


def register_bands(
    node: isl.ScheduleNode,
    tiling: RegisterTiling,
    options: Options,
    *,
    outermost: int | None = None,
    chunk: int | None = None,
) -> tuple[list[tuple[Literal["", "rows", "columns", "tile"], isl.MultiUnionPwAff]], int]:
    """The bands from the outside in, each with the place of the mark above it; the first one has none. And the position
    in the first one of the loop over blocks of the member that is to be outermost, as far as that is possible.

    Of the columns there is a loop over chunks only if it is to be outermost. chunk: tiles of columns in each; None: as
    many as options say.
    """
    contraction, partial = tiling.contraction, node.band_get_partial_schedule()
    row, column, step = (partial.get_at(k) for k in contraction.members)

    def first(member: isl.UnionPwAff, iterator: int, size: int) -> isl.UnionPwAff:
        """The iterator's value where the member is the first one of its tile."""
        return _iterator(node, iterator).sub(member.sub(origin(member, size)))

    others = [k for k in range(node.band_n_member()) if k not in contraction.members]
    # what may be parallel goes outermost
    others.sort(key=lambda k: (k != outermost, not node.band_member_get_coincident(k)))
    outer = [
        *(partial.get_at(k) for k in others),
        first(row, contraction.row, tiling.block),
        first(step, contraction.reduction, tiling.depth),
    ]
    if outermost == contraction.members[1]:
        outer.insert(0, origin(column, (chunk or column_tiles(contraction, options)) * tiling.columns))
    bands: list[tuple[Literal["", "rows", "columns", "tile"], isl.MultiUnionPwAff]] = [
        ("", joined(outer)),
        ("rows", joined([first(column, contraction.column, tiling.columns)])),
        ("columns", joined([first(row, contraction.row, tiling.rows)])),
        ("tile", joined([row, step, column])),
    ]
    return bands, len(others) if outermost == contraction.members[0] else 0


def _iterator(node: isl.ScheduleNode, position: int) -> isl.UnionPwAff:
    """One iterator of all statements at a node."""
    first, *others = (coordinate(part, position) for part in sets_of(node.get_domain()))
    for other in others:
        first = first.union_add(other)
    return first
