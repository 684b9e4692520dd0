"""How much of a SCoP's work runs in vectors: for comparing schedules."""

from __future__ import annotations

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule, StripMark, TileMark
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.machine.costs import arithmetic
from scopt.poly.isl_utils import SET, sets_of, walk


def vector_share(scop: Scop, schedule: MarkedSchedule) -> float:
    """Of the operations of the statements in the most loops, the part in vector loops, register tiles, strips or rows
    that run together."""
    deepest = max((one.domain.dim(SET) for one in scop.statements), default=0)
    weights = {one.name: 1 + arithmetic(one.body) for one in scop.statements if one.domain.dim(SET) == deepest}
    found = set[str]()
    for node in walk(schedule.tree.get_root()):
        if node.get_type() != isl.schedule_node_type.mark:
            continue
        mark = schedule.mark(node)
        vector = isinstance(mark, LoopMark) and (mark.simd or mark.jammed)
        if vector or isinstance(mark, TileMark | StripMark):
            found |= {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
    return sum(weights[name] for name in found & weights.keys()) / sum(weights.values()) if weights else 1.0
