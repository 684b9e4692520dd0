"""Random choices that can be replayed and made simpler: what a program is drawn with.

A program is a function of a sequence of numbers, each in 0 … most, 0 being the simplest. A failing program is shrunk by
shortening that sequence and lowering its numbers, whatever they mean (MacIver and Donaldson, "Test-case reduction via
test-case generation", ECOOP 2020).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class Choices(Struct):
    """Hands out choices and keeps them. given: the first ones;
    what comes after them is random, or 0 without a generator."""

    random: random.Random | None = None
    given: Sequence[int] = ()
    made: list[int] = field(default_factory=list)

    def up_to(self, most: int) -> int:
        """A number in 0 … most."""
        position = len(self.made)
        number = self.random.randint(0, most) if self.random is not None else 0
        if position < len(self.given):
            number = min(self.given[position], most)
        self.made.append(number)
        return number

    def pick(self, *choices: T) -> T:
        """One of the choices; the first is the simplest."""
        return choices[self.up_to(len(choices) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about that share of cases; False is simpler."""
        return self.up_to(99) >= 100 - percent


def shrunk(made: Sequence[int], fails: Callable[[Sequence[int]], bool], attempts: int = 200) -> tuple[int, ...]:
    """A simpler sequence that fails too, found in at most so many attempts. `fails` may be expensive."""
    best, left, improved = tuple(made), attempts, True
    tried = {best}
    while improved and left > 0:
        improved = False
        for candidate in _simpler(best):
            if candidate in tried:
                continue
            tried.add(candidate)
            left -= 1
            if fails(candidate):
                best, improved = candidate, True
                break
            if left <= 0:
                break
    return best


def _simpler(numbers: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Large steps first: parts left out, parts 0, single numbers halved."""
    length = len(numbers)
    size = max(1, length // 2)
    while size >= 1:
        for start in range(length - size, -1, -size):
            yield numbers[:start] + numbers[start + size :]
        for start in range(0, length, size):
            if any(numbers[start : start + size]):
                yield numbers[:start] + (0,) * len(numbers[start : start + size]) + numbers[start + size :]
        size //= 2
    for position, number in enumerate(numbers):
        if number > 1:
            yield (*numbers[:position], number // 2, *numbers[position + 1 :])
            yield (*numbers[:position], number - 1, *numbers[position + 1 :])
