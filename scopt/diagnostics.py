"""Diagnostics are data: locations, remarks, and the tree of errors that scopt raises on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import Struct, field, to_builtins

from scopt.remark_ids import RemarkKind, advice


class Location(Struct, frozen=True, order=True):
    """A place in the user's source; line and column count from 1, column 0 where only the line is known."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class Remark(Struct, frozen=True):
    """One thing that the user should know about one place.

    kind: ``passed`` (done), ``missed`` (left as it was), ``analysis`` (what was found or assumed).
    id: stable and dotted, such as ``affine.nonlinear-subscript``; tests and tools match on it, never on the message.
    hint: what the user could change, as an imperative sentence; empty if nothing.
    function: the C function that the place is in; empty outside of functions, and where it isn't known.
    """

    kind: RemarkKind
    id: str
    message: str
    location: Location
    hint: str = ""
    function: str = ""

    def text(self) -> str:
        """The line printed on stderr: ``file:line:col: remark: message (hint) [id]``."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.location}: remark: {self.message}{hint} [{self.id}]"


class Remarks(Struct):
    """The sink that remarks are collected in, in order of discovery; duplicates are kept once."""

    _seen: dict[Remark, None] = field(default_factory=dict)

    def add(self, remark: Remark) -> None:
        self._seen.setdefault(remark)

    def extend(self, remarks: Iterable[Remark]) -> None:
        for remark in remarks:
            self.add(remark)

    def __iter__(self) -> Iterator[Remark]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)


def remarks_as_json(remarks: Iterable[Remark]) -> str:
    """All remarks as one JSON array of objects with the fields of `Remark`."""
    return json.dumps([to_builtins(remark) for remark in remarks], indent=1)


class ScoptError(Exception):
    """Root of every error that scopt raises on purpose."""


class InputError(ScoptError):
    """The input cannot be used at all (missing file, syntax error): exit code 2. The text is what the user sees."""


class Refusal(ScoptError):
    """A SCoP can't be handled: its text stays, and the remark says why. Never escapes `optimize`.

    Without a hint, the remark has the advice that goes with its id.
    """

    def __init__(self, id: str, message: str, location: Location, hint: str = "") -> None:
        super().__init__(f"{location}: {message} [{id}]")
        self.remark = Remark("missed", id, message, location, hint or advice(id))


class InternalError(ScoptError):
    """scopt's own fault, found by its own checks: the region stays as it was and a remark asks for a report."""
