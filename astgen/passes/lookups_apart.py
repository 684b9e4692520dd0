"""Vector loops that look narrow cells up run in strips: places are computed in vectors, and looked up one by one.

``for x: { r = …; rgb[x] = tone[clamp(430 * r - …)]; y[x] = 77 * rgb[x] + …; }`` is no vector loop to gcc, since no
instruction gathers bytes, and clang takes vectors apart and puts them together again. What is computed in front of the
lookups, the places, and what follows are vector loops of their own, over strips whose places wait in a buffer (measured
for the colours of an image: 0.55 of the time by gcc, 0.85 by clang, for all of the image's stages). What stands between
lookups, as the next channel's place, comes before all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, count

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.emit.strip_texts import LOOKUP, PLACE, STRIP, numbered, part_name
from scopt.ir.expr import subtract
from scopt.ir.nest import Block, Call, Const, For, If, LoopMark, LoopNest
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.machine.costs import arithmetic
from scopt.poly.lookups import narrow_lookups

# Operations of an iteration, for each lookup, from which on buffers pay (chosen: a place is stored and loaded).
_OPERATIONS = 8


class Lookup(Struct, frozen=True):
    """``target = table[place]``, perhaps converted. The value is what stands on the right."""

    target: ir.Node
    value: ir.Node
    reference: ir.ArrayRef


def lookup_of(scop: Scop, statement: Statement) -> Lookup | None:
    """Of a statement that does nothing but to look one narrow cell up."""
    match statement.body:
        case ir.Assignment(op="=", lvalue=ir.ArrayRef() as target, rvalue=value):
            inner = value.expr if isinstance(value, ir.Cast) else value
            read = {id(access.node) for access in statement.accesses if access.kind == "read"}
            table = isinstance(inner, ir.ArrayRef) and isinstance(inner.name, ir.ID) and id(inner) in read
            if table and narrow_lookups(scop, statement) == 1:
                return Lookup(target, value, inner)
    return None


def looks_up_apart(scop: Scop, loop: For) -> bool:
    """Whether a loop may run in strips, and gains by that."""
    return bool(_lookups(scop, loop))


def with_lookups_apart(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest with such loops marked, and the SCoP with the statements that compute places, and look up there."""
    taken, made, buffers = names_in_use(scop, nest), dict[str, Statement](), dict[tuple[str, int], str]()
    at = _fresh("at", taken)

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For):
            return (item,)
        if item.mark.fetched:
            return (item,)
        if not (found := _lookups(scop, item)):
            return (_without_vectors(scop, item),)
        several = numbered(found)
        for name, turn in several:
            if (name, turn) not in buffers:
                buffers[name, turn] = _fresh("place", taken | {at, *buffers.values()})
                parts = _apart(scop, scop.statement(name), buffers[name, turn], at, turn)
                made.update((new.name, new) for new in parts)
        own = [buffers[one] for one in several]
        strips = _fresh(f"{item.iterator}t", taken | {at, *own})
        return (replace(item, mark=replace(item.mark, looked=(strips, *own), wide=0)),)

    block = map_block(nest.body, visit)
    return replace(scop, statements=(*scop.statements, *made.values())), LoopNest(block)


def _apart(scop: Scop, one: Statement, buffer: str, at: str, turn: int) -> Iterator[Statement]:
    """The statement that puts the place into a buffer, and the one that looks up there, for one of its calls."""
    lookup = lookup_of(scop, one)
    assert lookup is not None
    cell = ir.ArrayRef(ir.ID(buffer), ir.ID(at))
    inside = {id(node) for node in walk(lookup.reference.subscript)}
    places = tuple(access for access in one.accesses if id(access.node) in inside)
    others = tuple(access for access in one.accesses if id(access.node) not in inside)
    long_type = replace(one.iterator_types[0], spelling=scop.long_type, signed=True, bits=64)
    both = {"iterators": (*one.iterators, at), "iterator_types": (*one.iterator_types, long_type)}
    place = ir.Assignment("=", cell, lookup.reference.subscript)
    yield replace(one, name=part_name(one.name, PLACE, turn), body=place, accesses=places, **both)
    value: ir.Node = ir.ArrayRef(lookup.reference.name, cell)
    if isinstance(lookup.value, ir.Cast):
        value = ir.Cast(lookup.value.to_type, value)
    yield replace(
        one,
        name=part_name(one.name, LOOKUP, turn),
        body=ir.Assignment("=", lookup.target, value),
        accesses=others,
        **both,
    )


