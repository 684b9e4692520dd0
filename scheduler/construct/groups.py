"""One more dimension for statements that have shared all of them so far: a loop that a strategy finds, or a cut that a
fusion policy chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import ScoptError
from scopt.poly.generators import Row
from scopt.scheduler.constraints.influence_rows import coupled
from scopt.scheduler.constraints.progression import complete
from scopt.scheduler.constraints.scheduling_problem import Edge, Rows, StatementSpace, Step
from scopt.scheduler.construct.separation import (
    FusionPolicy,
    Part,
    Trial,
    at_start,
    components,
    strongly_connected,
    when_stuck,
)
from scopt.scheduler.influence.influence_tree import InfluenceNode

Kind = Literal["loop", "scalar", "none"]


class NoSchedule(ScoptError):
    """The construction has come to an end without a schedule."""


class Wish(Struct, frozen=True):
    """What is asked of a dimension beside the usual. node: of the influence constraint tree. coincident: it must carry
    none of the remaining edges.

    progression: whether statements have to get on; False where an influence asks for one more dimension. far: reuse
    distances may grow with the parameters even where negative coefficients are needed. falling: they may also grow
    where a parameter becomes smaller.
    """

    node: InfluenceNode | None = None
    coincident: bool = False
    progression: bool = True
    far: bool = False
    falling: bool = False


class Strategy(Protocol):
    """How the row of one dimension is found.
    bands: dimensions keep respecting what the band has carried, so that they are permutable."""

    @property
    def bands(self) -> bool: ...

    def solve(self, step: Step, wish: Wish) -> Rows | None:
        """Rows of the step's statements; None if there are none."""
        ...

    def possible(self, step: Step, wish: Wish) -> bool:
        """Whether `solve` would find rows; quicker."""
        ...


class Group(Struct, frozen=True, eq=False):
    """Statements that have shared everything so far. edges: to be respected by the band; remaining: those that it
    hasn't carried, as faces."""

    statements: Part
    edges: tuple[Edge, ...]
    remaining: tuple[Edge, ...]
    fresh: bool = True
    finished: bool = False

    @property
    def has_carried(self) -> bool:
        return len(self.edges) != len(self.remaining) or any(
            len(a.points) != len(b.points) for a, b in zip(self.edges, self.remaining, strict=True)
        )

    def without_carried(self) -> Group:
        return replace(self, edges=self.remaining, fresh=True)

    def after(self, rows: Rows) -> Group:
        """The group when a dimension has these rows."""
        faces = (edge.face(rows) for edge in self.remaining)
        return replace(self, remaining=tuple(edge for edge in faces if not edge.is_empty), fresh=False)

    def part(self, statements: Part) -> Group:
        inside = set(statements)
        left = tuple(edge for edge in self.remaining if edge.source in inside and edge.sink in inside)
        return Group(statements, left, left)


class Dimension(Struct, frozen=True):
    """One row for every statement, and what it is to the statement: a loop, the place in a sequence, or nothing any
    more.

    alone: the statements for which it is a loop that shall stand in a band of its own (a date that carries what it
      can).
    """

    rows: Rows
    kinds: Mapping[str, Kind]
    alone: frozenset[str] = frozenset()


class Result(Struct, frozen=True, eq=False):
    """A group after one more dimension. rows: None if it needed none.
    parts: what a cut has made of it. alone: as in `Dimension`."""

    group: Group
    rows: Rows | None = None
    parts: tuple[Group, ...] = ()
    alone: bool = False


class State(Struct, frozen=True, eq=False):
    """A schedule under construction. groups: of the statements that share all of its dimensions,
    in the order of their execution."""

    groups: tuple[Group, ...]
    dimensions: tuple[Dimension, ...] = ()

    @property
    def outer(self) -> tuple[Rows, ...]:
        return tuple(dimension.rows for dimension in self.dimensions)

    def extended(self, results: Sequence[Result], spaces: Mapping[str, StatementSpace]) -> State:
        """The state after one more dimension. results: of all groups, in their order."""
        rows: dict[str, Row] = {}
        kinds: dict[str, Kind] = {}
        groups: list[Group] = []
        for result in results:
            names = result.group.statements
            if result.parts:
                groups += result.parts
                kind: Kind = "scalar"
            else:
                groups.append(result.group)
                kind = "loop" if result.rows is not None else "none"
            for name in names:
                rows[name] = result.rows[name] if result.rows is not None else spaces[name].zero
                kinds[name] = kind
        if all(kind == "none" for kind in kinds.values()):
            return replace(self, groups=tuple(groups))
        ordered = {name: rows[name] for name in spaces}
        alone = frozenset(name for result in results if result.alone for name in result.group.statements)
        return State(tuple(groups), (*self.dimensions, Dimension(ordered, kinds, alone)))


