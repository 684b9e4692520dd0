"""Conditions on where in a row a vector loop is become loops of their own: ``for j { A; if (j < 12 || j >= n - 12) B;
C; }`` is such a loop over the first twelve iterations, one over what lies between, without the condition, and one over
the rest; and what asks for the row alone is asked once (index-set splitting: Griebl, Feautrier and Lengauer, 2000).

As a mask, such a condition has all cells looked at: those of the rows' middle, too, which nothing may ever have
touched. (Measured with the absorbing borders of a wave equation, 12 of 440 cells wide: seven times as long by clang,
since a store of nothing to a page that isn't there takes hundreds of cycles.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from scopt.ir.expr import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    from_linear,
    linear,
    maximum,
    minimum,
    mirrored,
    names,
    plus,
    scale,
    subtract,
)
from scopt.ir.nest import And, Block, Compare, Condition, Const, Expr, For, Hold, If, LoopNest, Max, Min, Name, Or
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop

# Loops that one may become, and statements in all of them.
_LOOPS, _MOST = 9, 160
# How far from a loop's end iterations are that stand apart (chosen).
_NEAR = 4
# Iterations that one thread does by itself, of a loop that threads share (chosen: less than they are forked for).
_BORDER = 256
_NOTHING: Mapping[str, int] = {}


def with_borders_apart(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same instances in the same order. Of loops that threads share, one part at most isn't known to be short, and
    stays theirs."""
    sizes = {one.name: one.estimate for one in scop.parameters if one.estimate is not None}

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not _is_plain(item):
            return (item,)
        loop = replace(item, body=_with_ends_in_order(item, item.body))
        found = (_parts(loop, whole=whole) for whole in (True, False))
        parts = next((parts for parts in found if _are_few(parts)), (item,))
        return _shared(parts, sizes) or (item,) if item.mark.parallel else parts

    return LoopNest(map_block(nest.body, visit))


def _shared(parts: Sequence[For | If], sizes: Mapping[str, int]) -> tuple[For, ...]:
    """The parts, of which threads share the one that isn't short; nothing if there are several, or choices."""
    loops = [one for one in parts if isinstance(one, For)]
    long = [one for one in loops if not _has_fewer(one, _BORDER, sizes)]
    if len(loops) < len(parts) or len(long) != 1:
        return ()
    return tuple(
        one if one is long[0] else replace(one, mark=replace(one.mark, parallel=False), work=None) for one in loops
    )


def _with_ends_in_order(loop: For, block: Block) -> Block:
    """A body in which ``j == 0`` and ``j != n - 1`` are comparisons by order, where these are a loop's ends."""

    def put(condition: Condition) -> Condition:
        match condition:
            case And(args):
                return conjunction(map(put, args))
            case Or(args):
                return disjunction(map(put, args))
            case Compare() if (bound := _end(loop, condition)) is not None:
                at = Name(loop.iterator)
                if str(condition.op) == "==":
                    return conjunction((Compare(at, ">=", bound), Compare(at, "<=", bound)))
                return disjunction((Compare(at, "<", bound), Compare(at, ">", bound)))
        return condition

    found: list[Item] = []
    for item in block.items:
        if isinstance(item, If):
            then, otherwise = (
                None if one is None else _with_ends_in_order(loop, one) for one in (item.then, item.otherwise)
            )
            assert then is not None
            item = If(put(item.condition), then, otherwise)
        found.append(item)
    return Block(tuple(found))


def _end(loop: For, condition: Compare) -> Expr | None:
    """The first or last iteration, or one of the few next to it, that a condition asks for."""
    if str(condition.op) not in ("==", "!="):
        return None
    factors, constant = linear(subtract(condition.left, condition.right))
    factor = factors.pop(Name(loop.iterator), 0)
    if abs(factor) != 1 or any(loop.iterator in names(one) for one in factors):
        return None
    bound = scale(from_linear(factors, constant), -factor)
    lowers = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    uppers = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    distances = (*(subtract(bound, one) for one in lowers), *(subtract(one, bound) for one in uppers))
    return bound if any(isinstance(one, Const) and 0 <= one.value < _NEAR for one in distances) else None


def _are_few(parts: tuple[For | If, ...]) -> bool:
    loops = sum(isinstance(one, For) for one in items(Block(parts)))
    return 1 < loops <= _LOOPS and sum(1 for _ in calls(Block(parts))) <= _MOST


def _is_plain(loop: For) -> bool:
    """Whether it is an innermost vector loop that puts nothing together in the end."""
    mark, inside = loop.mark, list(items(loop.body))
    if not mark.simd or mark.collapse > 1 or mark.reductions or mark.jammed or mark.beside or loop.step != 1:
        return False
    return any(isinstance(one, If) for one in inside) and not any(isinstance(one, For | Hold) for one in inside)


