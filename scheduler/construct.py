"""The one iterative construction: schedule dimensions from the outermost to the innermost, each the solution of an integer program.

Source: constraint injection paper, Algorithm 1. How a dimension's program is built is a strategy's business (Pluto's, Feautrier's); which statements
share loops is a fusion policy's; an influence constraint tree adds rows and alternatives. In this order, where a dimension has no solution:
drop progression where no dependence is left; the node's right sibling; drop the dependences that are carried (the band ends); the closest
ancestor's right sibling; cut between strongly connected components; no influence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from scopt.diagnostics import ScoptError
from scopt.scheduler.constraints.influence import constants_hold, coupled
from scopt.scheduler.constraints.progression import complete
from scopt.scheduler.generators import Row
from scopt.scheduler.influence.tree import InfluenceNode, InfluenceTree
from scopt.scheduler.problem import Edge, Rows, StatementSpace, Step
from scopt.scheduler.separation import FusionPolicy, Part, Trial, at_start, components, strongly_connected, when_stuck

Kind = Literal["loop", "scalar", "none"]
# Called with what the construction does about a tree: an id's last part and a message.
Log = Callable[[str, str], None]


class NoSchedule(ScoptError):
    """The construction has come to an end without a schedule."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a dimension beside the usual. node: of the influence constraint tree. coincident: it must carry none of the remaining edges.

    progression: whether statements have to get on; False where an influence asks for one more dimension. far: reuse distances may grow with the
    parameters even where negative coefficients are needed.
    """

    node: InfluenceNode | None = None
    coincident: bool = False
    progression: bool = True
    far: bool = False


class Strategy(Protocol):
    """How the row of one dimension is found. bands: dimensions keep respecting what the band has carried, so that they are permutable."""

    @property
    def bands(self) -> bool: ...

    def solve(self, step: Step, wish: Wish) -> Rows | None:
        """Rows of the step's statements; None if there are none."""
        ...

    def possible(self, step: Step, wish: Wish) -> bool:
        """Whether `solve` would find rows; quicker."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Statements that have shared everything so far. edges: to be respected by the band; remaining: those that it hasn't carried, as faces."""

    statements: Part
    edges: tuple[Edge, ...]
    remaining: tuple[Edge, ...]
    fresh: bool = True
    finished: bool = False

    @property
    def has_carried(self) -> bool:
        return len(self.edges) != len(self.remaining) or any(len(a.points) != len(b.points) for a, b in zip(self.edges, self.remaining, strict=True))

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


@dataclass(frozen=True, slots=True)
class Dimension:
    """One row for every statement, and what it is to the statement: a loop, the place in a sequence, or nothing any more.

    alone: the statements for which it is a loop that shall stand in a band of its own (a date that carries what it can).
    """

    rows: Rows
    kinds: Mapping[str, Kind]
    alone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    groups: tuple[Group, ...]
    dimensions: tuple[Dimension, ...] = ()

    @property
    def outer(self) -> tuple[Rows, ...]:
        return tuple(dimension.rows for dimension in self.dimensions)


