"""Loops over windows that move with the loops around: ``for q = 2 * j - 1 … 2 * j + 1`` runs through three points, seen
from j.

An affine function of what stands outside, taken away from a loop's iterator, leaves its order as it is. Where the rest
has few values, the loop is a small one. At the borders, where a window is cut off (``q >= 0``), some of its points are
missing: the interior, where all are there, is split off (index-set splitting: Griebl, Feautrier and Lengauer, "Index
set splitting", IJPP 28(6), 2000).
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct

from scopt.poly.isl_utils import SET, joined, sets_of
from scopt.poly.restructure import filters_of, leaf_parts
from scopt.scheduler.decisions.small_loops import FEW_POINTS, MOST_INSTANCES, span, straightened

_TYPE = isl.schedule_node_type


def settled(node: isl.ScheduleNode, outer: int) -> isl.ScheduleNode:
    """The node, where all bands at it and below that move with the loops around are taken relative to those.

    outer: of the schedule's dimensions that stand outside, how many the windows may move with. Flags of the bands that
    change are lost.
    """
    if node.get_type() == _TYPE.band and not node.get_domain().is_empty():
        for member in range(node.band_n_member()):
            base = _base(node, member, outer)
            if base is not None:
                node = _relative(node, member, base)
    for position in range(node.n_children()):
        node = settled(node.child(position), outer).parent()
    return node


def _dates(node: isl.ScheduleNode, members: int) -> isl.UnionMap:
    """The instances' values in all that stands outside of a band, and in its first members."""
    partial = node.band_get_partial_schedule()
    found = node.get_prefix_schedule_union_map().intersect_domain(node.get_domain())
    for k in range(members):
        found = found.flat_range_product(isl.UnionMap.from_union_pw_aff(partial.get_at(k)))
    return found


def _base(node: isl.ScheduleNode, member: int, outer: int) -> isl.Aff | None:
    """The function of the outer dimensions that a member of a band moves with, over its dates; None if it needs none,
    or none leaves it few values."""
    dates = isl.Set.from_union_set(_dates(node, member + 1).range())
    place = int(dates.dim(SET)) - 1
    reach = span(dates, place)
    if reach is not None and reach <= FEW_POINTS:
        return None
    dates = dates.project_out(SET, outer, place - outer)
    for bound in _bounds(dates.simple_hull().remove_divs(), outer):
        shift = isl.Aff.var_on_domain(isl.LocalSpace.from_space(dates.get_space()), isl.dim_type.set, outer).sub(bound)
        rest = isl.Map.from_aff(shift).intersect_domain(dates).range()
        reach = span(rest, 0)
        if reach is not None and reach <= MOST_INSTANCES:
            return bound
    return None


def _bounds(hull: isl.BasicSet, place: int) -> Iterator[isl.Aff]:
    """What bounds a dimension from below or above and moves with the outer dimensions alone, without its constant."""
    for constraint in hull.get_constraints():
        factor = constraint.get_coefficient_val(isl.dim_type.set, place)
        if not (factor.is_one() or factor.is_negone()):
            continue
        aff = constraint.get_aff()
        parameters = int(aff.dim(isl.dim_type.param))
        if aff.dim(isl.dim_type.div) or aff.involves_dims(isl.dim_type.param, 0, parameters):
            continue
        if not aff.involves_dims(isl.dim_type.in_, 0, place):
            continue
        rest = aff.set_coefficient_val(isl.dim_type.in_, place, isl.Val(0)).set_constant_val(isl.Val(0))
        yield rest.neg() if factor.is_one() else rest


def _relative(node: isl.ScheduleNode, member: int, base: isl.Aff) -> isl.ScheduleNode:
    """The band with a member less a function of the first dates around."""
    partial = node.band_get_partial_schedule()
    around = node.get_prefix_schedule_multi_union_pw_aff()
    members = [partial.get_at(k) for k in range(node.band_n_member())]
    for k in range(int(base.dim(isl.dim_type.in_)) - 1):
        factor = base.get_coefficient_val(isl.dim_type.in_, k)
        if not factor.is_zero():
            members[member] = members[member].sub(around.get_at(k).scale_val(factor))
    return node.delete().insert_partial_schedule(joined(members)).band_set_permutable(0)


