"""Cells that a statement has surely written by the time that it reads them: no value from before gets there.

A statement that is executed as a whole, as the iterations of a solver in each column, may fill its work arrays and use
them again and again. What it finds there is its own work as long as each way to the read leads past the writes
("upward exposed" reads: Tu and Padua, "Automatic array privatization", 1993).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.frontend.model.access_names import RawAccess
from scopt.frontend.model.loop_headers import Loop
from scopt.ir.scop import Array
from scopt.poly.isl_utils import PARAM, SET, project_out_params

# A difference of sets in more pieces costs more than it tells.
_PIECES = 8


class Covered(Struct):
    """cells: by an array's name, ``[i, n] -> { A[a, b] }``; iterators of loops inside the statement are parameters.
    reached: the values of parameters for which the statement has come this far, as far as references before tell: none
    of them leaves its array."""

    cells: dict[str, isl.Set] = field(default_factory=dict)
    reached: isl.Set | None = None

    def copy(self) -> Covered:
        return Covered(dict(self.cells), self.reached)

    def passed(self, array: Array, cells: isl.Set) -> None:
        """A reference that has been evaluated."""
        there = _existing(array, cells).params()
        if not cells.params().is_subset(there):
            self.reached = there if self.reached is None else self.reached.intersect(there)

    def write(self, array: str, cells: isl.Set) -> None:
        old = self.cells.get(array)
        self.cells[array] = cells if old is None else old.union(cells).coalesce()

    def left(self, array: Array, cells: isl.Set) -> isl.Set:
        """Those of some cells that may still be as they were before the statement."""
        rest = _without(cells, self.cells.get(array.name))
        if rest is cells:
            return rest
        rest = _existing(array, rest)
        return rest if self.reached is None else rest.intersect_params(self.reached)

    def branches(self, first: Covered, holds: isl.Set, second: Covered, fails: isl.Set) -> None:
        """What is covered behind a choice: what both ways write, or one that is the only one there. holds, fails:
        where the ways may be taken."""
        for array in sorted(first.cells.keys() | second.cells.keys()):
            ways = ((first.cells.get(array), holds), (second.cells.get(array), fails))
            known = next(cells for cells, _ in ways if cells is not None)
            both = known.space.universe_set()
            for cells, place in ways:
                otherwise = both.space.universe_set().intersect_params(place.complement())
                both = both.intersect(otherwise if cells is None else cells.union(otherwise))
            self.write(array, both.intersect_params(holds.union(fails)).coalesce())

    def through(
        self, loop: Loop, body: Covered, found: Sequence[RawAccess], values: Collection[str]
    ) -> list[RawAccess]:
        """The accesses of all iterations of a loop, where `found` are those of one. body: what is covered behind it,
        where `values` are names of values of its own. An iteration finds what others before it have written."""
        reads = {one.array for one in found if one.kind == "read"}
        covered = {
            array: _always(cells, values).intersect_params(loop.domain)
            for array, cells in body.cells.items()
            if cells is not self.cells.get(array)
        }
        earlier = {array: _earlier(cells, loop) for array, cells in covered.items() if array in reads}
        for array, cells in covered.items():
            self.write(array, project_out_params(cells, [loop.iterator]))

        def all_of(one: RawAccess) -> RawAccess:
            cells = _without(one.subscripts, earlier.get(one.array)) if one.kind == "read" else one.subscripts
            return replace(one, subscripts=project_out_params(cells, [loop.iterator, *values]))

        return [all_of(one) for one in found]


def _existing(array: Array, cells: isl.Set) -> isl.Set:
    """Those of some cells that the array has."""
    if array.pointer or array.within or array.flat:
        return cells
    for position, size in enumerate(array.sizes):
        cells = cells.lower_bound_val(SET, position, isl.Val(0))
        cells = cells if size is None else cells.upper_bound_val(SET, position, isl.Val(size - 1))
    return cells


def _always(cells: isl.Set, values: Collection[str]) -> isl.Set:
    """The cells that are among some whatever values these parameters have."""
    if not any(cells.find_dim_by_name(PARAM, name) >= 0 for name in values):
        return cells
    always: isl.Set = project_out_params(cells.complement(), values).complement()
    return always


def _earlier(cells: isl.Set, loop: Loop) -> isl.Set | None:
    """The cells of all iterations before the one at hand."""
    position = cells.find_dim_by_name(PARAM, loop.iterator)
    if position < 0:
        return None
    name, rank = cells.get_tuple_name(), cells.dim(SET)
    moved = cells.reset_tuple_id().move_dims(SET, 0, PARAM, position, 1)
    order = "<" if loop.step > 0 else ">"
    dims = "".join(f", d{k}" for k in range(rank))
    ordered = moved.intersect(isl.Set(f"[{loop.iterator}] -> {{ [before{dims}] : before {order} {loop.iterator} }}"))
    return ordered.project_out(SET, 0, 1).set_tuple_name(name).coalesce()


def _without(cells: isl.Set, written: isl.Set | None) -> isl.Set:
    if written is None:
        return cells
    rest = cells.subtract(written).coalesce()
    return cells if rest.n_basic_set() > max(_PIECES, cells.n_basic_set()) else rest
