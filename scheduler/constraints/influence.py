"""Influence: the rows of an influence constraint tree's node, with the outer dimensions' coefficients put in.

Source: constraint injection paper, section IV-A.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scopt.scheduler.influence.tree import InfluenceRow
from scopt.scheduler.problem import Draft, Rows, StatementSpace


def coupled(rows: Iterable[InfluenceRow], depth: int) -> list[set[str]]:
    """The statements that each row ties together in this dimension."""
    return [{c.statement for _, c in row.terms if c.dimension == depth} for row in rows]


def injected(draft: Draft, rows: Iterable[InfluenceRow], outer: Sequence[Rows], spaces: dict[str, StatementSpace]) -> None:
    """Rows over coefficients of the current dimension (the one after `outer`) and of outer ones, which are constants by now."""
    for row in rows:
        terms: dict[int, int] = {}
        constant = row.constant
        for factor, coefficient in row.terms:
            position = spaces[coefficient.statement].columns.index(coefficient.column)
            if coefficient.dimension < len(outer):
                constant += factor * outer[coefficient.dimension][coefficient.statement][position]
            else:
                terms[draft.coefficient(coefficient.statement, position)] = factor
        draft.require(terms, constant, equality=row.relation == "=")
