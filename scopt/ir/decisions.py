"""Decisions about a region: what was asked, what could have been, what was taken."""

from __future__ import annotations

from msgspec import Struct


class Alternative(Struct, frozen=True):
    """One answer. cycles: of one run of what the question is about, by the machine model; None if it has no opinion."""

    name: str
    cycles: float | None = None


class Decision(Struct, frozen=True):
    """A question that was answered.

    question: what was to be decided; of: about what, names of statements; empty: the whole region. number: of those
    that ask the same about the same, counted from 1. taken: the name of one of the alternatives; best: what the model
    would have taken.
    """

    question: str
    of: str
    number: int
    taken: str
    best: str
    alternatives: tuple[Alternative, ...]
