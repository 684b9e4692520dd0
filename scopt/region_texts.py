"""What takes a region's place: the text for any values of its variables, and around it those for some, each of which
runs where its condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.alternative import Original, in_braces, with_original
from scopt.check.composition import Parts
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.tokens import RawToken, scan
from scopt.tell.results import Outcome


class Texts(Struct, frozen=True, eq=False):
    """macros: integer macros that the texts depend on, with their values. outcomes: what they consist of, from the
    inside out, with their conditions; the first has none."""

    region: Region
    macros: Mapping[str, int]
    outcomes: tuple[tuple[str, Outcome], ...]


def new_bytes(tu: TranslationUnit, texts: Texts) -> bytes:
    """What stands in the region's place: its comments and the printed text, indented like the original, with the file's
    line ends.

    Where memory can't be had, macros have other values or the region's guard fails, the original runs.
    """
    region = texts.region
    *_, text = _nested(tu, texts)
    text = in_braces(text, _original(tu, region, b"")) if region.bare else text
    return region.leading + text + region.trailing


def known_parts(tu: TranslationUnit, texts: Texts) -> Parts:
    """What is known of these bytes."""
    region, parts = texts.region, None
    own = tu.preprocessed.raw.tokens_between(region.start + len(region.leading), region.end - len(region.trailing))
    for (condition, outcome), text in zip(texts.outcomes, _nested(tu, texts), strict=True):
        parts = _parts(tu, texts, outcome, _both(condition, outcome.guard), own, parts)
        own = scan(text).tokens
    assert parts is not None
    return parts


def _parts(
    tu: TranslationUnit, texts: Texts, outcome: Outcome, guard: str, own: Sequence[RawToken], inner: Parts | None
) -> Parts:
    needed, prologue, bare = outcome.allocations, outcome.prologue, texts.region.bare
    known = Parts(_whole(outcome), own, guard, texts.macros, needed, prologue, tu.reserved, bare)
    return known if inner is None else replace(known, inner=inner)


def _nested(tu: TranslationUnit, texts: Texts) -> Iterator[bytes]:
    """The texts, each with the one before in the original's place."""
    region = texts.region
    macros = " && ".join(
        f"({name}) == {value}{'u' * (value >> 63 > 0)}" for name, value in sorted(texts.macros.items())
    )
    text = tu.source[region.start + len(region.leading) : region.end - len(region.trailing)]
    for condition, outcome in texts.outcomes:
        text = with_original(
            _whole(outcome),
            _original(tu, region, text),
            macros=macros,
            guard=_both(condition, outcome.guard),
            needed=outcome.allocations,
            prologue=outcome.prologue,
        )
        yield text


def _whole(outcome: Outcome) -> str:
    """The text with what has to run behind it."""
    return "".join([outcome.text or "", *(f"{one}\n" for one in outcome.epilogue)])


def _original(tu: TranslationUnit, region: Region, text: bytes) -> Original:
    return Original(text, region.indent, region.newline, region.whole_lines, tu.reserved)


def _both(condition: str, guard: str) -> str:
    """Two conditions, either of which may be empty."""
    if condition and guard:
        return f"{condition} && ({guard})" if "||" in guard else f"{condition} && {guard}"
    return condition or guard
