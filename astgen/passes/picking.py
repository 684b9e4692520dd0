"""Choices whose sides are both computed, by a call, where compilers would make branches of several conditions.

``x == 1 ? a : x == 2 ? b : c``, or ``if (x == 1) …; else if (x == 2) …``, compares one value with several constants.
clang makes a switch of that, and no vector loop of a switch. What a call is given is computed before:
``x == 1 ? a : scopt_pick(x == 2, b, c)`` (measured for automata: four to eight times as fast).

``if (x > t) y[i] = a; else y[i] = b;`` stores in two places: clang's vectors store each with a mask, which takes longer
than choosing between them, ``y[i] = x > t ? a : b`` (measured for a sharpened image: a fifth of its time).

``if (x > t) v = a; else if ((y < 0) & (z < 1)) v = b;`` are branches that gcc makes no vectors of. With the inner
choice made first, ``v = scopt_pick(x > t, a, scopt_pick((y < 0) & (z < 1), b, v))``, it does (measured for a model of
ice sheets: 0.58 of the time).

``y[i] = x > t ? x * a : x - b`` computes floating-point numbers behind a branch by gcc, which makes no vectors of what
might trap there, and brings even what stands in front of a choice behind it. So calls choose such numbers by masks of
bits for gcc: ``scopt_pickd(x > t, x * a, x - b)`` (measured: limiters of slopes take 0.4 of the time, clipping
with a slope and sharpening by thresholds a sixth). Calls that mask ints are for conditions that several statements ask
(`scopt.astgen.passes.shared_choices`), for ints that are divided (`scopt.astgen.passes.divided_ints`), and for those
that loops make numbers of which look up where they say (`scopt.astgen.passes.converted_ints`).

``if (x < 0) x += n;`` is such a branch, too, which gives `x` another value that is computed: ``x = scopt_pickf(x < 0,
x + n, x)`` (of sums of an iteration alone).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import BLEND, PICKS, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.converted_ints import choosing_converted_ints
from scopt.astgen.passes.divided_ints import (
    is_computed_always,
    is_quotient,
    quotient_names,
    subscripts,
    with_quotients,
)
from scopt.astgen.passes.eager import SUFFIX
from scopt.astgen.passes.folded_choices import folded_operands, folding_variables
from scopt.astgen.passes.shared_choices import asks, is_extreme, shared_conditions
from scopt.astgen.passes.value_kinds import INSTRUCTIONS, Values
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.astgen.passes.wrapped_ints import with_wrapped_ints, wrapped_names
from scopt.ir.effects import effects
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import truth
from scopt.ir.walks import mapped, rewritten, same_tree, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import SET

PICKED = "_picked"


def with_picked_choices(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops, which may evaluate both sides of their conditions by now,
    call such functions, and the SCoP with these statements."""
    statements = {one.name: one for one in source.statements}
    folding, shared = folding_variables(source), shared_conditions(scop, nest)
    converted = choosing_converted_ints(scop, nest)

    def picked(name: str) -> Statement | None:
        own, statement = statements.get(name.removesuffix(SUFFIX)), scop.statement(name)
        if own is None:
            return None
        divided = with_wrapped_ints(source, own, with_quotients(source, own, statement.body))
        for body in (divided, statement.body):
            made = with_picked_operands(Values(source, own), with_picks(source, own, body, folding) or body)
            if is_computed_always(source, made):
                break
        made = with_blends(Values(source, own), made, shared.get(name, ()))
        if name in converted:
            made = with_blended_int(source, own, made)
        return None if made is statement.body else replace(statement, name=name + PICKED, body=made)

    return with_vector_statements(scop, nest, picked)


def with_picks(scop: Scop, statement: Statement, body: ir.Node, folding: Collection[str] = ()) -> ir.Node | None:
    """A statement's body, which assigns one cell each way, as one assignment, with calls where these are needed; None
    where it is one already, and none is needed, or where something may not be computed anyway. folding: variables whose
    values aren't to be constants."""
    found = assigned(body) or _kept(scop, statement, body)
    if found is None:
        return None
    cell, value = found
    values = Values(scop, statement, cell)
    steady = isinstance(cell, ir.ID) and cell.name in folding and values.is_partly_constant(value)
    switches, branches = _switches(value, ()), steady or _branches(value) or _computes(values, value)
    if not (switches or branches) and _is_assignment(body):
        return None
    done = effects(body)
    known = INSTRUCTIONS.keys() | quotient_names(scop) | wrapped_names(scop)
    if not done.called <= known or done.opaque or done.unnamed:
        return None
    kind = values.kind(value)
    if kind is None or not isinstance(value, ir.TernaryOp):
        return None
    name = pick_name(scop, kind, value)
    if not switches:
        together = _picked(values, value, name) if branches else None
        if together is None and (_is_assignment(body) or assigned(body) is None):
            return None
        return ir.Assignment("=", cell, together or value, body.coord)
    parts = [_picked(values, one, name) for one in (value.iftrue, value.iffalse)]
    made = _chained(values, value, name) if None in parts else ir.TernaryOp(value.cond, *parts)
    return None if made is None else ir.Assignment("=", cell, made, body.coord)


def pick_name(scop: Scop, kind: str, *sides: ir.Node) -> str:
    """The call that chooses between values of a type."""
    by_bits = kind == "int" and any(is_quotient(scop, node) for side in sides for node in walk(side))
    return helper_name(BLEND if by_bits else PICKS[kind], scop.reserved)


