"""Structures that a region declares as a variable for each member: ``vec d = {x, y}; s += d.x;`` is ``double d_x = x,
d_y = y; s += d_x;``. Copies of whole structures are copies of their members then.

Only where the members are all that is used: no addresses, no calls that get the whole; and what is copied from or to
memory has no gaps, which a copy of the whole would take along.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.element_loops import Cells, ElementLoops, NoElementsError
from scopt.frontend.normalize.tree_rewriting import mentions
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.frontend.syntax.structs import Definitions, Typed, Types, reference_of
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.walks import changed, mapped, walk

# Members that one structure becomes at most.
_MEMBERS = 16
_CHANGING = (ir.FuncCall, ir.Assignment)
_BODIES = ("stmt", "iftrue", "iffalse")


def with_scalar_structs(
    items: tuple[Any, ...],
    symbols: Mapping[str, Symbol],
    structs: Definitions,
    declared: Mapping[str, ir.Decl],
    reserved: Collection[str],
) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, in that form. declared: what they declare."""
    types = Types(symbols, structs)
    loops = ElementLoops(types, str)
    candidates = {name: typed for name, decl in declared.items() if (typed := _whole(decl, types, loops)) is not None}
    while candidates:
        uses = _Uses(candidates, types, loops)
        uses.block(ir.Compound(items))
        if not uses.others:
            break
        candidates = {name: typed for name, typed in candidates.items() if name not in uses.others}
    if not candidates:
        return items
    taken = {*reserved, *symbols, *(node.name for node in walk(*items) if isinstance(node, ir.ID))}
    return tuple(_Scalars(candidates, types, loops, taken).items(items))


def _whole(decl: ir.Decl, types: Types, loops: ElementLoops) -> Typed | None:
    """The type of a structure of few members, all of them numbers or structures of such."""
    symbol = types.scope.get(decl.name)
    if symbol is None or symbol.dims or symbol.pointer or decl.storage or isinstance(decl.init, ir.InitList):
        return None
    typed = types.declared(decl)
    if not typed.composite or typed.type.volatile or typed.type.atomic:
        return None
    try:
        members = list(_leaves(ir.ID(decl.name), typed, loops))
    except NoElementsError:
        return None
    return typed if 0 < len(members) <= _MEMBERS else None


def _leaves(cell: Any, typed: Typed, loops: ElementLoops) -> Iterator[tuple[Any, Typed]]:
    """The members of a structure that are numbers. Raises NoElementsError where others are."""
    if typed.layers or typed.type.volatile or typed.type.atomic:
        raise NoElementsError
    if not typed.composite:
        yield cell, typed
        return
    for part, kind in loops.members(cell, typed):
        yield from _leaves(part, kind, loops)


def _path(node: Any) -> tuple[str, tuple[str, ...]] | None:
    """The variable and the members of ``x.a.b``."""
    path: list[str] = []
    while isinstance(node, ir.StructRef) and node.type == ".":
        path.append(node.field)
        node = node.name
    return (node.name, tuple(reversed(path))) if isinstance(node, ir.ID) else None


class _Uses(Struct):
    """others: candidates that are used in another way."""

    candidates: Mapping[str, Typed]
    types: Types
    loops: ElementLoops
    others: set[str] = field(default_factory=set)

    def block(self, node: Any) -> None:
        """Statements and what lies in them."""
        for role, child in node.children():
            statement = isinstance(node, ir.Compound) or role in _BODIES
            copy = _copy(child, self.candidates, self.types) if statement else None
            if isinstance(child, ir.Decl) and child.name in self.candidates:
                statement = statement and isinstance(node, ir.Compound)
                if child.init is not None and (copy is None or not statement):
                    self.others.add(child.name)
            if copy is not None:
                self.copied(copy)
            elif (found := _path(child)) is not None and found[0] in self.candidates:
                typed = self.types.of(child)
                if typed is None or typed.composite or typed.layers:
                    self.others.add(found[0])
            else:
                if isinstance(child, ir.ID) and child.name in self.candidates:
                    self.others.add(child.name)
                self.block(child)

    def copied(self, copy: tuple[Any, Any]) -> None:
        """A copy of a whole structure."""
        parts = [side for side in copy if _is_part(side, self.candidates, self.types)]
        names = [found[0] for side in parts if (found := _path(side)) is not None]
        typed = [self.types.of(side) for side in copy]
        same = all(one is not None and typed[0] is not None and one.struct is typed[0].struct for one in typed)
        for side in copy:
            if side in parts:
                continue
            self.block(ir.Compound([side]))
            try:
                self.loops.size(self.candidates[names[0]])
            except NoElementsError:
                same = False
            left = side is copy[0]
            # Members are copied one after the other: where they are must not change meanwhile.
            if any(isinstance(one, _CHANGING) or _steps(one) for one in walk(side)) or (
                mentions(side, names[0]) if not left else any(map(_reads, reference_of(side).subscripts))
            ):
                same = False
        if not same:
            self.others.update(names)


