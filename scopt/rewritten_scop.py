"""A SCoP as it was read, and with cells in place of scalars: dependences, and what shows that both compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import islpy as isl
from msgspec.structs import replace

from scopt.astgen.allocation import allocations
from scopt.check.merged_loops import check_merged
from scopt.check.rewritten import check_rewritten
from scopt.check.tables import check_tables
from scopt.diagnostics import ScoptError
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import operation_limit
from scopt.poly.reordering import Reorder, updates_of
from scopt.poly.strip_loops import without_strips
from scopt.scheduler.decisions.contractions import shape_of
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.passes.carrying import carry
from scopt.scheduler.passes.expansion import Expansion, expand
from scopt.scheduler.passes.forwarding import forward
from scopt.scheduler.passes.ordered_tails import Tails, tails_apart
from scopt.scheduler.passes.own_arrays import OwnArrays, own_arrays
from scopt.scheduler.passes.private_tables import Tabulated, tabulated
from scopt.scheduler.passes.rolling_rows import Rolled, rolled
from scopt.scheduler.passes.row_extrema import with_row_extrema
from scopt.scheduler.passes.row_results import rows_apart
from scopt.scheduler.passes.row_values import values_apart
from scopt.scheduler.passes.totals import Totals, with_totals
from scopt.scheduler.passes.waiting_operands import with_operands
from scopt.scheduler.passes.work_arrays import own_work, reused
from scopt.tell.results import Outcome

# isl counts elementary operations; this many take some seconds. What needs more is tried again in a simpler form.
MAX_OPERATIONS = 40_000_000

T = TypeVar("T")


def _unless_long(make: Callable[[], T | None]) -> T | None:
    """What is made; None where that takes more than it may gain."""
    try:
        with operation_limit(MAX_OPERATIONS):
            return make()
    except isl.Error:
        return None


def whole_loops(scop: Scop, options: Options) -> tuple[Scop, Exception | None]:
    """The SCoP with the loops that the source has cut into strips, and why it can't be shown that it is the same one;
    None if it can. Wishes for loops are for those of the source."""
    whole = None if options.influence else _unless_long(lambda: without_strips(scop))
    return (scop, None) if whole is None else (whole, _merging_fault(scop, whole, options))


def whole_blocks(scop: Scop, options: Options) -> tuple[Scop, Exception | None]:
    """Likewise without blocks that the source has written out by hand, where these hide a contraction."""
    whole = scop if options.influence else _without_blocks(scop)
    return whole, None if whole is scop else _merging_fault(scop, whole, options)


def _without_blocks(scop: Scop) -> Scop:
    """The SCoP without blocks that the source has written out by hand (`C[i + r][j]`, r < 8), where that leaves a
    contraction: it gets blocks of its own. Others may have theirs for a reason."""
    whole = _unless_long(lambda: without_strips(scop, sums=True))
    return scop if whole is None or not any(shape_of(whole, one) for one in whole.statements) else whole


def rewritten_scop(scop: Scop, deps: Dependences, options: Options) -> Expansion | None:
    """The SCoP with cells in place of scalars, and arrays in place of others, where that makes contractions, or vector
    loops; None if it nowhere does."""
    kernels = wanted(options)
    forwarded = forward(scop, deps.strict(), kernels=kernels, lanes=options.simd)
    if forwarded is not None:
        scop, deps = forwarded, dependences_of(forwarded, options)
    expansion = expand(scop, deps.strict()) if kernels else None
    if expansion is not None or forwarded is not None or not kernels:
        return expansion or (Expansion(scop, {}) if forwarded is not None else None)
    read = with_operands(scop, deps)
    return Expansion(read, {}) if _without_blocks(read) is not read else None


def side_scop(scop: Scop, deps: Dependences, options: Options) -> Expansion | None:
    """The SCoP with cells in place of scalars where sums run side by side then; None if they nowhere do."""
    found = forward(scop, deps.strict(), kernels=False, lanes=options.simd)
    return Expansion(found, {}) if found is not None else None


def same_statements(one: Scop, other: Scop) -> bool:
    """Whether two forms of a SCoP have the same statements."""
    mine, others = ({s.name: CPrinter().visit(s.body) for s in scop.statements} for scop in (one, other))
    return mine == others


def rows_scops(scop: Scop, deps: Dependences, options: Options) -> tuple[tuple[Expansion, bool], ...]:
    """The SCoP with cells for the results of rows, where these keep rows in order, and the same one with the rows' loop
    split, whose order stays; nothing if they nowhere do. Each with whether its order stays, the better one first."""
    if not (options.tile and (options.parallel or options.simd)):
        return ()
    found = rows_apart(scop, deps)
    if found is None and deps.reductions and options.simd:  # counters keep rows from being lanes beside each other
        found = rows_apart(scop, deps.strict())
    if found is None:
        return ()
    split = replace(found.expansion, scop=replace(found.expansion.scop, schedule=found.split))
    if found.inner:  # their cells have values of one iteration of the loops around
        return ((split, True),)
    both = ((found.expansion, False), (split, True))
    return both[::-1] if found.several else both


def tables_scop(scop: Scop, options: Options) -> Tabulated | None:
    """The SCoP with tables for what nests accumulate where data say, for threads to have copies of; None if there is no
    need of them."""
    if not options.parallel:
        return None
    return _unless_long(lambda: tabulated(scop, frozenset(updates_of(scop, reorder_of(options)))))


def totals_scop(scop: Scop, options: Options) -> Totals | None:
    """The SCoP with totals for what nests accumulate in signed numbers, or in cells; None if there is no need of
    them."""
    if not (options.parallel or options.simd):
        return None
    return _unless_long(lambda: with_totals(scop, frozenset(updates_of(scop, reorder_of(options)))))


def extrema_scops(
    scop: Scop, deps: Dependences, options: Options
) -> tuple[Scop, tuple[tuple[Expansion, bool], ...]] | None:
    """The SCoP with extrema of rows, and what `rows_scops` makes of that; None where nothing comes of it."""
    if not (options.tile and (options.parallel or options.simd)):
        return None
    try:
        with operation_limit(MAX_OPERATIONS):
            before = with_row_extrema(scop, deps)
            found = rows_scops(before, dependences_of(before, options), options) if before is not None else ()
            # in the order of the source, comparisons have loops of their own
            return (before, tuple(sorted(found, key=lambda one: not one[1]))) if before is not None and found else None
    except isl.Error:  # too much for what it may gain
        return None


def carrying_scop(scop: Scop, deps: Dependences, options: Options) -> Expansion | None:
    """The SCoP with scalars for what rows carry, where rows can be run beside each other; None if none carries
    anything."""
    made = carry(scop, deps.strict()) if options.simd and options.tile else None
    return None if made is None else Expansion(made, {})


def rolled_scop(scop: Scop, deps: Dependences, options: Options) -> Rolled | None:
    """The SCoP with cells for what rows that take each other's place hand on; None if there are no such rows."""
    if not options.tile or not options.simd:
        return None
    return _unless_long(lambda: rolled(scop, deps.strict()))


