"""Macros that are the heads of loops, as ``#define FOR_ALL(n) for (int i = 0; i < (n); i++) for (int j = 0; …)``: what
stands behind them is the body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scopt.frontend.text.macros import Macro, reachable_words, split_tokens
from scopt.frontend.text.tokens import RawToken


def loop_macros(macros: Mapping[str, Macro], words: Iterable[str]) -> dict[str, list[str]]:
    """Those among some words, with the tokens of their heads."""
    return {word: body for word in {*words} & macros.keys() if (body := _heads(macros[word], macros)) is not None}


def _heads(macro: Macro, macros: Mapping[str, Macro]) -> list[str] | None:
    body = split_tokens(macro.body)
    if not body or body[0] != "for" or macro.system:
        return None
    position = 0
    while position < len(body):
        if body[position : position + 2] != ["for", "("]:
            return None
        depth = 0
        for end in range(position + 1, len(body)):
            depth += (body[end] == "(") - (body[end] == ")")
            if not depth:
                break
        if depth:
            return None
        position = end + 1
    nested = (split_tokens(macros[word].body) for word in reachable_words({*body}, macros) & macros.keys())
    inner = {token for one in nested for token in one}
    return None if {"{", "}"} & {*body} or {"for", ";", "{", "}"} & inner else body


def with_heads(
    tokens: Iterable[RawToken], found: Mapping[str, list[str]], macros: Mapping[str, Macro]
) -> list[RawToken]:
    """The tokens, ``for`` in the place of such a macro's name; ``for ()`` of one without parameters."""
    made: list[RawToken] = []
    for token in tokens:
        if token.text not in found:
            made.append(token)
            continue
        texts = ("for",) if macros[token.text].parameters is not None else ("for", "(", ")")
        made += [token._replace(text=text) for text in texts]
    return made