@dataclass(frozen=True, slots=True, eq=False)
class Construction:
    """One SCoP's schedule. bonds: pairs of statements that stay together in their outermost loops (live ranges of private arrays).

    edges: all dependences to respect; inputs: input dependences for proximity; rescue: the strategy for a single SCC that the first one
    has no dimension for. Raises NoSchedule."""

    spaces: Mapping[str, StatementSpace]
    edges: tuple[Edge, ...]
    strategy: Strategy
    fusion: FusionPolicy
    rescue: Strategy | None = None
    inputs: tuple[Edge, ...] = ()
    tree: InfluenceTree = field(default_factory=InfluenceTree)
    log: Log = field(default=lambda _id, _message: None)
    bonds: frozenset[tuple[str, str]] = frozenset()

    def run(self) -> tuple[Dimension, ...]:
        """The dimensions, outermost first. Two instances of different statements may still have the same date; then no dependence joins them."""
        if self.tree.branches:
            found = self.influenced()
            if found is not None:
                return found
            self.log("dropped", "no scenario of the influence constraint tree is feasible: the schedule is made without it")
        state = self.initial()
        while not all(group.finished for group in state.groups):
            state = self.next(state)
        return state.dimensions

    def initial(self) -> _State:
        return _State((Group(tuple(self.spaces), self.edges, self.edges),))

    # --- without influence -----------------------------------------------------------------------------------------------------------------

    def next(self, state: _State) -> _State:
        """One more dimension; groups are independent of each other."""
        outer, results = state.outer, []
        for group in state.groups:
            results.append(self.advance(group, outer))
        return _extended(state, results, self.spaces)

    def advance(self, group: Group, outer: Sequence[Rows]) -> _Result:
        """The next dimension of a group: a loop, or a cut."""
        if self.is_finished(group, outer):
            return _Result(replace(group, finished=True))
        if group.fresh and (cut := self.cut(group, outer, start=True)) is not None:
            return cut
        # No cut can bring statements closer together that the band's dependences bind into one component: distances it is.
        whole = len(strongly_connected(group.statements, group.edges, ())) == 1
        rows = self.solve(group, outer, Wish(far=whole))
        if rows is not None:
            return _Result(group.after(rows), rows, alone=bool(group.remaining) and not self.strategy.bands)
        if group.has_carried:
            return self.advance(group.without_carried(), outer)
        if (cut := self.cut(group, outer, start=False)) is not None:
            return cut
        return self.rescued(group, outer)

    def rescued(self, group: Group, outer: Sequence[Rows]) -> _Result:
        """Where nothing else is left: distances, then live ranges apart, then a dimension of its own by the other strategy, which ends the band."""
        if (rows := self.solve(group, outer, Wish(far=True))) is not None:
            return _Result(group.after(rows), rows)
        if (cut := self.cut(group, outer, start=False, bound=False)) is not None:
            return cut
        rows = self.solve(group, outer, Wish(), self.rescue) if self.rescue is not None else None
        if rows is None:
            raise NoSchedule(f"no further dimension for {', '.join(group.statements)}")
        return _Result(group.after(rows).without_carried(), rows, alone=True)

    # --- with influence: Algorithm 1 -------------------------------------------------------------------------------------------------------

    def influenced(self) -> tuple[Dimension, ...] | None:
        """The schedule under the tree; None if no scenario is feasible. Each turn computes one dimension or takes one step back."""
        trail = [_Place(self.tree.branches, 0)]
        backup = [self.initial()]
        current, lost = backup[0], False
        while True:
            depth = len(backup) - 1
            node = trail[depth].node if depth < len(trail) else None
            results = self.attempt(current, node)
            if _failed(results):
                if node is not None and trail[depth].has_sibling:
                    trail[depth] = trail[depth].next
                    self.log("sibling", f"dimension {depth}: '{node.name}' is infeasible, its right sibling '{trail[depth].node.name}' is tried")
                    current = backup[depth]
                    continue
                failing = _failing(current, results)
                if not (node is not None and node.permutable) and any(group.has_carried for group in failing):
                    self.log("carried", f"dimension {depth}: the carried dependences are dropped, a new band begins")
                    current = replace(current, groups=tuple(g.without_carried() if g in failing else g for g in current.groups))
                    continue
                above = next((k for k in range(depth - 1, -1, -1) if trail[k].has_sibling), None) if node is not None else None
                if above is not None:
                    left, trail = trail[above].node.name, [*trail[:above], trail[above].next]
                    right = trail[above].node.name
                    self.log("backtrack", f"dimension {depth} has no solution: back to dimension {above}, from '{left}' to '{right}'")
                    backup, lost = backup[: above + 1], False
                    current = backup[above]
                    continue
                lost = lost or node is not None
                cut = self.cut_apart(current, results, rescue=node is None)
                if cut is None:
                    return None
                results = cut
            current = _extended(current, [result for result in results if result is not None], self.spaces)
            if node is not None and node.children:
                trail = [*trail, _Place(node.children, 0)]
            elif node is not None and not lost:
                self.log("reached", f"scenario '{' / '.join(place.node.name for place in trail)}' holds")
            pending = node is not None and bool(node.children)
            if not pending and all(self.is_finished(group, current.outer) for group in current.groups):
                return current.dimensions
            backup.append(current)

    def cut_apart(self, state: _State, results: Sequence[_Result | None], *, rescue: bool) -> list[_Result | None] | None:
        """The results with a cut of each group that has none; beyond the tree's leaves, where there is nothing to cut, the other strategy's row.

        None if some group is one strongly connected component.
        """
        found: list[_Result | None] = []
        depth = len(state.dimensions)
        for group, result in zip(state.groups, results, strict=True):
            known = result
            if known is None and (known := self.cut(group, state.outer, start=False)) is not None:
                self.log("cut", f"dimension {depth}: strongly connected components are cut apart ({', '.join(group.statements)})")
            if known is None and not rescue:
                return None
            found.append(known if known is not None else self.rescued(group, state.outer))
        return found

    def attempt(self, state: _State, node: InfluenceNode | None) -> list[_Result | None]:
        """The next dimension of all groups under a node's rows; None for a group that has none."""
        if node is None:
            return [self.uninfluenced(group, state.outer) for group in state.groups]
        depth = len(state.dimensions)
        if not constants_hold(node.rows, state.outer, self.spaces):
            return [None] * len(state.groups)
        results: dict[Part, _Result | None] = {}
        for cluster in _clusters(state.groups, coupled(node.rows, depth)):
            together = _merged(cluster)
            wish = Wish(_restricted(node, together.statements), coincident=node.parallel)
            rows = self.solve(together, state.outer, wish)
            if rows is None and not together.remaining:
                rows = self.solve(together, state.outer, replace(wish, progression=False))
                if rows is not None:
                    self.log("progression", f"dimension {depth}: no dependence is left, progression is dropped")
            for group in cluster:
                results[group.statements] = None if rows is None else _Result(group.after(rows), {name: rows[name] for name in group.statements})
        return [results[group.statements] for group in state.groups]

    def uninfluenced(self, group: Group, outer: Sequence[Rows]) -> _Result | None:
        """The next dimension of a group beyond the tree's leaves."""
        if self.is_finished(group, outer):
            return _Result(replace(group, finished=True))
        rows = self.solve(group, outer, Wish())
        return None if rows is None else _Result(group.after(rows), rows)

    # --- one group -------------------------------------------------------------------------------------------------------------------------

    def is_finished(self, group: Group, outer: Sequence[Rows]) -> bool:
        return not group.remaining and all(complete(self.step((name,), group, outer), name) for name in group.statements)

    def step(self, part: Part, group: Group, outer: Sequence[Rows]) -> Step:
        def within(edges: Iterable[Edge]) -> tuple[Edge, ...]:
            return tuple(edge for edge in edges if edge.source in part and edge.sink in part)

        return Step(self.spaces, part, within(group.edges), within(group.remaining), within(self.inputs), tuple(outer))

    def inside(self, group: Group) -> list[Edge]:
        """The input dependences within a group."""
        return [edge for edge in self.inputs if edge.source in group.statements and edge.sink in group.statements]

    def solve(self, group: Group, outer: Sequence[Rows], wish: Wish, strategy: Strategy | None = None) -> Rows | None:
        """Rows of all statements of a group: each component's own program. None if some component has no solution, or nothing is left to do."""
        strategy = strategy or self.strategy
        edges = group.edges if strategy.bands else group.remaining
        group = replace(group, edges=edges)
        tied = coupled(wish.node.rows, len(outer)) if wish.node is not None else []
        found: dict[str, Row] = {}
        whole, progress = wish, not wish.progression or wish.node is not None
        for part in components(group.statements, (*group.edges, *self.inside(group)), tied):
            step = self.step(part, group, outer)
            wish = replace(wish, node=_restricted(node, part)) if (node := whole.node) is not None else wish
            if wish.node is None and _finished(step):
                found |= {name: self.spaces[name].zero for name in part}
                continue
            rows = strategy.solve(step, wish)
            if rows is None:
                return None
            found |= rows
            progress = True
        if wish.progression and all(complete(self.step((name,), group, outer), name) for name in group.statements) and strategy.bands:
            return None
        return {name: found[name] for name in group.statements} if progress else None

    def possible(self, group: Group, outer: Sequence[Rows], wish: Wish) -> bool:
        """Whether a group has a further dimension."""
        steps = [self.step(part, group, outer) for part in components(group.statements, (*group.edges, *self.inside(group)))]
        return all(_finished(step) or self.strategy.possible(step, wish) for step in steps)

    def cut(self, group: Group, outer: Sequence[Rows], *, start: bool, bound: bool = True) -> _Result | None:
        """The group cut into a sequence of groups by the fusion policy; None if it stays whole. bound: by the bonds, if it shares no loop yet."""
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
        return _Result(group, rows, tuple(group.part(part) for part in ordered))


