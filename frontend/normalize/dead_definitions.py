"""Statements that only give a variable a value which nothing reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scopt import ir
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.walks import changed, mapped, used_names


def without_dead(items: Sequence[Any], definitions: Mapping[Any, str], live: frozenset[str]) -> list[Any]:
    """The statements of a region less those that nothing reads the values of.

    definitions: statements without another effect than to set a variable, with its name; the variables that nothing
    else reads go. live: variables that are read behind the region.
    """
    dead = frozenset(definitions.values()) - live
    while read := dead & _read(items, definitions, dead):
        dead -= read
    if not dead:
        return list(items)
    left = [item for item in (_less(item, definitions, dead) for item in items) if not _is_empty(item)]
    mentioned = frozenset(used_names(*left))
    unused = dead - mentioned
    return [item for item in (_undeclared(item, unused) for item in left) if not _is_empty(item)]


def _read(items: Sequence[Any], definitions: Mapping[Any, str], dead: frozenset[str]) -> frozenset[str]:
    """Names that something reads besides definitions of dead variables."""

    def names(node: Any, steps: frozenset[str]) -> Iterator[str]:
        """steps: iterators of loops around, which have their values from these."""
        if definitions.get(node) in dead:
            return
        match node:
            case ir.ID(name=name) if name not in steps:
                yield name
            case ir.For() if (iterator := loop_iterator(node)) and iterator not in effects(node.stmt).changed:
                yield from names(node.init, steps)
                for part in filter(None, (node.cond, node.next, node.stmt)):
                    yield from names(part, steps | {iterator})
                return
        plain = isinstance(node, ir.Assignment) and node.op == "=" and isinstance(node.lvalue, ir.ID)
        for part in (node.rvalue,) if plain else node.parts:
            yield from names(part, steps)

    return frozenset(name for item in items for name in names(item, frozenset()))


def _less(node: Any, definitions: Mapping[Any, str], dead: frozenset[str]) -> Any:
    """A statement without definitions of dead variables."""
    if definitions.get(node) in dead:
        return changed(node, init=None) if isinstance(node, ir.Decl) else ir.EmptyStatement(node.coord)
    made = mapped(node, lambda child: _less(child, definitions, dead))
    match made:
        case ir.Compound() if made is not node:
            return changed(made, block_items=[item for item in made.block_items if not _is_empty(item)])
        case ir.If() if made is not node and _is_empty(made.iftrue) and _is_empty(made.iffalse):
            done = effects(made.cond)
            quiet = not (done.assigned or done.through or done.called or done.opaque or done.unnamed)
            return ir.EmptyStatement(node.coord) if quiet else made
    return made


def _is_empty(node: Any) -> bool:
    return (
        node is None
        or isinstance(node, ir.EmptyStatement)
        or (isinstance(node, ir.Compound) and all(map(_is_empty, node.block_items or ())))
        or (isinstance(node, ir.DeclList) and not node.decls)
    )


def _undeclared(node: Any, unused: frozenset[str]) -> Any:
    """A statement without the declarations of variables that nothing mentions."""
    if isinstance(node, ir.Decl):
        return ir.EmptyStatement(node.coord) if node.name in unused and node.init is None else node
    made = mapped(node, lambda child: _undeclared(child, unused))
    if made is not node and isinstance(made, ir.Compound):
        return changed(made, block_items=[item for item in made.block_items if not _is_empty(item)])
    return made
