"""What every decision about the bands of one tree looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.bands import Ordered, ordered
from scopt.scheduler.decisions.plans import Planner


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """deps: as they were computed; dependences: the same, sorted by what they ask of a schedule. loops: that pragmas
    want parallel or vector."""

    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    loops: tuple[LoopDirective, ...] = ()

    @staticmethod
    def of(scop: Scop, deps: Dependences, options: Options, loops: tuple[LoopDirective, ...] = ()) -> Setting:
        return Setting(scop, deps, ordered(scop, deps), options, loops)

    @property
    def strict(self) -> Setting:
        """The same, with reductions in their order."""
        return replace(self, dependences=ordered(self.scop, self.deps.strict())) if self.deps.reductions else self

    @property
    def planner(self) -> Planner:
        return Planner(self.scop, self.dependences, self.options, self.loops)
