"""Validity: no dependence goes backwards (weakly satisfied), or every one goes forwards (strongly satisfied).

Source: Feautrier, "Some efficient solutions to the affine scheduling problem" (1992); constraint injection paper,
equation (1). The rows come from generators instead of Farkas multipliers: delay >= 0 at every vertex and along every
ray.
"""

from __future__ import annotations

from collections.abc import Iterable

from scopt.poly.row_choice import LinearRow
from scopt.scheduler.constraints.scheduling_problem import Draft, Edge


def weakly(draft: Draft, edges: Iterable[Edge]) -> None:
    """Sink's date >= source's date, for all pairs."""
    for edge in edges:
        delays = zip(edge.points, draft.delays(edge), strict=True)
        draft.add_known(("weakly", edge.ends), (LinearRow(delay, 0, point.line) for point, delay in delays))


def strongly(draft: Draft, edges: Iterable[Edge]) -> None:
    """Sink's date >= source's date + 1, for all pairs.

    For schedule spaces in which a dimension carries a chosen set of dependences. The strategies choose no such set:
    `feautrier.carrying` lets the program decide which ones are strongly satisfied.
    """
    for edge in edges:
        for point, delay in zip(edge.points, draft.delays(edge), strict=True):
            draft.add(delay, -point.weight, equality=point.line)
