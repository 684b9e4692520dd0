"""Loops whose subscripts are other functions in the first or last iteration, as those of `a[j == 0 ? n - 1 : j - 1]`:
these iterations stand beside the others, which walk along lines then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.affine import NotAffine, Scope, affine, always, condition
from scopt.ir.walks import mapped, used_names, walk
from scopt.poly.isl_utils import project_out_params


def choices(node: Any, scope: Scope) -> Iterator[ir.TernaryOp]:
    """The choices in the subscripts of a statement that are affine."""
    yield from _choices(node, scope, inside=False)


def _choices(node: Any, scope: Scope, *, inside: bool) -> Iterator[ir.TernaryOp]:
    if inside and (choice := as_choice(node, scope)) is not None:
        yield choice
    for role, child in node.children():
        yield from _choices(child, scope, inside=inside or (isinstance(node, ir.ArrayRef) and role == "subscript"))


def as_choice(node: Any, scope: Scope) -> ir.TernaryOp | None:
    """A choice; a remainder that is one: of what is less than twice the divisor."""
    match node:
        case ir.TernaryOp():
            return node
        case ir.BinaryOp(op="%", left=left, right=right):
            beyond = ir.BinaryOp("-", left, right, node.coord)
            below = ir.BinaryOp("<", left, right, node.coord)
            near = ir.BinaryOp("<", beyond, right, node.coord)
            natural = ir.BinaryOp(">=", left, ir.Constant("int", "0"), node.coord)
            if _always(ir.BinaryOp("&&", natural, near), scope):
                return ir.TernaryOp(below, left, beyond, node.coord)
    return None


def _always(cond: Any, scope: Scope) -> bool:
    try:
        return always(scope, condition(cond, scope))
    except NotAffine:
        return False


def is_innermost(loop: ir.For) -> bool:
    """Whether a loop has only plain statements in its body."""
    return not any(isinstance(node, (ir.For, ir.While, ir.DoWhile, ir.Switch)) for node in walk(loop.stmt))


def parts(loop: ir.For, iterator: str, domain: isl.Set, scope: Scope) -> list[isl.Set]:
    """The values of a loop's iterator, a parameter set, in parts that follow each other: the first one alone, or the
    last one, where some choice depends on whether it is that one. scope: of the loop's body."""
    sides = list(_sides(loop, iterator, domain, _modest(scope))) if is_innermost(loop) else []
    if not sides:
        return [domain]
    first, last = (_end(domain, iterator, first=one) for one in (True, False))
    first = first if any(side.is_subset(first) for side in sides) else domain.subtract(domain)
    last = last.subtract(first) if any(side.is_subset(last) for side in sides) else domain.subtract(domain)
    return [part.coalesce() for part in (first, domain.subtract(first).subtract(last), last) if not part.is_empty()]


def _sides(loop: ir.For, iterator: str, domain: isl.Set, scope: Scope) -> Iterator[isl.Set]:
    """Where choices are made one way, and where the other way, as far as some iterations do."""
    for choice in choices(loop.stmt, scope):
        if iterator not in used_names(choice.cond):
            continue
        try:
            holds = condition(choice.cond, scope)
        except NotAffine:
            continue
        for side in (domain.intersect(holds), domain.subtract(holds)):
            if not side.is_empty():
                yield side


def _modest(scope: Scope) -> Scope:
    """The scope, where nothing is taken for granted."""
    return replace(scope, assume=lambda violation: False)


def _end(domain: isl.Set, iterator: str, *, first: bool) -> isl.Set:
    """The least or greatest value of an iterator, for the values of all other names."""
    values = isl.Set(f"[{iterator}] -> {{ [x] : x = {iterator} }}").intersect_params(domain)
    values = project_out_params(values, [iterator])
    end = values.lexmin() if first else values.lexmax()
    return isl.Set(f"[{iterator}] -> {{ [x] : x = {iterator} }}").intersect(end).params().intersect(domain)


def decided(node: Any, scope: Scope) -> Any:
    """A statement without the choices in subscripts that are always made alike there."""
    scope = _modest(scope)

    def visit(part: Any, inside: bool) -> Any:
        if inside and (choice := as_choice(part, scope)) is not None:
            for cond, chosen in ((choice.cond, choice.iftrue), (ir.UnaryOp("!", choice.cond), choice.iffalse)):
                if _always(cond, scope) and _has_type_of(chosen, part, scope):
                    return visit(chosen, inside)
        subscript = part.subscript if isinstance(part, ir.ArrayRef) else None
        return mapped(part, lambda child: visit(child, inside or child is subscript))

    return visit(node, False)


def _has_type_of(chosen: Any, node: Any, scope: Scope) -> bool:
    try:
        first, second = affine(chosen, scope).type, affine(node, scope).type
    except NotAffine:
        return False
    return (first.signed, first.bits) == (second.signed, second.bits)
