"""The one walk over nodes, and the one way to make others of them: what isn't changed is shared, places are kept.

`changed` makes a node with other fields, `mapped` one with others in the place of its children; `replaced` looks for
nodes from the outside in, `rebuilt` makes all anew from the inside out. `copied` and `distinct` are for trees in which
each occurrence is to be a node of its own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from scopt.ir import nodes
from scopt.ir.tree_node import Node

_TYPES = (nodes.TypeDecl, nodes.PtrDecl, nodes.ArrayDecl, nodes.FuncDecl, nodes.Struct, nodes.Union, nodes.Enum)
NodeT = TypeVar("NodeT", bound=Node)
Change = Callable[[Any], Any]


def walk(*roots: Node | None) -> Iterator[Any]:
    """The nodes and all below them, in the order of the source, parents first."""
    todo = [root for root in reversed(roots) if root is not None]
    while todo:
        node = todo.pop()
        if whole := node.whole:
            yield from whole
        else:
            yield node
            todo.extend(reversed(node.parts))


def used_names(*roots: Node | None) -> Iterator[str]:
    """The names that the trees use, of variables, functions and constants, in the order of the source."""
    return (node.name for node in walk(*roots) if isinstance(node, nodes.ID))


def changed(node: NodeT, **fields: Any) -> NodeT:
    """The node with other values of these fields."""
    kept = (fields.pop(field) if field in fields else getattr(node, field) for field in (*node.fields, "coord"))
    made = type(node)(*kept)
    if fields:
        raise TypeError(f"a {type(node).__name__} has no {', '.join(fields)}")
    return made


def mapped(node: NodeT, change: Change) -> NodeT:
    """The node with `change(child)` in the place of each child; the node itself if these are the same."""
    parts = node.parts
    made = [change(part) for part in parts]
    return node if all(map(operator.is_, made, parts)) else _with_parts(node, made)


def _with_parts(node: NodeT, parts: Iterable[Any]) -> NodeT:
    """The node with others in the place of its children, as many and in the same order."""
    left, fields = iter(parts), dict[str, Any]()
    for field, several in node.part_names:
        value = getattr(node, field)
        if value is not None:
            fields[field] = tuple(islice(left, len(value))) if several else next(left)
    return changed(node, **fields)


def replaced(root: Any, change: Change) -> Any:
    """The tree with `change(node)` in the place of each node for which that is another one, and of what lies below
    the others: what is put in isn't looked at."""
    if root is None:
        return None

    def inner(node: Any) -> Any:
        made = change(node)
        return made if made is not node or not node.parts else mapped(node, inner)

    return inner(root)


def rebuilt(root: Any, change: Change) -> Any:
    """The tree with `change(node)` in the place of each node, which already has the others' in its place."""
    if root is None:
        return None

    def inner(node: Any) -> Any:
        return change(mapped(node, inner) if node.parts else node)

    return inner(root)


def rewritten(root: NodeT, change: Callable[[Any, Any], Any], become: dict[Node, Node]) -> NodeT:
    """The tree with `change(node, made)` in the place of each node, from the inside out. made: the node with what its
    children have become. become: gets what has become of each node that isn't the same."""
    made: NodeT = change(root, mapped(root, lambda child: rewritten(child, change, become)))
    if made is not root:
        become[root] = made
    return made


def with_nodes(root: NodeT, others: dict[Node, Any]) -> NodeT:
    """The tree with other nodes in the place of some. Trees without any of them aren't gone through."""
    looked_for = others.keys()

    def inner(node: Any) -> Any:
        if node in looked_for:
            return others[node]
        whole = node.whole
        return node if whole and looked_for.isdisjoint(whole) else mapped(node, inner)

    made: NodeT = inner(root)
    return made


def copied(root: NodeT, copies: dict[Node, Node] | None = None) -> NodeT:
    """A tree that says the same and has no node with the other one in common. copies: gets the copy of each node."""
    made = changed(mapped(root, lambda child: copied(child, copies)))
    if copies is not None:
        copies[root] = made
    return made


def distinct(roots: Iterable[Any]) -> tuple[Any, ...]:
    """The trees, in which no node occurs twice: later occurrences are copies. Types aren't looked into: what several
    declarations define together stays one."""
    seen: set[Node] = set()

    def once(node: Any) -> Any:
        if isinstance(node, _TYPES):
            return node
        if node in seen:
            return copied(node)
        seen.add(node)
        return mapped(node, once)

    return tuple(map(once, roots))


def same_items(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two lists hold the same nodes."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


def same_node(a: Any, b: Any) -> bool:
    """Whether two nodes are alike, their children left aside."""
    if type(a) is not type(b):
        return False
    return all((getattr(a, name) or None) == (getattr(b, name) or None) for name in a.attr_names)


def same_tree(a: Any, b: Any) -> bool:
    """Whether two trees say the same; None is like itself alone."""
    if a is b:
        return True
    if a is None or b is None or not same_node(a, b):
        return False
    for field, several in a.part_names:
        mine, theirs = getattr(a, field), getattr(b, field)
        if not several:
            if not same_tree(mine, theirs):
                return False
        elif len(mine or ()) != len(theirs or ()) or not all(map(same_tree, mine or (), theirs or ())):
            return False
    return True
