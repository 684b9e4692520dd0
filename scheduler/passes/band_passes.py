"""From a scheduler's tree to the tree that is generated: `passes` reads top to bottom.

Everything is decided from the dependences and the access functions; the scheduler's own flags are overwritten first.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import ClassVar

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.decisions import Alternative
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.bands import with_properties, with_properties_below
from scopt.poly.source_loops import source_loops
from scopt.scheduler.decisions.arbiter import decide
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.claim_wavefronts import waits_for_itself
from scopt.scheduler.decisions.claims import Band
from scopt.scheduler.decisions.decider import Decider
from scopt.scheduler.decisions.lane_mates import spoils_lanes
from scopt.scheduler.decisions.lost_strips import loses_strips
from scopt.scheduler.decisions.order_mates import slows_vectors
from scopt.scheduler.decisions.prospects import (
    is_special,
    lacks_vectors,
    stands_apart,
    streams_rows,
    waits_both_ways,
)
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.shared_parts import is_short_nest, shares_more
from scopt.scheduler.decisions.strips import with_strips
from scopt.scheduler.passes.band_walk import OF_LEAVES, decided
from scopt.scheduler.passes.distribution import set_apart, sweeps_apart
from scopt.scheduler.passes.folding import fold_loops
from scopt.scheduler.passes.fusion import Fusion, fuse_loops
from scopt.scheduler.passes.lone_statements import lone_apart
from scopt.scheduler.passes.nest_fusion import Costs, fuse_nests
from scopt.scheduler.passes.pass_contracts import EVERYTHING, LEGAL, Fact, Pass, check_contract
from scopt.scheduler.passes.scattering import gather_windows
from scopt.scheduler.passes.sinking import sink_loops
from scopt.scheduler.passes.splitting import split_loops
from scopt.scheduler.passes.staging import stage_loops
from scopt.scheduler.passes.summing import bands_down, products_below_sums
from scopt.scheduler.passes.unrolling import unroll_loops, with_straight_code
from scopt.scheduler.passes.unskewing import unskew_loops

# What is asked of a pass that changes something.
_TAKEN = (Alternative("made"), Alternative("left"))

# Is shown what each pass makes, by the pass' name; what it returns goes on.
Watch = Callable[[str, MarkedSchedule], MarkedSchedule]


class SinkLoops(Struct, frozen=True):
    """wavefronts: bands that only tiles in wavefronts make parallel are left alone: there it is done inside a tile."""

    wavefronts: bool = False
    name: ClassVar[str] = "sunk-loops"
    what: ClassVar[str] = "a loop around a sequence of loops goes into it where those walk through memory better then"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        def short(node: isl.ScheduleNode) -> bool:
            return is_short_nest(setting, node)

        tree = sink_loops(setting.scop, setting.dependences, schedule.tree, tile=self.wavefronts, is_short=short)
        return _with(schedule, tree)


class Left(Struct, frozen=True):
    """A pass that options turn off: whoever looks at its step sees the tree as it was."""

    name: str
    what: str
    needs: frozenset[Fact] = frozenset()
    keeps: frozenset[Fact] = EVERYTHING

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return schedule


class FoldLoops(Struct, frozen=True):
    """For tiles on diagonals, of which threads take one each."""

    name: ClassVar[str] = "folded-loops"
    what: ClassVar[str] = "a loop of a few iterations that counts on what the loop around it counts becomes one with it"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = EVERYTHING

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return _with(schedule, fold_loops(setting.scop, setting.dependences, schedule.tree))


class LoneApart(Struct, frozen=True):
    name: ClassVar[str] = "lone-statements"
    what: ClassVar[str] = "what runs in one iteration of loops that carry nothing else runs in front of them, or behind"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = EVERYTHING

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return _with(schedule, lone_apart(setting.scop, setting.dependences, schedule.tree))


class SinkProducts(Struct, frozen=True):
    name: ClassVar[str] = "products-below-sums"
    what: ClassVar[str] = "of a sum along several loops, the innermost one and those over its cells become a band"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        def cycles(node: isl.ScheduleNode) -> float:
            return _cycles_down(setting, with_properties_below(setting.scop, setting.dependences, node))

        return _with(schedule, products_below_sums(setting.scop, setting.dependences, schedule.tree, cycles))


class FuseLoops(Struct, frozen=True):
    name: ClassVar[str] = "fused-loops"
    what: ClassVar[str] = "neighbouring loops that gain nothing by standing apart become one"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        def apart(node: isl.ScheduleNode) -> bool:
            return stands_apart(setting, node)

        def streams(node: isl.ScheduleNode) -> bool:
            return streams_rows(setting, node)

        def strips(first: isl.ScheduleNode, second: isl.ScheduleNode, both: isl.ScheduleNode, parallel: bool) -> bool:
            def later(node: isl.ScheduleNode) -> isl.ScheduleNode:
                return with_straight_code(setting, node)

            return loses_strips(setting.strict, (first, second), both, later if parallel else None)

        def spoils(first: isl.ScheduleNode, second: isl.ScheduleNode) -> bool:
            return spoils_lanes(setting, first, second)

        def slows(first: isl.ScheduleNode, second: isl.ScheduleNode, beside: bool) -> bool:
            return slows_vectors(setting, first, second, beside=beside)

        def shares(first: isl.ScheduleNode, second: isl.ScheduleNode, both: isl.ScheduleNode) -> bool:
            return shares_more(setting, first, second, both)

        tree = fuse_loops(
            setting.scop, setting.dependences, schedule.tree, apart, streams, strips, spoils, slows, shares
        )
        return _with(schedule, tree)


class FuseNests(Struct, frozen=True):
    name: ClassVar[str] = "fused-nests"
    what: ClassVar[str] = "statements of one loop nest of the source share their loops again where that costs less"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return _with(schedule, _fused_nests(setting, schedule.tree))


class FuseStraight(Struct, frozen=True):
    """The same where small loops have become straight code: what sets a cell to zero, and what adds a few products to
    it."""

    name: ClassVar[str] = "fused-straight-code"
    what: ClassVar[str] = "statements run beside straight code in the loops that they share where that costs less"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return _with(schedule, _fused_nests(setting, schedule.tree, straight=True))


class SetApart(Struct, frozen=True):
    name: ClassVar[str] = "loops-set-apart"
    what: ClassVar[str] = "what writes cells that only data name, or waits for itself, gets loops of its own"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        def waits(node: isl.ScheduleNode) -> bool:
            return waits_for_itself(setting, node)

        tree = set_apart(setting.scop, setting.dependences, schedule.tree)
        return _with(schedule, sweeps_apart(setting.scop, setting.dependences, tree, waits))


class SplitLoops(Struct, frozen=True):
    name: ClassVar[str] = "split-loops"
    what: ClassVar[str] = (
        "a loop that only one of its iterations keeps in order becomes what is before it, it, and the rest"
    )
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        def lacks(node: isl.ScheduleNode) -> bool:
            return lacks_vectors(setting, node)

        return _with(schedule, split_loops(setting.scop, setting.dependences, schedule.tree, lacks))


class GatherWindows(Struct, frozen=True):
    """For vectors, where no windows have become straight code by now."""

    name: ClassVar[str] = "gathered-windows"
    what: ClassVar[str] = (
        "a loop that adds to windows of cells that overlap goes over the cells, with the window as straight code"
    )
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return _with(schedule, gather_windows(setting, schedule.tree))


class UnrollLoops(Struct, frozen=True):
    """For vectors. Loops that the user names stay loops."""

    name: ClassVar[str] = "unrolled-loops"
    what: ClassVar[str] = "small loops of constant size become straight code where the loop around them gets vectors"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = EVERYTHING

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        return _with(schedule, unroll_loops(setting, schedule.tree))


class UnskewLoops(Struct, frozen=True):
    """straight: whether straight code may take their place, as it may that of others."""

    straight: bool = True
    name: ClassVar[str] = "unskewed-loops"
    what: ClassVar[str] = "small loops that are skewed by as much as they are long become loops of their own"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = EVERYTHING

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        tree = unskew_loops(setting.scop, setting.dependences, schedule.tree)
        if tree is schedule.tree:
            return schedule
        return _with(schedule, unroll_loops(setting, tree) if self.straight else tree)


class MakeStrips(Struct, frozen=True):
    name: ClassVar[str] = "strips"
    what: ClassVar[str] = "recurrences along rows run with vectors across strips of rows"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = EVERYTHING

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        strips = with_strips(setting.strict, schedule.tree)
        if strips.found:
            return replace(schedule, tree=strips.tree, marks=strips.marks, choices=strips.choices)
        return replace(schedule, choices=strips.choices) if strips.choices else schedule


class DecideBands(Struct, frozen=True):
    name: ClassVar[str] = "bands"
    what: ClassVar[str] = "what becomes of each band: tiles, wavefronts, marks"
    needs: ClassVar[frozenset[Fact]] = EVERYTHING
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        # rows of a strip are lanes of a vector: there, reductions keep their order
        return decided(schedule, setting.strict if schedule.strips else setting)


class StageLoops(Struct, frozen=True):
    """Wishes of the user's for loops and tiles have the last word."""

    name: ClassVar[str] = "staged-loops"
    what: ClassVar[str] = "nests that feed each other run together, block of rows by block of rows"
    needs: ClassVar[frozenset[Fact]] = LEGAL
    keeps: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        wishes = setting.loops or setting.hopes or setting.options.tile_sizes
        return schedule if wishes else stage_loops(setting, schedule)


