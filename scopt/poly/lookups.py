"""Cells that data name, in tables of narrow ones: no instruction gathers these."""

from __future__ import annotations

from scopt.ir.scop import Scop, Statement

# The narrowest cells, in bits, that an instruction gathers.
_GATHERED = 32


def narrow_lookups(scop: Scop, statement: Statement) -> int:
    """How many references of a statement read such cells."""
    reads = (access for access in statement.accesses if access.kind == "read" and scop.arrays[access.array].rank)
    return sum(
        0 < scop.arrays[access.array].type.bits < _GATHERED and not access.relation.is_single_valued()
        for access in reads
    )
