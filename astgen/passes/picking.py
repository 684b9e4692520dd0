"""Choices whose sides are both computed, by a call, where clang would make a ``switch`` of several conditions.

``x == 1 ? a : x == 2 ? b : c``, or ``if (x == 1) …; else if (x == 2) …``, compares one value with several constants.
clang makes a switch of that, and no vector loop of a switch. What a call is given is computed before:
``x == 1 ? a : scopt_pick(x == 2, b, c)`` (measured for automata: four to eight times as fast).

``if (x > t) y[i] = a; else y[i] = b;`` stores in two places: clang's vectors store each with a mask, which takes longer
than choosing between them, ``y[i] = x > t ? a : b`` (measured for a sharpened image: a fifth of its time).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import PICKS, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.eager import SUFFIX, Sure
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.effects import effects
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.truths import COMPARISONS, truth
from scopt.ir.walks import same_tree

PICKED = "_picked"
_WORD = 32
_FLOATS = ("float", "double")


def with_picked_choices(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops, which may evaluate both sides of their conditions by now,
    call such functions, and the SCoP with these statements."""
    statements = {one.name: one for one in source.statements}

    def picked(name: str) -> Statement | None:
        own, statement = statements.get(name.removesuffix(SUFFIX)), scop.statement(name)
        body = None if own is None else with_picks(source, own, statement.body)
        return None if body is None else replace(statement, name=name + PICKED, body=body)

    return with_vector_statements(scop, nest, picked)


def with_picks(scop: Scop, statement: Statement, body: ir.Node) -> ir.Node | None:
    """A statement's body, which assigns one cell each way, as one assignment, with calls where these are needed; None
    where it is one already, and none is needed, or where something may not be computed anyway."""
    values, found = Values(scop, statement), assigned(body)
    if found is None:
        return None
    cell, value = found
    switches = _switches(value, ())
    if not switches and _is_assignment(body):
        return None
    done = effects(body)
    if done.called or done.opaque or done.unnamed:
        return None
    kind = values.kind(value)
    if kind is None or not isinstance(value, ir.TernaryOp):
        return None
    if not switches:
        return ir.Assignment("=", cell, value, body.coord)
    name = helper_name(PICKS[kind], scop.reserved)
    parts = [_picked(values, one, name) for one in (value.iftrue, value.iffalse)]
    made = _chained(values, value, name) if None in parts else ir.TernaryOp(value.cond, *parts)
    return None if made is None else ir.Assignment("=", cell, made, body.coord)


def assigned(body: ir.Node) -> tuple[ir.Node, ir.Node] | None:
    """The one cell that a statement assigns whatever its conditions say, and its value, as choices."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return assigned(only)
        case ir.Assignment(op="=", lvalue=cell, rvalue=value):
            return cell, value
        case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=ir.Node() as other):
            first, second = assigned(one), assigned(other)
            if first is not None and second is not None and same_tree(first[0], second[0]):
                return first[0], ir.TernaryOp(condition, first[1], second[1], body.coord)
    return None


def _is_assignment(body: ir.Node) -> bool:
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _is_assignment(only)
    return isinstance(body, ir.Assignment)


def _picked(values: Values, node: ir.Node, name: str) -> ir.Node | None:
    """A side of a choice, with calls for the choices in it; None if these may not be computed anyway."""
    if not isinstance(node, ir.TernaryOp):
        return node
    sides = [_picked(values, one, name) for one in (node.iftrue, node.iffalse)]
    if not values.may_be_computed(node) or any(one is None for one in sides):
        return None
    return call(name, [truth(node.cond), *(one for one in sides if one is not None)])


def _chained(values: Values, node: ir.Node, name: str) -> ir.Node | None:
    """A chain of choices among constants, one of which may be something that only its own condition lets through:
    ``scopt_pick(x == 1, a, x == 2 ? t[i] : b)``. What isn't 2 is no matter of the condition in front."""
    if not isinstance(node, ir.TernaryOp):
        return node if values.may_be_computed(node) else None
    tested = equality(node.cond)
    if tested is None or not values.may_be_computed(node.cond):
        return None
    if not values.may_be_computed(node.iftrue):
        rest = _picked(values, node.iffalse, name) if values.may_be_computed(node.iffalse) else None
        return (
            None if rest is None or _switches(node.iftrue, tested[:1]) else ir.TernaryOp(node.cond, node.iftrue, rest)
        )
    inner = equality(node.iffalse.cond) if isinstance(node.iffalse, ir.TernaryOp) else tested
    if inner is None or not same_tree(inner[0], tested[0]):
        return None
    sides = _picked(values, node.iftrue, name), _chained(values, node.iffalse, name)
    return None if None in sides else call(name, [truth(node.cond), *(one for one in sides if one is not None)])


