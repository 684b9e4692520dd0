"""The pointers that a whole program keeps in memory: in members of structures, and in arrays of pointers.

A program is whole where one file has ``main``, and calls nothing but its own functions and such of C's library as keep
no pointers. Then all that a member ever gets stands in the file (a field-based analysis: Andersen 1994, Pearce et al.
2004). Copies of structures take each member to the same member. Bytes that are copied (``memcpy``), unions, and casts
from one type of pointer to another might move pointers elsewhere: where there are any, nothing is known.

Where pointers of a type are only ever stored right from the call that allocates what they lead to, each stored one
leads to an object of its own: rows of ``double **a``, whose elements were ``malloc``'s results one by one, are apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.syntax.pointer_slots import (
    Kind,
    NotFollowed,
    Slot,
    is_bytes,
    is_row_of_bytes,
    kind_of,
    kinds_in,
    slot_of,
    type_of,
)
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.structs import Typed, Types, member_of
from scopt.frontend.syntax.symbols import FileScope, symbol_of
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.ctypes import Layer, Symbol
from scopt.ir.effects import opaque_words
from scopt.ir.walks import walk

# Functions of C's library that store no pointers, but for those to characters.
_LIBRARY = VALUE_FUNCTIONS | frozenset(
    """
    malloc calloc aligned_alloc free exit abort atexit assert __assert_fail perror printf fprintf sprintf snprintf puts
    putchar putc fputc fputs scanf fscanf sscanf fopen fclose fflush fread fwrite fgets fgetc getc getchar feof ferror
    rewind fseek ftell remove atoi atol atoll atof strtol strtoll strtoul strtoull strtod strtof strcmp strncmp strlen
    strcpy strncpy strcat strchr strrchr strstr memset memcmp getenv rand srand random srandom time clock difftime
    clock_gettime gettimeofday isdigit isalpha isspace isalnum isupper islower toupper tolower omp_get_wtime
    omp_get_max_threads omp_get_thread_num omp_get_num_threads omp_set_num_threads __builtin_expect __builtin_prefetch
    __builtin_malloc __builtin_calloc __builtin_free __builtin_memset __builtin_trap __builtin_unreachable
    """.split()
)
# These move bytes: what they are given has to be numbers. How many of their arguments lead to memory.
_MOVING = {"memcpy": 2, "memmove": 2, "__builtin_memcpy": 2, "__builtin_memmove": 2, "qsort": 1, "realloc": 1}


class StoredPointers(Struct, frozen=True, eq=False):
    """Of a whole program. scope: types at file scope. values: by place, what is stored there: functions, and values.
    kinds: likewise by the pointers' type; variables: names of variables beside these. reached: members that pointers
    may lead to. copied: structures that are copied as a whole; copied_kinds: the pointers in them."""

    scope: Types
    values: dict[Slot, list[tuple[ir.FuncDef, Any]]] = field(default_factory=dict)
    kinds: dict[Kind, list[tuple[ir.FuncDef, Any]]] = field(default_factory=dict)
    variables: dict[Kind, list[tuple[str, ir.FuncDef, Any]]] = field(default_factory=dict)
    reached: set[Slot] = field(default_factory=set)
    copied: set[Any] = field(default_factory=set)
    copied_kinds: set[Kind] = field(default_factory=set)
    types: dict[ir.FuncDef, Types] = field(default_factory=dict)

    def slot(self, function: ir.FuncDef, node: Any) -> Slot | None:
        """The member that a reference reads a pointer from."""
        types = self.types.get(function)
        try:
            return slot_of(types, node) if types is not None else None
        except NotFollowed:
            return None

    def kind(self, slot: Slot) -> Kind | None:
        """The type of a member's pointers, also of an array of them."""
        found = member_of(slot.struct, slot.member)
        typed = self.scope.declared(found.decl) if found is not None else None
        while typed is not None and typed.array:
            typed = typed.element()
        return kind_of(typed) if typed is not None and typed.pointer else None


def stored_pointers(tu: TranslationUnit) -> StoredPointers | None:
    """None where the file is no whole program, or moves pointers in ways that aren't followed."""
    functions = [node for node in tu.ast.ext if isinstance(node, ir.FuncDef)]
    names = {one.decl.name for one in functions}
    if "main" not in names or not is_complete(tu) or tu.replaceable - {"main"}:
        return None
    scope = FileScope().before(tu, None)
    found = StoredPointers(Types(scope, tu.structs))
    try:
        for node in tu.ast.ext:
            if isinstance(node, ir.Decl) and not isinstance(node.type, ir.FuncDecl) and node.init is not None:
                _Reading(found, functions[0], found.scope, names).initial(node)
        for function in functions:
            types = Types(_local_scope(function, scope), tu.structs)
            found.types[function] = types
            _Reading(found, function, types, names).read()
    except NotFollowed:
        return None
    return found


