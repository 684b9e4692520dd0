"""Coincidence (space-partition constraints): source and sink on the same date, so that a loop over the dimension is
parallel.

Source: Lim and Lam, "Maximizing parallelism and minimizing synchronization with affine transforms" (1997).
"""

from __future__ import annotations

from collections.abc import Iterable

from scopt.poly.row_choice import LinearRow
from scopt.scheduler.constraints.scheduling_problem import Draft, Edge


def coincident(draft: Draft, edges: Iterable[Edge]) -> None:
    """Sink's date = source's date, for all pairs."""
    for edge in edges:
        rows = (LinearRow(delay, 0, True) for delay in draft.delays(edge))
        draft.add_known(("coincident", edge.ends), rows)
