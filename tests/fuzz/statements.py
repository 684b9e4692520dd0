"""Statements of random programs, and their C text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from tests.fuzz.expressions import Comparison, Condition, Data, DataType, IntExpr, Ref

# How a loop is written. while, do: the iterator is set before and stepped at the end of the body; do only under an `if`
# with the loop's condition.
# postdecrement: `for (i = n; i-- > low;)`. wraparound: an unsigned iterator counts down until it exceeds where it
# started.
LoopForm = Literal["for", "while", "do", "postdecrement", "wraparound"]


class Assign(Struct, frozen=True):
    target: Ref
    op: str
    value: Data


class Line(Struct, frozen=True):
    """Another simple statement, such as `if (x < low) low = x;`."""

    text: str


class Stream(Struct, frozen=True):
    """A statement that a pointer is used in, and the one that steps it, if that is another one."""

    text: str
    step: str = ""


class Declare(Struct, frozen=True):
    """A local of a loop body. extent: None for a scalar; an array is filled element by element right here."""

    type: DataType
    name: str
    value: Data
    extent: int | None = None


class Branch(Struct, frozen=True):
    """condition: affine, or a comparison of data."""

    condition: Condition | Data
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


class Jump(Struct, frozen=True):
    """`if (condition) continue;` or `break`, right in the body of a loop."""

    condition: Condition | Data
    kind: Literal["continue", "break"]


class Induction(Struct, frozen=True):
    """A further variable of a loop, in steps of its own. in_header: set and stepped in the loop's header, else before
    it and in the body.

    place: of the step in the body: how many statements stand before it, all of them if there are fewer.
    """

    name: str
    start: int
    step: int
    in_header: bool
    place: int = 99


class Loop(Struct, frozen=True):
    """bounds are joined by `&&`. style: 0…3, the ways to write the step. flipped: `bound > i` in place of
    `i < bound`."""

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
    form: LoopForm = "for"
    induction: Induction | None = None


Stmt = Assign | Line | Stream | Declare | Branch | Jump | Loop


def walk(statements: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements, outer ones first."""
    for statement in statements:
        yield statement
        if isinstance(statement, Branch):
            yield from walk(statement.then)
            yield from walk(statement.otherwise)
        elif isinstance(statement, Loop):
            yield from walk(statement.body)


def lines(statement: Stmt, depth: int) -> Iterator[str]:
    """The C text of a statement, indented."""
    pad = "    " * depth
    match statement:
        case Assign(target, op, value):
            yield f"{pad}{target} {op} {value};"
        case Line(text):
            yield f"{pad}{text}"
        case Stream(text, step):
            yield f"{pad}{text}"
            if step:
                yield f"{pad}{step}"
        case Declare(data_type, name, value, None):
            yield f"{pad}{data_type} {name} = {value};"
        case Declare(data_type, name, value, extent):
            yield f"{pad}{data_type} {name}[{extent}];"
            for element in range(extent):
                yield f"{pad}{name}[{element}] = {value};"
        case Jump(condition, kind):
            yield f"{pad}if ({condition})"
            yield f"{pad}    {kind};"
        case Branch(condition, then, otherwise):
            yield f"{pad}if ({condition}) {{"
            for inner in then:
                yield from lines(inner, depth + 1)
            if otherwise:
                yield f"{pad}}} else {{"
                for inner in otherwise:
                    yield from lines(inner, depth + 1)
            yield f"{pad}}}"
        case Loop():
            yield from _loop(statement, depth)


def _loop(loop: Loop, depth: int) -> Iterator[str]:
    if loop.form in ("while", "do"):
        yield from _unfolded(loop, depth)
        return
    pad = "    " * depth
    induction = loop.induction
    apart = induction is not None and not induction.in_header
    if apart:
        assert induction is not None
        yield f"{pad}{induction.name} = {induction.start};"
    braces = loop.braces or len(loop.body) != 1 or apart or not _single(loop.body[0])
    yield f"{pad}{_header(loop)}{' {' if braces else ''}"
    yield from _body(loop, depth + 1, induction if apart else None)
    if braces:
        yield f"{pad}}}"


def _body(loop: Loop, depth: int, induction: Induction | None) -> Iterator[str]:
    """The statements of a body, with the induction's step among them. Declarations stay in front: a step in the midst
    of them would be as good."""
    for position, inner in enumerate(loop.body):
        if induction is not None and position == induction.place:
            yield f"{'    ' * depth}{_stepped(induction)}"
        yield from lines(inner, depth)
    if induction is not None and induction.place >= len(loop.body):
        yield f"{'    ' * depth}{_stepped(induction)}"


def _stepped(induction: Induction) -> str:
    if induction.step == 1:
        return f"{induction.name}++;"
    return f"{induction.name} += {induction.step};"


def _single(statement: Stmt) -> bool:
    """Whether its text is one statement of C."""
    if isinstance(statement, Loop):
        return statement.form not in ("while", "do") and (statement.induction is None or statement.induction.in_header)
    return not isinstance(statement, Declare) and not (isinstance(statement, Stream) and statement.step)


def _unfolded(loop: Loop, depth: int) -> Iterator[str]:
    """As a while or do loop, in a block of its own where it declares its iterator."""
    if loop.inside:
        yield f"{'    ' * depth}{{"
        depth += 1
    pad = "    " * depth
    yield f"{pad}{loop.type + ' ' if loop.inside else ''}{loop.iterator} = {loop.start};"
    if loop.induction:
        yield f"{pad}{loop.induction.name} = {loop.induction.start};"
    if loop.form == "do":
        yield f"{pad}if ({_test(loop)})"
        yield f"{pad}    do {{"
        depth, pad = depth + 1, pad + "    "
    else:
        yield f"{pad}while ({_test(loop)}) {{"
    yield from _body(loop, depth + 1, loop.induction)
    yield f"{pad}    {_step(loop)};"
    if loop.form == "do":
        yield f"{pad}}} while ({_test(loop)});"
        depth -= 1
    else:
        yield f"{pad}}}"
    if loop.inside:
        yield f"{'    ' * (depth - 1)}}}"


MIRRORED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "==": "=="}


def _step(loop: Loop) -> str:
    name, size = loop.iterator, abs(loop.step)
    sign = "+" if loop.step > 0 else "-"
    if loop.style == 3:
        return f"{name} = {name} {sign} {size}"
    if loop.style == 2 or size != 1:
        return f"{name} {sign}= {size}"
    return f"{sign}{sign}{name}" if loop.style == 1 else f"{name}{sign}{sign}"


def _test(loop: Loop) -> str:
    name = loop.iterator
    tests = [
        f"{bound} {MIRRORED[loop.comparison]} {name}" if loop.flipped else f"{name} {loop.comparison} {bound}"
        for bound in loop.bounds
    ]
    return " && ".join(tests)


def _header(loop: Loop) -> str:
    name = loop.iterator
    declaration = f"{loop.type} " if loop.inside else ""
    match loop.form:
        case "postdecrement":
            (low,) = loop.bounds
            return f"for ({declaration}{name} = {loop.start}; {name}-- > {low};)"
        case "wraparound":
            return f"for ({declaration}{name} = {loop.start}; {name} < {loop.bounds[0]}; {name}--)"
        case _:
            first, last = f"{name} = {loop.start}", _step(loop)
            if loop.induction is not None and loop.induction.in_header:
                other = loop.induction
                first += f", {other.name} = {other.start}"
                last += f", {other.name} {'+' if other.step >= 0 else '-'}= {abs(other.step)}"
            return f"for ({declaration}{first}; {_test(loop)}; {last})"
