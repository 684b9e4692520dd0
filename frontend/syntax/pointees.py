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
from scopt.frontend.syntax.purity import is_fixed
from scopt.ir.effects import assigns
from scopt.ir.walks import walk

# Functions whose result points to an object that nothing else points to.
ALLOCATING = frozenset(["malloc", "calloc", "aligned_alloc", "__builtin_malloc", "__builtin_calloc"])

Places = frozenset[Any]
_NOWHERE: Places = frozenset()


class Pointees(Struct, frozen=True, eq=False):
    """Of a file.

    functions: by name. globals: declarations at file scope, by name. calls: by the function's name, the functions that
    they are in and the calls. named: functions that are more than called: by pointers they may get anything. whole:
    there is nothing in the file that isn't here.
    """

    functions: dict[str, ir.FuncDef]
    globals: dict[str, list[Any]]
    calls: dict[str, list[tuple[ir.FuncDef, ir.FuncCall]]]
    named: frozenset[str]
    taken: frozenset[str]
    whole: bool
    known: dict[tuple[str, str], Places | None] = field(default_factory=dict)

    @classmethod
    def of(cls, ast: ir.FileAST, defined: frozenset[str]) -> Pointees:
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
        return cls(functions, found, calls, frozenset(named), frozenset(taken), defined <= functions.keys())

    def are_apart(self, function: ir.FuncDef, a: str, b: str) -> bool:
        """Whether two variables of a function lead to different memory: pointers, or arrays themselves."""
        first, second = self.of_variable(function, a), self.of_variable(function, b)
        return first is not None and second is not None and first.isdisjoint(second)

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

    def variable(self, function: ir.FuncDef, name: str, asked: tuple[tuple[str, str], ...]) -> Places | None:
        """asked: for what this is asked, which gets these places anyway."""
        local = [one for one in walk(function.body) if isinstance(one, ir.Decl) and one.name == name]
        parameters = _parameters(function)
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

    def declared(self, function: ir.FuncDef, decl: ir.Decl, asked: tuple[tuple[str, str], ...]) -> Places | None:
        """Of a local variable."""
        if isinstance(decl.type, ir.ArrayDecl):
            return frozenset({(function.decl.name, decl.name)}) if not _holds_pointers(decl.type) else None
        if not _is_pointer(decl) or {"static", "extern", "_Thread_local"} & set(decl.storage or ()):
            return None
        if decl.name in self.taken:
            return None
        return self.all_of([(function, value) for value in _values(function.body, decl.name)], asked)

    def static(self, declared: Sequence[ir.Decl], asked: tuple[tuple[str, str], ...]) -> Places | None:
        """Of a variable of the file that no other file names."""
        name = declared[0].name
        if isinstance(declared[0].type, ir.ArrayDecl):
            return frozenset({("", name)}) if not _holds_pointers(declared[0].type) else None
        if not all(map(_is_pointer, declared)) or name in self.taken:
            return None
        if any(_declares(one, name) for one in self.functions.values()):
            return None
        values = [(one, value) for one in self.functions.values() for value in _values(one.body, name)]
        return None if any(one.init is not None for one in declared) else self.all_of(values, asked)

    def parameter(
        self, function: ir.FuncDef, number: int, parameter: ir.Decl, asked: tuple[tuple[str, str], ...]
    ) -> Places | None:
        name = function.decl.name
        if "static" not in (function.decl.storage or ()) or name in self.named or parameter.name in self.taken:
            return None
        if not isinstance(parameter.type, (ir.PtrDecl, ir.ArrayDecl)):
            return None
        given: list[tuple[ir.FuncDef, Any]] = []
        for caller, call in self.calls.get(name, ()):
            arguments = list(call.args.exprs) if call.args is not None else []
            if len(arguments) <= number or _declares(caller, name):
                return None
            given.append((caller, arguments[number]))
        own = [(function, value) for value in _values(function.body, parameter.name)]
        return self.all_of([*given, *own], asked)

    # --- values -------------------------------------------------------------------------------------------------------

    def all_of(self, values: Sequence[tuple[ir.FuncDef, Any]], asked: tuple[tuple[str, str], ...]) -> Places | None:
        """The places of several values, each with the function that it is computed in."""
        found: set[Any] = set()
        for function, value in values:
            places = self.value(function, value, asked)
            if places is None:
                return None
            found |= places
        return frozenset(found)

    def value(self, function: ir.FuncDef, node: Any, asked: tuple[tuple[str, str], ...]) -> Places | None:
        match node:
            case ir.Cast(expr=inner):
                return self.value(function, inner, asked)
            case ir.Constant(value="0"):
                return _NOWHERE
            case ir.ID(name=name):
                return self.variable(function, name, asked)
            case ir.FuncCall(name=ir.ID(name=name)):
                return self.allocated(node, name)
            case ir.TernaryOp(iftrue=first, iffalse=second):
                return self.all_of([(function, first), (function, second)], asked)
            case ir.BinaryOp(op="+" | "-", left=left) if not isinstance(left, ir.Constant):
                return self.value(function, left, asked)  # where that is a number, nothing is known
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=row)):
                return self.value(function, row, asked)
            case ir.UnaryOp(op="&", expr=ir.ID(name=name)):
                return self.object(function, name)
            case ir.ArrayRef(name=row):
                return self.row(function, row)
        return None

    def object(self, function: ir.FuncDef, name: str) -> Places | None:
        """The place of a variable itself."""
        local = [one for one in walk(function.body) if isinstance(one, ir.Decl) and one.name == name]
        if local or any(one.name == name for one in _parameters(function)):
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
        if any(one.name == node.name for one in _parameters(function)) or len(local) + (node.name in self.globals) > 1:
            return None
        declared = local or self.globals.get(node.name, [])
        inner = declared[0].type if declared else None
        for _ in range(depth):
            inner = inner.type if isinstance(inner, ir.ArrayDecl) else None
        if not isinstance(inner, ir.ArrayDecl) or _holds_pointers(inner):
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
        inside = [one for one in walk(function.body) if isinstance(one, ir.FuncCall) and _is_allocating(one)]
        return frozenset({call, *(inside if any(_hands_on(function.body, one) for one in variables) else ())})

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
                if len(local) != 1 or not _is_pointer(local[0]) or local[0].storage or name in self.taken:
                    return False
                values = _values(function.body, name)
                return bool(values) and all(
                    not isinstance(value, ir.ID) and self.is_new(function, value) for value in values
                )
        return False


