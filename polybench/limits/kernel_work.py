"""What a kernel has to do, by its SCoP with the sizes fixed: operations, cells that have to travel, memory that is
touched. All of it exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import islpy as isl
from msgspec import Struct

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.options import Options
from scopt.poly.isl_utils import SET, maps_of, sets_of, union_of_maps, union_of_sets
from scopt.polybench.catalog import Kernel
from scopt.polybench.limits.operations import Operation, certain_accesses, operations_of
from scopt.polybench.limits.points import NotCounted, count

# The loops' bounds are the macros' values then, so that the SCoP has no parameters.
FIXED_SIZES = "-DPOLYBENCH_USE_SCALAR_LB"


class Operations(Struct, frozen=True):
    """How many. flops: additions, subtractions, multiplications, comparisons, on integers where the data are integers.
    divisions, roots, calls (of other functions): apart from them."""

    flops: int = 0
    divisions: int = 0
    roots: int = 0
    calls: int = 0


class Work(Struct, frozen=True):
    """What one execution of a kernel does.

    element: the C type that it computes in. bits: the width of it. floating: or else an integer.
    written: operations as the statements stand, each expression once in an instance.
    needed: without those that repeat: an expression whose operands have got their last values before the statement's
      first instance is computed once for all instances that read the same cells; and without those that depend on a
      condition. No schedule saves more of them, except by algebra or by sharing between statements.
    read: bytes of the cells that are read before they are written. stored: of those that are written and outlive the
      region's own variables.
    footprint: of all that is accessed.
    """

    element: str
    bits: int
    floating: bool
    written: Operations
    needed: Operations
    read: int
    stored: int
    footprint: int

    @property
    def compulsory(self) -> int:
        """Bytes that have to pass between memory and cache once,
        if the caches are empty before and written back after."""
        return self.read + self.stored


def work_of_kernel(kernel: Kernel, defines: Sequence[str], cc: str) -> Work:
    """What a kernel of a suite does. defines: -D flags that choose the sizes.
    cc: for its preprocessor. Raises NotCounted, InputError."""
    flags = (*(f"-I{include}" for include in kernel.includes), *defines, FIXED_SIZES)
    unit = parse(kernel.source.read_bytes(), str(kernel.source), Options(cc=cc, cpp_flags=flags), symbolic=False)
    if len(unit.regions) != 1:
        raise NotCounted(f"{kernel.source}: it has {len(unit.regions)} marked regions, not one")
    try:
        return work_of(extract(unit, unit.regions[0], kernel.name))
    except Refusal as refusal:
        raise NotCounted(f"{refusal.remark.location}: {refusal.remark.message}") from refusal


def work_of(scop: Scop) -> Work:
    """What a SCoP without parameters does. Raises NotCounted."""
    if scop.parameters:
        names = ", ".join(parameter.spelling for parameter in scop.parameters)
        raise NotCounted(f"{scop.location}: the sizes aren't constants: {names}")
    element = _element(scop)
    written, needed = _operations(scop)
    read = stored = footprint = 0
    for array in scop.arrays.values():
        size = _bytes(array)
        reads, writes = _accesses(scop, array.name)
        footprint += size * _count_all(_touched(array, reads.range().union(writes.range())))
        if not array.local:
            sure_reads, sure_writes = _sure_accesses(scop, array.name)
            read += size * _count_all(_exposed(sure_reads, writes, scop.order))
            stored += 0 if array.private else size * _count_all(sure_writes.range())
    return Work(element.spelling, element.bits, element.floating, written, needed, read, stored, footprint)


# --- operations -------------------------------------------------------------------------------------------------------


def _operations(scop: Scop) -> tuple[Operations, Operations]:
    """As written, and needed."""
    last_writes = {array: _last_write(scop, array) for array in scop.arrays}
    written: Counter[str] = Counter()
    needed: Counter[str] = Counter()
    for statement in scop.statements:
        operations = operations_of(statement)
        if not operations:
            continue
        instances = count(statement.domain)
        first = _dates(scop.order, statement.domain)[0]
        settled = frozenset(array for array, last in last_writes.items() if last is None or last < first)
        distinct = cache(lambda reads, of=statement: _tuples_together(of, reads))
        for operation in operations:
            written[operation.kind] += instances
            if operation.certain:
                needed[operation.kind] += (
                    distinct(_cells_read(operation)) if _repeats(operation, settled) else instances
                )
    return _as_operations(written), _as_operations(needed)


def _repeats(operation: Operation, settled: frozenset[str]) -> bool:
    """Whether the value depends on cells alone, whose values don't change any more."""
    return (
        bool(operation.reads) and not operation.iterates and all(access.array in settled for access in operation.reads)
    )


