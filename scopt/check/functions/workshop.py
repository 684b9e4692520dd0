"""A definition's text in all its configurations, as Python functions to be called."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import repeat
from types import CodeType
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.check.functions.conditionals import Configuration, branches, described
from scopt.check.functions.configured_source import Source, Trees, read
from scopt.check.functions.conversions import Signature
from scopt.check.functions.faults import Fault
from scopt.check.functions.runtime import FUNCTIONS
from scopt.check.functions.terms import Terms
from scopt.check.functions.translated_statements import Functions
from scopt.check.functions.values import Pointer, Value, Whole, size, spelling

# Iterations of loops in functions that have few.
_STEPS = 1000
# By name, what functions are given and give back, once their declarations were seen.
Signatures = Callable[[Functions, ir.Decl], Signature | None]


class Form(Struct, frozen=True):
    """A text in one configuration."""

    configuration: Configuration
    source: Source

    def __str__(self) -> str:
        return described(self.configuration)


class Translated(Struct, frozen=True):
    """Functions in Python, but for what configurations with the same text differ in. thresholds: numbers that loops
    compare sizes with.
    tables: of terms that they use. declared: functions without a body. arrays: objects at file scope, with how many
    elements they have."""

    code: CodeType
    tables: Mapping[str, object]
    thresholds: frozenset[int]
    functions: Mapping[str, ir.FuncDef]
    declared: Mapping[str, Signature]
    arrays: Mapping[str, int]


class Workshop(Struct, eq=False):
    """What is shared by the checks of a file. terms: all of them. trees, translations: by text. right: the forms that
    were found right.
    """

    terms: Terms = field(default_factory=Terms)
    trees: Trees = field(default_factory=Trees)
    translations: dict[object, Translated] = field(default_factory=dict)
    right: set[object] = field(default_factory=set)


def forms(text: str) -> Iterator[Form]:
    """The forms of a text, each once. Raises Fault."""
    parts = branches(text)
    known: set[object] = set()
    expansions: dict[object, str] = {}
    for configuration in parts.configurations():
        try:
            form = Form(configuration, read(parts.select(configuration), configuration, expansions))
        except Fault as fault:
            raise Fault(f"{fault} (with {described(configuration)})") from fault
        if form.source.key not in known:
            known.add(form.source.key)
            yield form


def check_forms(workshop: Workshop, function: Hashable, text: str, check: Callable[[Form], None]) -> None:
    """Check each form of a text, which is to be a function, unless it was found right before. Raises what the check
    raises, a Fault, with the form."""
    for form in forms(text):
        key = function, form.source.key
        if key in workshop.right:
            continue
        try:
            check(form)
        except Fault as fault:
            raise Fault(f"{fault} (with {form})") from fault
        workshop.right.add(key)


def declared_signature(functions: Functions, declaration: ir.Decl) -> Signature:
    """What a function is given and gives back as it is declared."""
    kind = declaration.type
    parameters = [] if kind.args is None else [functions.type(one.type) for one in kind.args.params]
    return Signature(tuple(one for one in parameters if type(one).__name__ != "Void"), functions.type(kind.type))


def translated(
    workshop: Workshop,
    source: Source,
    signatures: Signatures,
    *,
    externals: Mapping[str, Signature] | None = None,
    variables: Mapping[str, Value] | None = None,
) -> Translated:
    """All functions of a text; exact ones if they may call external ones, or use variables of others. Raises Fault."""
    key = source.text, source.prelude, tuple(source.integers)
    if key in workshop.translations:
        return workshop.translations[key]
    exact = externals is not None
    functions = Functions(
        workshop.terms, source.vectors, source.integers, dict(variables or {}), dict(externals or {}), exact
    )
    lines: list[str] = []
    found: dict[str, ir.FuncDef] = {}
    declared: dict[str, Signature] = {}
    arrays: dict[str, int] = {}
    for n in workshop.trees.of(source).ext:
        match n:
            case ir.Typedef():
                continue
            case ir.FuncDef(decl=declaration, param_decls=None) if (
                declaration.storage == ("static",) and declaration.name not in found
            ):
                signature = signatures(functions, declaration) or declared_signature(functions, declaration)
                if functions.type(declaration.type.type) != signature.result:
                    raise Fault(f"the result of '{declaration.name}' has another type")
                lines += functions.function(n, signature)
                functions.functions[declaration.name] = signature
                found[declaration.name] = n
            case ir.Decl(type=ir.FuncDecl()) if exact and not n.storage:
                declared[n.name] = declared_signature(functions, n)
                if functions.functions.setdefault(n.name, declared[n.name]) != declared[n.name]:
                    raise Fault(f"'{n.name}' is declared as something else")
            case ir.Decl(type=ir.ArrayDecl(), init=None) if exact and n.storage == ("static",) and n.name not in arrays:
                arrays[n.name] = _array(functions, n)
            case _:
                raise Fault(f"a declaration that isn't understood: {type(n).__name__}")
    constants = [f"{name} = {code}" for code, name in functions.constants.items()]
    code = compile("\n".join((*constants, *lines)), "<functions>", "exec")
    result = Translated(code, functions.tables, frozenset(functions.thresholds), found, declared, arrays)
    workshop.translations[key] = result
    return result


def _array(functions: Functions, n: ir.Decl) -> int:
    """How many elements an array of integers at file scope has."""
    inner, extent = n.type.type, n.type.dim
    if not (isinstance(inner, ir.TypeDecl) and isinstance(inner.type, ir.IdentifierType)) or extent is None:
        raise Fault(f"a declaration of '{n.name}' that isn't understood")
    length = functions.value(extent).number
    functions.globals = {
        **functions.globals,
        n.name: Value("0", Pointer(Whole(spelling(inner.type.names)), False), base=f"_{n.name}", atomic=True),
    }
    if not isinstance(length, int):
        raise Fault(f"a declaration of '{n.name}' that isn't understood")
    return length


def run(made: Translated, source: Source, outside: Mapping[str, Any]) -> dict[str, Any]:
    """The functions of one configuration, by name. outside: what they may call or use."""
    lanes = {f"_lanes_{vector.name}": vector.bytes // size(vector.element) for vector in source.vectors.values()}
    namespace: dict[str, Any] = {**FUNCTIONS, "_repeat": repeat, **source.integers, **lanes, **made.tables, **outside}
    exec(made.code, namespace)
    limited(namespace, _STEPS)
    return namespace


def limited(namespace: dict[str, Any], steps: int) -> None:
    """Let loops make at most so many iterations, together; then they raise StopIteration."""
    namespace["_tick"] = repeat(None, steps).__next__
