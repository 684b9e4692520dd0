"""Whether a statement that blends cells, where the original one updates them below a condition, does what that does."""

from __future__ import annotations

from scopt import ir
from scopt.astgen.passes.blended_cells import may_blend, value_type
from scopt.ir.chosen_values import conditions
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree


def is_blended(source: Scop, statement: Statement, base: Statement) -> bool:
    """Whether a statement is assignments of choices that do what the condition of the original one does, whose cells
    may be written, and whose values may be computed, whatever that says."""
    if not any(one is base for one in source.statements) or not isinstance(base.body, ir.If):
        return False
    if (statement.iterators, statement.accesses) != (base.iterators, base.accesses):
        return False

    def type_of(reference: ir.Node) -> str | None:
        return value_type(source, base, reference)

    same = any(same_tree(base.body, body) for body in conditions(statement.body, type_of))
    return same and may_blend(source, base)
