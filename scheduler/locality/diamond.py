"""Diamond tiling: hyperplanes for tiles that can all start at once, for bands whose dependences all advance along the
first member.

Source: Bandishti, Pananilath and Bondhugula, "Tiling stencil computations to maximize parallelism" (2012): tiles start
concurrently along the face f if f lies strictly inside of the cone of the tiles' hyperplanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from scopt.ir.marked_schedule import TileShape
from scopt.ir.scop import Scop
from scopt.poly.generators import Row
from scopt.poly.ilp import lexmin
from scopt.poly.isl_utils import joined, sets_of
from scopt.poly.linear import affine_row
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.edges import edges_between
from scopt.scheduler.constraints.proximity import bounded
from scopt.scheduler.constraints.scheduling_problem import (
    Bounds,
    Draft,
    Edge,
    Rows,
    StatementSpace,
    Step,
    statement_spaces,
    with_parameters,
)
from scopt.scheduler.constraints.validity import weakly
from scopt.scheduler.construct.assemble import loop_member

# Largest factors of the face and of the first hyperplane in the second one.
FACTORS = 16


def tile_shape(scop: Scop, pairs: Sequence[isl.UnionMap], node: isl.ScheduleNode) -> TileShape:
    """The shape of a permutable band's tiles: two hyperplanes, h₁ a member of the band and h₂ = λ·f - c·h₁ with its
    first member f.

    pairs: of instances that reach the node and have to stay in order. Where they allow no such hyperplanes, the points
      are interleaved.
    """
    inside = {part.get_tuple_name() for part in sets_of(node.get_domain())}
    spaces = statement_spaces(scop, [statement for statement in scop.statements if statement.name in inside])
    names = tuple(spaces)
    rows = _rows(spaces, node.band_get_partial_schedule())
    if rows is None:
        return TileShape(frozenset(names))
    pair = concurrent_start(spaces, names, edges_between(scop, pairs), rows)
    if pair is None:
        return TileShape(frozenset(names), interleave=True)
    domains = {name: with_parameters(scop.statement(name).domain, spaces[name].parameters) for name in names}
    return TileShape(frozenset(names), joined([loop_member(row, domains, spaces) for row in pair]))


def _rows(spaces: Mapping[str, StatementSpace], band: isl.MultiUnionPwAff) -> list[Rows] | None:
    """The members of a band as rows; None if some member isn't affine with integer coefficients."""
    found: list[Rows] = []
    for position in range(band.dim(isl.dim_type.out)):
        rows: dict[str, Row] = {}
        pieces: list[isl.PwAff] = []
        band.get_at(position).foreach_pw_aff(pieces.append)
        for piece in pieces:
            name = str(piece.get_space().get_tuple_name(isl.dim_type.in_))
            if name in spaces:
                row = affine_row(piece, spaces[name].parameters)
                if row is None:
                    return None
                rows[name] = row
        if len(rows) < len(spaces):
            return None
        found.append(rows)
    return found


def concurrent_start(
    spaces: Mapping[str, StatementSpace], statements: tuple[str, ...], edges: Sequence[Edge], rows: Sequence[Rows]
) -> tuple[Rows, Rows] | None:
    """The hyperplanes (h₁, h₂) for a permutable band; None if the face of its first member is on the border of every
    cone.

    h₁ is the outermost member that has such a partner: inner ones walk along cache lines.
    """
    if any(spaces[name].depth < 2 for name in statements):
        return None
    for first in rows[1:]:
        second = _partner(spaces, statements, edges, rows[0], first)
        if second is not None:
            return first, second
    return None


def _partner(
    spaces: Mapping[str, StatementSpace], statements: tuple[str, ...], edges: Sequence[Edge], face: Rows, first: Rows
) -> Rows | None:
    """h₂ = λ·f - c·h₁ (and shifts) that no dependence goes backwards in, with the least reuse distances."""
    draft = Draft(spaces, Bounds(2 * FACTORS, negative=True))
    for name in statements:
        draft.add_statement(name)
    along, against = draft.column("λ", 1, FACTORS), draft.column("c", 1, FACTORS)
    for name in statements:
        for position in range(spaces[name].depth):
            terms = {
                draft.coefficient(name, position): -1,
                along: face[name][position],
                against: -first[name][position],
            }
            draft.require(terms, equality=True)
    weakly(draft, edges)
    bounded(draft, edges, spaces[statements[0]].parameters, "isl")
    small(draft, Step(spaces, statements, tuple(edges), tuple(edges)))
    point = lexmin(draft.program())
    return None if point is None else draft.solution(point)
