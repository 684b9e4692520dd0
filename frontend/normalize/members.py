"""Members of structures that stay where they are in a region get a name of their own before it.

``s->a[i][j]`` becomes ``s_a[i][j]``, where ``s_a`` is a pointer to the member's first element; ``s->data[i]`` becomes
``s_data[i]``, with the pointer loaded once; ``s->n`` becomes a constant that bounds and subscripts may use. From then
on they are arrays and variables like others. Members of a base that is subscripted itself (``p[i].x``), or that is used
as a whole, stay as they are: `scopt.frontend.model.accesses` gives them arrays of their own.

A load moves to the region's beginning only if the region would surely have loaded something through the same pointer,
or under the condition that its loops are entered; what is written in the region is reached through its address. Whether
something else that is written may be the member by another name is for `scopt.frontend.model.aliasing` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.extreme_iterations import are_independent, in_iterations_around, start_of
from scopt.frontend.normalize.first_iterations import asked_on, at_start, way_to, with_value
from scopt.frontend.normalize.member_uses import Use, is_member, uses_in
from scopt.frontend.normalize.tree_rewriting import value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.structs import (
    Definitions,
    Reference,
    Typed,
    Types,
    path_shape,
    reference_of,
    references,
    shared_storage,
)
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Layer, Shape, Symbol, describe
from scopt.ir.effects import effects, targets
from scopt.ir.printing import CPrinter
from scopt.ir.walks import walk, with_nodes

How = Literal["address", "load", "value"]
_PLAIN = (
    ir.ID,
    ir.Constant,
    ir.BinaryOp,
    ir.UnaryOp,
    ir.Cast,
    ir.Typename,
    ir.TypeDecl,
    ir.IdentifierType,
)


class Hoisted(Struct, frozen=True, eq=False):
    """A name for a member, or another value. symbol: what it means; text: its declaration; cell: the member, where it
    is read at the region's beginning; reads: variables that are read there. factors: of those, whose product it is
      where all of `entries` hold.
    """

    symbol: Symbol
    text: str
    cell: Symbol | None = None
    reads: frozenset[str] = frozenset()
    factors: tuple[str, ...] = ()
    entries: tuple[Any, ...] = ()


class MemberHoister(Struct):
    """Rewrites the statements of a region, `items`.

    symbols: what is visible, extended with the new names. inside: names that are declared inside, and iterators.
    reserved: identifiers that new names must not be. valid: says which pointers surely lead to objects where the region
    begins. named: what stands in the place of nodes now. typed: members by their new names. early: conditions, by their
    texts, where first iterations surely get to members, which are loaded where they hold alone; hurried: bases of
    such members.
    """

    items: tuple[Any, ...]
    symbols: dict[str, Symbol]
    structs: Definitions
    inside: frozenset[str]
    reserved: frozenset[str]
    valid: Callable[[], frozenset[str]] = frozenset
    found: list[Hoisted] = field(default_factory=list)
    named: dict[ir.Node, ir.Node] = field(default_factory=dict)
    typed: dict[str, Typed] = field(default_factory=dict)
    known: list[tuple[tuple[Any, ...], frozenset[str]]] = field(default_factory=list)
    early: dict[str, Any] = field(default_factory=dict)
    hurried: set[str] = field(default_factory=set)

    def run(self) -> tuple[Hoisted, ...]:
        """Name all members that can be named; those of members behind pointers in further rounds."""
        if any(isinstance(node, ir.StructRef) for node in walk(*self.items)):
            while self.round():
                pass
        return tuple(self.found)

    @property
    def types(self) -> Types:
        return Types(self.symbols, self.structs)

    def round(self) -> bool:
        """Name the members of bases that are names; whether there were any."""
        blocked = self.blocked()
        uses: dict[tuple[str, tuple[str, ...]], list[Use]] = {}
        derefs: dict[str, list[Use]] = {}
        for use in uses_in(self.items):
            found = reference_of(use.node)
            derefs.setdefault(found.base.name, []).append(use)
            if is_member(use.node) and found.base.name not in blocked and self.is_fixed(found.base.name):
                uses.setdefault((found.base.name, found.path), []).append(use)
        written = {
            (r.base.name, r.path) for node in targets(*self.items) if is_member(node) for r in (reference_of(node),)
        }
        changed = False
        for (base, path), some in uses.items():
            sure = not self.symbols[base].pointer or any(use.guards == () for use in derefs[base])
            sure = sure or base in self.valid()
            condition = "" if sure else self.condition(some, derefs[base])
            condition = self.if_checked(base, some, derefs[base]) if condition is None else condition
            if condition is None and (base, path) not in written and self.needs_value(base, some[0].node):
                condition = self.reached_first(use.node for use in some)
                self.hurried |= {base} if condition is not None else set()
            changed |= self.name(base, path, some, condition, written=(base, path) in written)
        return changed

    def needs_value(self, base: str, node: Any) -> bool:
        """Whether a member has to be loaded for anything to be known of what is behind it."""
        typed = self.types.of(node)
        return typed is not None and not typed.composite and (typed.pointer or base in self.hurried)

    def blocked(self) -> set[str]:
        """Bases that are subscripted, used as a whole, or of which several names may mean the same bytes."""
        names: set[str] = set()
        for item in self.items:
            for node in references(item):
                found = reference_of(node)
                if not isinstance(found.base, ir.ID) or found.base.name not in self.symbols:
                    continue
                typed = self.types.of(node)
                whole = typed is not None and typed.composite and not self.leaves(found)
                through = found.path and (_subscripts_base(node) or shared_storage(self.types, found))
                if whole or through or (typed is not None and (typed.type.volatile or typed.type.atomic)):
                    names.add(found.base.name)
        return names

    def leaves(self, found: Reference) -> bool:
        """Whether a reference goes through a pointer in its base's object, so that it is no part of that."""
        shape = path_shape(self.types, found)
        steps = zip(shape[0], range(len(found.subscripts)), strict=True) if shape is not None and found.path else ()
        return any(layer.kind == "pointer" and number >= found.before[0] for layer, number in steps)

    def is_fixed(self, name: str) -> bool:
        symbol = self.symbols.get(name)
        if symbol is None or name in self.inside or symbol.kind not in ("local", "parameter", "global"):
            return False
        if {"register", "_Thread_local"} & set(getattr(symbol.decl, "storage", None) or ()):
            return False
        if symbol.pointer_depth > 1 or len(symbol.dims) > symbol.pointer or symbol.type.volatile or symbol.type.atomic:
            return False
        return name not in self.assigned()

    def assigned(self) -> frozenset[str]:
        """The variables that the items assign to, worked out once for each form of them."""
        if not self.known or self.known[-1][0] is not self.items:
            self.known.append((self.items, effects(*self.items).assigned))
        return self.known[-1][1]

    def put(self, others: dict[ir.Node, ir.Node]) -> None:
        """Put other nodes in the place of some."""
        self.named |= others
        self.items = tuple(with_nodes(item, others) for item in self.items)

    # --- names --------------------------------------------------------------------------------------------------------

    def name(self, base: str, path: tuple[str, ...], uses: list[Use], condition: str | None, *, written: bool) -> bool:
        """Name one member and put the name in the place of all its uses;
        whether that was possible. condition: see there."""
        typed = self.types.of(uses[0].node)
        if typed is None or typed.composite or any(layer.kind == "function" for layer in typed.layers):
            return False
        how: How = (
            "address"
            if typed.array or (not typed.layers and (written or condition is None))
            else "load"
            if typed.layers
            else "value"
        )
        if how == "load" and (written or condition is None):
            return False
        text = CPrinter().visit(uses[0].node)
        name = self.fresh("_".join((base, *path)))
        root = self.symbols[base]
        symbol, cell, struct = self.symbol(name, typed, how), None, self.struct_of(base)
        if how == "address":
            symbol = replace(symbol, restrict=root.restrict, within=root, path=path, struct=struct)
        else:
            pointer = replace(typed.type, spelling=f"{typed.type.spelling} *", integer=False, floating=False)
            cell = Symbol(
                text, "global", pointer if typed.layers else typed.type, within=root, path=path, struct=struct
            )
        self.symbols[name], self.typed[name] = symbol, typed
        self.found.append(Hoisted(symbol, _declaration(name, typed, how, text, condition or ""), cell))
        scalar = how == "address" and not typed.layers
        names = {use.node: ir.ID(name, use.node.coord) for use in uses}
        self.put({node: ir.UnaryOp("*", named, node.coord) if scalar else named for node, named in names.items()})
        return True

    def symbol(self, name: str, typed: Typed, how: How) -> Symbol:
        """What a new name means."""
        layers = typed.layers
        if how == "address":
            layers = (Layer("pointer", layers[0].dim if layers else None), *layers[1:])
        return describe(name, Shape(layers, typed.type, typed.size), "local")

    def struct_of(self, base: str) -> ir.Node | None:
        typed = self.types.of(ir.ID(base))
        return typed.struct if typed is not None else None

    def fresh(self, wish: str) -> str:
        name, number = wish, 2
        while name in self.reserved or name in self.symbols or name in self.inside:
            name, number = f"{wish}_{number}", number + 1
        return name

    def condition(self, uses: Iterable[Use], around: Sequence[Use]) -> str | None:
        """C text that holds where one of the uses is reached for the first time, or what stands around it in `around`,
        of the same base: the base is valid then. None if that can't be said.
        """
        found: list[str] = []
        places = [use.guards for use in around if use.guards is not None]
        for use in uses:
            inside = use.around if use.guards is None else use.guards
            outermost = min((place for place in places if inside[: len(place)] == place), key=len, default=None)
            if outermost is None or not are_independent(outermost):
                return None
            parts = [self.entered(loop, outermost[:depth]) for depth, loop in enumerate(outermost)]
            if None in parts:
                return None
            text = " && ".join(dict.fromkeys(part for part in parts if part))
            if not text:
                return ""
            found.append(text)
        texts = list(dict.fromkeys(found))
        return texts[0] if len(texts) == 1 else " || ".join(f"({text})" for text in texts)

    def if_checked(self, base: str, uses: Iterable[Use], around: Iterable[Use]) -> str | None:
        """The same where checks come before: a pointer that has a value leads to an object, but for a null pointer."""
        symbol = self.symbols[base]
        passed = [Use(use.node, use.guards if use.passed is None else use.passed) for use in around]
        if symbol.kind == "local" and getattr(symbol.decl, "init", None) is None:
            return None
        text = self.condition(uses, passed)
        return text if text is None else f"{base} && ({text})" if text else base

    def entered(self, loop: Any, around: Sequence[Any] = ()) -> str | None:
        """C text that says whether a loop has iterations, in some of those of the loops around it; None if that isn't
        known where the region begins."""
        condition = self.entry(loop, around)
        if condition is None or constant_value(condition, self.symbols):
            return None if condition is None else ""
        return str(CPrinter(reduce_parentheses=True).visit(condition))

    def reached_first(self, nodes: Iterable[Any]) -> str | None:
        """A condition where the first iterations surely get to one of some places; they may be reached where that
        doesn't hold. None if that can't be said."""
        for node in nodes:
            way = way_to(self.items, node)
            asked = asked_on(way) if way is not None else None
            values = [constant_value(one.condition, self.symbols) for one in asked or ()]
            asked = [one for one, value in zip(asked or (), values, strict=True) if value is None]
            if asked and 0 not in values and all(self.is_known(one.condition) for one in asked):
                texts = [str(CPrinter(reduce_parentheses=True).visit(one.condition)) for one in asked]
                self.early |= {text: one.condition for text, one in zip(texts, asked, strict=True) if not one.alone}
                return " && ".join(f"({text})" if "||" in text else text for text in dict.fromkeys(texts))
        return None

    def sure_entries(self, hoisted: Iterable[Hoisted]) -> tuple[Any, ...]:
        """Those of the `early` conditions that what is loaded in front of the region depends on: it has no value where
        they don't hold."""
        texts = [one.text for one in hoisted]
        return tuple(one for text, one in self.early.items() if any(text in whole for whole in texts))

    def entry(self, loop: Any, around: Sequence[Any] = ()) -> Any:
        """The same as an expression."""
        iterator = loop_iterator(loop)
        if iterator is None or loop.cond is None:
            return None
        start = start_of(loop)
        start, condition = (with_nodes(part, self.named) for part in (start, loop.cond))
        value = at_start(start, loop.init)
        if value is not None:
            condition = with_value(condition, iterator, value)
            condition = in_iterations_around(condition, around, self.symbols)
        return condition if value is not None and condition is not None and self.is_known(condition) else None

    def is_known(self, node: Any) -> bool:
        """Whether an expression is one of variables that the region doesn't change."""
        if not isinstance(node, _PLAIN) or (isinstance(node, ir.UnaryOp) and node.op not in ("-", "+", "!", "~")):
            return False
        if isinstance(node, ir.BinaryOp) and node.op in ("/", "%") and not value_of(node.right):
            return False
        if isinstance(node, ir.ID):
            symbol = self.symbols.get(node.name)
            changed = node.name in self.assigned()
            if changed or node.name in self.inside or (symbol is not None and (symbol.dims or symbol.type.volatile)):
                return False
        return all(self.is_known(child) for child in node.parts)


