"""Answers about objects of isl's, kept by which object it is that was asked about.

A cache that compares its keys would have isl decide whether two relations are equal, or write them in normal form to
say that they may be: that takes longer than most answers do, and who asks again asks about the same object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


def of_same(most: int) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]:
    """For functions of an object, which stays as it is, and of what can be compared. most: answers that are kept."""

    def keeping(ask: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
        known: dict[tuple[object, ...], tuple[T, R]] = {}

        def answer(thing: T, /, *more: P.args, **named: P.kwargs) -> R:
            key = (id(thing), more, *named.items())
            found = known.get(key)
            if found is None:
                if len(known) >= most:
                    known.clear()
                found = known[key] = thing, ask(thing, *more, **named)
            return found[1]

        return answer

    return keeping
