"""The non-linear optimizer for vectorization: influenced dimension scenarios as an influence constraint tree.

Source: constraint injection paper, section V: rows as in Fig. 3(b); per scenario variants with fusion first, variants
  with less rows last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.machine import DEFAULT, Machine
from scopt.scheduler.influence.fusing import Tie, ties
from scopt.scheduler.influence.influence_tree import Coefficient, InfluenceNode, InfluenceRow, InfluenceTree, equals
from scopt.scheduler.influence.scenarios import MAX_SCENARIOS, PAPER_WEIGHTS, Scenario, Weights, scenarios

# A node's name lists so many statements.
MAX_NAMES = 3


def vectorize_tree(
    scop: Scop, weights: Weights = PAPER_WEIGHTS, machine: Machine = DEFAULT, limit: int = MAX_SCENARIOS
) -> InfluenceTree:
    """The tree that wishes for vectorizable innermost loops, and for fusion besides; an empty one if no access is
    contiguous.

    weights, machine, limit: as for `scenarios`. Each path from the root to a leaf has as many nodes as the deepest
    statement has iterators. The last dimension, the vector loop of the deepest statements, is wished parallel; the
    right sibling wishes the same without.
    """
    depths = {statement.name: len(statement.iterators) for statement in scop.statements}
    found = [
        scenario for scenario in scenarios(scop, weights, machine, limit) if any(c.contiguous for c in scenario.choices)
    ]
    return tree_of(scop, depths, found)


def tree_of(scop: Scop, depths: Mapping[str, int], found: Iterable[Scenario]) -> InfluenceTree:
    """Scenarios as a tree, in the order given. depths: the number of iterators of each statement."""
    paths: dict[tuple[InfluenceNode, ...], None] = {}
    for scenario in found:
        for variant in _variants(scop, scenario, depths):
            nodes = _nodes(scop, variant, depths)
            if any(depths[statement] == len(nodes) for statement in variant.innermost):
                paths.setdefault((*nodes[:-1], _parallel(nodes[-1])))
            paths.setdefault(nodes)
    return InfluenceTree(_merged(tuple(paths)))


class _Variant(Struct, frozen=True):
    """What of a scenario is asked. innermost: the vector iterators of the statements that aren't left free.
    ties: what is fused."""

    word: str
    innermost: Mapping[str, str]
    ties: tuple[Tie, ...] = ()


def _variants(scop: Scop, scenario: Scenario, depths: Mapping[str, int]) -> Iterator[_Variant]:
    """With fusion; without; for the statements alone that have something contiguous,
    then a store; for the best statement alone."""
    innermost = {choice.statement: choice.innermost for choice in scenario.choices}
    fused = ties(scop, innermost)
    if fused:
        yield _Variant("fused", innermost, fused)
    yield _Variant("unfused", innermost)
    worth = {choice.statement: choice.innermost for choice in scenario.choices if choice.contiguous}
    stores = {choice.statement: choice.innermost for choice in scenario.choices if choice.stores}
    best = max(scenario.choices, key=lambda choice: choice.costs[0])
    previous = innermost
    for kept in (worth, stores, {best.statement: best.innermost}):
        if kept and len(kept) < len(previous):
            yield _Variant("relaxed", kept)
            previous = kept


def _nodes(scop: Scop, variant: _Variant, depths: Mapping[str, int]) -> tuple[InfluenceNode, ...]:
    """A variant's nodes from dimension 0 on, without children."""
    return tuple(_node(scop, variant, depths, dimension) for dimension in range(max(depths.values())))


def _node(scop: Scop, variant: _Variant, depths: Mapping[str, int], dimension: int) -> InfluenceNode:
    rows = [row for tie in variant.ties if dimension < tie.dimensions for row in _tied(tie, dimension)]
    ends = []
    for statement, iterator in variant.innermost.items():
        own = scop.statement(statement).iterators
        if dimension < depths[statement] - 1:
            rows.append(equals(((1, Coefficient(statement, dimension, iterator)),), 0))
        else:
            last = dimension == depths[statement] - 1
            rows += [
                equals(((1, Coefficient(statement, dimension, column)),), int(last and column == iterator))
                for column in own
            ]
            ends += [f"{statement}.{iterator}"] if last else []
    names = ", ".join(ends[:MAX_NAMES]) + (", …" if len(ends) > MAX_NAMES else "")
    return InfluenceNode(
        " ".join([variant.word, *([f"innermost {names}"] if ends else [])]), tuple(dict.fromkeys(rows))
    )


def _tied(tie: Tie, dimension: int) -> Iterator[InfluenceRow]:
    """The same coefficients in both statements for iterators that correspond; zero for the others."""
    for first, second in tie.pairs:
        yield equals(
            ((1, Coefficient(tie.first, dimension, first)), (-1, Coefficient(tie.second, dimension, second))), 0
        )
    for statement, iterator in tie.apart:
        yield equals(((1, Coefficient(statement, dimension, iterator)),), 0)


def _parallel(node: InfluenceNode) -> InfluenceNode:
    return InfluenceNode(f"{node.name} parallel", node.rows, parallel=True)


def _merged(paths: Sequence[tuple[InfluenceNode, ...]]) -> tuple[InfluenceNode, ...]:
    """Paths as a forest: those that ask the same of their first dimensions share nodes; siblings in the order of the
    first path through each.

    That a path is the beginning of another one doesn't happen: all have the same length.
    """
    heads: dict[tuple[frozenset[InfluenceRow], bool], InfluenceNode] = {}
    rests: dict[tuple[frozenset[InfluenceRow], bool], list[tuple[InfluenceNode, ...]]] = {}
    for head, *rest in paths:
        key = (frozenset(head.rows), head.parallel)
        heads.setdefault(key, head)
        rests.setdefault(key, []).append(tuple(rest))
    return tuple(
        InfluenceNode(
            head.name, head.rows, head.parallel, head.permutable, _merged([rest for rest in rests[key] if rest])
        )
        for key, head in heads.items()
    )
