"""Calls of functions of one statement as that statement: ``at(image, x, y)`` is ``image->px[y * image->stride + x]``
for subscripts to be seen, ``put(image, x, y, v)`` an assignment.

Arguments take the places of parameters, converted to their types. That is what a call does as long as arguments have no
effects and the function's body is over when it writes: C evaluates them before. Functions that only compute a value
from values stay calls, which statements may have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.formulas import formula_of
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax import direct_references
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS, is_own
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import Symbol, ctype_of, names_of_file, symbol_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.effects import STEPS, effects
from scopt.ir.walks import changed, mapped, rebuilt, replaced, walk

# Functions in functions; nodes of what stands in a call's place: longer expressions nobody would write.
_DEEPEST = 8
_LONGEST = 400


def inlined_calls(
    items: tuple[Any, ...], tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol]
) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, without such calls. symbols: of all names,
    iterators that loops declare apart."""
    if not any(looked_into(tu, name) for name in _called(items)):
        return items
    inlining = _inlining(items, tu, region, symbols)
    return tuple(inlining.within(item, _DEEPEST) for item in items)


def written_choices(
    items: tuple[Any, ...],
    tu: TranslationUnit,
    region: Region,
    symbols: Mapping[str, Symbol],
    iterators: Collection[str],
) -> tuple[Any, ...]:
    """The statements of a region with choices in subscripts in the place of calls of functions that choose,
    ``a[y][clamp(x + 1, n)]``, where nothing is given to them but iterators and what the region leaves as it is: where a
    loop would choose alike for most of its iterations is seen then."""
    if not any(_choice_of(tu, name) is not None for name in _called(items)):
        return items
    changed_names = effects(*items).changed - frozenset(iterators)
    inlining = _inlining(items, tu, region, symbols)

    def visited(node: Any, inside: bool) -> Any:
        subscript = node.subscript if isinstance(node, ir.ArrayRef) else None
        made = mapped(node, lambda part: visited(part, inside or part is subscript))
        if not (inside and isinstance(made, ir.FuncCall) and changed_names.isdisjoint(names_of(made))):
            return made
        if any(isinstance(one, (ir.ArrayRef, ir.StructRef)) for one in walk(made)):
            return made
        return inlining.choice(made, _DEEPEST) or made

    return tuple(visited(item, False) for item in items)


def _called(items: Iterable[Any]) -> set[str]:
    return {node.name.name for node in walk(*items) if isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID)}


def _inlining(items: Iterable[Any], tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol]) -> _Inlining:
    heads = (
        node.init.decls for node in walk(*items) if isinstance(node, ir.For) and isinstance(node.init, ir.DeclList)
    )
    scope = {**symbols, **{one.name: symbol_of(one, symbols) for decls in heads for one in decls}}
    own = frozenset(
        node.name
        for node in walk(region.function)
        if isinstance(node, (ir.Decl, ir.Typedef, ir.Enumerator)) and node is not region.function.decl and node.name
    )
    return _Inlining(tu, ExpressionTypes(scope, tu.structs, region.symbolic, region.types), own)


def _choice_of(tu: TranslationUnit, name: str) -> Any | None:
    """What a function that computes a number from numbers returns, where it is a choice."""
    function = tu.functions.get(name)
    if function is None or tu.pure_functions.get(name) != "const" or not is_own(function, tu.replaceable):
        return None
    value = formula_of(function)
    plain = value is not None and any(isinstance(one, ir.TernaryOp) for one in walk(value))
    return value if plain and not any(isinstance(one, ir.FuncCall) for one in walk(value)) else None


def looked_into(tu: TranslationUnit, name: str) -> bool:
    function = tu.functions.get(name)
    if function is None or not is_own(function, tu.replaceable) or (statement := _statement(function)) is None:
        return False
    if name not in tu.pure_functions:
        return not tu.worked_out("by value", lambda: _takes_structures(tu, function), name)
    return isinstance(statement, ir.Return) and tu.worked_out("place", lambda: _is_place(tu, function, statement), name)


def _takes_structures(tu: TranslationUnit, function: ir.FuncDef) -> bool:
    """Whether copies of structures are given to a function; `with_called_bodies` says what is done with them."""
    types = Types(names_of_file(tu), tu.structs)
    return any(isinstance(one, ir.Decl) and types.declared(one).composite for one in parameters_of(function))


