"""Pointers that the statements of a region set once and then only follow: ``const double *row = a + i * n;``,
``body_t *b = &s->bodies[i];``, ``vec_t *v = &b->pos;``. What they lead to takes their place: ``row[k]`` becomes
``a[i * n + k]``, ``b->mass`` becomes ``s->bodies[i].mass``.

A pointer's value is one of a named array or object, and of variables that keep their values where the pointer is used;
nothing in it is read from memory, so that members (``s->bodies``) need names of their own first
(`scopt.frontend.normalize.members`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.model.pointers import PointerSums
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.structs import Definitions, Typed, Types
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.effects import changes_of, effects
from scopt.ir.name_uses import name_uses
from scopt.ir.walks import changed, rebuilt, replaced, same_items, walk

# What offsets are made of.
_ARITHMETIC = (
    ir.ID,
    ir.Constant,
    ir.BinaryOp,
    ir.TernaryOp,
    ir.Cast,
    ir.ExprList,
    ir.Typename,
    ir.TypeDecl,
    ir.IdentifierType,
)


def without_local_pointers(
    items: tuple[Any, ...],
    sums: PointerSums,
    structs: Definitions,
    read_after: Callable[[str], bool],
    formulas: Collection[str] = (),
) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, with such pointers' values in their places.
    Elements of others are sums (``s->bodies + i``), for members in them to be found.

    sums: with the symbols, those of iterators that loops declare apart. read_after: whether anything behind the region
    may read the value that it leaves in a variable that isn't declared in it. formulas: functions that are expressions
    of their parameters.
    """
    if not any(_may_set(node, sums.symbols) for node in walk(*items)):
        return items
    root = ir.Compound(items)
    pointers = LocalPointers(sums, Types(sums.symbols, structs), read_after, formulas)
    while (found := pointers.first(root)) is not None:
        root = rebuilt(found.put_in(root), sums.subscripted)
    made = tuple(replaced(item, pointers.as_sum) for item in root.block_items)
    return items if same_items(made, items) else made


def _may_set(node: Any, symbols: Mapping[str, Symbol]) -> bool:
    """Whether a statement gives a local pointer to numbers or structures its value."""
    match node:
        case ir.Decl(name=str(name), init=value) if value is not None and not node.storage:
            pass
        case ir.Assignment(op="=", lvalue=ir.ID(name=name)):
            pass
        case _:
            return False
    symbol = symbols.get(name)
    rows = symbol is not None and symbol.row is not None and isinstance(_value(node), ir.ID)
    return symbol is not None and symbol.pointer and (rows or (symbol.pointer_depth == 1 and len(symbol.dims) == 1))


def _value(node: Any) -> Any:
    """What a statement sets a pointer to."""
    return node.init if isinstance(node, ir.Decl) else node.rvalue


class _LocalPointer(Struct, frozen=True, eq=False):
    """setting: the declaration or assignment. value: of the pointer; or what it points to, if that is one object.
    declared: its declaration, if that is in the region."""

    name: str
    setting: Any
    value: Any
    object: bool
    declared: Any = None

    def put_in(self, root: Any) -> Any:
        """The tree without the pointer."""

        def change(node: Any) -> Any:
            if node is self.setting or node is self.declared:
                return ir.EmptyStatement()
            if not self.object:
                return self.value if _names(node, self.name) else node
            match node:
                case ir.StructRef(type="->", name=pointer) if _names(pointer, self.name):
                    return changed(node, name=self.value, type=".")
                case _ if _follows(node, self.name):
                    return self.value
            return node

        return replaced(root, change)


