"""The loops around register tiles: blocks whose operands are packed, in caches; then tiles in registers."""

from __future__ import annotations

import islpy as isl

from scopt.isl_utils import joined, sets_of
from scopt.model import Contraction, RegisterTiling, Scop
from scopt.options import Options
from scopt.scheduler.bands import Ordered
from scopt.scheduler.contraction.recognize import contraction_of, packable, pure_part

# Of doubles; twice as many columns of floats.
ROWS, COLUMNS = 8, 24
BLOCK, DEPTH = 128, 256
CHUNK = 10
# Of a band with other statements beside the contraction: a multiple of rows and columns.
CONTRACTION_TILE = 48


def wanted(options: Options) -> bool:
    """Whether contractions are to have register tiles."""
    return options.register_tile and options.tile and not options.tile_sizes


def register_tiling(scop: Scop, node: isl.ScheduleNode, options: Options) -> RegisterTiling | None:
    """The tiling of a leaf band that is a contraction and nothing else, where the operands may be packed."""
    if not wanted(options):
        return None
    contraction = contraction_of(scop, node)
    if contraction is None or len(sets_of(node.get_domain())) > len(contraction.statements):
        return None
    tiling = _tiling(node, contraction, options)
    blocks = register_bands(node, tiling, chunks=False)[0][1]
    prefix = node.get_prefix_schedule_multi_union_pw_aff()
    scope = prefix.flat_range_product(blocks) if node.get_schedule_depth() else blocks
    return tiling if packable(scop, contraction, scope) else None


def pure_tiling(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, options: Options
) -> tuple[RegisterTiling, isl.UnionSet, bool] | None:
    """The tiling of a part of a tile's instances, that part, and whether it runs before all others; None if there is no such part.

    node: the band over the points of a tile.
    """
    if not wanted(options):
        return None
    contraction = contraction_of(scop, node)
    if contraction is None:
        return None
    partial = node.band_get_partial_schedule()
    shape = joined([_origin(partial.get_at(k), CONTRACTION_TILE) for k in contraction.members])
    for first in (False, True):
        pure = pure_part(scop, dependences, node, contraction, shape, first=first)
        if not pure.is_empty():
            row, _, step = contraction.members
            block, depth = (_extent_within(node, pure, member, most) for member, most in ((row, BLOCK), (step, DEPTH)))
            return _tiling(node, contraction, options, block, depth), pure, first
    return None


def _extent_within(node: isl.ScheduleNode, instances: isl.UnionSet, member: int, most: int) -> int:
    """The size of blocks along a member: a tile's, where the loops around the node fix one."""
    values = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_at(member)).intersect_domain(instances)
    around = isl.UnionMap.from_multi_union_pw_aff(node.get_prefix_schedule_multi_union_pw_aff()).intersect_domain(instances)
    together = around.apply_range(around.reverse())
    distances = isl.Set.from_union_set(together.apply_domain(values).apply_range(values).deltas())
    largest = distances.dim_max_val(0)
    return CONTRACTION_TILE if largest.is_int() and largest.to_python() < CONTRACTION_TILE else most


def _origin(member: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """The largest multiple of a size that isn't larger than the member."""
    return member.scale_down_val(isl.Val(size)).floor().scale_val(isl.Val(size))


def _tiling(node: isl.ScheduleNode, contraction: Contraction, options: Options, block: int = BLOCK, depth: int = DEPTH) -> RegisterTiling:
    columns = COLUMNS * (2 if contraction.operation.type.spelling == "float" else 1)
    simd = options.simd and bool(node.band_member_get_coincident(contraction.members[1]))
    return RegisterTiling(contraction, ROWS, columns, block, depth, simd)


def register_bands(node: isl.ScheduleNode, tiling: RegisterTiling, *, chunks: bool) -> list[tuple[str, isl.MultiUnionPwAff]]:
    """The bands from the outside in, each with the place that the mark above it names.

    chunks: the loop over chunks of columns goes outermost, since it alone is parallel.
    """
    partial = node.band_get_partial_schedule()
    row, column, step = (partial.get_at(k) for k in tiling.contraction.members)

    others = [k for k in range(node.band_n_member()) if k not in tiling.contraction.members]
    # what may be parallel goes outermost
    others.sort(key=lambda k: not node.band_member_get_coincident(k))
    outer = [*(partial.get_at(k) for k in others), _origin(row, tiling.block), _origin(step, tiling.depth)]
    if chunks:
        outer.insert(0, _origin(column, CHUNK * tiling.columns))
    return [
        ("", joined(outer)),
        ("rows", joined([_origin(column, tiling.columns)])),
        ("columns", joined([_origin(row, tiling.rows)])),
        ("tile", joined([row, step, column])),
    ]
