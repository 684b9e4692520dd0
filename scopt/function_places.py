"""Where the helper functions of a file go: in front of the first function that calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.tokens import RawSource, RawToken, directive_words, is_pragma

# Conditions, without spaces, under which a compiler for C reads nothing.
_FOR_CPLUSPLUS = frozenset(["ifdef__cplusplus", "ifdefined__cplusplus", "ifdefined(__cplusplus)"])
# Parameters and variables of helper functions.
_LOCAL = re.compile(r"\b(?:[abdnxy]|holds|one|other|begun|had|busy|now|used|most|passed|share)\b")


def helper_text(
    tu: TranslationUnit, region: Region, helpers: Sequence[str], own: Sequence[str] = ()
) -> tuple[int, bytes]:
    """Offset in the source and the text to insert there: the definitions of `helpers` and others, before the function
    that `region` is in."""
    place = _beginning_of_function(tu.preprocessed.raw, region.start, region.function.decl.name)
    definitions = "\n".join((small_helpers(tu, helpers), *own)) + "\n"
    return place, definitions.replace("\n", region.newline).encode("latin-1")


def small_helpers(tu: TranslationUnit, helpers: Sequence[str]) -> str:
    """The definitions of small helper functions, with other local names in the place of those that a macro of the file
    would replace."""
    macros = tu.preprocessed.all_macros

    def renamed(found: re.Match[str]) -> str:
        name = found[0]
        while name in macros:
            name += "_"
        return name

    return _LOCAL.sub(renamed, helper_definitions(helpers, tu.long_type, tu.reserved))


def _beginning_of_function(raw: RawSource, inside: int, name: str) -> int:
    """Start of the line on which the external declaration around an offset begins, comments right above it included.

    name: the function's. The beginning of the file where braces don't tell (they may come from macros).
    """
    braces, boundary = _before_function(raw, inside, _place_of_name(raw, inside, name))
    if braces <= 0:
        return 0
    between = raw.tokens_between(boundary, inside)
    following = [token for token in between if token.kind != "directive" or is_pragma(token) or _opens(token)]
    if not following:
        return 0
    # A comment that begins on the boundary's own line belongs to what stands before it.
    start = next(
        (t.start for t in following if raw.line(t.start) > raw.line(max(boundary - 1, 0)) or boundary == 0), None
    )
    return raw.line_start(start) if start is not None else 0


def _place_of_name(raw: RawSource, inside: int, name: str) -> int:
    """Where the function around an offset is named; the offset itself if the name isn't spelled out."""
    last = inside
    for token, (_, braces, _), _ in _nested(raw, inside):
        if braces == 0 and token.kind == "word" and token.text == name:
            last = token.start
    return last


def _before_function(raw: RawSource, inside: int, named: int) -> tuple[int, int]:
    """How many braces are open at an offset, fewer than 0 if they don't match; and the end of what stands before the
    function around it.

    named: where the function is. What comes after that (directives among its parameters, declarations of parameters in
      the old style) is part of it.
    """
    boundaries: list[tuple[int, tuple[int, ...]]] = []
    braces, last = 0, ""
    conditions: tuple[int, ...] = ()
    for token, (parentheses, braces, closed), conditions in _nested(raw, inside):
        if braces < 0:
            return braces, 0
        outside = braces == 0 and parentheses == 0 and token.start < named
        if token.kind == "directive":
            # What stands right below a pragma may be what it is about, such as `omp declare simd`.
            if outside and last in ("", ";", "}", ")") and not is_pragma(token):
                boundaries.append((token.end, conditions))
        elif token.kind != "comment":
            if outside and (closed or token.text == ";"):
                boundaries.append((token.end, conditions))
            last = token.text
    # What stands in a branch that is closed before the offset may be left out where that isn't.
    return braces, next((end for end, around in reversed(boundaries) if conditions[: len(around)] == around), 0)


def _nested(raw: RawSource, inside: int) -> Iterator[tuple[RawToken, tuple[int, int, bool], tuple[int, ...]]]:
    """The tokens before an offset; each with the parentheses and the braces that are open behind it, and whether it
    closes the last brace; and with the places of the branches of conditionals that are open behind it.

    Of the branches of a conditional, of which each may open the same function, the last one counts; what is there for
    C++ alone doesn't.
    """
    parentheses, braces = 0, 0
    outer: list[tuple[int, int]] = []
    foreign: list[bool] = []
    conditions: tuple[int, ...] = ()
    for token in raw.tokens:
        if token.start >= inside:
            return
        closed = False
        if token.kind == "directive":
            words = directive_words(token.text)
            word = words[0] if words else ""
            if _opens(token):
                conditions = (*conditions, token.start)
                outer.append((parentheses, braces))
                foreign.append("".join(words) in _FOR_CPLUSPLUS)
            elif word in ("else", "elif") and outer:
                parentheses, braces = outer[-1]
                conditions = (*conditions[:-1], token.start)
                foreign[-1] = False
            elif word == "endif" and outer:
                outer.pop()
                conditions = conditions[:-1]
                foreign.pop()
        elif any(foreign):
            continue
        elif token.kind == "punct":
            parentheses += (token.text == "(") - (token.text == ")")
            braces += (token.text == "{") - (token.text == "}")
            closed = token.text == "}" and braces == 0
        yield token, (parentheses, braces, closed), conditions


def _opens(token: RawToken) -> bool:
    """Whether a token opens a conditional."""
    return token.kind == "directive" and directive_words(token.text)[:1] in (["if"], ["ifdef"], ["ifndef"])
