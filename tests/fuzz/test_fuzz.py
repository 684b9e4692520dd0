"""Random programs with and without scopt: 200 of them here, as many as you like with `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.harness import SANITIZERS
from tests.fuzz.rounds import FLAGS, Round, command_line, play, smallest, statistics

COUNT = 25
SEEDS = range(1000, 1008)


@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_the_same(seed: int) -> None:
    played = play(seed, COUNT)
    assert not played.failures, _report(played, FLAGS)
    # A fuzzer that only sees refusals finds nothing.
    assert sum(outcome.transformed for outcome in played.outcomes) >= COUNT // 2, statistics(played.outcomes)


@pytest.mark.parametrize("seed", [2000, 2001])
def test_emitted_programs_have_no_undefined_behaviour(seed: int) -> None:
    played = play(seed, 20, SANITIZERS)
    assert not played.failures, _report(played, SANITIZERS)


def _report(played: Round, flags: tuple[str, ...]) -> str:
    outcome = smallest(played, len(played.outcomes), flags)
    return f"{outcome.failure}\nscopt {command_line(outcome.program)}\n{outcome.original}\n--- became ---\n{outcome.emitted}"


def test_a_wrong_result_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fuzzer's own check: an optimizer that drops the last iteration of loops up to n."""
    from scopt import pipeline
    from tests.fuzz import rounds

    optimize = pipeline.optimize

    def broken(source: bytes, options: object, *, file: str) -> pipeline.Result:
        from dataclasses import replace

        return replace(optimize(source, options, file=file), text=source.replace(b"i < n;", b"i < n - 1;"))

    monkeypatch.setattr(pipeline, "optimize", broken)
    played = play(1, 10)
    assert played.failures
    outcome = smallest(played, 10)
    assert "wrong result in" in outcome.failure
    assert len(outcome.program.body) == 1
    assert len(outcome.original) <= min(len(failure.original) for failure in played.failures)
    report = (rounds.save(outcome, 1, tmp_path) / "report.txt").read_text()
    assert "wrong result in" in report
    assert report.splitlines()[-1].split()[1].isalnum()
