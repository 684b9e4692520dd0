"""What a node of C's syntax is: fields, children, the place where it begins.

A node is what it is by identity: two are the same only if they are one object, whatever they say, so that what is
known of one occurrence (its access, its type) can be kept in a dictionary by node.

A class's annotations are its fields, in the order in which C writes them: `Child` is a node or None, `Nodes` are
several or None, and others hold words of the source. The constructor takes them in this order, and then `coord`, the
place, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from msgspec import Struct

Child: TypeAlias = Any
Nodes: TypeAlias = Any
Words: TypeAlias = Any


# Nodes of a tree up to which they are kept in their order: that takes each node once for each one above it.
MOST_KEPT = 500


class Coord(Struct, frozen=True, eq=False):
    """A place in the source: file, and line and column, both counted from 1.

    What is made in the place of a node keeps the node's own object, so that loops can be recognized by it: two that a
    macro makes stand at one place.
    """

    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.column is None else f"{self.file}:{self.line}:{self.column}"


class _NodeType(type):
    """Makes the slots of a node's class from its annotations."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _NodeType:
        kinds: dict[str, str] = body.get("__annotations__", {}) if bases else {}
        body["__slots__"] = (*kinds, "coord", "_found", "_whole") if bases else ()
        body["fields"] = body["__match_args__"] = tuple(kinds)
        body["attr_names"] = tuple(field for field, kind in kinds.items() if kind not in ("Child", "Nodes"))
        body["part_names"] = tuple(
            (field, kind == "Nodes") for field, kind in kinds.items() if kind in ("Child", "Nodes")
        )
        made = super().__new__(mcs, name, bases, body)
        if bases:
            slots = [getattr(made, field) for field in (*kinds, "coord")]
            made._stores = [slot.__set__ for slot in slots]  # type: ignore[attr-defined]
        return made


class Node(metaclass=_NodeType):
    """What all nodes have. They don't change; several values of a field are a tuple.

    fields: the names of the fields, without `coord`. attr_names: those of them that hold no nodes. part_names: the
    others, and whether they hold several.
    """

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]]
    attr_names: ClassVar[tuple[str, ...]]
    part_names: ClassVar[tuple[tuple[str, bool], ...]]
    _stores: ClassVar[Sequence[Callable[[Node, Any], None]]]
    if TYPE_CHECKING:
        coord: Coord | None
        _found: tuple[Node, ...]
        _whole: tuple[Node, ...]

        # Most functions know from the context what a node is.
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, *values: Any, **named: Any) -> None:
        stores = self._stores
        for store, value in zip(stores, values):  # noqa: B905  # completed below
            store(self, tuple(value) if type(value) is list else value)
        if len(values) != len(stores) or named:
            self._complete(len(values), named)

    def _complete(self, given: int, named: dict[str, Any]) -> None:
        """Set the fields after the first ones that were given. Raises TypeError unless these are all."""
        rest = (*self.fields, "coord")[given:]
        if given > len(self.fields) + 1 or {*rest, "coord"} != {*named, "coord"}:
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self.fields)}, and coord")
        for field, store in zip(rest, self._stores[given:], strict=True):
            value = named.get(field)
            store(self, tuple(value) if type(value) is list else value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} doesn't change: make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} doesn't change: make another one")

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes in this one, in the order of the fields."""
        try:
            return self._found
        except AttributeError:
            object.__setattr__(self, "_found", tuple(child for _, child in self.children()))
            return self._found

    @property
    def whole(self) -> tuple[Node, ...]:
        """This node and all below it, in the order of the source, parents first; empty for more than `MOST_KEPT`.

        Each rewrite looks through trees that the ones before it have mostly left alone.
        """
        try:
            return self._whole
        except AttributeError:
            _keep_whole(self)
            return self._whole

    def children(self) -> tuple[tuple[str, Node], ...]:
        """The nodes in this one, in the order of the fields, with their roles: the names of their fields."""
        found: list[tuple[str, Node]] = []
        for field, several in self.part_names:
            value = getattr(self, field)
            if value is None:
                continue
            if several:
                found.extend((field, child) for child in value)
            else:
                found.append((field, value))
        return tuple(found)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{field}={getattr(self, field)!r}' for field in self.fields)})"


def _keep_whole(root: Node) -> None:
    """Have nodes know what is below them. (Long sums are deep trees: no recursion.)"""
    todo = [root]
    while todo:
        node = todo[-1]
        known: list[tuple[Node, ...] | None] = [getattr(part, "_whole", None) for part in node.parts]
        if None in known:
            todo.extend(part for part, one in zip(node.parts, known, strict=True) if one is None)
            continue
        todo.pop()
        below = [one for one in known if one]
        few = len(below) == len(known) and sum(map(len, below)) < MOST_KEPT
        object.__setattr__(node, "_whole", (node, *chain.from_iterable(below)) if few else ())
