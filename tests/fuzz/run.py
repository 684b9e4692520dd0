"""The long run: `python -m tests.fuzz.run --count 5000 --seed 1`, or `make fuzz N=5000 SEED=1`.

Programs come in rounds of some tens; round r of seed s has the seed s + r, so that a failing round is replayed with
`--seed` and `--count 1`. How the results are compiled depends on the seed too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from msgspec.structs import replace

from tests.fuzz.harness import BUDGET, Outcome
from tests.fuzz.kinds import KINDS
from tests.fuzz.rounds import PER_ROUND, Round, play, save, setup_of, smallest, statistics


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.run", description="Compare random programs with and without scopt."
    )
    parser.add_argument(
        "--count", type=int, default=200, help="how many programs, rounded up to whole rounds (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="the first round's seed (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="how many rounds at a time (default: %(default)s)")
    parser.add_argument(
        "--keep", type=Path, default=Path("build/fuzz"), help="where failing programs go (default: %(default)s)"
    )
    parser.add_argument(
        "--kinds", default="", help=f"only these, separated by commas (default: all of {', '.join(KINDS)})"
    )
    parser.add_argument("--no-shrink", action="store_true", help="save failing programs as they are")
    parser.add_argument(
        "--budget",
        type=float,
        default=BUDGET,
        help="seconds for a region; more on a busy machine (default: %(default)s)",
    )
    arguments = parser.parse_args()
    kinds = tuple(name for name in arguments.kinds.split(",") if name)
    if unknown := sorted(set(kinds) - set(KINDS)):
        parser.error(f"unknown kinds: {', '.join(unknown)}")

    seeds = range(arguments.seed, arguments.seed + -(-arguments.count // PER_ROUND))
    start, outcomes, failing = time.monotonic(), list[Outcome](), list[int]()
    # What isl takes goes back with the process of each region; max_tasks_per_child, which would do more, can deadlock
    # in Python 3.11.
    with ProcessPoolExecutor(arguments.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        rounds = [
            pool.submit(play, seed, PER_ROUND, kinds, replace(setup_of(seed), budget=arguments.budget))
            for seed in seeds
        ]
        try:
            for future in as_completed(rounds):
                played = future.result()
                outcomes += played.outcomes
                progress = f"{len(outcomes)} programs, {time.monotonic() - start:.0f} s, {len(failing)} failing rounds"
                print(f"\r{progress}", end="", file=sys.stderr, flush=True)
                if played.failures:
                    failing.append(played.seed)
                    _shrink_and_save(played, arguments.keep, shrink=not arguments.no_shrink)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("\ninterrupted", file=sys.stderr)
            return 130
    print(f"\n{statistics(tuple(outcomes))}")
    if failing:
        print(f"FAILED: {', '.join(f'--seed {seed} --count 1' for seed in sorted(failing))}")
        return 1
    print("no differences found")
    return 0


def _shrink_and_save(played: Round, keep: Path, *, shrink: bool) -> None:
    for failure in played.failures:
        print(f"\nseed {played.seed}, program {failure.number}: {failure.failure}", file=sys.stderr, flush=True)
        outcome = replace(smallest(played, failure), number=failure.number) if shrink else failure
        print(
            f"seed {played.seed}: {outcome.failure}; saved in {save(outcome, played.seed, keep)}",
            file=sys.stderr,
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
