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
(`scopt.astgen.passes.shared_choices`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import BLEND, PICKS, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.eager import SUFFIX, Sure
from scopt.astgen.passes.folded_choices import folded_operands, folding_variables, is_constant, is_small
from scopt.astgen.passes.shared_choices import asks, is_extreme, shared_conditions
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.effects import effects
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.truths import COMPARISONS, truth
from scopt.ir.walks import mapped, rewritten, same_tree, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import SET

PICKED = "_picked"
_WORD = 32
_FLOATS = ("float", "double")
# Functions that are one instruction and can't fail, by name, and what they take and give.
_INSTRUCTIONS = {"fabs": "double", "fabsf": "float"}


def with_picked_choices(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops, which may evaluate both sides of their conditions by now,
    call such functions, and the SCoP with these statements."""
    statements = {one.name: one for one in source.statements}
    folding, shared = folding_variables(source), shared_conditions(scop, nest)

    def picked(name: str) -> Statement | None:
        own, statement = statements.get(name.removesuffix(SUFFIX)), scop.statement(name)
        if own is None:
            return None
        body = with_picks(source, own, statement.body, folding) or statement.body
        made = with_picked_operands(Values(source, own), body)
        made = with_blends(Values(source, own), made, shared.get(name, ()))
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
    if not done.called <= _INSTRUCTIONS.keys() or done.opaque or done.unnamed:
        return None
    kind = values.kind(value)
    if kind is None or not isinstance(value, ir.TernaryOp):
        return None
    name = helper_name(PICKS[kind], scop.reserved)
    if not switches:
        together = _picked(values, value, name) if branches else None
        if together is None and (_is_assignment(body) or assigned(body) is None):
            return None
        return ir.Assignment("=", cell, together or value, body.coord)
    parts = [_picked(values, one, name) for one in (value.iftrue, value.iffalse)]
    made = _chained(values, value, name) if None in parts else ir.TernaryOp(value.cond, *parts)
    return None if made is None else ir.Assignment("=", cell, made, body.coord)


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
    name = helper_name(BLEND, values.scop.reserved)

    def change(node: ir.Node, made: ir.Node) -> ir.Node:
        if not isinstance(node, ir.TernaryOp) or is_extreme(node) or not asks(node.cond, conditions):
            return made
        if values.kind(node) != "int":
            return made
        picked = _picked(values, node, name)
        return made if picked is None else picked

    return rewritten(body, change, {}) if conditions else body


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


def _kept(scop: Scop, statement: Statement, body: ir.Node) -> tuple[ir.Node, ir.Node] | None:
    """Likewise of a variable that has a value before, and keeps that otherwise."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _kept(scop, statement, only)
        case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=ir.Node() | None as other):
            first = assigned(one)
            if first is None or not has_value(scop, statement, first[0]):
                return None
            second = (first[0], first[0]) if other is None else assigned(other) or _kept(scop, statement, other)
            if second is None or not same_tree(first[0], second[0]):
                return None
            return second[0], ir.TernaryOp(condition, first[1], second[1], body.coord)
    return None


def has_value(scop: Scop, statement: Statement, cell: ir.Node) -> bool:
    """Whether a reference is one to a variable that a statement in front of this one is sure to assign each time."""
    write = next((one for one in statement.accesses if one.node is cell and one.is_write), None)
    if write is None or scop.arrays[write.array].rank or not isinstance(cell, ir.ID):
        return False
    for other in scop.statements:
        if other.name == statement.name:
            return False
        depth = len(other.iterators)
        if other.iterators != statement.iterators[:depth]:
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


def _sides(value: ir.Node) -> Iterator[ir.Node]:
    """What may be chosen."""
    if isinstance(value, ir.TernaryOp):
        yield from _sides(value.iftrue)
        yield from _sides(value.iffalse)
    else:
        yield value


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


class Values(Struct, frozen=True, eq=False):
    """What values of a statement of a SCoP are. kept: a reference to a variable that may keep its value."""

    scop: Scop
    statement: Statement
    kept: ir.Node | None = None

    def kind(self, node: ir.Node) -> str | None:
        """The type of a value, a key of `PICKS`, the same one on both sides of choices; None if it is another one."""
        access = self.access(node)
        if access is not None:
            ctype = self.scop.arrays[access.array].type
            if ctype.volatile or ctype.atomic or (access.kind != "read" and node is not self.kept):
                return None
            if ctype.floating:
                return ctype.spelling if ctype.spelling in _FLOATS else None
            return "int" if ctype.integer and ctype.bits < _WORD + ctype.signed else None
        match node:
            case ir.ID(name=name) if name in self.statement.iterators:
                ctype = self.statement.iterator_types[self.statement.iterators.index(name)]
                return "int" if ctype.bits < _WORD + ctype.signed else None
            case ir.Constant(type=spelling):
                return spelling if spelling in PICKS else None
            case ir.TernaryOp(iftrue=one, iffalse=other):
                return self.common(one, other)
            case ir.UnaryOp(op="-", expr=inner):
                return self.kind(inner)
            case ir.UnaryOp(op="!"):
                return "int"
            case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
                return "int"
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[given])):
                return _INSTRUCTIONS.get(name) if self.kind(given) in PICKS else None
            case ir.BinaryOp(op="%", left=left, right=ir.Constant(type="int")):
                return self.kind(left)
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                kinds = self.kind(left), self.kind(right)
                return None if None in kinds else next(one for one in ("double", "float", "int") if one in kinds)
        return None

    def common(self, *sides: ir.Node) -> str | None:
        """The type of all of several values, which small integers have anyway."""
        kinds = {self.kind(one) for one in sides if not is_small(one)} or {"int"}
        return kinds.pop() if len(kinds) == 1 else None

    def is_partly_constant(self, node: ir.Node) -> bool:
        """Whether a value is a choice of floating-point numbers, some of which are constants."""
        if not isinstance(node, ir.TernaryOp) or self.kind(node) not in _FLOATS:
            return False
        sides = list(_sides(node))
        return 0 < sum(map(is_constant, sides)) < len(sides)

    def may_be_computed(self, node: ir.Node) -> bool:
        """Whether a value does nothing but look at cells that are there, and compute what can't fail."""
        sure = Sure(self.scop, self.statement)
        if node is self.kept:
            return True
        if self.access(node) is not None or isinstance(node, ir.Constant | ir.ID):
            return sure.may_be_evaluated(node)
        match node:
            case ir.TernaryOp() | ir.UnaryOp(op="!"):
                pass
            case ir.FuncCall(args=ir.ExprList(exprs=[given])):
                return self.kind(node) is not None and self.may_be_computed(given)
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
            case ir.BinaryOp(op="/" | "%", right=ir.Constant(type="int", value=text)) if text.isdecimal() and int(text):
                pass
            case ir.BinaryOp(op="/"):
                if self.kind(node) not in _FLOATS:
                    return False
            case _:
                return False
        return all(map(self.may_be_computed, node.parts))

    def computes_floats(self, node: ir.Node) -> bool:
        """Whether a value is computed by operations on floating-point numbers, or by comparing such."""
        if self.access(node) is not None:
            return False
        operands = [node.left, node.right] if isinstance(node, ir.BinaryOp) else []
        return any(self.kind(one) in _FLOATS for one in operands) or any(map(self.computes_floats, node.parts))

    def access(self, node: ir.Node) -> Access | None:
        return next((one for one in self.statement.accesses if one.node is node), None)
