"""What an agent sees: statements and dependences as a graph, with features whose width doesn't depend on the SCoP.

A node is a statement, an edge a dependence of the set D. A policy that passes messages along the edges reads SCoPs of
any size. All features are bounded by -1 and 1: flags are 0 or 1, counts and coefficients are squashed. Iterators have
`SLOTS` places, outermost first; deeper ones are left out. What is known of the SCoP alone is computed once (`Static`);
a step adds what depends on the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import islpy as isl
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scopt.ir.scop import Dependences, Scop, Statement
from scopt.poly.linear import Vector, subscript_rows
from scopt.scheduler.space.space_problem import SpaceDependence, SpaceProblem
from scopt.simulation.static_cost import assumed_parameters

Floats = npt.NDArray[np.float32]
Exact = npt.NDArray[np.float64]

# Iterators of a statement, or loops that two statements have in common, that have features of their own.
SLOTS = 5
# Dimensions, and places in the nest, that are told apart.
DIMENSIONS = 8

STATIC_NODE_FEATURES = (
    "depth",
    *(f"extent {k}" for k in range(SLOTS)),
    "reads",
    "writes",
    *(f"{kind} stride {k}" for kind in ("unit", "zero", "other") for k in range(SLOTS)),
)
STATE_NODE_FEATURES = (
    "rank",
    *(f"scheduled {k}" for k in range(SLOTS)),
    *(f"point {k}" for k in range(SLOTS)),
    "point parameters",
    "point constant",
    *(f"generator {k}" for k in range(SLOTS)),
    "generator parameters",
    "generator constant",
    "generator touches",
    "generator adds rank",
    "point adds rank",
    "source of current",
    "sink of current",
)
STATIC_EDGE_FEATURES = (
    "flow",
    "anti",
    "output",
    "self",
    "depth",
    *(f"least distance {k}" for k in range(SLOTS)),
    *(f"largest distance {k}" for k in range(SLOTS)),
)
STATE_EDGE_FEATURES = (
    "carried",
    "carrying dimension",
    "carried here",
    "carried before",
    "current",
    "point coincident",
    "point strong",
    "generator coincident",
    "generator strong",
    "generator backwards",
)
GLOBAL_FEATURES = (
    "construction",
    "exploration",
    "dimension",
    "dimensions",
    "carried",
    "visited",
    "selected here",
    "progress",
    "slots",
    "place in dimension",
    "generator vertex",
    "generator lone",
    "generator iterators",
    "generator parameters",
    "generator constants",
    "generator statements",
    "generator coincident",
    "generator strong",
    "rank",
    *(f"last action {name}" for name in ("none", "next_dim", "next_dep", "select_dep", "coeff_0", "coeff_pos")),
    "steps",
)
NODE_WIDTH = len(STATIC_NODE_FEATURES) + len(STATE_NODE_FEATURES)
EDGE_WIDTH = len(STATIC_EDGE_FEATURES) + len(STATE_EDGE_FEATURES)
GLOBAL_WIDTH = len(GLOBAL_FEATURES)


class View(Struct, frozen=True):
    """What of the state an observation shows.

    construction: the phase. dim: the current dimension, from 1; dims: how many there are, as far as is known. dep: the
    number of the current dependence, 0 for none. carried: the dimension that carries each dependence, 0 for none yet.
    rows: the points chosen so far.
    point: the current dimension's, as far as it is chosen; generator: what the next coefficient is for; None outside of
      exploration.
    vertex: whether it is one. place: how many coefficients of the dimension are chosen, of slots. done, total: the same
      for all dimensions.
    visited: how many dependences were current since the dimension began. action: the last one, -1 for none. step: how
      many there were.
    """

    construction: bool
    dim: int
    dims: int
    dep: int
    carried: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...] = ()
    point: Exact | None = None
    generator: Exact | None = None
    vertex: bool = False
    place: int = 0
    slots: int = 0
    done: int = 0
    total: int = 0
    visited: int = 0
    action: int = -1
    step: int = 0


class Features(Struct, frozen=True):
    """The graph of one state, without padding. links: (source, sink) of each edge, as node positions."""

    nodes: Floats
    edges: Floats
    links: npt.NDArray[np.int64]
    globals: Floats


class Static:
    """The features of a SCoP that no state changes, and what a state's features are computed from."""

    def __init__(self, scop: Scop, deps: Dependences, problem: SpaceProblem) -> None:
        self.problem = problem
        self.names = problem.statements
        position = {name: k for k, name in enumerate(self.names)}
        parameters = assumed_parameters(scop)
        self.nodes = np.array([_node(scop.statement(name), parameters) for name in self.names], dtype=np.float32)
        self.edges = np.array([_edge(problem, deps, d) for d in problem.dependences], dtype=np.float32).reshape(
            -1, len(STATIC_EDGE_FEATURES)
        )
        self.links = np.array(
            [(position[d.source], position[d.sink]) for d in problem.dependences], dtype=np.int64
        ).reshape(-1, 2)
        depths = [problem.spaces[name].depth for name in self.names]
        self.iterators = [
            np.array(problem.positions[name][:depth], dtype=np.int64)
            for name, depth in zip(self.names, depths, strict=True)
        ]
        self.parameters = [
            np.array(problem.positions[name][depth:-1], dtype=np.int64)
            for name, depth in zip(self.names, depths, strict=True)
        ]
        self.constants = np.array([problem.positions[name][-1] for name in self.names], dtype=np.int64)
        rows = [row for d in problem.dependences for row in d.rows]
        self.delays = np.array([row.weak for row in rows], dtype=np.float64).reshape(-1, problem.width)
        self.strong = np.array([row.strong for row in rows], dtype=np.float64)
        self.lines = np.array([row.line for row in rows], dtype=np.bool_)
        self.starts = np.cumsum([0, *(len(d.rows) for d in problem.dependences)])[:-1]
        self._spans: dict[tuple[tuple[int, ...], ...], list[Exact]] = {}

    def features(self, view: View) -> Features:
        """The features of a state."""
        spans = self.spans(view.rows)
        nodes = np.concatenate([self.nodes, self.node_state(view, spans)], axis=1)
        edges = np.concatenate([self.edges, self.edge_state(view)], axis=1)
        return Features(_bounded(nodes), _bounded(edges), self.links, _bounded(self.global_state(view, spans, edges)))

    def spans(self, rows: tuple[tuple[int, ...], ...]) -> list[Exact]:
        """Of each statement, an orthonormal basis of the iterator parts of the rows chosen so far."""
        if rows not in self._spans:
            if len(self._spans) > 64:
                self._spans.clear()
            self._spans[rows] = [
                _basis(np.array([[row[k] for k in columns] for row in rows], dtype=np.float64))
                for columns in self.iterators
            ]
        return self._spans[rows]

    def node_state(self, view: View, spans: Sequence[Exact]) -> Floats:
        found = np.zeros((len(self.names), len(STATE_NODE_FEATURES)), dtype=np.float32)
        for k, basis in enumerate(spans):
            depth = len(self.iterators[k])
            row = found[k]
            row[0] = len(basis) / depth if depth else 1.0
            for slot in range(min(depth, SLOTS)):
                row[1 + slot] = float((basis[:, slot] ** 2).sum() > 1 - 1e-9) if len(basis) else 0.0
            at = 1 + SLOTS
            for vector in (view.point, view.generator):
                if vector is not None:
                    own = vector[self.iterators[k]]
                    row[at : at + min(depth, SLOTS)] = np.tanh(own[:SLOTS] / 2)
                    row[at + SLOTS] = np.tanh(vector[self.parameters[k]].sum() / 2)
                    row[at + SLOTS + 1] = np.tanh(vector[self.constants[k]] / 2)
                at += SLOTS + 2
            if view.generator is not None:
                parts = (
                    *view.generator[self.iterators[k]],
                    *view.generator[self.parameters[k]],
                    view.generator[self.constants[k]],
                )
                row[at] = float(any(parts))
                row[at + 1] = float(_outside(basis, view.generator[self.iterators[k]]))
            if view.point is not None:
                row[at + 2] = float(_outside(basis, view.point[self.iterators[k]]))
        if view.dep:
            source, sink = self.links[view.dep - 1]
            found[source, -2] = found[sink, -1] = 1.0
        return found

    def edge_state(self, view: View) -> Floats:
        found = np.zeros((len(self.links), len(STATE_EDGE_FEATURES)), dtype=np.float32)
        if not len(found):
            return found
        carried = np.array(view.carried)
        found[:, 0] = carried > 0
        found[:, 1] = carried / DIMENSIONS
        found[:, 2] = carried == view.dim
        found[:, 3] = (carried > 0) & (carried < view.dim)
        if view.dep:
            found[view.dep - 1, 4] = 1.0
        if view.point is not None:
            found[:, 5], found[:, 6], _ = self.delayed(view.point)
        if view.generator is not None:
            found[:, 7], _, found[:, 9] = self.delayed(view.generator)
            found[:, 8] = self.adds_delay(view.generator)
        return found

    def delayed(self, row: Exact) -> tuple[Floats, Floats, Floats]:
        """Of each dependence: whether a row has no delay anywhere;
        a delay of one at least everywhere; a negative one somewhere."""
        values = self.delays @ row
        nothing = np.abs(values) < 1e-9
        coincident = np.logical_and.reduceat(nothing, self.starts)
        strong = np.logical_and.reduceat(np.where(self.lines, nothing, values > self.strong - 1e-9), self.starts)
        backwards = np.logical_or.reduceat(np.where(self.lines, ~nothing, values < -1e-9), self.starts)
        return coincident.astype(np.float32), strong.astype(np.float32), backwards.astype(np.float32)

    def adds_delay(self, generator: Exact) -> Floats:
        """Of each dependence: the share of its polyhedron's generators at which a generator adds delay."""
        values = self.delays @ generator > 1e-9
        counts = np.diff(np.append(self.starts, len(values)))
        return np.asarray(
            np.add.reduceat(values.astype(np.float32), self.starts) / np.maximum(counts, 1), dtype=np.float32
        )

    def global_state(self, view: View, spans: Sequence[Exact], edges: Floats) -> Floats:
        found = np.zeros(GLOBAL_WIDTH, dtype=np.float32)
        found[0 if view.construction else 1] = 1.0
        found[2], found[3] = view.dim / DIMENSIONS, view.dims / DIMENSIONS
        count = max(len(view.carried), 1)
        found[4] = sum(map(bool, view.carried)) / count
        found[5] = view.visited / count
        found[6] = sum(dim == view.dim for dim in view.carried) / count
        found[7] = view.done / view.total if view.total else 0.0
        found[8], found[9] = log2(1 + view.slots) / 12, view.place / view.slots if view.slots else 0.0
        if view.generator is not None:
            found[10:18] = self.generator_state(view, edges)
        depths = [len(columns) for columns in self.iterators]
        found[18] = sum(map(len, spans)) / max(sum(depths), 1)
        found[19 + min(view.action + 1, 5)] = 1.0
        found[25] = log2(1 + view.step) / 16
        return found

    def generator_state(self, view: View, edges: Floats) -> Floats:
        """What the current generator does, over all statements and all dependences that are not carried before."""
        assert view.generator is not None
        touched = [bool(np.any(view.generator[columns])) for columns in self.iterators]
        parameters = [bool(np.any(view.generator[columns])) for columns in self.parameters]
        constants = view.generator[self.constants] != 0
        any_part = np.array(touched) | np.array(parameters) | constants
        width = len(STATIC_EDGE_FEATURES)
        open_edges = edges[edges[:, width + 3] == 0]
        coincident, strong = (float(open_edges[:, width + k].mean()) if len(open_edges) else 0.0 for k in (7, 8))
        nonzero = sum(int(np.count_nonzero(view.generator[columns])) for columns in self.iterators)
        shares = (
            float(np.mean(touched)),
            float(np.mean(parameters)),
            float(np.mean(constants)),
            float(np.mean(any_part)),
        )
        return np.array([view.vertex, nonzero == 1, *shares, coincident, strong], dtype=np.float32)


