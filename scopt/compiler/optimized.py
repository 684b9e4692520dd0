"""What scopt makes of one source: from the cache, or by running it,
in a process that may crash or take too long without harm."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import NamedTuple

from scopt.compiler import fingerprint as identity, openmp, runs as processes
from scopt.compiler.cache import Cache, Entry, key_of
from scopt.compiler.command_line import Argument, Command
from scopt.compiler.settings import Settings

# Seconds that one region may take in a build.
BUDGET = "10"
# Of the seconds that scopt has for a file, the part for its regions:
# what is done when the whole run is ended would be lost.
FILE_BUDGET_SHARE = 0.6
# What scopt's own command takes for the preprocessor; other flags go along with the compiler's name.
_KNOWN_WITH_VALUE = ("-D", "-U", "-I", "-include", "-imacros", "-iquote", "-isystem", "-idirafter")
_KNOWN_TO_SCOPT = (*_KNOWN_WITH_VALUE, "-std=", "-ansi", "-nostdinc", "-undef", "-f", "-m")
# What these expand to depends on how the compiler reads the file, which is not as it reads the user's own.
_UNSTABLE = re.compile(rb"__BASE_FILE__|__TIMESTAMP__|__has_embed|#[ \t]*embed|\binclude_next\b")

_LOOP = re.compile(rb"\b(?:for|while)\b")
_NO_CODE = re.compile(rb"""/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_PARALLEL_MAKE = re.compile(r"--jobserver|(?:^|\s)-j(?:\s|$)")


class Source(NamedTuple):
    """One C source of a command. text: its bytes. number: among the command's inputs."""

    argument: Argument
    text: bytes
    number: int

    @property
    def name(self) -> str:
        """As it is named in messages."""
        return "<stdin>" if self.argument.value == "-" else self.argument.value


class Optimized(NamedTuple):
    """text: None where the source stays as it is. pragmas: what scopt was allowed to use. failure: what went wrong, for
    a warning; or empty.

    key: of all that the text was made from; empty where nothing that the compiler says of it may be remembered.
    """

    source: Source
    text: bytes | None
    pragmas: openmp.Pragmas = openmp.Pragmas(False, False)
    remarks: str = ""
    failure: str = ""
    key: str = ""


def has_loops(text: bytes) -> bool:
    """Whether there may be anything to optimize. Quick: most files of some programs have no loops, whatever their
    comments say (terms of licences do), and then nothing else is done."""
    return _LOOP.search(text) is not None and _LOOP.search(_NO_CODE.sub(b" ", text)) is not None


def optimize_source(
    source: Source, command: Command, settings: Settings, cache: Cache, dependencies: Sequence[str] = ()
) -> Optimized:
    """Run scopt on a source, or find what it has made of the same one before. Raises nothing: what goes wrong is the
    result's `failure`.

    dependencies: flags by which the preprocessor also writes down which files the source is made from.
    """
    unchanged = Optimized(source, None)
    if _UNSTABLE.search(source.text):
        return unchanged
    preprocessed = _preprocessed(source, command, settings, dependencies)
    if preprocessed is None:
        return unchanged  # the compiler will say why
    pragmas = openmp.allowed(command, source.text, source.name, preprocessed, settings, cache)
    arguments = [*_scopt_arguments(command, settings), *pragmas.options(), *settings.flags]
    key = _key(source, preprocessed, arguments, settings)
    entry = cache.get(key)
    if entry is None:
        try:
            entry = _run_scopt(source, arguments, settings)
        except processes.TooSlow:
            return unchanged._replace(failure=f"compiled as it is: scopt was ended after {settings.seconds:g} s")
        except OSError as error:
            return unchanged._replace(failure=f"compiled as it is: scopt could not be run: {error}")
        # A header that was edited meanwhile would leave a text of the new one under the key of the old one.
        again = _preprocessed(source, command, settings)
        if again is not None and _key(source, again, arguments, settings) == key:
            cache.put(key, entry)
    return Optimized(source, entry.text, pragmas, entry.remarks, entry.failure, key)


def _preprocessed(
    source: Source, command: Command, settings: Settings, dependencies: Sequence[str] = ()
) -> bytes | None:
    """All text of a source and the macros it sees; None if the compiler refuses it."""
    flags = [word for words in command.for_preprocessor() for word in words]
    words = [*settings.compiler, *flags, *dependencies, "-w", "-E", "-dD", "-x", "c", source.argument.value]
    done = processes.run(words, source=source.text if source.argument.value == "-" else b"")
    return done.output if done.status == 0 else None


def _key(source: Source, preprocessed: bytes, arguments: list[str], settings: Settings) -> str:
    named = identity.of_options(settings.flags)
    words = (os.fsencode(argument) for argument in arguments)
    return key_of(
        (identity.of_program(), *words, b"", *named, b"", os.fsencode(source.name), source.text, preprocessed)
    )


def _scopt_arguments(command: Command, settings: Settings) -> list[str]:
    """The options of scopt: its defaults in a build, and what the compiler is given for the preprocessor."""
    known: list[str] = []
    others: list[str] = []
    for words in command.for_preprocessor():
        taken = words[0] in _KNOWN_WITH_VALUE if len(words) == 2 else words[0].startswith(_KNOWN_TO_SCOPT)
        (known if taken else others).extend(words)
    compiler = shlex.join([*settings.compiler, *others])
    times = f"--budget={BUDGET}", f"--file-budget={settings.seconds * FILE_BUDGET_SHARE:g}"
    for_build = "--autodetect", "--line-directives", "--decide-conditionals"
    return [*for_build, *times, f"--cc={compiler}", *known]


def _run_scopt(source: Source, arguments: list[str], settings: Settings) -> Entry:
    """Run the command `scopt`. Its faults are an entry's failure. Raises processes.TooSlow, OSError."""
    # -P: the user's folder may have modules with the names of Python's.
    # The package lies where this one does, installed or not.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    start = f"import sys; sys.path.append({root!r}); from scopt.cli import main; sys.exit(main())"
    words = [*_jobs(), *arguments, "-o", "-", "--", source.argument.value]
    command = [sys.executable, "-P", "-c", start, *words]
    # Builds run many of these at a time: libraries for linear algebra shall not start threads for each.
    done = processes.run_limited(
        command,
        settings.seconds,
        source=source.text,
        environment={"OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )
    remarks = done.errors.decode("utf-8", "replace")
    if done.status not in (0, 1):
        last = (remarks.strip().splitlines() or ["no message"])[-1]
        return Entry(None, "", f"compiled as it is: scopt failed with status {done.status}: {last}")
    internal = next((line for line in remarks.splitlines() if "[internal." in line), "")
    changed = done.output != source.text and bool(done.output)
    return Entry(
        done.output if changed and not _lacks_library(source, done.output, arguments) else None, remarks, internal
    )


def _jobs() -> list[str]:
    """A make that runs several commands at a time has no processors left for more than one process of each. (Which has
    no part in what comes out.)"""
    return ["--jobs=1"] if _PARALLEL_MAKE.search(os.environ.get("MAKEFLAGS", "")) else []


def _lacks_library(source: Source, text: bytes, arguments: list[str]) -> bool:
    """Whether a text asks for headers, or for memory, of a library that a freestanding program hasn't got."""
    freestanding = "-ffreestanding" in arguments or "-nostdinc" in arguments
    return freestanding and any(
        text.count(word) > source.text.count(word) for word in (b"#include", b"__builtin_malloc(")
    )
