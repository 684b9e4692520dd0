"""Loops that a variable decides about as a whole: all their statements are ``if (holds) …``, and none of them sets it.
Likewise a cell that stands for such a variable (``holds_all[k]``) and that is held in one around the loop.

The condition is printed around such a loop, and left out below it: compilers take it out of innermost loops alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import Call, For, Hold
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.truths import conjunction, conjuncts

# Variables by their C names, each with whether it has to be true or false.
Decided = frozenset[tuple[str, bool]]
# References to cells, with the variables that hold these.
Held = Mapping[ir.Node | None, str]
# The variable that says that the conditions of all statements of a strip hold; where it isn't known, they ask for it.
INSIDE = "scopt_inside"


def decided_by(scop: Scop, loop: For, known: Decided) -> Decided:
    """What all statements of a loop ask for first, and nothing in it changes, but for what is known to hold."""
    found: Decided | None = None
    written = set[str]()
    cells = dict[str, str]()
    for call in calls(loop.body):
        statement = scop.statement(call.statement)
        cells.update({name: statement.accesses[position].array for position, name in call.held})
        asked = frozenset(_asked(statement, held_by(statement, call)))
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
    inside = {one.name for item in items(loop.body) if isinstance(item, Hold) for one in item.cells}
    steady |= {name for name, array in cells.items() if name not in inside and array not in written}
    return frozenset(one for one in found or () if one[0] in steady) - known


def held_by(statement: Statement, call: Call) -> Held:
    """An instance's references to cells that variables hold."""
    return {statement.accesses[position].node: name for position, name in call.held}


def decides(scop: Scop, loop: For, access: Access) -> bool:
    """Whether a cell in the place of a variable decides about all statements of a loop."""
    array = scop.arrays[access.array]
    if array.location is not None or not array.type.integer or not array.rank:
        return False
    cell = {access.node: ""}
    # the same cell has a reference in each of them
    return all(
        any(name == "" for name, _ in _asked(one, cell | _alike(one, access)))
        for one in (scop.statement(call.statement) for call in calls(loop.body))
    )


def _alike(statement: Statement, access: Access) -> dict[ir.Node | None, str]:
    return {one.node: "" for one in statement.accesses if one.array == access.array and not one.is_write}


def condition_text(decided: Decided) -> str:
    """Variables of outer conditions first: those of inner ones have values where these hold."""
    inner_last = sorted(decided, key=lambda one: (len(one[0]), one))
    return " && ".join(name if true else f"!{name}" for name, true in inner_last)


def undecided(statement: Statement, known: Decided, held: Held) -> Statement:
    """A statement without the conditions that are known to hold; where it asks for `INSIDE`, whether they do."""
    match statement.body:
        case ir.If(cond=ir.Node() as condition, iftrue=ir.Node() as then, iffalse=None) if (INSIDE, True) in known:
            return replace(statement, body=then)
        case ir.If(cond=ir.Node() as condition, iffalse=None) if (INSIDE, False) in known:
            outside = ir.Assignment("=", ir.ID(INSIDE), ir.Constant("int", "0"))
            return replace(statement, body=ir.If(ir.UnaryOp("!", condition), outside, None))
    if known.isdisjoint(_asked(statement, held)):
        return statement
    body = statement.body
    assert isinstance(body, ir.If)
    rest = [one for one in conjuncts(body.cond) if _variable(one, held) not in known]
    if not rest:
        return replace(statement, body=body.iftrue)
    return replace(statement, body=ir.If(conjunction(rest), body.iftrue, None, body.coord))


def _asked(statement: Statement, held: Held) -> Iterator[tuple[str, bool]]:
    """The variables that a statement, without an else, asks for before anything else."""
    match statement.body:
        case ir.If(cond=ir.Node() as condition, iffalse=None):
            for one in conjuncts(condition):
                variable = _variable(one, held)
                if variable is None:
                    return
                yield variable


def _variable(condition: ir.Node, held: Held) -> tuple[str, bool] | None:
    match condition:
        case ir.ArrayRef() if condition in held:
            return held[condition], True
        case ir.UnaryOp(op="!", expr=ir.ArrayRef() as cell) if cell in held:
            return held[cell], False
        case ir.ID(name=name):
            return name, True
        case ir.UnaryOp(op="!", expr=ir.ID(name=name)):
            return name, False
    return None
