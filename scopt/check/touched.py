"""Copies read no cells but those that the SCoP itself reads or writes: others needn't exist."""

from __future__ import annotations

import islpy as isl

from scopt.check.forms import Copy, Roles, cell
from scopt.diagnostics import InternalError
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import OUT, union_of_sets


def check_touched(scop: Scop, roles: Roles) -> None:
    """Raise InternalError for a copy of a cell, or of an operand, that no instance of the SCoP has. roles: of the
    statements that run."""
    for copy in roles.copies:
        if copy.content is None or not copy.inwards:
            continue
        taken = isl.UnionSet.from_set(copy.content.range().intersect_params(scop.context))
        if not taken.is_subset(_there(scop, roles, copy)):
            raise InternalError(f"{scop.location}: generated loops: {copy.text} copies what need not exist")


def _there(scop: Scop, roles: Roles, copy: Copy) -> isl.UnionSet:
    """What the SCoP's instances have of what a copy copies."""
    assert copy.content is not None
    name = copy.content.get_tuple_name(OUT)
    cells = (
        access.relation.intersect_domain(statement.domain).range().set_tuple_name(name)
        for statement in scop.statements
        for access in statement.accesses
        if cell(access.array) == name
    )
    operands = (
        moved.content.intersect_domain(scop.statement(carrier.statement).domain).range()
        for carrier in roles.carriers
        for moved in carrier.moved
        if moved.content.get_tuple_name(OUT) == name
    )
    return union_of_sets((*cells, *operands)).intersect_params(scop.context)
