"""Calls of functions that choose between computed floating-point numbers, as limiters of slopes do, as these choices
in the innermost loops: ``double face(double a, double b, double v) { if (v >= 0) return a + g(b); return b - g(a); }``.

Compilers put such a function in a loop with its branches, behind which numbers are computed, and make no vectors of
that. As variables with the values of both sides, and choices of these, vectors blend them. What isn't chosen is
computed, too, which nothing tells from what C says: such functions compute numbers from numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.inlining import parameters_of
from scopt.frontend.syntax.purity import is_own
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import names_of_file
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.effects import STEPS
from scopt.ir.walks import changed, copied, rebuilt, same_items, walk

# Functions of the library that are instructions.
_INSTRUCTIONS = frozenset({"fabs", "fabsf"})
_LOOPS = (ir.For, ir.While, ir.DoWhile)
# Functions in functions; nodes that take the place of one call.
_DEEPEST = 4
_LONGEST = 600
# Conditions of a function: what follows them stands in both branches.
_MOST_CONDITIONS = 6
Env = Mapping[str, Any]


class Choosing(Struct, frozen=True):
    """A region's statements without such calls, and the names that these have got."""

    items: tuple[Any, ...]
    names: frozenset[str] = frozenset()


def with_choosing_calls(tu: TranslationUnit, region: Region, items: Sequence[Any]) -> Choosing:
    """items: the statements of the region."""
    called = {node.name.name for node in walk(*items) if isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID)}
    if not any(choosing_function(tu, name) for name in called):
        return Choosing(tuple(items))
    own = frozenset(one.name for one in walk(region.function) if isinstance(one, (ir.Decl, ir.Typedef)) and one.name)
    writing = _Writing(tu, own - {region.function.decl.name})
    made = tuple(rebuilt(item, writing.in_loop) for item in items)
    return Choosing(made, frozenset(writing.names))


def choosing_function(tu: TranslationUnit, name: str) -> bool:
    """Whether a function is such a one: its parameters and its value are of one floating-point type."""
    return tu.worked_out("chooses", lambda: _chooses(tu, name), name)


def _chooses(tu: TranslationUnit, name: str) -> bool:
    if not _is_plain(tu, name):
        return False
    function = tu.functions[name]
    found = _Writing(tu, frozenset()).formula(function, [ir.ID(one.name) for one in parameters_of(function)], 0)
    return found is not None and any(_computes(one) for one in (*(decl.init for decl in found[0]), found[1]))


def _is_plain(tu: TranslationUnit, name: str) -> bool:
    function = tu.functions.get(name)
    if function is None or tu.pure_functions.get(name) != "const" or not is_own(function, tu.replaceable):
        return False
    types, parameters = Types(names_of_file(tu), tu.structs), parameters_of(function)
    if sum(isinstance(one, ir.If | ir.TernaryOp) for one in walk(function.body)) > _MOST_CONDITIONS:
        return False
    if function.param_decls or not parameters or not all(isinstance(one, ir.Decl) for one in parameters):
        return False
    kinds = [types.declared(one) for one in (function.decl.type.type, *parameters)]
    plain = all(not one.layers and one.type.floating and one.type.bits in (32, 64) for one in kinds)
    return plain and len({one.type.spelling for one in kinds}) == 1


def _computes(value: Any) -> bool:
    """Whether a side of a choice is computed, rather than there."""
    return any(
        isinstance(inner, ir.BinaryOp | ir.FuncCall) or (isinstance(inner, ir.UnaryOp) and inner.op != "-")
        for one in walk(value)
        if isinstance(one, ir.TernaryOp)
        for side in (one.iftrue, one.iffalse)
        for inner in ([side] if not isinstance(side, ir.TernaryOp) else [])
    )


