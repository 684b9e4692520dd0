"""Feautrier's algorithm: each dimension carries as many dependences as it can and keeps the latency small; what is left
is parallel.

Source: Feautrier, "Some efficient solutions to the affine scheduling problem", parts I (one-dimensional time) and II
  (multidimensional time), 1992.
"""

from __future__ import annotations

import time
from math import inf

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.ilp import lexmin
from scopt.scheduler.base import UNSCHEDULED, ScheduleResult
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.feautrier_rows import carrying, early
from scopt.scheduler.constraints.influence_rows import injected
from scopt.scheduler.constraints.scheduling_problem import Bounds, Draft, Edge, Rows, Step, statement_spaces
from scopt.scheduler.construct.assemble import schedule_tree
from scopt.scheduler.construct.dimensions import Construction, Dimension, Strategy, Wish
from scopt.scheduler.construct.journal import Journal
from scopt.scheduler.construct.live_ranges import Bonds, with_reuse_where_needed
from scopt.scheduler.construct.pluto import PlutoStrategy
from scopt.scheduler.construct.quasi_affine import Problem, with_divisors
from scopt.scheduler.influence.influence_tree import InfluenceTree

# Of iterators' and parameters' coefficients, tried one after the other.
COEFFICIENTS = (4, 32)


class FeautrierScheduler(Struct, frozen=True):
    """`--scheduler feautrier`: minimal latency. Statements share time as long as a dimension can serve them all, or as
    the fusion policy says."""

    def schedule(
        self, scop: Scop, deps: Dependences, options: Options, influence: InfluenceTree | None = None
    ) -> ScheduleResult:
        spaces = statement_spaces(scop)
        fusion = "max" if options.fusion == "auto" else options.fusion
        journal = Journal(scop.location)

        def construct(edges: tuple[Edge, ...], bonds: Bonds) -> isl.Schedule:
            def dimensions(problem: Problem, strategy: Strategy) -> tuple[Dimension, ...]:
                journal.clear()
                tree = influence or InfluenceTree()
                return Construction(
                    problem.spaces,
                    problem.edges,
                    strategy,
                    fusion,
                    tree=tree,
                    log=journal,
                    reached=journal.reach,
                    bonds=bonds,
                ).run()

            if not options.quasi_affine:
                return schedule_tree(scop, spaces, dimensions(Problem(spaces, edges), FeautrierStrategy()))
            problem, found = with_divisors(scop, Problem(spaces, edges), dimensions, FeautrierStrategy)
            return schedule_tree(scop, problem.spaces, found)

        made = with_reuse_where_needed(scop, deps, construct)
        return ScheduleResult(made, tuple(journal.remarks), journal.scenario)


class FeautrierStrategy(Struct, frozen=True):
    """carry as much as possible ∧ validity of the rest, then latency; once nothing is left to carry, linearly
    independent dimensions.

    units: the slope of the latency is a multiple of 1/units. deadline: of `time.process_time`.
    """

    units: int = 1
    bands: bool = False
    deadline: float = inf

    def solve(self, step: Step, wish: Wish) -> Rows | None:
        if not step.remaining or wish.coincident:
            return PlutoStrategy(negative=False, deadline=self.deadline).solve(step, wish)
        for largest in COEFFICIENTS:
            rows = self._solved(step, wish, Bounds(largest, negative=True, parametric=True))
            if rows is not None:
                return rows
        return None

    def possible(self, step: Step, wish: Wish) -> bool:
        return self.solve(step, wish) is not None

    def _solved(self, step: Step, wish: Wish, bounds: Bounds) -> Rows | None:
        if time.process_time() > self.deadline:
            raise TimeoutError(UNSCHEDULED)
        draft = Draft(step.spaces, bounds)
        for name in step.statements:
            draft.add_statement(name)
        carrying(draft, step.remaining)
        if wish.node is not None:
            injected(draft, wish.node.rows, step.outer, step.spaces)
        early(draft, step, step.spaces[step.statements[0]].parameters, self.units)
        small(draft, step)
        point = lexmin(draft.program())
        if point is None:
            return None
        rows = draft.solution(point)
        advances = any(len(edge.face(rows).points) < len(edge.points) for edge in step.remaining)
        return rows if advances else None
