"""Parameters that lead to the beginning of whole arrays: what each call of a static function gives them is an array, or
what a pointer to an array leads to (``f(*a)``, where ``double (*a)[N][M]``).

No subscript leads out of that array (C17 6.5.6p8), wherever its memory comes from, so that its type bounds what a
region touches whose subscripts nothing else does. What is told is the type as the parameter's own declaration spells
it, with the macros that the compiler of the result sees: ``double [N][M]``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from scopt import ir
from scopt.frontend.syntax.pointees import Pointees, pointees_of
from scopt.frontend.syntax.pointer_values import declares, parameters_of
from scopt.frontend.syntax.symbols import names_of_file
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.macros import baked_macros
from scopt.frontend.text.tokens import RawToken, directive_words
from scopt.ir.constants import constant_value
from scopt.ir.effects import assigns
from scopt.ir.walks import walk

# Words of a parameter's declaration that a type by itself can't have.
_OF_PARAMETERS = frozenset(["restrict", "__restrict", "__restrict__", "static", "register"])


_Type = tuple[str, tuple[int, ...]]


def whole_array(tu: TranslationUnit, region: Region, name: str) -> str | None:
    """The type of the array that a parameter of the region's function leads to the first element of; None if that isn't
    known, or can't be spelled where the region begins."""
    function = _function(tu, region, name)
    words = _spelled(tu, function, name) if function is not None else None
    return " ".join(words) if words else None


def sizes_of_whole(tu: TranslationUnit, region: Region, name: str) -> dict[str, int] | None:
    """The macros that the extents of such an array are made of, with their values."""
    function = _function(tu, region, name)
    if function is None:
        return None
    words = [token.text for token in _parameter(tu, function, name)]
    return baked_macros(words, tu.preprocessed.all_macros) if words else None


def _function(tu: TranslationUnit, region: Region, name: str) -> ir.FuncDef | None:
    """The region's function, if the parameter leads to a whole array that is declared alike where the region begins."""
    pointees = pointees_of(tu)
    function = pointees.functions.get(region.function.decl.name)
    if function is None or not pointees.whole or _redefined(tu, function, region):
        return None
    about = function.decl.name, name
    found = tu.worked_out("whole arrays", lambda: _type_of(tu, pointees, function, name, ()), about)
    return function if found is not None else None


def _type_of(
    tu: TranslationUnit, pointees: Pointees, function: ir.FuncDef, name: str, asked: tuple[str, ...]
) -> _Type | None:
    """The elements' type and the extents of the array that all calls give. asked: functions on the way here."""
    own, numbers = function.decl.name, [k for k, one in enumerate(parameters_of(function)) if one.name == name]
    if "static" not in (function.decl.storage or ()) or own in pointees.named or own in asked or len(numbers) != 1:
        return None
    decl = parameters_of(function)[numbers[0]]
    local = any(isinstance(one, ir.Decl) and one.name == name for one in walk(function.body))
    changes = any(assigns(one, name) for one in walk(function.body))
    if local or changes or name in pointees.taken or function.param_decls:
        return None
    declared, calls = _array(tu, decl.type), pointees.calls.get(own, ())
    if declared is None or not calls:
        return None
    needed = _sizes_in(tu, decl)
    for caller, call in calls:
        arguments = list(call.args.exprs) if call.args is not None else []
        given = arguments[numbers[0]] if len(arguments) > numbers[0] and not declares(caller, own) else None
        if isinstance(given, ir.ID) and any(one.name == given.name for one in parameters_of(caller)):
            source = next(one for one in parameters_of(caller) if one.name == given.name)
            found = _type_of(tu, pointees, caller, given.name, (*asked, own))
        else:
            source = _source(pointees, caller, given)
            inner = source.type.type if isinstance(given, ir.UnaryOp) and source is not None else None
            found = _array(tu, inner if inner is not None else source.type) if source is not None else None
        # the same sizes by the same macros: with others, too, the parameter has the array's type
        if source is None or found != declared or not needed <= _sizes_in(tu, source):
            return None
    return declared


def _source(pointees: Pointees, caller: ir.FuncDef, given: Any) -> ir.Decl | None:
    """The declaration of the array that an argument is, or of the pointer to an array in ``*a``."""
    name = given.expr if isinstance(given, ir.UnaryOp) and given.op == "*" else given
    if not isinstance(name, ir.ID) or any(one.name == name.name for one in parameters_of(caller)):
        return None
    local = [one for one in walk(caller.body) if isinstance(one, ir.Decl) and one.name == name.name]
    declared = [*local, *pointees.globals.get(name.name, ())]
    if len(declared) != 1:
        return None
    kind = declared[0].type
    fits = isinstance(kind, ir.PtrDecl) if isinstance(given, ir.UnaryOp) else isinstance(kind, ir.ArrayDecl)
    return declared[0] if fits else None


