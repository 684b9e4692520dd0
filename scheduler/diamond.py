"""Diamond tiling: hyperplanes for tiles that can all start at once, for bands whose dependences all advance along the first member.

Source: Bandishti, Pananilath and Bondhugula, "Tiling stencil computations to maximize parallelism" (2012): tiles start concurrently along the face
f if f lies strictly inside of the cone of the tiles' hyperplanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scopt.isl_utils import joined
from scopt.model import Scop
from scopt.scheduler.assemble import loop_member
from scopt.scheduler.base import TileShape
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.proximity import bounded
from scopt.scheduler.constraints.validity import weakly
from scopt.scheduler.construct import Dimension
from scopt.scheduler.ilp import lexmin
from scopt.scheduler.problem import Bounds, Draft, Edge, Rows, StatementSpace, Step, with_parameters

# Largest factors of the face and of the first hyperplane in the second one.
FACTORS = 16


def tile_shapes(
    scop: Scop, spaces: Mapping[str, StatementSpace], edges: Sequence[Edge], dimensions: Sequence[Dimension]
) -> tuple[TileShape, ...]:
    """The shapes of all outermost bands that can have one: two hyperplanes each, h₁ a member of the band and h₂ = λ·f - c·h₁ with its first member f.

    Where the dependences allow no such pair, the points are interleaved.
    """
    shapes = []
    for statements, rows in _outermost_bands(spaces, dimensions):
        inside = [edge for edge in edges if edge.source in statements and edge.sink in statements]
        width = next((k for k, row in enumerate(rows) if not all(edge.weakly_satisfied(row) for edge in inside)), len(rows))
        if width < 2 or any(all(edge.coincident(row) for edge in inside) for row in rows[:width]):
            continue
        pair = concurrent_start(spaces, statements, inside, rows[:width])
        if pair is None:
            shapes.append(TileShape(frozenset(statements), interleave=True))
            continue
        domains = {name: with_parameters(scop.statement(name).domain, spaces[name].parameters) for name in statements}
        shapes.append(TileShape(frozenset(statements), joined([loop_member(row, domains, spaces) for row in pair])))
    return tuple(shapes)


def _outermost_bands(spaces: Mapping[str, StatementSpace], dimensions: Sequence[Dimension]) -> list[tuple[tuple[str, ...], list[Rows]]]:
    """The statements that share their first loops, and these loops' rows, up to the next cut."""
    found: list[tuple[tuple[str, ...], list[Rows]]] = []

    def visit(statements: tuple[str, ...], depth: int) -> None:
        rows: list[Rows] = []
        for dimension in dimensions[depth:]:
            kinds = {dimension.kinds[name] for name in statements}
            if kinds == {"scalar"}:
                if rows:
                    break
                parts: dict[int, list[str]] = {}
                for name in statements:
                    parts.setdefault(dimension.rows[name][-1], []).append(name)
                for place in sorted(parts):
                    visit(tuple(parts[place]), depth + 1)
                return
            depth += 1
            if kinds != {"none"}:
                rows.append({name: dimension.rows[name] for name in statements})
        if rows:
            found.append((statements, rows))

    visit(tuple(spaces), 0)
    return found


def concurrent_start(
    spaces: Mapping[str, StatementSpace], statements: tuple[str, ...], edges: Sequence[Edge], rows: Sequence[Rows]
) -> tuple[Rows, Rows] | None:
    """The hyperplanes (h₁, h₂) for a permutable band; None if the face of its first member is on the border of every cone.

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
            terms = {draft.coefficient(name, position): -1, along: face[name][position], against: -first[name][position]}
            draft.require(terms, equality=True)
    weakly(draft, edges)
    bounded(draft, edges, spaces[statements[0]].parameters, "isl")
    small(draft, Step(spaces, statements, tuple(edges), tuple(edges)))
    point = lexmin(draft.program())
    return None if point is None else draft.solution(point)
