"""Structures: their definitions, the types of expressions that go through their members, and the paths that references
take through them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.ctypes import Layer, Symbol, shape_of
from scopt.ir.scop import CType
from scopt.ir.walks import walk

Definitions = Mapping[str, Any]


def definitions_of(ast: Any) -> dict[str, Any]:
    """The structures and unions with a body, by ``struct tag``; a tag that is defined more than once is left out."""
    found: dict[str, Any] = {}
    twice: set[str] = set()
    for node in walk(ast):
        if isinstance(node, (ir.Struct, ir.Union)) and node.decls is not None and node.name:
            key = _key(node)
            if found.setdefault(key, node) is not node:
                twice.add(key)
    return {key: node for key, node in found.items() if key not in twice}


def _key(node: Any) -> str:
    return f"{'union' if isinstance(node, ir.Union) else 'struct'} {node.name}"


class Typed(NamedTuple):
    """A type that may lead to members. layers: from the object inwards; type: of its element; size: of that in bytes, 0
    if unknown.

    struct: the definition of the element's structure or union; None if it is none, or isn't known.
    """

    layers: tuple[Layer, ...]
    type: CType
    size: int
    struct: Any = None

    @property
    def pointer(self) -> bool:
        return bool(self.layers) and self.layers[0].kind == "pointer"

    @property
    def array(self) -> bool:
        return bool(self.layers) and self.layers[0].kind == "array"

    @property
    def composite(self) -> bool:
        """Whether it is a structure or union itself, or something of which nothing is known."""
        return not self.layers and not (self.type.integer or self.type.floating)

    def element(self) -> Typed | None:
        """What a subscript or ``*`` gives; None if it can't have one."""
        return self._replace(layers=self.layers[1:]) if self.pointer or self.array else None


class Types(Struct, frozen=True, eq=False):
    """Types of expressions where `scope` is visible."""

    scope: Mapping[str, Symbol]
    structs: Definitions

    def declared(self, decl: Any) -> Typed:
        """The type that a declaration gives what it declares."""
        layers, element, size = shape_of(decl, self.scope)
        return Typed(layers, element, size, self.definition(decl))

    def named(self, spelling: str) -> Any:
        """The structure that a type's spelling names."""
        symbol = self.scope.get(spelling)
        return (
            self.definition(symbol.decl)
            if symbol is not None and symbol.kind == "typedef"
            else self.structs.get(spelling)
        )

    def definition(self, node: Any) -> Any:
        """The structure that a declaration's innermost type is, through typedefs."""
        seen: set[str] = set()
        while node is not None:
            if isinstance(node, (ir.Struct, ir.Union)):
                return node if node.decls is not None else self.structs.get(_key(node))
            if isinstance(node, ir.IdentifierType):
                name = node.names[0] if len(node.names) == 1 else ""
                symbol = self.scope.get(name)
                if symbol is None or symbol.kind != "typedef" or name in seen:
                    return None
                seen.add(name)
                node = symbol.decl
            node = getattr(node, "type", None)
            if isinstance(node, str):
                return None
        return None

    def of(self, node: Any) -> Typed | None:
        """The type of an lvalue made of names, subscripts, ``*`` and members; None if it can't be told."""
        match node:
            case ir.ID():
                symbol = self.scope.get(node.name)
                if symbol is None or symbol.kind not in ("parameter", "local", "global"):
                    return None
                if symbol.decl is None:
                    element, size = symbol.row or (symbol.type, symbol.size)
                    return Typed(symbol.layers, element, size, self.named(element.spelling))
                typed = self.declared(symbol.decl)
                if symbol.kind == "parameter" and typed.array:
                    return typed._replace(layers=(Layer("pointer"), *typed.layers[1:]))
                return typed
            case ir.ArrayRef():
                whole = self.of(node.name)
                return whole.element() if whole is not None else None
            case ir.UnaryOp(op="*"):
                inner = node.expr
                if isinstance(inner, ir.BinaryOp) and inner.op in ("+", "-"):
                    inner = inner.left
                whole = self.of(inner)
                return whole.element() if whole is not None else None
            case ir.StructRef():
                whole = self.of(node.name)
                if whole is not None and node.type == "->":
                    whole = whole.element()
                return self.member(whole, node.field) if whole is not None else None
        return None

    def member(self, whole: Typed, name: str) -> Typed | None:
        """A member of a structure; None if there is none of that name."""
        found = member_of(whole.struct, name) if not whole.layers else None
        if found is None:
            return None
        typed = self.declared(found.decl)
        kind = typed.type
        # What a pointer in a const structure leads to isn't const.
        const = kind.const or (whole.type.const and all(layer.kind == "array" for layer in typed.layers))
        if whole.type.volatile or whole.type.atomic or const:
            kind = replace(
                kind,
                volatile=kind.volatile or whole.type.volatile,
                atomic=kind.atomic or whole.type.atomic,
                const=const,
            )
        return typed._replace(type=kind)


