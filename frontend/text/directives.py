"""``#pragma scopt`` as data: the clauses of a line, and what all lines of a region together ask for.

Where a line stands in the tree is the business of `scopt.frontend.region.placement`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import InputError, Location
from scopt.frontend.text.macros import Macro, integer_value
from scopt.options import Options

T = TypeVar("T")

# What `fuse(…)` takes; `nofuse` is the fourth kind of fusion.
FUSIONS = ("max", "smart", "typed")
MAX_TILE = 1 << 20
# Clauses with arguments in parentheses, and those without.
_WITH_ARGUMENTS = ("tile", "fuse", "scheduler", "parallel", "vector")
_ALONE = ("notile", "nofuse", "noparallel", "novector")

_SPACE = re.compile(r"(?:\s|\\\r?\n|/\*[\s\S]*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*)*")
_TOKEN = re.compile(r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\d[\w.]*|[\s\S]", re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]*\Z")
_WORD = re.compile(r"[A-Za-z_$\x80-\xff]")


class Setting(Struct, Generic[T], frozen=True):
    """Something asked for, and the place of the word that asks."""

    value: T
    location: Location


class Clause(Struct, frozen=True):
    """One clause as it is written. word: ``tile``, ``nofuse``, …. sizes: of ``tile``, macros expanded. words: arguments
    of the others."""

    word: str
    location: Location
    sizes: tuple[int, ...] = ()
    words: tuple[Setting[str], ...] = ()


class Directive(Struct, frozen=True):
    """One ``#pragma scopt``. text: from ``scopt`` on, as the preprocessor gives it out.
    line: where the syntax tree has its pragma."""

    text: str
    line: int
    location: Location
    clauses: tuple[Clause, ...]


class Wish(Struct, frozen=True, eq=False):
    """``parallel(iterator)`` or ``vector(iterator)``. loop: the pragma stands before it and means the statements
    inside; None: the whole SCoP."""

    iterator: str
    location: Location
    loop: ir.For | None = None
    loop_location: Location | None = None


class Directives(Struct, frozen=True, eq=False):
    """What the directives of one region ask for; None or empty where they say nothing.

    tile: whether bands are tiled; tile_sizes: outermost first. fusion: ``max``, ``smart``, ``typed`` or ``no``.
      scheduler: its name.
    threads, simd: False where ``noparallel``, ``novector`` say so. parallel, vector: loops that shall be that. used:
      the directives themselves.
    """

    tile: Setting[bool] | None = None
    tile_sizes: Setting[tuple[int, ...]] | None = None
    fusion: Setting[str] | None = None
    scheduler: Setting[str] | None = None
    threads: Setting[bool] | None = None
    simd: Setting[bool] | None = None
    parallel: tuple[Wish, ...] = ()
    vector: tuple[Wish, ...] = ()
    used: tuple[Directive, ...] = ()


def apply_directives(options: Options, directives: Directives) -> Options:
    """The options for a region with these directives.
    What `parallel` and `vector` ask for is no option: see `Scop.directives`."""
    wanted = {
        "tile": directives.tile,
        "tile_sizes": directives.tile_sizes,
        "fusion": directives.fusion,
        "scheduler": directives.scheduler,
        "parallel": directives.threads,
        "simd": directives.simd,
    }
    changes: dict[str, Any] = {name: setting.value for name, setting in wanted.items() if setting is not None}
    return replace(options, **changes)


def error_at(location: Location, message: str) -> InputError:
    """The error that the user sees."""
    return InputError(f"{location}: error: {message}")


def is_directive(node: Any) -> bool:
    """Whether a node is a ``#pragma scopt``."""
    return isinstance(node, ir.Pragma) and str(node.string).split()[:1] == ["scopt"]


# --- syntax -----------------------------------------------------------------------------------------------------------


def read_directive(
    text: str,
    line: int,
    place: Callable[[int], Location],
    macros: Mapping[str, Macro],
    schedulers: Collection[str],
    shown: str = "",
) -> Directive:
    """A directive from its spelling.

    text: ``#pragma scopt …`` with comments and continued lines as they are. line: of the pragma in the syntax tree.
    place: the location of an offset into `text`. macros: those defined here; integer ones are expanded in ``tile(…)``.
      schedulers: names that ``scheduler(…)`` takes.
    shown: the directive as the preprocessor gives it out, if not `text`. Raises InputError.
    """
    tokens = _Tokens([Setting(word, place(offset)) for offset, word in _words(text)])
    start = tokens.take().location
    while tokens.take().value != "scopt":
        pass
    if tokens.ahead is None:
        raise error_at(start, f"'#pragma scopt' has no clause: expected {_listed((*_WITH_ARGUMENTS, *_ALONE))}")
    clauses = []
    while tokens.ahead is not None:
        clauses.append(_clause(tokens, macros, schedulers))
    return Directive(normalized(shown or text), line, start, tuple(clauses))