def passes(options: Options) -> tuple[Pass, ...]:
    """All passes, in their order. Flags that one of them needs, and the one before doesn't keep, are computed anew. A
    fusion policy of the user's has the last word."""
    auto = options.fusion == "auto"

    def only(one: Pass, on: bool) -> Pass:
        return one if on else Left(one.name, one.what)

    return (
        LoneApart(),
        SinkLoops(wavefronts=options.tile and options.parallel),
        only(SinkProducts(), wanted(options)),
        only(FuseNests(), auto),
        only(FuseLoops(), auto),
        SetApart(),
        SplitLoops(),
        only(FoldLoops(), options.tile and options.parallel),
        only(UnrollLoops(), options.simd),
        UnskewLoops(straight=options.simd),
        only(GatherWindows(), options.simd),
        only(FuseStraight(), options.simd and auto),
        MakeStrips(),
        DecideBands(),
        only(StageLoops(), auto and options.tile),
    )


def apply_passes(
    scop: Scop,
    deps: Dependences,
    tree: isl.Schedule,
    options: Options,
    loops: tuple[LoopDirective, ...] = (),
    hopes: tuple[LoopDirective, ...] = (),
    watch: Watch = lambda name, made: made,
    decider: Decider | None = None,
) -> MarkedSchedule:
    """What the passes make of a legal tree. The result's loop marks stand above one-member bands.

    loops: that pragmas want parallel or vector; they are chosen where the dependences allow. hopes: vector loops that
    come before others where they are possible. decider: of what becomes of the tree; None: the model.
    Raises InternalError if passes are checked and one of them breaks its contract.
    """
    setting = Setting.of(scop, deps, options, loops, hopes, decider)
    schedule, known = MarkedSchedule(tree, {}), LEGAL
    for one in passes(options):
        if Fact.FLAGS in one.needs - known:
            schedule = replace(schedule, tree=with_properties(scop, setting.dependences, schedule.tree))
            known |= {Fact.FLAGS}
        made = one.run(schedule, setting)
        if is_checked(options):
            check_contract(one, schedule, made, setting)
        if decider is not None and _is_whole(one, schedule, made) and decider.choose(one.name, (), _TAKEN):
            made = schedule
        shown = watch(one.name, made)
        known = known if shown is schedule else known & one.keeps if shown is made else LEGAL
        schedule = shown
    return schedule


