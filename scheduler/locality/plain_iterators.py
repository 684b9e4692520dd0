"""Which iterator of the source a member of a band comes down to."""

from __future__ import annotations

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.linear import solve
from scopt.scheduler.locality.strides import LinearSchedule


def unskewed(
    scop: Scop, schedule: LinearSchedule, member: int, statement: str, *, upwards: bool = False
) -> isl.UnionPwAff | None:
    """The plain iterator that one band member comes down to for a statement, once all other members are fixed; None if
    it is no single one. upwards: the loop's order is of no account, so that it may run forwards.

    An innermost loop may run over it instead of the member: both differ by a constant, and the loop reads better.
    """
    rows = schedule.members.get(statement)
    if rows is None or statement in schedule.shifted:
        return None
    outside = schedule.prefix[statement]
    direction = solve([*outside, *rows], [0] * len(outside) + [int(k == member) for k in range(len(rows))])
    moving = [k for k, step in enumerate(direction or ()) if step]
    if direction is None or len(moving) != 1 or abs(direction[moving[0]]) != 1:
        return None
    space = isl.LocalSpace.from_space(scop.statement(statement).domain.get_space())
    iterator = isl.PwAff.var_on_domain(space, isl.dim_type.set, moving[0])
    return (iterator if upwards or direction[moving[0]] > 0 else iterator.neg()).to_union_pw_aff()
