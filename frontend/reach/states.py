"""Values as sums of products of names, and what is known at a place of a program."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from scopt.frontend.reach.ends import Limits
from scopt.frontend.reach.sums import Sum
from scopt.ir.scop import CType

# Values of types of so many bits at most are known well enough by their type, as a rule.
NARROW_BITS = 16


class Value(Struct, frozen=True):
    """wraps: the sum is the value modulo two to the bits of its type."""

    sum: Sum
    type: CType
    wraps: bool = False


class Fact(Struct, frozen=True):
    """A comparison with an integer. needed: what the program has to ask for it to hold, conditions of names."""

    sign: str
    bound: Sum
    needed: frozenset[str] = frozenset()


class State(Struct, frozen=True):
    """What holds at a place. values: of variables. limits: of symbols. atoms: symbols that stand for operations, by
    these. known: the parts that move of sums that conditions say something of, and the symbols with their values.
    facts: of floating-point variables. truncated: the symbols that stand for the integers that these became."""

    values: dict[str, Value] = field(default_factory=dict)
    limits: dict[str, Limits] = field(default_factory=dict)
    atoms: dict[Any, str] = field(default_factory=dict)
    known: dict[Any, str] = field(default_factory=dict)
    facts: dict[str, tuple[Fact, ...]] = field(default_factory=dict)
    truncated: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def copy(self) -> State:
        return State(*map(dict, self.parts))

    def forget(self, own: str) -> None:
        """That a variable gets a value of which nothing is known."""
        for of_variables in (self.values, self.facts, self.truncated):
            of_variables.pop(own, None)

    @property
    def parts(self) -> tuple[dict[Any, Any], ...]:
        return self.values, self.limits, self.atoms, self.known, self.facts, self.truncated


def key_of(total: Sum) -> tuple[tuple[tuple[str, ...], Any], ...]:
    """By which sums are found."""
    return tuple(sorted(total.items()))
