"""The Markov decision process that picks a point of a schedule space: one coefficient after the other, for vertices and
rays.

Source: polygym paper, section IV-B and Algorithm 2, whose free function select_coeff the actions are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from scopt.poly.generators import Row
from scopt.scheduler.space.polytope import Polytope

# The largest coefficient, N; the paper's experiments have select_coeff0, 1 and 2.
DEFAULT_LARGEST = 2


class ScheduleSpace(Struct, frozen=True, dict=True):
    """S = (G_1, …, G_k): the generators of each dimension."""

    polytopes: tuple[Polytope, ...]

    @property
    def is_empty(self) -> bool:
        return any(polytope.is_empty for polytope in self.polytopes)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many coefficients each dimension has. A group's only vertex has none: its coefficient is 1."""
        return tuple(len(polytope.slots) for polytope in self.polytopes)

    @property
    def coefficient_count(self) -> int:
        return sum(self.counts)

    def place(self, position: int) -> tuple[int, int]:
        """(dimension, slot), both from 0, of a coefficient by its position among all.
        Raises IndexError beyond the last."""
        for dim, end in enumerate(accumulate(self.counts)):
            if position < end:
                return dim, position - (end - self.counts[dim])
        raise IndexError(position)

    def points(self, coefficients: Sequence[int]) -> tuple[Row, ...] | None:
        """(p_1, …, p_k), a point of each dimension (Algorithm 2); None where some dimension's vertices all have
        coefficient 0.

        Raises ValueError if there are not as many coefficients as the space has.
        """
        if len(coefficients) != self.coefficient_count:
            raise ValueError(f"{len(coefficients)} coefficients for a space that has {self.coefficient_count}")
        found, start = [], 0
        for polytope, count in zip(self.polytopes, self.counts, strict=True):
            point = polytope.point(coefficients[start : start + count])
            if point is None:
                return None
            found.append(point)
            start += count
        return tuple(found)


class ExplorationState(Struct, frozen=True):
    """The coefficients of all dimensions' vertices and rays, in order; None is ⊥: not chosen yet."""

    coefficients: tuple[int | None, ...]

    @staticmethod
    def initial(space: ScheduleSpace) -> ExplorationState:
        return ExplorationState((None,) * space.coefficient_count)

    @property
    def position(self) -> int:
        """Of the coefficient that is chosen next."""
        return next((k for k, value in enumerate(self.coefficients) if value is None), len(self.coefficients))

    @property
    def is_complete(self) -> bool:
        return not self.coefficients or self.coefficients[-1] is not None

    def successor(self, coefficient: int) -> ExplorationState:
        """After select_coeffX: the first ⊥ is X. Raises ValueError if there is none."""
        if self.is_complete:
            raise ValueError("all coefficients have been selected")
        at = self.position
        return ExplorationState((*self.coefficients[:at], coefficient, *self.coefficients[at + 1 :]))


class ExplorationMDP(Struct, frozen=True):
    """The process in one space, with coefficients 0 … largest."""

    space: ScheduleSpace
    largest: int = DEFAULT_LARGEST

    def initial(self) -> ExplorationState:
        return ExplorationState.initial(self.space)

    def allowed(self, state: ExplorationState) -> tuple[bool, ...]:
        """Whether each of select_coeff0 … N leads on. 0 doesn't for the last vertex of a group whose others have it:
        there would be no convex combination."""
        if state.is_complete:
            return (False,) * (self.largest + 1)
        return self.allowed_at(state.coefficients, state.position)

    def allowed_at(self, coefficients: Sequence[int | None], position: int) -> tuple[bool, ...]:
        """The same for the coefficient at a position, those before being chosen."""
        dim, slot = self.space.place(position)
        slots = self.space.polytopes[dim].slots
        group = slots[slot].group
        others = [k for k, one in enumerate(slots) if one.group == group and k != slot]
        needed = group is not None and max(others) < slot and not any(coefficients[position - slot + k] for k in others)
        return (not needed, *[True] * self.largest)

    def is_invalid(self, state: ExplorationState) -> bool:
        """Whether all vertices of some group have coefficient 0."""
        start = 0
        for polytope, count in zip(self.space.polytopes, self.space.counts, strict=True):
            totals: dict[int, list[int | None]] = {}
            for slot, value in zip(polytope.slots, state.coefficients[start : start + count], strict=True):
                if slot.group is not None:
                    totals.setdefault(slot.group, []).append(value)
            if any(all(value == 0 for value in values) for values in totals.values()):
                return True
            start += count
        return False
