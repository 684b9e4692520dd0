"""The integer macros of regions: which there are, and which can stay symbolic without a change of meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from scopt.frontend.text.macros import Macro, baked_macros, expansion, reachable_words, split_tokens, symbolic_macros
from scopt.frontend.text.preprocessed import Preprocessed, RegionMacros
from scopt.frontend.text.tokens import RawSource, RawToken, directive_words, is_line_directive, is_pragma, pragma_token


def region_macros(plain: Preprocessed, unmarked: Sequence[tuple[int, int]]) -> Iterator[RegionMacros]:
    """The integer macros of each region of the user's file. Unbalanced pragmas are left to the parser's remarks."""
    raw = plain.raw
    # A name that is left after expansion also names something else: in the tree the two could not be told apart.
    left = frozenset(re.findall(r"[\w$]+", plain.text))
    # Where the file has #line directives of its own, these expand to what the copy given to the compiler doesn't have.
    moved = any(map(is_line_directive, raw.tokens))
    unstable = {"__COUNTER__", "__DATE__", "__TIME__", "__TIMESTAMP__"} | ({"__LINE__", "__FILE__"} if moved else set())

    def with_macros(region: RegionMacros, *, keep: bool) -> RegionMacros:
        tokens = raw.tokens_between(region.start, region.end)
        words = {t.text for t in tokens if t.kind == "word"}
        reached = frozenset(reachable_words(words, region.defined) & unstable)
        return replace(_with_values(region, words, tokens, left if keep else None), unstable=reached)

    for begin, end in pairwise(p for p in plain.pragmas if p.user):
        if (begin.kind, end.kind) != ("scop", "endscop"):
            continue
        first, last = pragma_token(raw, "scop", begin.line), pragma_token(raw, "endscop", end.line)
        if first is not None and last is not None:
            region = RegionMacros(raw.line_end(first.end), raw.line_start(last.start), True, begin.macros)
            yield with_macros(region, keep=_whole_lines(raw, last))
    if unmarked:
        lines = _Lines(plain)
        places = [lines.first(start) for start, _ in unmarked]
        for (start, stop), place, defined in zip(unmarked, places, _defined_at(plain, places), strict=True):
            # A directive can't begin on a line that goes on the one before.
            spliced = any(
                re.search(r"\\\r?\n\Z", raw.text[max(0, raw.line_start(offset) - 3) : raw.line_start(offset)])
                for offset in (start, stop)
            )
            yield with_macros(RegionMacros(start, stop, False, defined), keep=place is not None and not spliced)


def _with_values(
    region: RegionMacros, words: set[str], tokens: Iterable[RawToken], left: frozenset[str] | None
) -> RegionMacros:
    """The region with its integer macros. left: names that can't be kept; None if none can."""
    directives = [t for t in tokens if t.kind == "directive" and not is_pragma(t)]
    if directives or left is None:
        conditions = {word for t in directives for word in directive_words(t.text)}
        return replace(region, baked=baked_macros(words | conditions, region.defined))
    found = {name: value for name, value in symbolic_macros(words, region.defined).items() if name not in left}
    seen = reachable_words(words, region.defined, stop=found.keys())
    baked = {
        name: value for name, value in baked_macros(words, region.defined).items() if name in seen and name not in found
    }
    return replace(region, symbolic=found, baked=baked)


def _whole_lines(raw: RawSource, pragma: RawToken) -> bool:
    """Whether nothing but white space stands before a pragma on its line."""
    return not raw.text[raw.line_start(pragma.start) : pragma.start].strip()


def _defined_at(plain: Preprocessed, places: Sequence[int | None]) -> list[Mapping[str, Macro]]:
    """What is defined at the beginning of each line of the text;
    every macro there ever is, where the line isn't known."""
    macros: dict[str, Macro] = {}
    found: dict[int | None, Mapping[str, Macro]] = {None: plain.all_macros}
    position = 0
    for line in sorted({place for place in places if place is not None}):
        while position < len(plain.definitions) and plain.definitions[position][0] < line:
            macro = plain.definitions[position][1]
            if isinstance(macro, Macro):
                macros[macro.name] = macro
            else:
                macros.pop(macro, None)
            position += 1
        found[line] = dict(macros)
    return [found[place] for place in places]


def all_baked(region: RegionMacros) -> RegionMacros:
    """The region with none of its macros symbolic."""
    return replace(region, symbolic={}, baked={**region.baked, **region.symbolic})


def sound_macros(plain: Preprocessed, kept: Preprocessed, regions: Iterable[RegionMacros]) -> tuple[RegionMacros, ...]:
    """The regions with the symbolic names that occur in their tokens; with none where their expansion isn't what the
    compiler will see."""
    before, after = _Lines(plain), _Lines(kept)

    def judged(region: RegionMacros) -> RegionMacros:
        tokens = split_tokens(after.text(region))
        expanded: list[str] = []
        for token in tokens:
            kept = expansion(token, region.defined) if token in region.symbolic else None
            expanded.extend((token,) if kept is None else kept)
        if expanded != split_tokens(before.text(region)):
            return all_baked(region)
        present = region.symbolic.keys() & set(tokens)
        if not region.marked and len(present) < len(region.symbolic):
            # It may be an argument of a macro that surrounds the region, and expanded after all.
            return all_baked(region)
        return replace(region, symbolic={name: value for name, value in region.symbolic.items() if name in present})

    return tuple(judged(region) if region.symbolic else region for region in regions)


class _Lines:
    """The lines of the preprocessed text by those of the user's file."""

    def __init__(self, result: Preprocessed) -> None:
        self.raw, self.lines = result.raw, result.text.split("\n")
        self.numbers: dict[int, list[int]] = {}
        ends = [run.first for run in result.runs[1:]] + [len(self.lines)]
        for run, end in zip(result.runs, ends, strict=True):
            for number in range(run.first, end) if run.user else ():
                self.numbers.setdefault(run.number + number - run.first, []).append(number)

    def first(self, offset: int) -> int | None:
        """Number of the text's first line that comes from the line of the source which an offset lies in;
        None if there is none."""
        return next(iter(self.numbers.get(self.raw.line(offset), ())), None)

    def text(self, region: RegionMacros) -> str:
        """The text of the lines that a region touches."""
        touched = range(self.raw.line(region.start), self.raw.line(region.end - 1) + 1)
        return "\n".join(self.lines[k] for number in touched for k in self.numbers.get(number, ()))
