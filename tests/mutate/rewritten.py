"""Faults in SCoPs that have cells in place of scalars, and arrays in place of others."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec.structs import replace

from scopt.ir.expr import plus
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.isl_utils import IN, OUT, SET
from scopt.scheduler.passes.expansion import Expansion
from tests.mutate.made import statement_edits


def expansion_edits(expansion: Expansion) -> Iterator[tuple[str, str, Expansion]]:
    """Every fault in a rewritten SCoP: its kind, its place, and the SCoP with it."""
    scop = expansion.scop
    for k, statement in enumerate(scop.statements):
        before, behind = scop.statements[:k], scop.statements[k + 1 :]
        for kind, changed in (*_bodies(scop, statement), *_accesses(scop, statement), *_domains(statement)):
            yield kind, statement.name, replace(expansion, scop=replace(scop, statements=(*before, changed, *behind)))
        if behind:
            order = (*before, behind[0], statement, *behind[1:])
            yield "statements exchanged", statement.name, replace(expansion, scop=replace(scop, statements=order))
    for name, extents in expansion.extents.items():
        for k, extent in enumerate(extents):
            for more in (1, -1):
                changed_extents = (*extents[:k], plus(extent, more), *extents[k + 1 :])
                yield f"extent {more:+}", name, replace(expansion, extents={**expansion.extents, name: changed_extents})
        yield (
            "array not allocated",
            name,
            replace(expansion, extents={key: value for key, value in expansion.extents.items() if key != name}),
        )


def _bodies(scop: Scop, statement: Statement) -> Iterator[tuple[str, Statement]]:
    names = [array.spelling for array in scop.arrays.values() if array.rank]
    for kind, changed in statement_edits(statement, names):
        yield f"statement: {kind}", changed


def _accesses(scop: Scop, statement: Statement) -> Iterator[tuple[str, Statement]]:
    for k, access in enumerate(statement.accesses):

        def put(changed: Access, at: int = k) -> Statement:
            return replace(statement, accesses=(*statement.accesses[:at], changed, *statement.accesses[at + 1 :]))

        rank = access.relation.dim(OUT)
        names = ", ".join(f"x{k}" for k in range(rank))
        for position in range(rank):
            others = ", ".join(f"x{k} + 1" if k == position else f"x{k}" for k in range(rank))
            step = (
                isl.Map(f"{{ [{names}] -> [{others}] }}")
                .set_tuple_name(IN, access.array)
                .set_tuple_name(OUT, access.array)
            )
            yield "access: + 1", put(replace(access, relation=access.relation.apply_range(step)))
        for name, array in sorted(scop.arrays.items()):
            if name != access.array and array.rank == scop.arrays[access.array].rank:
                relation = access.relation.set_tuple_name(OUT, name)
                yield "access: another array", put(replace(access, array=name, relation=relation))
        yield "access: read for write", put(replace(access, kind="read" if access.is_write else "write"))


def _domains(statement: Statement) -> Iterator[tuple[str, Statement]]:
    for position in range(statement.domain.dim(SET)):
        yield "domain: last iteration only", replace(statement, domain=statement.domain.lexmax())
        without = statement.domain.subtract(statement.domain.lexmin())
        yield "domain: first iteration dropped", replace(statement, domain=without)
        if position == 0:
            return
