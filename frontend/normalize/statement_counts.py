"""How many statements a region has that nobody marked, where schedulers take too long for many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from scopt import ir

# Statements of a region that is found: schedulers take too long for more of them, and only where somebody asks for it.
# Of those that set a variable `SET_VARIABLES` are like one that writes a cell: in straight code it takes their place.
MAX_STATEMENTS = 60
SET_VARIABLES = 4


def counted(items: Sequence[Any], blocks: Collection[Any] = ()) -> int:
    """Simple statements of a region; what sets a variable, or does nothing, counts as a part of one. blocks: that are
    executed as a whole."""
    cells, variables, todo = 0, 0, list(items)
    while todo:
        node = todo.pop()
        if node in blocks:
            cells += 1
        elif isinstance(node, (ir.For, ir.If, ir.While, ir.DoWhile, ir.Switch)):
            todo += [part for name in ("stmt", "iftrue", "iffalse") if (part := getattr(node, name, None)) is not None]
        elif isinstance(node, ir.Compound):
            todo += node.block_items or ()
        elif isinstance(node, ir.Assignment) and not isinstance(node.lvalue, ir.ID):
            cells += 1
        elif isinstance(node, (ir.Assignment, ir.Decl, ir.EmptyStatement)):
            variables += 1
        else:
            cells += 1
    return cells + -(-variables // SET_VARIABLES)
