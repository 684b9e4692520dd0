"""One meaning per name: a region in which every declaration inside has a name of its own.

Later stages look names up in flat tables. Two sibling loops may share an iterator's name; everything else that is
declared in the region gets a fresh name where its own already means something.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.ir.walks import changed, mapped

_STATEMENTS = (
    ir.Compound,
    ir.If,
    ir.For,
    ir.While,
    ir.DoWhile,
    ir.Switch,
    ir.Case,
    ir.Default,
    ir.Label,
)


class UniqueNames(Struct, frozen=True, eq=False):
    """items: the region's statements, renamed. iterators: names that a `for` of the region steps. declared:
    name → declaration of everything declared in the region but iterators (scalars and arrays), in textual order."""

    items: tuple[Any, ...]
    iterators: frozenset[str]
    declared: dict[str, ir.Decl]


def unique_names(items: Iterable[Any], reserved: Iterable[str], forbidden: Iterable[str] = ()) -> UniqueNames:
    """Rename what is declared inside the statements of a region where needed; fresh names avoid `reserved`.

    forbidden: names that nothing declared inside may keep.
    """
    items = tuple(items)
    renamer = _Renamer(frozenset(reserved), _free_names(items) | set(forbidden))
    block: dict[str, str] = {}
    renamed = tuple(renamer.visit(item, block, ()) for item in items)
    return UniqueNames(renamed, frozenset(renamer.iterators), renamer.declared)


def _free_names(items: Iterable[Any]) -> set[str]:
    """Names used in the region that are declared outside it (iterators declared outside included)."""
    found: set[str] = set()

    def visit(node: Any, bound: set[str]) -> None:
        if isinstance(node, ir.ID):
            if node.name not in bound:
                found.add(node.name)
        elif isinstance(node, (ir.Compound, ir.For)):
            inner = set(bound)
            for child in node.parts:
                visit(child, inner)
        elif isinstance(node, ir.Decl):
            for child in node.parts:
                visit(child, bound)
            if node.name:
                bound.add(node.name)
        else:
            for child in node.parts:
                visit(child, bound)

    top: set[str] = set()
    for item in items:
        visit(item, top)
    return found


def blocks_around_loops(ast: ir.FileAST, file: str) -> tuple[ir.FileAST, frozenset[Any]]:
    """A translation unit with a compound around each `for` that is another statement's whole body,
    so that a region can stand in its place, in the functions of a file; these compounds."""
    made: set[Any] = set()

    def statement(node: Any) -> Any:
        if not isinstance(node, _STATEMENTS):
            return node  # expressions can be deeper than calls
        inside = mapped(node, statement)
        return mapped(inside, in_block) if isinstance(node, ir.If | ir.For | ir.While | ir.DoWhile) else inside

    def in_block(part: Any) -> Any:
        if not isinstance(part, ir.For):
            return part
        made.add(block := ir.Compound([part], part.coord))
        return block

    def function(node: Any) -> Any:
        of_file = isinstance(node, ir.FuncDef) and node.coord is not None and node.coord.file == file
        return mapped(node, statement) if of_file else node

    return mapped(ast, function), frozenset(made)


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

    def visit(self, node: Any, scope: dict[str, str], active: tuple[str, ...]) -> Any:
        match node:
            case ir.ID():
                name = scope.get(node.name, node.name)
                return node if name == node.name else changed(node, name=name)
            case ir.For():
                return self.loop(node, dict(scope), active)
            case ir.Decl():
                inner = self.inside(node, scope, active)
                return self.declare(inner, scope) if node.name else inner
        return self.inside(node, dict(scope) if isinstance(node, ir.Compound) else scope, active)

    def inside(self, node: Any, scope: dict[str, str], active: tuple[str, ...]) -> Any:
        return mapped(node, lambda child: self.visit(child, scope, active))

    def loop(self, node: ir.For, scope: dict[str, str], active: tuple[str, ...]) -> Any:
        name = loop_iterator(node)
        if name is None or not isinstance(node.init, ir.DeclList):
            if name is not None:
                self.iterators.add(scope.get(name, name))
                active = (*active, scope.get(name, name))
            return self.inside(node, scope, active)
        decl = node.init.decls[0]
        start = self.visit(decl.init, scope, active) if decl.init is not None else None
        fresh = name
        if name in active or name in self.declared or (name in self.taken and name not in self.iterators):
            fresh = self.fresh(name)
        decl = renamed_declaration(decl if start is decl.init else changed(decl, init=start), fresh)
        scope[name] = fresh
        self.iterators.add(fresh)
        init = node.init if decl is node.init.decls[0] else changed(node.init, decls=[decl])
        rest = (node.cond, node.next, node.stmt)
        made = [self.visit(part, scope, (*active, fresh)) if part is not None else None for part in rest]
        return node if (init, *made) == (node.init, *rest) else ir.For(init, *made, node.coord)

    def declare(self, node: ir.Decl, scope: dict[str, str]) -> ir.Decl:
        name = node.name
        is_free = name not in self.taken and name not in self.iterators and name not in self.declared
        fresh = name if is_free else self.fresh(name)
        scope[name] = fresh
        self.declared[fresh] = renamed_declaration(node, fresh)
        return self.declared[fresh]

    def fresh(self, name: str) -> str:
        number = 2
        while (
            candidate := f"{name}_{number}"
        ) in self.taken | self.reserved | self.iterators or candidate in self.declared:
            number += 1
        self.taken.add(candidate)
        return candidate


def renamed_declaration(decl: ir.Decl, name: str) -> ir.Decl:
    """The declaration of a variable of another name."""
    if decl.name == name:
        return decl

    def inner(declared: Any) -> Any:
        if isinstance(declared, ir.TypeDecl):
            return changed(declared, declname=name)
        below = getattr(declared, "type", None)
        return declared if below is None else changed(declared, type=inner(below))

    return changed(decl, name=name, type=inner(decl.type))
