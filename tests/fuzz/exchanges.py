"""Draws loops whose iterations exchange buffers: ``tmp = a; a = b; b = tmp;``, three in turn, picked by a remainder or
by an integer that turns."""

from __future__ import annotations

from itertools import pairwise

from tests.fuzz.draft import Draft
from tests.fuzz.expressions import DataType
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Line
from tests.fuzz.streams import has_room, make_room

# What an iteration stores: {b} is the buffer that it fills, {a} one that another has filled.
_VALUES: tuple[str, ...] = ("{a}[c - 1]", "{a}[c + 1]", "{a}[c]", "{b}[c]")
_SUMS: tuple[str, ...] = ("{a}[c - 1] + {a}[c + 1]", "{a}[c] + {b}[c - 1]", "{b}[c] + {a}[c + 1]", "{a}[c] + t")
_MOST = 3  # cells in front of the loop's, and behind


def exchange(draft: Draft, scope: Scope) -> Line | None:
    """Such a loop over a loop; None where no two arrays of a type have room. Behind the region, cells that the buffers'
    pointers lead to change, so that these have to be right."""
    choices = draft.choices
    shapes = [shape for shape in draft.data() if has_room(shape, scope)]
    first = choices.pick(*shapes) if shapes else None
    if first is None:
        return None
    others = [shape for shape in shapes if shape.type == first.type and shape is not first]
    picked = [first, *others[: choices.pick(1, 1, 2)]]
    if len(picked) == 1:
        picked = [first, first]  # what overlaps
    low, steps = choices.pick("0", "0", "1", "m"), choices.pick("n", "n", "4", "m")
    far = max(scope.ranges[one][1] for one in ("n", "m") if one in scope.ranges) if "n" in scope.ranges else 0
    if "n" not in scope.ranges or "m" not in scope.ranges or min(scope.ranges["n"][0], scope.ranges["m"][0]) < 0:
        return None
    names = []
    for shape in picked:
        shape.written = True
        start = choices.up_to(_MOST)
        make_room(shape, start + far + _MOST)
        names.append(f"w{draft.part}{len(draft.streams)}")
        draft.streams.append(f"{shape.type} *{names[-1]} = {shape.name} + {start};")
    end = choices.pick("n", "m", "6")
    loop = f"for (int t = {low}; t < {steps}; t++) {{ "
    if choices.chance(15):
        loop = f"for (int t = {steps}; t > {low}; t--) {{ "
    draft.ends += [f"{name}[{k + 1}] += 1;" for k, name in enumerate(names)]
    body, turn = _body(draft, picked[0].type, names)
    return Line(f"{loop}for (int c = 1; c < {end}; c++) {{ {body} }} {turn} }}")


def _body(draft: Draft, kind: DataType, names: list[str]) -> tuple[str, str]:
    """What the inner loop does, and what an iteration does to the buffers."""
    choices = draft.choices
    a, b = (names[0], names[-1]) if choices.chance(60) else (names[-1], names[0])
    values = (*_VALUES, *_SUMS) if kind in ("double", "float", "unsigned", "unsigned char") else _VALUES
    body = f"{b}[c] = {choices.pick(*values)};".format(a=a, b=b)
    if choices.chance(25):
        body += f" {names[choices.up_to(len(names) - 1)]}[c] = {choices.pick(*_VALUES)};".format(a=a, b=b)
    moves = [f"{kind} *kept = {names[0]};", *(f"{x} = {y};" for x, y in pairwise(names))]
    turn = " ".join([*moves, f"{names[-1]} = kept;"])
    if choices.chance(15):
        turn = f"if (t % 2 == 0) {{ {turn} }}"
    return body, turn
