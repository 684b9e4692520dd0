"""The flags that a build gives to a file, from its `compile_commands.json`
(Clang's "JSON Compilation Database Format Specification")."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

from scopt.compiler.command_line import Argument, Command, expanded, read_command
from scopt.diagnostics import InputError

NAME = "compile_commands.json"
# Flags with a path that is relative to the compiler's working directory.
_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_FILES = ("-include", "-imacros")
_TAKEN = (*_FOLDERS, *_FILES, "-D", "-U", "-undef", "-nostdinc")
_TAKEN_PREFIXES = ("-f", "-m", "-std=", "-ansi", "-pthread")


def flags_of(folder: str, file: str) -> tuple[str, ...]:
    """The flags for the preprocessor (-D -U -I -std= -include -isystem -iquote -f… -m…) that a build's first command
    for a file has.

    folder: where the `compile_commands.json` lies. Relative paths are made absolute, from the command's working
      directory.
    Raises InputError if the file isn't there, isn't in that form, or has no command for this source.
    """
    path = os.path.join(folder, NAME)
    try:
        with open(path, encoding="utf-8") as database:
            entries = json.load(database)
    except OSError as error:
        raise InputError(f"scopt: error: {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path}: error: no JSON: {error}") from None
    wanted = os.path.realpath(file)
    try:
        entry = next((e for e in entries if os.path.realpath(os.path.join(e["directory"], e["file"])) == wanted), None)
        if entry is None:
            raise InputError(f"{path}: error: it has no command for {file}")
        return _flags(_command(entry, path), entry["directory"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: error: no compilation database: {type(error).__name__}: {error}") from None


def _command(entry: dict[str, Any], path: str) -> Command:
    """The command of an entry, whose words are a list in ``arguments`` or one text in ``command``, as for a shell."""
    words = list(entry["arguments"]) if "arguments" in entry else shlex.split(entry["command"])
    # Response files are relative to the working directory, which isn't ours.
    at_home = [f"@{os.path.join(entry['directory'], word[1:])}" if word.startswith("@") else word for word in words]
    start = next((k for k, word in enumerate(at_home) if k and word.startswith(("-", "@"))), 1)
    return read_command(expanded(at_home[start:]))


def _flags(command: Command, directory: str) -> tuple[str, ...]:
    return tuple(word for a in command.arguments if _taken(a) for word in _at_home(a, directory))


def _taken(argument: Argument) -> bool:
    if argument.name in _TAKEN:
        return True
    return argument.kind == "flag" and len(argument.words) == 1 and argument.words[0].startswith(_TAKEN_PREFIXES)


def _at_home(argument: Argument, directory: str) -> tuple[str, ...]:
    """A flag with its path as seen from anywhere. A file to include is looked for in the working directory first, then
    as in ``#include "…"``."""
    path = os.path.join(directory, argument.value)
    if argument.name in _FOLDERS or (argument.name in _FILES and os.path.exists(path)):
        return argument.name, path
    return argument.words
