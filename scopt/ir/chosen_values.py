"""A condition with assignments behind it as assignments of choices, and back: ``if (c) a = x;`` is ``a = c ? x : a;``
where a may be written at any time, ``if (c) a = x; else a = y;`` is ``a = c ? x : y;`` anywhere. Compilers blend
vectors for the one, and branch for the other. ``if (c) a += x;`` is ``if (c) a = a + x;``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from scopt import ir
from scopt.ir.ctypes import type_spelling
from scopt.ir.effects import effects
from scopt.ir.scop import Array
from scopt.ir.walks import same_tree, walk

# An assignment's target and value.
Pair = tuple[ir.Node, ir.Node]
# Operators that an assignment may have.
_UPDATING = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")


def choices(
    body: ir.Node,
    is_own: Callable[[ir.Node], bool],
    type_of: Callable[[ir.Node], str | None],
    *,
    chained: bool = True,
) -> ir.Node | None:
    """The body as assignments of choices; None if it is nothing of the kind. is_own: whether what a reference is to may
    be written at any time; type_of: how its type is spelled, None if that isn't known. chained: also of assignments
    that see what others have given."""
    pairs, condition = list(assignments(body)), body.cond if isinstance(body, ir.If) else None
    if condition is None or not pairs or not _is_pure(condition):
        return None
    types = [kind for target, _ in pairs if (kind := type_of(target)) is not None]
    if len(types) < len(pairs) or not all(is_own(target) and _is_pure(value) for target, value in pairs):
        return None
    # the condition is evaluated for each of them
    last = sorted(pairs, key=lambda pair: _occurs(pair[0], condition))
    if (last != pairs or not chained or _again(pairs)) and not _independent(pairs):
        return None
    if _changes(condition, last):
        return None
    known = all(_is_of(value, kind, type_of) for (_, value), kind in zip(pairs, types, strict=True))
    made = []
    for target, value in last:
        spelling = str(type_of(target))
        value = value if known else ir.Cast(_typename(spelling), value)
        made.append(ir.Assignment("=", target, ir.TernaryOp(condition, value, target)))
    return made[0] if len(made) == 1 else ir.Compound(made)


def conditions(body: ir.Node, type_of: Callable[[ir.Node], str | None]) -> Iterator[ir.Node]:
    """Every condition with assignments behind it that does what assignments of choices do, if these are such, and if
    their targets may be written at any time. type_of: as for `choices`; both sides of a choice have to be of the
    target's type, lest the value that stays is converted to and fro."""
    items = body.block_items if isinstance(body, ir.Compound) else (body,)
    found: list[tuple[ir.Node, Pair]] = []
    for item in items:
        match item:
            case ir.Assignment(op="=", lvalue=target, rvalue=ir.TernaryOp(cond=condition, iftrue=value, iffalse=kept)):
                kind = type_of(target)
                if kind is None or not same_tree(target, kept) or not _is_of(value, kind, type_of):
                    return
                found.append((condition, (target, value)))
            case _:
                return
    if not found or not all(same_tree(found[0][0], condition) for condition, _ in found):
        return
    condition, pairs = found[0][0], [pair for _, pair in found]
    if not all(map(_is_pure, (condition, *(value for _, value in pairs)))) or _changes(condition, pairs):
        return
    # an assignment converts by itself
    bare = [(target, value.expr) for target, value in pairs if isinstance(value, ir.Cast)]
    free = _independent(pairs)
    for some in (pairs, bare) if len(bare) == len(pairs) else (pairs,):
        for place in range(0 if free else len(some) - 1, len(some)):
            ordered = [*some[:-1][:place], some[-1], *some[:-1][place:]]
            for made in product(*(_updates(target, value) for target, value in ordered)):
                yield ir.If(condition, ir.Compound(list(made)), None)
                if len(made) == 1:
                    yield ir.If(condition, made[0], None)


def whole_choice(body: ir.Node, type_of: Callable[[ir.Node], str | None]) -> ir.Node | None:
    """A condition, each way of which assigns one and the same cell, as one assignment; None if it isn't one. type_of:
    as for `choices`."""
    ways = _ways(body)
    if not isinstance(body, ir.If) or ways is None:
        return None
    target = ways[0][0]
    spelling = type_of(target)
    alike = all(same_tree(target, other) and _is_pure(value) for other, value in ways)
    if spelling is None or not alike or not _is_pure(target):
        return None
    value = _chosen(body, spelling, type_of)
    return None if value is None else ir.Assignment("=", target, value)


def _ways(body: ir.Node | None) -> list[Pair] | None:
    """The assignments of which each run makes one; None of anything else."""
    match body:
        case ir.If(iftrue=first, iffalse=second):
            mine, others = _ways(first), _ways(second)
            return None if mine is None or others is None else [*mine, *others]
        case ir.Compound(block_items=[one]):
            return _ways(one)
        case ir.Assignment(op="=", lvalue=target, rvalue=value):
            return [(target, value)]
    return None


def _chosen(body: ir.Node, spelling: str, type_of: Callable[[ir.Node], str | None]) -> ir.Node | None:
    """What a condition's ways assign, all of one type; None if a condition does something else besides."""
    match body:
        case ir.If(cond=condition, iftrue=first, iffalse=second):
            mine, other = _chosen(first, spelling, type_of), _chosen(second, spelling, type_of)
            pure = _is_pure(condition) and mine is not None and other is not None
            return ir.TernaryOp(condition, mine, other) if pure else None
        case ir.Compound(block_items=[one]):
            return _chosen(one, spelling, type_of)
        case ir.Assignment(rvalue=value):
            return value if _is_of(value, spelling, type_of) else ir.Cast(_typename(spelling), value)
    return None


