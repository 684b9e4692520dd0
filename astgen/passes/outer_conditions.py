"""Conditions that a vector loop leaves as they are stand around it: ``for t: for lanes: { if (t == 0) A; B; }`` becomes
``for t: { if (t == 0) for lanes: A; for lanes: B; }``.

The lanes of a recurrence meet its first and its last step all at once. gcc takes such a condition out of a short loop
by itself (loop unswitching: Allen and Cocke, "A catalogue of optimizing transformations", 1972); a long one gets no
vectors. A vector loop carries nothing, so that its statements may have loops of their own (distribution), unless
they hand something on in a private variable of a lane. What runs up to another end than its neighbours (``if (j < n)
B;``) has a loop with that end: below a condition, gcc makes no vectors of what may raise an exception. Where something
is handed on (``s = A; if (i > 0) s -= B; if (j > 0) s -= C; y = s;``), the loop stands there twice: for the interior,
where all of the conditions hold, without them, and as it was. Where it is one condition that many statements wait for
(``s = A; if (first) x = s; else x *= s;`` for each cell of a small matrix), it stands there for each of its answers.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scopt.ir.expr import from_linear, linear, maximum, minimum, mirrored, names, scale, subtract
from scopt.ir.nest import And, Block, Compare, Condition, Const, For, If, LoopNest, Max, Min, Name
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names

# As few have loops of their own for each of their combinations; of more than the most, all seldom hold.
_FEW, _MOST_CONDITIONS = 2, 6
# Statements of loops that are written for each answer: compilers do it themselves for fewer, and more are long texts.
_LEAST_CALLS, _MOST_CALLS = 12, 128


def with_conditions_outside(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same instances, with such loops in parts."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For() if _may_have_parts(item):
                parts = tuple(_parts(scop, item, item.body))
                apart = len(parts) > 1 or any(isinstance(one, If) for one in parts)
                if apart and _keeps_private(scop, item, parts):
                    return parts
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _may_have_parts(loop: For) -> bool:
    """Whether it is an innermost vector loop of one thread, which puts nothing together in the end."""
    mark = loop.mark
    return mark.simd and not (mark.parallel or mark.reductions or any(isinstance(one, For) for one in items(loop.body)))


def in_two_forms(nest: LoopNest) -> LoopNest:
    """The same instances, with two forms of vector loops whose conditions can't stand around them. Borders of the loops
    themselves are apart already: these stay as they are."""

    def visit(item: Item) -> tuple[Item, ...]:
        return (_whole_inside(item),) if isinstance(item, For) and _may_have_parts(item) else (item,)

    return LoopNest(map_block(nest.body, visit))


def _whole_inside(loop: For) -> For | If:
    """The loop without conditions that it leaves as they are, where all of them hold, which is so but at borders; else
    as it was. Its iterations hand something on between what stands below them."""
    answered = _for_each_answer(loop)
    if answered is not None:
        return answered
    found = [one for one in loop.body.items if _is_kept(loop, one)]
    conditions = tuple(dict.fromkeys(one.condition for one in found if isinstance(one, If)))
    if not _FEW < len(conditions) <= _MOST_CONDITIONS or _is_border(loop):
        return loop
    inside: list[Item] = []
    for item in loop.body.items:
        inside += item.then.items if isinstance(item, If) and _is_kept(loop, item) else (item,)
    whole = replace(loop, body=Block(tuple(inside)))
    return If(And(conditions), Block((whole,)), Block((loop,)))


def _for_each_answer(loop: For) -> If | None:
    """The loop for where the one condition that it leaves as it is holds, and for where it doesn't."""
    below = (one.condition for one in loop.body.items if isinstance(one, If))
    found = {condition for condition in below if loop.iterator not in names(condition)}
    if len(found) != 1 or not _LEAST_CALLS < sum(1 for _ in calls(loop.body)) <= _MOST_CALLS or _is_border(loop):
        return None
    (condition,) = found
    then, otherwise = (_answered(loop, condition, holds=holds) for holds in (True, False))
    return If(condition, Block((then,)), Block((otherwise,)))


