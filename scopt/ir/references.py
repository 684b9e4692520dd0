"""What references look like in the C of a statement."""

from __future__ import annotations

from scopt import ir


def is_cell(node: ir.Node | None, spelling: str, rank: int) -> bool:
    """Whether a reference is the array's name with as many subscripts as it has dimensions, one at least."""
    depth = 0
    while isinstance(node, ir.ArrayRef):
        node, depth = node.name, depth + 1
    return depth == rank > 0 and isinstance(node, ir.ID) and node.name == spelling