def _is_allocating(call: ir.FuncCall) -> bool:
    return isinstance(call.name, ir.ID) and call.name.name in ALLOCATING


def _hands_on(body: Any, name: str) -> bool:
    """Whether a function does more with a pointer than to set it, to ask whether there is one, to follow it, and to
    return it: others may have it then."""
    kept: set[int] = set()
    for node in walk(body):
        match node:
            case ir.Return(expr=value):
                while isinstance(value, ir.Cast):
                    value = value.expr
                kept.add(id(value))
            case ir.Assignment(op="=", lvalue=ir.ID() as one) | ir.If(cond=ir.ID() as one) | ir.ArrayRef(name=one):
                kept.add(id(one))
            case ir.UnaryOp(op="!" | "*", expr=one):
                kept.add(id(one))
            case ir.BinaryOp(op="==" | "!=", left=left, right=right):
                kept |= {id(left), id(right)}
            case ir.FuncCall(name=ir.ID(name="memset" | "free"), args=ir.ExprList(exprs=[one, *_])):
                kept.add(id(one))
    return any(isinstance(node, ir.ID) and node.name == name and id(node) not in kept for node in walk(body))


def _parameters(function: ir.FuncDef) -> list[Any]:
    args = function.decl.type.args
    return [one for one in (args.params if args is not None else ()) if isinstance(one, ir.Decl)]


def _declares(function: ir.FuncDef, name: str) -> bool:
    parameters = any(one.name == name for one in _parameters(function))
    return parameters or any(isinstance(one, ir.Decl) and one.name == name for one in walk(function.body))


def _is_pointer(decl: ir.Decl) -> bool:
    return isinstance(decl.type, ir.PtrDecl)


def _holds_pointers(declared: Any) -> bool:
    """Whether an array's elements are pointers, or may be behind a name of a type."""
    while isinstance(declared, ir.ArrayDecl):
        declared = declared.type
    return not isinstance(declared, ir.TypeDecl)


def _values(body: Any, name: str) -> list[Any]:
    """All that is assigned to variables of this name; what isn't a plain assignment stands for itself, but for steps,
    which stay in the same memory."""
    found: list[Any] = []
    for node in walk(body):
        match node:
            case ir.Decl(init=value) if node.name == name and value is not None:
                found.append(value)
            case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value) if own == name:
                found.append(value)
            case ir.Assignment(op="+=" | "-=", lvalue=ir.ID(name=own)) if own == name:
                continue
            case ir.UnaryOp(op="++" | "--" | "p++" | "p--", expr=ir.ID(name=own)) if own == name:
                continue
            case _ if assigns(node, name):
                found.append(node)
    return found
