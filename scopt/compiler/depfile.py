"""Dependencies (``-MD`` and the like) from a run of the preprocessor alone, so that the compiler needn't read a file
once more for them."""

from __future__ import annotations

import os
import shutil

from scopt.compiler.command_line import Command

_TARGETS = ("-MT", "-MQ")
_KNOWN = ("-MD", "-MMD", "-MP", "-MF", *_TARGETS)
# These say in other ways where dependencies go, or what they are.
_ELSEWHERE = ("-dumpbase", "-dumpbase-ext", "-dumpdir")
_VARIABLES = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")


def flags(command: Command, folder: str) -> list[str]:
    """What lets the preprocessor write the dependencies of the only source into a folder; nothing if there are none, or
    only the compiler can."""
    if not wanted(command) or not place(command):
        return []
    return _flags(command, _kept(folder))


def as_wanted(command: Command) -> list[str]:
    """The flags for dependencies, for a run whose output has another name; nothing if the command has none."""
    return _flags(command, place(command)) if wanted(command) else []


def _flags(command: Command, file: str) -> list[str]:
    given = [a for a in command.arguments if a.kind == "dependencies"]
    targets = [] if any(a.name in _TARGETS for a in given) else ["-MQ", command.output]
    return [*(word for a in given if a.name != "-MF" for word in a.words), *targets, "-MF", file]


def put_into_place(command: Command, folder: str) -> bool:
    """Put what was written with `flags` where the command wants it. True also if it wants none; False if only the
    compiler can do it."""
    if any(name in os.environ for name in _VARIABLES) or any(
        word.startswith("-Wp,-M") for word in command.words("preprocessor")
    ):
        return False
    if not wanted(command):
        return True
    try:
        shutil.copyfile(_kept(folder), place(command))
    except OSError:
        return False
    return True


def wanted(command: Command) -> bool:
    """Whether a command that compiles also writes dependencies."""
    return command.has("-MD", "-MMD")


def place(command: Command) -> str:
    """The file that the dependencies go to; empty where only the compiler knows."""
    given = [a for a in command.arguments if a.kind == "dependencies"]
    if len(command.inputs) != 1 or command.mode != "object" or not command.output or command.has(*_ELSEWHERE):
        return ""
    if any(a.name not in _KNOWN for a in given):
        return ""
    named = [a.value for a in given if a.name == "-MF"]
    return named[-1] if named else os.path.splitext(command.output)[0] + ".d"


def _kept(folder: str) -> str:
    return os.path.join(folder, "dependencies")