def _parts(loop: For, *, whole: bool) -> tuple[For | If, ...]:
    """The loop as loops without one of its conditions, and without the others in turn: first, if they are to go at all
    (whole), those on the row."""
    found = [one.condition for one in loop.body.items if isinstance(one, If)]
    for condition in found if whole else ():
        if loop.iterator not in names(condition):
            bodies = [_answered(loop.body, {condition: one}) for one in (TRUE, FALSE)]
            then, otherwise = (_parts(replace(loop, body=body), whole=True) if body.items else () for body in bodies)
            return (If(condition, Block(then), Block(otherwise) if otherwise else None),)
    starts = [start for one in found for start in _starts(loop.iterator, one)]
    if not starts:
        return (loop,)
    made: list[For | If] = []
    for lower, upper, truth in ((None, starts[0], FALSE), (starts[0], None, TRUE)):
        part = replace(
            loop,
            lower=loop.lower if lower is None else maximum((loop.lower, lower)),
            upper=loop.upper if upper is None else minimum((loop.upper, plus(upper, -1))),
            body=_settled(loop.body, loop.iterator, starts[0], truth),
        )
        if part.body.items and not _is_empty(part):
            made += _parts(replace(part, mark=replace(loop.mark, simd=not _is_short(part))), whole=whole)
    return tuple(made)


def _is_empty(loop: For) -> bool:
    return _has_fewer(loop, 1)


def _is_short(loop: For) -> bool:
    """Whether there is nothing to gain by vectors."""
    return _has_fewer(loop, _NEAR)


def _has_fewer(loop: For, iterations: int, sizes: Mapping[str, int] = _NOTHING) -> bool:
    """Whether two of its bounds say so, by constants, or parameters of which something is known."""
    lowers = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    uppers = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    lengths = (_known(subtract(upper, lower), sizes) for upper in uppers for lower in lowers)
    return any(length is not None and length + 1 < iterations for length in lengths)


def _known(expr: Expr, sizes: Mapping[str, int]) -> int | None:
    factors, total = linear(expr)
    for one, factor in factors.items():
        if not isinstance(one, Name) or one.name not in sizes:
            return None
        total += factor * sizes[one.name]
    return total


def _starts(iterator: str, condition: Condition) -> Iterator[Expr]:
    """The iterations at which parts of a condition begin to hold, or cease to."""
    for one in _atoms(condition):
        start = _start(iterator, one) if iterator in names(one) else None
        if start is not None:
            yield start[0]


def _atoms(condition: Condition) -> Iterator[Condition]:
    match condition:
        case And(args) | Or(args):
            for one in args:
                yield from _atoms(one)
        case _:
            yield condition


def _start(iterator: str, condition: Condition) -> tuple[Expr, bool] | None:
    """The iteration from which on a comparison holds (or, second, doesn't); None for other conditions."""
    if not isinstance(condition, Compare):
        return None
    left, right, op = condition.left, condition.right, str(condition.op)
    factors, constant = linear(subtract(left, right))
    factor = factors.pop(Name(iterator), 0)
    if abs(factor) != 1 or any(iterator in names(one) for one in factors):
        return None
    # iterator op bound
    bound = scale(from_linear(factors, constant), -factor)
    if factor < 0:
        op = mirrored(op)
    match op:
        case ">=":
            return bound, True
        case ">":
            return plus(bound, 1), True
        case "<":
            return bound, False
        case "<=":
            return plus(bound, 1), False
    return None


def _settled(block: Block, iterator: str, start: Expr, truth: Condition) -> Block:
    """A body where it is known whether the iteration lies before a start."""
    answers: dict[Condition, Condition] = {}
    for item in items(block):
        for one in _atoms(item.condition) if isinstance(item, If) else ():
            found = _start(iterator, one) if iterator in names(one) else None
            if found is not None and found[0] == start:
                answers[one] = truth if found[1] else (FALSE if truth == TRUE else TRUE)
    return _answered(block, answers)


def _answered(block: Block, answers: dict[Condition, Condition]) -> Block:
    """A body with the answers to some conditions, or to parts of them."""
    found: list[Item] = []
    for item in block.items:
        if not isinstance(item, If):
            found.append(item)
            continue
        condition = _put_in(item.condition, answers)
        then = _answered(item.then, answers)
        otherwise = None if item.otherwise is None else _answered(item.otherwise, answers)
        if condition == TRUE:
            found += then.items
        elif condition == FALSE:
            found += otherwise.items if otherwise is not None else ()
        else:
            found.append(If(condition, then, otherwise))
    return Block(tuple(found))


def _put_in(condition: Condition, answers: dict[Condition, Condition]) -> Condition:
    if condition in answers:
        return answers[condition]
    match condition:
        case And(args):
            return conjunction(_put_in(one, answers) for one in args)
        case Or(args):
            return disjunction(_put_in(one, answers) for one in args)
    return condition
