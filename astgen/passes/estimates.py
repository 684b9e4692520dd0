"""Parallel loops that are never worth a fork, judged by what is known of the parameters: array extents and macros bound
most of them.

An `if` clause decides at run time, but a loop in a sequential loop then still enters the OpenMP runtime each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from msgspec.structs import replace

from scopt.ir.nest import (
    Block,
    Call,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    FloorDiv,
    For,
    Hold,
    If,
    LoopMark,
    LoopNest,
    Max,
    Min,
    Mod,
    Name,
    Select,
    Sum,
)
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Scop

Interval = tuple[float, float]
UNKNOWN: Interval = (float("-inf"), float("inf"))


def drop_small_loops(scop: Scop, nest: LoopNest) -> LoopNest:
    """Take the parallel mark from loops whose work guard can't hold, or that have one iteration, for any parameter up
    to its estimate.

    Only loops inside sequential loops: elsewhere the guard costs nothing and is right for any size. One that can't hold
    whatever the parameters are is dropped anywhere (borders of a few iterations).
    """
    known = {p.name: (0.0, float(p.estimate)) if p.estimate is not None else UNKNOWN for p in scop.parameters}
    return LoopNest(_block(nest.body, known, inside=False))


def _block(block: Block, known: Mapping[str, Interval], inside: bool) -> Block:
    return Block(tuple(_item(item, known, inside) for item in block.items))


def _item(item: Item, known: Mapping[str, Interval], inside: bool) -> Item:
    match item:
        case Call() | Hold():
            return item
        case If():
            otherwise = None if item.otherwise is None else _block(item.otherwise, known, inside)
            return replace(item, then=_block(item.then, known, inside), otherwise=otherwise)
        case For():
            small = inside and (_never(item.work, known) or _runs_once(item, known))
            if item.mark.parallel and (small or _never(item.work, {})):
                mark = replace(item.mark, parallel=False) if item.mark.simd else LoopMark()
                return replace(item, mark=mark, work=None)
            if item.mark.parallel:
                return item
            values = (interval(item.lower, known)[0], interval(item.upper, known)[1])
            return replace(item, body=_block(item.body, {**known, item.iterator: values}, inside=True))


def _runs_once(loop: For, known: Mapping[str, Interval]) -> bool:
    """Whether the loop has no second iteration."""
    return interval(loop.upper, known)[1] - interval(loop.lower, known)[0] < loop.step


def _never(work: Condition | None, known: Mapping[str, Interval]) -> bool:
    """Whether ``left > right``, or the test of a product, can't hold."""
    match work:
        case Compare(left, ">", right):
            return interval(left, known)[1] <= interval(right, known)[0]
        case Exceeds(factors, limit):
            return prod(max(interval(factor, known)[1], 0.0) for factor in factors) <= limit
    return False


def interval(expr: Expr, known: Mapping[str, Interval]) -> Interval:
    """Least and largest value of an expression, given those of its names (interval arithmetic: never too narrow)."""
    match expr:
        case Const(value):
            return (float(value), float(value))
        case Name(name):
            return known.get(name, UNKNOWN)
        case Sum(terms, constant):
            low = high = float(constant)
            for coefficient, term in terms:
                a, b = interval(term, known)
                low += coefficient * (a if coefficient > 0 else b)
                high += coefficient * (b if coefficient > 0 else a)
            return (low, high)
        case FloorDiv(numerator, divisor):
            a, b = interval(numerator, known)
            return (a / divisor - 1, b / divisor)
        case Mod(divisor=divisor):
            return (0.0, float(divisor - 1))
        case Min(args):
            parts = [interval(arg, known) for arg in args]
            return (min(a for a, _ in parts), min(b for _, b in parts))
        case Max(args):
            parts = [interval(arg, known) for arg in args]
            return (max(a for a, _ in parts), max(b for _, b in parts))
        case Select():
            parts = [interval(expr.then, known), interval(expr.otherwise, known)]
            return (min(a for a, _ in parts), max(b for _, b in parts))
    return UNKNOWN
