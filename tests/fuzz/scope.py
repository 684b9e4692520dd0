"""What stands around the part of a program that is being drawn."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from tests.fuzz.expressions import Condition, IntExpr, Linear, Range, Var
from tests.fuzz.statements import Declare
from tests.fuzz.typed import exact, exact_condition


class Scope(Struct, frozen=True):
    """ranges, types: of iterators, parameters and macros. iterators: outermost first. inductions: further variables,
    good for subscripts only."""

    ranges: dict[str, Range]
    types: dict[str, str]
    iterators: tuple[str, ...] = ()
    inductions: tuple[str, ...] = ()
    instances: int = 1
    locals: tuple[Declare, ...] = ()

    def exact(self, expression: IntExpr, target: str = "") -> bool:
        return exact(expression, self.ranges, self.types, target)

    def decides(self, condition: Condition) -> bool:
        return exact_condition(condition, self.ranges, self.types)

    def inside(self, iterator: str, type: str, reached: Range, trips: int) -> Scope:
        return replace(
            self,
            ranges=self.ranges | {iterator: reached},
            types=self.types | {iterator: type},
            iterators=(*self.iterators, iterator),
            instances=self.instances * trips,
        )

    def at_least(self, bound: IntExpr, low: int) -> Scope:
        """Where `bound >= low` is known, for a bound `x` or `x + c`."""
        match bound:
            case Var(name):
                constant = 0
            case Linear(((1, Var(name)),), constant):
                pass
            case _:
                return self
        least, most = self.ranges[name]
        return replace(self, ranges=self.ranges | {name: (min(max(least, low - constant), most), most)})
