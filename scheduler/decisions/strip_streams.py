"""Rows beside each other that come from memory: for which parameters these are short, so that prefetchers, which follow
streams within a page, lose them; one after the other they come as fast as memory is."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from scopt.ir.scop import Access, Scop, Statement
from scopt.machine import Machine
from scopt.machine.streams import least_streamed, streamed_cache
from scopt.poly.full_rows import fills_rows, sums_plainly
from scopt.poly.isl_utils import SET, sets_of
from scopt.poly.linear import subscript_rows
from scopt.poly.loop_lengths import at_estimates, long_loops
from scopt.scheduler.decisions.strip_references import row_iterator


def short_streams(scop: Scop, machine: Machine, domain: isl.UnionSet, lane: isl.UnionPwAff) -> isl.Set:
    """The parameters for which rows of some instances are shorter than a page, and so many that the last cache has no
    room for them; none where loops along the rows write cells, or are deeper, or where sizes are likely to be others.
    lane: whose row an instance is in."""
    parts = {str(part.get_tuple_name()): part for part in sets_of(domain)}
    deepest = max(part.dim(SET) for part in parts.values())
    inner = {name: part for name, part in parts.items() if part.dim(SET) == deepest}
    found = isl.Set.empty(scop.context.get_space())
    sizes: dict[str, int] = {}
    for name, part in inner.items():
        place = row_iterator(lane, part)
        if place is None or place[0] != deepest - 2 or _writes(scop, scop.statement(name)):
            return found
        statement = scop.statement(name)
        streams = list(_streams(scop, statement, deepest))
        if sums_plainly(scop, statement) and all(fills_rows(scop, one) for one in streams):
            continue  # the function that sums them up asks for the lines of the next rows
        sizes |= {one.array: scop.arrays[one.array].type.bytes or 1 for one in streams}
    if not sizes:
        return found
    steps = least_streamed(machine) // min(sizes.values())
    most = streamed_cache(machine) // sum(sizes.values()) // max(steps - 1, 1)
    for part in inner.values():
        rows = part.project_out(SET, deepest - 1, 1)
        long, many = long_loops(part, deepest - 1, steps), long_loops(rows, deepest - 2, most + 1)
        short = scop.context.subtract(long.gist(part.params()))
        found = found.union(many.gist(rows.params()).intersect(short))
    about = {one.name: one.estimate for one in scop.parameters if one.estimate is not None}
    likely = at_estimates(found, about)
    return isl.Set.empty(found.get_space()) if likely.is_empty() else found.coalesce()


def _writes(scop: Scop, statement: Statement) -> bool:
    return any(one.is_write and scop.arrays[one.array].rank for one in statement.accesses)


def _streams(scop: Scop, statement: Statement, deepest: int) -> Iterator[Access]:
    """What a row reads along its cells, other rows elsewhere."""
    for access in statement.accesses:
        rows = subscript_rows(access.relation)
        if rows and rows[-1][deepest - 1] and any(row[deepest - 2] for row in rows):
            yield access
