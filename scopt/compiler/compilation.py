"""Compiles what scopt has made of sources: messages, names, lines,
dependencies and outputs are those of the user's files."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scopt.compiler import depfile, openmp, runs as processes
from scopt.compiler.cache import Cache, key_of
from scopt.compiler.command_line import Argument, Command
from scopt.compiler.optimized import Optimized
from scopt.compiler.settings import Settings

# Standards without declarations in `for`, which scopt's loops have, and the ones nearest to them that do.
_NEWER_STANDARDS = {
    "-ansi": "-std=c99",
    "-std=c89": "-std=c99",
    "-std=c90": "-std=c99",
    "-std=iso9899:1990": "-std=c99",
    "-std=iso9899:199409": "-std=c99",
    "-std=gnu89": "-std=gnu99",
    "-std=gnu90": "-std=gnu99",
}
_MARKER = re.compile(rb'^(#(?:line)? \d+ )"(?:<stdin>|/dev/stdin|-)"', re.MULTILINE)


class Failed(Exception):
    """A step that the user's own command hasn't got failed; that command has to say whether it is scopt's fault."""


class Build(NamedTuple):
    """A command with what scopt has made of its sources. folder: for files that nobody else sees."""

    command: Command
    settings: Settings
    cache: Cache
    folder: str

    def run(self, optimized: Mapping[int, Optimized]) -> int:
        """Compile, and link if the command does; the exit status. optimized: by the number of the input.

        The messages come from the compiler's own look at the user's files, this time or before; then the new texts are
        compiled without any. So what is said, and which lines and macros it is said about, doesn't depend on scopt.
        Raises Failed before anything was said.
        """
        messages = self._known_messages(optimized) or self._messages(optimized)
        if self.command.mode != "link":
            for number, argument in enumerate(self.command.inputs):
                if argument.language:
                    self._compile(number, argument, optimized.get(number), "")
        else:
            self._link(optimized)
        _say(messages)
        return 0

    def _known_messages(self, optimized: Mapping[int, Optimized]) -> processes.Finished | None:
        """What the compiler has said of the only source before;
        then its dependencies are in their place. None if that isn't known."""
        key = self._messages_key(optimized)
        known = self.cache.get_packed(key) if key else None
        if known is None or not depfile.put_into_place(self.command, self.folder):
            return None
        output, _, errors = known.partition(b"\0")
        return processes.Finished(0, output, errors)

    def _messages(self, optimized: Mapping[int, Optimized]) -> processes.Finished:
        """Let the compiler read the user's files: it finds errors, gives warnings, and writes the files with
        dependencies, as it always does.

        Where it's known how to compile them without leaving anything else, that is done, since some warnings are only
        given then.
        """
        linking = self.command.mode == "link"
        skipped = [
            a for a in self.command.arguments if (linking and a.for_linker) or a.words[0].startswith("-save-temps")
        ]
        if self._compiles_one() and (not depfile.wanted(self.command) or depfile.place(self.command)):
            skipped += [a for a in self.command.arguments if a.kind in ("output", "dependencies")]
            last = [*depfile.as_wanted(self.command), "-o", os.path.join(self.folder, "as-it-is.o")]
        else:
            last = ["-fsyntax-only"]
        words = [word for a in self.command.arguments if a not in skipped for word in a.words]
        done = processes.run(
            [*self.settings.compiler, *self._color(), *words, *last], source=self._stdin_text(), dependencies=True
        )
        if done.status != 0:
            raise Failed
        key = self._messages_key(optimized)
        if key and b"\0" not in done.output:
            self.cache.put_packed(key, done.output + b"\0" + done.errors)
        return done

    def _color(self) -> list[str]:
        return (
            ["-fdiagnostics-color=always"]
            if _on_terminal() and not any("-color" in flag for flag in self.command.flags)
            else []
        )

    def _compiles_one(self) -> bool:
        return self.command.mode == "object" and len(self.command.inputs) == 1

    def _messages_key(self, optimized: Mapping[int, Optimized]) -> str:
        """For what the compiler says of the only source; empty if nothing may be remembered."""
        made = next(iter(optimized.values()), None)
        return (
            self._key(b"messages", made, *self._color())
            if made is not None and made.key and self._compiles_one()
            else ""
        )

    def _key(self, what: bytes, made: Optimized, *more: str) -> str:
        """For what the compiler makes of a source, or of scopt's text for it, with these flags and some more."""
        flags = self.command.words("flag", "preprocessor", "warning", "language", "mode")
        # With -g the preprocessor writes down where it was run. Messages are in a language.
        language = tuple(
            os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE", "GCC_COLORS")
        )
        words = (*self.settings.compiler, *flags, *more, os.getcwd(), made.source.name, *language)
        return key_of((what, made.key.encode(), *(os.fsencode(word) for word in words)))

    def _compile(self, number: int, argument: Argument, optimized: Optimized | None, output: str) -> None:
        """Compile one input. output: empty for the one that the command asks for or the compiler takes without -o."""
        output = output or self.command.output
        mode = "-S" if self.command.mode == "assembly" else "-c"
        words = [*self.settings.compiler]
        if optimized is None or optimized.text is None:
            language = [] if argument.language == "other" else ["-x", "c"]
            words += [*self.command.words("flag", "preprocessor"), "-w", mode, *language, argument.value]
        else:
            pragmas, text = optimized.pragmas, optimized.text
            flags = openmp.compile_flags(self.command, pragmas, text, self.settings, self.cache)
            words += [*self.command.words("flag"), *flags, *self._standard()]
            path = self._preprocessed(number, argument, optimized, openmp.preprocessor_flags(self.command, flags))
            if self.command.has("-save-temps", "-save-temps=cwd"):
                shutil.copy(path, os.path.basename(path))
            words += ["-w", mode, path]
        words += ["-o", output] if output else []
        done = processes.run(words, source=self._stdin_text())
        if done.status != 0:
            raise Failed
        sys.stdout.buffer.write(done.output)  # -S -o -

    def _link(self, optimized: Mapping[int, Optimized]) -> None:
        """Compile each source to an object of its own, since not all have the same flags,
        and link these in their places."""
        words: list[str] = []
        inputs = 0
        for argument in self.command.arguments:
            if argument.kind == "input":
                number, inputs = inputs, inputs + 1
                if argument.language:
                    path = self._path(number, argument, ".o")
                    self._compile(number, argument, optimized.get(number), path)
                    words.append(path)
                    continue
            if argument.kind not in ("language", "dependencies", "preprocessor"):
                words += argument.words
        flags = openmp.link_flags(self.command, self.settings, self.cache)
        done = processes.run([*self.settings.compiler, *words, *flags])
        if done.status != 0:
            raise Failed
        _say(done)

    def _preprocessed(self, number: int, argument: Argument, made: Optimized, more: Sequence[str]) -> str:
        """A file with the new text as the preprocessor leaves it, as if it stood in the user's file; its path.

        The stem is that of the user's file. more: flags of the preprocessor that stand before the user's.
        """
        text = made.text or b""
        # What the key is made from has all headers but those that only scopt's text includes.
        known = text.count(b"#include") <= made.source.text.count(b"#include")
        key = self._key(b"preprocessed", made, *more) if made.key and known else ""
        result = self.cache.get_packed(key) if key else None
        if result is None:
            result = self._run_preprocessor(argument, text, more)
            if made.pragmas.alone:
                from scopt.frontend.text.openmp_lines import without_headers_openmp  # one source in many needs it

                result = without_headers_openmp(result)
            if key:
                self.cache.put_packed(key, result)
        path = self._path(number, argument, ".i")
        with open(path, "wb") as file:
            file.write(result)
        return path

    def _run_preprocessor(self, argument: Argument, text: bytes, more: Sequence[str]) -> bytes:
        name = "<stdin>" if argument.value == "-" else argument.value
        marker = b'# 1 "%s"\n' % os.fsencode(name).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        folder = os.path.dirname(argument.value)
        # From "-" the compiler looks for "…" in the current folder, as for a file in it; from /dev/stdin in /dev, where
        # no headers are.
        stdin = ["-iquote", folder, "-x", "c", "/dev/stdin"] if folder else ["-x", "c", "-"]
        flags = [*more, *(word for words in self.command.for_preprocessor(debugging=True) for word in words)]
        done = processes.run(
            [*self.settings.compiler, "-w", "-E", *stdin[:-3], *flags, *stdin[-3:]], source=marker + text
        )
        if done.status != 0:
            raise Failed
        return _MARKER.sub(lambda found: found[1] + marker[4:-1], done.output)

    def _path(self, number: int, argument: Argument, suffix: str) -> str:
        """A place for a file of an input, in a folder of its own: outputs are named by the stem."""
        folder = os.path.join(self.folder, str(number))
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, os.path.splitext(os.path.basename(argument.value))[0] + suffix)

    def _standard(self) -> list[str]:
        """A standard in which loops may declare their iterators,
        with the older one's inline functions and implicit declarations."""
        given = next((flag for flag in reversed(self.command.flags) if flag.startswith("-std=") or flag == "-ansi"), "")
        if given not in _NEWER_STANDARDS:
            return []
        return [_NEWER_STANDARDS[given], "-fgnu89-inline", "-Wno-implicit-function-declaration", "-Wno-implicit-int"]

    def _stdin_text(self) -> bytes | None:
        """The source that came from stdin, if one did: it can be read only once."""
        if not any(a.value == "-" for a in self.command.inputs):
            return None
        with open(os.path.join(self.folder, "stdin"), "rb") as file:
            return file.read()


def _on_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _say(done: processes.Finished) -> None:
    sys.stdout.buffer.write(done.output)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(done.errors)
    sys.stderr.buffer.flush()
