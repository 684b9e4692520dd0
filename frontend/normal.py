"""A region's statements in the form that extraction takes apart: a copy, rewritten where C has several ways to say the same."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scopt.frontend.opaque import scalar_iterators


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """items: the rewritten statements. origins: by the ids of their nodes, the region's own nodes that they are copies of."""

    items: tuple[Any, ...]
    origins: Mapping[int, Any]

    def origin(self, node: Any) -> Any:
        """The region's own node that a node is a copy of; the node itself if it was made here."""
        return self.origins.get(id(node), node)


def normalized(items: Iterable[Any]) -> Normal:
    """The statements of a region, copied and rewritten."""
    given = tuple(items)
    copies = tuple(copy.deepcopy(item) for item in given)
    origins = {id(ours): theirs for ours, theirs in zip(all_nodes(copies), all_nodes(given), strict=True)}
    scalar_iterators(copies)
    return Normal(copies, origins)


def all_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes and all below them, parents first."""
    for node in nodes:
        yield node
        yield from all_nodes(child for _, child in node.children())
