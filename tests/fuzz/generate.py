"""From a seed to programs, and from a failing seed to the smallest failing program."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from tests.fuzz.generator import programs
from tests.fuzz.program import Program


def generate(number: int, count: int) -> tuple[Program, ...]:
    """Up to `count` programs, the same ones for the same arguments."""
    found: dict[Program, None] = {}
    # hypothesis tries some programs more than once.
    _search(number, 2 * count, found.setdefault, (Phase.generate,))
    return tuple(found)[:count]


def shrink(number: int, count: int, fails: Callable[[Program], bool]) -> Program | None:
    """Go through the programs of `generate(number, count)` again up to the first that fails, and make it as small as hypothesis can.

    Returns None if none of them fails when tried alone.
    """
    smallest: list[Program] = []

    def body(program: Program) -> None:
        if fails(program):
            smallest[:] = [program]
            raise _Failed

    try:
        _search(number, 2 * count, body, (Phase.generate, Phase.shrink))
    except _Failed:
        # The engine runs the smallest one last, to show it.
        return smallest[0]
    return None


class _Failed(Exception):
    """Tells hypothesis that a program is interesting."""


def _search(number: int, count: int, body: Callable[[Program], object], phases: tuple[Phase, ...]) -> None:
    @seed(number)
    @settings(
        max_examples=count,
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
