"""Vector loops that look narrow cells up, as text: strips of three loops, the places, the lookups, and the rest.

``long at_0[256]; for (xt…) { for (x…) at_0[x - xt] = f(a[x]); for (x…) y[x] = t[at_0[x - xt]]; for (x…) …; }``

Those that fetch cells which last for some iterations: strips of two loops.

``char d[256]; for (xt…) { for (x…; x += 2) { d[x - xt] = c[x / 2]; d[x - xt + 1] = c[x / 2]; } for (x…) …; }``

Those that compute first where cells are: strips of three loops, the variables that go from one to another in buffers.

``int ks[64]; float d[64]; for (xt…) { for (x…) { k = …; ks[x - xt] = k; } for (x…) { k = ks[x - xt]; d[x - xt] = t[k];
} for (x…) { k = ks[x - xt]; …; } }``
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.expr import plus, subtract
from scopt.ir.nest import Block, Call, Expr, Fetched, For, LoopMark, Min, Name
from scopt.ir.nest_walks import Item, calls
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names
from scopt.poly.lookups import GATHERED

# Names of the statements that put a lookup's place into a buffer, and look up what is there.
PLACE, LOOKUP = "_place", "_lookup"
# Iterations of a strip: buffers of some lookups stay in the first cache.
STRIP = 256
# Those of a strip with buffers of variables, too (measured: with 256, 1.1 to 1.5 times as long).
SHORT_STRIP = 64


class Strips(Struct, frozen=True):
    """declarations: of the buffers, as text and as nodes. loop: over the strips."""

    declarations: tuple[str, ...]
    nodes: tuple[ir.Decl, ...]
    loop: For


def in_strips(scop: Scop, loop: For) -> Strips:
    """Of a loop that looks up, or fetches, in strips."""
    return _fetching(scop, loop, loop.mark.fetched) if loop.mark.fetched is not None else _looking_up(scop, loop)


def _fetching(scop: Scop, loop: For, fetched: Fetched) -> Strips:
    forms, own = dict(fetched.forms), {}
    for call in calls(loop.body):
        own[call.statement] = call
    count = strip_length(fetched)
    upper = _least(loop.upper, plus(Name(fetched.strip), count - 1))
    at = subtract(Name(loop.iterator), Name(fetched.strip))
    several = [
        Call(fetch, (*own[name].args, plus(at, lane)))
        for lane in range(fetched.group)
        for name, fetch, _ in fetched.cells
    ]
    used = [
        Call(forms[one.statement], (*one.args, at)) if isinstance(one, Call) and one.statement in forms else one
        for one in loop.body.items
        if not (isinstance(one, Call) and one.statement in fetched.ahead)
    ]
    kinds = {fetch: _held_as(scop, fetch, fetched.group) for _, fetch, _ in fetched.cells}
    buffers = {buffer: kinds[fetch] for _, fetch, buffer in fetched.cells}
    parts = [
        For(
            loop.iterator,
            Name(fetched.strip),
            upper,
            fetched.group,
            Block((*_loads(scop, fetched, several, at), *several)),
        )
    ]
    if fetched.ahead:
        saves = [Call(one.save, (at,)) for one in fetched.handed]
        ahead = [one for one in loop.body.items if isinstance(one, Call) and one.statement in fetched.ahead]
        parts.insert(0, _vectors(scop, loop, upper, fetched, [*ahead, *saves]))
        parts.append(_vectors(scop, loop, upper, fetched, [*_loads(scop, fetched, used, at), *used]))
        buffers |= {one.buffer: scop.arrays[one.variable].type.spelling for one in fetched.handed}
    else:
        mark = replace(loop.mark, fetched=None)
        parts.append(replace(loop, lower=Name(fetched.strip), upper=upper, body=Block(tuple(used)), mark=mark))
    texts = tuple(f"{kind} {buffer}[{count}];" for buffer, kind in buffers.items())
    nodes = tuple(_declared(kind, buffer, count) for buffer, kind in buffers.items())
    return Strips(texts, nodes, For(fetched.strip, loop.lower, loop.upper, count, Block(tuple(parts))))


def strip_length(fetched: Fetched) -> int:
    """Iterations of a strip."""
    return SHORT_STRIP if fetched.ahead else STRIP


def _loads(scop: Scop, fetched: Fetched, those: Sequence[Item], at: Expr) -> list[Call]:
    """What takes the variables out of buffers that some calls read."""
    statements = [scop.statement(call.statement) for call in those if isinstance(call, Call)]
    read = {access.array for one in statements for access in one.accesses if not access.is_write}
    named = {name for one in statements for name in used_names(one.body)}
    return [
        Call(one.load, (at,))
        for one in fetched.handed
        if one.variable in read or scop.arrays[one.variable].spelling in named
    ]


def _vectors(scop: Scop, loop: For, upper: Expr, fetched: Fetched, made: Sequence[Item]) -> For:
    """A loop over a strip, each lane with variables of its own."""
    body = Block(tuple(made))
    accesses = [access for call in calls(body) for access in scop.statement(call.statement).accesses]
    private = dict.fromkeys(one.array for one in accesses if one.is_write and not scop.arrays[one.array].rank)
    mark = LoopMark(simd=True, private=tuple(private))
    return replace(loop, lower=Name(fetched.strip), upper=upper, body=body, mark=mark)


def _held_as(scop: Scop, name: str, group: int) -> str:
    """The type of the buffer that a statement fills: the cells'; of narrow integers that one iteration alone reads, the
    one that expressions make of them anyway, so that vectors need not (0.55 of the time by gcc)."""
    one = scop.statement(name)
    held = next(scop.arrays[access.array].type for access in one.accesses if access.node is one.body.rvalue)
    return "int" if group == 1 and held.integer and 0 < held.bits < GATHERED else held.spelling


def _looking_up(scop: Scop, loop: For) -> Strips:
    first, *buffers = loop.mark.looked
    known = {one.name for one in scop.statements}
    body = loop.body.items
    found = [k for k, one in enumerate(body) if isinstance(one, Call) and f"{one.statement}{PLACE}" in known]
    before, rest = [*body[: found[-1] + 1]], body[found[-1] + 1 :]
    those = [one for k in found if isinstance(one := body[k], Call)]
    at = subtract(Name(loop.iterator), Name(first))
    places, lookups = (
        [
            Call(part_name(name, suffix, turn), (*one.args, at))
            for one, (name, turn) in zip(those, numbered(those), strict=True)
        ]
        for suffix in (PLACE, LOOKUP)
    )
    for k, place in zip(found, places, strict=True):
        before[k] = place

    def part(made: Sequence[Item], *, vector: bool) -> For:
        inside = {call.statement for call in calls(Block(tuple(made)))}
        used = {access.array for name in inside for access in scop.statement(name).accesses}
        private = tuple(name for name in loop.mark.private if name in used)
        mark = LoopMark(simd=True, private=private) if vector else LoopMark()
        upper = _least(loop.upper, plus(Name(first), STRIP - 1))
        return replace(loop, lower=Name(first), upper=upper, body=Block(tuple(made)), mark=mark)

    parts = [part(before, vector=True), part(lookups, vector=False)]
    parts += [part(rest, vector=True)] if rest else []
    strips = For(first, loop.lower, loop.upper, STRIP, Block(tuple(parts)))
    texts = tuple(f"{scop.long_type} {name}[{STRIP}];" for name in buffers)
    return Strips(texts, tuple(_declared(scop.long_type, name, STRIP) for name in buffers), strips)


def numbered(lookups: Sequence[Call]) -> list[tuple[str, int]]:
    """The statements of lookups, and how often each was called before."""
    found = list[tuple[str, int]]()
    for one in lookups:
        found.append((one.statement, sum(name == one.statement for name, _ in found)))
    return found


def part_name(name: str, suffix: str, turn: int) -> str:
    """The name of a part of a statement, for one of its calls."""
    return f"{name}{suffix}{turn or ''}"


def _declared(spelling: str, name: str, count: int) -> ir.Decl:
    element = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split()))
    kind = ir.ArrayDecl(element, ir.Constant("int", str(count)), [])
    return ir.Decl(name, [], [], [], [], kind, None, None)


def _least(upper: Expr, limit: Expr) -> Expr:
    return Min((*upper.args, limit)) if isinstance(upper, Min) else Min((upper, limit))
