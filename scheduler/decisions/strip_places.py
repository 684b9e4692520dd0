"""Where strips of rows keep the arrays that they use: where these are, in buffers with the rows side by side, or in
cells of each row's, or of each lane's, own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.marked_schedule import RowBuffer
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.poly.array_extents import extents
from scopt.poly.bands import Ordered, functions_of
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.data_moves import data_moves
from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.linear import subscript_moves, subscript_rows
from scopt.poly.pair_classes import Agreement
from scopt.poly.sure_cells import surely_touched
from scopt.scheduler.decisions.strip_references import (
    RowPlace,
    moves_of,
    row_iterator,
    row_subscript,
    runs_along,
)
from scopt.scheduler.decisions.strip_trees import outside

_TYPE = isl.schedule_node_type
# A reference, and the statement that it is in.
Use = tuple[Statement, Access]


class Places(Struct, frozen=True, eq=False):
    """buffers: of arrays whose cells of neighbouring rows are apart. scalars: that get a cell a row; temporaries: that
    get one a lane, since nothing of them is left behind an iteration of the innermost loops. apart: references that
    walk from line to line where they are, with their statements' names. moving: some reference runs along the rows, and
    gets other cells with each step."""

    buffers: tuple[RowBuffer, ...]
    scalars: tuple[str, ...]
    temporaries: tuple[str, ...]
    apart: tuple[tuple[str, Access], ...]
    moving: bool


class Keeper(Struct, frozen=True, eq=False, dict=True):
    """Finds places for the arrays of some nests. domain: their instances; lane: whose row an instance is in. in_place:
    arrays stay where they are, since no vectors are wanted. ends: statements that run row by row, whose arrays stay
    where they are, too."""

    scop: Scop
    dependences: Ordered
    nodes: tuple[isl.ScheduleNode, ...]
    domain: isl.UnionSet
    lane: isl.UnionPwAff
    in_place: bool = False
    ends: frozenset[str] = frozenset()

    def places(self) -> Places | None:
        """None if an array can neither stay where it is nor be kept in a buffer."""
        shift = {
            part.get_tuple_name(): place
            for part in sets_of(self.domain)
            if (place := row_iterator(self.lane, part)) is not None
        }
        uses: dict[str, list[Use]] = {}
        for name in shift:
            for access in self.scop.statement(name).accesses:
                uses.setdefault(access.array, []).append((self.scop.statement(name), access))
        buffers: list[RowBuffer] = []
        moving = False
        scalars: list[str] = []
        temporaries: list[str] = []
        apart: list[tuple[str, Access]] = []
        for name, own in uses.items():
            array = self.scop.arrays[name]
            written = any(access.is_write for _, access in own)
            if array.rank == 0 and self.ends.issuperset(statement.name for statement, _ in own):
                continue  # rows hand it on, one after the other
            if array.rank == 0 and array.private and written:
                if not self.expandable(array, own):
                    return None
                (temporaries if self.is_temporary(name, own) else scalars).append(name)
                continue
            moves = [moves_of(access, shift[statement.name][0]) for statement, access in own]
            if not written:
                moves = [
                    one if one is not None else _shifted_moves(self.scop, *use, shift)
                    for use, one in zip(own, moves, strict=True)
                ]
            if array.private and written and not all(any(one or ()) for one in moves):
                return None  # each row would need a copy of the whole
            moving = moving or any(one and any(one) and _steps(use, shift) for use, one in zip(own, moves, strict=True))
            if self.in_place and not (array.private and written):
                continue
            if self.ends.issuperset(statement.name for statement, _ in own) and not array.private:
                continue
            jumping = [use for use, one in zip(own, moves, strict=True) if not runs_along(one, array)]
            if not jumping:
                continue
            buffer = self.buffer(array, own if written else jumping, shift)
            if buffer is not None:
                buffers.append(buffer)
            elif not written and not array.type.volatile and not array.type.atomic:
                apart += [(statement.name, access) for statement, access in jumping]
            else:
                return None
        return Places(tuple(buffers), tuple(scalars), tuple(temporaries), tuple(apart), moving)

    def expandable(self, array: Array, uses: Sequence[Use]) -> bool:
        """Whether each value of a scalar stays in the row, and in the nests, that it was computed in."""
        if array.type.volatile or array.type.atomic or any(not isinstance(a.node, ir.ID) for _, a in uses):
            return False
        ranges = self.dependences.ranges[array.name]
        return self.inside.keeps(ranges) and self.inside.moves(ranges, self.lane).zero

    def is_temporary(self, name: str, uses: Sequence[Use]) -> bool:
        """Whether each value of a scalar stays in the iteration of an innermost loop that it was computed in. in_place:
        and no first iterations, which may be taken out of these loops, have it for themselves."""
        names = {statement.name for statement, _ in uses}
        domains = [statement.domain.reset_tuple_id() for statement, _ in uses]
        if self.in_place and not all(one.plain_is_equal(domains[0]) or one.is_equal(domains[0]) for one in domains):
            return False
        for own, innermost in self.innermost:
            if names <= own:
                return innermost.keeps(self.dependences.ranges[name])
        return False

    @cached_property
    def inside(self) -> Agreement:
        """The pairs within one run of the nests."""
        return self.agreeing(self.nodes[0])

    @cached_property
    def innermost(self) -> tuple[tuple[frozenset[str], Agreement], ...]:
        """The pairs within one run of what stands in each of the innermost loops, with the statements there."""
        groups = [group for node in self.nodes for group in _innermost(node.child(0))]
        names = [frozenset(str(part.get_tuple_name()) for part in sets_of(group.get_domain())) for group in groups]
        return tuple((own, self.agreeing(group)) for own, group in zip(names, groups, strict=True))

    def agreeing(self, node: isl.ScheduleNode) -> Agreement:
        """Pairs of the nests' instances that agree in everything outside a node that stands among them."""
        same = functions_of(outside(node)) if node.get_schedule_depth() else ()
        return Agreement.of(self.dependences.classes, self.domain, same)

    def buffer(self, array: Array, uses: Sequence[Use], shift: dict[str, tuple[int, int]]) -> RowBuffer | None:
        """A buffer with the rows side by side: one subscript of all these references is the row, up to
        a constant, and to parameters that are the same for all."""
        found: set[RowPlace] = set()
        for statement, access in uses:
            place = row_subscript(array, access, *shift[statement.name])
            if place is None or not (array.private or self.is_there(statement, access)):
                return None  # a private array's cells are never copied in
            found.add(place)
        places = {(one.dimension, one.base) for one in found}
        if len(places) != 1 or not _write_one_cell(uses):
            return None
        sizes = extents(self.scop, [access.relation for _, access in uses], loose=array.private)
        if sizes is None or array.type.volatile or array.type.atomic or not (array.type.floating or array.type.integer):
            return None
        (dimension, base), first = places.pop(), min(one.offset for one in found)
        return RowBuffer(array.name, dimension, first, max(one.offset for one in found) - first, sizes, base=base)

    def is_there(self, statement: Statement, access: Access) -> bool:
        """Whether copies may touch the cells of a reference: no condition decides about it, or something else is sure
        to read them, or to write those that it writes."""
        if access.kind != "may-write" and always_evaluated(statement.body, access.node):
            return True
        return surely_touched(self.scop, statement, access, written=access.is_write)


