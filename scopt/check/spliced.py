"""The file that will be written, beside the one that was read: only what was to be replaced differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from scopt.astgen.splice import Replacement
from scopt.check.composition import spelled, tokens_of
from scopt.diagnostics import InternalError
from scopt.frontend.text.tokens import RawSource, RawToken, directive_words, scan

# Conditions, without parentheses, under which a compiler for C reads nothing.
_FOREIGN = frozenset(["ifdef__cplusplus", "ifdefined__cplusplus"])
_BARE = str.maketrans("", "", "() ")


class Spliced(Struct, frozen=True):
    """A file with replacements, cut into tokens. places: of the replacements in its text, in order of the source."""

    raw: RawSource
    places: dict[Replacement, tuple[int, int]]

    def tokens(self, replacement: Replacement) -> tuple[RawToken, ...]:
        """The tokens that stand for a replacement, where they stand."""
        return self.raw.tokens_between(*self.places[replacement])


def check_spliced(source: RawSource, replacements: Sequence[Replacement], result: bytes) -> Spliced:
    """The result with its tokens. Raises InternalError unless it is the source with these replacements: every byte
    outside of them, and every token, is the source's, and none of theirs is glued to one outside.

    source: as it was read. replacements: those that `splice` was given.
    """
    text = source.text.encode("latin-1")
    places, position, place = dict[Replacement, tuple[int, int]](), 0, 0
    for replacement in sorted(replacements, key=lambda one: one[:2]):
        start, end, new = replacement
        between = text[position:start]
        if (
            not position <= start <= end <= len(text)
            or result[place : place + len(between) + len(new)] != between + new
        ):
            raise InternalError("the new file isn't the old one with its regions replaced")
        place += len(between)
        places[replacement] = (place, place + len(new))
        position, place = end, place + len(new)
    if result[place:] != text[position:]:
        raise InternalError("the new file doesn't end as the old one")
    spliced = Spliced(scan(result), places)
    if list(_outside(source, [one[:2] for one in places])) != list(_outside(spliced.raw, [*places.values()])):
        raise InternalError("text outside of the regions has become other tokens")
    return spliced


def _outside(raw: RawSource, places: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str] | None]:
    """The tokens that aren't in any of the places, with None where each of these is. Raises InternalError if one lies
    across the end of a place."""
    position = 0
    for start, end in places:
        yield from (token[:2] for token in raw.tokens_between(position, start))
        last = raw.tokens_between(start, end)[-1:]
        if last and last[0].end > end:
            raise InternalError("the end of a region's text is glued to what follows")
        yield None
        position = end
    yield from (token[:2] for token in raw.tokens_between(position, len(raw.text)))


def check_definitions(
    spliced: Spliced, replacement: Replacement, definitions: Sequence[str], region: Replacement
) -> None:
    """Raises InternalError unless a replacement inserts these definitions and nothing else, at file scope, where the
    preprocessor keeps them if it keeps a region, the first one."""
    start, end, inserted = replacement
    if start != end or start > region[0]:
        raise InternalError("definitions take the place of something, or stand behind what needs them")
    text = "\n".join(definitions)
    if inserted.replace(b"\r\n", b"\n").strip() != text.encode("latin-1").strip():
        tokens = [token for token in spliced.tokens(replacement) if token.kind != "comment"]
        new = [token for token in tokens if token.kind != "directive" or directive_words(token.text)[:1] != ["line"]]
        if tuple(map(spelled, new)) != tokens_of(text):
            raise InternalError("the helper functions aren't those that were to be defined")
    place = spliced.places[replacement][0]
    conditions, depth, last = _before(spliced.raw, place)
    around, _, _ = _before(spliced.raw, spliced.places[region][0])
    if depth or last not in ("", ";", "}", ")"):
        raise InternalError("helper functions are defined inside of something else")
    if around[: len(conditions)] != conditions:
        raise InternalError("helper functions are defined where the preprocessor may leave them out")


def _before(raw: RawSource, offset: int) -> tuple[list[int], int, str]:
    """Which conditional directives are open at an offset, by the places of their last branches; how many braces and
    parentheses; and the last token."""
    conditions: list[int] = []
    outer: list[tuple[int, bool]] = []
    depth, last = 0, ""
    for token in raw.tokens_between(0, offset):
        if token.kind == "directive":
            words = directive_words(token.text)
            if words[:1] in (["if"], ["ifdef"], ["ifndef"]):
                conditions.append(token.start)
                # Braces that C++ alone reads aren't there.
                outer.append((depth, "".join(words).translate(_BARE) in _FOREIGN))
            elif words[:1] in (["else"], ["elif"], ["elifdef"], ["elifndef"]) and conditions:
                conditions[-1], depth, outer[-1] = token.start, outer[-1][0], (outer[-1][0], False)
            elif words[:1] == ["endif"] and conditions:
                conditions.pop()
                outer.pop()
        elif token.kind != "comment" and not any(foreign for _, foreign in outer):
            depth += (token.text in ("{", "(")) - (token.text in ("}", ")")) if token.kind == "punct" else 0
            last = token.text
    return conditions, depth, last