def as_ways(like: ir.Node, body: ir.Node, type_of: Callable[[ir.Node], str | None]) -> ir.Node | None:
    """The condition of the form of another one that does what an assignment of choices does; None if there is none.
    type_of: as for `choices`; each value has to be of the target's type, lest it is converted to another's first."""
    match like, body:
        case (
            ir.If(iftrue=first, iffalse=second),
            ir.Assignment(op="=", lvalue=target, rvalue=ir.TernaryOp(cond=condition, iftrue=mine, iffalse=others)),
        ) if second is not None and _is_pure(condition):
            made = as_ways(first, ir.Assignment("=", target, mine), type_of)
            other = as_ways(second, ir.Assignment("=", target, others), type_of)
            return None if made is None or other is None else ir.If(condition, made, other)
        case ir.Compound(block_items=[one]), _:
            inner = as_ways(one, body, type_of)
            return None if inner is None else ir.Compound([inner])
        case ir.Assignment(op="=", rvalue=value), ir.Assignment(lvalue=target, rvalue=own):
            spelling = type_of(target)
            if spelling is None or not _is_of(own, spelling, type_of) or not (_is_pure(own) and _is_pure(target)):
                return None
            # an assignment converts by itself
            bare = isinstance(own, ir.Cast) and not isinstance(value, ir.Cast)
            return ir.Assignment("=", target, own.expr if bare else own)
    return None


def element_type(arrays: Iterable[Array], reference: ir.Node) -> str | None:
    """How the type of a scalar, or of the element that a reference is to, is spelled; None of anything else."""
    name, rank = _base(reference), 0
    while isinstance(reference, ir.ArrayRef):
        reference, rank = reference.name, rank + 1
    found = {one.type.spelling if one.rank == rank else None for one in arrays if one.spelling == name}
    return found.pop() if len(found) == 1 else None


def assignments(body: ir.Node) -> Iterator[Pair]:
    """Of a condition without an alternative, all that is behind it; nothing if there is anything else."""
    if not isinstance(body, ir.If) or body.iffalse is not None:
        return
    items = body.iftrue.block_items if isinstance(body.iftrue, ir.Compound) else (body.iftrue,)
    pairs = [_assigned(item) for item in items or ()]
    if None not in pairs:
        yield from (pair for pair in pairs if pair is not None)


def _assigned(item: ir.Node) -> Pair | None:
    """What a statement assigns to what: ``a += x`` and ``a++`` assign a sum. None of any other statement."""
    match item:
        case ir.Assignment(op="=", lvalue=target, rvalue=value):
            return target, value
        case ir.Assignment(op=op, lvalue=target, rvalue=value):
            return target, ir.BinaryOp(op.removesuffix("="), target, value)
        case ir.UnaryOp(op="++" | "p++" | "--" | "p--" as op, expr=target):
            return target, ir.BinaryOp(op[-1], target, ir.Constant("int", "1"))
    return None


def _updates(target: ir.Node, value: ir.Node) -> Iterator[ir.Node]:
    """The statements that assign a value: ``a = a + 1``, ``a += 1``, ``a++`` and ``++a`` are one."""
    yield ir.Assignment("=", target, value)
    match value:
        case ir.BinaryOp(op=op, left=left, right=right) if op in _UPDATING and same_tree(left, target):
            yield ir.Assignment(f"{op}=", target, right)
            if op in "+-" and same_tree(right, ir.Constant("int", "1")):
                yield from (ir.UnaryOp(step, target) for step in (f"p{op}{op}", f"{op}{op}"))


def _independent(pairs: Sequence[Pair]) -> bool:
    """Whether assignments do the same in any order."""
    targets = [target for target, _ in pairs]
    for k, (target, _) in enumerate(pairs):
        others = [value for m, (_, value) in enumerate(pairs) if m != k]
        if any(_occurs(target, other) for other in (*targets[:k], *targets[k + 1 :], *others)):
            return False
    return True


def _again(pairs: Sequence[Pair]) -> bool:
    """Whether a target is assigned twice."""
    return any(same_tree(one, other) for k, (one, _) in enumerate(pairs) for other, _ in pairs[:k])


def _changes(condition: ir.Node, pairs: Sequence[Pair]) -> bool:
    """Whether an assignment changes a condition that is asked for again behind it."""
    return any(_occurs(target, condition) for target, _ in pairs[:-1])


def _occurs(reference: ir.Node, root: ir.Node) -> bool:
    """Whether what a reference is to may be referred to: the same variable, or the same array."""
    name = _base(reference)
    return any(isinstance(node, ir.ID) and node.name == name for node in walk(root))


def _base(reference: ir.Node) -> str | None:
    while isinstance(reference, ir.ArrayRef):
        reference = reference.name
    return reference.name if isinstance(reference, ir.ID) else None


def _is_pure(value: ir.Node) -> bool:
    """Whether it may be evaluated more often, or in another order: it changes nothing, as far as the file tells."""
    found = effects(value)
    return not (found.written or found.called or found.opaque) and not found.unnamed


def _is_of(value: ir.Node, spelling: str, type_of: Callable[[ir.Node], str | None]) -> bool:
    """Whether a value surely has a type that is spelled like this."""
    match value:
        case ir.Cast(to_type=to_type):
            return type_spelling(to_type) == spelling
        case ir.Constant(type=kind):
            return bool(kind == spelling)
    return type_of(value) == spelling


def _typename(spelling: str) -> ir.Node:
    return ir.Typename(None, [], None, ir.TypeDecl(None, [], None, ir.IdentifierType(spelling.split())))
