"""The original execution order: loops as written, for the band passes
to tile and run in parallel where that is legal."""

from __future__ import annotations

from msgspec import Struct

from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.influence.influence_tree import InfluenceTree


class IdentityScheduler(Struct, frozen=True):
    """Returns the SCoP's own schedule tree."""

    def schedule(
        self, scop: Scop, deps: Dependences, options: Options, influence: InfluenceTree | None = None
    ) -> ScheduleResult:
        return ScheduleResult(scop.schedule)
