"""The long run: `python -m tests.fuzz.run --count 5000 --seed 1`, or `make fuzz N=5000 SEED=1`.

Programs come in rounds of some tens; round r of seed s has the seed s + r, so that a failing round is replayed with `--seed` and `--count 1`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.fuzz.harness import Outcome
from tests.fuzz.rounds import PER_ROUND, Round, play, save, smallest, statistics


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description="Compare random programs with and without scopt.")
    parser.add_argument("--count", type=int, default=200, help="how many programs, rounded up to whole rounds (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the first round's seed (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="how many rounds at a time (default: %(default)s)")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where failing programs go (default: %(default)s)")
    arguments = parser.parse_args()

    seeds = range(arguments.seed, arguments.seed + -(-arguments.count // PER_ROUND))
    start, outcomes, failing = time.monotonic(), list[Outcome](), list[int]()
    # What isl takes goes back with the process of each region; max_tasks_per_child, which would do more, can deadlock in Python 3.11.
    with ProcessPoolExecutor(arguments.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(play, seed) for seed in seeds]):
                played = future.result()
                outcomes += played.outcomes
                progress = f"{len(outcomes)} programs, {time.monotonic() - start:.0f} s, {len(failing)} failing rounds"
                print(f"\r{progress}", end="", file=sys.stderr, flush=True)
                if played.failures:
                    failing.append(played.seed)
                    _shrink_and_save(played, arguments.keep)
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


def _shrink_and_save(played: Round, keep: Path) -> None:
    print(f"\nseed {played.seed}: {played.failures[0].failure}; shrinking", file=sys.stderr, flush=True)
    outcome = smallest(played)
    print(f"seed {played.seed}: {outcome.failure}; saved in {save(outcome, played.seed, keep)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
