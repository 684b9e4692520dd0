"""A random program: its model, and its C text.

A program is one translation unit: a kernel function with a marked region, and `run_<name>`, which fills the arrays, calls the kernel
with several parameter values and records every array bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from scopt.options import Options
from tests.fuzz.expressions import Comparison, Condition, Data, DataType, IntExpr, Ref

# (n, m) of the calls: negative, empty, one, small, odd and larger trip counts; these ranges are what subscripts are proved against.
CALLS = ((0, 0), (1, 2), (-3, 4), (5, 1), (4, 11), (11, 7))
PARAMETERS = {"n": (-3, 11), "m": (0, 11)}


@dataclass(frozen=True, slots=True)
class Assign:
    target: Ref
    op: str
    value: Data


@dataclass(frozen=True, slots=True)
class Declare:
    """A local of a loop body. extent: None for a scalar; an array is filled element by element right here."""

    type: DataType
    name: str
    value: Data
    extent: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """condition: affine, or a comparison of data."""

    condition: Condition | Data
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """bounds are joined by `&&`. style: 0…3, the ways to write the step. flipped: `bound > i` in place of `i < bound`."""

    iterator: str
    type: str
    inside: bool
    start: IntExpr
    comparison: Comparison
    bounds: tuple[IntExpr, ...]
    step: int
    body: tuple[Stmt, ...]
    style: int = 0
    flipped: bool = False
    braces: bool = True


Stmt = Assign | Declare | Branch | Loop


@dataclass(frozen=True, slots=True)
class ArrayModel:
    """form: how the kernel gets at it. extents are what the accesses need."""

    name: str
    type: DataType
    extents: tuple[int, ...]
    form: Literal["global", "parameter", "vla", "pointer"] = "global"

    def declarator(self) -> str:
        """The kernel's parameters for it; empty for a global."""
        constant = "".join(f"[{extent}]" for extent in self.extents)
        if self.form == "parameter":
            return f"{self.type} {self.name}{constant}"
        if self.form == "pointer":
            rest = "".join(f"[{extent}]" for extent in self.extents[1:])
            return f"{self.type} (*{self.name}){rest}" if rest else f"{self.type} *{self.name}"
        sizes = [f"{self.name}_{level}" for level in range(len(self.extents))]
        return ", ".join([*(f"int {size}" for size in sizes), f"{self.type} {self.name}" + "".join(f"[{size}]" for size in sizes)])

    def arguments(self) -> str:
        data = f"{self.name}_data"
        return ", ".join([*map(str, self.extents), data]) if self.form == "vla" else data

    @property
    def storage(self) -> str:
        return self.name if self.form == "global" else f"{self.name}_data"


@dataclass(frozen=True, slots=True)
class ScalarModel:
    """place: a local of the kernel that is recorded after the region (live), one that isn't (dead), or a global."""

    name: str
    type: DataType
    place: Literal["live", "dead", "global"]


@dataclass(frozen=True, slots=True)
class Program:
    """options: what scopt is run with, drawn with the program so that both shrink together.

    live_iterator: an iterator declared before the region whose last value is recorded after it.
    """

    arrays: tuple[ArrayModel, ...]
    scalars: tuple[ScalarModel, ...]
    body: tuple[Stmt, ...]
    iterator_type: str = "int"
    live_iterator: str | None = None
    options: Options = field(default_factory=Options)

    def source(self, name: str) -> str:
        """The translation unit, with `run_<name>` as its only external function."""
        return "\n".join([*_prologue(self), *_kernel(self, name), *_driver(self, name), ""])


