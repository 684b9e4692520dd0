"""Influence constraint trees: prioritized scenarios of linear constraints on schedule coefficients.

Source: Bastoul et al., "Optimizing GPU Deep Learning Operators with Polyhedral Scheduling Constraint Injection" (CGO
  2022), section IV-A.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

# The column of a statement's constant coefficient;
# the others are called by the statement's iterators and the SCoP's parameters.
CONSTANT = "1"


class Coefficient(Struct, frozen=True):
    """T[S, d, c]: the coefficient of column c in schedule dimension d of statement S.

    statement: its name in the Scop. dimension: from 0, the outermost one. column: an iterator of the statement, a
      parameter, or `CONSTANT`.
    """

    statement: str
    dimension: int
    column: str

    def __str__(self) -> str:
        return f"T[{self.statement},{self.dimension},{self.column}]"


class InfluenceRow(Struct, frozen=True):
    """Σ factorₖ·Tₖ + constant (≥ or =) 0, integers. terms: (factor ≠ 0, coefficient), each coefficient once."""

    terms: tuple[tuple[int, Coefficient], ...]
    constant: int = 0
    relation: Literal[">=", "="] = ">="

    def __str__(self) -> str:
        left = " + ".join(f"{factor}*{coefficient}" for factor, coefficient in self.terms)
        return f"{left} {self.relation} {-self.constant}"


class InfluenceNode(Struct, frozen=True):
    """What is wished of one schedule dimension, given what its ancestors fix in the outer ones.

    name: for remarks. rows: over coefficients of dimensions up to the node's depth (0 for a branch of the root).
    parallel: the dimension must carry no dependence; permutable: it must form one band with the dimension above it.
      children: alternatives for the next dimension, best first.
    """

    name: str
    rows: tuple[InfluenceRow, ...] = ()
    parallel: bool = False
    permutable: bool = False
    children: tuple[InfluenceNode, ...] = ()

    def concerning(self, statements: Iterable[str], dimension: int) -> InfluenceNode:
        """The node with those rows only that say something about some of the statements in its own dimension: a row may
        have other statements' coefficients of outer ones."""
        inside = {(statement, dimension) for statement in statements}
        return replace(
            self, rows=tuple(row for row in self.rows if inside & {(c.statement, c.dimension) for _, c in row.terms})
        )


class InfluenceTree(Struct, frozen=True):
    """branches: the children of the root, alternatives for the outermost dimension, best first.
    An empty tree influences nothing."""

    branches: tuple[InfluenceNode, ...] = ()

    def walk(self) -> Iterator[tuple[int, InfluenceNode]]:
        """All nodes with their depths, depth first, best alternatives first."""

        def visit(depth: int, nodes: tuple[InfluenceNode, ...]) -> Iterator[tuple[int, InfluenceNode]]:
            for node in nodes:
                yield depth, node
                yield from visit(depth + 1, node.children)

        yield from visit(0, self.branches)


def equals(terms: tuple[tuple[int, Coefficient], ...], value: int) -> InfluenceRow:
    """The row Σ factorₖ·Tₖ = value."""
    return InfluenceRow(terms, -value, "=")
