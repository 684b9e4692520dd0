"""`--scheduler sample`: one legal schedule, drawn from the schedule space by a random walk."""

from __future__ import annotations

import random

from msgspec import Struct

from scopt.diagnostics import Remark
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.influence.influence_tree import InfluenceTree
from scopt.scheduler.space.matrix import schedule_of_rows
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.space_problem import space_problem
from scopt.scheduler.space.walk import random_sample


class SampleScheduler(Struct, frozen=True):
    """The same seed and walk give the same schedule."""

    def schedule(
        self, scop: Scop, deps: Dependences, options: Options, influence: InfluenceTree | None = None
    ) -> ScheduleResult:
        problem = space_problem(scop, deps)
        sample = random_sample(Polytopes(problem), options.walk, random.Random(options.seed))
        dimensions, carrying = len(sample.rows), len(set(sample.carried))
        message = (
            f"sampled with seed {options.seed}, walk {options.walk}: {dimensions} "
            f"dimensions, {carrying} of them carry dependences"
        )
        return ScheduleResult(
            schedule_of_rows(problem, sample.rows), (Remark("analysis", "schedule.sampled", message, scop.location),)
        )
