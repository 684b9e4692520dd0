"""How long strips of rows are whose lines come from afar: prefetchers have to get going in each row's piece anew."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from scopt.machine.costs import LARGE_EXTENT, strip_rows
from scopt.machine.streams import long_strip_rows, streamed_strip_rows
from scopt.scheduler.decisions.claims import Band
from scopt.scheduler.decisions.strip_building import Rows
from scopt.scheduler.locality.footprints import ReferenceGroup


def strip_of_lines(band: Band, rows: Rows) -> int:
    """The rows of a strip, of a nest whose steps get other lines along the rows: more where these come from farther
    away than the first cache, since a strip has more of them, and still more where there are also more than the
    prefetcher follows at a time, and the second cache keeps not all of them; 0: as many as elsewhere."""
    machine, work = band.setting.options.machine, band.work
    if rows.places.buffers or not rows.places.moving:
        return 0
    first, line, member = machine.cache(1), machine.cache(1).line, rows.members[0]
    sizes = [1 if k in rows.outer else trips for k, trips in enumerate(work.trips)]
    moved = _bytes(work.groups, sizes, line)
    sizes[member] = strip_rows(machine)
    far = _bytes(work.groups, sizes, line) > first.share
    followed = sum(_streams(group, sizes, member) for group in work.groups)
    if followed <= machine.streams or moved <= machine.cache(2).share:
        return streamed_strip_rows() if far else 0
    trips, scalars = (
        work.trips[member],
        [band.setting.scop.arrays[name].type.bytes or 1 for name in rows.places.scalars],
    )
    if trips == LARGE_EXTENT:  # nothing is known of them
        return streamed_strip_rows()
    return long_strip_rows(machine, trips, sum(scalars))


def _bytes(groups: Sequence[ReferenceGroup], sizes: Sequence[int], line: int) -> int:
    return sum(group.lines(sizes, line) for group in groups) * line


def _streams(group: ReferenceGroup, sizes: Sequence[int], member: int) -> int:
    """The runs of neighbouring cells, along the rows, that a group has in a strip."""
    if not group.walks(member):
        return 0
    own = [size if any(row[k] for row in group.moves[:-1]) else 1 for k, size in enumerate(sizes)]
    return min(prod(own), group.segments(sizes))