def _subscripts_base(node: Any) -> bool:
    """Whether the innermost step of a reference is a subscript."""
    while True:
        match node:
            case ir.ArrayRef(name=ir.ID()):
                return True
            case ir.UnaryOp(op="*", expr=inner):
                return not isinstance(inner, ir.ID) and (isinstance(inner, ir.BinaryOp) or _subscripts_base(inner))
            case ir.ArrayRef() | ir.StructRef():
                node = node.name
            case _:
                return False


def _declaration(name: str, typed: Typed, how: How, text: str, condition: str) -> str:
    """The declaration of a name. Where an extent may come from a macro, the type is taken from the member itself."""
    element = f"{'const ' if typed.type.const else ''}{typed.type.spelling}"
    value = f"{condition} ? {text} : 0" if condition else text
    if how == "value":
        return f"const {typed.type.spelling} {name} = {value};"
    if how == "load":
        plain = (
            len(typed.layers) == 1
            and (typed.type.integer or typed.type.floating)
            and " " not in typed.type.spelling.replace("unsigned ", "")
        )
        return f"{element} *{name} = {value};" if plain else f"__typeof__({text}) {name} = {value};"
    if not typed.layers:
        return f"{element} *{name} = &{text};"
    if len(typed.layers) == 1 and (typed.type.integer or typed.type.floating):
        return f"{element} *{name} = {text};"
    return f"__typeof__({text}[0]) *{name} = {text};"
