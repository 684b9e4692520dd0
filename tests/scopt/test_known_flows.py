"""Answers that are kept for who asks the same again."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.poly.known_flows import Answers, _Question


def test_what_is_asked_again_is_known() -> None:
    asked: list[str] = []
    answers = Answers[int](2)

    def of(*unions: str) -> int:
        def ask() -> int:
            asked.append(" ".join(unions))
            return len(asked)

        return answers.of([isl.UnionMap(one) for one in unions], ask)

    assert of("{ S[i] -> A[i] }", "{ S[i] -> [i] }") == 1
    assert of("{ S[i] -> A[i] }", "{ S[i] -> [i] }") == 1
    assert of("{ S[i] -> A[i] }", "{ S[i] -> [i + 1] }") == 2  # another order
    assert of("{ S[i] -> [i] }", "{ S[i] -> A[i] }") == 3  # the same, asked for otherwise
    assert of("{ S[i] -> A[i] }", "{ S[i] -> [i] }") == 4  # too long ago
    assert of("{ T[i] -> A[i] }", "{ T[i] -> [i] }") == 5  # another name


def test_questions_may_become_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """isl brings relations into normal form where they stand."""
    answers = Answers[int](12)
    with monkeypatch.context() as unlike:
        unlike.setattr(_Question, "__eq__", lambda one, other: one is other)
        for n in range(2):
            assert answers.of([isl.UnionMap("{ S[i] -> A[i] }")], lambda n=n: n) == n
    for n in range(40):
        assert answers.of([isl.UnionMap(f"{{ S[i] -> A[i + {n + 1}] }}")], lambda n=n: n) == n
