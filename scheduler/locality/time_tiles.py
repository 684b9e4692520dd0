"""Hyperplanes of tiles that hold several steps of a loop over time, around sweeps over a grid that are nests apart.

Where cells are added to between two sweeps, or a grid's edges are set, no band has all loops of the sweeps. But inside
of a tile, whatever order the tree has is a legal one: all that is asked of hyperplanes is that no dependence goes
backwards in them. For sweeps, these are a·t + s·i and b·t - s·i, up to constants, with the loop t over time and the
rows i. A statement that runs for one row alone, or for one cell, has its row's place there, which parameters may tell.
Source: Bandishti, Pananilath and Bondhugula, "Tiling stencil computations to maximize parallelism" (2012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.poly.ilp import lexmin
from scopt.poly.isl_utils import joined, sets_of
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.edges import edges_between
from scopt.scheduler.constraints.proximity import bounded
from scopt.scheduler.constraints.scheduling_problem import (
    Bounds,
    Draft,
    Edge,
    Rows,
    StatementSpace,
    Step,
    statement_spaces,
    with_parameters,
)
from scopt.scheduler.constraints.validity import weakly
from scopt.scheduler.construct.assemble import loop_member

# Largest coefficients: of rows (one in the middle of a grid, or at a quarter, has a place of its own), and of time.
_SCALES, _FACTORS = 4, 32
# Among a sweep's iterators, the loop over time, and the first one inside.
_TIME, _ROWS = 0, 1
# How many rows sweeps have at least: isl tells cases of fewer apart, for minutes. How far from all of these statements
# of a row may be whatever parameters are: edges are.
_FEW, _FAR = 4, 16


class TimePlanes(Struct, frozen=True, eq=False):
    """planes: the two hyperplanes, then one for each further loop of the sweeps but the innermost one. scales: by how
    much each grows from one iteration of the sweeps' loop to the next. tested: the parameters for which their tiles
    have bounds without many cases."""

    planes: isl.MultiUnionPwAff
    scales: tuple[int, ...]
    tested: isl.Set


class _Places(Struct, frozen=True, eq=False):
    """A hyperplane at the first step. scale: of the sweeps' rows."""

    scop: Scop
    domains: Mapping[str, isl.Set]
    spaces: Mapping[str, StatementSpace]
    rows: Rows

    def of(self, name: str) -> isl.Set:
        """``{ [place] }`` of a statement's instances."""
        row, domains = {name: (0, *self.rows[name][1:])}, {name: self.domains[name]}
        member = isl.UnionMap.from_union_pw_aff(loop_member(row, domains, self.spaces))
        return isl.Set.from_union_set(member.range()).remove_divs()

    def tested(self, sweeps: Sequence[str]) -> isl.Set | None:
        """See `TimePlanes`; None where that isn't one condition."""
        scale = self.rows[sweeps[0]][_ROWS]
        later = isl.Map(f"{{ [x] -> [y] : y = x + {(_FEW - 1) * scale} }}")
        grids = [self.of(name) for name in sweeps]
        context = self.scop.context
        for name, grid in zip(sweeps, grids, strict=True):
            few = grid.intersect(grid.apply(later)).params().gist(self.domains[name].params())
            context = context.intersect(few)
        inside = reduce(isl.Set.intersect, grids)
        near = inside.apply(isl.Map(f"{{ [x] -> [y] : -{_FAR} <= x - y <= {_FAR} }}"))
        for name in self.rows.keys() - set(sweeps):
            place = self.of(name).intersect_params(context)
            if not place.is_subset(near):
                runs = self.domains[name].params()
                context = context.intersect(context.subtract(place.subtract(inside).params()).gist(runs))
        context = context.coalesce()
        return context if context.n_basic_set() == 1 and not context.is_empty() else None


def time_planes(scop: Scop, pairs: Sequence[isl.UnionMap], domain: isl.UnionSet) -> TimePlanes | str:
    """The hyperplanes for some statements in a loop over time; why there are none.

    pairs: that have to stay in order.
    """
    inside = {str(part.get_tuple_name()) for part in sets_of(domain)}
    spaces = statement_spaces(scop, [statement for statement in scop.statements if statement.name in inside])
    deepest = max(space.depth for space in spaces.values())
    if deepest <= _ROWS + 1:
        return "there are no sweeps over rows of several cells"
    edges = edges_between(scop, pairs)
    found = list[Rows]()
    wanted = ((_ROWS, 1), (_ROWS, -1), *((position, 1) for position in range(_ROWS + 1, deepest - 1)))
    for position, sign in wanted:
        rows = _plane(spaces, edges, position, sign, deepest)
        if rows is None:
            return "dependences leave no room for tiles that can all start at once"
        found.append(rows)
    sweeps = [name for name, space in spaces.items() if space.depth == deepest]
    if not any(rows[sweeps[0]][_TIME] for rows in found[:2]):
        return "a step's rows wait for none beside them"
    domains = {name: with_parameters(scop.statement(name).domain, spaces[name].parameters) for name in spaces}
    tested = _Places(scop, domains, spaces, found[0]).tested(sweeps)
    if tested is None:
        return "nobody knows which rows are those of the sweeps"
    scales = (abs(rows[sweeps[0]][position]) for rows, (position, _) in zip(found, wanted, strict=True))
    return TimePlanes(joined([loop_member(rows, domains, spaces) for rows in found]), (*scales,), tested)


def _plane(
    spaces: Mapping[str, StatementSpace], edges: Sequence[Edge], position: int, sign: int, deepest: int
) -> Rows | None:
    """A hyperplane along one loop of the sweeps that no dependence goes backwards in."""
    draft, names = Draft(spaces, Bounds(_FACTORS, negative=True, parametric=True)), tuple(spaces)
    for name in names:
        draft.add_statement(name)
    scale = draft.column("scale", 1, _SCALES)
    draft.minimize({scale: 1})
    for name in names:
        if spaces[name].depth == deepest:
            draft.require({draft.coefficient(name, position): 1, scale: -sign}, equality=True)
            for other in range(_ROWS, deepest):
                if other != position:
                    draft.require({draft.coefficient(name, other): 1}, equality=True)
    weakly(draft, edges)
    bounded(draft, edges, spaces[names[0]].parameters, "isl")
    small(draft, Step(spaces, names, tuple(edges), tuple(edges)))
    point = lexmin(draft.program())
    return None if point is None else draft.solution(point)