def _reads(subscript: Any) -> bool:
    """Whether an index is read from memory."""
    return any(isinstance(one, (ir.ArrayRef, ir.StructRef, ir.UnaryOp)) for one in walk(subscript))


def _steps(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op in ("++", "--", "p++", "p--")


def _copy(node: Any, candidates: Collection[str], types: Types) -> tuple[Any, Any] | None:
    """Both sides of a statement that copies a structure, a candidate or a part of one among them."""
    match node:
        case ir.Decl(name=name, init=ir.ID() | ir.ArrayRef() | ir.StructRef() | ir.UnaryOp() as value):
            return (ir.ID(name, node.coord), value) if name in candidates else None
        case ir.Assignment(op="=", lvalue=left, rvalue=right) if any(
            _is_part(side, candidates, types) for side in (left, right)
        ):
            return left, right
    return None


def _is_part(node: Any, candidates: Collection[str], types: Types) -> bool:
    """Whether an expression is a candidate, or a structure in one."""
    found = _path(node)
    typed = types.of(node) if found is not None and found[0] in candidates else None
    return typed is not None and typed.composite


class _Scalars(Struct, frozen=True, eq=False):
    candidates: Mapping[str, Typed]
    types: Types
    loops: ElementLoops
    taken: set[str]
    names: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def items(self, items: Iterable[Any]) -> list[Any]:
        made: list[Any] = []
        for item in items:
            if isinstance(item, ir.Decl) and item.name in self.candidates:
                made += self.declarations(item)
            if (copy := _copy(item, self.candidates, self.types)) is not None:
                made += self.copies(*copy)
            elif not (isinstance(item, ir.Decl) and item.name in self.candidates):
                made.append(self.within(item))
        return made

    def within(self, node: Any) -> Any:
        if isinstance(node, ir.Compound):
            return changed(node, block_items=self.items(node.block_items or ()))
        found = _path(node)
        if found is not None and found[0] in self.candidates:
            return ir.ID(self.name(*found), node.coord)
        if isinstance(node, (ir.If, ir.For, ir.While, ir.DoWhile)):
            bodies = {
                role: one
                for role, one in node.children()
                if role in _BODIES and _copy(one, self.candidates, self.types)
            }
            node = changed(node, **{role: ir.Compound([one], one.coord) for role, one in bodies.items()})
        return mapped(node, self.within)

    def name(self, base: str, path: tuple[str, ...]) -> str:
        if (base, path) not in self.names:
            wish = "_".join((base, *path))
            made = next(one for k in count(1) if (one := wish if k == 1 else f"{wish}_{k}") not in self.taken)
            self.names[base, path] = made
            self.taken.add(made)
        return self.names[base, path]

    def declarations(self, decl: ir.Decl) -> list[Any]:
        cell = ir.ID(decl.name, decl.coord)
        made = []
        for part, kind in _leaves(cell, self.candidates[decl.name], self.loops):
            name = self.name(*(_path(part) or ("", ())))
            spelled = ir.TypeDecl(name, [], None, ir.IdentifierType(kind.type.spelling.split(), decl.coord), decl.coord)
            made.append(renamed_declaration(ir.Decl(name, [], [], [], [], spelled, None, None, decl.coord), name))
        return made

    def copies(self, left: Any, right: Any) -> list[Any]:
        typed = self.types.of(left)
        assert typed is not None

        def assign(cells: Cells, _: Typed) -> list[Any]:
            return [ir.Assignment("=", *map(self.within, cells), left.coord)]

        return self.loops.loops((left, right), typed, assign)
