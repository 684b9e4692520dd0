"""Functions whose bodies may stand in the place of calls: what they consist of, and that it means the same there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.arguments import Scope
from scopt.frontend.normalize.compound_literals import without_compound_literals
from scopt.frontend.normalize.failing_checks import with_plain_checks
from scopt.frontend.normalize.initializers import is_list
from scopt.frontend.normalize.inlining import looked_into, parameters_of
from scopt.frontend.normalize.local_tables import lists_constants
from scopt.frontend.normalize.plain_switches import without_switches
from scopt.frontend.syntax.purity import is_own
from scopt.frontend.syntax.structs import Types, reference_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.effects import opaque_words
from scopt.ir.walks import changed, rebuilt, same_tree, walk

_NEVER = (ir.Goto, ir.Label, ir.InitList, ir.Pragma, ir.FuncDef, ir.Typedef, ir.CompoundLiteral)


def fit_function(tu: TranslationUnit, name: str) -> ir.FuncDef | None:
    """The function of a name, if its body may stand in the place of a call as far as its statements tell; with short
    words of C written out."""
    return tu.worked_out("body", lambda: _fit_function(tu, name), name)


def _fit_function(tu: TranslationUnit, name: str) -> ir.FuncDef | None:
    function = tu.functions.get(name)
    if function is None or looked_into(tu, name) or (name in tu.pure_functions and not _may_have_structures(function)):
        return None
    if any(True for _ in tu.openmp.below((function.body,))) or any(one.function is function for one in tu.regions):
        return None
    function = written_out(tu, function)
    return function if has_body_of_statements(function, tu.replaceable) else None


def _may_have_structures(function: ir.FuncDef) -> bool:
    """Whether a function that computes a value takes or returns others than numbers, as far as words tell."""
    return any(
        isinstance(one, ir.Struct) or (isinstance(one, ir.IdentifierType) and len(one.names) == 1)
        for one in walk(function.decl)
    )


def written_out(tu: TranslationUnit, function: ir.FuncDef) -> ir.FuncDef:
    """A function without compound literals and plain switches, with tables of constants that are static."""

    def change(node: Any) -> Any:
        return changed(node, storage=["static"]) if isinstance(node, ir.Decl) and is_table(node) else node

    items = without_compound_literals(function.body.block_items or (), tu.reserved)
    items = without_switches(with_plain_checks(items, tu.defined_functions))
    return changed(function, body=changed(function.body, block_items=[rebuilt(item, change) for item in items]))


def is_table(node: ir.Decl) -> bool:
    """Whether a local is an array of constants that has the same values in all calls."""
    inner: Any = node.type
    while isinstance(inner, ir.ArrayDecl):
        inner = inner.type
    plain = isinstance(inner, ir.TypeDecl) and "const" in inner.quals and "volatile" not in inner.quals
    listed = isinstance(node.type, ir.ArrayDecl) and isinstance(node.init, ir.InitList)
    return plain and listed and list(node.storage) in ([], ["static"]) and lists_constants(node.init)


def has_body_of_statements(function: ir.FuncDef, replaceable: Collection[str]) -> bool:
    """Whether a function has a body that may stand in the place of a call, as far as its statements tell.
    replaceable: functions that others may be put in the place of."""
    if not is_own(function, replaceable) or function.param_decls:
        return False
    listed = {one for node in walk(function.body) if is_list(node) for one in walk(node.init)}
    for node in walk(function.body):
        if isinstance(node, _NEVER) and not (isinstance(node, ir.InitList) and node in listed):
            return False
        if isinstance(node, ir.FuncCall) and opaque_words(node) is not None:
            return False
        if isinstance(node, (ir.Struct, ir.Union)) and node.decls is not None:
            return False
        if isinstance(node, ir.Enum) and node.values is not None:
            return False
        if isinstance(node, ir.Decl) and (node.name is None or isinstance(node.type, ir.FuncDecl)):
            return False
        if isinstance(node, ir.Decl) and node.storage and not (_is_constant(node) or is_table(node)):
            return False
    return True


def _is_constant(node: ir.Decl) -> bool:
    """Whether a local is a number that has the same value in all calls, so that each call may have one of its own."""
    inner = node.type
    number = isinstance(inner, ir.TypeDecl) and isinstance(inner.type, ir.IdentifierType) and "const" in inner.quals
    valued = node.init is not None and not isinstance(node.init, ir.InitList)
    return number and valued and list(node.storage) == ["static"]


class Meanings(Struct, frozen=True, eq=False):
    """What names mean in a region and in functions. own: names that the region's function declares; others mean in it
    what they mean in all of the file."""

    tu: TranslationUnit
    region: Region
    own: frozenset[str]

    def function(self, node: ir.FuncCall, scope: Scope) -> ir.FuncDef | None:
        """The function whose body may stand in a call's place."""
        name = node.name.name if isinstance(node.name, ir.ID) else ""
        function = None if name in self.own else fit_function(self.tu, name)
        if function is None or (name in self.tu.pure_functions and not self.has_structures(function, scope)):
            return None
        return function

    def has_structures(self, function: ir.FuncDef, scope: Scope) -> bool:
        """Whether it takes or returns structures."""
        types = Types(scope, self.tu.structs)
        listed = (
            one for one in (function.decl.type.type, *parameters_of(function)) if not isinstance(one, ir.EllipsisParam)
        )
        return any(types.declared(one).composite for one in listed)

    def same(self, function: ir.FuncDef, parameters: Sequence[ir.Decl], scope: Scope) -> bool:
        """Whether a function's body means in the region what it means where it stands, and nothing asks for its
        variables' addresses but calls of functions with such a body."""
        known = {one.name for one in parameters}
        declared = [one for one in walk(function.body) if isinstance(one, ir.Decl)]
        local = {one.name for one in declared}
        if local & known or any(name in scope and scope[name].kind == "global" for name in local):
            return False
        types = {one.name: one.type for one in declared}
        if any(_is_special(one) or not same_tree(one.type, types[one.name]) for one in declared):
            return False
        pointers = {one.name for one in parameters if isinstance(one.type, (ir.PtrDecl, ir.ArrayDecl))}
        nodes = list(walk(function.body))
        called = {id(one.name) for one in nodes if isinstance(one, ir.FuncCall)}
        given = {id(one) for node in nodes if isinstance(node, ir.FuncCall) for one in self.given(node)}
        for one in nodes:
            if isinstance(one, ir.UnaryOp) and one.op in ("&", "sizeof", "_Alignof", "__alignof__"):
                if one.op != "&" and (isinstance(one.expr, ir.Typename) or _is_sized(one.expr, local, pointers)):
                    continue
                if one.op != "&" or (isinstance(one.expr, ir.ID) and not (one.expr.name in local and id(one) in given)):
                    return False
                if not isinstance(one.expr, ir.ID) and _base(one.expr) not in pointers | self.globals(scope):
                    return False
            if isinstance(one, ir.IdentifierType) and not self.own.isdisjoint(one.names):
                return False
            if not isinstance(one, ir.ID) or one.name in known or one.name in local:
                continue
            if one.name in self.own or (id(one) not in called and not self.is_of_the_file(one.name, scope)):
                return False
        return True

    def given(self, node: ir.FuncCall) -> Sequence[Any]:
        """The arguments of a call that a body may stand in the place of."""
        name = node.name.name if isinstance(node.name, ir.ID) else ""
        return node.args.exprs if node.args is not None and fit_function(self.tu, name) is not None else ()

    def globals(self, scope: Scope) -> set[str]:
        return {name for name, symbol in scope.items() if symbol.kind == "global"} - self.own

    def is_of_the_file(self, name: str, scope: Scope) -> bool:
        symbol = scope.get(name)
        if name in self.region.symbolic or symbol is None or symbol.type.volatile or symbol.thread_local:
            return False
        return symbol.kind in ("global", "enum-constant", "typedef", "type")


def _is_special(node: ir.Decl) -> bool:
    """Whether a local is an array whose extents are no constants, or volatile."""
    inner: Any = node.type
    while isinstance(inner, ir.ArrayDecl):
        if inner.dim is None or any(isinstance(one, ir.ID) for one in walk(inner.dim)):
            return True
        inner = inner.type
    quals = getattr(inner, "quals", None) or ()
    return "volatile" in quals or "_Atomic" in quals


def _is_sized(node: Any, local: Collection[str], pointers: Collection[str]) -> bool:
    """Whether what stands for an object in the place of a call has its size."""
    return node.name in local if isinstance(node, ir.ID) else _base(node) in pointers


def _base(node: Any) -> str:
    base = reference_of(node).base
    return base.name if isinstance(base, ir.ID) else ""