def _is_place(tu: TranslationUnit, function: ir.FuncDef, statement: Any) -> bool:
    """Whether a function is a product of integers with something added, as offsets of elements in arrays are, or a
    pointer: rows are only seen if it stands in the subscript itself."""
    scope, declared = names_of_file(tu), function.decl.type
    if isinstance(declared.type, ir.PtrDecl):
        return True
    types = [
        declared.type,
        *(one.type for one in parameters_of(function) if isinstance(one, ir.Decl)),
        *(one.to_type for one in walk(statement) if isinstance(one, ir.Cast)),
    ]
    if not all(found is not None and found.integer for found in (ctype_of(one, scope) for one in types)):
        return False
    products = [one for one in walk(statement) if isinstance(one, ir.BinaryOp) and one.op == "*"]
    return _is_sum_of_products(statement.expr) and any(not isinstance(one.right, ir.Constant) for one in products)


def _is_sum_of_products(node: Any) -> bool:
    match node:
        case ir.Cast():
            return _is_sum_of_products(node.expr)
        case ir.BinaryOp():
            return _is_sum_of_products(node.left) and _is_sum_of_products(node.right)
    return isinstance(node, (ir.ID, ir.Constant))


def _statement(function: ir.FuncDef) -> Any:
    """The one statement of a body, if it is one that returns a value or assigns."""
    items: Sequence[Any] = function.body.block_items or ()
    return items[0] if len(items) == 1 and isinstance(items[0], (ir.Return, ir.Assignment)) else None


