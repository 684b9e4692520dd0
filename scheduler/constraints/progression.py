"""Progression: every dimension adds to the order: it isn't zero, and not a combination of the outer ones.

Source: constraint injection paper, equations (3) and (4); with negative coefficients the choice of a sign becomes part
of the program, as in Bondhugula, Acharya and Cohen, "The Pluto+ algorithm" (2016).
"""

from __future__ import annotations

from scopt.poly.generators import Row, nullspace
from scopt.scheduler.constraints.scheduling_problem import Draft, Step


def orthogonal_complement(rows: list[Row], width: int) -> list[Row]:
    """A basis H⊥ of the vectors orthogonal to all rows: h is a combination of the rows exactly if H⊥·h = 0. Empty if
    the rows span everything."""
    return nullspace(rows, width)


def complete(step: Step, statement: str) -> bool:
    """Whether a statement's outer dimensions tell all its instances apart."""
    return not orthogonal_complement(step.iterator_rows(statement), step.spaces[statement].depth)


def progressing(draft: Draft, step: Step) -> None:
    """H⊥·h ≠ 0 for each statement that isn't complete and can't wait: it has as many dimensions to come as any other.

    (isl does so too. A shallow statement beside a deep one may pause: in fdtd-2d the boundary's j then meets the j of
    the field.) Where all of H⊥ is non-negative and so is h, Σ H⊥·h >= 1 says it. Otherwise a binary unknown a row and
    sign tells which entry is not zero.
    """
    for statement, basis in _bases(step).items():
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


def progressing_in_sizes(draft: Draft, step: Step) -> None:
    """What follows of that for the coefficients' magnitudes: Σ |H⊥|·|h| >= 1. Where magnitudes are minimized, a solver
    that takes parts of a choice finds no bound without it, and looks for cuts for seconds."""
    for statement, basis in _bases(step).items():
        sizes = [sum(abs(row[k]) for row in basis) for k in range(len(basis[0]))]
        terms = {draft.magnitude(draft.coefficient(statement, k)): size for k, size in enumerate(sizes) if size}
        draft.require(terms, -1)


def _bases(step: Step) -> dict[str, list[Row]]:
    """H⊥ of the statements that have to progress."""
    bases = {name: orthogonal_complement(step.iterator_rows(name), step.spaces[name].depth) for name in step.statements}
    deepest = max(len(basis) for basis in bases.values())
    return {name: basis for name, basis in bases.items() if basis and len(basis) == deepest}


def shifted_if_reversed(draft: Draft, step: Step) -> None:
    """Parameters only have a part in rows that run backwards: n - 1 - i where the loop is reversed, but not i + n,
    which would only put loops one behind the other. A complete statement needs none."""
    for statement in step.statements:
        space = step.spaces[statement]
        if complete(step, statement):
            for position in range(space.depth, len(space.columns) - 1):
                draft.require({draft.coefficient(statement, position): 1}, equality=True)
            continue
        reversed_ = draft.column(f"reversed[{statement}]", 0, 1)
        reach = draft.bounds.coefficient * space.depth + 1
        # reversed_ = 1: the iterators' coefficients add up to -1 or less.
        draft.require(
            {reversed_: -reach, **{draft.coefficient(statement, k): -1 for k in range(space.depth)}}, reach - 1
        )
        for position in range(space.depth, len(space.columns) - 1):
            for sign in (1, -1):
                draft.require({reversed_: draft.bounds.coefficient, draft.coefficient(statement, position): sign})
