"""Loops that a variable decides about as a whole: all their statements are ``if (holds) …``, and none of them sets it.

The condition is printed around such a loop, and left out below it: compilers take it out of innermost loops alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import For
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import conjunction, conjuncts

# Variables by their C names, each with whether it has to be true or false.
Decided = frozenset[tuple[str, bool]]
# The variable that says that the conditions of all statements of a strip hold; where it isn't known, they ask for it.
INSIDE = "scopt_inside"


def decided_by(scop: Scop, loop: For, known: Decided) -> Decided:
    """What all statements of a loop ask for first, and nothing in it changes, but for what is known to hold."""
    found: Decided | None = None
    written = set[str]()
    for call in calls(loop.body):
        statement = scop.statement(call.statement)
        asked = frozenset(_asked(statement))
        found = asked if found is None else found & asked
        if not found:
            return frozenset()
        written |= {one.array for one in statement.accesses if one.is_write}
    copied = {name for item in (loop, *items(loop.body)) if isinstance(item, For) for name in item.mark.private}
    steady = {
        array.spelling
        for name, array in scop.arrays.items()
        if not array.rank and array.local and array.type.integer and name not in written | copied
    }
    return frozenset(one for one in found or () if one[0] in steady) - known


def condition_text(decided: Decided) -> str:
    """Variables of outer conditions first: those of inner ones have values where these hold."""
    inner_last = sorted(decided, key=lambda one: (len(one[0]), one))
    return " && ".join(name if true else f"!{name}" for name, true in inner_last)


def undecided(statement: Statement, known: Decided) -> Statement:
    """A statement without the conditions that are known to hold; where it asks for `INSIDE`, whether they do."""
    match statement.body:
        case ir.If(cond=ir.Node() as condition, iftrue=ir.Node() as then, iffalse=None) if (INSIDE, True) in known:
            return replace(statement, body=then)
        case ir.If(cond=ir.Node() as condition, iffalse=None) if (INSIDE, False) in known:
            outside = ir.Assignment("=", ir.ID(INSIDE), ir.Constant("int", "0"))
            return replace(statement, body=ir.If(ir.UnaryOp("!", condition), outside, None))
    if known.isdisjoint(_asked(statement)):
        return statement
    body = statement.body
    assert isinstance(body, ir.If)
    rest = [one for one in conjuncts(body.cond) if _variable(one) not in known]
    if not rest:
        return replace(statement, body=body.iftrue)
    return replace(statement, body=ir.If(conjunction(rest), body.iftrue, None, body.coord))


def _asked(statement: Statement) -> Iterator[tuple[str, bool]]:
    """The variables that a statement, without an else, asks for before anything else."""
    match statement.body:
        case ir.If(cond=ir.Node() as condition, iffalse=None):
            for one in conjuncts(condition):
                variable = _variable(one)
                if variable is None:
                    return
                yield variable


def _variable(condition: ir.Node) -> tuple[str, bool] | None:
    match condition:
        case ir.ID(name=name):
            return name, True
        case ir.UnaryOp(op="!", expr=ir.ID(name=name)):
            return name, False
    return None
