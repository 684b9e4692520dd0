"""Runs the real preprocessor and reads what comes back: text, places, macros, and which integer macros can stay
symbolic in regions."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from scopt.diagnostics import InputError
from scopt.frontend.text.macros import (
    Macro,
    baked_macros,
    other_types,
    parse_define,
    reachable_words,
    split_tokens,
    symbolic_macros,
)
from scopt.frontend.text.tokens import RawSource, RawToken, directive_words, scan
from scopt.options import Options

_MARKER = re.compile(r'#(?:line)?[ \t]+(\d+)(?:[ \t]+"((?:[^"\\]|\\.)*)"((?:[ \t]+\d)*))?')
_SCOP = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)\b")
_SCOPT = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+scopt\b")
STDIN = "<stdin>"


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


@dataclass(frozen=True, slots=True, eq=False)
class RegionMacros:
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


@dataclass(frozen=True, slots=True, eq=False)
class Preprocessed:
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


def preprocess(
    source: bytes, file: str, options: Options, *, symbolic: bool = True, unmarked: Sequence[tuple[int, int]] = ()
) -> Preprocessed:
    """Preprocess `source` as if it were the contents of `file`.

    symbolic: keep object-like macros that are integer constants as identifiers inside regions. unmarked: the bytes of
      regions that have no pragmas.
    Raises InputError with the compiler's own message.
    """
    raw = scan(source)
    lines = _without_line_directives(raw)
    plain = _read(_run_cc(lines, file, options), file, raw)
    regions = tuple(_regions(plain, unmarked))
    if not any(region.symbolic for region in regions):
        return replace(plain, regions=regions)
    kept = _read(_run_cc(_with_undefs(lines, raw, regions), file, options), file, raw)
    # A macro whose name is pasted or stringized means something else when it isn't expanded: then it has to be.
    sound = _judged(plain, kept, regions)
    if not symbolic or not any(region.symbolic for region in sound):
        return replace(plain, regions=tuple(_bake(region) for region in sound))
    if any(old.symbolic and not new.symbolic for old, new in zip(regions, sound, strict=True)):
        kept = _read(_run_cc(_with_undefs(lines, raw, sound), file, options), file, raw)
    # In the kept text the symbolic macros are no macros: what a directive may expand is what the plain one defines.
    return replace(kept, regions=sound, directives=plain.directives)


def check_syntax(source: bytes, file: str, options: Options) -> str:
    """The compiler's own error messages for the file, '' if it accepts it."""
    result = _cc(source, file, options, ["-fsyntax-only", "-w"])
    return _message(result, file) if result.returncode else ""


# --- running the compiler ---------------------------------------------------------------------------------------------


def _run_cc(text: bytes, file: str, options: Options) -> str:
    result = _cc(text, file, options, ["-E", "-dD"])
    if result.returncode:
        raise InputError(_message(result, file))
    return result.stdout.decode("latin-1")


