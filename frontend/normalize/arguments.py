"""What is given for a function's parameters: the arguments themselves, where the function changes neither them nor what
they are made of; else variables that get their values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import POINTER, Symbol, facts_of, leads_elsewhere, taken_in
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.ctypes import CHARACTER
from scopt.ir.effects import STEPS, Effects, bases, targets
from scopt.ir.walks import changed, rebuilt, walk

Scope = dict[str, Symbol]

# Pointers that have to be followed to the cells of rows.
_ROWS = 2


class Arguments(Struct, frozen=True, eq=False):
    """In calls of a region. taken: variables that bodies have been put in with, whose addresses calls get."""

    tu: TranslationUnit
    region: Region
    taken: set[str] = field(default_factory=set)

    def types(self, scope: Mapping[str, Symbol]) -> ExpressionTypes:
        return ExpressionTypes(scope, self.tu.structs, self.region.symbolic, self.region.types)

    def given(
        self, parameter: ir.Decl, argument: Any, function: ir.FuncDef, done: Effects, fresh: str, scope: Scope
    ) -> Any | None:
        """What stands for a parameter: the argument; or the declaration of a variable, `fresh`, that gets its value.
        None if that can't be said."""
        if not all(self.has_no_effect(one, scope) for one in walk(argument)):
            return None
        name, types = parameter.name, self.types(scope)
        argument = self.unqualified(argument, types)
        stays = name not in done.assigned and (types.declared(parameter) is not None or name not in done.through)
        wanted = types.declared(parameter)
        if wanted is None or wanted.layers:
            kept = stays and self.keeps_value(argument, function, done, scope, whole=wanted is None)
            if kept and self.fits(parameter, argument, scope):
                return argument
            return self.copy(parameter, argument, fresh, scope) if wanted is None else None
        if wanted.type.volatile or wanted.type.atomic:
            return None
        value = types.converted(argument, wanted)
        if value is argument and stays and (isinstance(value, ir.Constant) or self.is_variable(value, scope)):
            return value
        made = renamed_declaration(changeable(parameter), fresh)
        return rebuilt(changed(made, init=value), lambda inner: changed(inner, coord=argument.coord))

    def unqualified(self, argument: Any, types: ExpressionTypes) -> Any:
        """A pointer without a cast that only changes the qualifiers of what it leads to."""
        if not isinstance(argument, ir.Cast):
            return argument
        wanted, found = types.declared(argument.to_type), types.pointer(argument.expr)
        same = wanted is not None and wanted.pointer and found is not None and types.lead_to_the_same(wanted, found)
        return argument.expr if same else argument

    def copy(self, parameter: ir.Decl, argument: Any, fresh: str, scope: Scope) -> Any | None:
        """A variable with the value of a structure; None where that is none."""
        types = Types(scope, self.tu.structs)
        here, there = types.declared(parameter), types.of(argument)
        if there is None or there.layers or not here.composite or here.struct is not there.struct:
            return None
        if any(one.type.volatile or one.type.atomic for one in (here, there)):
            return None
        made = changed(renamed_declaration(changeable(parameter), fresh), init=argument)
        return rebuilt(made, lambda inner: changed(inner, coord=argument.coord))

    def placed(self, argument: Any, fresh: Callable[[str], str], scope: Scope) -> tuple[list[ir.Decl], Any] | None:
        """A pointer to an element of which another one is given by what is computed in front of the call: declarations
        of variables with its subscripts' values, and the pointer with these. None without such subscripts."""
        if not all(self.has_no_effect(one, scope) for one in walk(argument)):
            return None
        types, made = self.types(scope), list[ir.Decl]()

        def in_variable(node: Any) -> Any:
            read = _variables(node)
            if read is not None and all(self.is_kept(name, scope) for name in read):
                return node
            ctype = types.promoted(node)
            if ctype is None or not ctype.integer:
                return node
            name = fresh("at")
            spelled = ir.IdentifierType(ctype.spelling.split(), node.coord)
            made.append(
                ir.Decl(name, [], [], [], [], ir.TypeDecl(name, [], None, spelled, node.coord), node, None, node.coord)
            )
            return ir.ID(name, node.coord)

        def place(node: Any) -> Any:
            match node:
                case ir.UnaryOp(op="&", expr=inner):
                    return changed(node, expr=place(inner))
                case ir.ArrayRef(name=row, subscript=subscript):
                    return changed(node, name=place(row), subscript=in_variable(subscript))
                case ir.StructRef(name=whole, type="."):
                    return changed(node, name=place(whole))
                case ir.BinaryOp(op="+", left=left, right=right):
                    return changed(node, left=place(left), right=in_variable(right))
            return node

        found = place(argument)
        return (made, found) if made else None

    def fits(self, parameter: ir.Decl, argument: Any, scope: Scope) -> bool:
        """Whether an argument is a pointer of a parameter's type, or a variable with the same structure."""
        types = self.types(scope)
        wanted = types.declared(parameter)
        if wanted is not None:
            found = types.pointer(argument)
            return found is not None and types.lead_to_the_same(wanted, found)
        plain = Types(scope, self.tu.structs)
        here, there = plain.declared(parameter), plain.of(argument)
        if not isinstance(argument, ir.ID) or there is None or here.layers or there.layers:
            return False
        return here.struct is not None and here.struct is there.struct and not there.type.volatile

    def is_variable(self, node: Any, scope: Scope) -> bool:
        """Whether an expression is a variable that no function writes."""
        symbol = scope.get(node.name) if isinstance(node, ir.ID) else None
        return symbol is not None and not (symbol.dims or symbol.pointer or self.may_change(node.name, symbol))

    def keeps_value(self, argument: Any, function: ir.FuncDef, done: Effects, scope: Scope, *, whole: bool) -> bool:
        """Whether an argument has the same value all through a function: what it is made of isn't written there.
        whole: it is a structure."""
        local = {one.name for one in walk(function.body) if isinstance(one, ir.Decl)}
        calls = any(isinstance(one, ir.FuncCall) and not self.computes(one) for one in walk(function.body))
        used = frozenset(one.name for one in walk(argument) if isinstance(one, ir.ID))
        if not used.isdisjoint(done.assigned - local):
            return False
        if not calls and not done.unnamed and done.through <= local and done.assigned <= local | _parameters(function):
            return True
        read = used if whole else self.read_by(argument, scope)
        led = self.is_row(argument, scope) or _is_led_by_pointers(argument)
        if read is None and led and not calls and self.writes_numbers(function, done, scope):
            read = used
        return read is not None and all(self.is_kept(name, scope) for name in read)

    def is_row(self, node: Any, scope: Scope) -> bool:
        """Whether a pointer is one of those to the rows of a matrix (``double **a``: ``a[i]``)."""
        if not (isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ID)):
            return False
        symbol = scope.get(node.name.name)
        rows = symbol is not None and symbol.row is not None and symbol.pointer_depth == _ROWS
        return rows and _variables(node.subscript) is not None

    def writes_numbers(self, function: ir.FuncDef, done: Effects, scope: Scope) -> bool:
        """Whether all that a function writes, its own structures apart, are numbers, which aren't parts of a pointer
        unless they are characters: objects of different types don't overlap."""
        if done.unnamed or done.opaque or not self.tu.strict_aliasing:
            return False
        args = function.decl.type.args
        listed = [*(args.params if args is not None else ()), *walk(function.body)]
        types = {one.name: self.types(scope).declared(one) for one in listed if isinstance(one, ir.Decl)}
        places = [one for one in targets(function.body) if not _is_member(one, types)]
        if any(map(_is_of_cast, places)):
            return False
        for name in frozenset[str]().union(*map(bases, places)):
            typed = types.get(name)
            if typed is None or sum(layer.kind == "pointer" for layer in typed.layers) > 1 or typed.struct is not None:
                return False
            if not (typed.type.integer or typed.type.floating) or typed.type.bits <= CHARACTER:
                return False
        return True

    def is_kept(self, name: str, scope: Scope) -> bool:
        """Whether nobody writes a variable who doesn't name it."""
        symbol = scope.get(name)
        if name in self.region.symbolic or (symbol is not None and symbol.kind == "enum-constant"):
            return True
        return symbol is not None and not self.may_change(name, symbol)

    def may_change(self, name: str, symbol: Symbol) -> bool:
        """Whether somebody who doesn't name a variable may write it."""
        ranks = {name: POINTER} if leads_elsewhere(symbol) else {}
        taken = (
            symbol.address_taken
            or name in self.taken
            or name in taken_in(facts_of(self.tu, self.region.function), ranks)
        )
        return taken or symbol.static or symbol.kind not in ("local", "parameter")

    def read_by(self, node: Any, scope: Scope) -> frozenset[str] | None:
        """The variables whose values make a pointer's; None where other memory is read for it."""
        match node:
            case ir.ID(name=name):
                symbol = scope.get(name)
                is_array = symbol is not None and symbol.dims and not symbol.pointer
                return frozenset() if is_array else frozenset({name})
            case ir.BinaryOp(op="+" | "-", left=left, right=right):
                return _both(self.read_by(left, scope), _variables(right))
            case ir.UnaryOp(op="&", expr=place):
                return self.leading_to(place, scope)
            case ir.ArrayRef() | ir.StructRef():
                typed = Types(scope, self.tu.structs).of(node)
                return self.leading_to(node, scope) if typed is not None and typed.array else None
        return None

    def leading_to(self, node: Any, scope: Scope) -> frozenset[str] | None:
        """The same of where an object lies."""
        match node:
            case ir.ID():
                return frozenset()
            case ir.ArrayRef(name=row, subscript=subscript):
                return _both(self.read_by(row, scope), _variables(subscript))
            case ir.StructRef(type="->", name=pointer) | ir.UnaryOp(op="*", expr=pointer):
                return self.read_by(pointer, scope)
            case ir.StructRef(name=whole):
                return self.leading_to(whole, scope)
        return None

    def computes(self, node: ir.FuncCall) -> bool:
        """Whether a call has no effect."""
        name = node.name.name if isinstance(node.name, ir.ID) else ""
        known = name in VALUE_FUNCTIONS and name not in self.tu.defined_functions
        return known or name in self.tu.pure_functions

    def has_no_effect(self, node: Any, scope: Scope) -> bool:
        match node:
            case ir.Assignment():
                return False
            case ir.UnaryOp(op=op):
                return op not in STEPS
            case ir.FuncCall():
                return self.computes(node)
            case ir.ID(name=name):
                symbol = scope.get(name)
                return symbol is None or not (symbol.type.volatile or symbol.type.atomic)
        return True


