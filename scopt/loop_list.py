"""`scopt --check LIST`: loops that are optimized today have to stay so.

The list is text, to be checked in: a line for each loop with its file (relative to the list's folder), its function,
its number among the function's `for` loops, its iterator (for the reader), and what it got: ``parallel``, ``vector``,
or ``transformed`` if neither. Words are quoted as in a shell.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from scopt.diagnostics import InputError
from scopt.files import write_atomically
from scopt.tell.wording import some

if TYPE_CHECKING:
    from scopt.tell.results import Result

HEADER = """\
# Loops that scopt has to keep optimizing: file, function, number of the loop in it, iterator, what it got.
# Checked by `scopt --check LIST FILE...`, written by `scopt --check LIST --update FILE...`.
"""
WORDS = ("transformed", "parallel", "vector")

# What makes a loop's result of a file; the file as it is opened.
Optimize = Callable[[str], "Result"]


class Loop(Struct, frozen=True, order=True):
    """A line of the list. file: relative to the list's folder, with slashes. got: some of `WORDS`."""

    file: str
    function: str
    number: int
    iterator: str
    got: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.file, self.function, self.number

    def text(self) -> str:
        return shlex.join((self.file, self.function, str(self.number), self.iterator, *self.got))


class Verdict(Struct, frozen=True):
    """lost: a message for each listed loop that lacks something, with the reasons. gained: notes on loops that got
    more. checked: loops, files."""

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    checked: tuple[int, int]

    def summary(self) -> str:
        loops, files = self.checked
        if self.lost:
            return f"scopt: {len(self.lost)} of {some(loops, 'listed loop')} in {some(files, 'file')} lost something"
        return f"scopt: {some(loops, 'listed loop')} in {some(files, 'file')}: all are optimized as before"


def check(path: str, files: Sequence[str], optimize: Optimize) -> Verdict:
    """Compare what loops get now with the list.

    files: those to look at; none: all that the list names. Loops that aren't in the list may get what they want. Raises
    InputError for an unusable list, and whatever `optimize` raises.
    """
    listed = read_list(path)
    chosen = _chosen(path, files, listed)
    demanded = [one for one in listed if one.file in chosen]
    lost: list[str] = []
    gained: list[str] = []
    for name in dict.fromkeys(one.file for one in demanded):
        result = optimize(chosen[name])
        found = {loop.key: loop for loop in loops_of(name, result)}
        for old in (one for one in demanded if one.file == name):
            new = found.get(old.key)
            if missing := [word for word in old.got if new is None or word not in ("transformed", *new.got)]:
                lost.append(_lost(chosen[name], old, new, missing, result))
            elif new is not None and (
                more := [word for word in new.got if word not in old.got and word != "transformed"]
            ):
                gained.append(
                    f"{_place(chosen[name], old, result)}: note: {_called(old)} is "
                    f"{' and '.join(more)} too now (record it with --update)"
                )
    return Verdict(tuple(lost), tuple(gained), (len(demanded), len({one.file for one in demanded})))


def update(path: str, files: Sequence[str], optimize: Optimize) -> int:
    """Write what the loops of these files (none: of all that the list names) get now into the list; entries of other
    files stay.

    Returns the number of entries. Raises InputError for a list that can't be read or written.
    """
    listed = read_list(path) if os.path.exists(path) else ()
    chosen = _chosen(path, files, listed)
    fresh = [loop for name, file in chosen.items() for loop in loops_of(name, optimize(file))]
    entries = sorted({*fresh, *(one for one in listed if one.file not in chosen)})
    try:
        write_atomically(
            Path(path), (HEADER + "".join(f"{one.text()}\n" for one in entries)).encode("utf-8", "surrogateescape")
        )
    except OSError as error:
        raise InputError(f"scopt: error: {path}: {error.strerror or error}") from None
    return len(entries)


def loops_of(name: str, result: Result) -> tuple[Loop, ...]:
    """The optimized loops of one file, in order."""
    found = []
    for region in result.regions:
        for gain in region.gains:
            found.append(Loop(name, region.function, gain.number, gain.iterator, gain.got or ("transformed",)))
    return tuple(sorted(found))


def read_list(path: str) -> tuple[Loop, ...]:
    """The entries of a list. Raises InputError with the place of what is wrong."""
    try:
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        hint = " (write it with --update)" if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"scopt: error: {path}: {error.strerror or error}{hint}") from None
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return tuple(_entry(line, f"{path}:{number}") for number, line in lines if line and not line.startswith("#"))


def _entry(line: str, place: str) -> Loop:
    try:
        file, function, number, iterator, *got = shlex.split(line)
        entry = Loop(file, function, int(number), iterator, tuple(got))
    except ValueError:
        raise InputError(
            f"{place}: error: not a loop: expected file, function, number, iterator and what it got"
        ) from None
    if not got or not set(got) <= set(WORDS):
        raise InputError(f"{place}: error: a loop gets {', '.join(WORDS)}, not {' '.join(got) or 'nothing'}")
    return entry


def _chosen(path: str, files: Sequence[str], listed: Iterable[Loop]) -> dict[str, str]:
    """By the names that the list has for them: how to open the given files, or all that the list names."""
    return (
        {_name(path, file): file for file in files}
        if files
        else {one.file: _open_name(path, one.file) for one in listed}
    )


def _name(path: str, file: str) -> str:
    """A file as the list names it."""
    return os.path.relpath(os.path.realpath(file), os.path.dirname(os.path.realpath(path))).replace(os.sep, "/")


def _open_name(path: str, name: str) -> str:
    """How to open a file that the list names."""
    return os.path.normpath(os.path.join(os.path.dirname(path), name))


def _called(loop: Loop) -> str:
    return f"loop {loop.number} of '{loop.function}', over '{loop.iterator}',"


def _lost(file: str, old: Loop, new: Loop | None, missing: Iterable[str], result: Result) -> str:
    """What a loop lost, and the remarks on its function that may tell why."""
    now = "is left as it is" if new is None else f"is {' and '.join(new.got)} only"
    lines = [f"{_place(file, old, result)}: error: {_called(old)} was {' and '.join(missing)}, and now {now}"]
    reasons = [remark for remark in result.remarks if remark.kind == "missed" and remark.function in (old.function, "")]
    lines += [f"  {remark.text()}" for remark in reasons[:5]] or [
        "  scopt --explain tells which dependences a loop carries"
    ]
    return "\n".join(lines)


def _place(file: str, loop: Loop, result: Result) -> str:
    lines: Mapping[tuple[str, int], int] = {
        (region.function, gain.number): gain.location.line for region in result.regions for gain in region.gains
    }
    line = lines.get((loop.function, loop.number))
    return f"{file}:{line}" if line else file