def _node(statement: Statement, parameters: dict[str, int]) -> list[float]:
    """The static features of a statement."""
    depth = len(statement.iterators)
    extents = _extents(statement, parameters)
    reads = sum(not access.is_write for access in statement.accesses)
    counts = [log2(1 + reads) / 5, log2(1 + len(statement.accesses) - reads) / 3]
    kinds = [[0.0] * SLOTS for _ in range(3)]
    for access in statement.accesses:
        rows = subscript_rows(access.relation)
        for slot in range(min(depth, SLOTS)):
            kinds[_stride(rows, slot)][slot] += 1 / len(statement.accesses)
    return [
        depth / SLOTS,
        *(_padded([log2(1 + extent) / 16 for extent in extents])),
        *counts,
        *(value for kind in kinds for value in kind),
    ]


def _extents(statement: Statement, parameters: dict[str, int]) -> list[int]:
    """How many values each iterator takes at most, for the assumed parameters."""
    domain = statement.domain
    for name, value in parameters.items():
        position = domain.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            domain = domain.fix_val(isl.dim_type.param, position, isl.Val(value))
    found = []
    for k in range(len(statement.iterators)):
        lower, upper = domain.dim_min_val(k), domain.dim_max_val(k)
        found.append(max(upper.sub(lower).to_python() + 1, 0) if lower.is_int() and upper.is_int() else 0)
    return found


