"""From a schedule matrix, the points of a space, to a schedule tree: sequences and bands rebuilt, what orders nothing
dropped, the rest completed.

Source: Ganser et al., "Speeding up Iterative Polyhedral Schedule Optimization with Surrogate Performance Models"
(2018), on the trees they make of sampled matrices. The tree runs the instances in the order of the matrix's dates as
long as uncarried dependences connect their statements; then their order is free: the statements stand one behind the
other, and each gets plain loops over what is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd

import islpy as isl
from msgspec import Struct

from scopt.poly import trees
from scopt.poly.components import ordered_components
from scopt.poly.generators import Row, nullspace
from scopt.poly.isl_utils import joined, union_of_sets
from scopt.poly.linear import solve
from scopt.scheduler.constraints.scheduling_problem import Rows, StatementSpace, with_parameters
from scopt.scheduler.construct.assemble import loop_member, row_function
from scopt.scheduler.space.space_problem import SpaceProblem


def carries(problem: SpaceProblem, row: Row, numbers: Iterable[int]) -> tuple[frozenset[int], frozenset[int]]:
    """(dependences among these that a point satisfies strongly, those that it violates);
    the others are satisfied weakly."""
    strong, violated = set(), set()
    for number in numbers:
        least = _least_delay(problem, row, number)
        if least < 0:
            violated.add(number)
        elif least >= 1:
            strong.add(number)
    return frozenset(strong), frozenset(violated)


def _least_delay(problem: SpaceProblem, row: Row, number: int) -> int:
    """-1, 0 or 1: whether some pair goes backwards, some pair stays, or all pairs advance."""
    least = 1
    for delay in problem.dependence(number).rows:
        value = sum(a * b for a, b in zip(delay.weak, row, strict=True) if a and b)
        if value < 0 or (delay.line and value):
            return -1
        if value < delay.strong:
            least = 0
    return least


def schedule_of_rows(problem: SpaceProblem, rows: Sequence[Row]) -> isl.Schedule:
    """The schedule tree of a matrix. rows: over the problem's columns, outermost dimension first.

    Raises ValueError if a row violates a dependence that none before it carries, or if none carries some dependence.
    """
    carried: dict[int, int] = {}
    for dim, row in enumerate(rows, 1):
        strong, violated = carries(problem, row, problem.numbers() - carried.keys())
        if violated:
            raise ValueError(f"dimension {dim} violates the dependence {min(violated)}")
        carried |= dict.fromkeys(strong, dim)
    if uncarried := problem.numbers() - carried.keys():
        raise ValueError(f"no dimension carries the dependence {min(uncarried)}")
    domains = {s.name: with_parameters(s.domain, problem.spaces[s.name].parameters) for s in problem.scop.statements}
    builder = _Builder(problem, domains, carried)
    return trees.build(
        builder.subtree(
            problem.statements, tuple(_Dimension(n, problem.statement_rows(row)) for n, row in enumerate(rows, 1)), ()
        )
    )


class _Dimension(Struct, frozen=True):
    """A row of each statement, and the matrix's dimension, from 1, that it is or is a part of."""

    number: int
    rows: Rows


