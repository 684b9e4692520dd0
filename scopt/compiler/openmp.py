"""How much of OpenMP a compile may use: what the user's flags and pragmas leave open, and whether the compiler can link
it at all."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from scopt.compiler import runs as processes
from scopt.compiler.cache import Cache, key_of
from scopt.compiler.command_line import Command
from scopt.compiler.settings import Settings

_PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+omp\b", re.MULTILINE)
_PARALLEL = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+parallel\b", re.MULTILINE)
_OPENMP_FLAGS = ("-fopenmp", "-fopenmp=libomp", "-fopenmp=libgomp", "-fopenmp=libiomp5")
# What the linker is told where a program brings its own run time.
_NO_LIBRARIES = ("-nostdlib", "-nodefaultlibs", "-r", "-ffreestanding", "-fno-openmp", "-nolibc")
# What scopt's text asks for besides OpenMP's own macro, where it tells threads apart.
_THREADS = "SCOPT_THREADS"
_PROGRAM = b"""int main(void)
{
  int count = 0;
#pragma omp parallel for reduction(+: count)
  for (int i = 0; i < 9; i++) count++;
  return count;
}
"""


class Pragmas(NamedTuple):
    """What scopt may emit. threads: ``omp parallel for``; simd: ``omp simd``. alone: the user's own pragmas have to go,
    which would be turned on with them."""

    threads: bool
    simd: bool
    alone: bool = False

    def options(self) -> list[str]:
        """As options of scopt."""
        denied = ["--no-parallel"] * (not self.threads) + ["--no-simd"] * (not self.simd)
        return denied + ["--ignore-openmp"] * self.alone


def given(command: Command) -> bool:
    """Whether the user's own flags turn OpenMP on."""
    return _given_to_driver(command) or bool(_given_past_driver(command))


def _given_to_driver(command: Command) -> bool:
    return command.last(*_OPENMP_FLAGS, "-fno-openmp") in _OPENMP_FLAGS


def _given_past_driver(command: Command) -> str:
    """The flag that the compiler proper gets although its driver may not know it; empty if there is none."""
    return next((a.value for a in command.arguments if a.name == "-Xpreprocessor" and a.value in _OPENMP_FLAGS), "")


def allowed(
    command: Command, source: bytes, name: str, preprocessed: bytes, settings: Settings, cache: Cache
) -> Pragmas:
    """What scopt may emit for a source.

    name: of the source in line markers. preprocessed: the source, with pragmas. Where it has pragmas of OpenMP that the
      user hasn't turned on, they have to stay off: those that macros make can't be left out, so that ours stay off,
      too.
    """
    if command.has("-fsanitize=thread"):
        return Pragmas(False, given(command))  # the run time's own synchronization isn't seen by the sanitizer
    if given(command):
        return Pragmas(True, True)
    simd_given = command.last("-fopenmp-simd", "-fno-openmp-simd") == "-fopenmp-simd"
    own = _PRAGMA.search(preprocessed) is not None
    if command.has("-fno-openmp", "-fno-openmp-simd") or (own and simd_given):
        return Pragmas(False, simd_given)
    if own:
        from scopt.frontend.text.openmp_lines import can_be_left_out  # one source in many needs it

        if not can_be_left_out(source, name, preprocessed):
            return Pragmas(False, False)
    return Pragmas(links_seen(command, settings) and works(command, settings, cache), True, own)


def links_seen(command: Command, settings: Settings) -> bool:
    """Whether whatever is made of this command's objects will be linked
    with OpenMP's run time, as far as can be known."""
    if settings.openmp is not None:
        return settings.openmp
    return not settings.launched and not command.has("-ffreestanding", "-fno-openmp")


def compile_flags(command: Command, pragmas: Pragmas, text: bytes, settings: Settings, cache: Cache) -> list[str]:
    """The flags that a preprocessed text needs for the user's pragmas and for those that scopt has put into it.

    pragmas: what scopt was allowed to put there.
    """
    if _given_to_driver(command):
        return []
    if flag := _given_past_driver(command):
        # What is for the preprocessor reaches the compiler proper with texts that aren't preprocessed yet.
        return [flag] if works(command, settings, cache) else ["-Xclang", flag]
    if not _PRAGMA.search(text):
        return []
    if pragmas.threads and _PARALLEL.search(text):
        return ["-fopenmp"]
    return ["-fopenmp-simd"] if pragmas.simd else []


def preprocessor_flags(command: Command, flags: Sequence[str]) -> list[str]:
    """The flags with which the preprocessor, run alone, reads a text that is then compiled with `flags`.

    They have to stand before the user's own. Macros in clauses are expanded (GCC leaves them alone otherwise, and so
    the parser would meet them), and scopt's text knows that there will be threads. The user's code mustn't know:
    OpenMP's own macro stays undefined, and the flag goes past the driver, which would define ``_REENTRANT``.

    flags: what `compile_flags` gave.
    """
    if given(command):
        return [f"-D{_THREADS}"]
    on = ["-U_OPENMP", *(word for flag in flags for word in ("-Xpreprocessor", flag))] if flags else []
    return [*on, *([f"-D{_THREADS}"] if "-fopenmp" in flags else [])]


def link_flags(command: Command, settings: Settings, cache: Cache) -> list[str]:
    """The flags that a link needs for objects that scoptcc has made, at any time;
    it can't be seen which ones do need them."""
    if (
        given(command)
        or command.has(*_NO_LIBRARIES)
        or "--no-parallel" in settings.flags
        or not links_seen(command, settings)
    ):
        return []
    return ["-fopenmp"] if works(command, settings, cache) else []


def works(command: Command, settings: Settings, cache: Cache) -> bool:
    """Whether the compiler can compile and link OpenMP for this target. Asked once for each compiler and target, then
    known from the cache."""
    compiler = settings.compiler[0]
    target = [
        word
        for a in command.arguments
        if a.kind == "flag"
        and (a.name in ("-target", "--sysroot", "-isysroot", "-B", "-arch", "-gcc-toolchain") or _is_target(a.words[0]))
        for word in a.words
    ]
    try:
        status = os.stat(compiler)
    except OSError:
        return False
    identity = (*settings.compiler, os.path.realpath(compiler), str(status.st_mtime_ns), str(status.st_size), *target)
    key = key_of((b"openmp", *(os.fsencode(part) for part in identity)))
    known = cache.get_bytes(key)
    if known is None:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="scoptcc-") as folder:
            program = os.path.join(folder, "program")
            done = processes.run(
                [*settings.compiler, *target, "-fopenmp", "-x", "c", "-", "-o", program], source=_PROGRAM
            )
        known = b"1" if done.status == 0 else b"0"
        cache.put_bytes(key, known)
    return known == b"1"


def _is_target(word: str) -> bool:
    return word.startswith(("-m", "--target=", "--sysroot=", "-static", "-fuse-ld="))
