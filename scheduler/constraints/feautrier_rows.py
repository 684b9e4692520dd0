"""Feautrier's dimension: carry as many dependences as possible, then finish as early as possible.

Source: Feautrier, "Some efficient solutions to the affine scheduling problem", part I (latency) and part II (greedy
choice), 1992; compilation notes, "Farkas' lemma" and "Multi-dimensional schedules".
"""

from __future__ import annotations

from collections.abc import Iterable

from scopt.scheduler.constraints.scheduling_problem import Draft, Edge, Step


def carrying(draft: Draft, edges: Iterable[Edge], divisor: int = 1, least: int | None = None) -> None:
    """delay >= divisor·e for each edge with 0 <= e <= 1; as many e as possible are 1, or at least so many.

    Rounded down, the rows divided by the divisor carry these edges too: dates that are 1 or more apart stay so, and
    floors keep the order.
    """
    chosen = []
    for edge in edges:
        if edge.is_empty:
            continue
        carried = draft.column(f"e[{edge.number}]", 0, 1)
        chosen.append(carried)
        for point in edge.points:
            terms = draft.delay(edge, point)
            if point.weight:
                terms[carried] = -point.weight * divisor
            draft.require(terms, equality=point.line)
    if least is None:
        draft.minimize({column: -1 for column in chosen})
    else:
        draft.require({column: 1 for column in chosen}, -least)


def early(draft: Draft, step: Step, parameters: tuple[str, ...], factor: int = 1) -> tuple[tuple[int, ...], int]:
    """0 <= factor·date <= L(p) = l·p + w on all domains; l minimal (its sum), then w. Returns their columns (l, w).

    factor: how many units of L a step of time has: with more than one, fractions of l tell latencies apart.
    """
    slopes = tuple(draft.column(f"l[{name}]") for name in parameters)
    offset = draft.column("w")
    for statement in step.statements:
        space = step.spaces[statement]
        for ray in space.domain:
            date = {draft.coefficient(statement, k): value for k, value in enumerate(ray) if value}
            draft.require(date)
            latency = {column: -factor * value for column, value in date.items()}
            for column, value in zip(slopes, ray[space.depth : -1], strict=True):
                latency[column] = value
            latency[offset] = ray[-1]
            draft.require(latency)
    if slopes:
        draft.minimize({column: 1 for column in slopes})
    draft.minimize({offset: 1})
    return slopes, offset
