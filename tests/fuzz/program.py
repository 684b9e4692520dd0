"""A random program: its model, and its C text.

A program is one translation unit: kernel functions with regions, marked or not, and `run_<name>`, which fills the
arrays, calls the kernels with several arguments and records every array bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field

from scopt.options import Options
from tests.fuzz.arrays import KINDS, ArrayModel
from tests.fuzz.expressions import DataType
from tests.fuzz.statements import Loop, Stmt, lines, walk

# What macros that may be given otherwise are given: nothing, which is what scopt sees, and two other values.
DEFINES: tuple[tuple[str, ...], ...] = ((), ("-DN=5", "-DM=9"), ("-DN=11", "-DM=3"))


class ScalarModel(Struct, frozen=True):
    """place: a local of the kernel, recorded after the region (live) or not (dead); a global, a member of a structure,
    or pointed to."""

    name: str
    type: DataType
    place: Literal["live", "dead", "global", "member", "pointer"]
    part: str = ""

    @property
    def text(self) -> str:
        return {"member": f"q->{self.name}", "pointer": f"(*{self.name})"}.get(self.place, self.name)

    @property
    def storage(self) -> str:
        return {
            "member": f"q{self.part}_data.{self.name}",
            "pointer": f"{self.name}_data",
            "live": f"{self.name}_live",
        }.get(self.place, self.name)


class Parameter(Struct, frozen=True):
    """An integer that the kernel is given: `n`, or `q->n` as a member of a structure."""

    name: str
    type: str

    @property
    def member(self) -> bool:
        return self.name.startswith("q->")


class Macro(Struct, frozen=True):
    """symbol: may be given another value by the compiler's command line."""

    name: str
    text: str
    symbol: bool = False


class Call(Struct, frozen=True):
    """Arguments: values of the parameters, own strides of each array, and where each array, each scalar lies (empty: in
    its own memory)."""

    values: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    places: tuple[str, ...]
    scalars: tuple[str, ...]


class Kernel(Struct, frozen=True):
    """One function. part: makes its names differ from those of other functions in the same file. iterators: (type,
    name) declared before the region.

    inductions: types and names; streams: declarations of pointers that loops step, or exchange;
    ends: statements behind the region that use these.
    live_iterator: an iterator declared before the region whose last value is recorded after it.
    """

    arrays: tuple[ArrayModel, ...]
    scalars: tuple[ScalarModel, ...]
    body: tuple[Stmt, ...]
    parameters: tuple[Parameter, ...]
    calls: tuple[Call, ...]
    part: str = ""
    inductions: tuple[tuple[str, str], ...] = ()
    streams: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    live_iterator: str | None = None
    static: bool = True

    @property
    def has_structure(self) -> bool:
        members = (
            [p.member for p in self.parameters]
            + [s.place == "member" for s in self.scalars]
            + [a.form == "member" for a in self.arrays]
        )
        return any(members)


class Program(Struct, frozen=True):
    """options: what scopt is run with, drawn with the program so that both shrink together.
    kind: of which kind it is (see `kinds`)."""

    kernels: tuple[Kernel, ...]
    macros: tuple[Macro, ...] = ()
    options: Options = field(default_factory=Options)
    kind: str = "nests"

    @property
    def arrays(self) -> tuple[ArrayModel, ...]:
        return tuple(array for kernel in self.kernels for array in kernel.arrays)

    @property
    def body(self) -> tuple[Stmt, ...]:
        return tuple(statement for kernel in self.kernels for statement in kernel.body)

    @property
    def variants(self) -> tuple[tuple[str, ...], ...]:
        """The flags that the program is compiled with, before and after scopt."""
        return DEFINES if any(macro.symbol for macro in self.macros) else DEFINES[:1]

    def source(self, name: str) -> str:
        """The translation unit, with `run_<name>` as its only external
        function but for the kernels that aren't static."""
        kernels = "\n".join(
            line for kernel in self.kernels for line in _kernel(kernel, name, marked=not self.options.autodetect)
        )
        driver = [line for kernel in self.kernels for line in _driver(kernel, name)]
        calls = " ".join(f"drive{kernel.part}_{name}();" for kernel in self.kernels)
        return "\n".join([*self._prologue(kernels), kernels, *driver, f"void run_{name}(void) {{ {calls} }}", ""])

    def _prologue(self, body: str) -> Iterator[str]:
        if any(f"{function}(" in body for function in ("fabs", "sqrt", "fmin", "fmax")):
            yield "#include <math.h>"
        if "int64_t" in body or "uint8_t" in body:
            yield "#include <stdint.h>"
        if "size_t" in body:
            yield "#include <stddef.h>"
        for kind, comparison in (("MIN", "<"), ("MAX", ">")):
            if f"{kind}(" in body:
                yield f"#define {kind}(a, b) ((a) {comparison} (b) ? (a) : (b))"
        for name, text in _FUNCTION_MACROS.items():
            if f"{name}(" in body:
                yield f"#define {text}"
        for macro in self.macros:
            if macro.symbol:
                yield f"#ifndef {macro.name}"
            yield f"#define {macro.name} {macro.text}"
            if macro.symbol:
                yield "#endif"
        yield "void fill(void *, long, long, long, int, unsigned, int);"
        yield "void record(const char *, const void *, long, long, long, int);"
        if "blend(" in body:
            yield "static double __attribute__((const)) blend(double a, double b) { return 0.5 * a + 0.25 * b; }"


