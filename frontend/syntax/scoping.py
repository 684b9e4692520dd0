"""One meaning per name: a region's copy in which every declaration inside it has a name of its own.

Later stages look names up in flat tables. Two sibling loops may share an iterator's name; everything else that is
declared in the region gets a fresh name where its own already means something.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scopt import ir


@dataclass(frozen=True, slots=True, eq=False)
class UniqueNames:
    """items: the region's statements, copied and renamed. iterators: names that a `for` of the region steps. declared:
    name → declaration of everything declared in the region but iterators (scalars and arrays), in textual order."""

    items: tuple[Any, ...]
    iterators: frozenset[str]
    declared: dict[str, ir.Decl]


def unique_names(items: Iterable[Any], reserved: Iterable[str], forbidden: Iterable[str] = ()) -> UniqueNames:
    """Copy the statements of a region and rename what is declared inside where needed; fresh names avoid `reserved`.

    forbidden: names that nothing declared inside may keep.
    """
    copies = tuple(copy.deepcopy(item) for item in items)
    renamer = _Renamer(frozenset(reserved), _free_names(copies) | set(forbidden))
    block: dict[str, str] = {}
    for item in copies:
        renamer.visit(item, block, ())
    return UniqueNames(copies, frozenset(renamer.iterators), renamer.declared)


def children(node: Any) -> Iterator[Any]:
    """The child nodes, except field names, which are no uses of a variable."""
    for name, child in node.children():
        if not (isinstance(node, ir.StructRef) and name == "field"):
            yield child


def _free_names(items: Iterable[Any]) -> set[str]:
    """Names used in the region that are declared outside it (iterators declared outside included)."""
    found: set[str] = set()

    def visit(node: Any, bound: set[str]) -> None:
        if isinstance(node, ir.ID):
            if node.name not in bound:
                found.add(node.name)
        elif isinstance(node, (ir.Compound, ir.For)):
            inner = set(bound)
            for child in children(node):
                visit(child, inner)
        elif isinstance(node, ir.Decl):
            for child in children(node):
                visit(child, bound)
            if node.name:
                bound.add(node.name)
        else:
            for child in children(node):
                visit(child, bound)

    top: set[str] = set()
    for item in items:
        visit(item, top)
    return found


def blocks_around_loops(functions: Iterable[Any]) -> frozenset[int]:
    """Put a compound around each `for` that is another statement's whole body,
    so that a region can stand in its place; their `id`."""
    made: set[int] = set()
    todo = [function.body for function in functions]
    while todo:
        node = todo.pop()
        for part in ("stmt", "iftrue", "iffalse"):
            if isinstance(node, (ir.If, ir.For, ir.While, ir.DoWhile)) and isinstance(
                getattr(node, part, None), ir.For
            ):
                loop = getattr(node, part)
                block = ir.Compound([loop], loop.coord)
                setattr(node, part, block)
                made.add(id(block))
        todo.extend(child for _, child in node.children())
    return frozenset(made)


def loop_iterator(node: ir.For) -> str | None:
    """The name of the variable that the loop's init sets, None if it sets none or several."""
    init = node.init
    if isinstance(init, ir.DeclList) and len(init.decls) == 1:
        return str(init.decls[0].name)
    if isinstance(init, ir.Assignment) and init.op == "=" and isinstance(init.lvalue, ir.ID):
        return str(init.lvalue.name)
    return None


class _Renamer:
    """Walks the copies in scope order; `scope` maps a C name to its new one."""

    def __init__(self, reserved: frozenset[str], free: set[str]) -> None:
        self.reserved = reserved
        self.taken = set(free)
        self.iterators: set[str] = set()
        self.declared: dict[str, ir.Decl] = {}

    def visit(self, node: Any, scope: dict[str, str], active: tuple[str, ...]) -> None:
        if isinstance(node, ir.ID):
            node.name = scope.get(node.name, node.name)
        elif isinstance(node, ir.For):
            self.loop(node, dict(scope), active)
        elif isinstance(node, ir.Compound):
            inner = dict(scope)
            for child in children(node):
                self.visit(child, inner, active)
        elif isinstance(node, ir.Decl):
            for child in children(node):
                self.visit(child, scope, active)
            if node.name:
                self.declare(node, scope)
        else:
            for child in children(node):
                self.visit(child, scope, active)

    def loop(self, node: ir.For, scope: dict[str, str], active: tuple[str, ...]) -> None:
        name = loop_iterator(node)
        if name is not None and isinstance(node.init, ir.DeclList):
            decl = node.init.decls[0]
            if decl.init is not None:
                self.visit(decl.init, scope, active)
            fresh = name
            if name in active or name in self.declared or (name in self.taken and name not in self.iterators):
                fresh = self.fresh(name)
            self.rename(decl, fresh)
            scope[name] = fresh
            self.iterators.add(fresh)
            active = (*active, fresh)
            rest = [node.cond, node.next, node.stmt]
        else:
            if name is not None:
                self.iterators.add(scope.get(name, name))
                active = (*active, scope.get(name, name))
            rest = [node.init, node.cond, node.next, node.stmt]
        for child in rest:
            if child is not None:
                self.visit(child, scope, active)

    def declare(self, node: ir.Decl, scope: dict[str, str]) -> None:
        name = node.name
        fresh = (
            name
            if name not in self.taken and name not in self.iterators and name not in self.declared
            else self.fresh(name)
        )
        scope[name] = fresh
        self.rename(node, fresh)
        self.declared[fresh] = node

    def fresh(self, name: str) -> str:
        number = 2
        while (
            candidate := f"{name}_{number}"
        ) in self.taken | self.reserved | self.iterators or candidate in self.declared:
            number += 1
        self.taken.add(candidate)
        return candidate

    @staticmethod
    def rename(decl: ir.Decl, name: str) -> None:
        decl.name = name
        inner = decl.type
        while not isinstance(inner, ir.TypeDecl):
            inner = getattr(inner, "type", None)
            if inner is None:
                return
        inner.declname = name
