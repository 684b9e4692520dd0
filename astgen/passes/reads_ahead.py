"""Cells that an iteration reads behind a write to their array, and that a later iteration writes: ``a[i] = b[i] * c[i];
d[i] = a[i] + a[i + 1];``.

Vector loops load before they store. Compilers make one of a loop that carries nothing else, as long as its statements
load first, too: where the cell is in a variable when the iteration begins (node splitting; Kuck, Kuhn, Leasure and
Wolfe, "The structure of an advanced vectorizer for pipelined processors", 1980). No directive says so: to `omp simd` no
iteration waits for another one.
"""

from __future__ import annotations

from msgspec import Struct

from scopt import ir
from scopt.astgen.passes.record_cells import Cell, subscripts_of
from scopt.ir.expr import linear, names
from scopt.ir.nest import Call, For, LoopNest, Name
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.ir.walks import walk
from scopt.poly.body_rewriting import always_evaluated

_BRANCHES = (ir.If, ir.For, ir.While, ir.DoWhile, ir.Switch)


class Place(Struct, frozen=True):
    """A reference to a cell: the position of its statement in a loop's body."""

    call: int
    write: bool


Places = dict[Cell, list[Place]]


def read_ahead(scop: Scop, loop: For) -> frozenset[Cell]:
    """The cells that variables should have from the begin of an iteration on, with those that several statements write;
    none where the loop carries more than that, as far as can be seen."""
    if loop.mark.simd or loop.mark.parallel or loop.mark.jammed or loop.step != 1:
        return frozenset()
    found = _places(scop, loop)
    if found is None:
        return frozenset()
    written = {cell: min(one.call for one in some if one.write) for cell, some in found.items() if _is_written(some)}
    if not all(any(loop.iterator in names(subscript) for subscript in cell[1]) for cell in written):
        return frozenset()
    cells: set[Cell] = set()
    for cell, first in written.items():
        for other, some in found.items():
            distance = _distance(loop, cell, other) if other[0] == cell[0] else 0
            if distance is None or distance < 0 or (distance and other in written):
                return frozenset()
            if distance and first < max(one.call for one in some):
                cells.add(other)
    several = (cell for cell in written if len({one.call for one in found[cell] if one.write}) > 1)
    return frozenset(cells.union(several)) if cells else frozenset()


def reads_ahead(scop: Scop, nest: LoopNest) -> bool:
    """Whether an innermost loop of a nest is a vector loop for compilers where its iterations read such cells first."""
    return any(isinstance(item, For) and read_ahead(scop, item) for item in items(nest.body))


def _is_written(some: list[Place]) -> bool:
    return any(one.write for one in some)


def _places(scop: Scop, loop: For) -> Places | None:
    """The cells that a loop's body names; None where there is more in it than statements that touch known ones."""
    found: Places = {}
    for number, call in enumerate(loop.body.items):
        if not isinstance(call, Call):
            return None
        statement = scop.statement(call.statement)
        if not statement.accesses or any(isinstance(node, _BRANCHES) for node in walk(statement.body)):
            return None
        for access in statement.accesses:
            cell = subscripts_of(scop, access, call.args) if access.node is not None else None
            if cell is None or not (access.is_write or always_evaluated(statement.body, access.node)):
                return None
            found.setdefault((access.array, cell), []).append(Place(number, access.is_write))
    return found


def _distance(loop: For, written: Cell, read: Cell) -> int | None:
    """After how many iterations a loop writes the cell that one has read, 0 for cells that are apart in all of them;
    None where nobody knows."""
    distances: set[int] = set()
    for mine, its in zip(written[1], read[1], strict=True):
        terms, constant = linear(mine)
        others, further = linear(its)
        moves = terms.get(Name(loop.iterator), 0)
        if terms != others or (not moves and loop.iterator in names(mine)):
            return None
        if not moves and constant != further:
            return 0
        if moves and (further - constant) % moves:
            return 0
        if moves:
            distances.add((further - constant) // moves)
    return distances.pop() if len(distances) == 1 else 0
