"""Random programs with and without scopt: some of each kind here, as many as you like with `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import pipeline
from tests.conftest import EVERYTHING
from tests.fuzz import rounds
from tests.fuzz.harness import SANITIZERS, Setup, other_compiler
from tests.fuzz.kinds import KINDS
from tests.fuzz.rounds import Round, command_line, play, smallest, statistics

NESTS = range(1001, 1002)


@pytest.mark.parametrize("seed", NESTS)
def test_results_are_the_same(seed: int) -> None:
    played = play(seed, 8, ("nests",), Setup(budget=3.0))
    assert not played.failures, _report(played)
    # A fuzzer that only sees refusals finds nothing.
    assert sum(outcome.transformed for outcome in played.outcomes) >= 4, statistics(played.outcomes)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "nests"])
def test_each_kind(kind: str) -> None:
    played = play(3000, 5 if EVERYTHING else 2, (kind,), Setup())
    assert not played.failures, _report(played)


@pytest.mark.parametrize("kinds", [("nests",), ("pointers", "aliasing", "structures", "lookups")])
def test_emitted_programs_have_no_undefined_behaviour(kinds: tuple[str, ...]) -> None:
    played = play(2000, 6, kinds, Setup(flags=SANITIZERS, threads=(1,)))
    assert not played.failures, _report(played)


@pytest.mark.skipif(not other_compiler(), reason="no clang")
def test_another_compiler() -> None:
    played = play(2001, 8, ("nests", "iterators"), Setup(other_compiler()))
    assert not played.failures, _report(played)


def _report(played: Round) -> str:
    outcome = smallest(played)
    return (
        f"{outcome.failure}\nscopt {command_line(outcome.program)}\n{outcome.original}\n"
        f"--- became ---\n{outcome.emitted}"
    )


def test_a_wrong_result_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fuzzer's own check: an optimizer that drops the last iteration of loops up to n."""
    _break(monkeypatch, b"i < n;", b"i < n - 1;")
    played = play(1, 12, ("nests",))
    assert played.failures
    outcome = smallest(played)
    assert "wrong result in" in outcome.failure
    assert len(outcome.program.body) == 1
    assert len(outcome.original) <= min(len(failure.original) for failure in played.failures)
    report = (rounds.save(outcome, 1, tmp_path) / "report.txt").read_text()
    assert "wrong result in" in report
    assert report.splitlines()[-1].split()[1].isalnum()


def test_a_macro_that_is_taken_for_its_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs run with other values of their macros than scopt has seen."""
    _break(monkeypatch, b"#ifndef N\n", b"#undef N\n#ifndef N\n")
    played = play(5, 10, ("macros",))
    assert any("wrong result with -DN=" in outcome.failure for outcome in played.failures)


def test_a_guard_that_never_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls have arguments that overlap; what was changed taking them apart computes something else then."""
    from scopt.frontend.model import aliasing

    monkeypatch.setattr(aliasing, "_tested", lambda *arguments: aliasing.Aliasing())
    played = play(13, 3, ("aliasing",))
    assert any("wrong result" in outcome.failure for outcome in played.failures)


def _break(monkeypatch: pytest.MonkeyPatch, old: bytes, new: bytes) -> None:
    """An optimizer that replaces text, and does nothing else."""

    def broken(source: bytes, options: object, *, file: str) -> pipeline.Result:
        return pipeline.Result(source.replace(old, new), (), (), {})

    monkeypatch.setattr(pipeline, "optimize", broken)
