"""Integer macros that stand behind a region without being named in it.

What else a file makes of a macro is known only for its value here: enumeration constants, functions that are inlined in
bounds, and the parts of the file that ``#if`` chooses.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.fit_functions import has_body_of_statements, written_out
from scopt.frontend.normalize.memory_calls import MEMORY_CALLS
from scopt.frontend.syntax.declared_sizes import macro_sizes
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.syntax.user_functions import lines_of
from scopt.frontend.text.macros import baked_macros, reachable_words
from scopt.frontend.text.tokens import RawSource, RawToken, directive_words, scan
from scopt.ir.walks import walk

_CONDITIONS = ("if", "elif")
# Nodes that may give something a name.
_NAMING = (ir.Decl, ir.Typedef, ir.Struct, ir.Union, ir.Enum)


def macros_behind(tu: TranslationUnit, region: Region) -> dict[str, int]:
    """The macros, with their values, that enumeration constants and functions of a region are made of.

    By name alone: an inner name that hides another one counts as that too.
    """
    places, macros = _places(tu), tu.preprocessed.all_macros
    # A variable keeps its name in the result, which the size of one in a constant's value doesn't.
    todo = {name for item in region.items for name in identifiers(item) if name in places.values}
    sized = {name for item in region.items for name in _sized(item)}
    todo |= sized
    words = {word for decl in walk(region.function) for word in _local_words(tu, region, decl, sized)}
    todo |= reachable_words(words, macros)
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        seen.add(name)
        for place in (*places.values.get(name, ()), *places.objects.get(name, ())):
            found = _declaration(tu, place)
            if name in sized:
                found -= _named_sizes(tu, region, name)
            words |= found
            todo |= reachable_words(found, macros) - seen
    return baked_macros(words, macros)


def _sized(item: Any) -> Iterator[str]:
    """Names of what a region asks the size of, fills or copies as a whole, or gives a list of values, and of types."""
    for node in walk(item):
        called = isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID) and node.name.name in MEMORY_CALLS
        listed = isinstance(node, ir.Decl) and isinstance(node.init, ir.InitList)
        if called or listed or (isinstance(node, ir.UnaryOp) and node.op == "sizeof"):
            yield from identifiers(node)
            for part in walk(node):
                if isinstance(part, ir.IdentifierType):
                    yield from part.names
                elif isinstance(part, (ir.Struct, ir.Union)) and part.name:
                    yield part.name


def _local_words(tu: TranslationUnit, region: Region, decl: Any, names: Collection[str]) -> frozenset[str]:
    """The words of the declaration of something in the region's function, if that is one of these."""
    if not isinstance(decl, ir.Decl) or decl.name not in names or decl.coord is None:
        return frozenset()
    raw = tu.preprocessed.raw
    if decl.coord.file == tu.file and region.start <= raw.line_starts[decl.coord.line - 1] < region.end:
        return frozenset()  # the region's own text
    place = _Place(decl.coord.file, decl.coord.line, decl.coord.line)
    return _declaration(tu, place) - frozenset(macro_sizes(decl, tu)) & region.symbolic.keys()


def _named_sizes(tu: TranslationUnit, region: Region, name: str) -> frozenset[str]:
    """Macros with names of their own in the region that are sizes of an array of the file."""
    decls = (node for node in tu.ast.ext if isinstance(node, ir.Decl) and node.name == name)
    return frozenset(word for decl in decls for word in macro_sizes(decl, tu)) & region.symbolic.keys()


def choosing_macros(tu: TranslationUnit, region: Region) -> frozenset[str]:
    """Names in conditions of ``#if`` whose value decides on statements of the region's function, or on declarations
    that the region depends on.

    What stands around a region as a whole is compiled where the region is.
    """
    raw, own = tu.preprocessed.raw, lines_of(region.function, tu.file)
    declared: frozenset[int] | None = None
    names: set[str] = set()
    for chain in _choosing(tu):
        if chain.start < region.start and region.end <= chain.end:
            continue
        lines = range(raw.line(chain.start), raw.line(chain.end) + 1)
        within = lines[0] in own and lines[-1] in own
        if not within and declared is None:
            declared = _lines_behind(tu, region)
        if within or (declared is not None and not declared.isdisjoint(lines)):
            names |= chain.names
    return frozenset(reachable_words(names, tu.preprocessed.all_macros))


def _lines_behind(tu: TranslationUnit, region: Region) -> frozenset[int]:
    """The lines of the file with the declarations of all that a region names, and of all that these name."""
    places, macros = _places(tu), tu.preprocessed.all_macros
    tokens = tu.preprocessed.raw.code_between(region.start, region.end)
    todo = reachable_words((token.text for token in tokens if token.kind == "word"), macros)
    seen: set[str] = set()
    lines: set[int] = set()
    while todo:
        name = todo.pop()
        seen.add(name)
        for place in (*places.values.get(name, ()), *places.objects.get(name, ())):
            if place.file == tu.file:
                lines.update(range(place.line, place.last + 1))
            todo |= reachable_words(_declaration(tu, place), macros) - seen
    return frozenset(lines)


