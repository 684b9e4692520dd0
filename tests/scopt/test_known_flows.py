"""Answers that are kept for who asks the same again."""

from __future__ import annotations

import contextlib

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


def test_a_comparison_that_is_ended_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """As isl's limit of operations ends it, at any of the comparisons that one question takes."""
    question = [isl.UnionMap("{ S[i] -> A[i] }")]
    compare = _Question.__eq__
    for ended in range(6):
        answers = Answers[int](1)
        answers.of(question, lambda: 0)
        left = [ended]

        def limited(one: _Question, other: object, left: list[int] = left) -> bool:
            left[0] -= 1
            if left[0] == -1:
                raise isl.Error("maximal number of operations exceeded")
            return compare(one, other)

        monkeypatch.setattr(_Question, "__eq__", limited)
        with contextlib.suppress(isl.Error):
            answers.of(question, lambda: 0)
        for n in range(3):
            assert answers.of([isl.UnionMap(f"{{ S[i] -> A[i + {n}] }}")], lambda n=n: n) == n
        monkeypatch.setattr(_Question, "__eq__", compare)
