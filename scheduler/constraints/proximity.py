"""Proximity: a bound u·p + w on all reuse distances, as small as possible.

Source: Bondhugula et al., "A practical automatic polyhedral parallelizer and locality optimizer" (2008); constraint
  injection paper, equation (2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

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
            for point, delay in zip(edge.points, draft.delays(edge), strict=True):
                # The new columns are the last ones.
                bound = zip((*slopes, offset), (*point.parameters, point.weight), strict=True)
                terms = *[(column, sign * factor) for column, factor in delay], *[entry for entry in bound if entry[1]]
                draft.add(terms, equality=point.line)
    slopes = [draft.magnitude(column) for column in slopes]
    if form == "pluto":
        for column in slopes:
            draft.minimize({column: 1})
    elif slopes:
        draft.minimize({column: 1 for column in slopes})
    draft.minimize({offset: 1})
