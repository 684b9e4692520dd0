"""What strips of rows cost, and what else can become of their nests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod

import islpy as isl

from scopt.machine.costs import (
    GATHER,
    LARGE_EXTENT,
    LEAST_CHAIN,
    LEAST_STEPS,
    LEAST_TOGETHER,
    LOADS,
    STORES,
    WAITING_CHAINS,
    WORTH_ROWS,
    jam_rows,
    takes_its_time,
)
from scopt.machine.streams import least_streamed
from scopt.machine.vector_forms import calls_functions_of_complex, multiplies_complex
from scopt.poly.isl_utils import sets_of
from scopt.poly.lookups import is_narrow_lookup, loads_in_branches
from scopt.poly.reductions import selected
from scopt.poly.row_buffers import is_short, row_cells
from scopt.scheduler.decisions.claims import Band, Builder, Claim
from scopt.scheduler.decisions.latencies import resets
from scopt.scheduler.decisions.strip_building import Rows
from scopt.scheduler.decisions.strip_places import Places
from scopt.scheduler.decisions.strip_references import row_iterator
from scopt.scheduler.decisions.user_sizes import rounded, size_of

# What else can become of a nest.
IN_ORDER = "loops along the rows"


def has_lanes(band: Band) -> bool:
    """Whether vectors may have lanes for rows: they have none for loops that run as often as data say, for products of
    complex numbers, and for narrow cells that only some lanes load."""
    scop, vector = band.setting.scop, band.setting.options.machine.vector_bytes
    statements = [scop.statement(name) for name in band.names]
    return not any(
        takes_its_time(one.body) or multiplies_complex(scop, one) or loads_in_branches(scop, one, vector)
        for one in statements
    )


def strip_claim(band: Band, rows: Rows, count: int, member: int, chain: int) -> Claim:
    """Strips of so many rows, vectors across them. chain: cycles a step."""
    user = band.setting.options.tile_sizes
    cycles = _strip_cycles(band, rows.places, member, chain, count)
    parallel = rows.outer[0] if rows.outer else member
    # buffers were measured to pay with any number of strips; how many there are is a guess from arrays' extents
    shares = inf if rows.places.buffers else max(band.work.trips[parallel] // (1 if rows.outer else count), 1)
    shared = rows.parallel and not band.parallel_above
    cost = band.work.parallel(cycles, 0.0, 1, most=shares) if shared else cycles
    notes = rounded(user, rows_a_strip=(size_of(user, member), count)) if user else ()
    lanes = _lanes(band, rows)
    own = parallel if rows.parallel else None
    return Claim("strips of rows", f"of {count} rows", cost, _nothing, own, None, lanes=lanes, notes=notes)


def batch_claim(band: Band, rows: Rows, count: int, member: int, gain: float) -> Claim:
    """Batches of so many small problems, a lane each. gain: how many times as long they take one after the other."""
    work, parallel = band.work, rows.outer[0] if rows.outer else member
    shares = inf if rows.outer else max(work.trips[member] // count, 1)
    cycles = max(work.scalar(None, {}), 1.0) / gain
    cost = cycles if band.parallel_above else work.parallel(cycles, 0.0, 1, most=shares)
    return Claim("batches of problems", f"of {count}", cost, _nothing, parallel, None, lanes=_lanes(band, rows))


def rows_together(band: Band, rows: Rows, member: int) -> int:
    """Rows that are written out beside each other: as many as there are chains under way; half of them where steps
    write arrays, since each row is another stream of lines then; and no more than registers hold the scalars of. Of a
    few rows, as many as leave none or the fewest over."""
    machine, work = band.setting.options.machine, band.work
    inner = [k for k in range(len(work.trips)) if k != member and k not in rows.outer]
    count = jam_rows(machine) // (2 if _writes(band, inner) else 1)
    while count > 4 and count * len(rows.places.scalars) > machine.vector_registers // 2:
        count //= 2
    trips, most = work.trips[member], machine.vector_registers // 2 // max(len(rows.places.scalars), 1)
    if trips <= min(count + count // 2, max(count, most)):
        return max(trips, 2)
    # what is left over runs one by one
    return min(range(count // 2 + 1, count + 1), key=lambda some: (trips // some + trips % some, -some))


def _writes(band: Band, inner: Sequence[int]) -> bool:
    """Whether steps along the last one of some members write arrays."""
    kept = {k: float(band.work.trips[k]) for k in inner[-1:]}
    return any(one.left(kept).stores >= 1 for one in band.work.statements.values())


def may_gain(band: Band, member: int, chains: Mapping[tuple[str, ...], int]) -> bool:
    """Whether rows of some chains can gain beside each other: their steps have to wait for these, not for memory, and
    be many, and be no calls; extremes wait for little. member: the loop over the rows. chains: cycles a step, by the
    statements of the loops along the rows, which run one after the other."""
    chain = max(chains.values())
    work, machine, scop = band.work, band.setting.options.machine, band.setting.scop
    steps = [scop.statement(name) for names in chains for name in names]
    extremes = any(selected(one.body) is not None for one in steps)
    least = max(LEAST_TOGETHER, machine.fma_latency if extremes else 0)
    if chain <= least or any(map(resets, steps)) or any(calls_functions_of_complex(scop, one) for one in steps):
        return False
    if not has_many_steps(band, member):
        return False
    inner = [k for k in range(len(work.trips)) if k != member]
    cache, line = machine.caches[-1], machine.cache(1).line
    if sum(group.lines(work.trips, line) for group in work.groups) * line <= cache.share:
        return True
    if not _writes(band, inner):  # where sizes are known when the program runs, that is tested there
        unknown = work.trips[member] == LARGE_EXTENT or work.trips[inner[-1]] == LARGE_EXTENT
        return unknown or work.trips[inner[-1]] * work.element >= least_streamed(machine)
    waiting = sum(one * max(work.statements[name].count for name in names) for names, one in chains.items())
    return waiting >= WAITING_CHAINS * work.streamed((member, *inner))


def has_many_steps(band: Band, member: int) -> bool:
    """Whether rows are long enough to run together: shorter loops may become straight code."""
    inner = [trips for k, trips in enumerate(band.work.trips) if k != member]
    return bool(inner) and inner[-1] >= LEAST_STEPS


def gains_beside(band: Band, chains: Mapping[tuple[str, ...], int], count: int) -> bool:
    """Whether the loops along the rows take less for so many rows beside each other: one that computes for longer than
    it waits gains nothing, however long another one waits. chains: as in `may_gain`."""
    work = band.work
    loops = [
        (chain * max(work.statements[name].count for name in names), work.scalar(names, {}))
        for names, chain in chains.items()
    ]
    others = work.scalar([name for name in work.statements if not any(name in names for names in chains)], {})
    now, then = (others + sum(max(waits / rows, busy) for waits, busy in loops) for rows in (1, count))
    return now > then * WORTH_ROWS


def together_claim(band: Band, rows: Rows, member: int, chain: int) -> Claim:
    """Rows written out beside each other: as many chains are under way. chain: cycles a step."""
    user, work, count = band.setting.options.tile_sizes, band.work, rows.together
    cycles = max(_steps(band) * chain / count, work.scalar(None, {}))
    most = inf if rows.outer else max(work.trips[member] // count, 1)
    cost = work.parallel(cycles, 0.0, 1, most=most) if rows.parallel and not band.parallel_above else cycles
    parallel = rows.outer[0] if rows.outer else member if rows.parallel else None
    notes = rounded(user, rows_at_a_time=(size_of(user, member), count)) if user else ()
    what = f"{count} rows at a time"
    return Claim("rows beside each other", what, cost, _nothing, parallel, lanes=_lanes(band, rows), notes=notes)


def alone_claim(band: Band, rows: Rows, member: int, waiting: float) -> Claim:
    """Rows one after the other, each thread's with buffers of their own; vectors along them. waiting: cycles of steps
    that wait for each other."""
    work = band.work
    cost = work.parallel(max(work.scalar(None, {}) / work.lanes, waiting), 0.0, 1)
    return Claim("lines alone", "a line at a time", cost, _nothing, member, lanes=_lanes(band, rows))


def _lanes(band: Band, rows: Rows) -> Mapping[str, str]:
    """By statement, the iterator that is the row."""
    names = {}
    for part in sets_of(rows.domain):
        place = row_iterator(rows.lane, part)
        assert place is not None
        name = str(part.get_tuple_name())
        names[name] = band.setting.scop.statement(name).iterators[place[0]]
    return names


def _strip_cycles(band: Band, places: Places, member: int, chain: int, count: int) -> float:
    """Of strips of so many rows. A step of the chain serves a vector's lanes, and what copying a cell to a buffer and
    another one back takes is worth `LEAST_CHAIN` cycles. Where nothing but a few cells of each row is copied, the
    chains of a strip's vectors overlap."""
    work = band.work
    if not all(map(is_short, places.buffers)):
        pairs = max(_apart(band, places) / 2, 1)
        copying = min(_copied(band, places) / 2, _steps(band) * pairs) * LEAST_CHAIN * (1 - 1 / work.lanes)
        waiting = _steps(band) * chain / min(work.lanes, count, work.trips[member])
        return max(waiting, sum(_busy(band, places, name, 0.0) for name in work.statements)) + copying
    copies = sum(prod(row_cells(buffer) or ()) for buffer in places.buffers)
    total = copies * work.trips[member] * LEAST_CHAIN / 2  # which is of a copy to the buffer and one back
    return total + sum(_busy(band, places, name, one.latency / count) for name, one in work.statements.items())


