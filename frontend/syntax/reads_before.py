"""Cells that a function has surely read when a region begins: they may be read there whatever the region's conditions
say, as ``*m`` of ``if (*m == 0) return;`` in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scopt import ir
from scopt.frontend.syntax.symbols import taken_in
from scopt.ir.effects import effects
from scopt.ir.walks import walk

if TYPE_CHECKING:
    from scopt.frontend.syntax.facts import FunctionFacts
    from scopt.frontend.syntax.unit import Region


def pointers_read_before(facts: FunctionFacts, region: Region) -> frozenset[str]:
    """The names of pointers whose first cell has been read, since when nothing has been called that could have freed
    it, and the pointer is what it was."""
    found: set[str] = set()
    killed = set(taken_in(facts, {}))
    if facts.hidden_jumps:
        return frozenset()
    for node, index in reversed([*facts.path_to(region.parent), (region.parent, region.first)]):
        if isinstance(node, ir.If) and node not in facts.entered:
            before = [node.cond]
        elif isinstance(node, ir.Compound):
            before = list(node.block_items or ())[:index]
        else:
            break  # what other iterations have done isn't looked at
        for item in reversed(before):
            if item in facts.entered or any(map(_may_free, walk(*_passed(item)))):
                return frozenset(found)
            killed |= effects(*_passed(item)).changed
            found |= set(_read(item, settled=False)) - killed
        if node in facts.entered:
            break
    return frozenset(found)


def _passed(item: Any) -> tuple[Any, ...]:
    """What of a statement has run where control goes on behind it."""
    return (item.cond,) if _leaves(item) else (item,)


def _leaves(item: Any) -> bool:
    """Whether a statement is a condition under which the function ends."""
    if not isinstance(item, ir.If) or item.iffalse is not None:
        return False
    last = item.iftrue
    while isinstance(last, ir.Compound) and last.block_items:
        last = last.block_items[-1]
    return isinstance(last, ir.Return)


def _may_free(node: Any) -> bool:
    return isinstance(node, (ir.FuncCall, ir.Goto))


def _read(node: Any, *, settled: bool) -> Iterator[str]:
    """The pointers through which a statement or expression surely reads. settled: it is a condition that doesn't
    hold."""
    match node:
        case None:
            return
        case (
            ir.UnaryOp(op="*", expr=ir.ID(name=name))
            | ir.ArrayRef(name=ir.ID(name=name), subscript=ir.Constant(value="0"))
        ):
            yield name
        case ir.UnaryOp(op="&" | "sizeof" | "_Alignof" | "__alignof__"):
            return
        case ir.If(cond=cond):
            yield from _read(cond, settled=_leaves(node))
        case ir.BinaryOp(op="||", left=left, right=right) if settled:
            yield from _read(left, settled=True)
            yield from _read(right, settled=True)
        case ir.BinaryOp(op="&&" | "||", left=left):
            yield from _read(left, settled=False)
        case ir.TernaryOp(cond=cond):
            yield from _read(cond, settled=False)
        case ir.For(init=init, cond=cond):
            yield from _read(init, settled=False)
            yield from _read(cond, settled=False)
        case ir.While(cond=cond):
            yield from _read(cond, settled=False)
        case ir.Assignment(op=op, lvalue=lvalue, rvalue=rvalue):
            yield from _read(rvalue, settled=False)
            if op != "=" or not isinstance(lvalue, ir.UnaryOp):
                yield from _read(lvalue, settled=False)
        case ir.Decl(init=init):
            yield from _read(init, settled=False)
        case ir.BinaryOp() | ir.UnaryOp() | ir.Cast() | ir.ArrayRef() | ir.StructRef() | ir.DeclList() | ir.ExprList():
            for part in node.parts:
                yield from _read(part, settled=False)
