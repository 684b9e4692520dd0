"""Which samples of a series are drawn next. Everything is decided by what the database holds, so that a search goes on
where it was stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scopt.options import Walk
from scopt.polybench.explore.candidates import DrawJob, Matrices
from scopt.polybench.explore.database import Database
from scopt.polybench.explore.genetic import KEPT, generation_of, is_random, numbers_of
from scopt.polybench.explore.programs import Program
from scopt.polybench.explore.records import ORIGINAL, Series, StoredSample

# Seconds: a time of zero is too short for the timer.
RESOLUTION = 1e-6


def rounds(
    database: Database,
    series: Series,
    program: Program,
    cc: str,
    walk: Walk,
    count: int,
    machine: int | None = None,
    budget: float = 60.0,
) -> Iterator[tuple[DrawJob, ...]]:
    """The samples of the series below `count` that aren't there yet, in rounds: those of one round don't depend on each
    other.

    machine: samples of other machines don't count; None: they do. The caller has stored all of a round when it asks for
    the next one: a generation is bred from the ones before it. A random search is one round.
    """
    if series.search == "random":
        yield tuple(
            DrawJob(program, cc, walk, series.seed, number, budget=budget)
            for number in database.missing(series, count, machine)
        )
        return
    for generation in range(generation_of(count - 1) + 1 if count else 0):
        missing = set(database.missing(series, count, machine)) & set(numbers_of(generation))
        if missing:
            parents = _survivors(database, series, generation, machine)
            yield tuple(
                DrawJob(
                    program, cc, walk, series.seed, number, () if is_random(number) else parents, generation, budget
                )
                for number in sorted(missing)
            )


def _survivors(database: Database, series: Series, generation: int, machine: int | None) -> tuple[Matrices, ...]:
    """The better half of the population before `generation`, the best first, each matrix once."""
    samples = [stored for stored in database.samples(series, machine) if stored.sample.rows]
    times = speedups(database, samples)
    population: list[StoredSample] = []
    for born in range(generation):
        numbers = numbers_of(born)
        new = [stored for stored in samples if stored.sample.number in numbers]
        population = _better([*population, *new], times)
    return tuple(stored.sample.rows for stored in population)


def _better(population: Iterable[StoredSample], times: dict[int, float]) -> list[StoredSample]:
    """Those that a generation keeps: with a time, no two of one tree, the fastest first; of equal ones the earlier."""
    distinct: dict[str, StoredSample] = {}
    for stored in sorted(population, key=lambda stored: stored.sample.number):
        if stored.id in times:
            distinct.setdefault(stored.sample.tree_hash, stored)
    return sorted(distinct.values(), key=lambda stored: -times[stored.id])[:KEPT]


def speedups(database: Database, samples: Iterable[StoredSample]) -> dict[int, float]:
    """By sample id, over the original on the machine that the sample was measured on; of those that have a time."""
    originals: dict[int, float | None] = {}
    found = {}
    for stored in samples:
        if stored.machine not in originals:
            baseline = database.baselines(stored.series.program, stored.machine, stored.series.compiler).get(ORIGINAL)
            originals[stored.machine] = baseline.minimum if baseline else None
        original, minimum = originals[stored.machine], stored.sample.minimum
        if original is not None and minimum is not None:
            found[stored.id] = max(original, RESOLUTION) / max(minimum, RESOLUTION)
    return found
