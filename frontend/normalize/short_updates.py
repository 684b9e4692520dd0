"""Short loops that add to cells, below conditions on data, written out: ``if (f > 0) for (int a = 0; a < 3; a++)
x[3 * i + a] += f * y[a];`` is ``if (f > 0) { x[3 * i] += f * y[0]; … }``.

As it stands, such a loop is part of one statement, whose cells nobody knows one by one: an iteration of the loop around
would wait for the store of the one before. Compilers write such loops out anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import items_of, names_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.trip_counts import iterations
from scopt.ir.walks import changed, copied, mapped, replaced, walk

# Iterations of such a loop, and updates that become of it and of loops in it, at most: there are registers for as many.
_MOST, _UPDATES = 8, 16


def with_short_updates(items: Iterable[Any]) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, with such loops written out."""
    items = tuple(items)
    if not any(_is_short(one) for one in walk(*items)):
        return items
    written = effects(*items).written - {loop_iterator(one) for one in walk(*items) if isinstance(one, ir.For)}

    def visit(node: Any, *, inside: bool, below: bool) -> Any:
        """inside: of a loop. below: a condition on data decides about the node."""
        match node:
            case ir.For():
                made = written_out(node) if below else None
                return made or mapped(node, lambda part: visit(part, inside=True, below=below))
            case ir.If():
                data = below or (inside and _asks_data(node.cond, written))
                return mapped(node, lambda part: visit(part, inside=inside, below=data))
        return node if node is None else mapped(node, lambda part: visit(part, inside=inside, below=below))

    return tuple(visit(item, inside=False, below=False) for item in items)


def written_out(loop: ir.For) -> ir.Compound | None:
    """A loop's updates one after the other, if there are few and nothing else."""
    made = _updates(loop)
    return None if made is None or len(made) > _UPDATES else ir.Compound(made, loop.coord)


def _updates(loop: ir.For) -> list[Any] | None:
    if not _is_short(loop):
        return None
    declared, inner = loop.init.decls[0], list[Any]()
    for item in items_of(loop.stmt):
        parts = _updates(item) if isinstance(item, ir.For) else [item] if _adds_to_cell(item) else None
        if parts is None:
            return None
        inner += parts
    if declared.name in effects(*inner).changed:
        return None
    first, number = _first(declared.init), iterations(loop) or 0
    return [_at(one, declared.name, first + k) for k in range(number) for one in inner]


def _is_short(node: Any) -> bool:
    if not isinstance(node, ir.For) or not 0 < (iterations(node) or 0) <= _MOST:
        return False
    kind = node.init.decls[0].type
    return (
        isinstance(kind, ir.TypeDecl) and isinstance(kind.type, ir.IdentifierType) and list(kind.type.names) == ["int"]
    )


def _adds_to_cell(node: Any) -> bool:
    """Whether a statement adds to a cell, and does nothing else."""
    plain = isinstance(node, ir.Assignment) and node.op in ("+=", "-=") and isinstance(node.lvalue, ir.ArrayRef)
    return plain and not any(isinstance(one, (ir.FuncCall, ir.Assignment)) for one in walk(node.lvalue, node.rvalue))


def _asks_data(condition: Any, written: frozenset[str]) -> bool:
    """Whether it asks for more than iterators and what the region leaves as it is."""
    reads = any(isinstance(one, (ir.ArrayRef, ir.StructRef, ir.FuncCall)) for one in walk(condition))
    return reads or not written.isdisjoint(names_of(condition))


def _first(value: Any) -> int:
    return -_first(value.expr) if isinstance(value, ir.UnaryOp) else int(value.value)


def _at(update: Any, iterator: str, value: int) -> Any:
    """An update with a number in the iterator's place."""

    def change(node: Any) -> Any:
        if not isinstance(node, ir.ID) or node.name != iterator:
            return node
        number = ir.Constant("int", str(abs(value)), node.coord)
        return number if value >= 0 else ir.UnaryOp("-", number, node.coord)

    return changed(copied(replaced(update, change)), coord=update.coord)