class LocalPointers(Struct, frozen=True, eq=False):
    """read_after, formulas: as for `without_local_pointers`."""

    sums: PointerSums
    types: Types
    read_after: Callable[[str], bool]
    formulas: Collection[str] = ()

    @property
    def symbols(self) -> Mapping[str, Symbol]:
        return self.sums.symbols

    def first(self, root: ir.Compound) -> _LocalPointer | None:
        """The first of the pointers that can be left out, in the order of the source."""
        nodes = list(walk(root))
        jumps = any(isinstance(node, (ir.Goto, ir.Label, ir.Switch)) for node in nodes)
        for block in nodes:
            items = (block.block_items or ()) if isinstance(block, ir.Compound) else ()
            for position, item in enumerate(items):
                for setting in item.decls if isinstance(item, ir.DeclList) else (item,):
                    if not _may_set(setting, self.symbols):
                        continue
                    later = items[position + 1 :]
                    found = self.pointer(root, setting, later)
                    if found is not None and (isinstance(setting, ir.Decl) or not jumps):
                        return found
        return None

    def pointer(self, root: Any, setting: Any, later: tuple[Any, ...]) -> _LocalPointer | None:
        """A pointer as what it is set to; None if that isn't known to be the same wherever it is used.
        later: the statements behind, in the same block."""
        declares = isinstance(setting, ir.Decl)
        name = setting.name if declares else setting.lvalue.name
        if not self.is_set_once(root, setting, later):
            return None
        declared = name_uses(root).declared.get(name)
        value = setting.init if declares else setting.rvalue
        is_sum = self.is_sum(value, name) or self.is_same_rows(value, name)
        is_sum = is_sum or (self.is_row(value, name) and _only_subscripted(later, name))
        if not is_sum and not (self.is_address(value, name) and _only_followed(later, name)):
            return None
        if not self.stays(value, root, later, name):
            return None
        return _LocalPointer(
            name, setting, value if is_sum else value.expr, not is_sum, declared[0] if declared else None
        )

    def is_set_once(self, root: Any, setting: Any, later: tuple[Any, ...]) -> bool:
        """Whether a local variable has the value of one statement wherever it is used. later: the statements behind, in
        the same block."""
        declares = isinstance(setting, ir.Decl)
        name = setting.name if declares else setting.lvalue.name
        symbol, whole, behind = self.symbols[name], name_uses(root), name_uses(*later)
        declared = whole.declared.get(name, ())
        if symbol.kind != "local" or symbol.static or symbol.thread_local or symbol.address_taken:
            return False
        if len(declared) > 1 or changes_of(name, root) != 1 + bool(declared and not declares):
            return False
        if not declared and self.read_after(name):
            return False
        return whole.uses[name] - (not declares) == behind.uses[name] and name not in whole.asked

    def is_sum(self, node: Any, name: str) -> bool:
        """Whether a pointer's value is a sum of an array, of the type that the pointer leads to, and an offset."""
        found = self.sums.base_and_offset(node)
        if found is None:
            return False
        row, parts = found[0], [found[1]] if found[1] is not None else []
        while isinstance(row, ir.ArrayRef):
            parts.append(row.subscript)
            row = row.name
        same = _same_type(self.element(ir.ID(name)), self.element(found[0]))
        return same and isinstance(row, ir.ID) and all(map(self.is_arithmetic, parts))

    def is_same_rows(self, node: Any, name: str) -> bool:
        """Whether a pointer to rows gets the value of another one, of the same type."""
        one, other = self.symbols.get(name), self.symbols.get(node.name) if isinstance(node, ir.ID) else None
        if one is None or other is None or one.row is None or other.row is None:
            return False
        if one.pointer_depth != other.pointer_depth:
            return False
        if any(layer.quals for symbol in (one, other) for layer in symbol.layers):
            return False
        return _same_type(Typed((), *one.row), Typed((), *other.row))

    def is_row(self, node: Any, name: str) -> bool:
        """Whether a pointer's value is a member that is an array, of the type that the pointer leads to."""
        typed = self.types.of(node) if isinstance(node, (ir.StructRef, ir.ArrayRef)) else None
        if typed is None or not typed.array or not self.is_object(node):
            return False
        return _same_type(self.element(ir.ID(name)), self.element(node))

    def is_address(self, node: Any, name: str) -> bool:
        """Whether a pointer's value is the address of an object of the type that the pointer leads to."""
        if not isinstance(node, ir.UnaryOp) or node.op != "&" or not self.is_object(node.expr):
            return False
        return _same_type(self.element(ir.ID(name)), self.types.of(node.expr))

    def element(self, node: Any) -> Typed | None:
        """The type of what a pointer leads to, or of an array's elements."""
        typed = self.types.of(node)
        if typed is None or not typed.layers or {"volatile", "_Atomic"} & set(typed.layers[0].quals):
            return None
        return typed.element()

    def is_object(self, node: Any) -> bool:
        """Whether where an object lies is known without reading memory: ``s->pos``, ``a[i].pos``."""
        pointers = 0
        while not isinstance(node, ir.ID):
            match node:
                case ir.StructRef(name=inner, type=kind):
                    pointers += kind == "->"
                case ir.ArrayRef(name=inner, subscript=subscript) if self.is_arithmetic(subscript):
                    typed = self.types.of(inner)
                    if typed is None or not typed.layers:
                        return False
                    pointers += typed.pointer
                case _:
                    return False
            if pointers and not isinstance(inner, ir.ID):
                return False
            node = inner
        symbol = self.symbols.get(node.name)
        return symbol is not None and symbol.kind in ("local", "parameter", "global") and symbol.pointer_depth <= 1

    def is_arithmetic(self, node: Any) -> bool:
        """Whether an expression is one of numbers in variables."""
        for one in walk(node):
            if isinstance(one, ir.UnaryOp) and one.op in ("-", "+", "~", "!"):
                continue
            if isinstance(one, ir.FuncCall) and isinstance(one.name, ir.ID) and one.name.name in self.formulas:
                continue
            if not isinstance(one, _ARITHMETIC):
                return False
            symbol = self.symbols.get(one.name) if isinstance(one, ir.ID) else None
            if symbol is not None and (symbol.dims or symbol.pointer or symbol.type.volatile or symbol.type.atomic):
                return False
        return True

    def stays(self, place: Any, root: Any, later: tuple[Any, ...], name: str) -> bool:
        """Whether what a value is made of doesn't change between where it is set and where it is used; loops around may
        change it, as it is computed anew then."""
        used = {node.name for node in walk(place) if isinstance(node, ir.ID)}
        pointers = {one for one in used if one in self.symbols and self.symbols[one].pointer}
        iterators = {str(loop_iterator(node)) for node in walk(*later) if isinstance(node, ir.For)}
        moving = effects(*later).assigned | iterators
        if name in used or not used.isdisjoint(moving) or not pointers.isdisjoint(effects(root).assigned):
            return False
        return not any(_takes(node, used) for node in walk(root))

    def as_sum(self, node: Any) -> Any:
        """A pointer's setting with ``x + i`` in the place of ``&x[i]``."""
        if not _may_set(node, self.symbols):
            return node
        field = "init" if isinstance(node, ir.Decl) else "rvalue"
        match getattr(node, field):
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=base, subscript=subscript)):
                return changed(node, **{field: ir.BinaryOp("+", base, subscript, node.coord)})
        return node