class Borders(Struct, frozen=True, eq=False):
    """Where windows are whole. dates: of the instances, in a band and around it; everything: these dates; interior:
    those at which each statement runs whatever it runs at any."""

    dates: isl.UnionMap
    interior: isl.Set
    everything: isl.Set

    @property
    def parts(self) -> list[isl.Set]:
        """The dates of rows that have no interior, those before, in and after the interior, those that there are; none
        if nothing can be told apart like this. Rows are in convex parts: tests of them then stand around the loops."""
        if self.interior.is_equal(self.everything):
            return []  # in one piece or several
        last = int(self.interior.dim(SET)) - 1
        found: list[isl.Set] = []
        inside, late, early = self.everything, self.everything, self.everything
        for constraint in self.interior.get_basic_sets()[0].get_constraints():
            factor = constraint.get_coefficient_val(SET, last)
            half = isl.Set.from_basic_set(isl.BasicSet.from_constraint(constraint))
            if factor.is_zero():
                found.append(inside.subtract(half))
                inside = inside.intersect(half)
            elif constraint.is_equality():
                return []
            elif factor.is_pos():
                late = late.intersect(half)
            else:
                early = early.intersect(half)
        found += [inside.subtract(late), self.interior, inside.intersect(late).subtract(early)]
        return [part.coalesce() for part in found if not part.is_empty()]


def borders(node: isl.ScheduleNode) -> Borders | None:
    """Of a band around straight code; None if there is no interior that loops can run through: where all statements
    run, if there is such a place; else where each runs whatever it runs at any."""
    dates = _dates(node, node.band_n_member())
    everything = isl.Set.from_union_set(dates.range()).coalesce()
    own = {str(part.get_tuple_name()): _range(dates, part) for part in sets_of(node.get_domain())}
    parts = [part for leaf in leaf_parts(node.child(0)) or [] for part in sets_of(leaf)]
    for whole in (dict.fromkeys(own, everything), own):
        lacking = isl.Set.empty(everything.get_space())
        for part in parts:
            lacking = lacking.union(whole[str(part.get_tuple_name())].subtract(_range(dates, part)))
        if lacking.is_empty():
            return Borders(dates, everything, everything)
        interior = everything.subtract(lacking).coalesce()
        if not interior.is_empty() and _is_plain(interior):
            return Borders(dates, interior, everything)
    return None


def _is_plain(dates: isl.Set) -> bool:
    """Whether they are one piece, without steps."""
    pieces = dates.get_basic_sets()
    return len(pieces) == 1 and not pieces[0].dim(isl.dim_type.div)


def _range(dates: isl.UnionMap, part: isl.Set) -> isl.Set:
    return isl.Set.from_union_set(dates.intersect_domain(isl.UnionSet.from_set(part)).range())


def split_at_borders(node: isl.ScheduleNode, straight: isl.ScheduleNode, found: Borders) -> isl.ScheduleNode:
    """The band with its last loop in copies for the parts of its dates that are there: straight code in the interior,
    loops elsewhere."""
    parts = found.parts
    if len(parts) <= 1 or not any(part.is_equal(found.interior) for part in parts):
        return straight
    sets = [found.dates.intersect_range(isl.UnionSet.from_set(part)).domain() for part in parts]
    at = next(k for k, part in enumerate(parts) if part.is_equal(found.interior))
    members = node.band_n_member()
    inner = node.band_split(members - 1).child(0) if members > 1 else node
    inner = inner.insert_sequence(filters_of(sets))
    inner = straightened(inner.child(at).child(0).child(0)).parent().parent().parent()
    return inner.parent() if members > 1 else inner
