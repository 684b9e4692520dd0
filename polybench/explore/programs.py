"""What is explored: a suite's kernel or a plain C file,
as a bundle of texts that can be built in any folder, on any machine."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from scopt.diagnostics import InputError
from scopt.polybench.builds import CHECK_FLAGS, TIMED_FLAGS
from scopt.polybench.catalog import Kernel
from scopt.polybench.explore.records import ProgramRecord, digest
from scopt.polybench.processes import Finished, run
from scopt.polybench.toolchains import Compiler

# What the preprocessor has to know of a plain file's flags.
_FOR_PREPROCESSOR = ("-D", "-U", "-std=", "-include", "-m", "-f")
_WITH_VALUE = ("-D", "-U", "-include")
# Seconds for a compiler.
COMPILE_LIMIT = 300.0


class Program(Struct, frozen=True):
    """A program with a marked region, complete but for system headers. All paths are relative to the folder that it is
    unpacked in.

    name: of the kernel, or the file's name without ``.c``. shown: what locations call the source. files: path and
      content of each, sorted.
    source: the file with the region. harness: compiled and linked with it; "" for a plain file. includes: folders for
      -I.
    size, check_size: data sets, and defines, check_defines: the flags that choose them; none for a plain file.
    flags: the user's, for preprocessor and compiler (of a plain file).
    """

    name: str
    shown: str
    files: tuple[tuple[str, bytes], ...]
    source: str
    harness: str = ""
    includes: tuple[str, ...] = ()
    size: str = ""
    check_size: str = ""
    defines: tuple[str, ...] = ()
    check_defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def is_kernel(self) -> bool:
        """Whether it dumps its arrays and prints its kernel's time, as PolyBench's programs do."""
        return bool(self.harness)

    @property
    def text(self) -> bytes:
        """The source's."""
        return dict(self.files)[self.source]

    def record(self, threads: int) -> ProgramRecord:
        """What the database calls it."""
        parts: list[str | bytes] = [part for path, data in self.files for part in (os.path.basename(path), data)]
        return ProgramRecord(
            self.name,
            digest(*parts, *self.defines, *self.check_defines, *self.flags),
            self.size,
            self.check_size,
            threads,
        )


def kernel_program(kernel: Kernel, size: str, check_size: str, cc: Compiler) -> Program:
    """A kernel with its suite's harness and headers. Raises InputError."""
    defines, check_defines = (f"-D{size}_DATASET",), (f"-D{check_size}_DATASET",)
    folders = tuple(Path(os.path.abspath(include)) for include in kernel.includes)
    command = (*(f"-I{folder}" for folder in folders), *defines)
    needed = _needed(cc, (kernel.source, kernel.harness), command)
    root = _root((*needed, *folders))
    files, names = _relative(needed, root), tuple(os.path.relpath(folder, root) for folder in folders)
    harness = os.path.relpath(os.path.abspath(kernel.harness), root)
    source = os.path.relpath(os.path.abspath(kernel.source), root)
    return Program(
        kernel.name, kernel.source.name, files, source, harness, names, size, check_size, defines, check_defines
    )


def file_program(path: Path, flags: Sequence[str], cc: Compiler) -> Program:
    """A plain file with a main. flags: for the compiler, those for the preprocessor among them. Raises InputError."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    needed = _needed(cc, (path,), flags)
    folders, others = _split_includes(flags)
    root = _root((*needed, *folders))
    names = tuple(os.path.relpath(folder, root) for folder in folders)
    source = os.path.relpath(os.path.abspath(path), root)
    return Program(path.stem, path.name, _relative(needed, root), source, includes=names, flags=others)


def unpack(program: Program, folder: Path) -> Path:
    """Write the files below `folder`, which is made; where the source is."""
    for name, data in program.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for include in program.includes:
        (folder / include).mkdir(parents=True, exist_ok=True)
    return folder / program.source


def preprocessor_flags(program: Program, folder: Path) -> tuple[str, ...]:
    """Those that scopt gets, for the timed size; folder: that the program was unpacked in."""
    return (*_include_flags(program, folder), *program.defines, *_for_preprocessor(program.flags))


def compile_program(
    program: Program, cc: Compiler, folder: Path, output: Path, *, check: bool, flags: Sequence[str] = ()
) -> Finished:
    """Compile what lies unpacked in `folder` into the file `output`, for the check or for timing.
    flags: last on the command line."""
    chosen = _flags(program, check=check)
    size = program.check_defines if check else program.defines
    sources = [folder / program.source, *([folder / program.harness] if program.harness else [])]
    options = (*chosen, *_include_flags(program, folder), *size, *program.flags)
    # Libraries count behind the sources, macros in front of them: the user's flags stand on both sides.
    return run(
        [cc.path, "-w", *options, *sources, "-o", output, *flags, *program.flags, "-lm"], COMPILE_LIMIT, cwd=folder
    )


def timed_flags(program: Program) -> str:
    """The flags of the timed programs, for the database."""
    return shlex.join(_flags(program, check=False))


def _flags(program: Program, *, check: bool) -> tuple[str, ...]:
    if not check:
        return TIMED_FLAGS
    # A plain file is compared by what it prints, as it prints it.
    return CHECK_FLAGS if program.is_kernel else tuple(flag for flag in CHECK_FLAGS if flag.startswith(("-O", "-f")))


def _include_flags(program: Program, folder: Path) -> tuple[str, ...]:
    return tuple(f"-I{folder / include}" for include in program.includes)


def _for_preprocessor(flags: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    words = iter(flags)
    for word in words:
        if word in _WITH_VALUE:
            found += [word, next(words, "")]
        elif word.startswith(_FOR_PREPROCESSOR) and word != "-fopenmp":
            found.append(word)
    return tuple(found)


def _split_includes(flags: Sequence[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The folders of -I, -iquote and -isystem; and the other flags,
    their files as absolute paths, since programs are compiled elsewhere."""
    folders: list[Path] = []
    others: list[str] = []
    words = iter(flags)
    for word in words:
        option = next((option for option in ("-I", "-iquote", "-isystem") if word.startswith(option)), None)
        if option is not None:
            folders.append(Path(os.path.abspath(word.removeprefix(option) or next(words, "."))))
        else:
            others.append(os.path.abspath(word) if not word.startswith("-") and os.path.exists(word) else word)
    return tuple(dict.fromkeys(folders)), tuple(others)


def _needed(cc: Compiler, sources: Sequence[Path], flags: Sequence[str]) -> tuple[Path, ...]:
    """The sources and all headers that they include, but for the system's.
    Raises InputError if they can't be preprocessed."""
    found: dict[Path, None] = {}
    for source in sources:
        listed = run([cc.path, "-MM", "-MT", "x", *flags, os.path.abspath(source)], COMPILE_LIMIT)
        if not listed.ok:
            raise InputError(f"{source}: {cc.name} can't preprocess it: {listed.reason()}")
        rule = listed.output.replace("\\\n", " ").partition(":")[2]
        found |= {Path(os.path.abspath(word)): None for word in shlex.split(rule)}
    return tuple(sorted(found))


def _root(paths: Sequence[Path]) -> Path:
    common = Path(os.path.commonpath(paths))
    return common if common.is_dir() else common.parent


def _relative(paths: Sequence[Path], root: Path) -> tuple[tuple[str, bytes], ...]:
    return tuple((os.path.relpath(path, root), path.read_bytes()) for path in paths)
