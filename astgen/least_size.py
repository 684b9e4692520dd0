"""From which size on the loops that a region has become run: below, the original ones do.

Loops over tiles that threads may share call the OpenMP runtime, even where their work is too little for threads; tiles
have bounds of their own, and buffers are filled. All that takes some fractions of a microsecond, which is nothing for
long loops, and several times the time of short ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from fractions import Fraction
from math import gcd, prod

from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.gained import gains_anywhere, has_borders_apart, has_more_tests
from scopt.astgen.least_lengths import outweighed, source_factors, tile_lengths, vector_lengths
from scopt.astgen.one_thread import has_own_vectors, is_straight
from scopt.astgen.passes.short_strips import PIECE, short_strip
from scopt.astgen.passes.two_forms import takes_two_forms
from scopt.astgen.shared_lines import SHARED_ROWS, share_far_lines
from scopt.astgen.source_work import (
    NEVER,
    is_plain,
    product_of,
    source_tests,
    vector_elements,
    waiting,
    without_tests,
)
from scopt.astgen.worth import Worth, never_holds, of_diagonals
from scopt.ir.expr import disjunction, exceeds, from_linear, linear, names, plus, subtract
from scopt.ir.marked_schedule import MarkedSchedule, Strips
from scopt.ir.nest import Block, Call, Condition, Expr, For, LoopNest, Or, Threads
from scopt.ir.nest_walks import Item, calls, children, items
from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.machine.costs import (
    SKEWED_FORKS,
    least_region,
    least_work_on_lines,
    shared_work,
    strip_rows,
)
from scopt.machine.streams import least_beside
from scopt.poly.linear import subscript_rows

# Instances up to which a region is too small for anybody to care: it has no test (chosen).
_FEW = 16
# How many times the work from which on register tiles pay in a region that is marked they have to have in others, which
# stand beside other code: what fills their buffers finds operands in no near cache (chosen; products of small matrices
# gain from half of that on).
_UNASKED = 4


class Gain(Enum):
    """What one thread gains by. CELLS: registers, lanes, straight code. VECTORS: vector loops, which compilers may make
    of the original, too. LINES: lines that stay in the first cache. NONE: threads alone, and larger caches."""

    CELLS = auto()
    VECTORS = auto()
    LINES = auto()
    NONE = auto()


def least_size(
    source: Scop, marked: MarkedSchedule, loops: LoopNest, nest: LoopNest, machine: Machine, condition: str = ""
) -> Worth:
    """The nest with the condition under which it pays.

    source: the SCoP that was scheduled; its own order is the original's. loops: as they are before they are rewritten
    for the printer; nest: as they are printed. condition: C text under which threads pay, the only gain; empty: there
    may be others.
    """
    if not (condition or _has_overhead(marked, nest)):
        return Worth(nest)
    return _sized(source, marked, loops, nest, machine, condition)


def _sized(
    source: Scop,
    marked: MarkedSchedule,
    loops: LoopNest,
    nest: LoopNest,
    machine: Machine,
    condition: str = "",
    *,
    unasked: bool = False,
) -> Worth:
    """unasked: nobody marked the region, which fills buffers."""
    gain = Gain.NONE if condition else _gain(source, marked, loops, nest)
    if condition and (lone := of_diagonals(source, nest)) is not None:
        return lone
    tests = _tests(source, marked, loops, nest, machine, gain, unasked=unasked)
    found = [
        _for_threads(one, nest) if gain is Gain.NONE else one for one in tests if one is not None and is_plain(one)
    ]
    if len(found) < len(tests) or not any(map(_is_some, found)):
        return Worth(nest, condition)
    printer = ExprPrinter.of(source)
    texts = [printer.condition(one).text for one in found]
    text = texts[0] if len(texts) == 1 else f"({' || '.join(texts)})"
    if gain is Gain.NONE and (condition or _is_cached(source, machine)):
        text = f"{text} && {printer.condition(Threads()).text}"
    elif rows := strip_lengths(source, marked, loops, machine):
        text = " && ".join(
            (
                text,
                *(
                    f"({printer.condition(one).text})" if isinstance(one, Or) else printer.condition(one).text
                    for one in rows
                ),
            )
        )
    elif lengths := [*tile_lengths(source, marked), *(vector_lengths(source, loops) if gain is Gain.CELLS else ())]:
        text = " && ".join((text, *(printer.condition(one).text for one in lengths)))
    never = all(never_holds(source, one) for one in found)
    return Worth(LoopNest(without_tests(nest.body, found)), text, never=never)


def least_size_alone(
    source: Scop, marked: MarkedSchedule, loops: LoopNest, nest: LoopNest, machine: Machine, worth: Worth
) -> Worth:
    """The same for a region that nobody has marked, of which one thread gains: `worth`, which asks for as much work as
    threads do, where strips' buffers are filled, or OpenMP's runtime is called, which take their time at first, and
    where nothing is known that compilers wouldn't do. Register tiles do several times as much in a cycle as chains that
    wait for each other: they pay from a small multiple of the work on that they do where somebody marked them."""
    shared = _guarded(nest)
    filled = any(one.buffers for one in marked.strips.values() if one.vectors)
    two_forms = bool(shared) and all(map(takes_two_forms, shared))
    again = _calls_again(marked, nest) and not (two_forms and has_own_vectors(source, loops))
    if marked.packed or filled or again:
        return worth
    if marked.tilings:
        return _sized(source, marked, loops, nest, machine, unasked=True)
    # Chains that wait beside each other gain several times as much as OpenMP's first call takes.
    if not (marked.strips or _is_jammed(loops) or two_forms):
        return worth
    if _gain(source, marked, loops, nest) is not Gain.CELLS:
        return worth
    found = _sized(source, marked, loops, nest, machine)
    if found.condition:
        return found
    tests = _tests(source, marked, loops, nest, machine, Gain.CELLS)
    always = all(one is not None and is_plain(one) and not _is_some(one) for one in tests)
    return found if always and not strip_lengths(source, marked, loops, machine) else worth


def _gain(source: Scop, marked: MarkedSchedule, loops: LoopNest, nest: LoopNest) -> Gain:
    cells = gains_anywhere(marked, loops, _deepest(source)) or has_borders_apart(source, loops)
    if cells or is_straight(loops.body) or _is_jammed(loops):
        return Gain.CELLS
    if _has_vectors(source, nest):
        own = source.narrowed or has_more_tests(source) or has_own_vectors(source, loops)
        return Gain.CELLS if own else Gain.VECTORS
    return Gain.LINES if _jumps(source) else Gain.NONE


def _has_vectors(source: Scop, nest: LoopNest) -> bool:
    """Whether there are vector loops. In wavefronts, beside a chain of operations, as in a dynamic program over two
    rows, those that copy a row are none to count: the chain takes longer, and the original has them, too."""
    loops = [item for loop in _guarded(nest) for item in items(Block((loop,))) if isinstance(item, For)]
    if not _forks_again(nest.body, inside=False):
        return any(loop.mark.simd for loop in loops)
    return any(_runs_in_vectors(item, _deepest(source)) for item in nest.body.items)


def _runs_in_vectors(item: Item, those: frozenset[str]) -> bool:
    """Whether some of these statements run in vector loops there, and, in wavefronts, none of them elsewhere."""
    loops = [one for one in items(Block((item,))) if isinstance(one, For)]
    simd, plain = (
        {
            call.statement
            for one in loops
            if one.mark.simd is vectors
            for call in one.body.items
            if isinstance(call, Call)
        }
        for vectors in (True, False)
    )
    return not those.isdisjoint(simd) and (those.isdisjoint(plain) or not _forks_again(Block((item,)), inside=False))


def _deepest(scop: Scop) -> frozenset[str]:
    """The statements in the most loops, which have most of the instances."""
    most = max((len(one.iterators) for one in scop.statements), default=0)
    return frozenset(one.name for one in scop.statements if len(one.iterators) == most)


def _tests(
    source: Scop,
    marked: MarkedSchedule,
    loops: LoopNest,
    nest: LoopNest,
    machine: Machine,
    gain: Gain,
    *,
    unasked: bool = False,
) -> list[Condition | None]:
    """That the original has enough work. Steps of rows that run beside each other wait for each other there. unasked:
    as in `_sized`."""
    asked = any(array.rank and array.location is None and not array.local for array in source.arrays.values())
    filled = asked or marked.tilings or marked.packed  # memory of the text's own comes from the heap
    beside = not filled and all(not one.vectors for one in marked.strips.values())
    rows = {name for one in marked.strips.values() if not one.vectors for name in one.statements}
    deepest = _deepest(source)
    chained = rows if filled or gain is not Gain.CELLS else rows | (waiting(source) & deepest)
    limit = _least_work(source, marked, nest, machine, gain, beside=beside and bool(rows or chained >= deepest))
    limit = limit * _UNASKED if unasked else limit
    return _strongest(source_tests(source, limit, machine, chained & deepest))


def _least_work(
    source: Scop, marked: MarkedSchedule, nest: LoopNest, machine: Machine, gain: Gain, *, beside: bool
) -> Fraction:
    """Nanoseconds of the original's work from which on the new loops pay. beside: there are but rows that
    are written out beside each other."""
    if _calls_again(marked, nest):
        return shared_work(machine) * SKEWED_FORKS
    calls = sum(not takes_two_forms(loop) for loop in _guarded(nest))
    match gain:
        case Gain.CELLS:
            return least_beside(machine) if beside and not calls else least_region(machine, calls)
        case Gain.VECTORS:
            return least_region(machine, calls) * vector_elements(source, machine)
        case Gain.LINES:
            return max(least_region(machine, calls), least_work_on_lines(machine))
    return shared_work(machine)


def strip_lengths(source: Scop, marked: MarkedSchedule, loops: LoopNest, machine: Machine) -> list[Condition]:
    """That there are half as many rows as a strip has usually, at least (shorter ones aren't vectors in every
    compiler's code), or those of a piece, where they run in pieces; or that others have far more to do. Beside other
    strips, nothing of those in pieces that fill no buffers: fewer rows run one by one, as in the original. Not of sizes
    that are known about: strips were chosen for these. A few rows are enough where these share lines from afar."""
    parameters = frozenset(p.name for p in source.parameters if p.estimate is None)
    counts = {one.count for one in marked.strips.values() if one.vectors}
    short = [short_strip(item, marked.plain_strips, {p.name for p in source.parameters}) for item in loops.body.items]
    found = []
    for count in sorted(counts):
        for loop in _outermost_of(loops.body, count):
            extent = plus(subtract(loop.upper, loop.lower), 1)
            if linear(extent)[0] and names(extent) <= parameters:
                least = PIECE if loop in short else min(count, strip_rows(machine)) // 2
                if any(share_far_lines(source, one, machine) for one in marked.strips.values() if _is_of(one, loop)):
                    least = SHARED_ROWS
                found.append((loop, exceeds((extent,), least - 1)))
    if len({test for _, test in found}) > 1:
        work = source_factors(source, [loop for loop, _ in found])
        filled = any(one.buffers for one in marked.strips.values() if one.vectors)
        asked = [one for one in found if filled or one[0] not in short]
        found = [(loop, disjunction((test, *outweighed(loop, work)))) for loop, test in asked]
    return list(dict.fromkeys(test for _, test in found))


def _is_of(strips: Strips, loop: For) -> bool:
    """Whether a loop is the one over such strips. (Statements in strips are called after those of the source.)"""
    called = {call.statement for call in calls(loop.body)}
    return strips.vectors and any(
        name == one or one.startswith(f"{name}_") for name in strips.statements for one in called
    )


def _outermost_of(block: Block, step: int) -> Iterator[For]:
    """The loops with this step, but for those inside of others."""
    for item in block.items:
        if isinstance(item, For) and item.step == step:
            yield item
        else:
            for part in children(item):
                yield from _outermost_of(part, step)


def _for_threads(test: Condition, nest: LoopNest) -> Condition:
    """A test that asks for no less work than a loop of threads does, whose own test may know of vectors: without
    threads nothing is gained."""
    product = product_of(test)
    assert product is not None
    works = (item.work for item in nest.body.items if isinstance(item, For) and item.work is not None)
    others = [one for one in map(product_of, works) if one is not None and Counter(one[0]) == Counter(product[0])]
    return exceeds(product[0], max(limit for _, limit in (product, *others)))


def _is_cached(scop: Scop, machine: Machine) -> bool:
    """Whether a core's own caches are known to hold all arrays, so that it gains nothing by tiles."""
    sizes = [(array.type.bytes, array.sizes) for array in scop.arrays.values() if array.rank]
    if any(not size or None in extents for size, extents in sizes):
        return False
    return sum(size * prod(one or 1 for one in extents) for size, extents in sizes) <= machine.cache(2).share


def _has_overhead(marked: MarkedSchedule, nest: LoopNest) -> bool:
    """Whether there are buffers, or loops with an `if` clause, whose other form isn't there."""
    return _has_buffers(marked) or bool(_guarded(nest))


def _has_buffers(marked: MarkedSchedule) -> bool:
    """Rows that run beside each other have scalars alone."""
    return bool(marked.tilings or marked.packed or any(one.vectors for one in marked.strips.values()))


def _guarded(nest: LoopNest) -> list[For]:
    """The loops with an `if` clause."""
    loops = (item for item in items(nest.body) if isinstance(item, For))
    return [loop for loop in loops if loop.mark.parallel and loop.work is not None]


def _jumps(scop: Scop) -> bool:
    """Whether the innermost loops go from line to line, so that tiles keep lines."""
    rows = (subscript_rows(access.relation) for one in scop.statements if one.iterators for access in one.accesses)
    return any(any(row[-1] for row in found[:-1]) for found in rows if found)


def _is_jammed(nest: LoopNest) -> bool:
    """Whether rows run beside each other."""
    return any(isinstance(item, For) and item.mark.jammed for item in items(nest.body))


def _calls_again(marked: MarkedSchedule, nest: LoopNest) -> bool:
    """Whether OpenMP's runtime is called inside of another loop. Rows that are written out beside each other have a
    form for one thread, which gains as much by them without any."""
    beside = marked.strips and not any(one.vectors for one in marked.strips.values())
    alone = beside and all(map(takes_two_forms, _guarded(nest)))
    return not alone and _forks_again(nest.body, inside=False)


def _forks_again(block: Block, *, inside: bool) -> bool:
    """Whether threads are started inside of another loop. inside: there is one around."""
    for item in block.items:
        if isinstance(item, For) and item.mark.parallel:
            if inside:
                return True
        elif any(_forks_again(part, inside=inside or isinstance(item, For)) for part in children(item)):
            return True
    return False


def _is_some(test: Condition) -> bool:
    """Whether a test is one that regions may fail that somebody runs."""
    product = product_of(test)
    return product is not None and product[1] > _FEW


def _strongest(tests: Sequence[Condition | None]) -> list[Condition | None]:
    """The tests but for those that hold only where another one does, and those that never hold: the loop with most of
    the work is asked."""
    found: list[Condition | None] = []
    for one in tests:
        others = [other for other in tests if other not in (one, NEVER)]
        if one != NEVER and one not in found and not any(_holds_with(other, one) for other in others):
            found.append(one)
    return found


def _holds_with(test: Condition | None, other: Condition | None) -> bool:
    """Whether a test holds wherever the other one does, but for loops that don't run at all: it has its factors, and
    more perhaps, and exceeds no more."""
    if test is None or other is None:
        return test is None
    mine, its = product_of(test), product_of(other)
    if mine is None or its is None:
        return False
    (own, most), (others, least) = _reduced(*mine), _reduced(*its)
    return others <= own and most <= least


def _reduced(factors: Sequence[Expr], limit: int) -> tuple[Counter[Expr], Fraction]:
    """The factors without their common divisors, and what their product has to exceed then."""
    found, least = [], Fraction(limit)
    for factor in factors:
        terms, constant = linear(factor)
        divisor = gcd(constant, *terms.values())
        found.append(from_linear({name: c // divisor for name, c in terms.items()}, constant // divisor))
        least /= divisor
    return Counter(found), least
