"""A program while it is being drawn: what it is made of so far."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from tests.fuzz.arrays import Access
from tests.fuzz.choices import Choices
from tests.fuzz.expressions import DataType, IntExpr, Ref
from tests.fuzz.kinds import Kind
from tests.fuzz.program import ScalarModel
from tests.fuzz.scope import Scope

MAX_INSTANCES = 20_000
WIDEST = {1: 120, 2: 48, 3: 28}  # cells along one dimension of an array, by its number of dimensions
LOOKUPS = 9  # the largest number in an array of subscripts

# data: read and written, their integers stay small. accumulator: written by reductions, read by nothing else. index:
# holds subscripts, is only read.
Role = Literal["data", "accumulator", "index"]


class Shape(Struct):
    """An array: what has been asked of each dimension so far. cells: of a flat one."""

    name: str
    type: DataType
    access: Access
    highs: list[int]
    role: Role = "data"
    cells: int = 1
    written: bool = False

    @property
    def rank(self) -> int:
        return len(self.highs)

    def reference(self, scope: Scope, subscripts: tuple[IntExpr, ...]) -> Ref | None:
        """The element, with room made for it; None if its flat subscript can't be had in C's types. subscripts: at 0 or
        above, none too wide."""
        if self.access.form == "flat":
            flat = self.access.flat(subscripts)
            low, high = flat.range(scope.ranges)
            if low < 0 or not scope.exact(flat):
                return None
            if high >= 4000 and not any(name in str(flat) for name in (f"{self.name}_1", f"{self.name}_2")):
                return None
            if not self.own_strides:
                self.cells = max(self.cells, high + 1)
        for level, subscript in enumerate(subscripts):
            self.highs[level] = max(self.highs[level], subscript.range(scope.ranges)[1])
        return Ref(self.access.text(subscripts))

    @property
    def own_strides(self) -> bool:
        return any(f"{self.name}_" in str(stride) for stride in self.access.strides)


class Draft(Struct):
    """sizes: the names that bounds are made of; constants: macros that stand for small numbers. inductions: types and
    names; streams: declarations of pointers; ends: what is done
    to them behind the region."""

    choices: Choices
    kind: Kind
    part: str = ""
    shapes: list[Shape] = field(default_factory=list)
    scalars: list[ScalarModel] = field(default_factory=list)
    sums: list[ScalarModel] = field(default_factory=list)
    sizes: tuple[str, ...] = ("n", "m")
    constants: tuple[str, ...] = ()
    wide: str = ""
    statements_left: int = 0
    spices_left: int = 0
    locals_made: int = 0
    pointers_made: int = 0
    iterator_type: str = "int"
    inductions: list[tuple[str, str]] = field(default_factory=list)
    streams: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)

    def spice(self) -> bool:
        """Whether one more expensive construct may go into the program; counts it."""
        self.spices_left -= 1
        return self.spices_left >= 0

    def data(self) -> list[Shape]:
        return [shape for shape in self.shapes if shape.role == "data"]
