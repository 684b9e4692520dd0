"""Runs the real preprocessor and reads what comes back: text, places, macros, and which integer macros can stay symbolic in regions."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from scopt.diagnostics import InputError
from scopt.frontend.macros import Macro, baked_macros, parse_define, reachable_words, split_tokens, symbolic_macros
from scopt.frontend.tokens import RawSource, RawToken, directive_words, scan
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
    """A ``#pragma scopt`` of the user's file, as the preprocessor gives it out; line: in the file; macros: what is defined there."""

    text: str
    line: int
    macros: Mapping[str, Macro]


@dataclass(frozen=True, slots=True, eq=False)
class RegionMacros:
    """The integer macros of one marked region, named by the lines of its pragmas.

    symbolic: macros that the parser sees as identifiers, with the value they have here; baked: those that it sees expanded.
    unstable: names such as ``__COUNTER__`` whose expansion must not be copied.
    """

    scop_line: int
    endscop_line: int
    symbolic: Mapping[str, int]
    baked: Mapping[str, int]
    unstable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Preprocessed:
    """A translation unit after the preprocessor.

    text: without line markers and definitions, as latin-1; its line k came from `place(k)`. raw: the user's file in tokens.
    macros: as defined at the end of the file. all_macros: every macro that ever was, with its last definition.
    pragmas: the scop pragmas in order, those of headers too (blanked in the text). regions: the integer macros of marked regions.
    directives: the ``scopt`` pragmas of the user's file.
    """

    file: str
    text: str
    runs: tuple[Run, ...]
    raw: RawSource
    macros: Mapping[str, Macro]
    all_macros: Mapping[str, Macro]
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


def preprocess(source: bytes, file: str, options: Options, *, symbolic: bool = True) -> Preprocessed:
    """Preprocess `source` as if it were the contents of `file`.

    symbolic: keep object-like macros that are `int` constants as identifiers inside marked regions.
    Raises InputError with the compiler's own message.
    """
    raw = scan(source)
    lines = _without_line_directives(raw)
    plain = _read(_run_cc(lines, file, options), file, raw)
    regions = tuple(_regions(plain))
    if not any(region.symbolic for region in regions):
        return replace(plain, regions=regions)
    kept = _read(_run_cc(_with_undefs(lines, raw, plain, regions), file, options), file, raw)
    # A macro whose name is pasted or stringized means something else when it isn't expanded: then it has to be.
    sound = tuple(_judged(plain, kept, region) for region in regions)
    if not symbolic or not any(region.symbolic for region in sound):
        return replace(plain, regions=tuple(_bake(region) for region in sound))
    if any(old.symbolic and not new.symbolic for old, new in zip(regions, sound, strict=True)):
        kept = _read(_run_cc(_with_undefs(lines, raw, plain, sound), file, options), file, raw)
    # In the kept text the symbolic macros are no macros: what a directive may expand is what the plain one defines.
    return replace(kept, regions=sound, directives=plain.directives)


def check_syntax(source: bytes, file: str, options: Options) -> str:
    """The compiler's own error messages for the file, '' if it accepts it."""
    result = _cc(source, file, options, ["-fsyntax-only", "-w"])
    return _message(result, file) if result.returncode else ""


# --- running the compiler ---------------------------------------------------------------------------------------------------------------


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


# --- reading its output -----------------------------------------------------------------------------------------------------------------


