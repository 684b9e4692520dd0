"""Contractions inside of a tiled band: their reduction loop lies below it, beside other statements.

``for i { for j { S; for k T } }`` with a permutable band (i, j): what T does to the cells of a tile is a contraction of
its own wherever it reads nothing that the tile writes. That part runs in register tiles, before or after all the rest
of the tile.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import Contraction, RegisterTiling
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.bands import Ordered, distances, nonnegative, zero
from scopt.poly.isl_utils import SET, joined, sets_of
from scopt.poly.linear import Vector
from scopt.poly.set_pieces import coordinate
from scopt.scheduler.decisions.contractions import contraction_by, inside, pure_part, shape_of
from scopt.scheduler.decisions.register_tiles import band_tile, tiling_within, wanted
from scopt.scheduler.locality.strides import linear_schedule
from scopt.scheduler.locality.tiling import origin


class Inner(Struct, frozen=True, eq=False):
    """A contraction below a band.

    members: of a band of its own over its instances, which `contraction.members` point into: ascending iterators, up to
    a constant, such that tiles of the band around it begin at multiples of their size.
    """

    contraction: Contraction
    members: tuple[isl.UnionPwAff, ...]


class InnerPart(Struct, frozen=True, eq=False):
    """The part of a tile that runs in register tiles. instances: which. first: before all others, or after them.
    members: of the band over them."""

    tiling: RegisterTiling
    instances: isl.UnionSet
    first: bool
    members: tuple[isl.UnionPwAff, ...]


def inner_contraction(scop: Scop, node: isl.ScheduleNode, options: Options) -> Inner | None:
    """The contraction among the statements below a band with bands below, if there is just one."""
    if not wanted(options):
        return None
    found = [
        inner
        for name, rows in linear_schedule(scop, node).members.items()
        if (inner := _inner(scop, node, name, rows)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _inner(scop: Scop, node: isl.ScheduleNode, name: str, rows: Sequence[Vector]) -> Inner | None:
    statement = scop.statement(name)
    roles = shape_of(scop, statement)
    found = [_single(row) for row in rows]
    moved = [k for k in found if k is not None]
    if roles is None or len(set(moved)) < len(found):
        return None
    if not {roles[0], roles[1]} <= set(moved) or roles[2] in moved:
        return None
    instances = isl.UnionSet.from_set(statement.domain).intersect(node.get_domain())
    members = [
        _ascending(node.band_get_partial_schedule().get_at(k).intersect_domain(instances), rows[k])
        for k in range(len(rows))
    ]
    members += [coordinate(part, roles[2]) for part in sets_of(instances)]
    around = node.get_prefix_schedule_union_map().intersect_domain(instances)
    if not around.flat_range_product(isl.UnionMap.from_multi_union_pw_aff(joined(members))).is_injective():
        return None
    contraction = contraction_by(scop, statement, [*moved, roles[2]])
    if contraction is None or (contraction.row, contraction.column, contraction.reduction) != roles:
        return None
    return Inner(contraction, tuple(members))


def _single(row: Vector) -> int | None:
    """The iterator that a member moves with, step by step; None if there are several."""
    moving = [k for k, value in enumerate(row) if value]
    return moving[0] if len(moving) == 1 and abs(row[moving[0]]) == 1 else None


def _ascending(member: isl.UnionPwAff, row: Vector) -> isl.UnionPwAff:
    """A member as it is, or turned round: its tiles of any size, from one multiple of that to the next, stay tiles."""
    if sum(row) > 0:
        return member
    return member.neg().sub(isl.UnionPwAff.val_on_domain(member.domain(), isl.Val.one(member.get_ctx())))


def inner_part(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, inner: Inner, options: Options
) -> InnerPart | None:
    """The part of a tile's instances that register tiles can run; None if there is none. node: the band over the points
    of a tile."""
    contraction, size = inner.contraction, band_tile(inner.contraction, options)
    row, column, _ = contraction.members
    among = _whole_steps(inner, node.get_domain(), size)
    shape = joined([origin(member, size) if k in (row, column) else member for k, member in enumerate(inner.members)])
    for first in (True, False):
        pure = pure_part(scop, dependences, node, contraction, shape, first=first, among=among)
        if pure.is_empty():
            continue
        members = tuple(member.intersect_domain(pure) for member in inner.members)
        pairs = inside(scop, dependences, node, contraction, pure)
        moves = [distances(pairs, member) for member in members]
        if all(nonnegative(move) for move in moves):
            tiling = tiling_within(node, contraction, options, members, pure, simd=zero(moves[column]))
            return InnerPart(tiling, pure, first, members)
    return None


def _whole_steps(inner: Inner, domain: isl.UnionSet, size: int) -> isl.UnionSet:
    """The contraction's instances in steps that the domain has for all cells of a tile: none of its bounds cuts a tile
    differently in each step."""
    contraction = inner.contraction
    (instances,) = (part for part in sets_of(domain) if part.get_tuple_name() == contraction.statements[0])
    result = instances
    for piece in instances.get_basic_sets() if instances.n_basic_set() == 1 else ():
        for constraint in piece.get_constraints():
            if constraint.is_equality() or not constraint.involves_dims(SET, contraction.reduction, 1):
                continue
            bound = constraint.get_aff()
            for iterator, member in zip((contraction.row, contraction.column), contraction.members[:2], strict=True):
                factor = constraint.get_coefficient_val(SET, iterator)
                bound = bound.sub(_from_end(inner.members[member], size, last=factor.is_neg()).scale_val(factor))
            result = result.intersect(
                isl.Set.from_basic_set(bound.ge_basic_set(isl.Aff.zero_on_domain(bound.get_domain_local_space())))
            )
    return isl.UnionSet.from_set(result)


def _from_end(member: isl.UnionPwAff, size: int, *, last: bool) -> isl.Aff:
    """How far a member is from the first value of its tile, or from the last one."""
    ((_, aff),) = member.sub(origin(member, size)).get_pw_aff_list().get_at(0).get_pieces()
    return aff.add_constant_val(isl.Val(1 - size)) if last else aff