class _Builder(Struct, frozen=True, eq=False):
    """Builds the tree from the outside in. carried: the dimension that carries each dependence."""

    problem: SpaceProblem
    domains: Mapping[str, isl.Set]
    carried: Mapping[int, int]

    @property
    def spaces(self) -> Mapping[str, StatementSpace]:
        return self.problem.spaces

    def connected(self, group: Sequence[str], dim: int) -> list[list[str]]:
        """The statements, together where dependences that no dimension before `dim` carries connect them; in textual
        order.

        Whatever the matrix says of the others' order, no dependence asks for it, and their loops interleave only by
        chance.
        """
        found: list[list[str]] = [[name] for name in group]
        for dependence in self.problem.dependences:
            ends = {dependence.source, dependence.sink}
            if self.carried[dependence.number] >= dim and ends <= set(group):
                touched = [part for part in found if ends & set(part)]
                found = [part for part in found if part not in touched] + [[name for part in touched for name in part]]
        order = {name: number for number, name in enumerate(self.problem.statements)}
        return sorted((sorted(part, key=order.__getitem__) for part in found), key=lambda part: order[part[0]])

    def last(self, group: Sequence[str]) -> int:
        """The last dimension that carries something between these statements; 0 if there is nothing to carry."""
        inside = [d.number for d in self.problem.dependences if d.source in group and d.sink in group]
        return max((self.carried[number] for number in inside), default=0)

    def subtree(self, group: Sequence[str], pending: Sequence[_Dimension], kept: tuple[Rows, ...]) -> trees.Tree:
        """The tree of some statements' instances. pending: rows that are still to be dealt with. kept: those that
        became loops around them."""
        bands = _Bands([])
        last = self.last(group)
        while pending and (dim := pending[0].number) <= last:
            rows = {name: pending[0].rows[name] for name in group}
            if (places := self.places(rows, kept)) is not None:
                pending = pending[1:]
                if len(places) == 1:
                    continue  # superfluous: the loops around say as much
            elif (
                len(places := self.strictly_ordered(rows, kept)) == 1 and len(places := self.connected(group, dim)) == 1
            ):
                quotients, remainders = _divided(rows, self.spaces)
                bands.add(loop_member(quotients, self.domains, self.spaces), alone=self.stands_alone(quotients, kept))
                kept, pending = (*kept, quotients), (_Dimension(dim, remainders), *pending[1:])
                continue
            return bands.around(trees.Sequence(tuple(self.subtree(part, pending, kept) for part in places)))
        if len(group) == 1:
            # In one band with the loops around, which may be permutable.
            for member in self.missing(group[0], kept):
                bands.add(member)
            return bands.around(self.leaf(group[0]))
        return bands.around(
            trees.Sequence(tuple(_Bands([self.missing(name, kept)]).around(self.leaf(name)) for name in group))
        )

    def stands_alone(self, rows: Rows, kept: Sequence[Rows]) -> bool:
        """Whether a loop has nothing to gain from tiles with others.

        It tells no two instances of a statement apart that the loops around don't, and only orders statements; or it
        shifts some by parameters, so that they don't meet in tiles (whose loops isl would take forever to find).
        """
        depths = {name: self.spaces[name].depth for name in rows}
        if any(any(row[depths[name] : -1]) for name, row in rows.items()):
            return True
        for name, row in rows.items():
            known = [*self.spaces[name].fixed, *(outer[name][: depths[name]] for outer in kept)]
            if _rank([*known, row[: depths[name]]]) > _rank(known):
                return False
        return True

    def places(self, rows: Rows, kept: Sequence[Rows]) -> list[list[str]] | None:
        """Where the rows are one and the same combination of the loops around, but for constants: the statements by
        constant, in order. Else None."""
        factors = _common_combination([[(r[name], self.spaces[name].depth) for name in rows] for r in (*kept, rows)])
        if factors is None:
            return None
        found: dict[Fraction, list[str]] = {}
        offsets = set()
        for name, row in rows.items():
            depth = self.spaces[name].depth
            rest = [Fraction(value) for value in row[depth:]]
            for factor, outer in zip(factors, kept, strict=True):
                rest = [value - factor * other for value, other in zip(rest, outer[name][depth:], strict=True)]
            offsets.add(tuple(rest[:-1]))
            found.setdefault(rest[-1], []).append(name)
        return [found[place] for place in sorted(found)] if len(offsets) == 1 else None

    def strictly_ordered(self, rows: Rows, kept: Sequence[Rows]) -> list[list[str]]:
        """Groups of statements, each of which is through before the next one begins,
        within one iteration of the loops around."""
        names = list(rows)
        if len(names) == 1:
            return [names]
        dates = {name: self.dates(name, [*(outer[name] for outer in kept), rows[name]]) for name in names}
        width = len(kept) + 1
        outer = ", ".join(f"o{k}" for k in range(width - 1))
        lead = f"{outer}, " if outer else ""
        upto = isl.Map(f"{{ [{lead}d] -> [{lead}e] : e <= d }}")
        reached = {name: date.apply(upto) for name, date in dates.items()}
        # An edge from a to b: some instance of a comes no later than one of b.
        successors = [
            [k for k, other in enumerate(names) if other != name and not reached[other].is_disjoint(dates[name])]
            for name in names
        ]
        return [[names[k] for k in part] for part in ordered_components(successors)]

    def dates(self, name: str, rows: Sequence[Row]) -> isl.Set:
        """The values that some rows take over a statement's domain, as an unnamed set."""
        domain = self.domains[name]
        functions = [row_function(row, self.spaces[name], domain.get_space()) for row in rows]
        space = domain.get_space().map_from_set().drop_dims(isl.dim_type.out, 0, domain.dim(isl.dim_type.set))
        space = space.add_dims(isl.dim_type.out, len(rows)).reset_tuple_id(isl.dim_type.out)
        result = isl.MultiAff.zero(space)
        for position, function in enumerate(functions):
            result = result.set_aff(position, function)
        return domain.apply(isl.Map.from_multi_aff(result))

    def leaf(self, name: str) -> trees.Leaf:
        return trees.Leaf(union_of_sets([self.domains[name]]))

    def missing(self, name: str, kept: Sequence[Rows]) -> list[isl.UnionPwAff]:
        """A statement's iterators that tell its instances apart where the loops around don't, as loops of its own."""
        space = self.spaces[name]
        rows = [row for row in (*space.fixed, *(outer[name][: space.depth] for outer in kept)) if any(row)]
        members = []
        for position in range(space.depth):
            unit = tuple(int(k == position) for k in range(space.depth))
            if _rank([*rows, unit]) > _rank(rows):
                rows.append(unit)
                row = (*unit, *([0] * (len(space.columns) - space.depth)))
                members.append(loop_member({name: row}, self.domains, self.spaces))
        return members