def _is_member(place: Any, names: Collection[str]) -> bool:
    """Whether a place is one of these names, or a member of such a structure."""
    while isinstance(place, ir.StructRef) and place.type == ".":
        place = place.name
    return isinstance(place, ir.ID) and place.name in names


def _is_of_cast(place: Any) -> bool:
    """Whether a place is reached through a pointer that is converted."""
    while isinstance(place, (ir.StructRef, ir.ArrayRef)):
        place = place.name
    return isinstance(place, ir.UnaryOp) and any(isinstance(one, ir.Cast) for one in walk(place))


def changeable(node: ir.Decl) -> ir.Decl:
    """A variable's declaration without its value, for another one to be assigned."""
    inner = node.type
    plain = changed(inner, quals=[one for one in inner.quals or () if one != "const"]) if inner.quals else inner
    return changed(node, init=None, type=plain, quals=[one for one in node.quals or () if one != "const"], storage=[])


def _parameters(function: ir.FuncDef) -> set[str]:
    args = function.decl.type.args
    return {one.name for one in (args.params if args is not None else ()) if isinstance(one, ir.Decl)}


def _both(some: frozenset[str] | None, others: frozenset[str] | None) -> frozenset[str] | None:
    return None if some is None or others is None else some | others


def _is_led_by_pointers(argument: Any) -> bool:
    """Whether an argument is the address of an element that nothing but pointers, and variables in subscripts, lead to,
    or a pointer in such an element: ``&s->rng[i]``, ``g->q.h``."""
    match argument:
        case ir.UnaryOp(op="&", expr=ir.ArrayRef() as node):
            return _is_led_to(node)
        case ir.StructRef() as node:
            return _is_led_to(node)
    return False


def _is_led_to(node: Any) -> bool:
    while isinstance(node, (ir.ArrayRef, ir.StructRef)):
        if isinstance(node, ir.ArrayRef) and _variables(node.subscript) is None:
            return False
        node = node.name
    return isinstance(node, ir.ID)


def _variables(node: Any) -> frozenset[str] | None:
    """The variables that a number is computed from; None if other memory is read."""
    if any(isinstance(one, (ir.ArrayRef, ir.StructRef, ir.FuncCall)) or _follows(one) for one in walk(node)):
        return None
    return frozenset(one.name for one in walk(node) if isinstance(one, ir.ID))


def _follows(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op in ("*", "&")