def _array(tu: TranslationUnit, kind: Any) -> _Type | None:
    """An array's type, with extents that are numbers."""
    scope = names_of_file(tu)
    extents: list[int] = []
    while isinstance(kind, ir.ArrayDecl):
        extent = constant_value(kind.dim, scope) if kind.dim is not None and not kind.dim_quals else None
        if extent is None or extent <= 0:
            return None
        extents.append(extent)
        kind = kind.type
    if not extents or not isinstance(kind, ir.TypeDecl) or not isinstance(kind.type, ir.IdentifierType):
        return None
    return " ".join(sorted(kind.type.names)), tuple(extents)


def _sizes_in(tu: TranslationUnit, decl: ir.Decl) -> frozenset[str]:
    """The macros of integers that a declaration names: of a parameter its own alone."""
    return frozenset(baked_macros(_words(tu, decl), tu.preprocessed.all_macros))


def _words(tu: TranslationUnit, decl: ir.Decl) -> frozenset[str]:
    for function in (node for node in tu.ast.ext if isinstance(node, ir.FuncDef)):
        if any(one is decl for one in parameters_of(function)):
            return frozenset(token.text for token in _parameter(tu, function, decl.name))
    raw, coord = tu.preprocessed.raw, decl.coord
    if coord is None or coord.file != tu.file or not 0 < coord.line <= len(raw.line_starts):
        return frozenset()
    tokens, start = raw.tokens, raw.line_starts[coord.line - 1]
    first, last = (bisect_left(tokens, at, key=lambda token: token.start) for at in (start, raw.line_end(start)))
    low = next((k for k in range(first, last) if tokens[k].text == decl.name), last)
    end = next((k for k in range(low, len(tokens)) if tokens[k].text == ";"), low)
    while low and tokens[low - 1].text not in (";", "{", "}"):
        low -= 1
    return frozenset(token.text for token in tokens[low:end])


def _spelled(tu: TranslationUnit, function: ir.FuncDef, name: str) -> list[str] | None:
    """The tokens of a parameter's declaration without its name: the type that it is declared with."""
    tokens = [token.text for token in _parameter(tu, function, name)]
    if tokens.count(name) != 1 or not _OF_PARAMETERS.isdisjoint(tokens):
        return None
    tokens.remove(name)
    return tokens


def _parameter(tu: TranslationUnit, function: ir.FuncDef, name: str) -> list[RawToken]:
    """What stands between the commas of a function's head; nothing where that isn't written out in the file."""
    number = next(k for k, one in enumerate(parameters_of(function)) if one.name == name)
    parts = list(_parts(tu, function))
    whole = len(parts) == len(parameters_of(function))
    return parts[number] if whole and any(token.text == name for token in parts[number]) else []


def _parts(tu: TranslationUnit, function: ir.FuncDef) -> Iterator[list[RawToken]]:
    """The parameters of a function's head."""
    start = _head(tu, function)
    if start is None:
        return
    tokens = tu.preprocessed.raw.tokens
    if start + 1 >= len(tokens) or tokens[start + 1].text != "(":
        return
    depth, part = 1, list[RawToken]()
    for token in tokens[start + 2 :]:
        if token.kind == "directive":
            return
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if not depth or (depth == 1 and token.text == ","):
            yield part
            part = []
            if not depth:
                return
        elif token.kind != "comment":
            part.append(token)


def _head(tu: TranslationUnit, function: ir.FuncDef) -> int | None:
    """The number of the token that is a function's name where it is defined."""
    raw, coord = tu.preprocessed.raw, function.decl.coord
    if coord is None or coord.file != tu.file or not 0 < coord.line <= len(raw.line_starts):
        return None
    first = bisect_left(raw.tokens, raw.line_starts[coord.line - 1], key=lambda token: token.start)
    near = range(first, min(first + 16, len(raw.tokens)))
    return next((k for k in near if raw.tokens[k].text == function.decl.name), None)


def _redefined(tu: TranslationUnit, function: ir.FuncDef, region: Region) -> bool:
    """Whether macros change between a function's head and a region."""
    start, raw = _head(tu, function), tu.preprocessed.raw
    if start is None:
        return True
    between = raw.tokens_between(raw.tokens[start].start, region.start)
    directives = (next(iter(directive_words(token.text)), "") for token in between if token.kind == "directive")
    return not {"define", "undef", "include"}.isdisjoint(directives)