def _answered(loop: For, condition: Condition, *, holds: bool) -> For:
    """The loop for one answer of a condition."""
    inside: list[Item] = []
    for item in loop.body.items:
        if isinstance(item, If) and item.condition == condition:
            ways = item.then if holds else item.otherwise
            inside += ways.items if ways is not None else ()
        else:
            inside.append(item)
    return replace(loop, body=Block(tuple(inside)))


def _is_border(loop: For) -> bool:
    """Whether it has one iteration at most, or ends at a constant: not worth as much text again."""
    lower = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    upper = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    ends = [subtract(high, low) for high in upper for low in lower]
    single = any(isinstance(one, Const) and one.value <= 0 for one in ends)
    return single or any(isinstance(one, Const) for one in upper)


def _is_kept(loop: For, item: Item) -> bool:
    return isinstance(item, If) and item.otherwise is None and loop.iterator not in names(item.condition)


def _parts(scop: Scop, loop: For, body: Block) -> Iterator[For | If]:
    """A body of the loop in loops of their own: one for neighbours, and others below each condition of the loops
    around."""
    together: list[Item] = []
    for item in body.items:
        own = isinstance(item, If) and loop.iterator in names(item.condition)
        shorter = _up_to(loop, item) if isinstance(item, If) and own else None
        if not isinstance(item, If) or (own and shorter is None):
            together.append(item)
            continue
        if together:
            yield _alone(scop, loop, tuple(together))
        together = []
        if shorter is not None:
            yield from _parts(scop, shorter, item.then)
            continue
        then, otherwise = (one and Block(tuple(_parts(scop, loop, one))) for one in (item.then, item.otherwise))
        yield If(item.condition, then or Block(()), otherwise)
    if together:
        yield _alone(scop, loop, tuple(together))


def _up_to(loop: For, item: If) -> For | None:
    """The loop over those iterations alone that meet a condition; None where that is more than its ends."""
    shorter: For | None = loop if loop.step == 1 and item.otherwise is None else None
    for condition in item.condition.args if isinstance(item.condition, And) else (item.condition,):
        shorter = _ending(shorter, condition) if shorter is not None else None
    return shorter


def _ending(loop: For, condition: Condition) -> For | None:
    """The loop with the end that a condition says; None where it is none."""
    if not isinstance(condition, Compare):
        return None
    left, right, op = condition.left, condition.right, str(condition.op)
    if op in ("<", "<="):
        left, right, op = right, left, mirrored(op)
    if op not in (">", ">="):
        return None
    factors, constant = linear(subtract(left, right))
    factor = factors.pop(Name(loop.iterator), 0)
    if any(loop.iterator in names(one) for one in factors):
        return None
    rest = from_linear(factors, constant - (op == ">"))
    match factor:
        case -1:
            return replace(loop, upper=minimum((loop.upper, rest)))
        case 1:
            return replace(loop, lower=maximum((loop.lower, scale(rest, -1))))
    return None


def _alone(scop: Scop, loop: For, body: tuple[Item, ...]) -> For:
    used = _used(scop, Block(body))
    private = tuple(name for name in loop.mark.private if name in used)
    return replace(loop, body=Block(body), mark=replace(loop.mark, private=private))


def _used(scop: Scop, block: Block) -> frozenset[str]:
    """Arrays and variables that statements name: those of strips don't say what they access."""
    found = set(used_names(*(scop.statement(call.statement).body for call in calls(block))))
    return frozenset(name for name, array in scop.arrays.items() if array.spelling in found)


def _keeps_private(scop: Scop, loop: For, parts: tuple[For | If, ...]) -> bool:
    """Whether each private variable is used in one of the loops alone."""
    used = [_used(scop, one.body) for one in items(Block(parts)) if isinstance(one, For)]
    return all(sum(name in one for one in used) <= 1 for name in loop.mark.private)