def _read(output: str, file: str, raw: RawSource) -> Preprocessed:
    """Take the output apart: places of lines, definitions, pragmas."""
    text: list[str] = []
    runs: list[Run] = []
    macros: dict[str, Macro] = {}
    every: dict[str, Macro] = {}
    pragmas: list[ScopPragma] = []
    directives: list[ScoptPragma] = []
    depth, run, fresh = 0, Run(0, "", 0, False, False), False
    for line in output.split("\n"):
        if line.startswith("#") and (marker := _MARKER.match(line)):
            number, quoted, flags = marker.groups()
            flags = flags or ""
            depth = max(0, depth + (" 1" in flags) - (" 2" in flags))
            name = _unquoted(quoted) if quoted is not None else run.file
            run, fresh = Run(len(text), name, int(number), depth == 0 and name == file, " 3" in flags), True
            continue
        if fresh:
            runs.append(run)
            fresh = False
        if run.user and _SCOPT.match(line):
            directives.append(ScoptPragma(line, run.number + len(text) - run.first, dict(macros)))
        if line.startswith("#"):
            line = _directive_line(line, run, len(text), macros, every, pragmas)
        text.append(line)
    return Preprocessed(file, "\n".join(text) + "\n", tuple(runs), raw, macros, every, tuple(pragmas), directives=tuple(directives))


def _directive_line(
    line: str, run: Run, text_line: int, macros: dict[str, Macro], every: dict[str, Macro], pragmas: list[ScopPragma]
) -> str:
    """Note a directive of the output; what is left of it for the parser: only pragmas of the user's file."""
    if line.startswith("#define "):
        macro = parse_define(line[8:], system=run.system or run.file == "<built-in>")
        macros[macro.name] = macro
        every[macro.name] = macro
        return ""
    if line.startswith("#undef "):
        macros.pop(line[7:].strip(), None)
        return ""
    if scop := _SCOP.match(line):
        kind: Literal["scop", "endscop"] = "scop" if scop.group(1) == "scop" else "endscop"
        pragmas.append(ScopPragma(kind, text_line, run.file, run.number + text_line - run.first, run.user, dict(macros)))
        return f"#pragma {kind}" if run.user else ""
    return line if run.user and line.startswith("#pragma") else ""


def _unquoted(name: str) -> str:
    """A file name out of a line marker, as Python names files."""
    plain = re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m.group(1), 8)) if len(m.group(1)) == 3 else m.group(1), name)
    return os.fsdecode(plain.encode("latin-1"))


# --- the text given to the compiler -----------------------------------------------------------------------------------------------------


def _without_line_directives(raw: RawSource) -> bytes:
    """The source with its own ``#line`` directives blanked: places are those of the file itself."""
    text = raw.text
    for token in raw.tokens:
        if token.kind == "directive" and is_line_directive(token):
            text = text[: token.start] + re.sub(r"[^\r\n]", " ", token.text) + text[token.end:]
    return text.encode("latin-1")


def is_line_directive(token: RawToken) -> bool:
    words = directive_words(token.text)
    return bool(words) and (words[0] == "line" or words[0].isdigit())


def is_pragma(token: RawToken, *names: str) -> bool:
    """Whether a raw directive is ``#pragma`` (with one of the names as its first word, if any are given)."""
    words = directive_words(token.text)
    return words[:1] == ["pragma"] and (not names or (len(words) > 1 and words[1] in names))


def _with_undefs(text: bytes, raw: RawSource, plain: Preprocessed, regions: Iterable[RegionMacros]) -> bytes:
    """The text with the symbolic macros undefined between the pragmas of their regions; lines keep their numbers."""
    edits: list[tuple[int, str]] = []
    for region in regions:
        if not region.symbolic:
            continue
        macros = next(p.macros for p in plain.pragmas if p.user and p.line == region.scop_line)
        begin, end = pragma_token(raw, "scop", region.scop_line), pragma_token(raw, "endscop", region.endscop_line)
        assert begin is not None
        assert end is not None
        after, before = raw.line_end(begin.end), raw.line_start(end.start)
        undefs = "".join(f"#undef {name}\n" for name in region.symbolic)
        defines = "".join(f"#define {name} {macros[name].body}\n" for name in region.symbolic)
        edits.append((after, f"{undefs}#line {raw.line(begin.end) + 1}\n"))
        edits.append((before, f"{defines}#line {raw.line(end.start)}\n"))
    result = text.decode("latin-1")
    for offset, inserted in sorted(edits, reverse=True):
        result = result[:offset] + inserted + result[offset:]
    return result.encode("latin-1")


# --- regions and their macros -----------------------------------------------------------------------------------------------------------


