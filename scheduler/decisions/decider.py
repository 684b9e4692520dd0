"""Who decides: the machine model, a list of the user's, or chance.

A region's transformation asks questions, each with its legal answers (papers/partially-specified-implementations.txt:
choices and their domains): which order, which passes, what becomes of each band. The questions that come later depend
on the answers given. The model answers all that nobody else answers, so that a list may be partial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

from msgspec import Struct, field

from scopt.ir.decisions import Alternative, Decision

# What a question is, of which statements, and which of those that are asked more than once.
Place = tuple[str, str, int]


class NoSuchAnswer(Exception):
    """A given answer isn't one of a question's, or its question is never asked. place: of the question."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


class Policy(Protocol):
    """Answers questions; None leaves one to the model."""

    def answer(self, place: Place, names: Sequence[str]) -> str | None: ...


class Given(Struct, frozen=True):
    """Answers by what they are about."""

    answers: Mapping[Place, str]

    def answer(self, place: Place, names: Sequence[str]) -> str | None:
        return self.answers.get(place)


class Chance(Struct, frozen=True):
    """Every answer is as likely as any other one. The same questions get the same answers: each draws on its own."""

    seed: str

    def answer(self, place: Place, names: Sequence[str]) -> str | None:
        return Random(f"{self.seed} {place}").choice(names)


class Decider(Struct, eq=False):
    """Asks for decisions and keeps what was decided. policy: None: the model decides everything, and questions that it
    has only one opinion about aren't asked. told: somebody wants to see all questions."""

    policy: Policy | None = None
    told: bool = False
    made: list[Decision] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether questions are asked that the model alone would not ask."""
        return self.told or self.policy is not None

    def fresh(self) -> Decider:
        """For another attempt at all that comes from here on."""
        return Decider(self.policy, self.told, list(self.made))

    def choose(self, question: str, of: Sequence[str], alternatives: Sequence[Alternative], best: int = 0) -> int:
        """The position of the alternative that is taken. best: that of the model's. Raises NoSuchAnswer."""
        if len(alternatives) < 2:
            return best
        about = ", ".join(of)
        number = 1 + sum((one.question, one.of) == (question, about) for one in self.made)
        names = [one.name for one in alternatives]
        answer = self.policy.answer((question, about, number), names) if self.policy is not None else None
        if answer is not None and answer not in names:
            listed = ", ".join(f"'{name}'" for name in names)
            raise NoSuchAnswer((question, about, number), f"'{answer}' can't be taken here; what can: {listed}")
        taken = names.index(answer) if answer is not None else best
        self.made.append(Decision(question, about, number, names[taken], names[best], tuple(alternatives)))
        return taken

    def check_all_asked(self) -> None:
        """Raises NoSuchAnswer for an answer whose question was never asked."""
        if not isinstance(self.policy, Given):
            return
        asked = {(one.question, one.of, one.number) for one in self.made}
        for place in self.policy.answers:
            if place not in asked:
                raise NoSuchAnswer(place, _not_asked(place, self.made))


def _not_asked(place: Place, made: Sequence[Decision]) -> str:
    question, of, number = place
    alike = [one.of or "the region" for one in made if one.question == question]
    if (question, of) in Counter((one.question, one.of) for one in made):
        return f"'{question}' of {of or 'the region'} is asked fewer than {number} times"
    if alike:
        return f"'{question}' is not asked of {of or 'the region'}, but of {'; '.join(dict.fromkeys(alike))}"
    asked = ", ".join(f"'{name}'" for name in dict.fromkeys(one.question for one in made))
    return f"'{question}' is not asked here" + (f"; what is: {asked}" if asked else "")