def own_scop(scop: Scop, deps: Dependences, options: Options) -> OwnArrays | None:
    """The SCoP with local arrays for what iterations of a loop share as memory alone; None if there is nothing."""
    if not options.parallel:
        return None
    return _unless_long(lambda: own_arrays(scop, deps, options.machine))


def work_scop(scop: Scop, deps: Dependences, options: Options) -> Expansion | None:
    """The SCoP with cells for each iteration of loops that only work arrays keep in order; None if there are none."""
    if not options.tile or not (options.parallel or options.simd):
        return None
    return _unless_long(lambda: own_work(scop, deps.strict(), options.machine))


def work_rows_scop(scop: Scop, deps: Dependences, options: Options) -> tuple[Expansion, frozenset[str]] | None:
    """The SCoP with cells for the results of rows that only work arrays keep in order besides, and with cells for each
    row in their place; and the former cells. None if there are none."""
    if not options.tile or not (options.parallel or options.simd):
        return None
    try:
        with operation_limit(MAX_OPERATIONS):
            strict = deps.strict()
            shared = reused(scop, strict)
            found = rows_apart(scop, strict, shared) if shared else None
            if found is None or found.inner or not found.tails:
                return None
            split = replace(found.expansion.scop, schedule=found.split)
            made = own_work(split, dependences(split), options.machine, found.tails)
            if made is None:
                return None
            sizes = {**found.expansion.extents, **made.extents}
            return Expansion(made.scop, sizes), frozenset(found.expansion.extents)
    except isl.Error:  # too much for what it may gain
        return None


def tails_scop(scop: Scop, deps: Dependences, options: Options) -> Tails | None:
    """The SCoP with what keeps loops in order behind them, where these do much else; None if there are no such."""
    if not options.parallel:
        return None
    return _unless_long(lambda: tails_apart(scop, deps, options.machine))


def values_scop(scop: Scop, deps: Dependences, options: Options) -> tuple[Expansion, frozenset[str]] | None:
    """The SCoP with cells for what is computed for each row that is added to a line, and the statements that add rows;
    None if there are no such."""
    if not options.parallel:
        return None
    return _unless_long(lambda: values_apart(scop, deps.strict()))


def rewriting_fault(scop: Scop, rewritten: Expansion) -> Exception | None:
    """Why it can't be shown that a rewritten SCoP computes what the original does; None if it can."""
    try:
        with operation_limit(MAX_OPERATIONS):
            check_rewritten(scop, rewritten.scop, allocations(rewritten.scop, rewritten.extents))
    except (isl.Error, ScoptError) as error:
        return error
    return None


def _merging_fault(scop: Scop, merged: Scop, options: Options) -> Exception | None:
    """Why it can't be shown that a SCoP without strips, or blocks, is the same as with them; None if it can, or nobody
    asks."""
    if options.verify != "full":
        return None
    try:
        with operation_limit(MAX_OPERATIONS):
            check_merged(scop, merged)
    except (isl.Error, ScoptError) as error:
        return error
    return None


def tables_fault(scop: Scop, made: Scop) -> Exception | None:
    """Why it can't be shown that a SCoP with tables computes what the original does; None if it can."""
    try:
        with operation_limit(MAX_OPERATIONS):
            check_tables(scop, made)
    except (isl.Error, ScoptError) as error:
        return error
    return None


def dependences_of(scop: Scop, options: Options) -> Dependences:
    """The dependences, with reductions in any order as far as the options allow it."""
    return dependences(scop, inputs=options.inputs, updates=updates_of(scop, reorder_of(options)))


def reorder_of(options: Options) -> Reorder:
    """Which reductions may be computed in another order."""
    return Reorder.ALL if options.reassociate else Reorder.WRAPPING if "-fwrapv" in options.cpp_flags else Reorder.SAFE


def with_memory(outcome: Outcome, expansion: Expansion) -> Outcome:
    """The outcome with the expanded arrays' memory."""
    if not expansion.extents:
        return outcome
    needed = (*allocations(expansion.scop, expansion.extents), *outcome.allocations)
    helpers = (*outcome.helpers, *(helper for one in needed for helper in one.helpers))
    return replace(outcome, allocations=needed, helpers=helpers)