class _Writing(Struct, frozen=True, eq=False):
    """own: names that the region's function declares; names: that have been put in."""

    tu: TranslationUnit
    own: frozenset[str]
    names: set[str] = field(default_factory=set)

    # --- statements ---------------------------------------------------------------------------------------------------

    def in_loop(self, node: Any) -> Any:
        """An innermost loop with choices in the place of calls that are made in each iteration; others as they are."""
        if not isinstance(node, ir.For) or any(isinstance(one, _LOOPS) for one in walk(node.stmt)):
            return node
        block = isinstance(node.stmt, ir.Compound)
        items = (node.stmt.block_items or ()) if block else (node.stmt,)
        made = [other for item in items for other in self.statement(item)]
        if same_items(made, items):
            return node
        return changed(node, stmt=ir.Compound(made, node.stmt.coord))

    def statement(self, node: Any) -> list[Any]:
        value = node.init if isinstance(node, ir.Decl) else node.rvalue if isinstance(node, ir.Assignment) else None
        if value is None or isinstance(value, ir.InitList):
            return [node]
        before: list[Any] = []
        made = self.value(value, before)
        if not before:
            return [node]
        return [*before, changed(node, **{"init" if isinstance(node, ir.Decl) else "rvalue": made})]

    def value(self, node: Any, before: list[Any]) -> Any:
        """An expression with variables in the place of such calls. before: gets their declarations."""
        match node:
            case ir.FuncCall(name=ir.ID(name=name)) if name not in self.own and choosing_function(self.tu, name):
                if any(isinstance(one, ir.Assignment) or _steps(one) for one in walk(node)):
                    return node
                found = self.written(node, before)
                return node if found is None else found
            case ir.BinaryOp(op=op) if op not in ("&&", "||"):
                left, right = self.value(node.left, before), self.value(node.right, before)
                return node if left is node.left and right is node.right else changed(node, left=left, right=right)
            case ir.UnaryOp(op="-" | "+") | ir.Cast():
                inner = self.value(node.expr, before)
                return node if inner is node.expr else changed(node, expr=inner)
        return node

    def written(self, node: ir.FuncCall, before: list[Any]) -> Any | None:
        """The variable with the value of a call."""
        function = self.tu.functions[node.name.name]
        parameters, arguments = parameters_of(function), list(node.args.exprs) if node.args is not None else []
        if len(parameters) != len(arguments):
            return None
        kept = set(self.names)
        given = [self.value(one, before) for one in arguments]
        decls = [self.declared(function, one.name, value) for one, value in zip(parameters, given, strict=True)]
        found = self.formula(function, [ir.ID(one.name) for one in decls], _DEEPEST)
        if found is None or sum(1 for _ in walk(*(one.init for one in found[0]), found[1])) > _LONGEST:
            self.names.intersection_update(kept)
            return None
        result = self.declared(function, node.name.name, found[1])
        made = [rebuilt(one, lambda inner: changed(inner, coord=node.coord)) for one in (*decls, *found[0], result)]
        before.extend(made)
        return ir.ID(result.name, node.coord)

    # --- functions ----------------------------------------------------------------------------------------------------

    def formula(self, function: ir.FuncDef, given: Sequence[Any], depth: int) -> tuple[list[Any], Any] | None:
        """What a function returns for some variables, and declarations of what that is made of. None where it does
        anything but choose and compute; depth: how many functions are looked into, from 0 on none."""
        env = {one.name: value for one, value in zip(parameters_of(function), given, strict=True)}
        before: list[Any] = []
        value = self.returned(function, function.body.block_items or (), env, before, depth)
        return None if value is None else (before, value)

    def returned(
        self, function: ir.FuncDef, items: Sequence[Any], env: dict[str, Any], before: list[Any], depth: int
    ) -> Any | None:
        """The value that some statements return. env: what the function's variables are by now."""
        for place, item in enumerate(items):
            rest = items[place + 1 :]
            match item:
                case ir.Return(expr=value) if value is not None:
                    return self.computed(value, env, before, depth)
                case ir.Compound(block_items=inner):
                    return self.returned(function, (*(inner or ()), *rest), env, before, depth)
                case ir.If(cond=cond, iftrue=then, iffalse=otherwise):
                    asked = self.computed(cond, env, before, depth)
                    first = self.returned(function, (then, *rest), dict(env), before, depth)
                    other = (otherwise, *rest) if otherwise is not None else rest
                    second = self.returned(function, other, dict(env), before, depth)
                    if asked is None or first is None or second is None:
                        return None
                    return ir.TernaryOp(asked, first, second, item.coord)
                case ir.Decl(name=name, init=init, type=ir.TypeDecl()) if self.is_like(function, item):
                    value = self.computed(init, env, before, depth) if init is not None else None
                    if init is not None and value is None:
                        return None
                    env[name] = None if value is None else self.kept(function, name, value, before)
                case ir.Assignment(op=op, lvalue=ir.ID(name=name), rvalue=right) if name in env:
                    whole = right if op == "=" else ir.BinaryOp(op[:-1], item.lvalue, right)
                    value = self.computed(whole, env, before, depth)
                    if value is None:
                        return None
                    env[name] = self.kept(function, name, value, before)
                case ir.EmptyStatement():
                    continue
                case _:
                    return None
        return None

    def is_like(self, function: ir.FuncDef, decl: ir.Decl) -> bool:
        """Whether a local is a number of the type that the function's value has, and its name means nothing else
        anywhere in the function."""
        outside = names_of_file(self.tu)
        types = Types(outside, self.tu.structs)
        here, there = types.declared(decl), types.declared(function.decl.type.type)
        plain = not decl.storage and not here.layers and not (here.type.volatile or here.type.atomic)
        alone = sum(isinstance(one, ir.Decl) and one.name == decl.name for one in walk(function)) == 1
        return plain and alone and decl.name not in outside and here.type.spelling == there.type.spelling

    def kept(self, function: ir.FuncDef, name: str, value: Any, before: list[Any]) -> Any:
        decl = self.declared(function, name, value)
        before.append(decl)
        return ir.ID(decl.name)

    def computed(self, node: Any, env: Env, before: list[Any], depth: int) -> Any | None:
        """A function's expression with what its variables are; None where it is anything but numbers of variables."""
        match node:
            case ir.Constant():
                return copied(node)
            case ir.ID(name=name):
                found = env.get(name)
                return None if found is None else copied(found)
            case ir.UnaryOp(op="-" | "+" | "!"):
                fields = {"expr": node.expr}
            case ir.BinaryOp(op="+" | "-" | "*" | "/" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"):
                if all(isinstance(one, ir.Constant) for one in (node.left, node.right)):
                    return None  # of ints, for all that is known
                fields = {"left": node.left, "right": node.right}
            case ir.TernaryOp():
                fields = {"cond": node.cond, "iftrue": node.iftrue, "iffalse": node.iffalse}
            case ir.FuncCall(name=ir.ID(name=name)):
                return self.inner_call(node, name, env, before, depth)
            case _:
                return None
        made = {field: self.computed(one, env, before, depth) for field, one in fields.items()}
        return None if None in made.values() else changed(node, **made)

    def inner_call(self, node: ir.FuncCall, name: str, env: Env, before: list[Any], depth: int) -> Any | None:
        arguments = [
            self.computed(one, env, before, depth) for one in (node.args.exprs if node.args is not None else ())
        ]
        if None in arguments:
            return None
        if name in _INSTRUCTIONS and name not in self.tu.defined_functions:
            return changed(node, args=changed(node.args, exprs=arguments))
        if not depth:  # what it computes is asked of the function that is called
            return changed(node, args=changed(node.args, exprs=arguments)) if _is_plain(self.tu, name) else None
        function = self.tu.functions.get(name)
        if function is None or name in self.own or not _is_plain(self.tu, name):
            return None
        parameters = parameters_of(function)
        if len(parameters) != len(arguments):
            return None
        given = [self.kept(function, one.name, value, before) for one, value in zip(parameters, arguments, strict=True)]
        value = self.formula(function, given, depth - 1)
        if value is None:
            return None
        before.extend(value[0])
        return self.kept(function, name, value[1], before)

    def declared(self, function: ir.FuncDef, name: str, value: Any) -> ir.Decl:
        """A new variable of the type that a function's value has."""
        fresh = next(one for k in count(2) if (one := f"{name}_{k}") not in self.tu.reserved and one not in self.names)
        self.names.add(fresh)
        inner = function.decl.type.type
        kind = ir.TypeDecl(fresh, [], None, inner.type, inner.coord)
        return ir.Decl(fresh, [], [], [], [], kind, value, None, inner.coord)


def _steps(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op in STEPS
