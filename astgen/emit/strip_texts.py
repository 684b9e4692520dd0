"""Vector loops that look narrow cells up, as text: strips of three loops, the places, the lookups, and the rest.

``long at_0[256]; for (xt…) { for (x…) at_0[x - xt] = f(a[x]); for (x…) y[x] = t[at_0[x - xt]]; for (x…) …; }``
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.expr import plus, subtract
from scopt.ir.nest import Block, Call, Expr, For, LoopMark, Min, Name
from scopt.ir.nest_walks import Item, calls
from scopt.ir.scop import Scop

# Names of the statements that put a lookup's place into a buffer, and look up what is there.
PLACE, LOOKUP = "_place", "_lookup"
# Iterations of a strip: buffers of some lookups stay in the first cache.
STRIP = 256


class Strips(Struct, frozen=True):
    """declarations: of the buffers, as text and as nodes. loop: over the strips."""

    declarations: tuple[str, ...]
    nodes: tuple[ir.Decl, ...]
    loop: For


def in_strips(scop: Scop, loop: For) -> Strips:
    """Of a loop that looks up in strips."""
    first, *buffers = loop.mark.looked
    known = {one.name for one in scop.statements}
    body = loop.body.items
    found = [k for k, one in enumerate(body) if isinstance(one, Call) and f"{one.statement}{PLACE}" in known]
    before, rest = body[: found[0]], body[found[-1] + 1 :]
    those = [one for one in body[found[0] : found[-1] + 1] if isinstance(one, Call)]
    at = subtract(Name(loop.iterator), Name(first))
    places, lookups = ([_with(one, suffix, at) for one in those] for suffix in (PLACE, LOOKUP))

    def part(made: Sequence[Item], *, vector: bool) -> For:
        inside = {call.statement for call in calls(Block(tuple(made)))}
        used = {access.array for name in inside for access in scop.statement(name).accesses}
        private = tuple(name for name in loop.mark.private if name in used)
        mark = LoopMark(simd=True, private=private) if vector else LoopMark()
        upper = _least(loop.upper, plus(Name(first), STRIP - 1))
        return replace(loop, lower=Name(first), upper=upper, body=Block(tuple(made)), mark=mark)

    parts = [part([*before, *places], vector=True), part(lookups, vector=False)]
    parts += [part(rest, vector=True)] if rest else []
    strips = For(first, loop.lower, loop.upper, STRIP, Block(tuple(parts)))
    texts = tuple(f"{scop.long_type} {name}[{STRIP}];" for name in buffers)
    return Strips(texts, tuple(_declared(scop, name) for name in buffers), strips)


def _with(call: Call, suffix: str, at: Expr) -> Call:
    return Call(f"{call.statement}{suffix}", (*call.args, at))


def _declared(scop: Scop, name: str) -> ir.Decl:
    element = ir.TypeDecl(name, [], None, ir.IdentifierType(scop.long_type.split()))
    kind = ir.ArrayDecl(element, ir.Constant("int", str(STRIP)), [])
    return ir.Decl(name, [], [], [], [], kind, None, None)


def _least(upper: Expr, limit: Expr) -> Expr:
    return Min((*upper.args, limit)) if isinstance(upper, Min) else Min((upper, limit))
