"""The roles that statements of the text can have."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.astgen.emit.names import identifiers
from scopt.poly.isl_utils import OUT


class Moved(Struct, frozen=True, eq=False):
    """A value that instances don't find where the SCoP has it, but in a buffer.

    accesses: positions among the statement's accesses. content: ``{ S[…] -> content[…] }``, what has to be there: a
    cell of an array, or an operand, told by the iterators in it. slot: ``{ [S[…] -> text[…]] -> buffer[…] }``. through:
    the variable that says which thread's part, or None.
    """

    accesses: tuple[int, ...]
    content: isl.Map
    slot: isl.Map
    through: str | None = None


class Carrier(Struct, frozen=True, eq=False):
    """A statement of the text that runs instances of one of the SCoP's: ``{ S[…] -> text[…] }``.

    place: of a statement that updates a box of cells in a copy, ``{ S[…] -> [text's iterators, row, column] }``; else
    None. box: its rows and columns.
    """

    statement: str
    text: str
    instances: isl.Map
    moved: tuple[Moved, ...] = ()
    place: isl.Map | None = None
    box: tuple[int, int] = (0, 0)


class Copy(Struct, frozen=True, eq=False):
    """A statement of the text that copies to a buffer, or back. slot: ``{ text[…] -> buffer[…] }``, content: ``{
    text[…] -> content[…] }``.

    fill: nothing that matters is put there.
    """

    text: str
    slot: isl.Map
    content: isl.Map | None
    inwards: bool
    through: str | None = None

    @property
    def fill(self) -> bool:
        return self.content is None


class Choice(Struct, frozen=True):
    """A statement of the text that sets what says which thread's buffers are used; or, at the end, resets it."""

    text: str
    variable: str
    opens: bool


class Roles(Struct, frozen=True, eq=False):
    """carriers: those with instances elsewhere, or of statements that the text runs as they were."""

    carriers: tuple[Carrier, ...]
    copies: tuple[Copy, ...]
    choices: tuple[Choice, ...]


def cell(array: str) -> str:
    """The name of an array's cells as contents."""
    return f"cell {array}"


def operand_content(value: ir.Node, iterators: Sequence[str], running: isl.Set) -> isl.Map:
    """An operand as a content: its text, by the iterators that occur in it."""
    used = identifiers(value)
    kept = [k for k, name in enumerate(iterators) if name in used]
    relation = running.identity().reset_tuple_id(OUT)
    for k in reversed(range(len(iterators))):
        if k not in kept:
            relation = relation.project_out(OUT, k, 1)
    names = ", ".join(iterators[k] for k in kept)
    return relation.set_tuple_name(OUT, f"value {PlainGenerator().visit(value)} of {names}")