def _takes(node: Any, names: set[str]) -> bool:
    """Whether a node is the address of one of these variables, not of a part or of what they lead to."""
    return isinstance(node, ir.UnaryOp) and node.op == "&" and isinstance(node.expr, ir.ID) and node.expr.name in names


def _same_type(wanted: Typed | None, found: Typed | None) -> bool:
    """Whether a pointer to the one type may stand for one to the other; what is const stays so."""
    if wanted is None or found is None or wanted.layers or found.layers:
        return False
    a, b = wanted.type, found.type
    if a.volatile or a.atomic or b.volatile or b.atomic or (b.const and not a.const):
        return False
    if wanted.struct is not None or found.struct is not None:
        return wanted.struct is found.struct
    kinds = [(one.spelling, one.bits, one.integer, one.floating, one.signed) for one in (a, b)]
    return kinds[0] == kinds[1] and (bool(a.integer) or bool(a.floating))


def _only_followed(items: tuple[Any, ...], name: str) -> bool:
    """Whether a pointer is used as ``p->x``, ``*p`` or ``p[0]`` alone."""
    nodes = list(walk(*items))
    followed = sum(
        _follows(node, name) or (isinstance(node, ir.StructRef) and node.type == "->" and _names(node.name, name))
        for node in nodes
    )
    return bool(followed == sum(_names(node, name) for node in nodes))


def _only_subscripted(items: tuple[Any, ...], name: str) -> bool:
    """Whether a pointer is used as ``p[i]`` alone."""
    nodes = list(walk(*items))
    subscripted = sum(isinstance(node, ir.ArrayRef) and _names(node.name, name) for node in nodes)
    return subscripted == sum(_names(node, name) for node in nodes)


def _follows(node: Any, name: str) -> bool:
    match node:
        case ir.UnaryOp(op="*", expr=pointer):
            return _names(pointer, name)
        case ir.ArrayRef(name=pointer, subscript=ir.Constant(value="0")):
            return _names(pointer, name)
    return False


def _names(node: Any, name: str) -> bool:
    return isinstance(node, ir.ID) and bool(node.name == name)
