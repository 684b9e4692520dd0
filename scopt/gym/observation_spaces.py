"""Observations as gymnasium's spaces: the graph padded into arrays of a Dict, or a Graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Graph, GraphInstance, MultiBinary
from msgspec import Struct

from scopt.diagnostics import InputError
from scopt.gym.observation import EDGE_WIDTH, GLOBAL_WIDTH, NODE_WIDTH, Features
from scopt.scheduler.space.space_problem import SpaceProblem

ObservationKind = Literal["dict", "graph"]
# Sizes of padded arrays that nobody chose are rounded up to a multiple of these.
NODE_STEP, EDGE_STEP = 8, 32


class Encoder(Protocol):
    """A space, and how features become one of its elements."""

    @property
    def space(self) -> Space[Any]: ...

    def encode(self, features: Features) -> Any: ...


class DictEncoder(Struct, frozen=True):
    """Padded arrays. node_features, edge_features: float32, zero beyond the graph; node_mask, edge_mask: 1 for what is
    of the graph.

    edge_index: row 0 the sources, row 1 the sinks, as positions of nodes. global_features: of the state as a whole.
    """

    nodes: int
    edges: int

    @property
    def space(self) -> Space[Any]:
        return Dict(
            {
                "node_features": _features(self.nodes, NODE_WIDTH),
                "node_mask": MultiBinary(self.nodes),
                "edge_index": Box(0, self.nodes - 1, (2, self.edges), np.int64),
                "edge_features": _features(self.edges, EDGE_WIDTH),
                "edge_mask": MultiBinary(self.edges),
                "global_features": _features(GLOBAL_WIDTH),
            }
        )

    def encode(self, features: Features) -> dict[str, Any]:
        """Raises InputError if the graph is larger than the arrays."""
        nodes, edges = len(features.nodes), len(features.edges)
        if nodes > self.nodes or edges > self.edges:
            raise InputError(
                f"scopt: error: {nodes} statements and {edges} dependences in observations of "
                f"{self.nodes} and {self.edges}; make the environment with larger max_nodes and max_edges"
            )
        index = np.zeros((2, self.edges), dtype=np.int64)
        index[:, :edges] = features.links.T
        return {
            "node_features": _padded(features.nodes, self.nodes),
            "node_mask": (np.arange(self.nodes) < nodes).astype(np.int8),
            "edge_index": index,
            "edge_features": _padded(features.edges, self.edges),
            "edge_mask": (np.arange(self.edges) < edges).astype(np.int8),
            "global_features": features.globals,
        }


class GraphEncoder(Struct, frozen=True):
    """gymnasium's Graph: no padding. The global features stand behind the features of every node."""

    @property
    def space(self) -> Space[Any]:
        return Graph(_features(NODE_WIDTH + GLOBAL_WIDTH), _features(EDGE_WIDTH))

    def encode(self, features: Features) -> GraphInstance:
        everywhere = np.broadcast_to(features.globals, (len(features.nodes), GLOBAL_WIDTH))
        nodes = np.concatenate([features.nodes, everywhere], axis=1)
        if not len(features.edges):
            return GraphInstance(nodes, None, None)
        return GraphInstance(nodes, features.edges, features.links.copy())


def encoder(
    kind: ObservationKind, max_nodes: int | None, max_edges: int | None, problems: Sequence[SpaceProblem]
) -> Encoder:
    """The encoder of that kind. Sizes that aren't given are those of the largest of the problems, rounded up."""
    if kind == "graph":
        return GraphEncoder()
    if kind != "dict":
        raise InputError(f"scopt: error: observation '{kind}': it is 'dict' or 'graph'")
    nodes = max_nodes or _rounded(max(len(problem.statements) for problem in problems), NODE_STEP)
    edges = max_edges or _rounded(max(len(problem.dependences) for problem in problems), EDGE_STEP)
    return DictEncoder(nodes, edges)


def _rounded(value: int, step: int) -> int:
    return max(-(-value // step), 1) * step


def _features(*shape: int) -> Box:
    return Box(-1.0, 1.0, shape, np.float32)


def _padded(values: Any, length: int) -> Any:
    found = np.zeros((length, values.shape[1]), dtype=np.float32)
    found[: len(values)] = values
    return found