def _is_whole(one: Pass, before: MarkedSchedule, after: MarkedSchedule) -> bool:
    """Whether a pass has changed something, and hasn't asked about each band."""
    asks = isinstance(one, MakeStrips | DecideBands)
    return not asks and after is not before and not after.tree.plain_is_equal(before.tree)


def is_checked(options: Options) -> bool:
    """Whether each pass is held to what it says: what is proved in the end is the text, whatever they do."""
    return options.check_passes


def _fused_nests(setting: Setting, tree: isl.Schedule, *, straight: bool = False) -> isl.Schedule:
    """The tree with neighbouring nests together. straight: see `fuse_nests`."""

    def flagged(node: isl.ScheduleNode) -> isl.ScheduleNode:
        return with_properties_below(setting.scop, setting.dependences, node)

    def cycles(node: isl.ScheduleNode, parallel_above: bool) -> float:
        return decide(Band(setting, flagged(node), parallel_above), OF_LEAVES)[0].cycles

    def spoils(first: isl.ScheduleNode, second: isl.ScheduleNode) -> bool:
        return spoils_lanes(setting, first, second)

    fusion = Fusion(setting.scop, setting.dependences, lambda _node: False, spoils=spoils)
    costs = Costs(
        cycles,
        lambda node: is_special(setting, flagged(node)),
        lambda node: waits_both_ways(setting, flagged(node)),
    )
    return fuse_nests(source_loops(setting.scop), fusion, tree, costs, straight=straight)


def _cycles_down(setting: Setting, node: isl.ScheduleNode) -> float:
    """Of bands right inside of each other whose flags are set: what becomes of the innermost one, as often as those
    around it say."""
    bands, machine = bands_down(node) or [node], setting.options.machine
    trips, outer = Work.of(setting.scop, machine, node).trips, bands[:-1]
    shared = any(band.band_member_get_coincident(k) for band in outer for k in range(int(band.band_n_member())))
    runs = prod(trips[: sum(int(band.band_n_member()) for band in outer)], start=1)
    cycles = decide(Band(setting, bands[-1], shared), OF_LEAVES)[0].cycles * runs
    return cycles / machine.cores if shared else cycles


def _with(schedule: MarkedSchedule, tree: isl.Schedule) -> MarkedSchedule:
    return schedule if tree is schedule.tree else replace(schedule, tree=tree)
