"""Statements that exchange two cells without a branch: read from their text, they do what the original ones do.

``{ T t = a; a = t > b ? b : t; b = t > b ? t : b; }`` is ``if (a > b) { T t = a; a = b; b = t; }``: whatever the
comparison says, a's new value doesn't change b, unless both are one cell, which keeps its value either way.
"""

from __future__ import annotations

from scopt import ir
from scopt.astgen.passes.exchanging import Exchange, exchange, without_branch
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree, walk


def is_exchanged(scop: Scop, statement: Statement, base: Statement) -> bool:
    """Whether a statement exchanges the cells that the original, of this SCoP, exchanges under its condition."""
    # that all is of one type, and that the cells may be written, isn't seen from the text
    original = exchange(base.body) if without_branch(scop, base) is not None else None
    return original is not None and exchanges_the_same(statement.body, original)


def exchanges_the_same(body: ir.Node, original: Exchange) -> bool:
    """Whether a body stores what an exchange stores, or what was there."""
    match body:
        case ir.Compound(
            block_items=[
                ir.Decl(name=str(t), init=ir.Node() as saved) as declaration,
                ir.Assignment(
                    op="=",
                    lvalue=first,
                    rvalue=ir.TernaryOp(cond=ir.Node() as early, iftrue=moved, iffalse=ir.ID() as kept),
                ),
                ir.Assignment(
                    op="=",
                    lvalue=second,
                    rvalue=ir.TernaryOp(cond=ir.Node() as late, iftrue=ir.ID() as given, iffalse=stays),
                ),
            ]
        ):
            cells = [(saved, original.saved), (first, original.saved), (moved, original.moved)]
            cells += [(second, original.moved), (stays, original.moved)]
            same = same_tree(declaration, original.declaration) and all(same_tree(one, two) for one, two in cells)
            asked = _is_asked(early, t, original) and _is_asked(late, t, original) and not _looks_at(late, first)
            return same and asked and kept.name == t == given.name
    return False


def _is_asked(condition: ir.Node, t: str, original: Exchange) -> bool:
    """Whether a condition is the original's, of the variable in place of the cell that it was read from."""
    match condition, original.condition:
        case ir.BinaryOp(op=op, left=left, right=right), ir.BinaryOp(op=other, left=one, right=two) if op == other:
            pairs = ((left, one), (right, two))
            return all(
                same_tree(cell, original.saved) if isinstance(mine, ir.ID) and mine.name == t else same_tree(mine, cell)
                for mine, cell in pairs
            )
    return False


def _looks_at(condition: ir.Node, cell: ir.Node) -> bool:
    return any(same_tree(one, cell) for one in walk(condition))
