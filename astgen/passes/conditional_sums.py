"""Sums of what a condition lets through, as sums of choices: ``if (x[i] > t) s += v`` as ``s += x[i] > t ? v : 0``.

Where a clause gives each lane of a vector loop a copy of a variable, gcc makes poor vectors of code that writes the
copy under a condition, or none; without the clause clang makes none where threads share the variable. gcc makes none
either of a condition with a branch of its own: both sides are evaluated where they may be. Two choices, one of which is
only made where the other one is, are branches to gcc again, but for clauses: with masks, ``s += -(x[i] > t) & v``,
nothing is left to choose.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.eager import Sure, with_both_sides
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import truth
from scopt.ir.walks import changed
from scopt.poly.isl_utils import IN
from scopt.poly.reductions import update_of

# What 0 changes nothing of.
OPERATORS = ("+=", "-=", "|=", "^=")


def summed(scop: Scop, statement: Statement, *, masks: bool = False) -> Statement | None:
    """A statement that accumulates integers in a variable under a condition, as one that does so in any case; None if
    it is none. masks: what is added is masked, where it may be evaluated anyway, and is more than 1."""
    update, body = update_of(scop, statement), _choice(statement.body)
    if update is None or body is None or scop.arrays[update.array].rank or not scop.arrays[update.array].type.integer:
        return None
    assert isinstance(body.rvalue, ir.TernaryOp)
    condition = with_both_sides(scop, statement, body.rvalue.cond)
    value = body.rvalue.iftrue
    if masks and not (isinstance(value, ir.Constant) and value.value == "1"):
        masks = value is not None and Sure(scop, statement).may_be_evaluated(value)
        chosen: ir.Node = ir.BinaryOp("&", ir.UnaryOp("-", truth(condition)), value)
    else:
        masks = False
    body = changed(body, rvalue=chosen if masks else changed(body.rvalue, cond=condition))
    name = f"{statement.name}_masked"
    accesses = tuple(
        replace(access, kind="write" if access.is_write else "read", relation=access.relation.set_tuple_name(IN, name))
        for access in statement.accesses
    )
    return replace(statement, name=name, domain=statement.domain.set_tuple_name(name), body=body, accesses=accesses)


def _choice(body: ir.Node) -> ir.Assignment | None:
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _choice(only)
        case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=None):
            while isinstance(then, ir.Compound) and len(then.block_items or ()) == 1:
                then = then.block_items[0]
            match then:
                case ir.Assignment(op=op, lvalue=cell, rvalue=value) if op in OPERATORS:
                    return _of(op, cell, condition, value)
                case ir.UnaryOp(op="++" | "p++" | "--" | "p--" as op, expr=cell):
                    return _of("+=" if "+" in op else "-=", cell, condition, ir.Constant("int", "1"))
    return None


def _of(op: str, cell: ir.Node, condition: ir.Node, value: ir.Node) -> ir.Assignment:
    return ir.Assignment(op, cell, ir.TernaryOp(condition, value, ir.Constant("int", "0")))