def _lookups(scop: Scop, loop: For) -> list[Call]:
    """The calls that look up, of a loop that gains by strips; none of another one."""
    if not may_be_strips(loop):
        return []
    body = [one for one in loop.body.items if isinstance(one, Call)]
    found = [one for one in body if lookup_of(scop, scop.statement(one.statement)) is not None]
    others = [scop.statement(one.statement) for one in calls(loop.body) if one not in found]
    if not found or any(narrow_lookups(scop, one) for one in others) or not keeps_order(scop, loop, found):
        return []
    length = subtract(loop.upper, loop.lower)
    short = isinstance(length, Const) and length.value < STRIP // 4
    statements = [one.statement for one in calls(loop.body)]
    work = sum(arithmetic(scop.statement(name).body) + _subscripts(scop, name) for name in statements)
    return [] if short or work < _OPERATIONS * len(found) else found


def _subscripts(scop: Scop, name: str) -> float:
    """Operations of the place that a statement looks up."""
    lookup = lookup_of(scop, scop.statement(name))
    return arithmetic(lookup.reference.subscript) if lookup is not None else 0.0


def may_be_strips(loop: For) -> bool:
    """Whether a loop is an innermost vector loop, and nothing else."""
    mark = loop.mark
    plain = replace(mark, private=(), wide=0, looked=(), fetched=None) == LoopMark(simd=True)
    return plain and loop.step == 1 and all(isinstance(one, Call | If) for one in items(loop.body))


def keeps_order(scop: Scop, loop: For, lookups: list[Call]) -> bool:
    """Whether an iteration's values are the same where lookups stand in a loop of their own, behind their places and
    all that stands between them: nothing there uses what they store, or changes what they read, and nothing private
    goes from one part to another one."""
    body, names = [*loop.body.items], {one.statement for one in lookups}
    places, every = [k for k, one in enumerate(body) if one in lookups], [*calls(loop.body)]
    if len(places) < len(lookups) or sum(one.statement in names for one in every) > len(places):
        return False
    last, looked = places[-1], _read_by_lookups(scop, names)
    if any(one.held or one.chosen for one in lookups) or any(one.kept for one in every):
        return False
    parts = dict[str, set[int]]()
    stored, kept = set[str](), set[str]()
    placed = [(position, call) for position, item in enumerate(body) for call in calls(Block((item,)))]
    for position, call in placed:
        one = scop.statement(call.statement)
        part = 2 if position > last else int(call.statement in names)
        between = part == 0 and position > places[0]
        inside = set[int]()
        if call.statement in names:
            lookup = lookup_of(scop, one)
            if lookup is None or [a.node for a in one.accesses if a.is_write] != [lookup.target]:
                return False
            inside = {id(node) for node in walk(lookup.reference.subscript)}
            if any(isinstance(node, ir.Assignment | ir.UnaryOp) and _assigns(node) for node in walk(lookup.target)):
                return False
        for access in one.accesses:
            own = 0 if id(access.node) in inside else part
            parts.setdefault(access.array, set()).add(own)
            if id(access.node) in inside and access.array in stored:
                return False  # a place that an earlier lookup of the iteration decides about
            if between and (access.array in stored or (access.is_write and access.array in looked)):
                return False
            if access.is_write:
                kept.add(access.array)
        if part == 1:
            stored |= {access.array for access in one.accesses if access.is_write}
    scalars = {name for name in kept if not scop.arrays[name].rank or scop.arrays[name].private}
    return all(len(parts[name]) == 1 for name in scalars)


def _read_by_lookups(scop: Scop, names: Collection[str]) -> set[str]:
    """The arrays that lookups read once their places are known."""
    found = set[str]()
    for name in names:
        statement, lookup = scop.statement(name), lookup_of(scop, scop.statement(name))
        inside = {id(node) for node in walk(lookup.reference.subscript)} if lookup is not None else set[int]()
        found |= {one.array for one in statement.accesses if not one.is_write and id(one.node) not in inside}
    return found


def _assigns(node: ir.Node) -> bool:
    return isinstance(node, ir.Assignment) or "++" in node.op or "--" in node.op


def _without_vectors(scop: Scop, loop: For) -> For:
    """The loop, no vector loop if it looks up where strips would have helped but can't be had."""
    statements = {one.statement for one in calls(loop.body)}
    looks_up = any(narrow_lookups(scop, scop.statement(name)) for name in statements)
    if not (looks_up and may_be_strips(loop)) or loop.mark.private:
        return loop
    return replace(loop, mark=replace(loop.mark, simd=False, wide=0))


def _fresh(wish: str, taken: Collection[str]) -> str:
    return next(one for one in chain((wish,), (f"{wish}_{k}" for k in count(2))) if one not in taken)
