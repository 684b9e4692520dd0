"""Cuts between strongly connected components of the dependence graph: which statements share loops.

Source: Bondhugula et al., "A model for fusion and code motion in an automatic parallelizing compiler" (2010), for the
policies' names; typed fusion: Kennedy and McKinley, "Typed fusion with applications to parallel and sequential code
generation" (1993).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from scopt.poly.components import ordered_components
from scopt.scheduler.constraints.scheduling_problem import Edge, StatementSpace

FusionPolicy = Literal["max", "smart", "no", "typed"]
Part = tuple[str, ...]


class Trial(Struct, frozen=True):
    """What one loop around some statements could be. possible: some dimension satisfies all dependences. parallel: one
    carries none of them."""

    possible: Callable[[Part], bool]
    parallel: Callable[[Part], bool]


def components(statements: Sequence[str], edges: Iterable[Edge], tied: Iterable[set[str]] = ()) -> list[Part]:
    """Weakly connected components, in textual order; `tied` statements are connected too."""
    home = {name: name for name in statements}

    def root(name: str) -> str:
        while home[name] != name:
            home[name] = home[home[name]]
            name = home[name]
        return name

    for edge in edges:
        home[root(edge.source)] = root(edge.sink)
    for group in tied:
        first, *rest = sorted(group)
        for other in rest:
            home[root(other)] = root(first)
    parts: dict[str, list[str]] = {}
    for name in statements:
        parts.setdefault(root(name), []).append(name)
    return [tuple(part) for part in parts.values()]


def strongly_connected(
    statements: Sequence[str], edges: Iterable[Edge], bonds: Iterable[tuple[str, str]] = ()
) -> list[Part]:
    """Strongly connected components in a topological order, the textually first one where there is a choice.

    statements: in textual order. bonds: pairs of statements that belong into one component whatever the edges say.
    """
    place = {name: k for k, name in enumerate(statements)}
    successors: list[set[int]] = [set() for _ in statements]
    for edge in edges:
        successors[place[edge.source]].add(place[edge.sink])
    for first, second in bonds:
        if first in place and second in place:
            successors[place[first]].add(place[second])
            successors[place[second]].add(place[first])
    return [tuple(statements[k] for k in part) for part in ordered_components(successors)]


def at_start(
    policy: FusionPolicy,
    parts: Sequence[Part],
    edges: Sequence[Edge],
    spaces: Mapping[str, StatementSpace],
    trial: Trial,
) -> list[Part]:
    """The groups of statements that a new band is begun for; one group means no cut. parts: the SCCs in topological
    order.

    no: every SCC alone. max: all together. smart: neighbours of the same depth together. typed: neighbours that depend
    on each other, as long as parallel loops stay parallel, and sequential ones among themselves.
    """
    if policy == "max" or len(parts) < 2:
        return [_joined(parts)]
    if policy == "no":
        return list(parts)
    if policy == "smart":
        return _by_depth(parts, spaces)
    groups = [parts[0]]
    types = [trial.parallel(parts[0])]
    for part in parts[1:]:
        together, own = (*groups[-1], *part), trial.parallel(part)
        alike = own == types[-1] and _related(groups[-1], part, edges)
        if alike and (trial.parallel(together) if own else trial.possible(together)):
            groups[-1] = together
        else:
            groups.append(part)
            types.append(own)
    return groups


def when_stuck(
    policy: FusionPolicy, parts: Sequence[Part], spaces: Mapping[str, StatementSpace], trial: Trial
) -> list[Part]:
    """The groups where all parts together have no further dimension: at least two, if there are two SCCs.

    max: as many leading SCCs together as have a common dimension, then again. Others: by depth if that cuts at all,
      else every SCC alone.
    """
    if policy == "max":
        groups: list[Part] = []
        left = list(parts)
        while left:
            # With more parts there are only more constraints: the longest prefix that works is found by bisection.
            length = (
                bisect_left(range(2, len(left) + 1), True, key=lambda count: not trial.possible(_joined(left[:count])))
                + 1
            )
            groups.append(_joined(left[:length]))
            left = left[length:]
        return groups if len(groups) > 1 else list(parts)
    by_depth = _by_depth(parts, spaces) if policy == "smart" else []
    return by_depth if len(by_depth) > 1 else list(parts)


def _by_depth(parts: Sequence[Part], spaces: Mapping[str, StatementSpace]) -> list[Part]:
    groups: list[Part] = []
    depths: list[int] = []
    for part in parts:
        depth = max(spaces[name].depth for name in part)
        if depths and depths[-1] == depth:
            groups[-1] = (*groups[-1], *part)
        else:
            groups.append(part)
            depths.append(depth)
    return groups


def _joined(parts: Sequence[Part]) -> Part:
    return tuple(name for part in parts for name in part)


def _related(first: Part, second: Part, edges: Iterable[Edge]) -> bool:
    return any((e.source in first and e.sink in second) or (e.source in second and e.sink in first) for e in edges)
