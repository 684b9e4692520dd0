"""Tiling of permutable bands, and the wavefront that makes a tile band without a parallel member parallel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import islpy as isl

from scopt.poly.isl_utils import joined

# Members of a band that are tiled, at most.
_TILED = 3


def sizes_for(user: Sequence[int], defaults: Sequence[int]) -> tuple[int, ...]:
    """The user's sizes, outermost first, the last one repeated; the defaults where the user gives none."""
    if not user:
        return tuple(defaults)
    return tuple(user[min(level, len(user) - 1)] for level in range(len(defaults)))


def tiled(node: isl.ScheduleNode, sizes: Sequence[int], *, scaled: bool) -> isl.ScheduleNode:
    """Tile a permutable band: the result is the band of the tile loops, its child the band of the point loops.

    scaled: tile loops step by the tile size (readable); otherwise by one (needed where tile coordinates are added up).
    """
    multi = isl.MultiVal.zero(node.band_get_space())
    for position, size in enumerate(sizes):
        multi = multi.set_val(position, isl.Val(size))
    with _tile_options(node.get_ctx(), scaled):
        return node.band_tile(multi)


def meet_on_diagonals(node: isl.ScheduleNode, sizes: Sequence[int]) -> bool:
    """Whether some iterations of a band's first two members, in one run of it, lie a tile apart along a diagonal: if
    none do, the tiles of a wavefront have nothing to run in parallel. By bounds alone, whatever is left out between
    them."""
    partial, around = node.band_get_partial_schedule(), node.get_prefix_schedule_union_map()
    moves = isl.UnionMap.from_multi_union_pw_aff(joined([partial.get_at(k) for k in range(2)]))
    found = isl.Map.from_union_map(around.intersect_domain(node.get_domain()).reverse().apply_range(moves))
    hull = isl.Map.from_basic_map(found.simple_hull())
    apart = isl.Set(f"{{ [a, b] : a >= {sizes[0]} and b <= -{sizes[1]} }}")
    return not hull.reverse().apply_range(hull).deltas().intersect(apart).is_empty()


def origin(member: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """The largest multiple of a size that isn't larger than the member: where its tile begins."""
    return member.scale_down_val(isl.Val(size)).floor().scale_val(isl.Val(size))


def near_sizes(node: isl.ScheduleNode, sizes: Sequence[int]) -> list[int]:
    """Sizes of a band's members, 1 for those outside of the innermost few that carry nothing: tiles of more members
    have more cells than caches."""
    outer = len(sizes) - _TILED
    return [1 if k < outer and node.band_member_get_coincident(k) else size for k, size in enumerate(sizes)]


def tiled_along(node: isl.ScheduleNode, sizes: Mapping[int, int]) -> isl.ScheduleNode:
    """Tile some members of a permutable band, by position; tile loops step by the tile size. The result is the band of
    the tile loops."""
    partial, domain = node.band_get_partial_schedule(), node.get_domain()
    flags = [node.band_member_get_coincident(k) for k in sizes]
    tiles = [origin(partial.get_at(k).intersect_domain(domain), size) for k, size in sizes.items()]
    node = node.insert_partial_schedule(joined(tiles)).band_set_permutable(1)
    for position, flag in enumerate(flags):
        node = node.band_member_set_coincident(position, int(flag))
    return node


def shaped_tiles(node: isl.ScheduleNode, shape: isl.MultiUnionPwAff, sizes: Sequence[int]) -> isl.ScheduleNode:
    """Tiles between hyperplanes of their own above a band that orders the points of a tile. The result is the band of
    the tile loops."""
    domain = node.get_domain()
    rows = [
        shape.get_at(k).intersect_domain(domain).scale_down_val(isl.Val(size)).floor() for k, size in enumerate(sizes)
    ]
    return node.insert_partial_schedule(joined(rows)).band_set_permutable(1)


def atomic(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Ask for one loop a member. isl would otherwise split tile loops by cases, into code that grows with the depth."""
    for position in range(node.band_n_member()):
        node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
    return node


def wavefront(node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
    """Skew a permutable band: its first member becomes the sum of the first `depth` ones.

    All distances are non-negative in every member, so whatever a member carries the sum carries too: the members 1 …
    depth-1 become coincident below it.
    """
    partial = node.band_get_partial_schedule()
    members = [partial.get_at(k) for k in range(node.band_n_member())]
    total = members[0]
    for member in members[1:depth]:
        total = total.add(member)
    node = node.delete().insert_partial_schedule(joined([total, *members[1:]])).band_set_permutable(1)
    for position in range(1, depth):
        node = node.band_member_set_coincident(position, 1)
    return node


def interleaved(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """The last two members p, q of a permutable band as p + q, p: below the sum nothing is carried, so that iterations
    of p overlap in the processor.

    Without that, a chain of dependent operations would make each of them wait for the one before.
    """
    partial = node.band_get_partial_schedule()
    members = [partial.get_at(k) for k in range(node.band_n_member())]
    *outer, first, second = members
    node = node.delete().insert_partial_schedule(joined([*outer, first.add(second), first])).band_set_permutable(1)
    return node.band_member_set_coincident(len(members) - 1, 1)


def in_blocks(node: isl.ScheduleNode, rows: int) -> isl.ScheduleNode:
    """Blocks of so many iterations of an interleaved band's last member around its last two: of more than a processor
    has under way, each would be another line."""
    partial, size = node.band_get_partial_schedule(), node.band_n_member()
    members = [partial.get_at(k) for k in range(size)]
    blocks = members[-1].scale_down_val(isl.Val(rows)).floor()
    node = node.delete().insert_partial_schedule(joined([*members[:-2], blocks, *members[-2:]])).band_set_permutable(1)
    node = node.band_member_set_ast_loop_type(size - 2, isl.ast_loop_type.atomic)
    return node.band_member_set_coincident(size, 1)


@contextmanager
def _tile_options(context: isl.Context, scaled: bool) -> Iterator[None]:
    """isl's tiling options are global to its context: set them for one call."""
    before = context.get_tile_scale_tile_loops(), context.get_tile_shift_point_loops()
    try:
        context.set_tile_scale_tile_loops(int(scaled))
        context.set_tile_shift_point_loops(0)
        yield
    finally:
        context.set_tile_scale_tile_loops(before[0])
        context.set_tile_shift_point_loops(before[1])
