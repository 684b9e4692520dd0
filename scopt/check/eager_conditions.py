"""Whether a statement that evaluates both sides of its conditions does what the original does."""

from __future__ import annotations

from scopt import ir
from scopt.astgen.passes.eager import EAGER, Sure
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import is_truth
from scopt.ir.walks import same_node, same_tree


def is_eager(source: Scop, statement: Statement, base: Statement) -> bool:
    """Whether bodies are alike, but for ``&`` and ``|`` of truths where the original has ``&&`` and ``||`` whose right
    side may be evaluated anyway."""
    if not any(one is base for one in source.statements):
        return False
    alike = statement.iterators == base.iterators and statement.accesses == base.accesses
    return alike and same_conditions(Sure(source, base), base.body, statement.body)


def same_conditions(sure: Sure, mine: ir.Node, theirs: ir.Node) -> bool:
    """Whether a part of a statement, mine, is the other one but for conditions both sides of which that evaluates."""
    match mine, theirs:
        case ir.BinaryOp(op="&&" | "||" as op), ir.BinaryOp(op="&" | "|" as other):
            truths = is_truth_of(sure, mine.left, theirs.left) and is_truth_of(sure, mine.right, theirs.right)
            return EAGER[op] == other and truths and sure.may_be_evaluated(mine.right)
    if not same_node(mine, theirs) or len(mine.children()) != len(theirs.children()):
        return False
    pairs = zip(mine.children(), theirs.children(), strict=True)
    return all(role == other and same_conditions(sure, a, b) for (role, a), (other, b) in pairs)


def is_truth_of(sure: Sure, mine: ir.Node, theirs: ir.Node) -> bool:
    """Whether a side is 1 where the original's isn't 0, and else 0."""
    match theirs:
        case ir.BinaryOp(op="!=", left=value, right=ir.Constant(type="int", value="0")) if not same_tree(mine, theirs):
            if same_conditions(sure, mine, value):
                return True
    return is_truth(theirs) and same_conditions(sure, mine, theirs)
