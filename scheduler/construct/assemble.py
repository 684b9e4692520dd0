"""From schedule rows to a schedule tree: bands of loops, sequences at cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly import trees
from scopt.poly.generators import Row
from scopt.poly.isl_utils import joined, union_of_sets
from scopt.scheduler.constraints.scheduling_problem import StatementSpace, with_parameters
from scopt.scheduler.construct.dimensions import Dimension


def schedule_tree(scop: Scop, spaces: Mapping[str, StatementSpace], dimensions: Sequence[Dimension]) -> isl.Schedule:
    """The tree of some dimensions. Consecutive loops form one band, permutable or not: that is for others to find out.
    Dates stand alone."""
    domains = {s.name: with_parameters(s.domain, spaces[s.name].parameters) for s in scop.statements}
    return trees.build(_subtree(tuple(domains), dimensions, domains, spaces))


def _subtree(
    statements: Sequence[str],
    dimensions: Sequence[Dimension],
    domains: Mapping[str, isl.Set],
    spaces: Mapping[str, StatementSpace],
) -> trees.Tree:
    members: list[isl.UnionPwAff] = []
    rest: trees.Tree | None = None
    for depth, dimension in enumerate(dimensions):
        rows = {name: dimension.rows[name] for name in statements}
        places = _places(rows)
        if places is None:
            member = loop_member(rows, domains, spaces)
            if dimension.alone & set(statements):
                below = _subtree(statements, dimensions[depth + 1 :], domains, spaces)
                date = trees.Band(joined([member]), below)
                return trees.Band(joined(members), date) if members else date
            members.append(member)
        elif len(places) > 1:
            inner = tuple(_subtree(part, dimensions[depth + 1 :], domains, spaces) for part in places)
            rest = trees.Sequence(inner)
            break
    if rest is None:
        leaves = tuple(trees.Leaf(union_of_sets([domains[name]])) for name in statements)
        rest = leaves[0] if len(leaves) == 1 else trees.Sequence(leaves)
    return trees.Band(joined(members), rest) if members else rest


def _places(rows: Mapping[str, Row]) -> list[list[str]] | None:
    """Statements by the constants that their rows are, in order; None if some row isn't a plain constant."""
    if any(any(row[:-1]) for row in rows.values()):
        return None
    found: dict[int, list[str]] = {}
    for name, row in rows.items():
        found.setdefault(row[-1], []).append(name)
    return [found[place] for place in sorted(found)]


def loop_member(
    rows: Mapping[str, Row], domains: Mapping[str, isl.Set], spaces: Mapping[str, StatementSpace]
) -> isl.UnionPwAff:
    """One schedule row of some statements as a function."""
    result: isl.UnionPwAff | None = None
    for name, row in rows.items():
        space = spaces[name]
        embedding = space.embedding
        own = domains[name].get_space() if embedding is None else embedding.get_space().range()
        aff = row_function(row, space, own)
        if embedding is not None:
            aff = aff.pullback_multi_aff(embedding)
        piece = isl.PwAff.from_aff(aff).intersect_domain(domains[name]).to_union_pw_aff()
        result = piece if result is None else result.union_add(piece)
    assert result is not None
    return result


def row_function(row: Row, space: StatementSpace, own: isl.Space) -> isl.Aff:
    """A row over a statement's columns as a function on `own`, which has the statement's iterators and parameters."""
    aff = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(own))
    for position in range(space.depth):
        aff = aff.set_coefficient_val(isl.dim_type.in_, position, isl.Val(row[position]))
    for position in range(len(space.parameters)):
        aff = aff.set_coefficient_val(isl.dim_type.param, position, isl.Val(row[space.depth + position]))
    return aff.set_constant_val(isl.Val(row[-1]))
