"""Loops of a few iterations each of which has a divisor of its own, such as the step of a level's quantizer.

``for (l = 0; l < 3; l++) { step = 6 - 2 * l; for … x[i] = x[i] / step; }`` divides by a variable, of which there are no
vectors for integers, and which takes some twenty cycles. Written out, each copy divides by a number: products and
shifts, in vectors. clang does that by itself; gcc is asked to, and does it before it looks for vectors (measured: a
third of the time).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scopt import ir
from scopt.ir.nest import Call, Const, For, LoopMark, Name
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names, walk

# Iterations that the directive asks for, and statements of the body, which stands there as often.
_COPIES, _MOST_STATEMENTS = 4, 12


def knows_divisors(scop: Scop, loop: For) -> bool:
    """Whether a loop's iterations have numbers for divisors if they are written out."""
    match loop:
        case For(lower=Const(value=first), upper=Const(value=last), mark=mark) if mark == LoopMark():
            if not loop.step <= last - first < _COPIES * loop.step:
                return False
        case _:
            return False
    inside = [item for item in items(loop.body) if isinstance(item, For)]
    called = [*calls(loop.body)]
    if len(called) > _MOST_STATEMENTS or any(one.mark.parallel for one in inside):
        return False
    own = {name for call in called for name in _numbers(scop, loop, call)}
    bodies = [scop.statement(call.statement).body for call in called]
    return bool(own) and any(_divides(node, own) for body in bodies for node in walk(body))


def _numbers(scop: Scop, loop: For, call: Call) -> Iterator[str]:
    """The integer variable that a statement sets to what the loop's iterator alone says."""
    statement = scop.statement(call.statement)
    match statement.body:
        case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
            known = {
                own for own, given in zip(statement.iterators, call.args, strict=True) if given == Name(loop.iterator)
            }
            used = set(used_names(value))
            if used and used <= known and name in scop.arrays and scop.arrays[name].type.integer:
                yield name


def _divides(node: Any, own: set[str]) -> bool:
    """Whether a node divides by one of some variables, or hands one on to a function, which may."""
    match node:
        case ir.BinaryOp(op="/" | "%", right=divisor):
            return bool(own & set(used_names(divisor)))
        case ir.Assignment(op="/=" | "%=", rvalue=divisor):
            return bool(own & set(used_names(divisor)))
        case ir.FuncCall(args=ir.ExprList(exprs=given)):
            return any(isinstance(one, ir.ID) and one.name in own for one in given)
    return False
