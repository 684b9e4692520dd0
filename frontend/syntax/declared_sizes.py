"""Sizes of arrays that are declared in front of a region, by the macros that they are: ``double a[ROWS][COLS];``. What
the file declares has been preprocessed; the text tells."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Symbol, describe, shape_of
from scopt.ir.walks import changed


def with_macro_sizes(
    symbol: Symbol, tu: TranslationUnit, macros: Mapping[str, int], scope: Mapping[str, Symbol]
) -> Symbol:
    """The symbol of an array, or of a pointer to one, with macros' names as sizes where each is one of `macros`."""
    decl = symbol.decl
    if decl is None or not symbol.dims or not macros:
        return symbol
    names = macro_sizes(decl, tu)
    kind = _named(decl.type, names, macros, scope)
    if kind is decl.type:
        return symbol
    made = changed(decl, type=kind)
    return replace(
        describe(symbol.name, shape_of(made, scope), symbol.kind), decl=made, address_taken=symbol.address_taken
    )


def macro_sizes(decl: Any, tu: TranslationUnit) -> list[str]:
    """What stands in the brackets behind the name that a declaration of the file gives, where it is one word; the empty
    string for anything else."""
    raw = tu.preprocessed.raw
    if decl.coord is None or decl.coord.file != tu.file or not 0 < decl.coord.line <= len(raw.line_starts):
        return []
    tokens = raw.tokens
    at = bisect_left(tokens, raw.line_starts[decl.coord.line - 1], key=lambda token: token.start)
    while at < len(tokens) and tokens[at].text != decl.name and raw.line(tokens[at].start) == decl.coord.line:
        at += 1
    words = [token for token in tokens[at + 1 : at + 64] if token.kind != "comment"]
    found: list[str] = []
    while words and words[0].text in ("[", ")"):
        if words[0].text == ")":
            words = words[1:]
            continue
        end = next((k for k, token in enumerate(words) if token.text == "]"), None)
        if end is None:
            return found
        inner = words[1:end]
        found.append(inner[0].text if len(inner) == 1 and inner[0].kind == "word" else "")
        words = words[end + 1 :]
    return found


def _named(kind: Any, names: list[str], macros: Mapping[str, int], scope: Mapping[str, Symbol]) -> Any:
    """A type with names as the sizes of its arrays, outermost first."""
    if isinstance(kind, ir.PtrDecl):
        inner = _named(kind.type, names, macros, scope)
        return kind if inner is kind.type else changed(kind, type=inner)
    if not isinstance(kind, ir.ArrayDecl) or not names:
        return kind
    inner, dim = _named(kind.type, names[1:], macros, scope), kind.dim
    if names[0] in macros and dim is not None and constant_value(dim, scope) == macros[names[0]]:
        dim = ir.ID(names[0], kind.coord)
    return kind if inner is kind.type and dim is kind.dim else changed(kind, type=inner, dim=dim)
