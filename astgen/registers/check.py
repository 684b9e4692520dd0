"""Whether operands are packed at a time when they have the values that the instances were to read."""

from __future__ import annotations

import islpy as isl

from scopt.astgen.readback import ReadBack
from scopt.astgen.registers.lower import Lowered
from scopt.astgen.registers.steps import fewer_pieces
from scopt.astgen.registers.tile import Pack
from scopt.diagnostics import InternalError
from scopt.isl_utils import maps_of, union_of_maps
from scopt.model import Access, Scop, Statement
from scopt.verify import goes_forward, with_dates


def check_packs(scop: Scop, lowered: Lowered, read: ReadBack, instances: ReadBack) -> None:
    """Raise InternalError unless each operand is packed after every write that came before its instance, and before the instance.

    read: the generated loops with the statements of the tiles; instances: in terms of the SCoP's own instances.
    """
    dates = instances.schedule
    for pack in lowered.packs:
        packed = fewer_pieces(pack.instances.to_union_map().apply_range(_dates_of(read, pack)))
        statement = scop.statement(pack.instances.get_tuple_name(isl.dim_type.in_))
        own = pack.instances.domain().identity()
        _check(scop, pack, own, packed, dates)
        for position in pack.accesses:
            for earlier in _writes_before(scop, statement, statement.accesses[position]):
                inside = earlier.intersect_range(pack.instances.domain())
                _check(scop, pack, inside, dates, packed)


def check_choices(scop: Scop, lowered: Lowered, read: ReadBack) -> None:
    """Raise InternalError if a tile that lacks cells is made as a whole one. read: of the generated loops with their choices."""
    for choice in lowered.choices:
        whole = read.schedule.domain().extract_set(choice.lacking.get_space())
        if not whole.is_disjoint(choice.lacking):
            raise InternalError(f"{scop.location}: generated loops: {choice.whole} updates cells that don't exist")


def _check(scop: Scop, pack: Pack, pairs: isl.Map, first: isl.UnionMap, second: isl.UnionMap) -> None:
    for joint in with_dates(pairs, first, second):
        if not goes_forward(joint):
            raise InternalError(f"{scop.location}: generated loops: {pack.name} copies an operand at the wrong time")


def _dates_of(read: ReadBack, pack: Pack) -> isl.UnionMap:
    return union_of_maps(m for m in maps_of(read.schedule) if m.get_tuple_name(isl.dim_type.in_) == pack.name)


def _writes_before(scop: Scop, statement: Statement, access: Access) -> list[isl.Map]:
    """``{ T[…] -> S[…] }``: instances that write what one of the statement's reads, and come before it in the original order."""
    order = scop.order.lex_lt_union_map(scop.order)
    found = []
    for writer in scop.statements:
        for write in writer.accesses:
            if write.is_write and write.array == access.array:
                pairs = write.relation.apply_range(access.relation.reverse()).to_union_map().intersect(order)
                found += maps_of(pairs)
    return found
