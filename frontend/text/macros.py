"""Macros of the translation unit: their definitions, and which of them are plain integer constants."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import target_of
from scopt.ir.from_pycparser import CSyntaxError, parse_c

_DEFINE = re.compile(r"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*)(?:\(([^)]*)\))?[ \t]?(.*)", re.DOTALL)
_PIECES = re.compile(
    r'(?:u8|[uUL])?"(?:\\.|[^"\\])*"|(?:u8|[uUL])?\'(?:\\.|[^\'\\])*\'|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*'
    r"|\.?\d(?:[eEpP][+-]|[\w.])*|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|\S",
    re.ASCII,
)
_LITERAL = re.compile(r"(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)\Z")
_WORD = re.compile(r"[A-Za-z_$\x80-\xff]")
# What literals and arithmetic with them can be.
_TYPES = frozenset(sign + width for sign in ("", "unsigned ") for width in ("int", "long", "long long"))


class Macro(Struct, frozen=True):
    """A macro. parameters: None for an object-like one. system: defined by the compiler or a system header."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    system: bool = False


@lru_cache(maxsize=1 << 14)  # compilers define the same hundreds in front of each file
def parse_define(text: str, *, system: bool) -> Macro:
    """A macro from what follows ``#define`` in the preprocessor's output."""
    match = _DEFINE.match(text)
    assert match is not None
    name, parameters, body = match.groups()
    listed = None if parameters is None else tuple(p.strip() for p in parameters.split(",") if p.strip())
    return Macro(name, listed, body.strip(), system)


def split_tokens(text: str) -> list[str]:
    """The tokens of preprocessed text."""
    return _PIECES.findall(text)


def reachable_words(words: Iterable[str], macros: Mapping[str, Macro], stop: Collection[str] = ()) -> set[str]:
    """The words and all that the macros among them can expand to, not looking into those in `stop`."""
    reached: set[str] = set()
    todo = list(words)
    while todo:
        word = todo.pop()
        if word in reached:
            continue
        reached.add(word)
        if word in macros and word not in stop:
            todo.extend(t for t in split_tokens(macros[word].body) if _WORD.match(t))
    return reached


def symbolic_macros(words: Collection[str], macros: Mapping[str, Macro]) -> dict[str, int]:
    """The object-like macros of the user that stand for one integer constant, as they are first met from `words` on;
    with their values.

    Only what is an operand wherever it stands counts: a literal, one with a sign, or an expression in parentheses. Sums
    of others (``(2 * W + 1)``) are what they are made of, so that it is known how they are related.
    """
    found: dict[str, int] = {}
    seen: set[str] = set()
    todo = sorted(words)
    while todo:
        word = todo.pop()
        macro = macros.get(word)
        if macro is None or word in seen:
            continue
        seen.add(word)
        value = None if macro.system else operand_value(word, macros)
        if value is not None and not _is_sum(macro, macros):
            found[word] = value
        else:
            todo.extend(t for t in split_tokens(macro.body) if _WORD.match(t))
    return dict(sorted(found.items()))


def _is_sum(macro: Macro, macros: Mapping[str, Macro]) -> bool:
    """Whether an integer macro is a sum of multiples of other ones, in parentheses."""
    tokens = split_tokens(macro.body)
    names = [token for token in tokens if _WORD.match(token)]
    if not names or not {"+", "-", "*"}.intersection(tokens):
        return False
    if any(name not in macros or macros[name].system or operand_value(name, macros) is None for name in names):
        return False
    terms = re.split(r"[-+]", " ".join(token for token in tokens if token not in "()"))
    multiples = all(sum(bool(_WORD.match(part)) for part in term.split()) <= 1 for term in terms)
    flat = tokens.count("(") == 1 or "*" not in tokens
    return multiples and flat and all(token in "()+-*" or token.isdigit() for token in tokens if token not in names)


def baked_macros(words: Collection[str], macros: Mapping[str, Macro]) -> dict[str, int]:
    """All integer macros of the user that the words can expand to, with their values."""
    values = {
        word: value
        for word in sorted(reachable_words(words, macros))
        if word in macros and not macros[word].system and (value := integer_value(word, macros)) is not None
    }
    return values


