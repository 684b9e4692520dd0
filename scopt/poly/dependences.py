"""Dependence analysis: flow (value-based), anti, output and, on demand, input dependences, over scalars and arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from math import prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Access, Array, Dependence, DependenceKind, Dependences, Scop, Statement
from scopt.poly.earlier_accesses import Earlier, SourceOrder, latest, near_sources
from scopt.poly.isl_utils import maps_of, operation_limit, union_of_maps
from scopt.poly.known_flows import Answers
from scopt.poly.reductions import Update

# isl's elementary operations for one analysis;
# value-based dependences that need more are replaced by memory-based ones.
FLOW_OPERATIONS = 2_000_000
# More for each pair of a source and a sink, which all have to be looked at: a sum that is written out has thousands.
PAIR_OPERATIONS = 2_000
MAX_FLOW_OPERATIONS = 10_000_000
# Pieces of a relation that may take isl long to join, or not to join.
MANY_PIECES = 64
# Private copies live on the threads' stacks, which are small by default.
MAX_PRIVATE_BYTES = 32_768
# Of a table that has been made for the sake of copies, and that is known to be small against what goes into it.
MAX_TABLE_BYTES = 262_144


def dependences(scop: Scop, *, inputs: bool = False, updates: Mapping[str, Update] | None = None) -> Dependences:
    """All dependences of a SCoP; input (read-after-read) ones only if asked for.

    updates: by statement, updates of cells that may change places with each other.
    Source: value-based flow as in Feautrier, "Dataflow analysis of array and scalar references" (1991), kills are
    the declarations of locals.
    """
    source = _strict(scop, inputs)
    loose = _with_reductions(scop, inputs, updates) if updates else source
    return replace(loose, source=source.all) if loose.reductions else source


def _strict(scop: Scop, inputs: bool) -> Dependences:
    """All dependences in the order of the source."""
    found: list[Dependence] = []
    order = SourceOrder.of(scop.order)
    shared = tuple(array for array in scop.arrays.values() if not array.private)
    private = tuple(array for array in scop.arrays.values() if array.private)
    everything = (*shared, *private)
    reads, musts, mays, kills = _tables(scop.statements, scop.kills, everything)
    found += _dependences("flow", _flow(reads, musts, mays, kills, order).full)
    # Memory that all iterations share stays occupied by what a declaration ends the life of: kills hide values alone.
    s_reads, s_musts, s_mays, _ = _tables(scop.statements, (), shared)
    writes = s_musts.union(s_mays)
    if not writes.is_empty():
        empty = isl.UnionMap("{ }")
        anti = _flow(writes, empty, s_reads, s_musts, order)
        found += _dependences("anti", anti.full)
        output = _flow(writes, s_musts, s_mays, empty, order)
        found += _dependences("output", output.full)
    for array in private:
        found += _reuse(array, scop, order)
    if inputs:
        found += _dependences("input", _flow(reads, isl.UnionMap("{ }"), reads, musts.union(kills), order).full)
    return Dependences(tuple(found))


def _with_reductions(scop: Scop, inputs: bool, updates: Mapping[str, Update]) -> Dependences:
    """The dependences where the updates of a cell may change places.

    An update doesn't hide what is written before it: taken for a write that may or may not happen, each update depends
    on what was there before the first one, and what comes after the last one depends on each.
    """
    loose = replace(scop, statements=tuple(_loose(one, updates.get(one.name)) for one in scop.statements))
    arrays = {update.array for update in updates.values()}
    # Between statements that update cells of one array:
    # pairs through the updates themselves, and through what else they read.
    through = _by_key(_flow_over(_reading(loose, updates, own=True), arrays))
    besides = _by_key(d for d in _strict(_reading(loose, updates, own=False), inputs=False).all if d.array in arrays)
    kept, moved = list[Dependence](), list[Dependence]()
    for dependence in _strict(loose, inputs).all:
        first, second = (updates.get(name) for name in (dependence.source, dependence.sink))
        own = through.get(("flow", dependence.array, dependence.source, dependence.sink))
        same = (
            first is not None
            and second is not None
            and (first.array, first.operator) == (second.array, second.operator)
        )
        if dependence.kind == "input" or not same or first is None or first.array != dependence.array or own is None:
            kept.append(dependence)
            continue
        if dependence.kind == "flow":
            moved.append(replace(dependence, kind="reduction", relation=own, operator=first.operator, best=first.best))
        rest = dependence.relation.subtract(own)
        other = besides.get((dependence.kind, dependence.array, dependence.source, dependence.sink))
        rest = rest.union(other) if other is not None and dependence.kind != "output" else rest
        if not rest.is_empty():
            kept.append(replace(dependence, relation=rest.coalesce()))
    return Dependences(tuple(kept), tuple(moved))


def _loose(statement: Statement, update: Update | None) -> Statement:
    """The statement with its update as a write that may or may not happen."""
    if update is None:
        return statement
    own = [id(access) for access in update.own]
    accesses = (replace(a, kind="may-write") if a.is_write and id(a) in own else a for a in statement.accesses)
    return replace(statement, accesses=tuple(accesses))


def _reading(scop: Scop, updates: Mapping[str, Update], *, own: bool) -> Scop:
    """The SCoP with no other reads of updated arrays than those of the updates, or with all but those."""

    def kept(statement: Statement, access: Access) -> bool:
        update = updates.get(statement.name)
        if access.is_write or update is None or access.array != update.array:
            return True
        return (access in update.own) == own

    changed = (replace(s, accesses=tuple(a for a in s.accesses if kept(s, a))) for s in scop.statements)
    return replace(scop, statements=tuple(changed))


def _flow_over(scop: Scop, arrays: Collection[str]) -> list[Dependence]:
    """The flow dependences over some arrays."""
    reads, musts, mays, kills = _tables(
        scop.statements, scop.kills, [array for name, array in scop.arrays.items() if name in arrays]
    )
    return _dependences("flow", _flow(reads, musts, mays, kills, SourceOrder.of(scop.order)).full)


def _by_key(found: Iterable[Dependence]) -> dict[tuple[str, str, str, str], isl.Map]:
    return {(d.kind, d.array, d.source, d.sink): d.relation for d in found}


def classify_private(
    arrays: Mapping[str, Array],
    statements: Iterable[Statement],
    kills: Iterable[Statement],
    order: isl.UnionMap,
    dead: frozenset[str],
    anew: Collection[str] = (),
) -> Mapping[str, Array]:
    """Mark the arrays that threads may have copies of: nobody sees their value afterwards,
    and none is read before it is written. anew: of these that is known."""
    known = {name for name, array in arrays.items() if array.local or name in anew}
    candidates = tuple(array for name, array in arrays.items() if name in dead - known and fits_a_stack(array))
    reads, musts, mays, killed = _tables(tuple(statements), tuple(kills), candidates)
    exposed = {
        m.get_tuple_name(isl.dim_type.out)
        for m in maps_of(_flow(reads, musts, mays, killed, SourceOrder.of(order)).exposed)
    }
    # A kill makes later reads sourceless too, but reading an uninitialized local is undefined behaviour: it has no
    # value to lose.
    return {
        name: replace(array, private=name in dead and fits_a_stack(array) and (name in known or name not in exposed))
        for name, array in arrays.items()
    }


def fits_a_stack(array: Array, limit: int = MAX_PRIVATE_BYTES) -> bool:
    """Whether each thread's stack can take a copy: a scalar, or an array of constant and moderate size."""
    elements = prod(size if size is not None else limit + 1 for size in array.sizes)
    return elements * max(array.type.bits // 8, 1) <= limit


def _tables(
    statements: Iterable[Statement], kills: Iterable[Statement], arrays: Iterable[Array]
) -> tuple[isl.UnionMap, isl.UnionMap, isl.UnionMap, isl.UnionMap]:
    """Reads, must-writes, may-writes and kills of some arrays."""
    names = {array.name for array in arrays}

    def relations(accesses: Iterable[Access], *kinds: str) -> isl.UnionMap:
        return union_of_maps(a.relation for a in accesses if a.array in names and a.kind in kinds)

    accesses = [access for statement in statements for access in statement.accesses]
    killed = [access for kill in kills for access in kill.accesses]
    return (
        relations(accesses, "read"),
        relations(accesses, "write"),
        relations(accesses, "may-write"),
        relations(killed, "write"),
    )


def last_sources(scop: Scop, access: Access) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Where one read gets its value: ``{ T[j] -> S[i] }``, and ``{ T[j] -> A[a] }`` where it may be older than the
    region.

    access: of a statement of the SCoP.
    """
    array = scop.arrays[access.array]
    _, musts, mays, kills = _tables(scop.statements, scop.kills, (array,))
    flow = _flow(isl.UnionMap.from_map(access.relation), musts, mays, kills, SourceOrder.of(scop.order))
    sources = union_of_maps(one.relation for one in _dependences("flow", flow.full))
    return sources.reverse(), flow.exposed


class _Flow(Struct, frozen=True, eq=False):
    """full: ``{ S[i] -> [T[j] -> A[a]] }``, sources to sinks.
    exposed: sinks that may have no source, ``{ T[j] -> A[a] }``."""

    full: isl.UnionMap
    exposed: isl.UnionMap


def _flow(sink: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, kills: isl.UnionMap, order: SourceOrder) -> _Flow:
    """The last sources before each sink, array by array.

    Where isl can't tell in reasonable time, all sources before it: more than needed, never less.
    """
    nothing = isl.UnionMap("{ }")
    by_array = [_by_array(accesses) for accesses in (must, may, kills)]
    full = exposed = nothing
    for array, sinks in _by_array(sink).items():
        musts, mays, killed = (accesses.get(array, nothing) for accesses in by_array)
        touching = sinks.domain().union(musts.domain()).union(mays.domain()).union(killed.domain())
        # with parameters in the accesses' order: that of the whole source's dates comes from all that is there
        table = Earlier(sinks, order, order.of_some(touching.universe()).align_params(sinks.get_space()))
        asked = (sinks, musts, mays, killed, table.dates)
        with operation_limit(_operations(sinks, musts.union(mays))):
            flow = _KNOWN.of(asked, partial(_in_time, table, musts, mays, killed))
        if flow is None:
            flow = _Flow(table.pairs(musts.union(mays)), sinks)
        full, exposed = full.union(flow.full), exposed.union(flow.exposed)
    return _Flow(full, exposed)


# Of the last sources of accesses to one array; None where isl can't tell in time, which it couldn't later either.
_KNOWN = Answers[_Flow | None](256)


def _in_time(earlier: Earlier, must: isl.UnionMap, may: isl.UnionMap, kills: isl.UnionMap) -> _Flow | None:
    """`_last_sources`; None where that takes too many operations."""
    try:
        return _last_sources(earlier, must, may, kills)
    except isl.Error:
        return None


def _operations(sinks: isl.UnionMap, sources: isl.UnionMap) -> int:
    """How many the flow over one array may take."""
    pairs = int(sinks.n_map()) * int(sources.n_map())
    return min(FLOW_OPERATIONS + PAIR_OPERATIONS * pairs, MAX_FLOW_OPERATIONS)


# The reads before a write, and the writes before it, mostly have the same writes between them.
_LATEST = Answers[tuple[isl.UnionMap, isl.UnionMap]](64)


def _last_sources(earlier: Earlier, must: isl.UnionMap, may: isl.UnionMap, kills: isl.UnionMap) -> _Flow:
    """The last must-source of each sink unless a kill comes later, and the may-sources after it.

    By lexicographic maxima of dates, as Feautrier's analysis defines it. (isl's own compute_flow loses sources where
    loops with strides have bounds with remainders: ``for (j = n; j > 0; j -= 2) for (k = 4; k >= j % 2; k -= 2)``.)
    """
    order, hiding = earlier.dates, must.union(kills)
    dates = order.intersect_domain(hiding.domain().universe())
    earlier = replace(earlier, near=near_sources(earlier, hiding))
    pairs, last = _LATEST.of((earlier.sinks, hiding, dates), partial(latest, earlier, hiding, dates))
    own = pairs if kills.is_empty() else earlier.pairs(must)
    found = last.apply_range(order.reverse()).intersect(own.reverse())
    possible = earlier.pairs(may).reverse()
    if not possible.is_empty():
        hidden = union_of_maps(
            relation.apply_range(isl.Map.lex_gt(relation.get_space().range())) for relation in maps_of(last)
        )
        visible = possible.apply_range(order).subtract(hidden)
        sources = visible.apply_range(order.reverse()).intersect(possible)
    else:
        sources = possible
    exposed = earlier.sinks.subtract(found.domain().unwrap())
    return _Flow(found.union(sources).reverse(), exposed)


def _by_array(accesses: isl.UnionMap) -> dict[str, isl.UnionMap]:
    """Access relations by the array's name."""
    found: dict[str, isl.UnionMap] = {}
    for relation in maps_of(accesses):
        one = isl.UnionMap.from_map(relation)
        name = str(relation.get_tuple_name(isl.dim_type.out))
        found[name] = found[name].union(one) if name in found else one
    return found


