"""Draws pointers that go through an array step by step: ``*p++ = value;``,
``p[1] += value; p += 3;``, ``x = *--p;``."""

from __future__ import annotations

from tests.fuzz.draft import WIDEST, Draft, Shape
from tests.fuzz.integers import element
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Stmt, Stream
from tests.fuzz.values import leaf

_MOST = 400  # cells that a pointer comes by


def stream(draft: Draft, scope: Scope) -> Stmt | None:
    """A statement with a pointer of its own, which it steps in every iteration;
    None where no array has room for that many."""
    choices = draft.choices
    shapes = [shape for shape in draft.data() if has_room(shape, scope)]
    if not shapes:
        return None
    shape = choices.pick(*shapes)
    size = choices.pick(1, 1, 1, 2, 3) if 3 * scope.instances < _room(shape) else 1
    down, start, ahead = choices.chance(20), choices.up_to(3), choices.up_to(2)
    if start + size * scope.instances + ahead >= _room(shape):
        start = ahead = 0
    make_room(shape, start + size * scope.instances + ahead)
    name = f"w{draft.part}{len(draft.streams)}"
    first = start + (size * scope.instances if down else 0)
    reads = choices.chance(40)
    draft.streams.append(f"{'const ' if reads else ''}{shape.type} *{name} = {shape.name} + {first};")
    sign = "-" if down else "+"
    if size == 1 and choices.chance(60):
        before = down or choices.chance(20)
        cell, step = (f"*{sign}{sign}{name}" if before else f"*{name}++"), ""
        if before and not down:
            make_room(shape, start + scope.instances + 1)
    else:
        cell = f"{name}[{ahead}]" if ahead else f"*{name}"
        step = choices.pick(f"{name} {sign}= {size};", f"{name} = {name} {sign} {size};")
    if reads:
        others = [other for other in draft.data() if other.type == shape.type]
        return Stream(f"{element(draft, scope, choices.pick(*others), write=True)} = {cell};", step)
    shape.written = True
    operator = choices.pick("=", "=", "+=") if shape.type not in ("int", "short", "long long") else "="
    return Stream(f"{cell} {operator} {leaf(draft, scope, shape.type)};", step)


def _room(shape: Shape) -> int:
    return _MOST if shape.access.form == "flat" else WIDEST[1]


def has_room(shape: Shape, scope: Scope) -> bool:
    plain = shape.access.form == "flat" and not shape.own_strides
    known = shape.access.form == "global" and shape.rank == 1
    return (plain or known) and not shape.access.member and scope.instances + 2 < _room(shape)


def make_room(shape: Shape, cells: int) -> None:
    if shape.access.form == "flat":
        shape.cells = max(shape.cells, cells + 1)
    else:
        shape.highs[0] = max(shape.highs[0], cells)
