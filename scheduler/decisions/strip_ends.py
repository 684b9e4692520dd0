"""What is in the way of vectors across rows: statements that lead from row to row, and better forms of the loops along
them."""

from __future__ import annotations

import islpy as isl

from scopt.poly.bands import Ordered, agreeing_at, functions_of
from scopt.poly.isl_utils import walk
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.strip_trees import outside, statements_of


def crossing(dependences: Ordered, node: isl.ScheduleNode) -> frozenset[str] | None:
    """The statements that something leads from and to, from row to row of a band's; None if some of them stand in
    loops along the rows."""
    place, rows = agreeing_at(node, dependences), functions_of(node.band_get_partial_schedule())
    ends = {end for row in rows for both in place.moving(dependences.must, row) for end in both}
    inner = {
        name
        for below in walk(node.child(0))
        if below.get_type() == isl.schedule_node_type.band
        for name in statements_of(below)
    }
    return None if ends & inner else frozenset(ends)


def pairs_inside(pairs: isl.UnionMap, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.UnionMap:
    """Pairs of some instances that agree in everything outside a node that stands among them."""
    pairs = pairs.intersect_domain(domain).intersect_range(domain)
    if node.get_schedule_depth() == 0 or pairs.is_empty():
        return pairs
    return pairs.eq_at_multi_union_pw_aff(outside(node))


def is_more(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether other mechanisms make more of a nest than its loops as they are. setting: with reductions in their
    order."""
    if contraction_of(setting.scop, node) is not None:
        return True
    return jam_of(setting.scop, setting.dependences, node, setting.options) is not None
