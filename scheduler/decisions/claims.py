"""Claims on bands: what a mechanism would make of a band, and for how many cycles; or why it can't.

Mechanisms don't run after each other and hope: each is asked, and `scopt.scheduler.decisions.arbiter` takes the best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Protocol

import islpy as isl
from msgspec import Struct, field

from scopt.ir.marked_schedule import TileShape
from scopt.poly.isl_utils import sets_of
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.latencies import on_circuits
from scopt.scheduler.decisions.leaf_facts import LeafFacts
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.panels import TiledLoops
from scopt.scheduler.decisions.setting import Setting


class Band(Struct, frozen=True, eq=False, dict=True):
    """A band to be decided. parallel_above: a loop around it runs in parallel, or none may."""

    setting: Setting
    node: isl.ScheduleNode
    parallel_above: bool

    @property
    def width(self) -> int:
        return int(self.node.band_n_member())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The statements below it."""
        return tuple(sorted(str(part.get_tuple_name()) for part in sets_of(self.node.get_domain())))

    @cached_property
    def coincident(self) -> tuple[int, ...]:
        """The members that carry nothing."""
        return tuple(k for k in range(self.width) if self.node.band_member_get_coincident(k))

    @cached_property
    def work(self) -> Work:
        dependences = self.setting.dependences
        recurrences = on_circuits(self.names, dependences.between(dependences.must))
        return Work.of(self.setting.scop, self.setting.options.machine, self.node).waiting_in(recurrences)

    @cached_property
    def facts(self) -> LeafFacts:
        """Of a band with nothing but statements below."""
        return self.setting.planner.facts(self.node, self.parallel_above)


class Builder(Protocol):
    """What claims are carried out with: one for a tree."""

    @property
    def marks(self) -> Marks: ...

    def note_shape(self, shape: TileShape) -> None:
        """The tiles of some wavefronts have this shape."""

    def note_tested(self, parameters: isl.Set) -> None:
        """What is made is for these parameters alone, which the program tests."""

    def visit(self, node: isl.ScheduleNode, parallel_above: bool) -> isl.ScheduleNode:
        """Decide the subtree; returns the node at the same place."""

    def sunk(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The band over the points of a tile, its last member sunk where that gains."""

    def keep_in_panels(self, band: Band, node: isl.ScheduleNode, tiles: TiledLoops) -> isl.ScheduleNode:
        """A band of loops over tiles, all below decided: what the tiles keep in panels is decided too."""


class Claim(Struct, frozen=True, eq=False):
    """mechanism: who makes it. what: the decisions, in words. cycles: of one run of the band, by the model.

    make: carries it out, given the band's node; returns what stands in its place. parallel: the member that the
    parallel loop runs over, None if there is none. vectors: the members that vector loops run over; None: that is
    decided below. lanes: by statement, the iterator that vectors run along all the same. tiled: it has tiles.
    notes: what has become of sizes that the user gave. whole: the cycles as they are told for all bands together, with
    what takes as long whatever is decided here; given whether the last cache has all lines already, as it may inside
    of other loops. None: as `cycles`.
    """

    mechanism: str
    what: str
    cycles: float
    make: Callable[[Builder, isl.ScheduleNode], isl.ScheduleNode]
    parallel: int | None = None
    vectors: frozenset[int] | None = frozenset()
    lanes: Mapping[str, str] = field(default_factory=dict)
    tiled: bool = True
    notes: tuple[str, ...] = ()
    whole: Callable[[bool], float] | None = None


class Reason(Struct, frozen=True):
    """Why a mechanism makes no claim."""

    mechanism: str
    why: str


class Mechanism(Protocol):
    """Something that can become of a band. Its fields are its options."""

    @property
    def name(self) -> str: ...

    def claim(self, band: Band) -> Claim | Reason: ...