def normalized(text: str) -> str:
    """A directive's words, for comparison: without ``#pragma``, one space between them."""
    words = text.split()
    return " ".join(words[words.index("scopt") :]) if "scopt" in words else " ".join(words)


def _words(text: str) -> Iterator[tuple[int, str]]:
    position = 0
    while True:
        space = _SPACE.match(text, position)
        token = _TOKEN.match(text, space.end() if space is not None else position)
        if token is None:
            return
        yield token.start(), token.group()
        position = token.end()


class _Tokens(Struct):
    """The words of a directive, taken one by one."""

    words: list[Setting[str]]
    position: int = 0

    @property
    def ahead(self) -> Setting[str] | None:
        return self.words[self.position] if self.position < len(self.words) else None

    def take(self) -> Setting[str]:
        word = self.words[self.position]
        self.position += 1
        return word

    def expect(self, wanted: str, after: Setting[str]) -> Setting[str]:
        """Take this character. Raises InputError at what stands there, or at the word before where nothing does."""
        if self.ahead is None:
            raise error_at(after.location, f"expected '{wanted}' after '{after.value}'")
        if self.ahead.value != wanted:
            raise error_at(self.ahead.location, f"expected '{wanted}', not '{self.ahead.value}'")
        return self.take()


def _clause(tokens: _Tokens, macros: Mapping[str, Macro], schedulers: Collection[str]) -> Clause:
    word = tokens.take()
    if word.value in _ALONE:
        if tokens.ahead is not None and tokens.ahead.value == "(":
            raise error_at(tokens.ahead.location, f"'{word.value}' takes no arguments")
        return Clause(word.value, word.location)
    if word.value not in _WITH_ARGUMENTS:
        raise error_at(word.location, f"unknown clause '{word.value}': expected {_listed((*_WITH_ARGUMENTS, *_ALONE))}")
    arguments = _arguments(tokens, word)
    if word.value == "tile":
        return Clause("tile", word.location, sizes=tuple(_size(argument, macros) for argument in arguments))
    if word.value != "parallel" and len(arguments) > 1:
        raise error_at(arguments[1].location, f"'{word.value}' takes one argument")
    for argument in arguments:
        _check_word(word.value, argument, schedulers)
    return Clause(word.value, word.location, words=arguments)


def _arguments(tokens: _Tokens, word: Setting[str]) -> tuple[Setting[str], ...]:
    """``(word, word, …)``, at least one."""
    opening = tokens.expect("(", word)
    found: list[Setting[str]] = []
    last = opening
    while not found or last.value == ",":
        if tokens.ahead is None or tokens.ahead.value in (")", ","):
            raise error_at((tokens.ahead or last).location, f"'{word.value}' lacks an argument")
        if not re.match(r"[\w$\x80-\xff]", tokens.ahead.value, re.ASCII):
            raise error_at(tokens.ahead.location, f"'{tokens.ahead.value}' is no argument of '{word.value}'")
        found.append(tokens.take())
        if tokens.ahead is not None and tokens.ahead.value == ",":
            last = tokens.take()
            continue
        last = tokens.expect(")", found[-1])
    return tuple(found)


def _size(argument: Setting[str], macros: Mapping[str, Macro]) -> int:
    """A tile size: a decimal number, or a macro that stands for an integer."""
    value: int | None = None
    if _NUMBER.match(argument.value):
        value = int(argument.value)
    elif argument.value in macros:
        value = integer_value(argument.value, macros)
    elif _WORD.match(argument.value):
        raise error_at(
            argument.location,
            f"'{argument.value}' is no macro that is defined here: a tile size is a number or a macro for one",
        )
    if value is None or not 0 < value <= MAX_TILE:
        raise error_at(
            argument.location, f"'{argument.value}' is no tile size: expected a whole number from 1 to {MAX_TILE}"
        )
    return value


def _check_word(clause: str, argument: Setting[str], schedulers: Collection[str]) -> None:
    known = {"fuse": FUSIONS, "scheduler": tuple(schedulers)}.get(clause)
    if known is not None and argument.value not in known:
        raise error_at(
            argument.location, f"unknown argument '{argument.value}' of '{clause}': expected {_listed(known)}"
        )
    if not _WORD.match(argument.value):
        raise error_at(argument.location, f"'{argument.value}' is no iterator's name")


def _listed(words: Collection[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def threadprivate_names(nodes: Iterable[Any]) -> frozenset[str]:
    """The variables of ``#pragma omp threadprivate`` among some nodes."""
    lists = (
        re.fullmatch(r"omp\s+threadprivate\s*\((.*)\)\s*", str(node.string))
        for node in nodes
        if isinstance(node, ir.Pragma)
    )
    return frozenset(name.strip() for found in lists if found is not None for name in found[1].split(","))