def _busy(band: Band, places: Places, name: str, waiting: float) -> float:
    """Cycles of a statement's instances in vectors, each at least as long as it waits. What lies apart for neighbouring
    rows is loaded element by element, and so is what is looked up and too narrow for an instruction that gathers; where
    rows are at no fixed distance, each lane needs an address of its own."""
    work, one, scop = band.work, band.work.statements[name], band.setting.scop
    if one.alone:
        return one.count * max(one.scalar({}), waiting)
    far = [access for statement, access in places.apart if statement == name]
    jumps = len(far) + sum(is_narrow_lookup(scop, scop.statement(name), access) for access in far)
    addresses = sum(scop.arrays[access.array].rows for access in far)
    loads = (one.uses.loads - jumps) / LOADS / work.lanes + (jumps + addresses) * GATHER
    stores = one.uses.stores / STORES / work.lanes
    return one.count * max(one.arithmetic / work.lanes, loads, stores, waiting)


def _steps(band: Band) -> float:
    """Steps of the recurrence, in all rows."""
    return max((one.count for one in band.work.statements.values()), default=0.0)


def _apart(band: Band, places: Places) -> int:
    """How many arrays have buffers that are copied."""
    return sum(not band.setting.scop.arrays[buffer.array].private for buffer in places.buffers)


