"""Draws arrays: their forms and types, where the kernel's calls have them lie, and the calls' other arguments."""

from __future__ import annotations

from msgspec.structs import replace

from tests.fuzz.arrays import POINTERS, Access, ArrayModel
from tests.fuzz.draft import LOOKUPS, Draft, Role, Shape
from tests.fuzz.expressions import DataType, Int, IntExpr, Var
from tests.fuzz.program import Call, Parameter, ScalarModel
from tests.fuzz.scope import Scope

# Names that a code generator may be tempted to use itself come last: shrinking avoids them.
NAMES = {
    "": ("A", "B", "C", "D", "c0", "t1", "floord", "lb", "ub", "S0", "max"),
    "_b": ("E", "F", "G", "H", "c1", "t2", "ceild", "lb2"),
    "_c": ("U", "V", "W", "X", "c2", "t3", "S1", "min"),
}
_SIGNED = ((0, 0), (1, 2), (-3, 4), (5, 1), (4, 11), (11, 7))
_NATURAL = ((0, 0), (1, 2), (0, 4), (5, 1), (4, 11), (11, 7))
_WIDE: dict[str, tuple[int, ...]] = {
    "unsigned": (0, 1, 4294967295, 2147483653, 2, 9),
    "size_t": (0, 1, 18446744073709551615, 4294967301, 2, 9),
    "long": (-4611686018427387904, 1, 9223372036854775807, 4294967301, -7, 9),
    "int": (-2147483647, 1, 2147483647, 5, -7, 9),
}


