"""Reads what stands around the loops of a vector loop whose lanes have copies (`scopt.astgen.emit.lane_texts`)."""

from __future__ import annotations

from collections.abc import Sequence

from scopt import ir
from scopt.astgen.emit.c_read import Reader, Unreadable, canonical, canonical_condition
from scopt.astgen.emit.lane_texts import Lanes
from scopt.astgen.emit.printed import expect, expression_of, parsed, statements_of, step_of
from scopt.ir.ctypes import type_spelling
from scopt.ir.expr import plus
from scopt.ir.scop import Scop
from scopt.ir.truths import operands
from scopt.ir.walks import same_tree

# The body of the loop over strips, the loop over what is left, and who reads them.
Read = tuple[tuple[list[ir.Node], Reader], tuple[ir.For, Reader]]


def read_lanes(scop: Scop, made: Lanes, printed: Sequence[ir.Node], reader: Reader) -> Read:
    """Check all but the vector loop and the loop over what is left, and return these."""
    strips, long_type = made.strips, scop.long_type
    match printed:
        case [
            ir.Decl(name=name, type=ctype, init=ir.Node() as start, storage=[], quals=[]),
            ir.If(cond=test, iftrue=ir.Compound(block_items=[*then]), iffalse=None),
            ir.For() as rest,
        ] if name == strips.iterator and type_spelling(ctype) == long_type:
            expect(canonical(reader.usable(start).value), canonical(strips.lower), f"start of '{name}'")
            enough = reader.work(_without_signs(scop, test, made.signs))
            expect(canonical_condition(enough), canonical_condition(made.test), f"test of '{name}'")
            body = _strips(scop, made, then, reader)
            along = reader.within(name, long_type, strips.lower, strips.upper, strips.step)
            behind = reader.within(name, long_type, made.left.lower, made.left.upper, made.left.step)
            return (body, along), (rest, behind)
    raise Unreadable(f"the strips over '{strips.iterator}' are not there")


def _strips(scop: Scop, made: Lanes, then: list[ir.Node], reader: Reader) -> list[ir.Node]:
    """The body of the loop over strips, which stands between what fills copies and what joins them."""
    filled, joined = (parsed(scop, "\n".join((*lines, ""))) for lines in (made.filled, made.joined))
    around, meant, name = [*then[: len(filled)], *then[len(filled) + 1 :]], [*filled, *joined], made.strips.iterator
    if len(around) != len(meant) or not all(map(same_tree, around, meant)):
        raise Unreadable(f"the copies for lanes of the strips over '{name}'")
    match then[len(filled)]:
        case ir.For(
            init=None, cond=ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=tested), right=bound), next=step, stmt=body
        ) if tested == name:
            end = reader.usable(bound).value
            expect(
                canonical(plus(end, -1) if op == "<" else end), canonical(made.strips.upper), f"upper bound of '{name}'"
            )
            expect(step_of(step, name), made.strips.step, f"step of '{name}'")
            return statements_of(body)
    raise Unreadable(f"the loop over strips '{name}'")


def _without_signs(scop: Scop, test: ir.Node, signs: str) -> ir.Node:
    """What is tested before the signs of zeros are."""
    meant = list(operands("&&", expression_of(scop, signs))) if signs else []
    first, *printed = operands("&&", test)
    if len(printed) != len(meant) or not all(map(same_tree, printed, meant)):
        raise Unreadable("the signs of zeros aren't asked for")
    return first
