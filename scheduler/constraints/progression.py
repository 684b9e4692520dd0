"""Progression: every dimension adds to the order: it isn't zero, and not a combination of the outer ones.

Source: constraint injection paper, equations (3) and (4); with negative coefficients the choice of a sign becomes part of the program, as in
Bondhugula, Acharya and Cohen, "The Pluto+ algorithm" (2016).
"""

from __future__ import annotations

from scopt.scheduler.generators import Row, nullspace
from scopt.scheduler.problem import Draft, Step


def orthogonal_complement(rows: list[Row], width: int) -> list[Row]:
    """A basis H⊥ of the vectors orthogonal to all rows: h is a combination of the rows exactly if H⊥·h = 0. Empty if the rows span everything."""
    return nullspace(rows, width)


def complete(step: Step, statement: str) -> bool:
    """Whether a statement's outer dimensions tell all its instances apart."""
    return not orthogonal_complement(step.iterator_rows(statement), step.spaces[statement].depth)


def progressing(draft: Draft, step: Step) -> None:
    """H⊥·h ≠ 0 for each statement that isn't complete.

    Where all of H⊥ is non-negative and so is h, Σ H⊥·h >= 1 says it. Otherwise a binary unknown a row and sign tells which entry is not zero.
    """
    for statement in step.statements:
        basis = orthogonal_complement(step.iterator_rows(statement), step.spaces[statement].depth)
        if not basis:
            continue
        if not draft.bounds.negative and all(value >= 0 for row in basis for value in row):
            total = {draft.coefficient(statement, k): sum(row[k] for row in basis) for k in range(len(basis[0]))}
            draft.require(total, -1)
            continue
        chosen = []
        for number, row in enumerate(basis):
            reach = draft.bounds.coefficient * sum(abs(value) for value in row)
            for sign in (1, -1):
                choice = draft.column(f"δ[{statement},{number},{sign:+d}]", 0, 1)
                chosen.append(choice)
                terms = {draft.coefficient(statement, k): sign * value for k, value in enumerate(row) if value}
                # choice = 1: sign·row·h >= 1; choice = 0: no constraint.
                terms[choice] = -(reach + 1)
                draft.require(terms, reach)
        draft.require({choice: 1 for choice in chosen}, -1)