def is_complete(tu: TranslationUnit) -> bool:
    """Whether the tree has all of the file's functions."""
    return tu.complete and tu.defined_functions - tu.library_functions <= tu.functions.keys()


def _local_scope(function: ir.FuncDef, scope: Mapping[str, Symbol]) -> dict[str, Symbol]:
    """The names in a function, each with one meaning in all of it."""
    found = dict(scope)
    args = function.decl.type.args
    own: dict[str, Symbol] = {}
    parameters = [one for one in (args.params if args is not None else ()) if isinstance(one, ir.Decl) and one.name]
    if function.param_decls:
        raise NotFollowed
    for decl, kind in [
        *((one, "parameter") for one in parameters),
        *((one, "local") for one in walk(function.body) if isinstance(one, ir.Decl) and one.name),
    ]:
        symbol = symbol_of(decl, found, kind)  # type: ignore[arg-type]
        before = own.get(decl.name)
        if before is not None and not _alike(before, symbol):
            raise NotFollowed
        own[decl.name] = symbol
    return {**found, **own}


def _alike(a: Symbol, b: Symbol) -> bool:
    """Whether two declarations of one name have types that mean the same here."""
    kinds = [layer.kind for layer in a.layers], [layer.kind for layer in b.layers]
    numbers = all(not one.layers and (one.type.integer or one.type.floating) for one in (a, b))
    unnamed = a.type.spelling in ("struct", "union")
    return numbers or (not unnamed and kinds[0] == kinds[1] and a.type.spelling == b.type.spelling and a.kind == b.kind)