# --- declarations -----------------------------------------------------------------------------------------------------


class _Place(Struct, frozen=True):
    """A file, and the line where a declaration begins; of a function with a body, the last line of that too."""

    file: str
    line: int
    last: int


class _Places(Struct, frozen=True):
    """Where names are declared. values: of constants, and of functions that may take the place of a call; objects: of
    all others, tags too."""

    values: dict[str, list[_Place]] = field(default_factory=dict)
    objects: dict[str, list[_Place]] = field(default_factory=dict)


def _places(tu: TranslationUnit) -> _Places:
    """Of what a file declares; of the names inside functions, constants alone."""
    return tu.worked_out("places", lambda: _places_below(tu))


def _places_below(tu: TranslationUnit) -> _Places:
    found = _Places()
    todo: list[tuple[Any, bool]] = [(node, False) for node in tu.ast.ext]
    while todo:
        node, local = todo.pop()
        if isinstance(node, ir.Enumerator) or (isinstance(node, ir.FuncDef) and _may_stand_in(tu, node)):
            name = node.name if isinstance(node, ir.Enumerator) else node.decl.name
            if node.coord is not None:
                last = node.coord.line if isinstance(node, ir.Enumerator) else lines_of(node, node.coord.file)[-1]
                found.values.setdefault(name, []).append(_Place(node.coord.file, node.coord.line, last))
        elif isinstance(node, _NAMING) and node.name and node.coord is not None and not local:
            place = _Place(node.coord.file, node.coord.line, node.coord.line)
            found.objects.setdefault(node.name, []).append(place)
        todo.extend((child, local or isinstance(child, (ir.Compound, ir.ParamList))) for child in node.parts)
    return found


def _may_stand_in(tu: TranslationUnit, function: ir.FuncDef) -> bool:
    """Whether a function's body may take the place of a call."""
    one_statement = [type(item) for item in function.body.block_items or ()] in ([ir.Return], [ir.Assignment])
    return one_statement or has_body_of_statements(written_out(tu, function), tu.replaceable)


def _declaration(tu: TranslationUnit, place: _Place) -> frozenset[str]:
    """The words of the declaration at a place, from the semicolon before it
    to the one that ends it, and of conditions inside."""
    raw = tu.preprocessed.raw if place.file == tu.file else _scanned(place.file)
    if raw is None:
        return frozenset(tu.preprocessed.all_macros)
    if not 0 < place.line <= place.last <= len(raw.line_starts):
        return frozenset()
    tokens, first = raw.tokens, raw.line_starts[place.line - 1]
    low = bisect_left(tokens, first, key=lambda token: token.start)
    high = bisect_left(tokens, raw.line_end(raw.line_starts[place.last - 1]), key=lambda token: token.start)
    while low and tokens[low - 1].text != ";":
        low -= 1
    while high < len(tokens) and tokens[high - 1].text != ";":
        high += 1
    return frozenset(word for token in tokens[low:high] for word in _words(token))


@lru_cache(maxsize=64)
def _scanned(file: str) -> RawSource | None:
    try:
        return scan(Path(file).read_bytes())
    except OSError:
        return None


def _words(token: RawToken) -> list[str]:
    if token.kind == "word":
        return [token.text]
    return _condition(token) if token.kind == "directive" else []


# --- conditions -------------------------------------------------------------------------------------------------------


class _Chain(Struct):
    """``#if`` to ``#endif``. names: those whose values its conditions read. has_code: there are tokens besides
    directives in it."""

    start: int
    end: int
    names: set[str]
    has_code: bool


def _choosing(tu: TranslationUnit) -> list[_Chain]:
    """The conditionals with code that ask for values."""
    return tu.worked_out("conditionals", lambda: [*filter(_chooses, _chains(tu.preprocessed.raw))])


def _chooses(chain: _Chain) -> bool:
    return bool(chain.names) and chain.has_code


def _chains(raw: RawSource) -> Iterator[_Chain]:
    """The conditionals of a file."""
    opened: list[_Chain] = []
    for token in raw.tokens:
        if token.kind == "comment":
            continue
        word = next(iter(directive_words(token.text)), "") if token.kind == "directive" else ""
        if not word:
            for chain in opened:
                chain.has_code = True
        elif word in ("if", "ifdef", "ifndef"):
            opened.append(_Chain(token.start, token.end, set(_condition(token)), False))
        elif word == "elif" and opened:
            opened[-1].names.update(_condition(token))
        elif word == "endif" and opened:
            opened[-1].end = token.end
            yield opened.pop()


def _condition(token: RawToken) -> list[str]:
    """The names whose values a directive's condition reads; not those that it only asks for."""
    words = directive_words(token.text)
    if words[:1] not in ([condition] for condition in _CONDITIONS):
        return []
    asked = {k + (2 if after == "(" else 1) for k, (word, after) in enumerate(pairwise(words)) if word == "defined"}
    return [
        word
        for k, word in enumerate(words)
        if k and k not in asked and (word[0].isalpha() or word[0] in "_$") and word != "defined"
    ]