class _Inlining(Struct, frozen=True, eq=False):
    """own: names that the region's function declares: others mean in it what they mean in all of the file."""

    tu: TranslationUnit
    types: ExpressionTypes
    own: frozenset[str]

    def within(self, root: Any, depth: int) -> Any:
        """A tree without calls that can be inlined, so many functions deep."""

        def change(node: Any) -> Any:
            made = self.call(node, depth) if depth and isinstance(node, ir.FuncCall) else None
            return direct(node) if made is None else made

        return rebuilt(root, change)

    def call(self, node: ir.FuncCall, depth: int) -> Any | None:
        """What stands in a call's place; None where it stays."""
        name = node.name.name if isinstance(node.name, ir.ID) else ""
        if name in self.own or not looked_into(self.tu, name):
            return None
        return self.put_in(node, _statement(self.tu.functions[name]), depth)

    def choice(self, node: ir.FuncCall, depth: int) -> Any | None:
        """The choice that stands in the place of a call of a function that makes it."""
        name = node.name.name if isinstance(node.name, ir.ID) else ""
        value = None if name in self.own else _choice_of(self.tu, name)
        return None if value is None else self.put_in(node, ir.Return(value), depth)

    def put_in(self, node: ir.FuncCall, statement: Any, depth: int) -> Any | None:
        """A call's statement with what is given in the places of parameters."""
        function = self.tu.functions[node.name.name]
        declared, parameters = function.decl.type, parameters_of(function)
        arguments = list(node.args.exprs) if node.args is not None else []
        if function.param_decls or len(parameters) != len(arguments):
            return None
        values = {one.name: self.given(one, value) for one, value in zip(parameters, arguments, strict=True)}
        if None in values or any(value is None for value in values.values()):
            return None
        is_value = isinstance(statement, ir.Return)
        if not self.may_move(statement, values.keys()) or is_value is returns_nothing(declared):
            return None
        put_in = replaced(statement.expr if is_value else statement, _known(values))
        made = self.within(rebuilt(put_in, lambda inner: direct(changed(inner, coord=node.coord))), depth - 1)
        if sum(1 for _ in walk(made)) > _LONGEST:
            return None
        return self.returned(made, declared.type) if is_value else made

    def returned(self, value: Any, kind: Any) -> Any | None:
        """What a function of a type returns; None if that can't be said."""
        wanted = self.types.declared(kind)
        if wanted is None or not wanted.layers:
            return self.types.converted(value, wanted)
        found = self.types.pointer(value)
        return value if found is not None and self.types.lead_to_the_same(wanted, found) else None

    def given(self, parameter: Any, value: Any) -> Any | None:
        """An argument as the parameter's value; None if that can't be said."""
        if not isinstance(parameter, ir.Decl) or not all(map(self.has_no_effect, walk(value))):
            return None
        wanted = self.types.declared(parameter)
        if wanted is None or wanted.type.volatile or wanted.type.atomic:
            return None
        if wanted.layers:
            found = self.types.pointer(value)
            return value if found is not None and self.types.lead_to_the_same(wanted, found) else None
        return self.types.converted(value, wanted)

    def may_move(self, statement: Any, parameters: Iterable[str]) -> bool:
        """Whether a function's statement means in the region what it means in the function, and writes nothing but, at
        last, what its parameters lead to."""
        known, inner = frozenset(parameters), [statement]
        if isinstance(statement, ir.Assignment):
            if isinstance(statement.lvalue, ir.ID) and statement.lvalue.name in known:
                return False
            inner = [statement.lvalue, statement.rvalue]
        elif statement.expr is None:
            return False
        nodes = [one for part in inner for one in walk(part)]
        called = {id(one.name) for one in nodes if isinstance(one, ir.FuncCall)}
        for one in nodes:
            if isinstance(one, ir.UnaryOp) and _asks_for_object(one, known):
                return False
            if not self.has_no_effect(one):
                return False
            if isinstance(one, ir.IdentifierType) and not self.own.isdisjoint(one.names):
                return False
            if not isinstance(one, ir.ID) or one.name in known:
                continue
            if one.name in self.own or (id(one) not in called and not self.is_of_the_file(one.name)):
                return False
        return True

    def is_of_the_file(self, name: str) -> bool:
        """Whether a name means the same in the region and in the file's functions before it."""
        symbol = self.types.scope.get(name)
        if name in self.own or name in self.types.symbolic or symbol is None or symbol.type.volatile:
            return False
        return symbol.kind in ("global", "enum-constant", "typedef", "type")

    def has_no_effect(self, node: Any) -> bool:
        match node:
            case ir.Assignment():
                return False
            case ir.UnaryOp(op=op):
                return op not in STEPS
            case ir.FuncCall(name=ir.ID(name=name)):
                known = name in VALUE_FUNCTIONS and name not in self.tu.defined_functions
                return known or name in self.tu.pure_functions or looked_into(self.tu, name)
            case ir.FuncCall():
                return False
            case ir.ID(name=name):
                symbol = self.types.scope.get(name)
                return symbol is None or not (symbol.type.volatile or symbol.type.atomic)
        return True


def _asks_for_object(node: ir.UnaryOp, parameters: frozenset[str]) -> bool:
    """Whether something is asked of a parameter itself, which isn't the object that is given for it: its size, or its
    address."""
    if node.op == "&":
        return isinstance(node.expr, ir.ID) and node.expr.name in parameters
    inside = (one.name for one in walk(node.expr) if isinstance(one, ir.ID))
    return node.op in ("sizeof", "_Alignof") and not parameters.isdisjoint(inside)


def _known(values: Mapping[str, Any]) -> Callable[[Any], Any]:
    return lambda node: values.get(node.name, node) if isinstance(node, ir.ID) else node


def direct(node: Any) -> Any:
    """`direct_references.direct`, and ``p[i].m`` for ``(p + i)->m``."""
    match node:
        case ir.StructRef(type="->", name=ir.BinaryOp(op="+", left=pointer, right=offset)):
            return changed(node, name=ir.ArrayRef(pointer, offset, node.coord), type=".")
    return direct_references.direct(node)


def parameters_of(function: ir.FuncDef) -> list[Any]:
    """What a function takes; ``(void)`` is nothing."""
    args = function.decl.type.args
    return [one for one in (args.params if args is not None else ()) if not _is_void(one)]


def _is_void(parameter: Any) -> bool:
    return isinstance(parameter, ir.Typename) and returns_nothing(parameter)


def returns_nothing(declared: Any) -> bool:
    inner = declared.type
    return (
        isinstance(inner, ir.TypeDecl)
        and isinstance(inner.type, ir.IdentifierType)
        and list(inner.type.names) == ["void"]
    )
