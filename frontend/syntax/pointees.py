"""What pointers of a file lead to, where all that they get is in sight: memory that a call allocates, arrays by name.

Parameters of static functions get what their calls give them: ``spmv(a, p, q)`` is told that its vectors are two. Sets
of places, each set without order and for all of the program's run (Andersen 1994); what is read from memory, or comes
from outside, may lead anywhere. A place stands for all that is allocated there: two pointers are only known to lead to
different memory if they have no place in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.syntax.pointer_slots import Kind, Slot
from scopt.frontend.syntax.pointer_values import (
    ALLOCATING,
    declares,
    hands_on,
    holds_pointers,
    is_allocating,
    is_pointer,
    parameters_of,
    pointer_types,
    values_of,
    without_casts,
)
from scopt.frontend.syntax.purity import is_fixed
from scopt.frontend.syntax.stored_pointers import StoredPointers, stored_pointers
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.walks import walk

Places = frozenset[Any]
_NOWHERE: Places = frozenset()


def pointees_of(tu: TranslationUnit) -> Pointees:
    """What a file shows that pointers lead to."""
    stored = tu.worked_out("stored pointers", lambda: stored_pointers(tu)) if tu.strict_aliasing else None
    defined = tu.defined_functions - tu.library_functions
    return tu.worked_out("pointees", lambda: Pointees.of(tu.ast, defined, stored, complete=tu.complete))


class Pointees(Struct, frozen=True, eq=False):
    """Of a file.

    functions: by name. globals: declarations at file scope, by name. calls: by the function's name, the functions that
    they are in and the calls. named: functions that are more than called: by pointers they may get anything. whole:
    there is nothing in the file that isn't here. named_types: names of types that are pointers. stored: what the
    whole program keeps in memory, if that is known.
    """

    functions: dict[str, ir.FuncDef]
    globals: dict[str, list[Any]]
    calls: dict[str, list[tuple[ir.FuncDef, ir.FuncCall]]]
    named: frozenset[str]
    taken: frozenset[str]
    whole: bool
    named_types: frozenset[str] = frozenset()
    stored: StoredPointers | None = None
    known: dict[tuple[str, str], Places | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, ast: ir.FileAST, defined: frozenset[str], stored: StoredPointers | None = None, *, complete: bool = True
    ) -> Pointees:
        functions = {node.decl.name: node for node in ast.ext if isinstance(node, ir.FuncDef)}
        found: dict[str, list[Any]] = {}
        for node in ast.ext:
            if isinstance(node, ir.Decl) and node.name and not isinstance(node.type, ir.FuncDecl):
                found.setdefault(node.name, []).append(node)
        calls: dict[str, list[tuple[ir.FuncDef, ir.FuncCall]]] = {}
        named: set[str] = set()
        taken: set[str] = set()
        for root in ast.ext:
            called: set[int] = set()
            for node in walk(root):
                if isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID):
                    called.add(id(node.name))
                    if isinstance(root, ir.FuncDef):
                        calls.setdefault(node.name.name, []).append((root, node))
                    else:
                        named.add(node.name.name)
                elif isinstance(node, ir.ID) and id(node) not in called:
                    named.add(node.name)
                elif isinstance(node, ir.UnaryOp) and node.op == "&" and isinstance(node.expr, ir.ID):
                    taken.add(node.expr.name)
        whole, types = complete and defined <= functions.keys(), pointer_types(ast)
        return cls(functions, found, calls, frozenset(named), frozenset(taken), whole, types, stored)

    def are_apart(self, function: ir.FuncDef, a: str | Slot, b: str | Slot) -> bool:
        """Whether two variables of a function, or members, lead to different memory: pointers, or arrays themselves."""
        first, second = self.of_name(function, a), self.of_name(function, b)
        return first is not None and second is not None and first.isdisjoint(second)

    def rows_are_apart(self, function: ir.FuncDef, a: str | Slot, b: str | Slot, kinds: Sequence[Kind]) -> bool:
        """Whether none of the rows that an array of pointers leads to is one of another array's, or lies in what a
        pointer leads to; of one array: whether all of its rows are apart. kinds: the types of the pointers to rows, of
        those to the cells first; of two arrays of rows the same ones."""
        return all(map(self.is_owned, kinds)) and (a == b or self.are_apart(function, a, b))

    def lead_from_rows(self, function: ir.FuncDef, one: str | Slot, kind: Kind) -> bool:
        """Whether a pointer may lead to what pointers in arrays do, which are all of this type."""
        places, stored = self.of_name(function, one), self.stored
        if places is None or stored is None:
            return True
        rows = {self.source(without_casts(value)) for _, value in stored.kinds.get(kind, ())}
        return not all(one not in stored.reached if isinstance(one, Slot) else one not in rows for one in places)

    def is_owned(self, kind: Kind) -> bool:
        """Whether all pointers of a type that are in memory lead to objects of their own: each has been stored right
        from the call that allocates it."""
        stored = self.stored
        if stored is None or not self.whole or kind in stored.copied_kinds or not stored.kinds.get(kind):
            return False
        values = [value for _, value in stored.kinds[kind]]
        values += [value for name, _, value in stored.variables.get(kind, ()) if name in self.taken]
        return all(map(self.is_own, values))

    def is_own(self, value: Any) -> bool:
        """Whether a value is what a call has just allocated, or no object at all."""
        value = without_casts(value)
        if isinstance(value, ir.Constant):
            return str(value.value) == "0"
        return self.source(value) is not None

    def source(self, call: Any) -> ir.FuncCall | None:
        """The call that allocates what a call gives, and that nothing else leads to."""
        if not isinstance(call, ir.FuncCall) or not isinstance(call.name, ir.ID):
            return None
        function = self.functions.get(call.name.name)
        given = self.handed_through(function, call) if function is not None else None
        if given is not None:
            return self.source(without_casts(given))
        return call if self.allocated(call, call.name.name) == frozenset({call}) else None

    def handed_through(self, function: ir.FuncDef, call: ir.FuncCall) -> Any:
        """The argument of a call that a function gives back, whatever else it does (``must(malloc(n))``), without
        handing it on to others."""
        returned = [one.expr for one in walk(function.body) if isinstance(one, ir.Return)]
        names = {one.name if isinstance(one, ir.ID) else "" for one in map(without_casts, returned)}
        parameters, arguments = parameters_of(function), list(call.args.exprs) if call.args is not None else []
        if len(names) != 1 or not is_fixed(function) or function.param_decls:
            return None
        name = next(iter(names))
        number = next((k for k, one in enumerate(parameters) if one.name == name), None)
        if number is None or number >= len(arguments) or name in self.taken or values_of(function.body, name):
            return None
        local = any(isinstance(one, ir.Decl) and one.name == name for one in walk(function.body))
        return None if local or hands_on(function.body, name) else arguments[number]

    def of_name(self, function: ir.FuncDef, name: str | Slot) -> Places | None:
        return self.member(name, ()) if isinstance(name, Slot) else self.of_variable(function, name)

    def member(self, slot: Slot, asked: tuple[Any, ...]) -> Places | None:
        """The places that a member's pointers may lead to: where each leads to an object of its own, the member itself
        stands for these."""
        stored = self.stored
        kind = stored.kind(slot) if stored is not None and self.whole else None
        if stored is None or kind is None:
            return None
        if self.is_owned(kind):
            return frozenset({slot})
        if slot in stored.reached or slot not in stored.values:
            return None
        return _NOWHERE if slot in asked else self.all_of(stored.values[slot], (*asked, slot))

    def is_hidden(self, name: str) -> bool:
        """Whether no pointer leads to a variable at file scope that is a number: its address is never taken."""
        declared = self.globals.get(name, [])
        own = bool(declared) and all("static" in (one.storage or ()) for one in declared)
        return own and self.whole and name not in self.taken

    def of_variable(self, function: ir.FuncDef, name: str) -> Places | None:
        """The places that a pointer may lead to, or that of an array; None if these may be any."""
        key = function.decl.name, name
        if key not in self.known:
            self.known[key] = self.variable(function, name, ()) if self.whole else None
        return self.known[key]

    # --- variables ----------------------------------------------------------------------------------------------------

    def variable(self, function: ir.FuncDef, name: str, asked: tuple[Any, ...]) -> Places | None:
        """asked: for what this is asked, which gets these places anyway."""
        local = [one for one in walk(function.body) if isinstance(one, ir.Decl) and one.name == name]
        parameters = parameters_of(function)
        number = next((k for k, one in enumerate(parameters) if one.name == name), None)
        own = len(local) + (number is not None)
        # A parameter hides what the file calls by its name in all of the function, a local variable only behind it.
        if own > 1 or (local and name in self.globals) or function.param_decls:
            return None
        key = (function.decl.name, name) if local or number is not None else ("", name)
        if key in asked:
            return _NOWHERE
        asked = (*asked, key)
        if local:
            return self.declared(function, local[0], asked)
        if number is not None:
            return self.parameter(function, number, parameters[number], asked)
        declared = self.globals.get(name, [])
        if not declared or not all("static" in (one.storage or ()) for one in declared):
            # Of other files' arrays the place is known all the same.
            arrays = [one for one in declared if isinstance(one.type, ir.ArrayDecl)]
            return frozenset({("", name)}) if arrays else None
        return self.static(declared, asked)

    def declared(self, function: ir.FuncDef, decl: ir.Decl, asked: tuple[Any, ...]) -> Places | None:
        """Of a local variable."""
        if isinstance(decl.type, ir.ArrayDecl):
            return frozenset({(function.decl.name, decl.name)}) if not holds_pointers(decl.type) else None
        if not is_pointer(decl, self.named_types) or {"static", "extern", "_Thread_local"} & set(decl.storage or ()):
            return None
        if decl.name in self.taken:
            return None
        values = values_of(function.body, decl.name)
        return self.all_of([(function, value) for value in values], asked) if values else None

    def static(self, declared: Sequence[ir.Decl], asked: tuple[Any, ...]) -> Places | None:
        """Of a variable of the file that no other file names."""
        name = declared[0].name
        if isinstance(declared[0].type, ir.ArrayDecl):
            return frozenset({("", name)}) if not holds_pointers(declared[0].type) else None
        if not all(is_pointer(one, self.named_types) for one in declared) or name in self.taken:
            return None
        if any(declares(one, name) for one in self.functions.values()):
            return None
        values = [(one, value) for one in self.functions.values() for value in values_of(one.body, name)]
        return None if any(one.init is not None for one in declared) else self.all_of(values, asked)

    def parameter(self, function: ir.FuncDef, number: int, parameter: ir.Decl, asked: tuple[Any, ...]) -> Places | None:
        name = function.decl.name
        if "static" not in (function.decl.storage or ()) or name in self.named or parameter.name in self.taken:
            return None
        if not isinstance(parameter.type, ir.ArrayDecl) and not is_pointer(parameter, self.named_types):
            return None
        given: list[tuple[ir.FuncDef, Any]] = []
        for caller, call in self.calls.get(name, ()):
            arguments = list(call.args.exprs) if call.args is not None else []
            if len(arguments) <= number or declares(caller, name):
                return None
            given.append((caller, arguments[number]))
        own = [(function, value) for value in values_of(function.body, parameter.name)]
        return self.all_of([*given, *own], asked)

    # --- values -------------------------------------------------------------------------------------------------------

    def all_of(self, values: Sequence[tuple[ir.FuncDef, Any]], asked: tuple[Any, ...]) -> Places | None:
        """The places of several values, each with the function that it is computed in."""
        found: set[Any] = set()
        for function, value in values:
            places = self.value(function, value, asked)
            if places is None:
                return None
            found |= places
        return frozenset(found)

    def value(self, function: ir.FuncDef, node: Any, asked: tuple[Any, ...]) -> Places | None:
        match node:
            case ir.Cast(expr=inner):
                return self.value(function, inner, asked)
            case ir.Constant(value="0"):
                return _NOWHERE
            case ir.ID(name=name):
                return self.variable(function, name, asked)
            case ir.FuncCall(name=ir.ID(name=name)):
                inner = self.handed_through(self.functions[name], node) if name in self.functions else None
                return self.value(function, inner, asked) if inner is not None else self.allocated(node, name)
            case ir.StructRef():
                slot = self.stored.slot(function, node) if self.stored is not None else None
                return self.member(slot, asked) if slot is not None else None
            case ir.TernaryOp(iftrue=first, iffalse=second):
                return self.all_of([(function, first), (function, second)], asked)
            case ir.BinaryOp(op="+" | "-", left=left) if not isinstance(left, ir.Constant):
                return self.value(function, left, asked)  # where that is a number, nothing is known
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=row)):
                return self.value(function, row, asked)
            case ir.UnaryOp(op="&", expr=ir.ID(name=name)):
                return self.object(function, name)
            case ir.ArrayRef(name=row):
                slot = self.stored.slot(function, node) if self.stored is not None else None
                return self.row(function, row) if slot is None else self.member(slot, asked)
        return None

    def object(self, function: ir.FuncDef, name: str) -> Places | None:
        """The place of a variable itself."""
        local = [one for one in walk(function.body) if isinstance(one, ir.Decl) and one.name == name]
        if local or any(one.name == name for one in parameters_of(function)):
            plain = len(local) == 1 and name not in self.globals
            return frozenset({(function.decl.name, name)}) if plain else None
        return frozenset({("", name)}) if name in self.globals else None

    def row(self, function: ir.FuncDef, node: Any) -> Places | None:
        """The place of an array whose row is given: not of what elements point to."""
        depth = 1
        while isinstance(node, ir.ArrayRef):
            depth, node = depth + 1, node.name
        if not isinstance(node, ir.ID):
            return None
        local = [one for one in walk(function.body) if isinstance(one, ir.Decl) and one.name == node.name]
        if (
            any(one.name == node.name for one in parameters_of(function))
            or len(local) + (node.name in self.globals) > 1
        ):
            return None
        declared = local or self.globals.get(node.name, [])
        inner = declared[0].type if declared else None
        for _ in range(depth):
            inner = inner.type if isinstance(inner, ir.ArrayDecl) else None
        if not isinstance(inner, ir.ArrayDecl) or holds_pointers(inner):
            return None
        return frozenset({(function.decl.name if local else "", node.name)})

    def allocated(self, call: ir.FuncCall, name: str) -> Places | None:
        """The places of what a call gives, if each call gives memory of its own: the call itself, and where that is
        allocated inside of a function that doesn't keep it to itself until it returns."""
        function = self.functions.get(name)
        if function is None:
            return frozenset({call}) if name in ALLOCATING and name not in self.globals else None
        if not is_fixed(function):
            return None
        returned = [one.expr for one in walk(function.body) if isinstance(one, ir.Return)]
        if not returned or not all(self.is_new(function, one) for one in returned):
            return None
        variables = {one.name for value in returned for one in walk(value) if isinstance(one, ir.ID)}
        inside = [one for one in walk(function.body) if isinstance(one, ir.FuncCall) and is_allocating(one)]
        return frozenset({call, *(inside if any(hands_on(function.body, one) for one in variables) else ())})

    def is_new(self, function: ir.FuncDef, node: Any) -> bool:
        """Whether a function's value is what it has just allocated."""
        match node:
            case ir.Cast(expr=inner):
                return self.is_new(function, inner)
            case ir.Constant(value="0"):
                return True
            case ir.FuncCall(name=ir.ID(name=name)):
                return name in ALLOCATING and name not in self.functions
            case ir.ID(name=name):
                local = [one for one in walk(function.body) if isinstance(one, ir.Decl) and one.name == name]
                if (
                    len(local) != 1
                    or not is_pointer(local[0], self.named_types)
                    or local[0].storage
                    or name in self.taken
                ):
                    return False
                values = values_of(function.body, name)
                return bool(values) and all(
                    not isinstance(value, ir.ID) and self.is_new(function, value) for value in values
                )
        return False