class GroupSolver(Struct, frozen=True, eq=False):
    """What takes the groups of one SCoP further. The fields are those of
    `scopt.scheduler.construct.dimensions.Construction`."""

    spaces: Mapping[str, StatementSpace]
    strategy: Strategy
    fusion: FusionPolicy
    rescue: Strategy | None
    inputs: tuple[Edge, ...]
    bonds: frozenset[tuple[str, str]]

    def is_finished(self, group: Group, outer: Sequence[Rows]) -> bool:
        """Whether no dependence is left, and all instances of each statement are told apart."""
        return _finished(self.step(group.statements, group, outer))

    def step(self, part: Part, group: Group, outer: Sequence[Rows]) -> Step:
        """What a strategy may look at for one component of a group."""

        def within(edges: Iterable[Edge]) -> tuple[Edge, ...]:
            return tuple(edge for edge in edges if edge.source in part and edge.sink in part)

        return Step(self.spaces, part, within(group.edges), within(group.remaining), within(self.inputs), tuple(outer))

    def inside(self, group: Group) -> list[Edge]:
        """The input dependences within a group."""
        return [edge for edge in self.inputs if edge.source in group.statements and edge.sink in group.statements]

    def solve(self, group: Group, outer: Sequence[Rows], wish: Wish, strategy: Strategy | None = None) -> Rows | None:
        """Rows of all statements of a group: each component's own program. None if some component has no solution, or
        nothing is left to do."""
        strategy = strategy or self.strategy
        edges = group.edges if strategy.bands else group.remaining
        group = replace(group, edges=edges)
        tied = coupled(wish.node.rows, len(outer)) if wish.node is not None else []
        found: dict[str, Row] = {}
        progress = not wish.progression or wish.node is not None
        for part in components(group.statements, (*group.edges, *self.inside(group)), tied):
            step = self.step(part, group, outer)
            own = wish if wish.node is None else replace(wish, node=wish.node.concerning(part, len(outer)))
            if own.node is None and _finished(step):
                found |= {name: self.spaces[name].zero for name in part}
                continue
            rows = strategy.solve(step, own)
            if rows is None:
                return None
            found |= rows
            progress = True
        everything = self.step(group.statements, group, outer)
        if wish.progression and strategy.bands and all(complete(everything, name) for name in group.statements):
            return None
        return {name: found[name] for name in group.statements} if progress else None

    def possible(self, group: Group, outer: Sequence[Rows], wish: Wish) -> bool:
        """Whether a group has a further dimension."""
        steps = [
            self.step(part, group, outer) for part in components(group.statements, (*group.edges, *self.inside(group)))
        ]
        return all(_finished(step) or self.strategy.possible(step, wish) for step in steps)

    def cut(self, group: Group, outer: Sequence[Rows], *, start: bool, bound: bool = True) -> Result | None:
        """The group cut into a sequence of groups by the fusion policy; None if it stays whole. bound: by the bonds, if
        it shares no loop yet."""
        outermost = not any(any(row[:-1]) for rows in outer for row in (rows[name] for name in group.statements))
        parts = strongly_connected(group.statements, group.remaining, self.bonds if bound and outermost else ())
        if len(parts) < 2:
            return None
        trial = Trial(
            lambda part: self.possible(group.part(part), outer, Wish()),
            lambda part: self.possible(group.part(part), outer, Wish(coincident=True)),
        )
        if start:
            groups = at_start(self.fusion, parts, (*group.remaining, *self.inputs), self.spaces, trial)
        else:
            groups = when_stuck(self.fusion, parts, self.spaces, trial)
        if len(groups) < 2:
            return None
        textual = {name: k for k, name in enumerate(self.spaces)}
        ordered = [tuple(sorted(part, key=lambda name: textual[name])) for part in groups]
        rows = {name: (*self.spaces[name].zero[:-1], place) for place, part in enumerate(ordered) for name in part}
        return Result(group, rows, tuple(group.part(part) for part in ordered))

    def rescued(self, group: Group, outer: Sequence[Rows]) -> Result:
        """Where nothing else is left: distances, then live ranges apart, then a dimension of its own by the other
        strategy, which ends the band."""
        if (rows := self.solve(group, outer, Wish(far=True))) is not None:
            return Result(group.after(rows), rows)
        if (cut := self.cut(group, outer, start=False, bound=False)) is not None:
            return cut
        if (rows := self.solve(group, outer, Wish(far=True, falling=True))) is not None:
            return Result(group.after(rows), rows)
        rows = self.solve(group, outer, Wish(), self.rescue) if self.rescue is not None else None
        if rows is None:
            raise NoSchedule(f"no further dimension for {', '.join(group.statements)}")
        return Result(group.after(rows).without_carried(), rows, alone=True)


def _finished(step: Step) -> bool:
    """Whether a component needs no further loop."""
    return not step.remaining and all(complete(step, name) for name in step.statements)
