"""Influence: the rows of an influence constraint tree's node, with the outer dimensions' coefficients put in.

Source: constraint injection paper, section IV-A.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scopt.scheduler.constraints.scheduling_problem import Draft, Rows, StatementSpace
from scopt.scheduler.influence.influence_tree import InfluenceRow


def coupled(rows: Iterable[InfluenceRow], depth: int) -> list[set[str]]:
    """The statements that each row ties together in this dimension."""
    tied = [{c.statement for _, c in row.terms if c.dimension == depth} for row in rows]
    return [statements for statements in tied if statements]


def constants_hold(rows: Iterable[InfluenceRow], outer: Sequence[Rows], spaces: Mapping[str, StatementSpace]) -> bool:
    """Whether those rows hold that are on outer dimensions alone."""
    for row in rows:
        if all(c.dimension < len(outer) for _, c in row.terms):
            values = [
                factor * outer[c.dimension][c.statement][spaces[c.statement].columns.index(c.column)]
                for factor, c in row.terms
            ]
            total = sum(values) + row.constant
            if total < 0 or (row.relation == "=" and total != 0):
                return False
    return True


def injected(
    draft: Draft, rows: Iterable[InfluenceRow], outer: Sequence[Rows], spaces: Mapping[str, StatementSpace]
) -> None:
    """Rows over coefficients of the current dimension (the one after `outer`) and of outer ones,
    which are constants by now."""
    for row in rows:
        if all(c.dimension < len(outer) for _, c in row.terms):
            continue  # see `constants_hold`
        terms: dict[int, int] = {}
        constant = row.constant
        for factor, coefficient in row.terms:
            position = spaces[coefficient.statement].columns.index(coefficient.column)
            if coefficient.dimension < len(outer):
                constant += factor * outer[coefficient.dimension][coefficient.statement][position]
            else:
                terms[draft.coefficient(coefficient.statement, position)] = factor
        draft.require(terms, constant, equality=row.relation == "=")
