"""Which cells have to be copied around a part of the schedule that keeps arrays in buffers."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Access, Dependences, Scop, Statement
from scopt.poly.isl_utils import IN, OUT, agreeing_pairs, maps_of, union_of_maps


class Copied(Struct, eq=False):
    """The statements of one part of the schedule, a strip or a tile, with copies before and after.

    prefix: ``{ S[…] -> [p0, …] }`` for the original statements, what the instances of one part have in common.
      statements: the new ones.
    expansions: by name of a statement that stands for an original one, the original's instances: ``{ S[…] -> S_rows[…]
      }``.
    choices: names of new statements that choose buffers.
    """

    scop: Scop
    deps: Dependences
    prefix: isl.UnionMap
    statements: list[Statement]
    expansions: dict[str, isl.Map]
    choices: list[str]

    @property
    def depth(self) -> int:
        return int(maps_of(self.prefix)[0].dim(OUT))

    def accesses(self, array: str) -> Iterator[tuple[Statement, Access]]:
        """The references of the original statements to an array."""
        for name in sorted(str(m.get_tuple_name(IN)) for m in maps_of(self.prefix)):
            statement = self.scop.statement(name)
            yield from ((statement, access) for access in statement.accesses if access.array == array)

    def inside(self, pairs: isl.UnionMap) -> isl.UnionMap:
        """Those within one part."""
        return agreeing_pairs(pairs, self.prefix)

    def exposed(self, statement: Statement, access: Access) -> isl.UnionSet:
        """The instances whose value isn't computed in their part. An instance writes one cell of an array, so that a
        flow dependence from a write of the cell that this reference reads is the reference's own. What writes perhaps
        leaves what was there."""
        flows = self.inside(
            union_of_maps(
                d.relation for d in self.deps.select("flow") if d.array == access.array and d.sink == statement.name
            )
        )
        writes = union_of_maps(
            a.relation for s in self.scop.statements for a in s.accesses if a.array == access.array and self.sets(a)
        )
        same_cell = writes.apply_range(isl.UnionMap.from_map(access.relation.reverse()))
        return isl.UnionSet.from_set(access.relation.domain()).subtract(flows.intersect(same_cell).range())

    def sets(self, access: Access) -> bool:
        """Whether nothing is left of what was in a cell before."""
        return access.kind == "write" or (access.kind == "may-write" and self.scop.arrays[access.array].private)

    def needed(self, statement: Statement, access: Access) -> isl.UnionSet:
        """The instances whose value is used outside of their part, or never overwritten."""
        own = isl.UnionSet.from_set(access.relation.domain())
        flows = union_of_maps(
            d.relation for d in self.deps.select("flow") if d.array == access.array and d.source == statement.name
        )
        used = flows.subtract(self.inside(flows)).domain()
        if self.scop.arrays[access.array].private:
            return used
        later = [d for d in self.deps.select("output") if d.array == access.array and d.source == statement.name]
        overwritten = [d for d in later if self.surely(d.sink, access.array)]
        return own.subtract(union_of_maps(d.relation for d in overwritten).domain()).union(used)

    def surely(self, name: str, array: str) -> bool:
        return all(a.kind == "write" for a in self.scop.statement(name).accesses if a.array == array and a.is_write)