def with_picked_operands(values: Values, body: ir.Node) -> ir.Node:
    """An assignment with calls for choices with constants, where gcc would compute something from these."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            made = with_picked_operands(values, only)
            return body if made is only else made
        case ir.Assignment(lvalue=cell, rvalue=value):
            made = _with_picked_operands(values, value)
            return body if made is value else ir.Assignment(body.op, cell, made, body.coord)
    return body


def _with_picked_operands(values: Values, value: ir.Node) -> ir.Node:
    def change(_: ir.Node, made: ir.Node) -> ir.Node:
        calls = dict[ir.Node, ir.Node]()
        for operand in folded_operands(made):
            if values.is_partly_constant(operand):
                name = helper_name(PICKS[str(values.kind(operand))], values.scop.reserved)
                if (picked := _picked(values, operand, name)) is not None:
                    calls[operand] = picked
        return mapped(made, lambda part: calls.get(part, part)) if calls else made

    return rewritten(value, change, {})


def with_blends(values: Values, body: ir.Node, conditions: Sequence[ir.Node]) -> ir.Node:
    """The body with calls for choices of ints by these conditions."""
    name, places = helper_name(BLEND, values.scop.reserved), subscripts(values.statement)

    def change(node: ir.Node, made: ir.Node) -> ir.Node:
        if node in places or not isinstance(node, ir.TernaryOp) or is_extreme(node) or not asks(node.cond, conditions):
            return made
        if values.kind(node) != "int":
            return made
        picked = _picked(values, node, name)
        return made if picked is None else picked

    return rewritten(body, change, {}) if conditions else body


def with_blended_int(scop: Scop, statement: Statement, body: ir.Node) -> ir.Node:
    """A body that chooses an int, as an assignment with a call, if it may be one."""
    found = assigned(body) or _kept(scop, statement, body)
    if found is None or not isinstance(found[1], ir.TernaryOp):
        return body
    values = Values(scop, statement, found[0])
    if values.kind(found[1]) != "int":
        return body
    made = _picked(values, found[1], helper_name(BLEND, scop.reserved))
    return body if made is None else ir.Assignment("=", found[0], made, body.coord)


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


def changed_value(body: ir.Node) -> ir.Node | None:
    """The value that an assignment gives a variable, which may be computed of its own: ``x += n`` that of ``x + n``."""
    match body:
        case ir.Assignment(op="=", rvalue=ir.Node() as value):
            return value
        case ir.Assignment(op="+=" | "-=" | "*=" as op, lvalue=ir.ID() as cell, rvalue=ir.Node() as value):
            return ir.BinaryOp(op[0], cell, value)
    return None


def _changed(body: ir.Node) -> tuple[ir.Node, ir.Node] | None:
    """The variable that a statement changes, and its new value."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _changed(only)
        case ir.Assignment(lvalue=ir.ID() as cell) if (value := changed_value(body)) is not None:
            return cell, value
    return assigned(body)


def _kept(scop: Scop, statement: Statement, body: ir.Node) -> tuple[ir.Node, ir.Node] | None:
    """Likewise of a variable that has a value before, and keeps that otherwise, or changes it."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _kept(scop, statement, only)
        case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=ir.Node() | None as other):
            first = _changed(one)
            if first is None or not has_value(scop, statement, first[0]):
                return None
            if assigned(one) is None and not has_value(scop, statement, first[0], each=True):
                return None
            second = (first[0], first[0]) if other is None else assigned(other) or _kept(scop, statement, other)
            if second is None or not same_tree(first[0], second[0]):
                return None
            return second[0], ir.TernaryOp(condition, first[1], second[1], body.coord)
    return None


def has_value(scop: Scop, statement: Statement, cell: ir.Node, *, each: bool = False) -> bool:
    """Whether a reference is one to a variable that a statement in front of this one is sure to assign each time; each:
    one of the same iteration, so that it is no sum."""
    write = next((one for one in statement.accesses if one.node is cell and one.is_write), None)
    if write is None or scop.arrays[write.array].rank or not isinstance(cell, ir.ID):
        return False
    for other in scop.statements:
        if other.name == statement.name:
            return False
        depth = len(other.iterators)
        if other.iterators != statement.iterators[:depth] or (each and depth < len(statement.iterators)):
            continue
        own = statement.domain.project_out(SET, depth, len(statement.iterators) - depth).set_tuple_name(other.name)
        given = (one for one in other.accesses if one.array == write.array and one.kind == "write")
        sure = any(always_evaluated(other.body, one.node) for one in given)
        if sure and own.intersect_params(scop.context).is_subset(other.domain):
            return True
    return False


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


def _branches(value: ir.Node) -> bool:
    """Whether gcc makes branches of a choice of three, or more, with conditions of several parts, or of four."""
    if not isinstance(value, ir.TernaryOp):
        return False
    inner = [one for one in (value.iftrue, value.iffalse) if isinstance(one, ir.TernaryOp)]
    parts = any(isinstance(node, ir.BinaryOp) and node.op in ("&", "|") for one in inner for node in walk(one.cond))
    return parts or any(isinstance(part, ir.TernaryOp) for one in inner for part in (one.iftrue, one.iffalse))


def _computes(values: Values, value: ir.Node) -> bool:
    """Whether a side of a choice computes or compares floating-point numbers, which gcc leaves behind a branch."""
    if not isinstance(value, ir.TernaryOp):
        return False
    return any(values.computes_floats(side) for side in (value.iftrue, value.iffalse))


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
