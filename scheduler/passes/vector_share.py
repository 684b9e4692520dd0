"""What a schedule gains: for comparing it with the order of the source."""

from __future__ import annotations

from collections.abc import Collection

import islpy as isl

from scopt.ir.marked_schedule import Mark, MarkedSchedule, StripMark, TileMark, loop_of
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.machine.costs import arithmetic
from scopt.poly.bands import band_nodes
from scopt.poly.isl_utils import PARAM, SET, sets_of, walk
from scopt.scheduler.locality.strides import shape_rows


def vector_share(scop: Scop, schedule: MarkedSchedule) -> float:
    """Of the operations of the statements in the most loops, the part in vector loops, register tiles, strips or rows
    that run together, or beside a chain that hides them. None of it counts if none but borders do, which have one
    iteration of some of their loops."""
    return share_of(scop, {one.name for one in scop.statements}, schedule)


def share_of(scop: Scop, names: Collection[str], schedule: MarkedSchedule) -> float:
    """The same of some of the statements."""
    asked = [one for one in scop.statements if one.name in names]
    deepest = max((one.domain.dim(SET) for one in asked), default=0)
    weights = {one.name: 1 + arithmetic(one.body) for one in asked if one.domain.dim(SET) == deepest}
    found = in_vectors(schedule) | schedule.hidden
    if not weights:
        return 1.0
    loops = {name: _loops(scop.statement(name).domain) for name in weights}
    inside = {name for name, count in loops.items() if count == max(loops.values())}
    return sum(weights[name] for name in found & weights.keys()) / sum(weights.values()) if found & inside else 0.0


def in_vectors(schedule: MarkedSchedule) -> frozenset[str]:
    """The statements in vector loops, register tiles, strips or rows that run together."""
    found = set[str]()
    for node in walk(schedule.tree.get_root()):
        if node.get_type() != isl.schedule_node_type.mark:
            continue
        mark = schedule.mark(node)
        vector = isinstance(mark, LoopMark) and (mark.simd or mark.jammed)
        if vector or isinstance(mark, TileMark | StripMark):
            found |= {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
    return frozenset(found)


def _loops(domain: isl.Set) -> int:
    """How many loops a statement walks along: those in which it has one iteration, as at a border, don't count."""
    depth = domain.dim(SET)
    return max((depth - _fixed(piece, depth) for piece in domain.get_basic_sets()), default=0)


def _fixed(piece: isl.BasicSet, depth: int) -> int:
    """How many iterators are functions of the others."""
    matrix = piece.affine_hull().remove_divs().equalities_matrix(SET, PARAM, isl.dim_type.cst, isl.dim_type.div)
    return sum(
        any(not matrix.get_element_val(line, k).is_zero() for k in range(depth)) for line in range(matrix.rows())
    )


def in_threads(schedule: MarkedSchedule) -> frozenset[str]:
    """The statements below parallel loops."""
    found = set[str]()
    for node in walk(schedule.tree.get_root()):
        if node.get_type() == isl.schedule_node_type.mark and loop_of(schedule.mark(node)).parallel:
            found |= {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
    return frozenset(found)


def running_together(schedule: MarkedSchedule) -> frozenset[str]:
    """The statements below loops that are parallel, vector loops, or run with others."""
    found = set[str]()
    for node in walk(schedule.tree.get_root()):
        if node.get_type() == isl.schedule_node_type.mark and is_together(schedule.mark(node)):
            found |= {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
    return frozenset(found)


def is_together(mark: Mark) -> bool:
    loop = loop_of(mark)
    return isinstance(mark, TileMark | StripMark) or loop.parallel or loop.simd or loop.jammed


def is_plain(schedule: MarkedSchedule) -> bool:
    """Whether no loop is parallel, or a vector loop, or runs with others."""
    return not any(map(is_together, schedule.marks.values()))


def is_skewed(scop: Scop, schedule: MarkedSchedule) -> bool:
    """Whether some loop runs over a sum of iterators."""
    for node in band_nodes(schedule.tree):
        partial = node.band_get_partial_schedule()
        for part in sets_of(node.get_domain()):
            name = str(part.get_tuple_name())
            own = partial.intersect_domain(isl.UnionSet.from_set(part))
            depth = len(scop.statement(name).iterators)
            if any(sum(map(bool, row[:depth])) > 1 for row in shape_rows(scop, own, name)):
                return True
    return False
