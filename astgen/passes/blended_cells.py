"""Cells of the region's own that lanes update below a condition: blended in place of stored with masks.

``if (s > best_all[r]) { best_all[r] = s; place_all[r] = j; }`` of lanes that have rows of their own stores with masks.
That takes many times as long as a store on some processors, and what is loaded next has to wait for it, since masked
stores aren't forwarded. ``best_all[r] = s > best_all[r] ? s : best_all[r];`` is a blend. Only cells that the region
keeps for itself are written without need: others may come from memory that nothing is to be written to, or be shared
(measured for alignments of sequences, each lane with its row's best score and its place: 0.6 of the time).
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.value_kinds import Values
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.chosen_values import assignments, choices, element_type
from scopt.ir.made_arrays import is_made
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Scop, Statement

BLENDED = "_blended"


def with_blended_cells(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops blend such cells, and the SCoP with these statements."""
    statements = {one.name: one for one in source.statements}

    def blended(name: str) -> Statement | None:
        own = statements.get(name)
        made = None if own is None or own is not scop.statement(name) else blends(source, own)
        return None if own is None or made is None else replace(own, name=own.name + BLENDED, body=made)

    return with_vector_statements(scop, nest, blended)


def blends(scop: Scop, statement: Statement) -> ir.Node | None:
    """The body of a statement as assignments of choices; None if it doesn't update such cells alone, below a condition,
    or if these may not be written at any time."""
    if not may_blend(scop, statement):
        return None
    return choices(statement.body, lambda _: True, lambda reference: value_type(scop, statement, reference))


def value_type(scop: Scop, statement: Statement, reference: ir.Node) -> str | None:
    """How the type of an element, a variable or an iterator is spelled; None of anything else."""
    if isinstance(reference, ir.ID) and reference.name in statement.iterators:
        return statement.iterator_types[statement.iterators.index(reference.name)].spelling
    return element_type(scop.arrays.values(), reference)


def may_blend(scop: Scop, statement: Statement) -> bool:
    """Whether cells that a statement writes below its condition may be written, and what it gives them be computed,
    whatever that says: there is memory for all that it might write, which is the region's own, and no value can
    fail."""
    writes = [access for access in statement.accesses if access.is_write]
    targets = {id(target) for target, _ in assignments(statement.body)}
    if not writes or {id(access.node) for access in writes} != targets:
        return False
    values = Values(scop, statement)
    own = all(is_made(scop.arrays[access.array]) for access in writes)
    return own and all(values.may_be_computed(value) for _, value in assignments(statement.body))
