"""Arrays of random programs: how the kernel gets at them, what a reference looks like, where the memory is.

An array has logical subscripts, one a dimension. How they become C is a matter of its form: brackets, one flat
subscript `A[i * n + j]`, a member of the elements of an array of structures, an array inside of a structure.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tests.fuzz.expressions import Cast, DataType, Int, IntExpr, Linear, Product, Var

# global: by its name. parameter: `A[5][7]`; vla: `A[A_0][A_1]`; pointer: `(*A)[7]`; rows: `(*A)[A_1]`; flat: `*A`.
# member: in a structure, `q->A[i][j]`.
Form = Literal["global", "parameter", "vla", "pointer", "rows", "flat", "member"]
# A form that the kernel gets a pointer for: another array, or a part of one, may stand there too.
POINTERS: frozenset[Form] = frozenset({"parameter", "vla", "pointer", "rows", "flat"})

SIZES: dict[DataType, int] = {
    "double": 8,
    "unsigned": 4,
    "int": 4,
    "float": 4,
    "long long": 8,
    "unsigned char": 1,
    "short": 2,
}
# For the driver: how a type's cells are hashed (see support.c).
KINDS: dict[DataType, int] = {
    "double": 0,
    "unsigned": 1,
    "int": 1,
    "float": 2,
    "long long": 3,
    "unsigned char": 4,
    "short": 5,
}


class Access(Struct, frozen=True):
    """Everything that the text of a reference depends on.

    strides: of a flat subscript, one for each dimension but the first. layout: in which of several ways it is spelled.
    inner: how many of the last subscripts belong to an array inside of the structure. member: of the structure.
    """

    base: str
    form: Form
    strides: tuple[IntExpr, ...] = ()
    layout: int = 0
    member: str = ""
    inner: int = 0
    wide: str = ""

    def text(self, subscripts: tuple[IntExpr, ...]) -> str:
        if self.form == "flat":
            subscripts = (self.flat(subscripts),)
        outer = len(subscripts) - (self.inner if self.form != "flat" else 0)
        brackets = [f"[{subscript}]" for subscript in subscripts]
        if self.layout == 3 and outer == 1 and not self.member and self.form == "flat":
            return (
                f"(*({self.base} + ({subscripts[0]})))"  # in parentheses: an unsigned -j + 10 is only small as a whole
            )
        return self.base + "".join(brackets[:outer]) + self.member + "".join(brackets[outer:])

    def flat(self, subscripts: tuple[IntExpr, ...]) -> IntExpr:
        """The subscript of a flat array."""
        result = subscripts[0]
        for stride, subscript in zip(self.strides, subscripts[1:], strict=True):
            left: IntExpr = Cast(self.wide, result) if self.wide else result
            product = Product(stride, left) if self.layout == 1 else Product(left, stride)
            constant = subscript.value if isinstance(subscript, Int) else 0
            if isinstance(subscript, Int):
                result = Linear(((1, product),), constant)
            elif isinstance(subscript, Linear) and subscript.terms and self.layout != 1 and subscript.terms[0][0] > 0:
                result = Linear(((1, product), *subscript.terms), subscript.constant)
            else:
                result = Linear(((1, subscript), (1, product)) if self.layout == 1 else ((1, product), (1, subscript)))
        return result


class ArrayModel(Struct, frozen=True):
    """extents are what the accesses need; cells: of a flat array. restrict: the caller never makes it overlap with
    others.

    extent_text: of the first dimension of a global, if it isn't its number. size_type: of `A_1`, where strides are the
      array's own.
    fill: the data are numbers below this; empty for what suits the type. movable: a call may have it overlap with
      others.
    """

    name: str
    type: DataType
    extents: tuple[int, ...]
    access: Access
    cells: int = 0
    restrict: bool = False
    fill: str = ""
    extent_text: str = ""
    size_type: str = "int"
    written: bool = True
    movable: bool = True
    part: str = ""

    @property
    def form(self) -> Form:
        return self.access.form

    @property
    def own_strides(self) -> tuple[str, ...]:
        """The parameters of the kernel for the array's strides or extents."""
        match self.form:
            case "vla":
                return tuple(f"{self.name}_{level}" for level in range(len(self.dimensions)))
            case "rows":
                return tuple(f"{self.name}_{level}" for level in range(1, len(self.dimensions)))
            case "flat":
                return tuple(
                    stride.name
                    for stride in self.access.strides
                    if isinstance(stride, Var) and stride.name.startswith(f"{self.name}_")
                )
            case _:
                return ()

    @property
    def element(self) -> str:
        """The C type of an element: the structure, where the array is one of structures."""
        return f"struct {self.name}_s" if self.access.member else self.type

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Of the array itself, without those inside of the structures."""
        return self.extents[: len(self.extents) - self.access.inner]

    def declarator(self) -> str:
        """The kernel's parameters for it; empty for one that is none."""
        qualifier = "restrict " if self.restrict else ""
        const = "" if self.written else "const "
        constant = "".join(f"[{extent}]" for extent in self.dimensions)
        sizes = [f"{self.size_type} {size}" for size in self.own_strides]
        match self.form:
            case "parameter":
                first = f"[{qualifier}{self.dimensions[0]}]" if qualifier else f"[{self.dimensions[0]}]"
                return f"{const}{self.element} {self.name}{first}{constant[len(f'[{self.dimensions[0]}]') :]}"
            case "pointer":
                rest = "".join(f"[{extent}]" for extent in self.dimensions[1:])
                return (
                    f"{const}{self.element} (*{qualifier}{self.name}){rest}"
                    if rest
                    else f"{const}{self.element} *{qualifier}{self.name}"
                )
            case "rows":
                rest = "".join(f"[{size}]" for size in self.own_strides)
                return ", ".join([*sizes, f"{const}{self.element} (*{qualifier}{self.name}){rest}"])
            case "vla":
                inner = "".join(f"[{size}]" for size in self.own_strides)
                return ", ".join([*sizes, f"{const}{self.element} {self.name}{inner}"])
            case "flat":
                return ", ".join([*sizes, f"{const}{self.element} *{qualifier}{self.name}"])
            case _:
                return ""

    @property
    def storage(self) -> str:
        """An lvalue in the driver: the whole memory."""
        match self.form:
            case "global":
                return self.name
            case "member":
                return f"q{self.part}_data.{self.name}"
            case _:
                return f"{self.name}_data"

    @property
    def size(self) -> int:
        """Cells; elements, where these are structures."""
        count = 1
        for extent in self.dimensions:
            count *= extent
        return max(count, self.cells)

    def definition(self) -> tuple[str, ...]:
        """File scope declarations: the structure, the memory."""
        lines = []
        if self.access.member:
            inner = "".join(f"[{extent}]" for extent in self.extents[len(self.dimensions) :])
            name = self.access.member.removeprefix(".")
            lines.append(f"struct {self.name}_s {{ short before; {self.type} {name}{inner}; double after; }};")
        if self.form == "global":
            first = self.extent_text or str(self.dimensions[0])
            rest = "".join(f"[{extent}]" for extent in self.dimensions[1:])
            lines.append(f"static {self.element} {self.name}[{first}]{rest};")
        elif self.form != "member":
            lines.append(f"static {self.element} {self.storage}[{self.size}];")
        return tuple(lines)

    def cells_of(self) -> str:
        """Arguments of the driver's fill() and record(): address, elements,
        bytes from one to the next, cells in each."""
        if not self.access.member:
            return f"&{self.storage}, sizeof {self.storage} / sizeof({self.type}), sizeof({self.type}), 1"
        zeros = "[0]" * (len(self.dimensions) if self.form == "global" else 1)
        inner = 1
        for extent in self.extents[len(self.dimensions) :]:
            inner *= extent
        element = f"sizeof({self.element})"
        return f"&{self.storage}{zeros}{self.access.member}, sizeof {self.storage} / {element}, {element}, {inner}"
