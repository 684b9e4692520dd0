"""For which parameters subscripts lie in rows, whichever kind of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import islpy as isl

from scopt.frontend.model.subscript_reading import Subscript
from scopt.poly.isl_utils import project_out_params

_MOST_KNOWN = 1 << 12
_KNOWN: dict[tuple[str, tuple[str, ...], tuple[str, ...]], isl.Set] = {}


class HasCondition(Protocol):
    @property
    def holds(self) -> isl.Set: ...


def executed(subscript: Subscript) -> isl.Set:
    """Parameters for which there is an iteration."""
    some: isl.Set = project_out_params(subscript.domain, subscript.iterators)
    return some


def executed_by(subscripts: Iterable[Subscript]) -> isl.Set:
    """Parameters for which one of the references is executed."""
    union = isl.Set("{ : }").complement()
    for subscript in subscripts:
        union = union.union(executed(subscript))
    return union.coalesce()


def always_inside(subscript: Subscript, inside: isl.Set) -> isl.Set:
    """Parameters for which all iterations lie in a parameter set that names them."""
    return always_all(subscript, (inside,))


def always_all(subscript: Subscript, conditions: Iterable[isl.Set]) -> isl.Set:
    """The same for several parameter sets, one after the other: what lies outside of all of them at once has many
    pieces.

    Loops read many arrays at the same few places: the answers are kept, by what the sets say.
    """
    conditions = tuple(conditions)
    key = str(subscript.domain), tuple(subscript.iterators), tuple(map(str, conditions))
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = _always_all(subscript, conditions)
    return found


def _always_all(subscript: Subscript, conditions: Iterable[isl.Set]) -> isl.Set:
    holds, some = isl.Set("{ : }"), executed(subscript)
    for condition in conditions:
        outside = project_out_params(subscript.domain.subtract(condition), subscript.iterators)
        # simplified first: the complement has a piece for each constraint, as many as there are ranges of parameters
        holds = holds.intersect(outside.gist(some).complement().coalesce()).coalesce()
        if holds.is_empty():
            break
    return holds


def all_hold(subscripts: Sequence[Subscript], parts: Callable[[Subscript], HasCondition | None]) -> isl.Set | None:
    """Parameters for which all subscripts fit; None if one of them never does where it is executed."""
    holds = isl.Set("{ : }")
    for subscript in subscripts:
        divided = parts(subscript)
        if divided is None:
            return None
        holds = holds.intersect(divided.holds)
        if holds.intersect(executed(subscript)).is_empty():
            return None
    return holds.coalesce()