def equality(condition: ir.Node) -> tuple[ir.Node, str] | None:
    """What a condition asks to be a constant, and that one."""
    match condition:
        case ir.BinaryOp(op="==", left=value, right=ir.Constant(type="int", value=constant)):
            return value, constant
    return None


def _switches(value: ir.Node, compared: Sequence[ir.Node]) -> bool:
    """Whether a choice inside of others compares what these compare with constants. compared: such values."""
    if not isinstance(value, ir.TernaryOp):
        return False
    own = list(_compared(value.cond))
    if any(same_tree(one, other) for one in own for other in compared):
        return True
    return any(_switches(side, (*compared, *own)) for side in (value.iftrue, value.iffalse))


def _compared(condition: ir.Node) -> Iterator[ir.Node]:
    """What is compared with constants for equality."""
    match condition:
        case ir.BinaryOp(op="==" | "!=", left=value, right=ir.Constant(type="int")):
            yield value
        case ir.BinaryOp(op="&&" | "||" | "&" | "|", left=left, right=right):
            yield from _compared(left)
            yield from _compared(right)
        case ir.UnaryOp(op="!", expr=inner):
            yield from _compared(inner)


class Values(Struct, frozen=True, eq=False):
    """What values of a statement of a SCoP are."""

    scop: Scop
    statement: Statement

    def kind(self, node: ir.Node) -> str | None:
        """The type of a value, a key of `PICKS`, the same one on both sides of choices; None if it is another one."""
        access = self.access(node)
        if access is not None:
            ctype = self.scop.arrays[access.array].type
            if ctype.volatile or ctype.atomic or access.kind != "read":
                return None
            if ctype.floating:
                return ctype.spelling if ctype.spelling in _FLOATS else None
            return "int" if ctype.integer and ctype.bits < _WORD + ctype.signed else None
        match node:
            case ir.Constant(type=spelling):
                return spelling if spelling in PICKS else None
            case ir.TernaryOp(iftrue=one, iffalse=other):
                first = self.kind(one)
                return first if first == self.kind(other) else None
            case ir.UnaryOp(op="-", expr=inner):
                return self.kind(inner)
            case ir.UnaryOp(op="!"):
                return "int"
            case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
                return "int"
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                kinds = self.kind(left), self.kind(right)
                return None if None in kinds else next(one for one in ("double", "float", "int") if one in kinds)
        return None

    def may_be_computed(self, node: ir.Node) -> bool:
        """Whether a value does nothing but look at cells that are there, and compute what can't fail."""
        sure = Sure(self.scop, self.statement)
        if self.access(node) is not None or isinstance(node, ir.Constant | ir.ID):
            return sure.may_be_evaluated(node)
        match node:
            case ir.TernaryOp() | ir.UnaryOp(op="!"):
                pass
            case ir.UnaryOp(op="-", expr=inner):
                if self.kind(inner) not in _FLOATS and not sure.fits(node):
                    return False
            case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
                pass
            case ir.BinaryOp(op="&" | "|"):
                if self.kind(node.left) != "int" or self.kind(node.right) != "int":
                    return False
            case ir.BinaryOp(op="+" | "-" | "*"):
                if self.kind(node) not in _FLOATS and not sure.fits(node):
                    return False
            case ir.BinaryOp(op="/"):
                if self.kind(node) not in _FLOATS:
                    return False
            case _:
                return False
        return all(map(self.may_be_computed, node.parts))

    def access(self, node: ir.Node) -> Access | None:
        return next((one for one in self.statement.accesses if one.node is node), None)
