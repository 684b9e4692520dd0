"""From a seed to programs, and from a failing seed to the smallest failing program."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from tests.fuzz.generator import programs
from tests.fuzz.program import Program

# For each new program hypothesis tries some variants of it: only every fifth one is taken, for variety.
_VARIANTS = 5


def generate(number: int, count: int) -> tuple[Program, ...]:
    """Up to `count` programs, the same ones for the same arguments."""
    found: dict[Program, None] = {}
    _search(number, count, found.setdefault, (Phase.generate,))
    return tuple(found)[::_VARIANTS][:count]


def shrink(number: int, count: int, failing: Program, fails: Callable[[Program], bool]) -> Program:
    """Make a failing program of `generate(number, count)` as small as hypothesis can; `failing` itself if it can't be met again."""
    smallest: list[Program] = []

    def body(program: Program) -> None:
        if (smallest or program == failing) and fails(program):
            smallest[:] = [program]
            raise _Failed

    try:
        _search(number, count, body, (Phase.generate, Phase.shrink))
    except _Failed:
        # The engine runs the smallest one last, to show it.
        return smallest[0]
    return failing


class _Failed(Exception):
    """Tells hypothesis that a program is interesting."""


def _search(number: int, count: int, body: Callable[[Program], object], phases: tuple[Phase, ...]) -> None:
    @seed(number)
    @settings(
        max_examples=3 * _VARIANTS * count,
        phases=phases,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(programs())
    def run(program: Program) -> None:
        body(program)

    run()