_FUNCTION_MACROS = {
    "SQUARE": "SQUARE(x) ((x) * (x))",
    "MIX": "MIX(a, x, y) ((a) * (x) + (y))",
    "CLIP": "CLIP(x) ((x) < 0 ? 0 : (x))",
}


def _kernel(kernel: Kernel, name: str, *, marked: bool) -> Iterator[str]:
    part = kernel.part
    for array in kernel.arrays:
        yield from array.definition()
    if kernel.has_structure:
        yield from _structure(kernel)
    for scalar in kernel.scalars:
        if scalar.place != "dead" and scalar.place != "member":
            yield f"static {scalar.type} {scalar.storage};"
    if kernel.live_iterator:
        yield f"static long long {kernel.live_iterator}{part}_live;"
    declared = [f"{p.type} {p.name}" for p in kernel.parameters if not p.member]
    declared += [f"struct Q{part} *q"] if kernel.has_structure else []
    declared += [f"{scalar.type} *{scalar.name}" for scalar in kernel.scalars if scalar.place == "pointer"]
    declared += [text for array in kernel.arrays if (text := array.declarator())]
    yield f"{'static ' if kernel.static else ''}void kernel{part}_{name}({', '.join(declared) or 'void'})"
    yield "{"
    for scalar in kernel.scalars:
        if scalar.place in ("live", "dead"):
            yield f"    {scalar.type} {scalar.name} = {_START[scalar.type]};"
    before = sorted({(s.type, s.iterator) for s in walk(kernel.body) if isinstance(s, Loop) and not s.inside})
    for type in sorted({type for type, _ in before}):
        yield f"    {type} {', '.join(iterator for of, iterator in before if of == type)};"
    for type in sorted({type for type, _ in kernel.inductions}):
        yield f"    {type} {', '.join(name for of, name in kernel.inductions if of == type)};"
    for declaration in kernel.streams:
        yield f"    {declaration}"
    if marked:
        yield "#pragma scop"
    for statement in kernel.body:
        yield from lines(statement, 1)
    if marked:
        yield "#pragma endscop"
    for text in kernel.ends:
        yield f"    {text}"
    for scalar in kernel.scalars:
        if scalar.place == "live":
            yield f"    {scalar.storage} = {scalar.name};"
    if kernel.live_iterator:
        yield f"    {kernel.live_iterator}{part}_live = {kernel.live_iterator};"
    yield "}"


def _structure(kernel: Kernel) -> Iterator[str]:
    yield f"struct Q{kernel.part} {{"
    yield "    short first;"
    for parameter in kernel.parameters:
        if parameter.member:
            yield f"    {parameter.type} {parameter.name.removeprefix('q->')};"
    for scalar in kernel.scalars:
        if scalar.place == "member":
            yield f"    {scalar.type} {scalar.name};"
    for array in kernel.arrays:
        if array.form == "member":
            yield f"    {array.type} {array.name}{''.join(f'[{extent}]' for extent in array.extents)};"
    yield "};"
    yield f"static struct Q{kernel.part} q{kernel.part}_data;"


_START: dict[DataType, str] = {
    "double": "0.5",
    "float": "0.5f",
    "unsigned": "3",
    "int": "5",
    "long long": "5",
    "unsigned char": "7",
    "short": "5",
}


def _driver(kernel: Kernel, name: str) -> Iterator[str]:
    part = kernel.part
    yield f"static void drive{part}_{name}(void)"
    yield "{"
    yield f"    for (int call = 0; call < {len(kernel.calls)}; call++) {{"
    recorded = []
    for number, array in enumerate(kernel.arrays):
        kind = KINDS[array.type]
        most = int(array.fill) if array.fill else 0
        yield f"        fill({array.cells_of()}, {kind}, {7 * number + 1}, {most});"
        recorded.append((array.name, array.cells_of(), kind))
    for scalar in kernel.scalars:
        if scalar.place not in ("live", "dead"):
            yield f"        {scalar.storage} = {_START[scalar.type]};"
        if scalar.place != "dead":
            recorded.append((scalar.name, f"&{scalar.storage}, 1, 0, 1", KINDS[scalar.type]))
    if kernel.live_iterator:
        recorded.append((kernel.live_iterator, f"&{kernel.live_iterator}{part}_live, 1, 0, 1", KINDS["long long"]))
    yield "        switch (call) {"
    for number, call in enumerate(kernel.calls):
        yield from _call(kernel, call, number, name)
    yield "        }"
    for label, cells, kind in recorded:
        yield f'        record("{name} {label}", {cells}, {kind});'
    yield "    }"
    yield "}"


def _call(kernel: Kernel, call: Call, number: int, name: str) -> Iterator[str]:
    arguments, members = [], []
    for parameter, value in zip(kernel.parameters, call.values, strict=True):
        if parameter.member:
            members.append(f"q{kernel.part}_data.{parameter.name.removeprefix('q->')} = {value};")
        else:
            arguments.append(str(value))
    arguments += [f"&q{kernel.part}_data"] if kernel.has_structure else []
    pointed = zip(kernel.scalars, call.scalars, strict=True)
    arguments += [place or f"&{scalar.storage}" for scalar, place in pointed if scalar.place == "pointer"]
    for array, strides, place in zip(kernel.arrays, call.strides, call.places, strict=True):
        if array.form not in ("global", "member"):
            arguments += [*map(str, strides), place or f"(void *){array.storage}"]
    yield (
        f"        case {number}: "
        f"{' '.join(members)}{' ' if members else ''}kernel{kernel.part}_{name}({', '.join(arguments)}); break;"
    )
