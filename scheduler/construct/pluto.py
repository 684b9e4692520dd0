"""Pluto's algorithm: permutable bands with small reuse distances, outer loops parallel where dependences allow.

Source: Bondhugula et al., "A practical automatic polyhedral parallelizer and locality optimizer" (2008); with negative
coefficients, Bondhugula, Acharya and Cohen, "The Pluto+ algorithm" (2016).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.poly.ilp import Program, improves, lexmin
from scopt.scheduler.base import UNSCHEDULED
from scopt.scheduler.constraints.coincidence import coincident
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.influence_rows import injected
from scopt.scheduler.constraints.progression import progressing, progressing_in_sizes, shifted_if_reversed
from scopt.scheduler.constraints.proximity import ProximityForm, bounded
from scopt.scheduler.constraints.scheduling_problem import Bounds, Draft, Edge, Known, Rows, Step
from scopt.scheduler.constraints.validity import weakly
from scopt.scheduler.construct.dimensions import Wish

# Bounds of coefficients, tried one after the other: small programs first.
COEFFICIENTS = (4, 32)


class PlutoStrategy(Struct, frozen=True):
    """validity ∧ progression ∧ proximity, and small coefficients last.

    form: of the proximity function. negative: allow negative coefficients where that brings dependences closer together
    or makes a dimension possible at all. penalties: of iterators that are to stay inside, see `contiguity.small`.
    known: of statements, by their names and numbers of columns. deadline: of `time.process_time`.
    """

    form: ProximityForm = "isl"
    negative: bool = True
    penalties: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    bands: bool = True
    known: dict[tuple[tuple[str, int], ...], Known] = field(default_factory=dict)
    deadline: float = inf

    def solve(self, step: Step, wish: Wish) -> Rows | None:
        ranges = tuple(edge for edge in step.remaining if edge.live)
        # Live ranges that are local to an iteration need no order among each other: worth more than short distances.
        shared = self._known(step)
        local = self._best(step, wish, ranges, shared) if ranges else None
        return local or self._best(step, wish, (), shared)

    def _known(self, step: Step) -> Known:
        """What drafts of these statements have found out."""
        names = tuple((name, len(step.spaces[name].columns)) for name in step.statements)
        return self.known.setdefault(names, Known())

    def _best(self, step: Step, wish: Wish, local: tuple[Edge, ...], shared: Known) -> Rows | None:
        """The best rows of all attempts. local: edges without any distance. shared: by all drafts."""
        best: tuple[tuple[int, ...], Rows] | None = None
        for bounds in self._attempts():
            found = self._solved(step, wish, bounds, best[0] if best is not None else None, local, shared)
            best = found or best
            if best is not None and (bounds.negative or not any(best[0])):
                break  # no distance at all: nothing is better
        return None if best is None else best[1]

    def possible(self, step: Step, wish: Wish) -> bool:
        shared = self._known(step)

        def draft(bounds: Bounds) -> Draft:
            return self._constrained(step, wish, bounds, shared, zero=bounds.negative and not wish.far)

        drafts = map(draft, self._attempts())
        return any(lexmin(replace(one.program(), objectives=())) is not None for one in drafts)

    def _attempts(self) -> list[Bounds]:
        small_bounds, large = COEFFICIENTS
        signs = (False, True) if self.negative else (False,)
        return [Bounds(size, negative=sign, parametric=sign) for size in (small_bounds, large) for sign in signs]

    def _solved(
        self,
        step: Step,
        wish: Wish,
        bounds: Bounds,
        known: tuple[int, ...] | None,
        local: tuple[Edge, ...],
        shared: Known,
    ) -> tuple[tuple[int, ...], Rows] | None:
        """(values of the proximity function, rows); None also where the values aren't less than the known ones."""
        if time.process_time() > self.deadline:
            raise TimeoutError(UNSCHEDULED)
        draft = self._constrained(step, wish, bounds, shared, zero=bounds.negative and known is None and not wish.far)
        coincident(draft, local)
        distances = len(draft.objectives)
        # The last objective takes longest where signs are to be chosen: only for a row that is wanted.
        if known is not None and not improves(draft.program(), known):
            return None
        small(draft, step, self.penalties)
        if wish.progression and bounds.negative:
            progressing_in_sizes(draft, step)
        program = draft.program()
        point = lexmin(program)
        if point is None:
            return None
        return _values(program, point)[:distances], draft.solution(point)

    def _constrained(self, step: Step, wish: Wish, bounds: Bounds, shared: Known, *, zero: bool) -> Draft:
        """The program with the proximity function as its objectives.

        zero: without any distance. Where only signs make a dimension possible, a cut is better than distances, if there
          is one (`wish.far`: none is).
        """
        draft = Draft(step.spaces, bounds, known=shared)
        for name in step.statements:
            draft.add_statement(name)
        weakly(draft, step.edges)
        if wish.coincident:
            coincident(draft, step.remaining)
        if wish.progression:
            progressing(draft, step)
        if bounds.parametric:
            shifted_if_reversed(draft, step)
        if wish.node is not None:
            injected(draft, wish.node.rows, step.outer, step.spaces)
        parameters = step.spaces[step.statements[0]].parameters
        bounded(draft, (*step.edges, *step.inputs), parameters, self.form, zero=zero, falling=wish.falling)
        return draft


def _values(program: Program, point: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(factor * point[column] for column, factor in objective) for objective in program.objectives)
