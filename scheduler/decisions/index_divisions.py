"""Divisions in subscripts by what no constant is (``table[k * t % n]``): one after the other, also in vectors.

Statements of the same loops that divide alike share the result, as compilers see, if they run beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scopt import ir
from scopt.ir.scop import Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.source_loops import Loops


def index_divisions(statements: Sequence[Statement], loops: Mapping[str, Loops]) -> dict[str, int]:
    """By statement, how many divisions it does that none before it has done in the same iteration. loops: of the
    source, by statement."""
    known: dict[Loops, list[ir.Node]] = {}
    found = {}
    for statement in statements:
        before = known.setdefault(loops.get(statement.name, ()), [])
        fresh: list[ir.Node] = []
        for division in _divisions(statement.body):
            if not any(same_tree(division, other) for other in (*before, *fresh)):
                fresh.append(division)
        before += fresh
        found[statement.name] = len(fresh)
    return found


def divide_alike(own: Iterable[Statement], others: Iterable[Statement]) -> bool:
    """Whether some statement does a division that one of the others does, too."""
    mine = [division for statement in own for division in _divisions(statement.body)]
    theirs = [division for statement in others for division in _divisions(statement.body)] if mine else []
    return any(same_tree(a, b) for a in mine for b in theirs)


def _divisions(body: ir.Node) -> Iterator[ir.Node]:
    for reference in walk(body):
        if isinstance(reference, ir.ArrayRef):
            for part in walk(reference.subscript):
                match part:
                    case ir.BinaryOp(op="/" | "%", right=right) if not isinstance(right, ir.Constant):
                        if not any(isinstance(inner, ir.ArrayRef | ir.FuncCall) for inner in walk(part)):
                            yield part
