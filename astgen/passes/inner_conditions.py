"""A condition inside of another one as one condition: ``if (c) { float m = e; if (m < t) x = v; }`` is
``if (c && e < t) x = v;``.

Where both may be evaluated anyway, one is left to decide: compilers make no vectors of a branch in a branch.
"""

from __future__ import annotations

from scopt import ir
from scopt.ir.ctypes import type_spelling
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import replaced, same_items, walk

_FLOATS = ("float", "double")


def in_one_condition(scop: Scop, statement: Statement, body: ir.Node) -> ir.If | None:
    """A statement's body, if it is one condition in another, and nothing but variables beside it that the inner
    condition looks at once, as that with both joined by ``&&``; None if it is anything else."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return in_one_condition(scop, statement, only)
        case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=None):
            items = list(then.block_items or ()) if isinstance(then, ir.Compound) else [then]
            match items:
                case [*declared, ir.If(cond=inner, iftrue=ir.Node() as change, iffalse=None)]:
                    for one in reversed(declared):
                        inner = _with_value(scop, statement, one, inner, change)
                        if inner is None:
                            return None
                    return ir.If(ir.BinaryOp("&&", condition, inner), change, None, body.coord)
    return None


def _with_value(scop: Scop, statement: Statement, one: ir.Node, inner: ir.Node, change: ir.Node) -> ir.Node | None:
    """A condition with the value of a variable in its place; None if it looks at it several times, if anything else
    does, or if the value has another type than the variable."""
    if not isinstance(one, ir.Decl) or not isinstance(one.type, ir.TypeDecl) or one.init is None or one.storage:
        return None
    uses = [node for node in walk(inner) if isinstance(node, ir.ID) and node.name == one.name]
    if len(uses) != 1 or any(isinstance(node, ir.ID) and node.name == one.name for node in walk(change)):
        return None
    if "volatile" in one.type.quals or not _has_type(scop, statement, one.init, type_spelling(one.type)):
        return None
    value = one.init
    made: ir.Node = replaced(inner, lambda node: value if node is uses[0] else node)
    return None if same_items([made], [inner]) else made


def _has_type(scop: Scop, statement: Statement, value: ir.Node, spelling: str) -> bool:
    """Whether a value is computed of numbers of one floating-point type alone."""
    access = next((one for one in statement.accesses if one.node is value), None)
    if access is not None:
        return access.kind == "read" and scop.arrays[access.array].type.spelling == spelling
    match value:
        case ir.Constant(type=own):
            return bool(own == spelling)
        case ir.UnaryOp(op="-", expr=inner):
            return _has_type(scop, statement, inner, spelling)
        case ir.BinaryOp(op="+" | "-" | "*", left=left, right=right):
            return all(_has_type(scop, statement, one, spelling) for one in (left, right)) and spelling in _FLOATS
    return False
