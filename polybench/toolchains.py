"""The compilers and optimizers of a benchmark run: found on the PATH, tried out, and put together as configurations."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

import scopt
from scopt.diagnostics import InputError
from scopt.polybench.processes import run

PEERS = ("polly", "graphite", "pluto")
# Of results whose sums are computed in another order, relatively: durbin, which is ill-conditioned, loses six digits or
# more at larger sizes.
TOLERANCE = 1e-6
POLLY = ("-mllvm", "-polly", "-mllvm", "-polly-parallel", "-mllvm", "-polly-omp-backend=GNU", "-lgomp")


class Compiler(Struct, frozen=True):
    """name: as the user calls it. path: the executable. clang: whether it takes clang's flags.
    version: its first line of --version."""

    name: str
    path: str
    clang: bool
    version: str


class Configuration(Struct, frozen=True):
    """A column of the table: how a kernel becomes a program.

    name: unique. compiler, flags: what compiles it, and its flags beside the level of optimization.
    transform: a source-to-source command that runs first, or (). In its words ``{source}``, ``{output}`` and ``{cc}``
    are replaced; a word ``{flags}`` becomes the -I and -D flags (a command without it gets the folders in CPATH).
    pythonpath: a folder that the command needs on its PYTHONPATH, or "".
    tolerance: by how much, relatively, results may differ from the original's; 0: not at all.
    unmarked: whether the command gets the source without its ``#pragma scop`` and ``#pragma endscop``.
    leaf: whether it draws the decisions; it isn't timed where it makes the text of another one.
    """

    name: str
    compiler: Compiler
    flags: tuple[str, ...] = ()
    transform: tuple[str, ...] = ()
    pythonpath: str = ""
    tolerance: float = 0.0
    unmarked: bool = False
    leaf: bool = False


def find_compiler(name: str) -> Compiler:
    """The compiler called `name`: a path, a command, or ``gcc`` / ``clang`` for the newest with a version in its name.

    Raises InputError if there is none, or it isn't a C compiler.
    """
    path = shutil.which(name) or (_newest_version(name) if name in ("gcc", "clang") else None)
    if path is None:
        raise InputError(f"compiler '{name}' is not on the PATH")
    version = run([path, "--version"], timeout=60)
    if not version.ok:
        raise InputError(f"compiler '{name}': {path} --version fails: {version.reason()}")
    first = version.output.strip().splitlines()[0] if version.output.strip() else ""
    return Compiler(name, path, "clang" in version.output.lower(), first)


def scopt_command(scheduler: str, extra: Sequence[str], command: Sequence[str] = ()) -> tuple[str, ...]:
    """The command line of scopt for `Configuration.transform`;
    `command` in place of this Python's ``python -m scopt``."""
    chosen = ("--scheduler", scheduler) if scheduler else ()
    program = tuple(command) or (sys.executable, "-m", "scopt")
    return (*program, "{source}", "-o", "{output}", "--cc", "{cc}", "{flags}", *chosen, *extra)


def own_configurations(
    compilers: Sequence[Compiler],
    schedulers: Sequence[str],
    extra: Sequence[str],
    command: Sequence[str] = (),
    *,
    reassociate: bool = False,
    autodetect: bool = False,
) -> tuple[Configuration, ...]:
    """The originals and scopt's output, for each compiler; the first is the baseline.

    schedulers: names for --scheduler, or () for scopt's default. extra: more flags for scopt. command: as in
      `scopt_command`.
    reassociate: also with --reassociate, checked to `TOLERANCE`.
    autodetect: also with --autodetect, on sources without marks.
    """
    root = "" if command else str(Path(scopt.__file__).resolve().parent.parent)
    originals = [Configuration(compiler.name, compiler) for compiler in compilers]
    ours = [
        Configuration(
            _scopt_name(compiler, scheduler, compilers),
            compiler,
            ("-fopenmp",),
            scopt_command(scheduler, extra, command),
            root,
        )
        for compiler in compilers
        for scheduler in schedulers or ("",)
    ]
    detecting = [_autodetecting(one) for one in ours if autodetect]
    return (*originals, *ours, *detecting, *(_reassociated(one) for one in (*ours, *detecting) if reassociate))


def _autodetecting(configuration: Configuration) -> Configuration:
    name, transform = f"{configuration.name}-autodetect", (*configuration.transform, "--autodetect")
    return replace(configuration, name=name, transform=transform, unmarked=True)


def _reassociated(configuration: Configuration) -> Configuration:
    name, transform = f"{configuration.name}-reassociate", (*configuration.transform, "--reassociate")
    return replace(configuration, name=name, transform=transform, tolerance=TOLERANCE)


def find_peer(name: str, compilers: Sequence[Compiler], threads: int) -> Configuration | str:
    """The configuration of the peer `name` (one of `PEERS`), or why it can't be used here, in one line.

    Polly and Graphite take the first of `compilers` that is a clang or a gcc, else the one on the PATH; Pluto the
    first.
    """
    if name == "pluto":
        polycc = shutil.which("polycc")
        if polycc is None:
            return "pluto: polycc is not on the PATH"
        return Configuration(
            name, compilers[0], ("-fopenmp",), (polycc, "{source}", "--tile", "--parallel", "-o", "{output}")
        )
    clang = name == "polly"
    compiler = next((compiler for compiler in compilers if compiler.clang == clang), None)
    try:
        compiler = compiler or find_compiler("clang" if clang else "gcc")
    except InputError as error:
        return f"{name}: {error}"
    flags = POLLY if clang else ("-floop-nest-optimize", f"-ftree-parallelize-loops={threads}")
    reason = _rejects(compiler, flags)
    return f"{name}: {compiler.path} can't: {reason}" if reason else Configuration(name, compiler, flags)


def _scopt_name(compiler: Compiler, scheduler: str, compilers: Sequence[Compiler]) -> str:
    name = f"scopt:{scheduler}" if scheduler else "scopt"
    return name if len(compilers) == 1 else f"{name}+{compiler.name}"


def _rejects(compiler: Compiler, flags: Sequence[str]) -> str:
    """What the compiler says against `flags` when it builds a loop with them; "" if it builds it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(
            "int main(int n, char **v) { int s = 0; for (int i = 0; i < n; i++) s += v[i] != 0; return s < 0; }\n"
        )
        built = run([compiler.path, "-O2", source, *flags, "-o", Path(folder, "probe")], timeout=60)
    return "" if built.ok else built.reason()


def _newest_version(name: str) -> str | None:
    """The executable ``name-N`` on the PATH with the largest N."""
    pattern = re.compile(re.escape(name) + r"-(\d+)")
    found: dict[int, str] = {}
    for folder in os.get_exec_path():
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        for entry in entries:
            match = pattern.fullmatch(entry)
            path = os.path.join(folder, entry)
            if match and os.access(path, os.X_OK):
                found.setdefault(int(match[1]), path)
    return found[max(found)] if found else None