def _shifted_moves(
    scop: Scop, statement: Statement, access: Access, shift: Mapping[str, tuple[int, int]]
) -> list[int] | None:
    """By how much each subscript moves from row to row, wherever data say that it begins; None if nobody knows."""
    direction = tuple(Fraction(k == shift[statement.name][0]) for k in range(len(statement.iterators)))
    moves = subscript_moves(access.relation, direction) or data_moves(scop, statement, access, direction)
    return None if moves is None else [int(one) for one in moves]


def _write_one_cell(uses: Sequence[Use]) -> bool:
    """Whether each statement writes one cell at most, in one place or, as a condition decides, in one of several."""
    cells: dict[str, isl.Map] = {}
    for statement, access in uses:
        if access.is_write and not access.relation.is_equal(cells.setdefault(statement.name, access.relation)):
            return False
    return True


def _steps(use: Use, shift: dict[str, tuple[int, int]]) -> bool:
    """Whether a reference gets other cells with other iterators than the row."""
    statement, access = use
    rows = subscript_rows(access.relation)
    return rows is None or any(value and k != shift[statement.name][0] for row in rows for k, value in enumerate(row))


def _innermost(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """The parts of a subtree that have a loop over the rows of their own, as outer as can be."""
    if not any(below.get_type() == _TYPE.band for below in walk(node)):
        # a filter's own instances are those that reach what is below it
        yield node.child(0) if node.get_type() == _TYPE.filter else node
        return
    for position in range(node.n_children()):
        yield from _innermost(node.child(position))
