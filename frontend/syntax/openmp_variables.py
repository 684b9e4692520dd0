"""Whether a loop computes with the variables that OpenMP gives each thread what it computes with the program's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from scopt import ir
from scopt.diagnostics import Location, Refusal
from scopt.frontend.syntax.liveness import may_be_read_behind
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import base_name, facts_of, scope_at
from scopt.frontend.text.openmp_clauses import OpenmpLoop, clause_obstacle
from scopt.ir.effects import STEPS, effects
from scopt.ir.walks import walk

if TYPE_CHECKING:
    from scopt.frontend.syntax.unit import Region, TranslationUnit

_MINIMA = ("min", "max")


def refuse_other_variables(tu: TranslationUnit, region: Region) -> None:
    """Raise Refusal where a loop of a region, read without the pragma that stands above, may leave other values behind
    than with it."""
    if not tu.openmp.loops:
        return
    for loop, said in tu.openmp.below(region.items):
        why = _read_behind(tu, region, loop, said) or _changed_first(tu, region, loop, said) or _not_reduced(loop, said)
        if why:
            obstacle = clause_obstacle(why)
            location = Location(loop.coord.file, said.line)
            raise Refusal(obstacle.id, obstacle.message, location, obstacle.hint)


def _read_behind(tu: TranslationUnit, region: Region, loop: Any, said: OpenmpLoop) -> str:
    """A private variable that has its old value behind the loop where it would have the last iteration's."""
    facts = facts_of(tu, region.function)
    changed = effects(loop).written
    for name in (*said.private, *_iterators(loop, said.depth)):
        if name in changed and may_be_read_behind(facts, facts.origin(loop), name):
            return f"'{name}' is private, and its value may be read behind the loop"
    return ""


def _iterators(loop: Any, depth: int) -> Iterator[str]:
    """The iterators, declared elsewhere, of so many loops in one another."""
    while depth and isinstance(loop, ir.For):
        name = loop_iterator(loop)
        if name is not None and not isinstance(loop.init, ir.DeclList):
            yield name
        loop, depth = loop.stmt, depth - 1
        while isinstance(loop, ir.Compound) and loop.block_items:
            loop = loop.block_items[0]


def _changed_first(tu: TranslationUnit, region: Region, loop: Any, said: OpenmpLoop) -> str:
    """A variable that each thread begins with the outer one's value, and changes."""
    if not said.first:
        return ""
    done, scope = effects(loop), scope_at(tu, region)
    for name in said.first:
        own = name in scope and (scope[name].pointer or not (scope[name].dims or name in done.through))
        if name in done.assigned | done.taken or not own:
            return f"'{name}' is firstprivate, and may change in the loop"
    return ""


def _not_reduced(loop: Any, said: OpenmpLoop) -> str:
    """A variable of a reduction that gets values which don't come from its old one by the operator."""
    for name, operator in said.reduced:
        if not _only_updates(loop, name, operator, ()):
            return f"'{name}' is not only updated by the operator of its reduction"
    return ""


def _only_updates(node: Any, name: str, operator: str, asked: Collection[str]) -> bool:
    """asked: the names in the conditions around."""
    match node:
        case ir.If() if operator in _MINIMA:
            asked = {*asked, *identifiers(node.cond)}
        case ir.Assignment() if base_name(node.lvalue) == name:
            return _is_update(node, name, operator, asked)
        case ir.UnaryOp() if node.op in STEPS and base_name(node.expr) == name:
            return operator in ("+", "-")
        case ir.UnaryOp(op="&") if base_name(node.expr) == name:
            return False
        case ir.FuncCall() if any(isinstance(one, ir.ID) and one.name == name for one in walk(node.args)):
            return operator in _MINIMA
    return all(_only_updates(child, name, operator, asked) for child in node.parts)


def _is_update(node: Any, name: str, operator: str, asked: Collection[str]) -> bool:
    again = any(base_name(one) == name for one in walk(node.rvalue))
    if operator in _MINIMA:
        return node.op == "=" and (again or name in asked)
    signs = ("+", "-") if operator in ("+", "-") else (operator,)
    if node.op != "=":
        return node.op[:-1] in signs and not again
    return isinstance(node.rvalue, ir.BinaryOp) and node.rvalue.op in signs and again
