"""From a seed to programs, and from a failing program to a smaller one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.fuzz.choices import Choices, shrunk
from tests.fuzz.generator import program
from tests.fuzz.kinds import KINDS
from tests.fuzz.program import Program


def generate(seed: int, count: int, kinds: Sequence[str] = ()) -> tuple[Program, ...]:
    """`count` programs, the same ones for the same arguments. kinds: those to choose from, all by default."""
    return tuple(program(_choices(seed, number), _kind(number, kinds)) for number in range(count))


def shrink(
    seed: int, number: int, fails: Callable[[Program], bool], kinds: Sequence[str] = (), attempts: int = 200
) -> Program:
    """Make the failing program `generate(seed, …, kinds)[number]` smaller."""
    choices, kind = _choices(seed, number), _kind(number, kinds)
    program(choices, kind)
    smaller = shrunk(choices.made, lambda made: fails(program(Choices(given=made), kind)), attempts)
    return program(Choices(given=smaller), kind)


def _choices(seed: int, number: int) -> Choices:
    return Choices(random.Random(f"{seed} {number}"))


def _kind(number: int, kinds: Sequence[str]) -> str:
    names = kinds or tuple(name for name, kind in KINDS.items() for _ in range(kind.share))
    return names[number % len(names)]
