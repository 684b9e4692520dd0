"""Proximity: a bound u·p + w on all reuse distances, as small as possible.

Source: Bondhugula et al., "A practical automatic polyhedral parallelizer and locality optimizer" (2008); constraint
  injection paper, equation (2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from scopt.poly.ilp import Terms
from scopt.poly.row_choice import LinearRow
from scopt.scheduler.constraints.scheduling_problem import Draft, Edge

# pluto: minimize u₀, u₁, …, w one after the other; isl: the sum of all u, then w.
ProximityForm = Literal["pluto", "isl"]


def bounded(
    draft: Draft,
    edges: Iterable[Edge],
    parameters: tuple[str, ...],
    form: ProximityForm,
    *,
    zero: bool = False,
    falling: bool = False,
) -> None:
    """u·p + w >= sink's date - source's date for all pairs; (u, w) minimal. u >= 0 and w >= 0. zero: u = 0 and w = 0.
    falling: u may be negative, for distances that grow without end where a parameter falls, as those of a loop from it
    up to another one.

    Two statements may reuse a cell in either order where the edge is an input dependence: bound both signs.
    """
    edges = tuple(edges)
    slopes = [draft.column(f"u[{name}]", None if falling else 0, 0 if zero else None) for name in parameters]
    offset = draft.column("w", 0, 0 if zero else None)
    for edge in edges:
        for sign in (-1, 1) if edge.dependence.kind == "input" else (-1,):
            found = _bounding(edge, draft.delays(edge), sign, (*slopes, offset))
            draft.add_known(("bounded", edge.ends, sign, offset), found)
    slopes = [draft.magnitude(column) for column in slopes]
    if form == "pluto":
        for column in slopes:
            draft.minimize({column: 1})
    elif slopes:
        draft.minimize({column: 1 for column in slopes})
    draft.minimize({offset: 1})


def _bounding(edge: Edge, delays: tuple[Terms, ...], sign: int, bound: tuple[int, ...]) -> Iterator[LinearRow]:
    """The rows of an edge's generators. bound: the columns of u and w, which are the last ones."""
    for point, delay in zip(edge.points, delays, strict=True):
        ends = [entry for entry in zip(bound, (*point.parameters, point.weight), strict=True) if entry[1]]
        yield LinearRow((*[(column, sign * factor) for column, factor in delay], *ends), 0, point.line)
