"""Answers that are kept for who asks the same again."""

from __future__ import annotations

import islpy as isl

from scopt.poly.known_flows import Answers


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