def _stride(rows: Sequence[Vector] | None, slot: int) -> int:
    """0: the access moves to the next element with an iteration; 1: it stays; 2: it jumps."""
    if rows is None:
        return 2
    moves = [row[slot] for row in rows]
    if not any(moves):
        return 1
    return 0 if not any(moves[:-1]) and abs(moves[-1]) == 1 else 2


def _edge(problem: SpaceProblem, deps: Dependences, dependence: SpaceDependence) -> list[float]:
    """The static features of a dependence."""
    kinds = {d.kind for d in deps.all if (d.source, d.sink) == (dependence.source, dependence.sink)}
    common = min(problem.spaces[dependence.source].depth, problem.spaces[dependence.sink].depth, SLOTS)
    least, largest = [0.0] * SLOTS, [0.0] * SLOTS
    same = dependence.source == dependence.sink
    for slot in range(common):
        sink, source = problem.positions[dependence.sink][slot], problem.positions[dependence.source][slot]
        distances = [row.weak[sink] + (0 if same else row.weak[source]) for row in dependence.rows]
        distances += [-d for d, row in zip(distances, dependence.rows, strict=True) if row.line]
        least[slot], largest[slot] = (float(np.tanh(f(distances, default=0) / 2)) for f in (min, max))
    return [
        *(float(kind in kinds) for kind in ("flow", "anti", "output")),
        float(same),
        dependence.depth / DIMENSIONS,
        *least,
        *largest,
    ]


def _padded(values: Sequence[float]) -> list[float]:
    return [*values[:SLOTS], *([0.0] * (SLOTS - len(values)))]


def _basis(rows: Exact) -> Exact:
    """An orthonormal basis of the rows' span, a row each."""
    if not rows.size:
        return np.zeros((0, rows.shape[1] if rows.ndim == 2 else 0))
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(vectors[values > 1e-9 * max(values.max(), 1.0)], dtype=np.float64)


def _outside(basis: Exact, vector: Exact) -> bool:
    """Whether a vector isn't in the span of a basis."""
    rest = vector - basis.T @ (basis @ vector) if len(basis) else vector
    return bool(np.abs(rest).max(initial=0.0) > 1e-9)


def _bounded(values: Floats) -> Floats:
    return np.clip(np.nan_to_num(values), -1.0, 1.0).astype(np.float32)
