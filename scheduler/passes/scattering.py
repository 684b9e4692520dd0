"""Windows that are scattered: each iteration of a loop adds to the few cells of a window that moves on by less than it
is long, ``for x: for k < 3: y[2 * x + k] += a[x] * w[k]`` (transposed convolutions, products of polynomials).

Neighbours share cells, so that the loop over x carries sums, and the one over k is short. With j = x + ⌊k / 2⌋, all
that is added to the cells 2 j and 2 j + 1 belongs to one iteration of j: straight code for the values of k, those first
whose x comes first. The loop over j carries nothing, and goes inside of all others. (Feautrier, "Some efficient
solutions to the affine scheduling problem", part I, 1992, on dates with quotients.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Access, Statement
from scopt.poly.bands import active, distances, with_properties_below, zero
from scopt.poly.isl_utils import SET, joined, sets_of
from scopt.poly.linear import subscript_rows
from scopt.poly.restructure import filters_of
from scopt.poly.set_pieces import coordinate
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.locality.strides import linear_schedule, strides
from scopt.scheduler.passes.summing import bands_down

_BAND = isl.schedule_node_type.band
# Iterations of the loop from which on vectors pay.
_LONG = 16
# Cells of a window at most.
_FEW = 9


class _Window(Struct, frozen=True):
    """Of a statement: the iterator that moves a window of cells, by how much, and the one that walks through it, from
    first to last."""

    moving: int
    step: int
    inside: int
    first: int
    last: int

    def later(self, value: int) -> int:
        """How many windows later a cell is the first of a step, for a place in the window."""
        return (value - self.first) // self.step


def gather_windows(setting: Setting, tree: isl.Schedule) -> isl.Schedule:
    """The tree with such windows gathered, where that makes a vector loop. Flags of the result have to be recomputed;
    without any, it is the tree itself."""

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _BAND and (chain := bands_down(node)) is not None:
            return _gathered(setting, node, chain) or node
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    made = descend(tree.get_root()).get_schedule()
    return tree if made.plain_is_equal(tree) else made


def _gathered(setting: Setting, node: isl.ScheduleNode, chain: Sequence[isl.ScheduleNode]) -> isl.ScheduleNode | None:
    """The bands of one statement with the window's loop innermost; None where it has none, or that gains nothing."""
    names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
    if len(names) != 1 or _shares_memory(setting, node):
        return None
    statement = setting.scop.statement(names[0])
    window, rows = _window(statement), [linear_schedule(setting.scop, band).members.get(names[0]) for band in chain]
    if window is None or None in rows:
        return None
    moves = [row[window.moving] or row[window.inside] for members in rows for row in members or ()]
    trips = Work.of(setting.scop, setting.options.machine, node).trips
    alone = [k for k, row in enumerate(row for members in rows for row in members or ()) if row[window.moving]]
    if max((trips[k] for k in alone), default=0) < _LONG:
        return None
    made = _rebuilt(setting, node, chain, [not move for move in moves], window)
    return made if _is_better(setting, node, made) else None


def _shares_memory(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether iterations need private copies, which would be mixed."""
    tables = (setting.dependences.ranges, setting.dependences.reuse)
    return any(not active(pairs, node).is_empty() for table in tables for pairs in table.values())


def _window(statement: Statement) -> _Window | None:
    """The window of the only cell that a statement updates: along its last subscript, with nothing else that moves."""
    writes: list[Access] = [access for access in statement.accesses if access.is_write]
    if len(writes) != 1 or writes[0].kind != "write" or not isinstance(writes[0].node, ir.ArrayRef):
        return None
    rows = subscript_rows(writes[0].relation)
    moving = [k for k, value in enumerate(rows[-1]) if value] if rows is not None else []
    if rows is None or len(moving) != 2 or any(row[k] for row in rows[:-1] for k in moving):
        return None
    for inside, other in (moving, moving[::-1]):
        step, least, most = rows[-1][other], *(end(inside) for end in _ends(statement.domain))
        if rows[-1][inside] != 1 or step.denominator != 1 or step < 1 or not (least.is_int() and most.is_int()):
            continue
        first, last = int(least.to_python()), int(most.to_python())
        if step <= last - first < _FEW:  # else windows have no cells in common, or straight code is long
            return _Window(other, int(step), inside, first, last)
    return None


def _ends(domain: isl.Set) -> tuple[Callable[[int], isl.Val], Callable[[int], isl.Val]]:
    """The least and the greatest value of a dimension."""
    return domain.dim_min_val, domain.dim_max_val


def _rebuilt(
    setting: Setting, node: isl.ScheduleNode, chain: Sequence[isl.ScheduleNode], kept: Sequence[bool], window: _Window
) -> isl.ScheduleNode:
    """The bands without what the window's two loops move, and inside of them the one over where its cells begin, in
    parts where the same values of the other loop are there. Loops that carry nothing go outside of all others, where
    threads share them once. kept: of the bands' members, those that stay."""
    pairs, stays = active(setting.dependences.must, node), iter(kept)
    bands, free = list[tuple[list[isl.UnionPwAff], int]](), list[isl.UnionPwAff]()
    for band in chain:
        members = [band.band_get_partial_schedule().get_at(k) for k in range(int(band.band_n_member()))]
        ordered = list[isl.UnionPwAff]()
        for member in members:
            if next(stays):
                (free if zero(distances(pairs, member)) else ordered).append(member)
        bands.append((ordered, int(bool(band.band_get_permutable()))))
    (domain,) = sets_of(node.get_domain())
    parts, begins = list[isl.UnionSet](), isl.UnionPwAff("{ }")
    values = range(window.first, window.last + 1)
    for value in sorted(values, key=lambda one: (-window.later(one), one)):
        part = domain.fix_val(SET, window.inside, isl.Val(value))
        if part.is_empty():
            continue
        parts.append(isl.UnionSet.from_set(part))
        later = isl.UnionPwAff.val_on_domain(parts[-1], isl.Val(window.later(value)))
        begins = begins.union_add(coordinate(part, window.moving).add(later))
    node = node.cut().insert_sequence(filters_of(parts)).insert_partial_schedule(joined([begins]))
    for members, flag in (*reversed(bands), (free, 1)):
        if members:
            node = node.insert_partial_schedule(joined(members)).band_set_permutable(flag)
    return node


def _is_better(setting: Setting, node: isl.ScheduleNode, made: isl.ScheduleNode) -> bool:
    """Whether the new order is legal, and its innermost loop is one for vectors."""
    dates = made.get_subtree_schedule_union_map()
    ordered = active(setting.dependences.must, node).apply_domain(dates).apply_range(dates)
    if not dates.is_injective():
        return False
    forward = isl.Map.lex_lt(isl.Set.from_union_set(dates.range()).get_space())
    if not ordered.is_subset(isl.UnionMap.from_map(forward)):
        return False
    inner = with_properties_below(setting.scop, setting.dependences, made)
    while inner.child(0).get_type() == _BAND:
        inner = inner.child(0)
    if inner.band_n_member() > 1 or not inner.band_member_get_coincident(0):
        return False
    return strides(setting.scop, linear_schedule(setting.scop, inner), 0).contiguous