class _Reading(Struct, frozen=True, eq=False):
    """Of one function."""

    found: StoredPointers
    function: ir.FuncDef
    types: Types
    names: set[str]

    def read(self) -> None:
        args = self.function.decl.type.args
        for one in args.params if args is not None else ():
            if isinstance(one, ir.Decl) and one.name:
                self.copied(self.types.declared(one))
        result = self.types.declared(self.function.decl)
        self.copied(result._replace(layers=result.layers[1:]))
        below: set[int] = set()  # what is subscripted, or a part of which is taken
        for node in walk(self.function.body):
            match node:
                case ir.ArrayRef(name=inner):
                    below.add(id(inner))
                case ir.UnaryOp(op="sizeof", expr=inner):
                    below |= {id(one) for one in walk(inner)}
            match node:
                case ir.Union():
                    raise NotFollowed
                case ir.Decl() if node.init is not None:
                    self.initial(node)
                case ir.CompoundLiteral(type=named, init=init):
                    self.value(None, self.types.declared(named), init, Slot(None, ""), memory=True)
                case ir.Assignment():
                    self.assigned(node)
                case ir.UnaryOp(op="&", expr=inner) if isinstance(inner, (ir.StructRef, ir.ArrayRef)):
                    typed = type_of(self.types, inner)
                    if typed is None or typed.layers:
                        self.reach(inner)
                case ir.StructRef() if id(node) not in below:
                    typed = type_of(self.types, node)
                    if typed is None:
                        raise NotFollowed
                    if typed.array:
                        self.reach(node)
                case ir.Cast():
                    self.cast(node)
                case ir.FuncCall():
                    self.call(node)

    def reach(self, node: Any) -> None:
        slot = slot_of(self.types, node)
        if slot is not None:
            self.found.reached.add(slot)

    def initial(self, decl: ir.Decl) -> None:
        """What a declaration stores."""
        if isinstance(decl.type, ir.FuncDecl):
            return
        self.value(decl.name, self.types.declared(decl), decl.init, Slot(None, ""), memory=False)

    def value(self, name: str | None, typed: Typed, init: Any, slot: Slot, *, memory: bool) -> None:
        """An object's first value. memory: others than this variable may lead to it."""
        if typed.pointer:
            self.characters(typed, init)
            self.stored(slot, typed, init, variable="" if memory else name or "")
            return
        if isinstance(init, ir.CompoundLiteral):
            init = init.init  # that is looked at by itself, too
        if typed.array:
            element = typed.element()
            assert element is not None
            if isinstance(init, ir.InitList):
                plain = not element.layers and element.struct is None
                for one in init.exprs if not plain else ():
                    self.value(
                        None, element, one.expr if isinstance(one, ir.NamedInitializer) else one, slot, memory=True
                    )
            elif element.layers:
                raise NotFollowed
            return
        if typed.struct is None:
            if not (typed.type.integer or typed.type.floating):
                raise NotFollowed
            return
        if not isinstance(init, ir.InitList):
            self.copied(typed)
            return
        members = [one for one in typed.struct.decls or () if isinstance(one, ir.Decl)]
        pointers = {*kinds_in(self.types, typed)}
        if not pointers:
            return
        if isinstance(typed.struct, ir.Union) or any(one.name is None for one in members):
            raise NotFollowed
        position = 0
        for one in init.exprs:
            if isinstance(one, ir.NamedInitializer):
                if len(one.name) != 1:
                    raise NotFollowed
                wanted = getattr(one.name[0], "name", None)
                position = next((k for k, member in enumerate(members) if member.name == wanted), len(members))
                one = one.expr
            if position >= len(members):
                raise NotFollowed
            member = self.types.declared(members[position])
            braces = (
                not isinstance(one, ir.InitList) and not member.pointer and (member.array or member.struct is not None)
            )
            if braces and len(init.exprs) > 1:
                raise NotFollowed  # a list without braces of its own
            if not braces:
                self.value(None, member, one, Slot(typed.struct, members[position].name), memory=True)
            position += 1

    def assigned(self, node: ir.Assignment) -> None:
        typed = type_of(self.types, node.lvalue)
        if typed is None:
            if node.op == "=":
                raise NotFollowed
            return
        if typed.pointer:
            if node.op != "=":
                return  # it stays in the same object
            self.characters(typed, node.rvalue)
            variable = node.lvalue.name if isinstance(node.lvalue, ir.ID) else ""
            self.stored(slot_of(self.types, node.lvalue) or Slot(None, ""), typed, node.rvalue, variable=variable)
        elif not typed.layers and not (typed.type.integer or typed.type.floating):
            if typed.struct is None:
                raise NotFollowed
            self.copied(typed)

    def stored(self, slot: Slot, typed: Typed, value: Any, *, variable: str) -> None:
        """variable: the name of one that gets the value itself."""
        kind = kind_of(typed)
        if variable:
            self.found.variables.setdefault(kind, []).append((variable, self.function, value))
            return
        self.found.values.setdefault(slot, []).append((self.function, value))
        self.found.kinds.setdefault(kind, []).append((self.function, value))

    def copied(self, typed: Typed) -> None:
        """A structure is copied as a whole."""
        if not typed.layers and typed.struct is not None and typed.struct not in self.found.copied:
            self.found.copied.add(typed.struct)
            self.found.copied_kinds.update(kinds_in(self.types, typed))

    def characters(self, typed: Typed, value: Any) -> None:
        """Pointers to characters may lead to the bytes of any object."""
        if not is_bytes(typed) or isinstance(value, (ir.FuncCall, ir.Constant)):
            return
        while isinstance(value, ir.Cast):
            value = value.expr
        other = type_of(self.types, value)
        if isinstance(value, (ir.FuncCall, ir.Constant)) or (
            other is not None and (is_bytes(other) or is_row_of_bytes(other))
        ):
            return
        if isinstance(value, (ir.TernaryOp, ir.InitList)) or other is not None:
            raise NotFollowed

    def cast(self, node: ir.Cast) -> None:
        to = self.types.declared(node.to_type)
        if not to.pointer:
            return
        self.characters(to, node.expr)
        inner = node.expr
        if isinstance(inner, (ir.FuncCall, ir.Constant)):
            return
        other = type_of(self.types, inner)
        if other is None:
            raise NotFollowed
        if len(to.layers) == 1 and (to.type.spelling == "void" or (to.type.integer or to.type.floating)):
            return
        # one that leads to pointers, or to structures: to what it led to before, or to all that `void *` may
        if kind_of(other) != kind_of(to) and not (to.struct is not None and other.type.spelling == "void"):
            raise NotFollowed

    def call(self, node: ir.FuncCall) -> None:
        if opaque_words(node) is not None:
            raise NotFollowed
        name = node.name.name if isinstance(node.name, ir.ID) else None
        arguments = list(node.args.exprs) if node.args is not None else []
        symbol = self.types.scope.get(name) if name is not None else None
        if name is None or name in self.names or (symbol is not None and symbol.kind in ("local", "parameter")):
            self.given(name, arguments)  # by a pointer: to one of the file's functions
            return
        if name in _MOVING:
            for one in arguments[: _MOVING[name]]:
                typed = type_of(self.types, one)
                if typed is None or len(typed.layers) == 0:
                    raise NotFollowed
                element = typed.element()
                while element is not None and element.array:
                    element = element.element()
                if element is None or element.layers or {*kinds_in(self.types, element)}:
                    raise NotFollowed
                if element.struct is None and not (element.type.integer or element.type.floating):
                    raise NotFollowed
        elif name not in _LIBRARY:
            raise NotFollowed

    def given(self, name: str | None, arguments: Sequence[Any]) -> None:
        """What a function of the file gets: bytes of something."""
        symbol = self.types.scope.get(name) if name is not None else None
        args = getattr(getattr(symbol.decl, "type", None), "args", None) if symbol is not None else None
        for parameter, argument in zip(args.params if args is not None else (), arguments, strict=False):
            if isinstance(parameter, ir.Decl):
                typed = self.types.declared(parameter)
                if typed.layers:
                    self.characters(typed._replace(layers=(Layer("pointer"), *typed.layers[1:])), argument)
