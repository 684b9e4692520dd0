"""A ``switch`` each of whose ways leads to the end of it, or out of it, as a chain of ``if`` and ``else``.

A switch is a statement that is executed as a whole: jumps leave it open which of its statements run. ``switch (k) {
case 0: a; break; case 1: case 2: b; break; default: c; }`` says no more than ``if (k == 0) a; else if (k == 1 || k ==
2) b; else c;``, whose conditions the model knows: on iterators and on what the region leaves as it is they are parts of
domains, sums below them are reductions, vector loops compute both sides. Compilers make a switch of the chain again
where that is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.syntax.mentioned import identifiers
from scopt.ir.effects import effects
from scopt.ir.walks import changed, copied, rebuilt, walk

# More of them are a table to compilers, which nobody would write as conditions.
_MOST_WAYS, _MOST_LABELS = 8, 24
_LEAVES = (ir.Break, ir.Continue, ir.Return)


class _Way(Struct, frozen=True):
    """labels: the constants that lead to the statements. other: all values without a label do, too."""

    labels: tuple[Any, ...]
    other: bool
    items: tuple[Any, ...]


def without_switches(items: Iterable[Any]) -> tuple[Any, ...]:
    """The statements in that form, but for switches where one way goes on with the next one, or is left below a
    condition."""
    items = tuple(items)
    if not any(isinstance(node, ir.Switch) for node in walk(*items)):
        return items
    return tuple(rebuilt(item, lambda node: _chain(node) if isinstance(node, ir.Switch) else node) for item in items)


def _chain(node: ir.Switch) -> Any:
    ways = _ways(node.stmt)
    if ways is None or not 0 < len(ways) <= _MOST_WAYS or sum(len(one.labels) for one in ways) > _MOST_LABELS:
        return node
    done = effects(node.cond)
    if done.written or done.called or done.opaque or done.unnamed or not all(map(_is_plain, ways)):
        return node
    rest: Any = next((_block(one.items, node) for one in ways if one.other), None)
    for way in reversed([one for one in ways if not one.other]):
        rest = ir.If(_is_one_of(node.cond, way.labels), _block(way.items, node), rest, node.coord)
    return rest


def _block(items: Sequence[Any], node: Any) -> ir.Compound:
    return ir.Compound(list(items), items[0].coord if items else node.coord)


def _is_one_of(value: Any, labels: Sequence[Any]) -> Any:
    """Whether a value is one of these. C converts labels to the value's type, as it does operands: those are left alone
    that are no int."""
    asked: Any = None
    for label in labels:
        equal = ir.BinaryOp("==", copied(value), label, label.coord)
        asked = equal if asked is None else ir.BinaryOp("||", asked, equal, label.coord)
    return asked


def _is_plain(way: _Way) -> bool:
    return all(map(_is_int, way.labels))


def _is_int(label: Any) -> bool:
    """Whether a label's type is int, as far as its words tell: small numbers, characters, names of enumerations, and
    what is computed of them."""
    match label:
        case ir.Constant(type="int", value=value):
            return len(value) <= 9
        case ir.Constant(type="char") | ir.ID():
            return True
        case ir.UnaryOp(op="-" | "+" | "~", expr=inner):
            return _is_int(inner)
        case ir.BinaryOp(left=left, right=right):
            return _is_int(left) and _is_int(right)
    return False


def _ways(body: Any) -> list[_Way] | None:
    """The ways through a switch; None where one doesn't end, but for the last one, or where they share variables."""
    found = list(body.block_items or ()) if isinstance(body, ir.Compound) else []
    if not found or not all(isinstance(one, (ir.Case, ir.Default)) for one in found):
        return None
    ways: list[_Way] = []
    labels: list[Any] = []
    other = False
    for position, label in enumerate(found):
        labels += [label.expr] if isinstance(label, ir.Case) else []
        other = other or isinstance(label, ir.Default)
        last = position == len(found) - 1
        items = list(label.stmts or ())
        if not items and not last:
            continue
        if not last and not _ends(items):
            return None
        items = _without_break(items)
        if any(isinstance(one, ir.Break) for item in items for one in leaving(item)) or any(map(_is_entered, items)):
            return None
        ways.append(_Way(tuple(labels), other, tuple(items)))
        labels, other = [], False
    return None if _share_variables(ways) else ways


def _is_entered(node: Any) -> bool:
    """Whether a statement has labels of the switch inside, as the loop of Duff's device has."""
    if isinstance(node, (ir.Case, ir.Default)):
        return True
    return node is not None and not isinstance(node, ir.Switch) and any(map(_is_entered, node.parts))


def _share_variables(ways: Sequence[_Way]) -> bool:
    """Whether a way declares what another one uses: the names' scope is all of the switch."""
    for way in ways:
        declared = {one.name for one in way.items if isinstance(one, (ir.Decl, ir.Typedef))}
        others = (item for one in ways if one is not way for item in one.items)
        if declared and not declared.isdisjoint(name for item in others for name in identifiers(item)):
            return True
    return False


def _ends(items: Sequence[Any]) -> bool:
    """Whether nothing behind the statements is executed."""
    if not items:
        return False
    match items[-1]:
        case ir.Compound(block_items=inner):
            return _ends(inner or ())
        case ir.If(iftrue=then, iffalse=ir.Node() as otherwise):
            return _ends((then,)) and _ends((otherwise,))
    return isinstance(items[-1], _LEAVES)


def _without_break(items: Sequence[Any]) -> list[Any]:
    """The statements without a `break` at their end, also at the end of each branch there."""
    if not items:
        return []
    *before, last = items
    match last:
        case ir.Break():
            return before
        case ir.Compound():
            return [*before, changed(last, block_items=_without_break(last.block_items or ()))]
        case ir.If(iftrue=then, iffalse=otherwise):
            branches = {"iftrue": _branch(then), "iffalse": None if otherwise is None else _branch(otherwise)}
            return [*before, changed(last, **branches)]
    return list(items)


def _branch(node: Any) -> Any:
    """A branch without a `break` at its end."""
    made = _without_break([node])
    return made[0] if made else ir.Compound([], node.coord)