class Member(NamedTuple):
    """A member's declaration. shared: its bytes may be another member's
    too (of a union, or a bit-field's neighbours)."""

    decl: Any
    shared: bool


def member_of(struct: Any, name: str) -> Member | None:
    """A member by name, members of unnamed structures and unions inside too."""
    union = isinstance(struct, ir.Union)
    for decl in struct.decls or () if struct is not None else ():
        if not isinstance(decl, ir.Decl):
            continue
        if decl.name == name:
            return Member(decl, union or decl.bitsize is not None)
        if decl.name is None and isinstance(decl.type, (ir.Struct, ir.Union)):
            inner = member_of(decl.type, name)
            if inner is not None:
                return Member(inner.decl, inner.shared or union)
    return None


# --- references -------------------------------------------------------------------------------------------------------


class Reference(Struct, frozen=True, eq=False):
    """A reference taken apart: ``p[i].v[k]`` has the base p, the subscripts i and k, and the path ("v",).

    base: what stands innermost, mostly an ID. subscripts: outermost dimension first; ``*`` and ``->`` count as a
      subscript 0.
    path: names of members, from the base inwards. before: how many subscripts stand before each of them.
    """

    base: Any
    subscripts: tuple[Any, ...]
    path: tuple[str, ...] = ()
    before: tuple[int, ...] = ()


def reference_of(node: Any) -> Reference:
    """Take `A[i][j]`, `(*A)[i]`, `*p`, `*(p + i)`, `p[i].x`, `p->v[k]` apart."""
    steps: list[Any] = []
    while True:
        match node:
            case ir.ArrayRef():
                steps.append(node.subscript)
                node = node.name
            case ir.UnaryOp(op="*", expr=ir.BinaryOp(op="+", left=ir.ID() | ir.StructRef() as left, right=right)):
                steps.append(right)
                node = left
            case ir.UnaryOp(op="*"):
                steps.append(ir.Constant("int", "0", node.coord))
                node = node.expr
            case ir.StructRef():
                steps.append(node.field)
                if node.type == "->":
                    steps.append(ir.Constant("int", "0", node.coord))
                node = node.name
            case _:
                return _assembled(node, steps[::-1])


def _assembled(base: Any, steps: Iterable[Any]) -> Reference:
    subscripts: list[Any] = []
    path: list[str] = []
    before: list[int] = []
    for step in steps:
        if isinstance(step, str):
            path.append(step)
            before.append(len(subscripts))
        else:
            subscripts.append(step)
    return Reference(base, tuple(subscripts), tuple(path), tuple(before))


def shared_storage(types: Types, reference: Reference) -> bool:
    """Whether the path of a reference goes through a union or a bit-field, so that other paths may reach the same
    bytes; True if in doubt."""
    typed = types.of(reference.base)
    count = 0
    for name, before in zip(reference.path, reference.before, strict=True):
        for _ in range(before - count):
            typed = typed.element() if typed is not None else None
        count = before
        member = member_of(typed.struct, name) if typed is not None else None
        if typed is None or member is None or member.shared:
            return True
        typed = types.member(typed, name)
    return False


def path_shape(types: Types, reference: Reference) -> tuple[tuple[Layer, ...], Typed] | None:
    """The layers that a reference's subscripts go through, outermost first, and the type of what it refers to; None if
    that isn't known."""
    typed = types.of(reference.base)
    passed: list[Layer] = []
    members = iter(zip(reference.path, reference.before, strict=True))
    following = next(members, None)
    for position in range(len(reference.subscripts) + 1):
        while following is not None and following[1] == position:
            typed = types.member(typed, following[0]) if typed is not None else None
            following = next(members, None)
        if typed is None:
            return None
        if position < len(reference.subscripts):
            if not typed.layers:
                return None
            passed.append(typed.layers[0])
            typed = typed.element()
    return (tuple(passed), typed) if typed is not None else None


def references(node: Any) -> Iterator[Any]:
    """The outermost reference nodes in a tree: names, subscripted arrays, members;
    and those in the subscripts of others."""
    match node:
        case ir.ID():
            yield node
        case ir.ArrayRef() | ir.StructRef() | ir.UnaryOp(op="*"):
            yield node
            found = reference_of(node)
            for subscript in found.subscripts:
                yield from references(subscript)
            if not isinstance(found.base, ir.ID):
                yield from references(found.base)
        case ir.FuncCall():
            if node.args is not None:
                yield from references(node.args)
        case ir.Cast():
            yield from references(node.expr)
        case _:
            for child in node.parts:
                yield from references(child)