def _cells_read(operation: Operation) -> tuple[isl.Map, ...]:
    return tuple(access.relation for access in operation.reads)


def _tuples_together(statement: Statement, reads: Sequence[isl.Map]) -> int:
    """How many different tuples of cells instances of the statement read together. Where nobody knows which cells they
    are, they count as different ones each time."""
    together = reads[0]
    for relation in reads[1:]:
        together = together.flat_range_product(relation)
    together = together.intersect_domain(statement.domain)
    if together.is_injective() or not all(relation.is_single_valued() for relation in reads):
        return count(statement.domain)
    return count(together.range())


def _last_write(scop: Scop, array: str) -> tuple[int, ...] | None:
    """The date of the last instance that writes to the array, None if there is none."""
    writes = _accesses(scop, array)[1]
    dates = [_dates(scop.order, domain)[1] for domain in sets_of(writes.domain())]
    return max(dates, default=None)


def _dates(order: isl.UnionMap, instances: isl.Set) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dates of the first and the last of some instances (not none)."""
    dates = sets_of(order.intersect_domain(isl.UnionSet.from_set(instances)).range())[0]
    return _only(dates.lexmin()), _only(dates.lexmax())


def _only(points: isl.Set) -> tuple[int, ...]:
    point = points.sample_point()
    return tuple(point.get_coordinate_val(SET, position).to_python() for position in range(points.dim(SET)))


def _as_operations(counts: Counter[str]) -> Operations:
    return Operations(counts["flop"], counts["division"], counts["root"], counts["call"])


# --- bytes ------------------------------------------------------------------------------------------------------------


def _accesses(scop: Scop, array: str) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Reads and writes of an array."""
    accesses = [access for statement in scop.statements for access in statement.accesses if access.array == array]
    reads, writes = ([access.relation for access in accesses if access.is_write == write] for write in (False, True))
    return union_of_maps(reads), union_of_maps(writes)


def _sure_accesses(scop: Scop, array: str) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Reads and writes of an array that are made whatever the data are, to cells that are known."""
    sure = [access for s in scop.statements for access in certain_accesses(s) if access.array == array]
    reads, writes = ([access.relation for access in sure if access.is_write == write] for write in (False, True))
    return union_of_maps(reads), union_of_maps(writes)


def _touched(array: Array, cells: isl.UnionSet) -> isl.UnionSet:
    """The cells that may be accessed. Where it depends on data which, those that the array has, if that is known;
    if it isn't, those that are accessed elsewhere."""
    known = []
    for one in sets_of(cells):
        for position, size in enumerate(array.sizes):
            if size is not None:
                one = one.lower_bound_val(SET, position, 0).upper_bound_val(SET, position, size - 1)
        known += [piece for piece in one.get_basic_sets() if piece.is_bounded()]
    return union_of_sets([isl.Set.from_basic_set(piece) for piece in known])


def _exposed(reads: isl.UnionMap, writes: isl.UnionMap, order: isl.UnionMap) -> isl.UnionSet:
    """The cells that are read before they are written, or never written: their first read is no later than their first
    (possible) write, since all reads of an instance come before its writes."""
    both = reads.range().intersect(writes.range())
    first_reads, first_writes = (
        accesses.intersect_range(both).reverse().apply_range(order).lexmin() for accesses in (reads, writes)
    )
    early = []
    for dates in maps_of(first_reads.range_product(first_writes)):
        no_later = isl.Map.lex_le(dates.get_space().range().unwrap().domain()).wrap()
        early.append(dates.intersect_range(no_later).domain())
    return union_of_sets(early).union(reads.range().subtract(writes.range()))


def _count_all(cells: isl.UnionSet) -> int:
    return sum(count(one) for one in sets_of(cells))


def _bytes(array: Array) -> int:
    if not array.type.bits:
        raise NotCounted(f"the size of {array.spelling}'s elements isn't known")
    return array.type.bits // 8


def _element(scop: Scop) -> CType:
    """The type that is computed in: the widest floating-point type of what is written, or else the widest type."""
    written = {access.array for statement in scop.statements for access in statement.accesses if access.is_write}
    return _widest(scop.arrays[name].type for name in scop.arrays if name in written)


def _widest(types: Iterable[CType]) -> CType:
    return max(types, key=lambda ctype: (ctype.floating, ctype.bits))
