"""From a kernel and a configuration to a program: transformed if the configuration says so,
compiled for the check or for timing."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from scopt.polybench.bench_results import Failure
from scopt.polybench.catalog import Kernel, own_suite
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Configuration

CHECK_FLAGS = (
    "-O2",
    "-ffp-contract=off",
    # Folded at compile time, these can differ in the last bit from the library's result; which calls are folded depends
    # on the loops.
    *(f"-fno-builtin-{function}{suffix}" for function in ("exp", "pow") for suffix in ("", "f")),
    "-DPOLYBENCH_DUMP_ARRAYS",
    "-include",
    str(own_suite() / "exact.h"),
)
MARK = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(?:end)?scop\b.*$", re.MULTILINE)
TIMED_FLAGS = ("-O3", "-march=native", "-DPOLYBENCH_TIME")


class Built(Struct, frozen=True):
    """A program. transform_seconds: None if nothing was transformed. unchanged: the transformed source is the original.

    messages: what the transformation printed on stderr. text: the source that was compiled.
    """

    program: Path
    compile_seconds: float
    transform_seconds: float | None = None
    unchanged: bool = False
    messages: str = ""
    text: bytes = b""


class BuildError(Exception):
    """A program couldn't be built."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.stage}: {failure.reason}")
        self.failure = failure


def build(
    kernel: Kernel,
    configuration: Configuration,
    defines: Sequence[str],
    flags: Sequence[str],
    folder: Path,
    timeout: float,
) -> Built:
    """Build `kernel` in the folder `folder`, which is made and belongs to this build alone (Pluto leaves scratch
    files).

    defines: -D flags that choose the sizes; transformation and compiler both get them. flags: CHECK_FLAGS or
      TIMED_FLAGS.
    timeout: seconds for the transformation, and again for the compiler. Raises BuildError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options = (*(f"-I{include}" for include in kernel.includes), *defines)
    given = _unmarked(kernel.source, folder) if configuration.unmarked else kernel.source
    source, seconds, messages = given, None, ""
    if configuration.transform:
        source = folder / f"{kernel.name}.c"
        seconds, messages = transform(kernel, configuration, options, (given, source), timeout)
    program = folder / f"{kernel.name}.exe"
    compiled = run(compile_command(kernel, configuration, source, (*flags, *options), program), timeout, cwd=folder)
    if not compiled.ok:
        raise BuildError(Failure("compile", compiled.reason()))
    text = source.read_bytes()
    unchanged = source != given and text == given.read_bytes()
    return Built(program, compiled.seconds, seconds, unchanged, messages, text)


def compile_command(
    kernel: Kernel, configuration: Configuration, source: Path, options: Sequence[str], program: Path
) -> tuple[str, ...]:
    """The compiler's command line; the configuration's flags come last, since libraries are among them."""
    sources = (str(source), str(kernel.harness))
    return (configuration.compiler.path, "-w", *options, *sources, "-o", str(program), *configuration.flags, "-lm")


def transform_command(
    configuration: Configuration, source: Path, output: Path, options: Sequence[str]
) -> tuple[str, ...]:
    """The command line of `configuration.transform` with its placeholders filled in."""
    values = {"{source}": str(source), "{output}": str(output), "{cc}": configuration.compiler.path}
    words: list[str] = []
    for word in configuration.transform:
        words.extend(options if word == "{flags}" else (values.get(word, word),))
    return tuple(words)


def _unmarked(source: Path, folder: Path) -> Path:
    """A copy of the source in `folder` with empty lines for the marks of its regions."""
    copy = folder / "unmarked" / source.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(MARK.sub(b"", source.read_bytes()))
    return copy


def transform(
    kernel: Kernel, configuration: Configuration, options: Sequence[str], paths: tuple[Path, Path], timeout: float
) -> tuple[float, str]:
    """Write the transformed source; seconds taken and messages. paths: of the source given and of the one written.
    Raises BuildError."""
    source, output = paths
    environment = {}
    if "{flags}" not in configuration.transform:
        environment["CPATH"] = ":".join(str(include) for include in kernel.includes)
    if configuration.pythonpath:
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, (configuration.pythonpath, os.environ.get("PYTHONPATH")))
        )
    output.unlink(missing_ok=True)
    command = transform_command(configuration, source, output, options)
    done = run(command, timeout, cwd=output.parent, environment=environment)
    if not done.ok:
        raise BuildError(Failure("transform", done.reason()))
    if not output.is_file():
        raise BuildError(Failure("transform", "it ended well but wrote no output"))
    return done.seconds, done.errors
