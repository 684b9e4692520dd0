"""Vector loops that look for what is best, as text: strips in which each lane has a copy of it, then what is left over.

``long xt = 0; if (n > 63) { double best_lanes[16]; for (long lane…) best_lanes[lane] = best; for (; xt < n - 15L; xt +=
16) for (x…) { double best_lane = best_lanes[x - xt]; …; best_lanes[x - xt] = best_lane; } for (long lane…) if
(best_lanes[lane] > best) best = best_lanes[lane]; } for (long x = xt; …) …``
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.expr import maximum, plus, subtract
from scopt.ir.nest import Block, Call, Compare, Condition, Const, For, Held, Hold, LoopMark, Name, Reduction
from scopt.ir.nest_walks import Item, calls
from scopt.ir.scop import Array, Scop
from scopt.poly.reductions import BETTER
from scopt.poly.reordering import takes_a_number

# Strips that take as long as putting copies together (measured: about 40 comparisons in a row).
LEAST_STRIPS = 4


class Lanes(Struct, frozen=True):
    """scop: with the arrays of copies. test: whether there are enough iterations; signs: and whether variables are no
    zeros with a sign, where that counts; empty: it doesn't. filled: the lines that declare copies
    and give them their values. strips: over the strips, with the vector loop inside. joined: the lines that put copies
    together. rest: the loop over what is left."""

    scop: Scop
    test: Condition
    signs: str
    filled: tuple[str, ...]
    strips: For
    vector: For
    joined: tuple[str, ...]
    rest: For
    left: For


def in_lanes(scop: Scop, loop: For) -> Lanes:
    """Of a loop whose lanes have copies."""
    parted = loop.mark.parted
    assert parted is not None
    first, last = Name(parted.strip), parted.count - 1
    pairs = list(zip(loop.mark.reductions, parted.copies, strict=True))
    arrays = {lanes: _array(scop.arrays[one.array], lanes, parted.count) for one, (lanes, _) in pairs}
    at = subtract(Name(loop.iterator), first)
    cells = tuple(Held(variable, lanes, (at,), stored=True) for _, (lanes, variable) in pairs)
    body = [
        _with_copies(scop, item, {reduced(scop, one): copy for one, (_, copy) in pairs}) for item in loop.body.items
    ]
    inside = Block((Hold(cells, Block(tuple(body))),))
    vector = replace(
        loop, lower=first, upper=plus(first, last), body=inside, mark=LoopMark(simd=True, private=loop.mark.private)
    )
    strips = For(parted.strip, loop.lower, plus(loop.upper, -last), parted.count, Block((vector,)))
    rest = replace(loop, lower=first, mark=LoopMark())
    left = For(parted.strip, loop.lower, maximum((loop.lower, plus(loop.upper, 1))), 1, Block((rest,)))
    test = Compare(plus(subtract(loop.upper, loop.lower), 1), ">=", Const(LEAST_STRIPS * parted.count))
    filled, joined, signs = list[str](), list[str](), list[str]()
    head = f"for ({scop.long_type} {parted.lane} = 0; {parted.lane} < {parted.count}; {parted.lane}++)"
    for one, (lanes, _) in pairs:
        best, copy = reduced(scop, one), f"{lanes}[{parted.lane}]"
        filled += [f"{scop.arrays[one.array].type.spelling} {lanes}[{parted.count}];", head, f"  {copy} = {best};"]
        better = f"{copy} {BETTER[one.operator]} {best}"
        if _takes_a_number(scop, loop, one):
            signs.append(f"!({best} == 0 && __builtin_signbit({best}))")
            better += f" || {best} != {best}"
        joined += [head, f"  if ({better})", f"    {best} = {copy};"]
    lanes_scop = replace(scop, arrays={**scop.arrays, **arrays})
    return Lanes(lanes_scop, test, " && ".join(signs), tuple(filled), strips, vector, tuple(joined), rest, left)


def lane_names(loop: For) -> Iterator[str]:
    """The names that such a loop's text has of its own."""
    if loop.mark.parted is not None:
        yield from (loop.mark.parted.strip, loop.mark.parted.lane)
        yield from (name for names in loop.mark.parted.copies for name in names)


def reduced(scop: Scop, one: Reduction) -> str:
    """The variable that a loop reduces."""
    return one.held[0] if one.held else scop.arrays[one.array].spelling


def _takes_a_number(scop: Scop, loop: For, one: Reduction) -> bool:
    """Whether the library's functions look for what a loop reduces: of two zeros, which has no better one, they take
    either, and they take the place of what is no number."""
    inside = [scop.statement(call.statement) for call in calls(loop.body)]
    users = (own for own in inside if any(a.array == one.array and a.is_write for a in own.accesses))
    return any(map(takes_a_number, users))


def _with_copies(scop: Scop, item: Item, copies: Mapping[str, str]) -> Item:
    """What a loop runs, with lanes' copies in place of the variables that it reduces."""
    if isinstance(item, Hold):
        return replace(item, body=Block(tuple(_with_copies(scop, one, copies) for one in item.body.items)))
    assert isinstance(item, Call)
    held = dict(item.held)
    for k, access in enumerate(scop.statement(item.statement).accesses):
        name = held.get(k, "" if scop.arrays[access.array].rank else scop.arrays[access.array].spelling)
        if name in copies:
            held[k] = copies[name]
    return replace(item, held=tuple(sorted(held.items())))


def _array(of: Array, name: str, count: int) -> Array:
    size = ir.Constant("int", str(count))
    return Array(name, name, of.type, (size,), (count,), local=True)