class _Bands(Struct, frozen=True, eq=False):
    """Bands around a tree under construction, outermost first."""

    members: list[list[isl.UnionPwAff]]

    def add(self, member: isl.UnionPwAff, *, alone: bool = False) -> None:
        """One more member of the innermost band; or a band of its own, which nobody tiles together with others."""
        if alone or not self.members:
            self.members.append([member])
        else:
            self.members[-1].append(member)
        if alone:
            self.members.append([])

    def around(self, body: trees.Tree) -> trees.Tree:
        for members in reversed(self.members):
            body = trees.Band(joined(members), body) if members else body
        return body


def _common_combination(lines: Sequence[Sequence[tuple[Row, int]]]) -> tuple[Fraction, ...] | None:
    """Factors with which the iterator parts of all lines but the last add up to the last one's; None if there are none.

    lines: (row, depth) by statement.
    """
    vectors = [[Fraction(value) for row, depth in line for value in row[:depth]] for line in lines]
    *known, wanted = vectors
    if not any(wanted):
        return (Fraction(0),) * len(known)
    equations = list(zip(*known, strict=True))
    return solve(equations, [int(value) for value in wanted]) if equations else None


def _divided(rows: Rows, spaces: Mapping[str, StatementSpace]) -> tuple[Rows, Rows]:
    """(quotients, remainders) of the rows, without their common offset, by the common factor of all coefficients: dates
    in the same order."""
    depths = {name: spaces[name].depth for name in rows}
    first = next(iter(rows))
    offset = rows[first][depths[first] :]
    moved = {
        name: (*row[: depths[name]], *(value - other for value, other in zip(row[depths[name] :], offset, strict=True)))
        for name, row in rows.items()
    }
    factor = gcd(*(value for row in moved.values() for value in row[:-1])) or 1
    quotients = {name: tuple(value // factor for value in row) for name, row in moved.items()}
    return quotients, {name: (*([0] * (len(row) - 1)), row[-1] % factor) for name, row in moved.items()}


def _rank(rows: Sequence[Row]) -> int:
    width = len(rows[0]) if rows else 0
    return width - len(nullspace(rows, width))
