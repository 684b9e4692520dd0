"""Runs the compiler's preprocessor, and reads what comes back: text, places of lines, definitions, pragmas."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from typing import Literal

from scopt.diagnostics import InputError
from scopt.frontend.text.macros import Macro, parse_define
from scopt.frontend.text.preprocessed import Preprocessed, Run, ScopPragma, ScoptPragma
from scopt.frontend.text.tokens import RawSource
from scopt.options import Options

_MARKER = re.compile(r'#(?:line)?[ \t]+(\d+)(?:[ \t]+"((?:[^"\\]|\\.)*)"((?:[ \t]+\d)*))?')
_SCOP = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)\b")
_SCOPT = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+scopt\b")
_OPENMP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b.*", re.MULTILINE)
# What a header may say of the program's variables.
_THREADPRIVATE = re.compile(r"#[ \t]*pragma[ \t]+omp[ \t]+threadprivate\b")

# --- running the compiler ---------------------------------------------------------------------------------------------


def run_preprocessor(text: bytes, file: str, raw: RawSource, options: Options) -> Preprocessed:
    """What becomes of a text that the compiler takes for `file`; raw: that file. Raises InputError with its
    message."""
    result = _run_compiler(text, file, options, ["-E", "-dD"])
    if result.returncode:
        raise InputError(_message(result, file))
    output = result.stdout.decode("latin-1")
    return _read(_OPENMP.sub("", output) if options.ignore_openmp else output, file, raw)


def preprocessed_text(text: bytes, file: str, options: Options) -> str:
    """What the preprocessor makes of a text that it takes for `file`. Raises InputError with its message."""
    result = _run_compiler(text, file, options, ["-E", "-w"])
    if result.returncode:
        raise InputError(_message(result, file))
    return result.stdout.decode("latin-1")


def check_syntax(source: bytes, file: str, options: Options) -> str:
    """The compiler's own error messages for the file, '' if it accepts it."""
    result = _run_compiler(source, file, options, ["-fsyntax-only", "-w"])
    return _message(result, file) if result.returncode else ""


def _run_compiler(text: bytes, file: str, options: Options, mode: list[str]) -> subprocess.CompletedProcess[bytes]:
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
        is_directive = line[:1] == "#"
        if is_directive and (marker := _MARKER.match(line)):
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
        if is_directive:
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
    """Note a directive of the output; what is left of it for the parser: only pragmas of the user's file, and what a
    header says of variables."""
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
    kept = line.startswith("#pragma") if run.user else _THREADPRIVATE.match(line) is not None
    return line if kept else ""


def _unquoted(name: str) -> str:
    """A file name out of a line marker, as Python names files."""
    plain = re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m.group(1), 8)) if len(m.group(1)) == 3 else m.group(1), name)
    return os.fsdecode(plain.encode("latin-1"))
