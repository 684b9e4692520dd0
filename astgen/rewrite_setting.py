"""What rewrites of a transformed region look at besides the region, and who looks at them."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from msgspec import Struct

from scopt.ir.scop import LoopDirective
from scopt.options import Options

T = TypeVar("T")


class Watch:
    """Is shown what each step makes, by its name; what it returns goes on. sees: whether that makes a difference."""

    sees: ClassVar[bool] = False

    def __call__(self, step: str, made: T) -> T:
        return made


class Setting(Struct, frozen=True, eq=False):
    """wishes: loops that pragmas name.
    judged: nobody asks for it, so that it has to pay. sized: small sizes get the original.
    beside: names by which one thread reaches memory between two runs of the region; None if that isn't known.
    shared: it is transformed for threads: one alone has the original."""

    options: Options
    wishes: tuple[LoopDirective, ...]
    judged: bool
    sized: bool = False
    beside: frozenset[str] | None = frozenset()
    shared: bool = False
