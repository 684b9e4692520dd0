"""The long run: `python -m tests.mutate.run --count 900 --seed 1`, or `make mutate`.

Plants faults in what scopt's steps make, one at a time, and shows that its proof refuses them, or that they change
nothing. Which ones are planted is drawn from all by the seed: as many at each step, if there are, and of as many kinds
as there are.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from msgspec import Struct

from tests.mutate.harness import Places, Planted, places_of, plant
from tests.mutate.mutations import STEPS
from tests.mutate.source import Source
from tests.mutate.sources import SOURCES

# So many faults are planted in one run of scopt.
TOGETHER = 16
VERDICTS = ("refused", "equivalent", "survived")


class Job(Struct, frozen=True):
    """Faults to be planted in one source, in one run of scopt. plan: their numbers, by step."""

    source: Source
    attempt: int
    plan: Mapping[str, tuple[int, ...]]

    def run(self, folder: Path) -> list[Planted]:
        return plant(self.source, self.attempt, self.plan, folder / multiprocessing.current_process().name)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutate.run", description="Plant faults in every step; does the proof refuse them?"
    )
    parser.add_argument("--count", type=int, default=900, help="how many faults (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="STEP,…", help=f"only in these steps (of {', '.join(STEPS)})")
    parser.add_argument(
        "--sources",
        default="",
        metavar="NAME,…",
        help=f"only in these sources (of {', '.join(one.name for one in SOURCES)})",
    )
    parser.add_argument(
        "--fault",
        default="",
        metavar="SOURCE:STEP:NUMBER",
        help="only this one, by the name that a run before has told",
    )
    parser.add_argument("--workers", type=int, default=2, help="how many sources at a time (default: %(default)s)")
    parser.add_argument(
        "--keep",
        type=Path,
        default=Path("build/mutate"),
        help="where texts go that were wrongly accepted (default: %(default)s)",
    )
    arguments = parser.parse_args()
    names = (
        arguments.fault.split(":")[:1] if arguments.fault else [name for name in arguments.sources.split(",") if name]
    )
    steps = arguments.fault.split(":")[1:2] if arguments.fault else [name for name in arguments.only.split(",") if name]
    if unknown := sorted((set(steps) - set(STEPS)) | (set(names) - {one.name for one in SOURCES})):
        parser.error(f"unknown: {', '.join(unknown)}")
    sources = [one for one in SOURCES if not names or one.name in names]

    start = time.monotonic()
    with ProcessPoolExecutor(arguments.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        places = list(pool.map(places_of, sources))
        if arguments.fault:
            (number,) = map(int, arguments.fault.split(":")[2:])
            jobs = [Job(sources[0], places[0].attempt, {steps[0]: (number,)})]
        else:
            jobs = list(drawn_jobs(sources, places, steps or STEPS, arguments.count, arguments.seed))
        found = []
        for future in as_completed([pool.submit(job.run, arguments.keep / "programs") for job in jobs]):
            some = future.result()
            found += some
            for one in some:
                if one.verdict == "survived":
                    print(f"\n{told(one, arguments.keep)}", flush=True)
            print(f"\r{len(found)} faults, {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)
    print(f"\n{table(found)}\n{time.monotonic() - start:.0f} s")
    if arguments.fault:
        print("\n".join(f"{one.name}: {one.kind}, {one.place}: {one.verdict}: {one.why[:500]}" for one in found))
    return int(any(one.verdict == "survived" for one in found))


def drawn_jobs(
    sources: Sequence[Source], places: Sequence[Places], steps: Sequence[str], count: int, seed: int
) -> Iterator[Job]:
    """So many faults, as many at each step if there are, and at each of its sources."""
    numbers: dict[str, list[tuple[str, int]]] = defaultdict(list)
    shares = _shares({step: sum(len(one.kinds.get(step, ())) for one in places) for step in steps}, count)
    for step, share in shares.items():
        own = _shares({one.source: len(one.kinds.get(step, ())) for one in places}, share)
        for one in places:
            if own.get(one.source):
                chosen = one.drawn(step, own[one.source], random.Random(f"{seed} {one.source} {step}"))
                numbers[one.source] += [(step, number) for number in chosen]
    for source, one in zip(sources, places, strict=True):
        chosen_ones = numbers[source.name]
        for start in range(0, len(chosen_ones), TOGETHER):
            plan: dict[str, tuple[int, ...]] = {}
            for step, number in chosen_ones[start : start + TOGETHER]:
                plan[step] = (*plan.get(step, ()), number)
            yield Job(source, one.attempt, plan)


def _shares(there: Mapping[str, int], count: int) -> dict[str, int]:
    """How many of each, the same for all if there are so many."""
    shares = dict.fromkeys((name for name, most in there.items() if most), 0)
    while count and any(shares[name] < there[name] for name in shares):
        for name in shares:
            if count and shares[name] < there[name]:
                shares[name] += 1
                count -= 1
    return shares


def table(found: Iterable[Planted]) -> str:
    """How many faults of each step came to what."""
    counts = Counter((one.step, one.verdict) for one in found)
    lines = [f"{'step':20} {'planted':>8} " + " ".join(f"{verdict:>10}" for verdict in VERDICTS)]
    steps = [step for step in STEPS if any(counts[step, verdict] for verdict in VERDICTS)]
    rows = [(step, [counts[step, verdict] for verdict in VERDICTS]) for step in steps]
    rows.append(("all", [sum(row[k] for _, row in rows) for k in range(len(VERDICTS))]))
    return "\n".join(
        (*lines, *(f"{step:20} {sum(row):8} " + " ".join(f"{number:10}" for number in row) for step, row in rows))
    )


def told(one: Planted, keep: Path) -> str:
    """A fault that survived, with the place of the text that came out."""
    keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{one.name.replace(':', '-')}.c"
    file.write_text(one.text)
    return f"SURVIVED {one.name}: {one.kind}, {one.place}\n  {one.why}\n  {file}"


if __name__ == "__main__":
    sys.exit(main())