def _cc(text: bytes, file: str, options: Options, mode: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Run the compiler on a text that it takes for `file`: its place decides where quoted includes are found."""
    folder = os.path.dirname(file) or "."
    # Through /dev/stdin the folder of the main file is one without headers; "-" would search the current folder first.
    stdin = "/dev/stdin" if os.path.exists("/dev/stdin") else "-"
    compiler = shlex.split(options.cc)
    command = [*compiler, *mode, "-iquote", folder, *options.cpp_flags, "-x", "c", stdin]
    marker = b'# 1 "%s"\n' % os.fsencode(file).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    try:
        return subprocess.run(command, input=marker + text, capture_output=True, check=False)
    except (FileNotFoundError, IndexError):
        raise InputError(f"scopt: the compiler '{options.cc}' was not found; name another one with --cc") from None
    except OSError as error:
        raise InputError(f"scopt: the compiler '{options.cc}' could not be run: {error.strerror}") from error


def _message(result: subprocess.CompletedProcess[bytes], file: str) -> str:
    text = result.stderr.decode("utf-8", "surrogateescape").rstrip()
    return text or f"{file}: the compiler failed with status {result.returncode}"


# --- reading its output -----------------------------------------------------------------------------------------------


def _read(output: str, file: str, raw: RawSource) -> Preprocessed:
    """Take the output apart: places of lines, definitions, pragmas."""
    text: list[str] = []
    runs: list[Run] = []
    macros: dict[str, Macro] = {}
    definitions: list[tuple[int, Macro | str]] = []
    pragmas: list[ScopPragma] = []
    directives: list[ScoptPragma] = []
    depth, run, fresh = 0, Run(0, "", 0, False, False), False
    names: dict[str, str] = {}
    for line in output.split("\n"):
        if line.startswith("#") and (marker := _MARKER.match(line)):
            number, quoted, flags = marker.groups()
            flags = flags or ""
            depth = max(0, depth + (" 1" in flags) - (" 2" in flags))
            if quoted is not None and quoted not in names:
                names[quoted] = _unquoted(quoted)
            name = names[quoted] if quoted is not None else run.file
            run, fresh = Run(len(text), name, int(number), depth == 0 and name == file, " 3" in flags), True
            continue
        if fresh:
            runs.append(run)
            fresh = False
        if run.user and _SCOPT.match(line):
            directives.append(ScoptPragma(line, run.number + len(text) - run.first, dict(macros)))
        if line.startswith("#"):
            line = _directive_line(line, run, len(text), macros, definitions, pragmas)
        text.append(line)
    every = {macro.name: macro for _, macro in definitions if isinstance(macro, Macro)}
    return Preprocessed(
        file,
        "\n".join(text) + "\n",
        tuple(runs),
        raw,
        macros,
        every,
        tuple(definitions),
        tuple(pragmas),
        directives=tuple(directives),
    )


def _directive_line(
    line: str,
    run: Run,
    text_line: int,
    macros: dict[str, Macro],
    definitions: list[tuple[int, Macro | str]],
    pragmas: list[ScopPragma],
) -> str:
    """Note a directive of the output; what is left of it for the parser: only pragmas of the user's file."""
    if line.startswith("#define "):
        macro = parse_define(line[8:], system=run.system or run.file == "<built-in>")
        macros[macro.name] = macro
        definitions.append((text_line, macro))
        return ""
    if line.startswith("#undef "):
        macros.pop(line[7:].strip(), None)
        definitions.append((text_line, line[7:].strip()))
        return ""
    if scop := _SCOP.match(line):
        kind: Literal["scop", "endscop"] = "scop" if scop.group(1) == "scop" else "endscop"
        pragmas.append(
            ScopPragma(kind, text_line, run.file, run.number + text_line - run.first, run.user, dict(macros))
        )
        return f"#pragma {kind}" if run.user else ""
    return line if run.user and line.startswith("#pragma") else ""


def _unquoted(name: str) -> str:
    """A file name out of a line marker, as Python names files."""
    plain = re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m.group(1), 8)) if len(m.group(1)) == 3 else m.group(1), name)
    return os.fsdecode(plain.encode("latin-1"))


# --- the text given to the compiler -----------------------------------------------------------------------------------


def _without_line_directives(raw: RawSource) -> bytes:
    """The source with its own ``#line`` directives blanked: places are those of the file itself."""
    text = raw.text
    for token in raw.tokens:
        if token.kind == "directive" and is_line_directive(token):
            text = text[: token.start] + re.sub(r"[^\r\n]", " ", token.text) + text[token.end :]
    return text.encode("latin-1")


def is_line_directive(token: RawToken) -> bool:
    words = directive_words(token.text)
    return bool(words) and (words[0] == "line" or words[0].isdigit())


