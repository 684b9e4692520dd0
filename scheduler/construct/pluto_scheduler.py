"""`--scheduler pluto`: the construction with Pluto's strategy, a fusion policy and Feautrier's as the rescue."""

from __future__ import annotations

import time
from math import inf

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.constraints.contiguity import contiguity_penalties
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.proximity import ProximityForm
from scopt.scheduler.constraints.scheduling_problem import Edge, statement_spaces
from scopt.scheduler.construct.assemble import schedule_tree
from scopt.scheduler.construct.dimensions import Construction
from scopt.scheduler.construct.feautrier import FeautrierStrategy
from scopt.scheduler.construct.journal import Journal
from scopt.scheduler.construct.live_ranges import Bonds, with_reuse_where_needed
from scopt.scheduler.construct.pluto import PlutoStrategy
from scopt.scheduler.construct.separation import FusionPolicy
from scopt.scheduler.influence.influence_tree import InfluenceTree


class PlutoScheduler(Struct, frozen=True):
    """Permutable bands with small reuse distances. Raises TimeoutError where that takes too long.

    form: of the proximity function. negative: allow negative coefficients. default_fusion: the policy where the options
      leave the choice.
    """

    form: ProximityForm = "isl"
    negative: bool = True
    default_fusion: FusionPolicy = "no"

    def schedule(
        self, scop: Scop, deps: Dependences, options: Options, influence: InfluenceTree | None = None
    ) -> ScheduleResult:
        spaces = statement_spaces(scop)
        deadline = time.process_time() + options.schedule_budget if options.schedule_budget else inf
        strategy = PlutoStrategy(self.form, self.negative, contiguity_penalties(scop), deadline=deadline)
        fusion = self.default_fusion if options.fusion == "auto" else options.fusion
        rescue = FeautrierStrategy(deadline=deadline)
        inputs = edges_of(scop, deps.select("input"))
        tree = influence or InfluenceTree()
        journal = Journal(scop.location)

        def construct(edges: tuple[Edge, ...], bonds: Bonds) -> isl.Schedule:
            journal.clear()
            dimensions = Construction(
                spaces, edges, strategy, fusion, rescue, inputs, tree, journal, bonds, journal.reach
            ).run()
            return schedule_tree(scop, spaces, dimensions)

        made = with_reuse_where_needed(scop, deps, construct)
        return ScheduleResult(made, tuple(journal.remarks), journal.scenario)
