"""Calls of functions of several statements as these statements, for loops to be seen with all that they do: what
``update(w, x, y)`` writes, the sum that ``distance(a[i], b[k])`` computes.

A parameter that a function doesn't change is what is given for it, any other one a variable. Locals get names of their
own; what is returned is assigned. `scopt.frontend.normalize.inlining` takes functions of one statement, and functions
that only compute a value from values stay calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.arguments import Arguments, Scope, changeable
from scopt.frontend.normalize.fit_functions import Meanings, fit_function, is_table
from scopt.frontend.normalize.initializers import assigned_list, is_list, zeroed_list
from scopt.frontend.normalize.inlining import direct, parameters_of, returns_nothing
from scopt.frontend.normalize.returns import without_returns
from scopt.frontend.normalize.whole_runs import is_long
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.effects import effects
from scopt.ir.walks import changed, copied, rebuilt, replaced, same_items, walk

# Functions in functions; nodes that a region gets in the place of calls.
_DEEPEST = 6
_LONGEST = 2500
Sink = Callable[[Any], Any]


class Called(Struct, frozen=True):
    """A region's statements, in which functions' statements stand in the place of calls, and the names that these have
    got."""

    items: tuple[Any, ...]
    names: frozenset[str] = frozenset()


def with_called_bodies(tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol]) -> Called:
    """symbols: what names mean where the region begins."""
    calls = {node.name.name for node in walk(*region.items) if isinstance(node, ir.FuncCall) and _is_named(node)}
    if all(fit_function(tu, name) is None for name in calls):
        return Called(region.items)
    own = frozenset(
        node.name
        for node in walk(region.function)
        if isinstance(node, (ir.Decl, ir.Typedef, ir.Enumerator)) and node is not region.function.decl and node.name
    )
    bodies = _Bodies(tu, region, Meanings(tu, region, own), Arguments(tu, region))
    items = bodies.items(region.items, dict(symbols), ())
    if same_items(items, region.items) or is_long(items, symbols, region.symbolic):
        return Called(region.items)
    return Called(tuple(items), frozenset(bodies.names))


def _is_named(node: ir.FuncCall) -> bool:
    return isinstance(node.name, ir.ID)


class _Bodies(Struct, eq=False):
    """names: of what has been put in. nodes: how many of them."""

    tu: TranslationUnit
    region: Region
    meanings: Meanings
    arguments: Arguments
    names: set[str] = field(default_factory=set)
    nodes: int = 0

    # --- statements ---------------------------------------------------------------------------------------------------

    def items(self, items: Sequence[Any], scope: Scope, stack: tuple[str, ...]) -> Sequence[Any]:
        """The items of a block; scope: gets what they declare."""
        made: list[Any] = []
        for item in items:
            made += self.statement(item, scope, stack)
        return items if same_items(made, items) else made

    def statement(self, node: Any, scope: Scope, stack: tuple[str, ...]) -> list[Any]:
        """What stands in a statement's place."""
        match node:
            case ir.Compound():
                made = self.items(node.block_items or (), dict(scope), stack)
                return [node if made is node.block_items or not node.block_items else changed(node, block_items=made)]
            case ir.For():
                inner = dict(scope)
                for decl in node.init.decls if isinstance(node.init, ir.DeclList) else ():
                    inner[decl.name] = symbol_of(decl, inner)
                return [self.with_part(node, "stmt", inner, stack)]
            case ir.While() | ir.DoWhile():
                return [self.with_part(node, "stmt", scope, stack)]
            case ir.If():
                before, cond = self.expression(node.cond, scope, stack)
                node = node if cond is node.cond else changed(node, cond=cond)
                return [*before, self.with_part(self.with_part(node, "iftrue", scope, stack), "iffalse", scope, stack)]
            case ir.Decl() if stack and is_list(node) and not node.storage and (made := self.assigned(node, scope)):
                return [*self.items(made, scope, stack)]
            case ir.Decl():
                return self.declaration(node, scope, stack)
            case ir.Switch():
                before, cond = self.expression(node.cond, scope, stack)
                node = node if cond is node.cond else changed(node, cond=cond)
                return [*before, self.with_part(node, "stmt", scope, stack)]
            case ir.Case() | ir.Default():
                return [changed(node, stmts=[self.labelled(one, scope, stack) for one in node.stmts or ()])]
            case ir.FuncCall():
                if (found := self.call(node, None, scope, stack)) is not None:
                    return found
            case ir.Assignment(op="=", lvalue=ir.ID(), rvalue=ir.FuncCall() as call) if self.is_plain(node, scope):
                if (found := self.call(call, lambda value: changed(node, rvalue=value), scope, stack)) is not None:
                    return found
            case ir.Assignment() | ir.UnaryOp():
                pass
            case _:
                return [node]
        before, made = self.expression(node, scope, stack)
        # With variables for arguments a call may be another one.
        called = self.call(made, None, scope, stack) if before and isinstance(made, ir.FuncCall) else None
        return [*before, *([made] if called is None else called)]

    def assigned(self, node: ir.Decl, scope: Scope) -> list[Any]:
        """A variable with a list of values, as `scopt.frontend.normalize.initializers` has it."""
        types, taken = Types(scope, self.tu.structs), self.tu.reserved | self.names
        made = assigned_list(node, types) or zeroed_list(node, types, taken, self.region.symbolic)
        self.names |= {one.name for one in walk(*made) if isinstance(one, ir.Decl)}
        return made

    def labelled(self, node: Any, scope: Scope, stack: tuple[str, ...]) -> Any:
        """A statement behind a label, in one."""
        if isinstance(node, ir.Decl):
            return node
        made = self.statement(node, dict(scope), stack)
        return made[0] if len(made) == 1 else ir.Compound(made, node.coord)

    def with_part(self, node: Any, name: str, scope: Scope, stack: tuple[str, ...]) -> Any:
        part = getattr(node, name)
        if part is None:
            return node
        made = self.statement(part, dict(scope), stack)
        if len(made) == 1:
            return node if made[0] is part else changed(node, **{name: made[0]})
        return changed(node, **{name: ir.Compound(made, part.coord)})

    def declaration(self, node: ir.Decl, scope: Scope, stack: tuple[str, ...]) -> list[Any]:
        found: list[Any] | None = None
        if isinstance(node.init, ir.FuncCall) and isinstance(node.type, ir.TypeDecl) and not node.storage:
            variable = ir.ID(node.name, node.coord)
            inner = {**scope, node.name: symbol_of(node, scope)}
            found = self.call(node.init, lambda value: ir.Assignment("=", variable, value, node.coord), inner, stack)
            if found is not None and node.name not in {one.name for one in walk(node.init) if isinstance(one, ir.ID)}:
                scope[node.name] = inner[node.name]
                return [changeable(node), *found]
        before, init = self.expression(node.init, scope, stack) if node.init is not None else ([], None)
        if node.name and not isinstance(node.type, ir.FuncDecl):
            scope[node.name] = symbol_of(node, scope)
        return [*before, node if init is node.init else changed(node, init=init)]

    def is_plain(self, node: ir.Assignment, scope: Scope) -> bool:
        """Whether an assigned variable is one that no function writes."""
        symbol = scope.get(node.lvalue.name)
        return symbol is not None and not self.arguments.may_change(node.lvalue.name, symbol)

    def expression(
        self, node: Any, scope: Scope, stack: tuple[str, ...], whole: Any | None = None
    ) -> tuple[list[Any], Any]:
        """Statements in front of the one that an expression stands in, and the expression with their results. Only of
        functions that write nothing that the rest looks at: nobody sees that they are called earlier.

        whole: what it is a part of.
        """
        before: list[Any] = []
        whole = node if whole is None else whole

        def part(inner: Any) -> Any:
            if inner is None:
                return None
            more, made = self.expression(inner, scope, stack, whole)
            before.extend(more)
            return made

        match node:
            case ir.FuncCall():
                args = node.args and changed(node.args, exprs=[part(one) for one in node.args.exprs])
                call = node if not before else changed(node, args=args)
                found = self.value(call, scope, stack)
                if found is None or not self.is_unseen(found[0], node, whole):
                    return before, call
                return [*before, *found[0]], found[1]
            case ir.BinaryOp(op="&&" | "||", left=left):
                made = part(left)
                return before, node if made is left else changed(node, left=made)
            case ir.TernaryOp(cond=cond):
                made = part(cond)
                return before, node if made is cond else changed(node, cond=made)
            case ir.BinaryOp(left=left, right=right):
                fields = {"left": part(left), "right": part(right)}
            case ir.Assignment(lvalue=lvalue, rvalue=rvalue):
                fields = {"rvalue": part(rvalue), "lvalue": part(lvalue)}
            case ir.Cast(expr=inner):
                fields = {"expr": part(inner)}
            case ir.UnaryOp(op=op, expr=inner) if op not in ("sizeof", "_Alignof", "__alignof__"):
                fields = {"expr": part(inner)}
            case ir.ArrayRef(name=name, subscript=subscript):
                fields = {"name": part(name), "subscript": part(subscript)}
            case _:
                return [], node
        return before, changed(node, **fields) if before else node

    # --- calls --------------------------------------------------------------------------------------------------------

    def value(self, node: ir.FuncCall, scope: Scope, stack: tuple[str, ...]) -> tuple[list[Any], Any] | None:
        """The statements that find what a call returns, and the variable that has it; None where the call stays."""
        function = self.function(node, scope, stack)
        if function is None or returns_nothing(function.decl.type):
            return None
        name = self.fresh(node.name.name)
        result = ir.ID(name, node.coord)
        inner = function.decl.type.type
        if not isinstance(inner, ir.TypeDecl) or not isinstance(inner.type, (ir.IdentifierType, ir.Struct)):
            return None
        declared = changed(inner, declname=name, quals=[], coord=node.coord)
        decl = ir.Decl(name, [], [], [], [], declared, None, None, node.coord)
        scope[name] = symbol_of(decl, scope)
        made = self.call(node, lambda value: ir.Assignment("=", result, value, node.coord), scope, stack)
        return None if made is None else ([decl, *made], copied(result))

    def is_unseen(self, made: Sequence[Any], call: Any, whole: Any) -> bool:
        """Whether the rest of an expression neither looks at what a call writes nor calls what might: C leaves it open
        which of both is first."""
        written = effects(*made).written - self.names
        if not written:
            return True
        inside = set(walk(call))
        rest = [node for node in walk(whole) if node not in inside]
        called = {node.name for node in rest if isinstance(node, ir.FuncCall)}
        plain = all(isinstance(name, ir.ID) and self.tu.pure_functions.get(name.name) == "const" for name in called)
        names = {node.name for node in rest if isinstance(node, ir.ID)} - {name.name for name in called if plain}
        return plain and written.isdisjoint(names)

    def function(self, node: ir.FuncCall, scope: Scope, stack: tuple[str, ...]) -> ir.FuncDef | None:
        """The function whose body may stand in a call's place."""
        if not _is_named(node) or node.name.name in stack or len(stack) >= _DEEPEST:
            return None
        return self.meanings.function(node, scope)

    def call(self, node: ir.FuncCall, sink: Sink | None, scope: Scope, stack: tuple[str, ...]) -> list[Any] | None:
        """The statements in a call's place; None where it stays. sink: makes a statement of the value; None if nobody
        asks for it."""
        function = self.function(node, scope, stack)
        if function is None:
            return None
        declared, parameters = function.decl.type, parameters_of(function)
        arguments = list(node.args.exprs) if node.args is not None else []
        if len(parameters) != len(arguments) or not all(isinstance(one, ir.Decl) for one in parameters):
            return None
        types = self.arguments.types(scope)
        wanted = None if returns_nothing(declared) else types.declared(declared.type)
        if sink is not None and (wanted.layers if wanted is not None else not self.is_structure(declared.type, scope)):
            return None
        if not self.meanings.same(function, parameters, scope):
            return None
        kept, tried = set(self.names), self.nodes
        done = effects(function.body)
        values: dict[str, Any] = {}
        before: list[Any] = []
        inner = dict(scope)
        for parameter, argument in zip(parameters, arguments, strict=True):
            given = self.arguments.given(parameter, argument, function, done, self.fresh(parameter.name), scope)
            if given is None and (placed := self.arguments.placed(argument, self.fresh, scope)) is not None:
                before += placed[0]
                inner.update({one.name: symbol_of(one, inner) for one in placed[0]})
                given = self.arguments.given(parameter, placed[1], function, done, self.fresh(parameter.name), inner)
            if given is None:
                return None
            if isinstance(given, ir.Decl):
                before.append(given)
                values[parameter.name] = ir.ID(given.name, node.coord)
                inner[given.name] = symbol_of(given, inner)
            else:
                values[parameter.name] = given
        names = {one.name: self.fresh(one.name) for one in walk(function.body) if isinstance(one, ir.Decl)}
        body = [self.put_in(item, values, names, node) for item in function.body.block_items or ()]
        inner.update({one.name: symbol_of(one, inner) for one in walk(*body) if isinstance(one, ir.Decl)})

        def returned(value: Any) -> Any:
            if sink is None or value is None:
                return value if value is not None else ir.EmptyStatement()
            made = self.arguments.types(inner).converted(value, wanted)
            return copied(sink(made if made is not None else value))

        statements = without_returns(body, returned, lambda: self.fresh("left"))
        self.nodes += sum(1 for _ in walk(*body))
        if self.nodes > _LONGEST:
            self.names, self.nodes = kept, tried
            return None
        inner.update({one.name: symbol_of(one, inner) for one in walk(*statements) if isinstance(one, ir.Decl)})
        self.arguments.taken.update(effects(*statements).taken & self.names)
        # Names are new, so that no block has to keep them apart.
        made = self.items(statements, inner, (*stack, node.name.name))
        if not effects(*made).taken.isdisjoint(set(names.values())):  # in a call that has stayed
            self.names, self.nodes = kept, tried
            return None
        given_before = self.items(before, inner, stack)  # arguments may be calls themselves
        scope.update({name: inner[name] for name in self.names & inner.keys()})
        return [*given_before, *made]

    def is_structure(self, declared: Any, scope: Scope) -> bool:
        typed = Types(scope, self.tu.structs).declared(declared)
        return typed.composite and not (typed.type.volatile or typed.type.atomic)

    def put_in(self, item: Any, values: Mapping[str, Any], names: Mapping[str, str], call: Any) -> Any:
        """A function's statement with arguments in the place of parameters, and other names."""

        def change(node: Any) -> Any:
            if isinstance(node, ir.ID) and node.name in values:
                return copied(values[node.name])
            return node

        def named(node: Any) -> Any:
            match node:
                case ir.ID(name=name) if name in names:
                    return changed(node, name=names[name])
                case ir.Decl(name=str(name)) if name in names:
                    storage = ["static"] if is_table(node) else []
                    return changed(renamed_declaration(node, names[name]), storage=storage)
            return node

        made = replaced(rebuilt(item, named), change)
        return rebuilt(made, lambda inner: direct(changed(inner, coord=call.coord)))

    def fresh(self, name: str) -> str:
        made = next(one for k in count(2) if (one := f"{name}_{k}") not in self.tu.reserved and one not in self.names)
        self.names.add(made)
        return made
