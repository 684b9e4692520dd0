"""What the user's pragmas ask of loops, as an influence constraint tree.

The tree only proposes: the dependences decide, and `scopt.scheduler.influence.honoured` looks at the loops that come
out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.scheduler.influence.influence_tree import (
    CONSTANT,
    Coefficient,
    InfluenceNode,
    InfluenceRow,
    InfluenceTree,
    equals,
)

# Wishes are combined in all ways that go together; more ways than this are not looked at.
MAX_SCENARIOS = 64


class _Choice(Struct, frozen=True):
    """One way to fulfil some wishes.

    loops: (statement, dimension) → the iterator that this dimension is. innermost: the statements' vector iterators.
    words: dimension → the wishes that it fulfils. covered: dimensions in which every statement that has them is a
      target.
    """

    loops: Mapping[tuple[str, int], str] = field(default_factory=dict)
    innermost: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    covered: frozenset[int] = frozenset()


def directive_tree(scop: Scop, deps: Dependences, directives: Sequence[LoopDirective]) -> InfluenceTree | None:
    """The scenarios in which all the wishes come true, best first; None if there is none, or no wish.

    ``parallel(i)``: one dimension is exactly i for all its targets: dimension 0 if that can be, else 1, …; at last,
    each target's own in the source. ``vector(j)``: the last dimension of each target is exactly j, and no other one has
    a coefficient for j. First with all these dimensions flagged parallel. That asks more than the user does (of
    statements that are no targets, and of private arrays), so the same scenarios follow with flags only where every
    statement is a target, and with none. deps: not looked at.
    """
    wishes = [directive for directive in directives if directive.targets]
    depths = {statement.name: len(statement.iterators) for statement in scop.statements}
    ways = [_parallel_ways(scop, wish) if wish.kind == "parallel" else [_vector_way(wish, depths)] for wish in wishes]
    choices = [choice for combination in product(*ways) if (choice := _merged(combination, depths)) is not None][
        :MAX_SCENARIOS
    ]
    if not wishes or not choices:
        return None
    flags = (
        [frozenset(choice.words) for choice in choices],
        [choice.covered for choice in choices],
        [frozenset[int]() for _ in choices],
    )
    scenarios = [
        _nodes(scop, choice, flagged) for level in flags for choice, flagged in zip(choices, level, strict=True)
    ]
    return InfluenceTree(_branches(tuple(dict.fromkeys(scenarios))))


def _parallel_ways(scop: Scop, wish: LoopDirective) -> list[_Choice]:
    """The dimensions that may be the wished iterator: one for all targets, outermost first;
    then each target's own in the source."""
    own = {name: scop.statement(name).iterators.index(iterator) for name, iterator in wish.targets}
    least = min(len(scop.statement(name).iterators) for name in own)
    placements = [dict.fromkeys(own, dimension) for dimension in range(least)]
    if own not in placements:
        placements.append(own)
    return [_at(wish, placement) for placement in placements]


def _vector_way(wish: LoopDirective, depths: Mapping[str, int]) -> _Choice:
    """The last dimension of each target."""
    return replace(_at(wish, {name: depths[name] - 1 for name, _ in wish.targets}), innermost=dict(wish.targets))


def _at(wish: LoopDirective, dimensions: Mapping[str, int]) -> _Choice:
    loops = {(name, dimensions[name]): iterator for name, iterator in wish.targets}
    return _Choice(loops, {}, {dimension: (str(wish),) for dimension in sorted(set(dimensions.values()))})


def _merged(choices: Iterable[_Choice], depths: Mapping[str, int]) -> _Choice | None:
    """Several choices as one; None if they don't go together:
    two iterators in one dimension, one in two, a vector iterator outside."""
    loops: dict[tuple[str, int], str] = {}
    innermost: dict[str, str] = {}
    words: dict[int, tuple[str, ...]] = {}
    for choice in choices:
        for place, iterator in choice.loops.items():
            if loops.setdefault(place, iterator) != iterator:
                return None
        innermost |= choice.innermost
        for dimension, names in choice.words.items():
            words[dimension] = (*words.get(dimension, ()), *names)
    if len({(name, iterator) for (name, _), iterator in loops.items()}) < len(loops):
        return None
    if any(
        innermost.get(name) == iterator and dimension < depths[name] - 1
        for (name, dimension), iterator in loops.items()
    ):
        return None
    covered = {d for d in words if all((name, d) in loops for name, depth in depths.items() if depth > d)}
    return _Choice(loops, innermost, words, frozenset(covered))


def _nodes(scop: Scop, choice: _Choice, flagged: Collection[int]) -> tuple[InfluenceNode, ...]:
    """The scenario's nodes from dimension 0 on, without children."""
    nodes = []
    for dimension in range(max(choice.words) + 1):
        rows = [
            row
            for (name, d), iterator in sorted(choice.loops.items())
            if d == dimension
            for row in _exactly(scop, name, d, iterator)
        ]
        for name, iterator in sorted(choice.innermost.items()):
            if dimension < len(scop.statement(name).iterators) - 1:
                rows.append(equals(((1, Coefficient(name, dimension, iterator)),), 0))
        words = " ".join(choice.words.get(dimension, ())) or "any"
        nodes.append(InfluenceNode(words, tuple(dict.fromkeys(rows)), parallel=dimension in flagged))
    return tuple(nodes)


def _exactly(scop: Scop, statement: str, dimension: int, iterator: str) -> Iterator[InfluenceRow]:
    """Rows that make one dimension of a statement equal to one of its iterators."""
    parameters = (parameter.name for parameter in scop.parameters)
    for column in (*scop.statement(statement).iterators, *parameters, CONSTANT):
        yield equals(((1, Coefficient(statement, dimension, column)),), int(column == iterator))


def _branches(scenarios: Iterable[Sequence[InfluenceNode]]) -> tuple[InfluenceNode, ...]:
    """The scenarios as a forest: those that begin alike share nodes, in the order of the first."""
    tails: dict[InfluenceNode, list[Sequence[InfluenceNode]]] = {}
    for scenario in scenarios:
        if scenario:
            tails.setdefault(scenario[0], []).append(scenario[1:])
    return tuple(
        InfluenceNode(head.name, head.rows, head.parallel, head.permutable, _branches(rest))
        for head, rest in tails.items()
    )
