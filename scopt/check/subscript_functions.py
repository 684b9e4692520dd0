"""Subscripts of scopt's own statements as functions of their iterators and the parameters."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree
from scopt.poly.isl_utils import OUT, PARAM, SET

# What the last bit of a number is the remainder by.
_BIT = 2
# Types that hold the value of any subscript.
_WIDEST = (("long",), ("long", "long"))


class Subscripts(Struct, frozen=True, eq=False):
    """What names stand for. space: of the statement's instances, with all parameters.
    known: expressions whose value is given."""

    statement: Statement
    space: isl.Space
    parameters: dict[str, str]
    known: tuple[tuple[ir.Node, isl.PwAff], ...] = ()

    @staticmethod
    def of(scop: Scop, statement: Statement, known: Iterable[tuple[ir.Node, isl.PwAff]] = ()) -> Subscripts:
        space = statement.domain.get_space().align_params(scop.context.get_space())
        for parameter in scop.parameters:
            if space.find_dim_by_name(PARAM, parameter.name) < 0:
                space = space.add_dims(PARAM, 1).set_dim_name(PARAM, space.dim(PARAM), parameter.name)
        return Subscripts(statement, space, {p.spelling: p.name for p in scop.parameters}, tuple(known))

    def value(self, node: ir.Node) -> isl.PwAff | None:
        """The value of an expression, a function on the statement's instances; None if it isn't linear."""
        for other, value in self.known:
            if same_tree(node, other):
                return value
        match node:
            case ir.Constant(value=text) if text.isdecimal():
                return self.constant(int(text))
            case ir.ID(name=name):
                return self.variable(name)
            case ir.UnaryOp(op="-", expr=inner):
                operand = self.value(inner)
                return None if operand is None else operand.neg()
            case ir.Cast(to_type=ir.Typename(type=ir.TypeDecl(type=ir.IdentifierType(names=names))), expr=inner) if (
                tuple(names) in _WIDEST
            ):
                return self.value(inner)
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                a, b = self.value(left), self.value(right)
                if a is None or b is None:
                    return None
                return a.add(b) if op == "+" else a.sub(b)
            case ir.BinaryOp(op="*", left=ir.Constant(value=text), right=right) if text.isdecimal():
                operand = self.value(right)
                return None if operand is None else operand.scale_val(isl.Val(int(text)))
            case ir.BinaryOp(op="%" | "&" as op, left=left, right=ir.Constant(value=text)) if text.isdecimal():
                return self.remainder(left, op, int(text))
        return None

    def remainder(self, node: ir.Node, op: str, number: int) -> isl.PwAff | None:
        """``node % number``, where node isn't negative; ``node & 1``."""
        operand = self.value(node)
        if operand is None or not (number == 1 if op == "&" else number > 0):
            return None
        if op == "&":
            return operand.mod_val(isl.Val(_BIT))
        negative = self.statement.domain.subtract(operand.ge_set(operand.sub(operand)))
        return operand.mod_val(isl.Val(number)) if negative.is_empty() else None

    def constant(self, value: int) -> isl.PwAff:
        local = isl.LocalSpace.from_space(self.space)
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(local).add_constant_val(isl.Val(value)))

    def variable(self, name: str) -> isl.PwAff | None:
        local = isl.LocalSpace.from_space(self.space)
        if name in self.statement.iterators:
            return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, SET, self.statement.iterators.index(name)))
        position = self.space.find_dim_by_name(PARAM, self.parameters.get(name, ""))
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, PARAM, position)) if position >= 0 else None


def function_of(reference: ir.Node, subscripts: Subscripts) -> isl.MultiPwAff | None:
    """``{ text[…] -> [subscripts] }`` of a reference, outermost first; None if a subscript isn't linear."""
    return functions(subscripts_of(reference), subscripts)


def subscripts_of(reference: ir.Node) -> list[ir.Node]:
    """From the outermost one on; ``*p`` is ``p[0]``."""
    found: list[ir.Node] = []
    while True:
        match reference:
            case ir.ArrayRef(name=inner, subscript=subscript):
                found.insert(0, subscript)
            case ir.UnaryOp(op="*", expr=inner):
                found.insert(0, ir.Constant("int", "0"))
            case _:
                return found
        reference = inner


def base_of(reference: ir.Node) -> ir.Node:
    """What a reference has its subscripts behind."""
    while True:
        match reference:
            case ir.ArrayRef(name=inner) | ir.UnaryOp(op="*", expr=inner):
                reference = inner
            case _:
                return reference


def functions(nodes: Iterable[ir.Node], subscripts: Subscripts) -> isl.MultiPwAff | None:
    """The values of some expressions side by side; None if one isn't linear."""
    values = [subscripts.value(node) for node in nodes]
    target = subscripts.space.params().set_from_params().add_dims(SET, len(values))
    result = isl.MultiPwAff.zero(subscripts.space.map_from_domain_and_range(target))
    for k, value in enumerate(values):
        if value is None:
            return None
        result = result.set_pw_aff(k, value)
    return result


def shifted(relation: isl.Map, position: int, value: isl.Aff) -> isl.Map:
    """A single-valued relation with a function of its domain added to one of its dimensions."""
    function = relation.as_pw_multi_aff()
    name = relation.get_tuple_name(OUT)
    moved = isl.Map.from_pw_multi_aff(
        function.set_pw_aff(position, function.get_pw_aff(position).add(isl.PwAff.from_aff(value)))
    )
    return moved.set_tuple_name(OUT, name) if name else moved