def walk(statements: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements, outer ones first."""
    for statement in statements:
        yield statement
        if isinstance(statement, Branch):
            yield from walk(statement.then)
            yield from walk(statement.otherwise)
        elif isinstance(statement, Loop):
            yield from walk(statement.body)


def _prologue(program: Program) -> Iterator[str]:
    body = "\n".join(line for statement in program.body for line in _lines(statement, 0))
    if "fabs(" in body or "sqrt(" in body:
        yield "#include <math.h>"
    for kind, comparison in (("MIN", "<"), ("MAX", ">")):
        if f"{kind}(" in body:
            yield f"#define {kind}(a, b) ((a) {comparison} (b) ? (a) : (b))"
    yield "void fill_double(double *, long, unsigned);"
    yield "void fill_unsigned(unsigned *, long, unsigned);"
    yield "void fill_int(int *, long, unsigned);"
    yield "void record(const char *, const void *, long, int);"
    if "blend(" in body:
        yield "static double __attribute__((const)) blend(double a, double b) { return 0.5 * a + 0.25 * b; }"
    for array in program.arrays:
        yield f"static {array.type} {array.storage}{''.join(f'[{extent}]' for extent in array.extents)};"
    for scalar in program.scalars:
        if scalar.place == "global":
            yield f"static {scalar.type} {scalar.name};"
        elif scalar.place == "live":
            yield f"static {scalar.type} {scalar.name}_live;"
    if program.live_iterator:
        yield f"static int {program.live_iterator}_live;"


def _kernel(program: Program, name: str) -> Iterator[str]:
    parameters = ", ".join(["int n", "int m", *(array.declarator() for array in program.arrays if array.form != "global")])
    yield f"static void kernel_{name}({parameters})"
    yield "{"
    for scalar in program.scalars:
        if scalar.place != "global":
            yield f"    {scalar.type} {scalar.name} = {_START[scalar.type]};"
    before = sorted({s.iterator for s in walk(program.body) if isinstance(s, Loop) and not s.inside})
    if before:
        yield f"    {program.iterator_type} {', '.join(before)};"
    if not program.options.autodetect:
        yield "#pragma scop"
    for statement in program.body:
        yield from _lines(statement, 1)
    if not program.options.autodetect:
        yield "#pragma endscop"
    for scalar in program.scalars:
        if scalar.place == "live":
            yield f"    {scalar.name}_live = {scalar.name};"
    if program.live_iterator:
        yield f"    {program.live_iterator}_live = {program.live_iterator};"
    # A parameter that no loop uses is no mistake in a random program.
    yield "    (void)n, (void)m;"
    yield "}"


_START = {"double": "0.5", "unsigned": "3", "int": "5"}
_KIND = {"double": 0, "unsigned": 1, "int": 2}


def _driver(program: Program, name: str) -> Iterator[str]:
    yield f"void run_{name}(void)"
    yield "{"
    yield f"    static const int calls[][2] = {{{', '.join(f'{{{n}, {m}}}' for n, m in CALLS)}}};"
    yield f"    for (int call = 0; call < {len(CALLS)}; call++) {{"
    recorded = []
    for number, array in enumerate(program.arrays):
        count = f"sizeof {array.storage} / sizeof({array.type})"
        yield f"        fill_{array.type}(({array.type} *){array.storage}, {count}, {7 * number + 1});"
        recorded.append((array.name, array.storage, array.type, count))
    for scalar in program.scalars:
        if scalar.place == "global":
            yield f"        {scalar.name} = {_START[scalar.type]};"
        if scalar.place != "dead":
            storage = scalar.name if scalar.place == "global" else f"{scalar.name}_live"
            recorded.append((scalar.name, f"&{storage}", scalar.type, "1"))
    if program.live_iterator:
        recorded.append((program.live_iterator, f"&{program.live_iterator}_live", "int", "1"))
    arguments = ["calls[call][0]", "calls[call][1]", *(array.arguments() for array in program.arrays if array.form != "global")]
    yield f"        kernel_{name}({', '.join(arguments)});"
    for label, storage, data_type, count in recorded:
        yield f'        record("{name} {label}", {storage}, {count}, {_KIND[data_type]});'
    yield "    }"
    yield "}"


def _lines(statement: Stmt, depth: int) -> Iterator[str]:
    pad = "    " * depth
    match statement:
        case Assign(target, op, value):
            yield f"{pad}{target} {op} {value};"
        case Declare(data_type, name, value, None):
            yield f"{pad}{data_type} {name} = {value};"
        case Declare(data_type, name, value, extent):
            yield f"{pad}{data_type} {name}[{extent}];"
            for element in range(extent):
                yield f"{pad}{name}[{element}] = {value};"
        case Branch(condition, then, otherwise):
            yield f"{pad}if ({condition}) {{"
            for inner in then:
                yield from _lines(inner, depth + 1)
            if otherwise:
                yield f"{pad}}} else {{"
                for inner in otherwise:
                    yield from _lines(inner, depth + 1)
            yield f"{pad}}}"
        case Loop():
            braces = statement.braces or len(statement.body) != 1
            yield f"{pad}{_header(statement)}{' {' if braces else ''}"
            for inner in statement.body:
                yield from _lines(inner, depth + 1)
            if braces:
                yield f"{pad}}}"


_MIRRORED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "==": "=="}


def _header(loop: Loop) -> str:
    name, size = loop.iterator, abs(loop.step)
    sign = "+" if loop.step > 0 else "-"
    if loop.style == 3:
        step = f"{name} = {name} {sign} {size}"
    elif loop.style == 2 or size != 1:
        step = f"{name} {sign}= {size}"
    else:
        step = f"{sign}{sign}{name}" if loop.style == 1 else f"{name}{sign}{sign}"
    declaration = f"{loop.type} " if loop.inside else ""
    tests = [f"{bound} {_MIRRORED[loop.comparison]} {name}" if loop.flipped else f"{name} {loop.comparison} {bound}" for bound in loop.bounds]
    return f"for ({declaration}{name} = {loop.start}; {' && '.join(tests)}; {step})"
