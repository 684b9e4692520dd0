"""Checks after which a program ends, ``assert(i < n);`` and ``if (i >= n) abort();``: as conditions of calls, of which
it is known that nothing follows them.

Where such a condition is affine, a region can be taken for granted to pass all of its checks: the program tests where
the region begins that each iteration would, and does what the source says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

from scopt import ir
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.walks import changed, rebuilt, same_items, walk

# Functions of libraries that don't return.
_ENDING = frozenset(
    "abort exit _exit _Exit quick_exit __assert_fail __assert_perror_fail __assert __assert_rtn __assert_func"
    " __builtin_trap __builtin_unreachable __builtin_abort err errx verr verrx".split()
)
# The parts of statements that are statements.
_PARTS = {ir.For: ("stmt",), ir.While: ("stmt",), ir.DoWhile: ("stmt",), ir.If: ("iftrue", "iffalse")}


def with_plain_checks(items: Iterable[Any], own: Collection[str]) -> tuple[Any, ...]:
    """Statements with an `if` for each choice between nothing and a call, as assertions are, and nothing but the call
    below conditions of calls of the library that end the program: what they would say before is never printed here.
    own: functions of the file, of which a name says nothing."""
    items, ending = tuple(items), _ENDING.difference(own)
    if not any(isinstance(node, ir.FuncCall) and _is_one(node, ending) for node in walk(*items)):
        return items

    def change(node: Any) -> Any:
        if isinstance(node, ir.Compound):
            made = [_statement(one, ending) for one in node.block_items or ()]
            return node if same_items(made, node.block_items or ()) else changed(node, block_items=made)
        parts = {name: _statement(getattr(node, name), ending) for name in _PARTS.get(type(node), ())}
        same = all(getattr(node, name) is made for name, made in parts.items())
        return node if same else changed(node, **parts)

    return tuple(_statement(rebuilt(item, change), ending) for item in items)


def _statement(node: Any, ending: Collection[str]) -> Any:
    inner = node
    while True:
        match inner:
            case ir.ExprList(exprs=(*before, last)) if all(_is_nothing(one) for one in before):
                inner = last
            case ir.Cast() if _is_void(inner):
                inner = inner.expr
            case ir.TernaryOp() if (call := _call(inner)) is not None and _is_one(call, ending):
                cond = inner.cond if call is inner.iftrue else ir.UnaryOp("!", inner.cond, inner.coord)
                return ir.If(cond, changed(call, args=None), None, node.coord)
            case ir.If() if (call := _last(inner.iftrue)) is not None and _is_one(call, ending):
                return changed(inner, iftrue=changed(call, args=None))
            case _:
                return node


def _last(statement: Any) -> Any | None:
    """The call behind which nothing of a statement, or block, can follow, if it doesn't return."""
    items = (statement.block_items or ()) if isinstance(statement, ir.Compound) else (statement,)
    jumps = (ir.Goto, ir.Label, ir.Return, ir.Break, ir.Continue)
    if not items or any(isinstance(node, jumps) for node in walk(*items)):
        return None
    return items[-1] if isinstance(items[-1], ir.FuncCall) and isinstance(items[-1].name, ir.ID) else None


def _is_one(call: ir.FuncCall, functions: Collection[str]) -> bool:
    return isinstance(call.name, ir.ID) and call.name.name in functions


def _call(choice: ir.TernaryOp) -> Any | None:
    """The call of a choice between that and nothing."""
    for call, nothing in ((choice.iftrue, choice.iffalse), (choice.iffalse, choice.iftrue)):
        if (
            isinstance(call, ir.FuncCall)
            and isinstance(nothing, ir.Cast)
            and _is_void(nothing)
            and _is_nothing(nothing)
        ):
            return call
    return None


def _is_void(node: ir.Cast) -> bool:
    return any(
        isinstance(one, ir.IdentifierType) and list(one.names) == ["void"] for one in walk(node.to_type)
    ) and not any(isinstance(one, ir.PtrDecl) for one in walk(node.to_type))


def _is_nothing(node: Any) -> bool:
    """Whether an expression has no effect, and can't fail."""
    match node:
        case ir.Cast() if _is_void(node):
            return _is_nothing(node.expr)
        case ir.UnaryOp(op="sizeof" | "_Alignof") | ir.Constant():
            return True
    return False


def never_returns(tu: TranslationUnit, statement: Any) -> bool:
    """Whether nothing can follow a statement of a region, since it ends the program: the call of a function that does,
    whatever stands in front of it."""
    call = _last(statement)
    return call is not None and _ends(tu, call.name.name)


def behind_checks(items: Iterable[Any]) -> frozenset[Any]:
    """The outermost parts of statements that are executed only behind a call that may end the program, so that nobody
    knows whether they are reached: the calls that are statements."""
    late: set[Any] = set()

    def visit(node: Any, ended: bool) -> bool:
        """Whether the program may have ended then."""
        if ended:
            late.add(node)
            return True
        match node:
            case ir.FuncCall():
                return True
            case ir.If():
                branches = [visit(part, ended) for part in (node.iftrue, node.iffalse) if part is not None]
                return any(branches)
            case ir.For():
                ended = visit(node.stmt, ended)
                if ended and node.next is not None:
                    late.add(node.next)
            case ir.Compound() | ir.While() | ir.DoWhile() | ir.Switch() | ir.Case() | ir.Default() | ir.Label():
                for part in node.parts:
                    ended = visit(part, ended)
        return ended

    ended = False
    for item in items:
        ended = visit(item, ended)
    return frozenset(late)


def _ends(tu: TranslationUnit, name: str) -> bool:
    """Whether a function ends the program, as far as its name, or the end of its body, tells."""
    seen: set[str] = set()
    while name not in seen:
        if name in _ENDING:
            return name not in tu.defined_functions
        call = None if name in tu.replaceable else tu.worked_out("last call", partial(_last_call, tu, name), name)
        if call is None:
            return False
        seen.add(name)
        name = call.name.name
    return False  # functions that end in calls of each other


def _last_call(tu: TranslationUnit, name: str) -> Any | None:
    function = tu.functions.get(name)
    return None if function is None or function.body is None else _last(function.body)
