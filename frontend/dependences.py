"""Dependence analysis: flow (value-based), anti, output and, on demand, input dependences, over scalars and arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from scopt.isl_utils import maps_of, operation_limit, union_of_maps
from scopt.model import Access, Array, Dependence, DependenceKind, Dependences, Scop, Statement

# isl's elementary operations for one analysis; value-based dependences that need more are replaced by memory-based ones.
MAX_FLOW_OPERATIONS = 10_000_000
# Private copies live on the threads' stacks, which are small by default.
MAX_PRIVATE_BYTES = 32_768


def dependences(scop: Scop, *, inputs: bool = False) -> Dependences:
    """All dependences of a SCoP; input (read-after-read) ones only if asked for.

    Source: value-based flow as in Feautrier, "Dataflow analysis of array and scalar references" (1991), computed by isl; kills are
    the declarations of locals.
    """
    found: list[Dependence] = []
    shared = tuple(array for array in scop.arrays.values() if not array.private)
    private = tuple(array for array in scop.arrays.values() if array.private)
    everything = (*shared, *private)
    reads, musts, mays, kills = _tables(scop.statements, scop.kills, everything)
    found += _dependences("flow", _flow(reads, musts, mays, kills, scop.order).full)
    s_reads, s_musts, s_mays, s_kills = _tables(scop.statements, scop.kills, shared)
    writes = s_musts.union(s_mays)
    if not writes.is_empty():
        empty = isl.UnionMap("{ }")
        anti = _flow(writes, empty, s_reads, s_musts.union(s_kills), scop.order)
        found += _dependences("anti", anti.full)
        output = _flow(writes, s_musts, s_mays, s_kills, scop.order)
        found += _dependences("output", output.full)
    for array in private:
        found += _reuse(array, scop)
    if inputs:
        found += _dependences("input", _flow(reads, isl.UnionMap("{ }"), reads, musts.union(kills), scop.order).full)
    return Dependences(tuple(found))


def classify_private(
    arrays: Mapping[str, Array], statements: Iterable[Statement], kills: Iterable[Statement], order: isl.UnionMap, dead: frozenset[str]
) -> Mapping[str, Array]:
    """Mark the arrays that threads may have copies of: nobody sees their value afterwards, and none is read before it is written."""
    candidates = tuple(array for name, array in arrays.items() if name in dead)
    reads, musts, mays, killed = _tables(tuple(statements), tuple(kills), candidates)
    exposed = {m.get_tuple_name(isl.dim_type.out) for m in maps_of(_flow(reads, musts, mays, killed, order).exposed)}
    # A kill makes later reads sourceless too, but reading an uninitialized local is undefined behaviour: it has no value to lose.
    return {
        name: replace(array, private=name in dead and _fits_a_stack(array) and (array.local or name not in exposed))
        for name, array in arrays.items()
    }


def _fits_a_stack(array: Array) -> bool:
    """Whether each thread's stack can take a copy: a scalar, or an array of constant and moderate size."""
    elements = prod(size if size is not None else MAX_PRIVATE_BYTES + 1 for size in array.sizes)
    return elements * max(array.type.bits // 8, 1) <= MAX_PRIVATE_BYTES


def _tables(
    statements: Iterable[Statement], kills: Iterable[Statement], arrays: Iterable[Array]
) -> tuple[isl.UnionMap, isl.UnionMap, isl.UnionMap, isl.UnionMap]:
    """Reads, must-writes, may-writes and kills of some arrays."""
    names = {array.name for array in arrays}

    def relations(accesses: Iterable[Access], *kinds: str) -> isl.UnionMap:
        return union_of_maps(a.relation for a in accesses if a.array in names and a.kind in kinds)

    accesses = [access for statement in statements for access in statement.accesses]
    killed = [access for kill in kills for access in kill.accesses]
    return relations(accesses, "read"), relations(accesses, "write"), relations(accesses, "may-write"), relations(killed, "write")


@dataclass(frozen=True, slots=True, eq=False)
class _Flow:
    """full: ``{ S[i] -> [T[j] -> A[a]] }``, sources to sinks. exposed: sinks that may have no source, ``{ T[j] -> A[a] }``."""

    full: isl.UnionMap
    exposed: isl.UnionMap


def _flow(sink: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, kills: isl.UnionMap, order: isl.UnionMap) -> _Flow:
    """The last sources before each sink. Where isl can't tell in reasonable time, all sources before it: more than needed, never less."""
    info = isl.UnionAccessInfo.from_sink(sink).set_must_source(must).set_may_source(may).set_kill(kills)
    try:
        with operation_limit(MAX_FLOW_OPERATIONS):
            flow = info.set_schedule_map(order).compute_flow()
            return _Flow(flow.get_full_may_dependence(), flow.get_may_no_source())
    except isl.Error:
        earlier = order.lex_lt_union_map(order).apply_range(sink.domain_map().reverse())
        same_cell = must.union(may).apply_range(sink.range_map().reverse())
        return _Flow(same_cell.intersect(earlier), sink)


def _dependences(kind: DependenceKind, full: isl.UnionMap) -> list[Dependence]:
    """Split ``{ S[i] -> [T[j] -> A[a]] }`` by statements and array. Kills are no statements: isl never reports them as sources."""
    found = []
    for relation in maps_of(full):
        wrapped = relation.get_space().range().unwrap()
        sink, array = wrapped.get_tuple_name(isl.dim_type.in_), wrapped.get_tuple_name(isl.dim_type.out)
        source = relation.get_tuple_name(isl.dim_type.in_)
        # { S -> [T -> A] } to { S -> T }
        pairs = relation.uncurry().domain().unwrap() if relation.can_uncurry() else relation.range_factor_domain()
        found.append(Dependence(kind, str(array), str(source), str(sink), pairs.coalesce()))
    return found


def _reuse(array: Array, scop: Scop) -> list[Dependence]:
    """Every pair of an access and a later write of the same cell of a private array (memory-based: intermediate writes don't hide a pair)."""
    found = []
    accesses = [(s.name, a) for s in scop.statements for a in s.accesses if a.array == array.name]
    reads = union_of_maps(a.relation for _, a in accesses if a.kind == "read")
    writes = union_of_maps(a.relation for _, a in accesses if a.is_write)
    involved: tuple[tuple[DependenceKind, isl.UnionMap], ...] = (("anti", reads), ("output", writes))
    for kind, earlier in involved:
        if earlier.is_empty() or writes.is_empty():
            continue
        same_cell = earlier.apply_range(writes.reverse())
        first = scop.order.intersect_domain(same_cell.domain())
        second = scop.order.intersect_domain(same_cell.range())
        for relation in maps_of(same_cell.intersect(first.lex_lt_union_map(second))):
            if relation.is_empty():
                continue
            source, sink = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
            found.append(Dependence(kind, array.name, str(source), str(sink), relation.coalesce()))
    return found
