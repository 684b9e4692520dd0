"""What becomes of one command: straight on to the compiler, or through scopt. Whatever goes wrong with scopt, the
user's own command is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NamedTuple, NoReturn

from scopt.compiler import command_line as arguments
from scopt.compiler.command_line import Argument, Command
from scopt.compiler.settings import Settings, SettingsError, read_settings
from scopt.compiler.straight import replace_process

INTERRUPTED, NO_COMPILER = 130, 127


class _Request(NamedTuple):
    """words: the compiler's arguments as given. command: the same, understood."""

    settings: Settings
    words: tuple[str, ...]
    command: Command

    @property
    def original(self) -> list[str]:
        """The command that the user would have run without scopt."""
        return [*self.settings.compiler, *self.words]


def main(argv: Sequence[str] | None = None) -> int:
    """Stand in for the C compiler, with the given arguments (without the program's name; default: the process's);
    returns the exit status."""
    try:
        settings, words = read_settings(sys.argv[1:] if argv is None else argv, os.environ, sys.argv[0])
        request = _Request(settings, tuple(words), arguments.read_command(words))
        return _run(request)
    except SettingsError as error:
        print(f"scoptcc: error: {error}", file=sys.stderr)
        return NO_COMPILER
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(request: _Request) -> int:
    command, settings = request.command, request.settings
    if settings.disabled or command.straight or not command.inputs:
        return _straight(request)
    if not command.sources:
        return _straight(request) if command.mode != "link" else _link(request)
    if any(a.value == "-" for a in command.inputs):
        return _with_stdin(request)
    texts = _texts_with_loops(command.inputs)
    if not texts and not _may_link_objects(command):
        return _straight(request)
    return _build(request, texts, None)


def _straight(request: _Request) -> int:
    """Become the compiler."""
    return replace_process(request.original)


def _with_stdin(request: _Request) -> int:
    """A command whose source comes from stdin, which can be read once."""
    if [a.language for a in request.command.inputs] != ["c"]:
        return _straight(request)
    text = sys.stdin.buffer.read()
    return _build(request, {0: text}, text)


def _texts_with_loops(inputs: Sequence[Argument]) -> dict[int, bytes]:
    """The C sources that there may be something to do for, by their numbers. One that can't be read is the compiler's
    to complain about."""
    texts: dict[int, bytes] = {}
    for number, argument in enumerate(inputs):
        if argument.language != "c":
            continue
        try:
            with open(argument.value, "rb") as file:
                text = file.read()
        except OSError:
            return {}
        if b"for" in text or b"while" in text:
            texts[number] = text
    return texts


def _may_link_objects(command: Command) -> bool:
    """Whether a command that compiles also links what scoptcc may have made before."""
    return command.mode == "link" and any(
        a.name == "-L" or (a.kind == "input" and not a.language) for a in command.arguments
    )


def _link(request: _Request) -> int:
    """Objects alone: with the run time that they may need; if that doesn't work, as the user has it."""
    from scopt.compiler import openmp, runs as processes
    from scopt.compiler.cache import Cache

    cache = Cache(request.settings.cache, request.settings.cache_size)
    flags = openmp.link_flags(request.command, request.settings, cache)
    if not flags:
        return _straight(request)
    done = processes.run([*request.original, *flags])
    if done.status != 0:
        return _straight(request)
    sys.stdout.buffer.write(done.output)
    sys.stderr.buffer.write(done.errors)
    return 0


def _build(request: _Request, texts: dict[int, bytes], stdin: bytes | None) -> int:
    """Optimize, compile and link; or the user's own command, and a warning if that works where scopt's text didn't."""
    import signal
    import tempfile

    from scopt.compiler import runs as processes

    # Temporary files go, and processes end, also where make ends this one.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    warnings: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="scoptcc-") as folder:
            status = _attempt(request, texts, stdin, folder, warnings)
    except Exception as error:
        status = None
        warnings.append(f"compiled without scopt: internal error: {type(error).__name__}: {error}")
    if status is None:
        if stdin is None and not warnings:
            return _straight(request)
        status = processes.run_visible(request.original, source=stdin)
    if status == 0:
        for warning in warnings:
            sys.stderr.write(f"scoptcc: warning: {warning}\n")
    return status


def _attempt(
    request: _Request, texts: dict[int, bytes], stdin: bytes | None, folder: str, warnings: list[str]
) -> int | None:
    """The exit status of a build with scopt's texts; None if the user's own command is to be run. warnings: what to say
    if that one works."""
    from scopt.compiler import depfile, openmp
    from scopt.compiler.cache import Cache
    from scopt.compiler.compilation import Build, Failed
    from scopt.compiler.optimized import Source, has_loops, optimize_source
    from scopt.compiler.remarks import report

    command, settings = request.command, request.settings
    cache = Cache(settings.cache, settings.cache_size)
    if stdin is not None:
        with open(os.path.join(folder, "stdin"), "wb") as file:
            file.write(stdin)
    sources = [Source(command.inputs[number], text, number) for number, text in texts.items() if has_loops(text)]
    dependencies = depfile.flags(command, folder)
    results = [optimize_source(source, command, settings, cache, dependencies) for source in sources]
    report(results, settings)
    warnings += [f"{result.source.name}: {result.failure}" for result in results if result.failure]
    optimized = {result.source.number: result for result in results if result.text is not None}
    if not optimized and not (_may_link_objects(command) and openmp.link_flags(command, settings, cache)):
        return None
    try:
        return Build(command, settings, cache, folder).run(optimized)
    except Failed:
        names = [result.source.name for result in optimized.values()]
        warnings += [
            f"{name}: compiled without scopt, whose text the compiler refuses (please report this)" for name in names
        ]
        return None


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
