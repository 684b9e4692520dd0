"""The walk over the bands of a tree, parents first: each becomes what the arbiter says."""

from __future__ import annotations

from functools import reduce
from math import prod

import islpy as isl
from msgspec import Struct, field

from scopt.ir.marked_schedule import BandChoice, MarkedSchedule, StripMark, TileShape
from scopt.machine.costs import ENTRY
from scopt.poly.bands import with_properties_below
from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.decisions.arbiter import arbitrate, decide
from scopt.scheduler.decisions.claim_diagonals import DiagonalVectors
from scopt.scheduler.decisions.claim_jam import JammedRows
from scopt.scheduler.decisions.claim_loops import PlainLoops
from scopt.scheduler.decisions.claim_nests import (
    NestInOrder,
    NestWavefronts,
    NestWavefrontsWithKernel,
    ParallelNest,
    streams,
)
from scopt.scheduler.decisions.claim_panels import PLACES, places_of_arrays
from scopt.scheduler.decisions.claim_register_tiles import RegisterTiles
from scopt.scheduler.decisions.claim_shared_inside import SharedInside
from scopt.scheduler.decisions.claim_time_tiles import TimeTiles
from scopt.scheduler.decisions.claim_wavefronts import Wavefronts
from scopt.scheduler.decisions.claims import Band, Claim, Mechanism
from scopt.scheduler.decisions.details import detailed
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.panels import TiledLoops
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.small_loops import inner_bands
from scopt.scheduler.decisions.strip_claims import IN_ORDER
from scopt.scheduler.passes.sinking import sunk

_TYPE = isl.schedule_node_type
# Who claims bands with nothing but statements below, and bands with bands below; between equals, in this order.
OF_LEAVES: tuple[Mechanism, ...] = (RegisterTiles(), JammedRows(), DiagonalVectors(), Wavefronts(), PlainLoops())
OF_NESTS: tuple[Mechanism, ...] = (
    ParallelNest(),
    NestWavefrontsWithKernel(),
    NestWavefronts(),
    SharedInside(),
    TimeTiles(),
    NestInOrder(),
)


