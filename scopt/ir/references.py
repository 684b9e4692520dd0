"""What references look like in the C of a statement."""

from __future__ import annotations

from pycparser import c_ast


def is_cell(node: c_ast.Node | None, spelling: str, rank: int) -> bool:
    """Whether a reference is the array's name with as many subscripts as it has dimensions, one at least."""
    depth = 0
    while isinstance(node, c_ast.ArrayRef):
        node, depth = node.name, depth + 1
    return depth == rank > 0 and isinstance(node, c_ast.ID) and node.name == spelling
