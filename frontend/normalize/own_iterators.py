"""Iterators that are used for something else, too: ``for (b = 0; b < n; b++) …; b = x[i] * n; count[b]++;``.

A loop whose iterator nobody reads behind it may as well declare one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scopt import ir
from scopt.frontend.normalize.opaque import ends_on_data
from scopt.frontend.normalize.tree_rewriting import mentions
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, walk


def assigned_elsewhere(items: Iterable[Any], name: str) -> bool:
    """Whether statements besides the heads of loops that count assign a variable."""
    nodes = list(walk(*items))
    counting = [node for node in nodes if isinstance(node, ir.For) and not ends_on_data(node)]
    heads = {id(part) for node in counting for part in (node.init, node.next)}
    return any(
        isinstance(node, ir.Assignment)
        and id(node) not in heads
        and isinstance(node.lvalue, ir.ID)
        and node.lvalue.name == name
        for node in nodes
    )


def used_elsewhere(items: Iterable[Any]) -> frozenset[str]:
    """Names that are used outside of loops that step them."""
    found: set[str] = set()

    def look(node: Any, stepped: frozenset[str]) -> None:
        if isinstance(node, ir.ID) and node.name not in stepped:
            found.add(node.name)
        if isinstance(node, ir.For) and (name := loop_iterator(node)) is not None:
            stepped |= {name}
        for part in node.parts:
            look(part, stepped)

    for item in items:
        look(item, frozenset())
    return frozenset(found)


def iterators_beside(items: Iterable[Any], declared: Mapping[str, Sequence[Any]]) -> frozenset[str]:
    """Names that only heads of loops declare, none of which lies in another one: wherever such a name stands, it means
    the only one there is. declared: all declarations, by name."""
    heads: dict[str, int] = {}
    nested: set[str] = set()

    def look(node: Any, around: frozenset[str]) -> None:
        if isinstance(node, ir.For) and isinstance(node.init, ir.DeclList):
            own = {one.name for one in node.init.decls}
            heads.update({name: heads.get(name, 0) + 1 for name in own})
            nested.update(own & around)
            around |= own
        for part in node.parts:
            look(part, around)

    for item in items:
        look(item, frozenset())
    return frozenset(name for name, count in heads.items() if name not in nested and count == len(declared[name]))


def with_own_iterator(loop: ir.For, ctype: CType) -> ir.For:
    """The loop with its iterator declared in its head; as it is where the first value reads the variable, or the body
    assigns it."""
    name = loop_iterator(loop)
    if not isinstance(loop.init, ir.Assignment) or name is None or mentions(loop.init.rvalue, name):
        return loop
    if name in effects(loop.stmt, loop.cond).changed:
        return loop
    inner: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(ctype.spelling.split(), loop.coord))
    declaration = ir.Decl(name, [], [], [], [], inner, loop.init.rvalue, None, loop.coord)
    return changed(loop, init=ir.DeclList([declaration], loop.coord))
