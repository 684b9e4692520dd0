"""Strongly connected components of a small graph, in a topological order that keeps the given one where it is free."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def ordered_components(successors: Sequence[Collection[int]]) -> list[list[int]]:
    """The components of the graph over 0 … len-1, each sorted; of several that could come next, the one with the
    smallest member does."""
    count = len(successors)
    reach = [_reachable(successors, start) for start in range(count)]
    parts: list[list[int]] = []
    home: dict[int, int] = {}
    for member in range(count):
        known = next(
            (home[other] for other in range(member) if other in reach[member] and member in reach[other]), None
        )
        if known is None:
            home[member] = len(parts)
            parts.append([member])
        else:
            home[member] = known
            parts[known].append(member)
    waiting: dict[int, set[int]] = {k: set() for k in range(len(parts))}
    for source, sinks in enumerate(successors):
        for sink in sinks:
            if home[sink] != home[source]:
                waiting[home[sink]].add(home[source])
    ordered: list[list[int]] = []
    while waiting:
        free = min((k for k, before in waiting.items() if not before & waiting.keys()), key=lambda k: parts[k][0])
        ordered.append(parts[free])
        del waiting[free]
    return ordered


def _reachable(successors: Sequence[Collection[int]], start: int) -> set[int]:
    found: set[int] = set()
    stack = list(successors[start])
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(successors[node])
    return found
