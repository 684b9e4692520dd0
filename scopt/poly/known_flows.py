"""Answers of isl's about unions of relations, kept for who asks the same again.

The forms that a region's statements can have differ in few arrays: of the others, accesses and order are the same, and
so is what flows through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import islpy as isl

from scopt.poly.isl_utils import maps_of

T = TypeVar("T")


class _Question:
    """Unions of relations, alike where the same relations stand there in the same form."""

    __slots__ = ("_hash", "unions")

    def __init__(self, unions: Sequence[isl.UnionMap]) -> None:
        self.unions = [maps_of(one) for one in unions]
        self._hash = hash(tuple(hash(one) for some in self.unions for one in some))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Question) or [*map(len, self.unions)] != [*map(len, other.unions)]:
            return False
        return all(
            one.plain_is_equal(two)
            for some, others in zip(self.unions, other.unions, strict=True)
            for one, two in zip(some, others, strict=True)
        )


class Answers(Generic[T]):
    """The latest answers, `most` of them.

    In a plain dictionary: in an ordered one questions may not become alike later, as isl brings relations into normal
    form where they stand.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known = dict[_Question, tuple[T]]()

    def of(self, unions: Sequence[isl.UnionMap], ask: Callable[[], T]) -> T:
        """The answer that follows from these unions alone."""
        question = _Question(unions)
        known = self._known.pop(question, None)
        found = ask() if known is None else known[0]
        self._known[question] = (found,)  # the latest
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return found
