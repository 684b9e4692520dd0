"""A leaf band's plan carried out: its members in order, tiled, its innermost loops distributed and marked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import ceil

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.marked_schedule import RegisterTiling, TileShape
from scopt.ir.nest import LoopMark
from scopt.machine.costs import ELEMENT
from scopt.poly.bands import functions_of
from scopt.poly.isl_utils import joined, sets_of
from scopt.poly.restructure import filters_of, reordered, sequence_of, united
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.kernel_loops import parallel_member, with_register_tiles
from scopt.scheduler.decisions.leaf_plan import LeafPlan
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.private_copies import private_for, private_for_wavefront
from scopt.scheduler.decisions.register_tiles import band_tile, pure_tiling
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.shared_loops import collapsed_loops
from scopt.scheduler.decisions.thread_tiles import for_all_threads, sweep_sizes
from scopt.scheduler.locality.footprints import free_members
from scopt.scheduler.locality.plain_iterators import unskewed
from scopt.scheduler.locality.strides import LinearSchedule, linear_schedule, shape_rows, strides
from scopt.scheduler.locality.tile_sizes import band_sizes, diamond_sizes, only_share, row_piece, vector_sizes
from scopt.scheduler.locality.tiling import (
    atomic,
    in_blocks,
    interleaved,
    near_sizes,
    shaped_tiles,
    sizes_for,
    tiled,
    wavefront,
)

# How many times as long tiles are along rows beside each other that they come to once: lines come from farther away.
_LONGER = 2
# Of a band without tiles whose parallel loop may have few iterations: a vector loop, and two around it.
_DEEP = 3

# Loops that threads may share out together.
_PAIR = 2


class LeafLoops(Struct, frozen=True, eq=False):
    """Carries out one plan. shape: of the tiles of wavefronts; None: they are cut along the members.

    kernels: the part of a tile that is a contraction, and may run before or after all the rest, gets register tiles.
    """

    setting: Setting
    marks: Marks
    plan: LeafPlan
    shape: TileShape | None = None
    kernels: bool = False

    def put(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """What stands in place of the band."""
        plan = self.plan
        if plan.hidden is not None:
            self.marks.hidden.update(plan.hidden.statements)
            self.marks.waits.append(plan.hidden.waits)
        node = reordered(node, plan.order)
        width = len(plan.order)
        private: tuple[str, ...] = ()
        collapse = 1
        if plan.parallel is not None:
            of = self.setting
            deep = width >= _DEEP or (plan.tile and plan.tile_vector)
            sums = plan.threads or of.deps.reductions  # the next loop might need copies that this one doesn't
            if plan.parallel == 0 and deep and not (plan.skew or sums):
                sizes = default_sizes(of, node, plan)[:2] if plan.tile else (1, 1)
                trips = Work.of(of.scop, of.options.machine, node).trips
                # a loop of one tile is no loop, and the next one perhaps carries something
                if width < _PAIR or trips[1] > sizes[1]:
                    collapse = collapsed_loops(of, node, 0, trips[0], sizes[0])
            private = (
                private_for_wavefront(of, node, plan.diagonal) if plan.skew else private_for(of, node, plan.parallel)
            )
        depth = 1 if plan.tile or plan.tile_vector else 0
        sharing = bool(depth) and not (plan.tile or plan.skew) and self.only_share(node)
        if depth:
            node = self.tiles(node, self.shape.rows if self.shape is not None else None).child(0)
        if self.shape is not None and self.shape.interleave and plan.serial:
            node = interleaved(node)
            jumping = strides(self.setting.scop, linear_schedule(self.setting.scop, node), width - 1).jumping
            plan = replace(plan, scalar=(self.setting.options.simd and jumping,))
            if plan.abreast:
                node = in_blocks(node, plan.abreast)
                plan = replace(plan, order=(*plan.order, width))
        node = replace(self, plan=plan).point_loops(node)
        if depth:
            node = node.parent()
        both = not depth and plan.parallel == width - 1  # the vector loop itself: it was marked above
        if plan.parallel is not None and not both:
            at = 1 if plan.skew else plan.parallel
            mark = LoopMark(parallel=True, private=private, sharing=sharing, reductions=plan.threads, collapse=collapse)
            node = self.marks.above_member(node, at, mark)
        return node

    def only_share(self, node: isl.ScheduleNode) -> bool:
        """Whether strips along a band's last member are of no use but for threads."""
        of, options = linear_schedule(self.setting.scop, node), self.setting.options
        return not options.tile_sizes and only_share(self.setting.scop, options.machine, of, len(self.plan.order) - 1)

    # --- tiles --------------------------------------------------------------------------------------------------------

    def tiles(self, node: isl.ScheduleNode, rows: isl.MultiUnionPwAff | None) -> isl.ScheduleNode:
        """Tile what the plan tiles, between `rows` if there are some. Returns the tile band, above the point band.

        A vector tile loop that alone can be parallel goes outermost.
        """
        plan, options, width = self.plan, self.setting.options, len(self.plan.order)
        if plan.skew and rows is not None:
            between = self.between(node, rows)
            own = diamond_sizes(self.setting.scop, options.machine, node, rows, len(between), simd=any(plan.simd))
            planes = joined([rows.get_at(k) for k in range(rows.dim(isl.dim_type.out))] + between)
            return atomic(wavefront(shaped_tiles(node, planes, sizes_for(options.tile_sizes, own)), 2))
        defaults = default_sizes(self.setting, node, plan)
        user = options.tile_sizes
        sizes = sizes_for(user, defaults) if plan.tile else (*defaults[:-1], *sizes_for(user[-1:], defaults[-1:]))
        if plan.skew and self.kernels and contraction_of(self.setting.scop, node) is not None:
            sizes = defaults  # the user's are in them, as far as register tiles allow
        node = tiled(node, sizes, scaled=not plan.skew)
        node = atomic(node.child(0)).parent()
        keep = list(range(width)) if plan.tile else []
        if plan.around:
            return atomic(wavefront(reordered(node, plan.diagonal), 2))
        if not plan.tile_vector and plan.tile:
            keep = keep[:-1]
        if plan.tile_vector and not plan.tile:
            keep = [width - 1]
        elif plan.tile_vector and plan.parallel == 0 and not plan.skew and not node.band_member_get_coincident(0):
            keep = [width - 1, *range(width - 1)]
        node = reordered(node, keep)
        return atomic(wavefront(node, 2) if plan.skew else node)

    def between(self, node: isl.ScheduleNode, rows: isl.MultiUnionPwAff) -> list[isl.UnionPwAff]:
        """The members of a band that tiles between hyperplanes leave free, but for the last one, whose loop is the
        vector loop."""
        schedule, partial = linear_schedule(self.setting.scop, node), node.band_get_partial_schedule()
        planes = {name: shape_rows(self.setting.scop, rows, name) for name in schedule.members}
        free = free_members(schedule.prefix, schedule.members, planes)
        return [partial.get_at(k) for k in free if k < node.band_n_member() - 1]

    # --- what is inside of a tile -------------------------------------------------------------------------------------

    def point_loops(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The loops inside a tile, a part of them in register tiles. Returns the band or sequence that stands in the
        band's place."""
        of = self.setting
        apart = pure_tiling(of.scop, of.dependences, node, of.options) if self.kernels else None
        if apart is None:
            return self.vector_loops(node)
        tiling, pure, first = apart
        rest = node.get_domain().subtract(pure)
        node = node.insert_sequence(filters_of([pure, rest] if first else [rest, pure]))
        tile, other = (0, 1) if first else (1, 0)
        node = self.kernel(node.child(tile).child(0), tiling).parent().parent()
        return self.vector_loops(node.child(other).child(0)).parent().parent()

    def kernel(self, node: isl.ScheduleNode, tiling: RegisterTiling) -> isl.ScheduleNode:
        outermost = parallel_member(node, tiling)
        return with_register_tiles(self.marks, node, tiling, self.setting.options, outermost, parallel=False)

    def vector_loops(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Split the innermost member off, give each statement group a loop of its own, and mark the loops. Returns the
        band it was given."""
        plan, width = self.plan, len(self.plan.order)
        schedule = linear_schedule(self.setting.scop, node)
        dates = [
            *functions_of(node.get_prefix_schedule_multi_union_pw_aff()),
            *functions_of(node.band_get_partial_schedule()),
        ]
        whole_parallel = plan.parallel == width - 1 and not plan.tile and not plan.tile_vector
        if width > 1:
            node = node.band_split(width - 1).child(0)
        if len(plan.groups) > 1:
            partial = node.band_get_partial_schedule()
            node = node.cut().insert_sequence(sequence_of([united(parts) for parts in plan.groups]))
            for position, parts in enumerate(plan.groups):
                group = united(parts)
                loop = self.unskewed(schedule, dates, group, upwards=plan.simd[position]) or partial
                child = node.child(position).child(0).insert_partial_schedule(loop.intersect_domain(group))
                child = child.band_set_permutable(1)
                if len(parts) > 1:
                    child = child.child(0).insert_sequence(sequence_of(parts)).parent()
                node = self.mark_vector(child, position, whole_parallel).parent().parent()
        else:
            own = self.unskewed(schedule, dates, node.get_domain(), upwards=plan.simd[0])
            if own is not None and (plan.skew or plan.simd[0]):
                node = node.delete().insert_partial_schedule(own.intersect_domain(node.get_domain()))
                node = node.band_set_permutable(1)
            node = self.mark_vector(node, 0, whole_parallel)
        return node.parent() if width > 1 else node

    def unskewed(
        self, schedule: LinearSchedule, dates: Sequence[isl.UnionPwAff], group: isl.UnionSet, *, upwards: bool
    ) -> isl.MultiUnionPwAff | None:
        """The innermost loop of a group of statements as a loop over their iterator, if there is one, and the same
        instances of all run together. dates: all that the loops run over, the innermost one last."""
        names = [str(part.get_tuple_name()) for part in sets_of(group)]
        if not names or not all(_is_one_function(one, group) for one in dates if len(names) > 1):
            return None  # parts without iterations, or iterators that differ
        member = len(self.plan.order) - 1
        plain = [unskewed(self.setting.scop, schedule, member, name, upwards=upwards) for name in names]
        found = [one for one in plain if one is not None]
        if len(found) < len(names):
            return None
        return isl.MultiUnionPwAff.from_union_pw_aff(reduce(isl.UnionPwAff.union_add, found))

    def gathers(self, node: isl.ScheduleNode) -> bool:
        """Whether a loop's vectors would be put together from records."""
        return strides(self.setting.scop, linear_schedule(self.setting.scop, node), 0).gathers

    def mark_vector(self, node: isl.ScheduleNode, group: int, parallel: bool) -> isl.ScheduleNode:
        plan = self.plan
        scalar = plan.scalar[group] and (not parallel or self.gathers(node))
        ended = bool(plan.ended) and plan.ended[group] and not plan.abreast
        if not (plan.simd[group] or parallel or scalar or plan.abreast or ended):
            return node
        names = {part.get_tuple_name() for part in sets_of(node.get_domain())}
        statements = (one for one in self.setting.scop.statements if one.name in names)
        inside = {access.array for one in statements for access in one.accesses}
        private, reductions = plan.private[group], plan.reductions[group]
        if parallel and plan.threads:
            private = private_for(self.setting, node, 0)
            reductions = tuple(one for one in plan.threads if one.array in inside)
        mark = LoopMark(parallel, plan.simd[group], private, scalar=scalar, most=plan.abreast, reductions=reductions)
        mark = replace(mark, ended=ended)
        return self.marks.above(node, mark)


def _is_one_function(dates: isl.UnionPwAff, group: isl.UnionSet) -> bool:
    """Whether a dimension of a schedule is the same function of the iterators for all statements of a group."""
    some = [dates.intersect_domain(isl.UnionSet.from_set(part)).get_pw_aff_list() for part in sets_of(group)]
    pieces = [one.get_at(0).reset_tuple_id(isl.dim_type.in_) for one in some if one.n_pw_aff() == 1]
    return len(pieces) == len(some) and all(pieces[0].plain_is_equal(one) for one in pieces)


def default_sizes(setting: Setting, node: isl.ScheduleNode, plan: LeafPlan) -> tuple[int, ...]:
    """Sizes of a band's members, in the plan's order, for tiles between them; 1 for those that aren't tiled."""
    machine, schedule = setting.options.machine, linear_schedule(setting.scop, node)
    contraction = contraction_of(setting.scop, node) if plan.skew else None
    if contraction is not None:
        return tuple(band_tile(contraction, setting.options) * slope for slope in plan.slopes)
    if plan.skew:
        sizes = band_sizes(setting.scop, machine, schedule, plan.slopes, simd=any(plan.simd))
        if set(plan.slopes) == {1}:
            sizes = for_all_threads(machine, Work.of(setting.scop, machine, node), sizes)
        least = row_piece(setting.scop, machine, schedule) if plan.rows or plan.abreast else 1
        if plan.abreast:
            return (*sizes[:-2], *sweep_sizes(machine, Work.of(setting.scop, machine, node), least * _LONGER))
        return (*sizes[:-1], max(sizes[-1], least * (1 if plan.rows or plan.around else _LONGER)))
    balance = plan.parallel == 0 and bool(node.band_member_get_coincident(0))
    sizes = vector_sizes(
        setting.scop, machine, schedule, len(plan.order), jumps=plan.jumps, only=not plan.tile, balance=balance
    )
    *outer, last = near_sizes(node, sizes)
    if plan.tile and plan.parallel is not None and plan.parallel < len(outer):
        trips = Work.of(setting.scop, machine, node).trips[plan.parallel]
        while outer[plan.parallel] > max(trips // machine.cores, 1):
            outer[plan.parallel] //= 2  # each thread has a tile
    values = _values(node, len(plan.order) - 1)
    if plan.parallel is not None and not plan.tile and values is not None and values <= last:
        last = max(ceil(values / machine.cores), machine.lanes(ELEMENT))  # one piece would be no parallel loop
    return (*outer, last)


def _values(node: isl.ScheduleNode, member: int) -> int | None:
    """How many values a member of a band has at most; None if that depends on parameters."""
    dates = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_at(member))
    values = isl.Set.from_union_set(dates.intersect_domain(node.get_domain()).range())
    least, most = values.dim_min_val(0), values.dim_max_val(0)
    return int(most.sub(least).get_num_si()) + 1 if least.is_int() and most.is_int() else None
