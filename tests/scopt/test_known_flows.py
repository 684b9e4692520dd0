"""Answers that are kept for who asks the same again."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.poly import dependences
from scopt.poly.isl_utils import OUT, maps_of
from scopt.poly.known_flows import Answers, _Question
from tests.sources import scop_of


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


def test_what_flows_through_an_array_is_known_whatever_else_stands_around(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    last_sources = dependences._last_sources

    def counting(earlier: dependences.Earlier, *more: isl.UnionMap) -> object:
        asked.extend(str(one.get_tuple_name(OUT)) for one in maps_of(earlier.sinks))
        return last_sources(earlier, *more)

    monkeypatch.setattr(dependences, "_last_sources", counting)
    monkeypatch.setattr(dependences, "_KNOWN", Answers(64))
    own = "for (i = 1; i < n; i++) { A[i][0] = A[i - 1][0] + 1.0; A[i][0] *= 2.0; }"
    alone = dependences.dependences(scop_of(own))
    assert asked
    asked.clear()
    beside = dependences.dependences(
        scop_of(f"{own} for (i = 0; i < n; i++) for (j = 1; j < n; j++) B[i][j] = B[i][j - 1];")
    )
    assert {name for name in asked if name.startswith("B")} == set(asked)
    known = {(one.kind, one.source, one.sink): one.relation for one in beside.all if one.array.startswith("A")}
    assert known.keys() == {(one.kind, one.source, one.sink) for one in alone.all}
    assert all(known[one.kind, one.source, one.sink].is_equal(one.relation) for one in alone.all)
