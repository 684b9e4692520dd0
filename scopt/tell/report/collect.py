"""Gathers what a page shows of one region, while its integer sets are at hand; sizes are bounded here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Dependences, Scop
from scopt.poly.bands import ordered, with_properties
from scopt.poly.isl_utils import operation_limit
from scopt.tell.wording import kinds_text, some

if TYPE_CHECKING:
    from scopt.tell.view import Drawing, Edge, RegionView, TreeNode

MAX_STATEMENTS = 60
MAX_DEPENDENCES = 120
MAX_GRAPH = 40
MAX_DRAWINGS = 6
MAX_NODES = 300
# isl counts elementary operations: about a second for all drawings, or for a tree.
_OPERATIONS = 5_000_000
T = TypeVar("T")
_KINDS = ("flow", "reduction", "anti", "output")


def view_of(scop: Scop, deps: Dependences, tree: isl.Schedule, marked: MarkedSchedule) -> RegionView:
    """What can be shown of a region. tree: the scheduler's, before the band passes; marked: after them."""
    from scopt.tell.explain import array_lines, dependence_rows, statement_rows  # all this is imported for pages alone
    from scopt.tell.explain_result import regrouped
    from scopt.tell.report.tree_page import final_tree, proposed_tree
    from scopt.tell.view import DependenceView, RegionView, StatementView

    left_out: list[str] = []
    dependences = ordered(scop, deps)
    rows, reuse = dependence_rows(scop, deps)
    edges = _edges(scop, deps)
    if len(scop.statements) > MAX_GRAPH:
        left_out.append(
            f"the dependence graph, which has {some(len(scop.statements), 'statement')} (shown up to {MAX_GRAPH})"
        )
        edges = ()
    statements = [
        StatementView(name, int(line.split()[1]), around, text) for name, line, around, text in statement_rows(scop)
    ]
    before = _tree(lambda: proposed_tree(scop, deps, dependences, tree), "the tree before the band passes", left_out)
    after = _tree(lambda: final_tree(scop, marked), "the tree after the band passes", left_out)
    return RegionView(
        tuple(p.spelling for p in scop.parameters),
        _first(statements, MAX_STATEMENTS, "statement", left_out),
        tuple(array_lines(scop)),
        _first([DependenceView(*row) for row in rows], MAX_DEPENDENCES, "dependence", left_out),
        tuple(f"{kinds_text(found)} over {name}" for name, found in reuse.items()),
        edges,
        _drawings(scop, deps, marked, left_out),
        before,
        after,
        tuple(regrouped(with_properties(scop, dependences, tree), marked.tree)),
        tuple(left_out),
    )


def _first(items: Sequence[T], most: int, noun: str, left_out: list[str]) -> tuple[T, ...]:
    """The first items; how many there are besides is noted."""
    if len(items) > most:
        left_out.append(f"{some(len(items) - most, noun)} of {len(items)}")
    return tuple(items[:most])


def _edges(scop: Scop, deps: Dependences) -> tuple[Edge, ...]:
    """The dependences that order something, one edge for each pair of statements, in textual order."""
    from scopt.tell.view import Edge

    private = {name for name, array in scop.arrays.items() if array.private}
    arrays: dict[tuple[str, str], dict[str, set[str]]] = {}
    for dependence in (*deps.select("flow", "anti", "output"), *deps.reductions):
        if dependence.kind == "flow" or dependence.array not in private:
            arrays.setdefault((dependence.source, dependence.sink), {}).setdefault(dependence.kind, set()).add(
                dependence.array
            )
    position = {statement.name: k for k, statement in enumerate(scop.statements)}
    pairs = sorted(
        (pair for pair in arrays if set(pair) <= position.keys()),
        key=lambda pair: (position[pair[0]], position[pair[1]]),
    )
    return tuple(
        Edge(*pair, tuple(_label(kind, arrays[pair][kind]) for kind in _KINDS if kind in arrays[pair]))
        for pair in pairs
    )


def _label(kind: str, arrays: set[str]) -> str:
    named = sorted(arrays)
    return f"{kind} {', '.join(named[:4])}" + (f" and {len(named) - 4} more" if len(named) > 4 else "")


def _drawings(scop: Scop, deps: Dependences, marked: MarkedSchedule, left_out: list[str]) -> tuple[Drawing, ...]:
    """Drawings of the statements with the most loops around them, in textual order."""
    from scopt.tell.report.domains import drawings

    deepest = sorted(scop.statements, key=lambda statement: -len(statement.iterators))[:MAX_DRAWINGS]
    chosen = [statement for statement in scop.statements if statement in deepest and statement.iterators]
    made: list[Drawing] = []
    for statement in chosen:
        try:
            with operation_limit(_OPERATIONS):
                made += drawings(scop, deps, marked, statement)
        except isl.Error:
            left_out.append(f"the drawing of {statement.name}, which would take too long")
    others = sum(bool(statement.iterators) for statement in scop.statements) - len(chosen)
    if others:
        left_out.append(f"drawings of {some(others, 'statement')}")
    return tuple(made[: 2 * MAX_DRAWINGS])


def _tree(make: Callable[[], tuple[TreeNode, ...]], what: str, left_out: list[str]) -> tuple[TreeNode, ...]:
    """A tree, unless it is too large or takes too long."""
    try:
        with operation_limit(2 * _OPERATIONS):
            nodes = make()
    except isl.Error:
        left_out.append(f"{what}, which would take too long")
        return ()
    if (number := sum(1 for _ in _all(nodes))) > MAX_NODES:
        left_out.append(f"{what}, which has {number} nodes (shown up to {MAX_NODES})")
        return ()
    return nodes


def _all(nodes: Sequence[TreeNode]) -> Iterator[TreeNode]:
    for node in nodes:
        yield node
        yield from _all(node.children)
