"""What is known of a file after the preprocessor: text, places, macros, pragmas, and the macros of regions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct, field

from scopt.frontend.text.macros import Macro, other_types
from scopt.frontend.text.tokens import RawSource


class Run(NamedTuple):
    """Consecutive lines of one file in the preprocessed text: text line `first` (from 0) is line `number` of `file`."""

    first: int
    file: str
    number: int
    user: bool
    system: bool


class ScopPragma(NamedTuple):
    """A ``scop`` or ``endscop`` pragma of the preprocessed text; macros: what is defined there."""

    kind: Literal["scop", "endscop"]
    text_line: int
    file: str
    line: int
    user: bool
    macros: Mapping[str, Macro]


class ScoptPragma(NamedTuple):
    """A ``#pragma scopt`` of the user's file, as the preprocessor gives it out;
    line: in the file; macros: what is defined there."""

    text: str
    line: int
    macros: Mapping[str, Macro]


class RegionMacros(Struct, frozen=True, eq=False):
    """The integer macros of one region: the bytes ``[start, end)`` of the source, of a marked one the lines between its
    pragmas.

    defined: all macros, as they are there. symbolic: macros that the parser sees as identifiers, with the value they
      have here; types: of those that are no `int`; baked: those that it sees expanded. unstable: names such as
      ``__COUNTER__`` whose expansion must not be copied.
    """

    start: int
    end: int
    marked: bool
    defined: Mapping[str, Macro]
    symbolic: Mapping[str, int] = field(default_factory=dict)
    baked: Mapping[str, int] = field(default_factory=dict)
    unstable: frozenset[str] = frozenset()

    @property
    def types(self) -> Mapping[str, str]:
        return other_types(self.symbolic, self.defined)


class Preprocessed(Struct, frozen=True, eq=False):
    """A translation unit after the preprocessor.

    text: without line markers and definitions, as latin-1; its line k came from `place(k)`. raw: the user's file in
      tokens.
    macros: as defined at the end of the file. all_macros: every macro that ever was, with its last definition.
    definitions: each definition, and the name alone where it ends, with the line of the text (from 0) that it precedes.
    pragmas: the scop pragmas in order, those of headers too (blanked in the text). regions: the integer macros of
      regions.
    directives: the ``scopt`` pragmas of the user's file.
    """

    file: str
    text: str
    runs: tuple[Run, ...]
    raw: RawSource
    macros: Mapping[str, Macro]
    all_macros: Mapping[str, Macro]
    definitions: tuple[tuple[int, Macro | str], ...]
    pragmas: tuple[ScopPragma, ...]
    regions: tuple[RegionMacros, ...] = ()
    directives: tuple[ScoptPragma, ...] = ()

    def run(self, text_line: int) -> Run:
        """The run that a line of the text (from 0) lies in."""
        return self.runs[max(0, bisect_right(self.runs, text_line, key=lambda run: run.first) - 1)]

    def place(self, text_line: int) -> tuple[str, int]:
        """File and line that a line of the text (from 0) came from."""
        run = self.run(text_line)
        return run.file, run.number + text_line - run.first