def _dependences(kind: DependenceKind, full: isl.UnionMap) -> list[Dependence]:
    """Split ``{ S[i] -> [T[j] -> A[a]] }`` by statements and array.
    Kills are no statements: isl never reports them as sources."""
    found = []
    for relation in maps_of(full):
        wrapped = relation.get_space().range().unwrap()
        sink, array = wrapped.get_tuple_name(isl.dim_type.in_), wrapped.get_tuple_name(isl.dim_type.out)
        source = relation.get_tuple_name(isl.dim_type.in_)
        # { S -> [T -> A] } to { S -> T }
        pairs = relation.uncurry().domain().unwrap() if relation.can_uncurry() else relation.range_factor_domain()
        found.append(Dependence(kind, str(array), str(source), str(sink), _coalesced(pairs)))
    return found


def _coalesced(pairs: isl.Map) -> isl.Map:
    """The pairs in few pieces, where that doesn't take longer than what it is for."""
    if pairs.n_basic_map() < MANY_PIECES:
        return pairs.coalesce()
    try:
        with operation_limit(FLOW_OPERATIONS):
            return pairs.coalesce()
    except isl.Error:
        return pairs


def _reuse(array: Array, scop: Scop, order: SourceOrder) -> list[Dependence]:
    """Every pair of an access and a later write of the same cell of a private array (memory-based: intermediate writes
    don't hide a pair)."""
    found: list[Dependence] = []
    accesses = [a for s in scop.statements for a in s.accesses if a.array == array.name]
    reads = union_of_maps(a.relation for a in accesses if a.kind == "read")
    writes = union_of_maps(a.relation for a in accesses if a.is_write)
    involved: tuple[tuple[DependenceKind, isl.UnionMap], ...] = (("anti", reads), ("output", writes))
    for kind, earlier in involved:
        found += _dependences(kind, Earlier(writes, order, isl.UnionMap("{ }")).pairs(earlier))
    return found