def pragma_token(raw: RawSource, kind: str, line: int) -> RawToken | None:
    """The directive ``#pragma kind`` of the source whose logical line holds physical line `line`."""
    for token in raw.tokens:
        if token.kind == "directive" and raw.line(token.start) <= line <= raw.line(token.end) and is_pragma(token, kind):
            return token
    return None


def _regions(plain: Preprocessed) -> Iterable[RegionMacros]:
    """The integer macros of each marked region of the user's file. Unbalanced pragmas are left to the parser's remarks."""
    pragmas = [p for p in plain.pragmas if p.user]
    for begin, end in pairwise(pragmas):
        if (begin.kind, end.kind) != ("scop", "endscop"):
            continue
        raw = plain.raw
        first, last = pragma_token(raw, "scop", begin.line), pragma_token(raw, "endscop", end.line)
        if first is None or last is None:
            continue
        tokens = raw.tokens_between(first.end, last.start)
        words = {t.text for t in tokens if t.kind == "word"}
        directives = [t for t in tokens if t.kind == "directive" and not is_pragma(t)]
        conditions = {word for t in directives for word in directive_words(t.text)}
        found = {
            name: value for name, value in symbolic_macros(words, begin.macros).items()
            # A name that is left after expansion also names something else: in the tree the two could not be told apart.
            if not re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", plain.text)
        }
        reached = reachable_words(words, begin.macros)
        # Where the file has #line directives of its own, these expand to what the copy given to the compiler doesn't have.
        unstable = {"__COUNTER__", "__DATE__", "__TIME__", "__TIMESTAMP__"}
        if any(t.kind == "directive" and is_line_directive(t) for t in raw.tokens):
            unstable |= {"__LINE__", "__FILE__"}
        if directives or not _whole_lines(raw, last):
            baked = baked_macros(words | conditions, begin.macros)
            yield RegionMacros(begin.line, end.line, {}, baked, frozenset(reached & unstable))
        else:
            seen = reachable_words(words, begin.macros, stop=found.keys())
            baked = {name: value for name, value in baked_macros(words, begin.macros).items() if name in seen and name not in found}
            yield RegionMacros(begin.line, end.line, found, baked, frozenset(reached & unstable))


def _whole_lines(raw: RawSource, pragma: RawToken) -> bool:
    """Whether nothing but white space stands before a pragma on its line."""
    return not raw.text[raw.line_start(pragma.start): pragma.start].strip()


def _bake(region: RegionMacros) -> RegionMacros:
    return replace(region, symbolic={}, baked={**region.baked, **region.symbolic})


def _judged(plain: Preprocessed, kept: Preprocessed, region: RegionMacros) -> RegionMacros:
    """The region with the symbolic names that occur in its tokens; with none if their expansion isn't what the compiler will see."""
    if not region.symbolic:
        return region
    macros = next(p.macros for p in plain.pragmas if p.user and p.line == region.scop_line)
    tokens = split_tokens(_region_text(kept, region))
    expanded: list[str] = []
    for token in tokens:
        expanded.extend(symbolic_expansion(token, macros) if token in region.symbolic else (token,))
    if expanded != split_tokens(_region_text(plain, region)):
        return _bake(region)
    present = set(tokens)
    return replace(region, symbolic={name: value for name, value in region.symbolic.items() if name in present})


def symbolic_expansion(name: str, macros: Mapping[str, Macro]) -> list[str]:
    """The tokens that a macro made of other object-like macros and constants expands to."""
    tokens: list[str] = []
    for token in split_tokens(macros[name].body):
        tokens.extend(symbolic_expansion(token, macros) if token in macros else (token,))
    return tokens


def _region_text(result: Preprocessed, region: RegionMacros) -> str:
    lines = result.text.split("\n")
    begin = next(p.text_line for p in result.pragmas if p.user and p.kind == "scop" and p.line == region.scop_line)
    end = next(p.text_line for p in result.pragmas if p.user and p.kind == "endscop" and p.line == region.endscop_line)
    return "\n".join(lines[begin + 1: end])