def is_pragma(token: RawToken, *names: str) -> bool:
    """Whether a raw directive is ``#pragma`` (with one of the names as its first word, if any are given)."""
    words = directive_words(token.text)
    return words[:1] == ["pragma"] and (not names or (len(words) > 1 and words[1] in names))


def _with_undefs(text: bytes, raw: RawSource, regions: Iterable[RegionMacros]) -> bytes:
    """The text with the symbolic macros undefined inside their regions;
    lines keep their numbers, tokens their columns."""
    edits: list[tuple[int, bool, str]] = []
    for region in regions:
        if region.symbolic:
            undefs = "".join(f"#undef {name}\n" for name in region.symbolic)
            defines = "".join(f"#define {name} {region.defined[name].body}\n" for name in region.symbolic)
            # Where one region ends and the next one begins, the definitions come first.
            edits.append((region.start, True, _directives_at(raw, region.start, undefs)))
            edits.append((region.end, False, _directives_at(raw, region.end, defines)))
    source, pieces, position = text.decode("latin-1"), [], 0
    for offset, _, inserted in sorted(edits):
        pieces += [source[position:offset], inserted]
        position = offset
    return "".join([*pieces, source[position:]]).encode("latin-1")


def _directives_at(raw: RawSource, offset: int, directives: str) -> str:
    """Directives to insert at an offset, perhaps in the middle of a line."""
    column = offset - raw.line_start(offset)
    newline = "\n" if column else ""
    return f"{newline}{directives}#line {raw.line(offset)}\n{' ' * column}"


# --- regions and their macros -----------------------------------------------------------------------------------------


def pragma_token(raw: RawSource, kind: str, line: int) -> RawToken | None:
    """The directive ``#pragma kind`` of the source whose logical line holds physical line `line`."""
    for token in raw.tokens:
        if (
            token.kind == "directive"
            and raw.line(token.start) <= line <= raw.line(token.end)
            and is_pragma(token, kind)
        ):
            return token
    return None


def _regions(plain: Preprocessed, unmarked: Sequence[tuple[int, int]]) -> Iterator[RegionMacros]:
    """The integer macros of each region of the user's file. Unbalanced pragmas are left to the parser's remarks."""
    raw = plain.raw
    # A name that is left after expansion also names something else: in the tree the two could not be told apart.
    left = frozenset(re.findall(r"[\w$]+", plain.text))
    # Where the file has #line directives of its own, these expand to what the copy given to the compiler doesn't have.
    moved = any(t.kind == "directive" and is_line_directive(t) for t in raw.tokens)
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


def _bake(region: RegionMacros) -> RegionMacros:
    return replace(region, symbolic={}, baked={**region.baked, **region.symbolic})


def _judged(plain: Preprocessed, kept: Preprocessed, regions: Iterable[RegionMacros]) -> tuple[RegionMacros, ...]:
    """The regions with the symbolic names that occur in their tokens; with none where their expansion isn't what the
    compiler will see."""
    before, after = _Lines(plain), _Lines(kept)

    def judged(region: RegionMacros) -> RegionMacros:
        tokens = split_tokens(after.text(region))
        expanded: list[str] = []
        for token in tokens:
            expanded.extend(symbolic_expansion(token, region.defined) if token in region.symbolic else (token,))
        if expanded != split_tokens(before.text(region)):
            return _bake(region)
        present = region.symbolic.keys() & set(tokens)
        if not region.marked and len(present) < len(region.symbolic):
            # It may be an argument of a macro that surrounds the region, and expanded after all.
            return _bake(region)
        return replace(region, symbolic={name: value for name, value in region.symbolic.items() if name in present})

    return tuple(judged(region) if region.symbolic else region for region in regions)


def symbolic_expansion(name: str, macros: Mapping[str, Macro]) -> list[str]:
    """The tokens that a macro made of other object-like macros and constants expands to."""
    tokens: list[str] = []
    for token in split_tokens(macros[name].body):
        tokens.extend(symbolic_expansion(token, macros) if token in macros else (token,))
    return tokens


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