def _copied(band: Band, places: Places) -> float:
    """How many cells are copied to buffers, and back from them: of what all instances refer to. What a row computes
    for itself alone is in no other place."""
    work, total = band.work, 0.0
    statements = [band.setting.scop.statement(name) for name in band.names]
    for buffer in places.buffers:
        if band.setting.scop.arrays[buffer.array].private:
            continue
        cells = max(one.lines(work.trips, one.element) for one in work.groups if one.array == buffer.array)
        writes = {a.is_write for one in statements for a in one.accesses if a.array == buffer.array}
        total += float(cells) * len(writes)
    return total


def in_order(band: Band, chain: int, lanes: Mapping[str, str], waiting: float = 0.0) -> Claim:
    """What else can become of a nest: its steps wait for each other; what is parallel is decided later. Vector loops
    can only be those over the rows, too. lanes: by statement, their iterator. waiting: as in `alone_claim`."""
    cycles = max(_steps(band) * chain, waiting, band.work.scalar(None, {}))
    shared = band.coincident and not band.parallel_above
    cost = band.work.parallel(cycles, 0.0, 1) if shared else cycles
    wished = band.setting.wished(band.node, "parallel")
    parallel = wished if wished in band.coincident else next(iter(band.coincident), None)
    return Claim(IN_ORDER, "", cost, _nothing, parallel, None, lanes=lanes)


def _nothing(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Strips are made by who asks for them, of several nests together."""
    return node