def decided(schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
    """The tree with its bands reordered, distributed, tiled, skewed, and marked parallel or vector."""
    walk = _Walk(setting, Marks(dict(schedule.marks)))
    node = walk.visit(schedule.tree.get_root(), parallel_above=not setting.options.parallel)
    choices = (*schedule.choices, *walk.choices)
    strips = sum(one.cycles for one in schedule.choices if one.mechanism != IN_ORDER)
    cycles, hidden, waits = sum(walk.cycles) + strips, frozenset(walk.marks.hidden), sum(walk.waits)
    tested = reduce(isl.Set.intersect, walk.tested) if walk.tested else None
    marks, shapes = dict(walk.marks.found), tuple(walk.shapes)
    return MarkedSchedule(node.get_schedule(), marks, shapes, choices, cycles, hidden, waits, tested)


def entering(band: Band, claim: Claim) -> float:
    """Cycles of entering loops over sums of iterators, whose bounds change each time, as often as the innermost one is:
    what short ones pay for being skewed."""
    work = band.work
    if not work.skewed:
        return 0.0
    entries = max(one.count for one in work.statements.values()) / max(work.trips[band.width - 1], 1)
    return ENTRY * entries / (1 if claim.parallel is None else work.machine.cores)


class _Walk(Struct, frozen=True, eq=False):
    """marks: what the inserted mark nodes mean. shapes: of tiles. tested: parameters that parts are for. choices: made
    so far. around: how often each of the loops around runs what is inside; cycles: of bands that are done, in all their
    runs; waits: of these, what chains wait that hide what could be vectors. What bands inside of others fetch from
    memory is that of the outermost one: the last cache keeps lines between runs. unrolled: by loops around, the lanes
    of vectors that compilers make of what stands inside."""

    setting: Setting
    marks: Marks
    shapes: list[TileShape] = field(default_factory=list)
    tested: list[isl.Set] = field(default_factory=list)
    choices: list[BandChoice] = field(default_factory=list)
    around: list[float] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    unrolled: list[int] = field(default_factory=list)

    def visit(self, node: isl.ScheduleNode, parallel_above: bool) -> isl.ScheduleNode:
        """Decide the subtree; returns the node at the same place."""
        if self.is_strip(node):
            return node
        if node.get_type() != _TYPE.band:
            for position in range(node.n_children()):
                node = self.visit(node.child(position), parallel_above).parent()
            return node
        if node.get_domain().is_empty():
            return node  # of statements that never run: no loop
        band = Band(self.setting, node, parallel_above)
        nest = has_inner_bands(node)
        claim, choice = decide(band, OF_NESTS if nest else OF_LEAVES, self.setting.decider)
        self.choices.append(choice)
        decider = self.setting.decider
        if decider is not None and decider.is_open:
            claim = detailed(band, claim, decider)
        return self.counted(band, claim, nest=nest)

    def counted(self, band: Band, claim: Claim, *, nest: bool) -> isl.ScheduleNode:
        """What stands in place of a band, with the cycles that it takes. nest: there are bands inside, which know
        better."""
        runs, machine, work = prod(self.around), self.setting.options.machine, band.work
        if not nest:
            whole = claim.cycles if claim.whole is None else claim.whole(bool(self.around))
            # compilers unroll the loops of a small window, and make the loop around them their vector loop
            alone = claim.mechanism == PlainLoops.name and not claim.vectors
            lanes = max(self.unrolled, default=1) if alone else 1
            self.cycles.append(runs * (whole / lanes + entering(band, claim)))
            made, waits = claim.make(self, band.node), runs * sum(self.marks.waits)
            self.marks.waits.clear()
            self.waits.append(waits)
            return made
        start, first = len(self.cycles), len(self.waits)
        below = {
            str(part.get_tuple_name()) for one in inner_bands(band.node.child(0)) for part in sets_of(one.get_domain())
        }
        self.cycles.append(runs * work.scalar([name for name in band.names if name not in below], {}))
        self.around.append(prod(work.trips[: band.width]))
        self.unrolled.append(work.lanes if streams(band, band.node) else 1)
        made = claim.make(self, band.node)
        self.around.pop()
        self.unrolled.pop()
        inside = one_thread = sum(self.cycles[start:])
        shared = claim.parallel is not None and not band.parallel_above
        if not self.around:
            memory = work.streamed(range(band.width))
            self.cycles[start:] = [work.parallel(inside, memory, 1) if shared else work.alone(inside, memory)]
        elif shared:
            # alone where that is no slower, as is tested when the program runs
            inside = min(inside, inside / machine.cores + runs * machine.fork_nanoseconds * machine.gigahertz)
            self.cycles[start:] = [inside]
        if shared and one_thread:
            self.waits[first:] = [sum(self.waits[first:]) * sum(self.cycles[start:]) / one_thread]
        return made

    def is_strip(self, node: isl.ScheduleNode) -> bool:
        """Whether strips of rows have been made of all that is below a node: the mark of their loop, or of one around
        it."""
        if node.get_type() != _TYPE.mark:
            return False
        return any(
            below.get_type() == _TYPE.mark and isinstance(self.marks.found[below.mark_get_id().get_name()], StripMark)
            for below in walk(node)
        )

    def note_shape(self, shape: TileShape) -> None:
        self.shapes.append(shape)

    def note_tested(self, parameters: isl.Set) -> None:
        self.tested.append(parameters)

    def sunk(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The band over the points of a tile, its last member sunk where that gains."""
        points = sunk(self.setting.scop, self.setting.dependences, node)
        return node if points is None else with_properties_below(self.setting.scop, self.setting.dependences, points)

    def keep_in_panels(self, band: Band, node: isl.ScheduleNode, tiles: TiledLoops) -> isl.ScheduleNode:
        """A band of loops over tiles, all below decided: what the tiles keep in panels is decided too."""
        claim, choice = arbitrate(band, places_of_arrays(band, node, tiles, self.marks), self.setting.decider, PLACES)
        self.choices.append(choice)
        return claim.make(self, node)