def value_range(*, signed: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of the two sizes, over all calls."""
    first, second = zip(*(_SIGNED if signed else _NATURAL), strict=True)
    return (min(first), max(first)), (min(second), max(second))


def wide_range(type: str) -> tuple[int, int]:
    return min(_WIDE[type]), max(_WIDE[type])


def add_shapes(draft: Draft, scope: Scope, size_type: str) -> Scope:
    """The arrays of a kernel, without sizes. Returns the scope with their own strides, which are of the given type."""
    choices, kind = draft.choices, draft.kind
    names = list(NAMES[draft.part])

    def add(role: Role, type: DataType, rank: int) -> None:
        name = names.pop(choices.up_to(len(names) - 1) if choices.chance(10) else 0)
        access = _access(draft, scope, name, rank, plain=role == "index")
        draft.shapes.append(Shape(name, type, access, [0] * rank, role))

    # Overlap takes two.
    for number in range((2 if kind.aliases >= 50 else 1) + choices.up_to(2)):
        rank = choices.pick(1, 2, 2, 1, 3) if number == 0 else choices.pick(1, 2, 1, 2, 3)
        type = (
            draft.shapes[0].type
            if draft.shapes and choices.chance(kind.aliases + 25 if kind.aliases else 0)
            else choices.pick(*kind.types)
        )
        add("data", type, rank)
    if kind.reductions and choices.chance(70):
        types: tuple[DataType, ...] = tuple(type for type in kind.types if type != "short" or not kind.exact)
        add("accumulator", choices.pick(*types), choices.pick(1, 1, 2))
    if kind.lookups:
        add("index", "int", 1)
    strides = [f"{shape.name}_{level}" for shape in draft.shapes for level in range(1, shape.rank)]
    return replace(
        scope,
        ranges=scope.ranges | dict.fromkeys(strides, (0, 120)),
        types=scope.types | dict.fromkeys(strides, size_type),
    )


def _access(draft: Draft, scope: Scope, name: str, rank: int, *, plain: bool) -> Access:
    choices, kind = draft.choices, draft.kind
    form = choices.pick(*kind.forms)
    if form == "rows" and rank == 1:
        form = "pointer"
    if form == "member":
        return Access(f"q->{name}", form)
    member = ".x" if not plain and choices.chance(kind.structures) else ""
    if form != "flat":
        inner = 1 if member and rank > 1 and choices.chance(40) else 0
        if inner and form == "rows" and rank == 2:
            form = "pointer"
        return Access(name, form, member=member, inner=inner)
    strides: list[IntExpr] = []
    for level in range(1, rank):
        possible: list[IntExpr] = [Var(f"{name}_{level}"), Var(f"{name}_{level}"), Int(choices.pick(12, 30, 7))]
        possible += [Var(size) for size in draft.sizes if scope.ranges[size][0] >= 0] * 2
        strides.append(choices.pick(*possible))
    wide = choices.pick("", "", "", "", "size_t", "long")
    return Access(name, form, tuple(strides), choices.pick(0, 0, 0, 1, 2, 3), member, wide=wide)


def finished(draft: Draft, shape: Shape, size_type: str, symbol: tuple[str, int] | None) -> ArrayModel:
    """The array with the extents that its accesses need. symbol: a macro that its first extent may be spelled with, and
    its smallest value."""
    choices, kind = draft.choices, draft.kind
    extents = tuple(high + 1 for high in shape.highs)
    cells = shape.cells
    if shape.own_strides:
        cells = _flat_size(shape, extents)
    array = ArrayModel(
        shape.name,
        shape.type,
        extents,
        shape.access,
        cells=cells if shape.access.form == "flat" else 0,
        size_type=size_type,
        written=shape.written or not choices.chance(50),
        movable=shape.role == "data",
        part=draft.part,
    )
    if shape.role == "index":
        array = replace(array, fill=str(LOOKUPS + 1))
    elif kind.exact:
        array = replace(array, fill="8")
    if kind.aliases and array.form in POINTERS and not array.access.member:
        array = replace(array, cells=array.size + choices.pick(0, 3, 8))
    if array.form in POINTERS and choices.chance(kind.restrict):
        array = replace(array, restrict=True)
    if symbol is not None and array.form == "global" and choices.chance(60):
        name, least = symbol
        slack = max(0, array.dimensions[0] - least)
        array = replace(array, extent_text=f"{name} + {slack}" if slack else name)
    return array


def _flat_size(shape: Shape, extents: tuple[int, ...]) -> int:
    """Cells of a flat array, if its own strides are its extents at most."""
    size = extents[0]
    for stride, extent in zip(shape.access.strides, extents[1:], strict=True):
        own = isinstance(stride, Var) and stride.name.startswith(f"{shape.name}_")
        size = size * (extent if own else _most(stride)) + extent
    return size


def _most(stride: IntExpr) -> int:
    return stride.value if isinstance(stride, Int) else 11


def calls(
    draft: Draft, parameters: tuple[Parameter, ...], arrays: tuple[ArrayModel, ...], *, signed: bool
) -> tuple[Call, ...]:
    """The arguments of six calls."""
    choices = draft.choices
    result = []
    for number, sizes in enumerate(_SIGNED if signed else _NATURAL):
        values = (*sizes, *(_WIDE[parameter.type][number] for parameter in parameters[2:]))
        strides = tuple(_strides(draft, array, number) for array in arrays)
        places = tuple(_place(draft, array, arrays) if choices.chance(draft.kind.aliases) else "" for array in arrays)
        pointed = tuple(
            _cell(draft, scalar, arrays) if choices.chance(draft.kind.aliases) else ""
            for scalar in (*draft.scalars, *draft.sums)
        )
        result.append(Call(values, strides, places, pointed))
    return tuple(result)


def _strides(draft: Draft, array: ArrayModel, call: int) -> tuple[int, ...]:
    """The array's extents; for a flat one also smaller numbers, so that its rows overlap."""
    own = array.own_strides
    if array.form != "flat":
        return array.dimensions[len(array.dimensions) - len(own) :] if own else ()
    result = []
    for name in own:
        extent = array.extents[int(name.rsplit("_", 1)[1])]
        smaller = draft.choices.pick(extent, extent, extent, extent - 1, 1, 0, extent // 2)
        result.append(max(0, smaller) if call else extent)
    return tuple(result)


def _place(draft: Draft, array: ArrayModel, arrays: tuple[ArrayModel, ...]) -> str:
    """An array's address inside of another array's memory; empty if there is no room."""
    if array.form not in POINTERS or not _shareable(array):
        return ""
    hosts = [
        host
        for host in arrays
        if host is not array and host.type == array.type and _shareable(host) and host.size >= array.size
    ]
    if not hosts:
        return ""
    host = draft.choices.pick(*hosts)
    room = host.size - array.size
    offset = draft.choices.pick(0, min(1, room), room, draft.choices.up_to(room))
    return f"(void *)(({host.type} *)&{host.storage} + {offset})"


def _cell(draft: Draft, scalar: ScalarModel, arrays: tuple[ArrayModel, ...]) -> str:
    """The address of a cell of an array for a scalar that is pointed to.
    Sums of signed integers are too large for other data."""
    hosts = [
        array
        for array in arrays
        if array.type == scalar.type and array.type not in ("int", "long long", "short") and _shareable(array)
    ]
    if scalar.place != "pointer" or not hosts:
        return ""
    host = draft.choices.pick(*hosts)
    return f"({host.type} *)&{host.storage} + {draft.choices.up_to(host.size - 1)}"


def _shareable(array: ArrayModel) -> bool:
    return array.movable and not array.access.member and not array.fill and not array.restrict
