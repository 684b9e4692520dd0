"""What every decision about the bands of one tree looks at."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.bands import Ordered, ordered
from scopt.scheduler.decisions.decider import Decider
from scopt.scheduler.decisions.plans import Planner
from scopt.scheduler.influence.honoured import wished_member


class Setting(Struct, frozen=True, eq=False):
    """deps: as they were computed; dependences: the same, sorted by what they ask of a schedule.

    loops: that pragmas want parallel or vector: they have to be. hopes: vector loops that an influence tree asks for:
    they are preferred. decider: of what becomes of the tree itself; None: the model.
    """

    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    loops: tuple[LoopDirective, ...] = ()
    hopes: tuple[LoopDirective, ...] = ()
    decider: Decider | None = None

    @staticmethod
    def of(
        scop: Scop,
        deps: Dependences,
        options: Options,
        loops: tuple[LoopDirective, ...] = (),
        hopes: tuple[LoopDirective, ...] = (),
        decider: Decider | None = None,
    ) -> Setting:
        return Setting(scop, deps, ordered(scop, deps), options, loops, hopes, decider)

    @property
    def strict(self) -> Setting:
        """The same, with reductions in their order."""
        return replace(self, dependences=ordered(self.scop, self.deps.strict())) if self.deps.reductions else self

    @property
    def planner(self) -> Planner:
        return Planner(self.scop, self.dependences, self.options, self.loops, self.hopes)

    def wished(self, node: isl.ScheduleNode, kind: str) -> int | None:
        """The member of a band that pragmas want parallel, or a vector loop."""
        return wished_member(self.scop, node, self.loops, kind)

    def column_chunk(self, default: int, member: int) -> int:
        """How many columns a thread gets at a time: the user's size for that member, if there is one."""
        sizes = self.options.tile_sizes
        return sizes[min(member, len(sizes) - 1)] if sizes else default
