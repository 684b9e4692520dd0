"""Whether a statement that evaluates both sides of its conditions does what the original does.

``||`` may have become ``|`` of truths, or a sum of some that is compared with 0, ``&&`` likewise the same of what
doesn't hold; the order of what is evaluated anyway doesn't matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scopt import ir
from scopt.astgen.passes.eager import EAGER, Sure
from scopt.ir.ctypes import type_spelling
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import is_truth, operands
from scopt.ir.walks import replaced, same_node, same_tree, walk

_JOINS = {"||": "|", "|": "|", "&&": "&", "&": "&"}


def is_eager(source: Scop, statement: Statement, base: Statement) -> bool:
    """Whether bodies are alike, but for ``&`` and ``|`` of truths where the original has ``&&`` and ``||`` whose right
    side may be evaluated anyway."""
    if not any(one is base for one in source.statements):
        return False
    alike = statement.iterators == base.iterators and statement.accesses == base.accesses
    if not alike:
        return False
    sure = Sure(source, base)
    return same_conditions(sure, base.body, statement.body) or _is_in_one(sure, base.body, statement.body)


def same_conditions(sure: Sure, mine: ir.Node, theirs: ir.Node) -> bool:
    """Whether a part of a statement, mine, is the other one but for conditions both sides of which that evaluates."""
    if _is_joined(sure, mine, theirs):
        return True
    match mine, theirs:
        case ir.BinaryOp(op="&&" | "||" as op), ir.BinaryOp(op="&" | "|" as other):
            truths = is_truth_of(sure, mine.left, theirs.left) and is_truth_of(sure, mine.right, theirs.right)
            return EAGER[op] == other and truths and sure.may_be_evaluated(mine.right)
    if not same_node(mine, theirs) or len(mine.children()) != len(theirs.children()):
        return False
    pairs = zip(mine.children(), theirs.children(), strict=True)
    return all(role == other and same_conditions(sure, a, b) for (role, a), (other, b) in pairs)


def _is_joined(sure: Sure, mine: ir.Node, theirs: ir.Node) -> bool:
    """Whether conditions are joined in the same way, some of them as sums. What the original may leave out may be
    evaluated anyway."""
    if not isinstance(mine, ir.BinaryOp) or mine.op not in _JOINS:
        return False
    join = _JOINS[mine.op]
    own, made = list(_joined_by(join, mine)), list(_parts(join, theirs))
    lazy = any(isinstance(one, ir.BinaryOp) and one.op in EAGER for one in _joints(join, mine))
    if len(own) < 2 or len(own) != len(made) or (lazy and not all(map(sure.may_be_evaluated, own[1:]))):
        return False
    for one in own:
        place = next((k for k, other in enumerate(made) if is_truth_of(sure, one, other)), None)
        if place is None:
            return False
        del made[place]
    return True


def _joints(join: str, node: ir.Node) -> Iterator[ir.Node]:
    """The operators that join parts of the original's condition: ``|`` and ``&`` join truths alone."""
    match node:
        case ir.BinaryOp(op=op, left=left, right=right) if _JOINS.get(op) == join:
            if op in EAGER or (is_truth(left) and is_truth(right)):
                yield node
                yield from _joints(join, left)
                yield from _joints(join, right)


def _joined_by(join: str, node: ir.Node) -> Iterator[ir.Node]:
    """What these join, in the order in which it is evaluated."""
    if any(True for _ in _joints(join, node)):
        yield from _joined_by(join, node.left)
        yield from _joined_by(join, node.right)
    else:
        yield node


def _parts(join: str, node: ir.Node) -> Iterator[ir.Node]:
    """What the other statement joins, each part a truth: any of the terms of a sum that isn't 0, none of one that
    is."""
    match node:
        case ir.BinaryOp(op=op, left=left, right=right) if op == join and is_truth(left) and is_truth(right):
            yield from _parts(join, left)
            yield from _parts(join, right)
        case ir.BinaryOp(op=op, left=ir.BinaryOp(op="+") as total, right=ir.Constant(type="int", value="0")):
            terms = list(operands("+", total))
            if op == "!=" and join == "|" and all(map(is_truth, terms)):
                yield from terms
            elif op == "==" and join == "&" and all(isinstance(one, ir.BinaryOp) and one.op == "==" for one in terms):
                yield from (ir.BinaryOp("!=", one.left, one.right) for one in terms)
            else:
                yield node
        case _:
            yield node


def is_truth_of(sure: Sure, mine: ir.Node, theirs: ir.Node) -> bool:
    """Whether a side is 1 where the original's isn't 0, and else 0."""
    match theirs:
        case ir.BinaryOp(op="!=", left=value, right=ir.Constant(type="int", value="0")) if not same_tree(mine, theirs):
            if same_conditions(sure, mine, value):
                return True
    return is_truth(theirs) and same_conditions(sure, mine, theirs)


def _is_in_one(sure: Sure, mine: ir.Node, theirs: ir.Node) -> bool:
    """Whether a condition asks at once what the original asks in two, one inside of the other: what is declared in
    between does nothing, and only the inner condition looks at it."""
    match _only(mine), _only(theirs):
        case ir.If(cond=outer, iftrue=ir.Node() as then, iffalse=None), ir.If(cond=both, iftrue=change, iffalse=None):
            *declared, last = then.block_items or [then] if isinstance(then, ir.Compound) else [then]
        case _:
            return False
    if not isinstance(last, ir.If) or last.iffalse is not None or not same_tree(last.iftrue, change):
        return False
    values: dict[str, ir.Node] = {}
    for one in declared:
        if not isinstance(one, ir.Decl) or not _is_its_value(sure, one):
            return False
        values[one.name] = _with_values(one.init, values)
    if any(isinstance(one, ir.ID) and one.name in values for one in walk(last.iftrue)):
        return False
    return same_conditions(sure, ir.BinaryOp("&&", outer, _with_values(last.cond, values)), both)


def _only(node: ir.Node) -> ir.Node:
    """What stands in braces alone."""
    while isinstance(node, ir.Compound) and len(node.block_items or ()) == 1:
        node = node.block_items[0]
    return node


def _with_values(node: ir.Node, values: Mapping[str, ir.Node]) -> ir.Node:
    made: ir.Node = replaced(node, lambda one: values.get(one.name, one) if isinstance(one, ir.ID) else one)
    return made


def _is_its_value(sure: Sure, declared: ir.Decl) -> bool:
    """Whether a variable's value stands for it anywhere: of its type, and nothing happens where it is computed."""
    if not isinstance(declared.type, ir.TypeDecl) or declared.init is None or declared.storage:
        return False
    if not {"volatile", "_Atomic"}.isdisjoint(declared.type.quals):
        return False
    value, spelling = declared.init, type_spelling(declared.type)
    return sure.may_be_evaluated(value) and _computes_in(sure, value, spelling)


def _computes_in(sure: Sure, value: ir.Node, spelling: str) -> bool:
    """Whether a value is computed in one type: any where it is a cell's or a constant, a floating-point type where it
    is a sum or a product (narrow integers become wider ones in these)."""
    access = next((one for one in sure.statement.accesses if one.node is value), None)
    if access is not None:
        return access.kind == "read" and sure.scop.arrays[access.array].type.spelling == spelling
    match value:
        case ir.Constant(type=own):
            return bool(own == spelling)
        case ir.UnaryOp(op="-", expr=operand):
            operands_of = [operand]
        case ir.BinaryOp(op="+" | "-" | "*", left=left, right=right):
            operands_of = [left, right]
        case _:
            return False
    return spelling in ("float", "double") and all(_computes_in(sure, one, spelling) for one in operands_of)