def other_types(names: Iterable[str], macros: Mapping[str, Macro]) -> dict[str, str]:
    """The types' spellings of those integer macros that are no `int`."""
    found = {name: _evaluate(_expanded(name, macros, frozenset()) or [], macros) for name in names}
    return {name: constant[1] for name, constant in found.items() if constant is not None and constant[1] != "int"}


def operand_value(name: str, macros: Mapping[str, Macro]) -> int | None:
    """The value of an object-like macro that is an integer constant and an operand wherever it stands, else None."""
    tokens = _expanded(name, macros, frozenset())
    if tokens is None or not _is_operand(tokens):
        return None
    constant = _evaluate(tokens, macros)
    return constant[0] if constant is not None and constant[1] in _TYPES else None


def integer_value(name: str, macros: Mapping[str, Macro]) -> int | None:
    """The value of an object-like macro that is an integer constant expression of any type, else None."""
    tokens = _expanded(name, macros, frozenset())
    constant = _evaluate(tokens, macros) if tokens else None
    return constant[0] if constant is not None else None


def _expanded(name: str, macros: Mapping[str, Macro], active: frozenset[str]) -> list[str] | None:
    """Tokens of constants and operators only; None if anything else is left."""
    tokens = expansion(name, macros, active)
    left = tokens is None or any(
        _WORD.match(token) or token in ("#", "##", ",", ";", "{", "}", "=") or '"' in token for token in tokens
    )
    return None if left else tokens


def expansion(name: str, macros: Mapping[str, Macro], active: frozenset[str] = frozenset()) -> list[str] | None:
    """The tokens that an object-like macro expands to; None where that depends on what follows, or glues tokens."""
    macro = macros[name]
    if macro.parameters is not None or name in active:
        return None
    return _expanded_tokens(split_tokens(macro.body), macros, active | {name})


def _expanded_tokens(tokens: Sequence[str], macros: Mapping[str, Macro], active: frozenset[str]) -> list[str] | None:
    made: list[str] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        macro = macros.get(token)
        if macro is None:
            made.append(token)
            continue
        if token in active:
            return None
        body: Sequence[str] = split_tokens(macro.body)
        if macro.parameters is not None:
            call = _arguments(tokens, position)
            if call is None or len(call[0]) != len(macro.parameters) or not {"#", "##", "..."}.isdisjoint(body):
                return None
            given, position = call
            given_for = dict(zip(macro.parameters, given, strict=True))
            body = [part for word in body for part in given_for.get(word, (word,))]
        inner = _expanded_tokens(body, macros, active | {token})
        if inner is None:
            return None
        made.extend(inner)
    return made


def _arguments(tokens: Sequence[str], position: int) -> tuple[list[list[str]], int] | None:
    """The arguments of a macro's call whose parenthesis stands at `position`, and what comes behind; None if there are
    none."""
    if position >= len(tokens) or tokens[position] != "(":
        return None
    given: list[list[str]] = [[]]
    depth = 0
    for place in range(position, len(tokens)):
        token = tokens[place]
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return given, place + 1
        if token == "," and depth == 1:
            given.append([])
        elif not (token == "(" and depth == 1):
            given[-1].append(token)
    return None


def _is_operand(tokens: list[str]) -> bool:
    """One primary expression, perhaps with signs: nothing around it can bind to a part of it."""
    if not tokens:
        return False
    while len(tokens) > 1 and tokens[0] in ("-", "+"):
        tokens = tokens[1:]
    if len(tokens) == 1:
        return tokens[0][0].isdigit() or "'" in tokens[0]
    depth = 0
    for position, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if depth == 0 and position < len(tokens) - 1:
            return False
    return tokens[0] == "("


def _evaluate(tokens: list[str], macros: Mapping[str, Macro]) -> tuple[int, str] | None:
    """Value and type's spelling of an expression of constants."""
    if len(tokens) == 1 and _LITERAL.match(tokens[0]) and len(tokens[0]) < 6:
        text = tokens[0].lower()
        octal = text.startswith("0") and text.isdigit()
        return int(text, 8 if octal else 0), "int"
    try:
        ast = parse_c(f"int value = {' '.join(tokens)};")
    except CSyntaxError:
        return None
    constant = typed_constant(ast.ext[0].init, target_of(macros))
    return None if constant is None else (constant[0], constant[1].spelling)
