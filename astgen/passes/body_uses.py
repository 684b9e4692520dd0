"""How a loop's body refers to cells: which of its calls, and which of their accesses, and what of that is sure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.passes.record_cells import Cell
from scopt.ir.expr import names
from scopt.ir.nest import Call, For, Held


class Use(Struct, frozen=True):
    """A reference: the position of its call in the body, and of the access in the statement."""

    call: int
    access: int
    write: bool


class Body(Struct):
    """The references of a loop's body by cell. maybe: cells that a condition on data decides about writing. unknown:
    arrays with references that aren't understood. written: that the body may write. unsure: cells that might not be
    there, as far as a reference says that only a condition makes; sure: those of references that none decides about."""

    uses: dict[Cell, list[Use]] = field(default_factory=dict)
    maybe: set[Cell] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    unsure: set[Cell] = field(default_factory=set)
    sure: set[Cell] = field(default_factory=set)


def moves(loop: For, cell: Cell) -> bool:
    return any(loop.iterator in names(subscript) for subscript in cell[1])


def recurs(loop: For, cell: Cell, uses: Sequence[Use], changed: bool) -> bool:
    """Whether several statements of an iteration use a cell of its own, which they write or, as far as compilers see,
    may change."""
    several = moves(loop, cell) and len({use.call for use in uses}) > 1
    return several and (changed or any(use.write for use in uses))


def held_in(cell: Cell, name: str, uses: Sequence[Use]) -> Held:
    return Held(name, cell[0], cell[1], any(use.write for use in uses))


def with_held(calls: Sequence[Call], held: Sequence[Held], body: Body) -> tuple[Call, ...]:
    """The calls with the names of the cells that they refer to."""
    pairs: list[list[tuple[int, str]]] = [[] for _ in calls]
    for one in held:
        for use in body.uses[one.array, one.subscripts]:
            pairs[use.call].append((use.access, one.name))
    return tuple(replace(call, held=tuple(sorted(some))) for call, some in zip(calls, pairs, strict=True))