@dataclass(frozen=True, slots=True, eq=False)
class _Result:
    """A group after one more dimension. rows: None if it needed none. parts: what a cut has made of it. alone: as in `Dimension`."""

    group: Group
    rows: Rows | None = None
    parts: tuple[Group, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A node among its siblings."""

    siblings: tuple[InfluenceNode, ...]
    position: int

    @property
    def node(self) -> InfluenceNode:
        return self.siblings[self.position]

    @property
    def has_sibling(self) -> bool:
        return self.position + 1 < len(self.siblings)

    @property
    def next(self) -> _Place:
        return _Place(self.siblings, self.position + 1)


def _extended(state: _State, results: Sequence[_Result], spaces: Mapping[str, StatementSpace]) -> _State:
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
        return replace(state, groups=tuple(groups))
    ordered = {name: rows[name] for name in spaces}
    alone = frozenset(name for result in results if result.alone for name in result.group.statements)
    return _State(tuple(groups), (*state.dimensions, Dimension(ordered, kinds, alone)))


def _finished(step: Step) -> bool:
    """Whether a component needs no further loop."""
    return not step.remaining and all(complete(step, name) for name in step.statements)


def _failed(results: Iterable[_Result | None]) -> bool:
    return any(result is None for result in results)


def _failing(state: _State, results: Sequence[_Result | None]) -> list[Group]:
    return [group for group, result in zip(state.groups, results, strict=True) if result is None]


def _restricted(node: InfluenceNode, statements: Part) -> InfluenceNode:
    """The node with those rows only that concern some of the statements."""
    inside = set(statements)
    return replace(node, rows=tuple(row for row in node.rows if inside & {c.statement for _, c in row.terms}))


def _clusters(groups: Sequence[Group], tied: Sequence[set[str]]) -> list[list[Group]]:
    """Groups that rows tie together have to be solved together."""
    everything = tuple(name for group in groups for name in group.statements)
    whole = [set(group.statements) for group in groups]
    parts = components(everything, (), (*tied, *whole))
    return [[group for group in groups if group.statements[0] in part] for part in parts]


def _merged(groups: Sequence[Group]) -> Group:
    statements = tuple(name for group in groups for name in group.statements)
    edges = tuple(edge for group in groups for edge in group.edges)
    return Group(statements, edges, tuple(edge for group in groups for edge in group.remaining))
