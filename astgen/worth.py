"""Whether a region that nobody marked is worth its transformation: what it gains, and from which size on.

A transformed loop nest costs something before it gains anything: threads are woken, tiles have bounds, copies are made.
What surely has less work than that stays as it was; what has a size of its own is tested at run time, so that short
loops that are run often keep their speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.emit.loop_work import bounded, rounded
from scopt.astgen.emit.statement_costs import statement_costs
from scopt.astgen.gained import calls_with_loops, gains, is_interchanged, is_unrolled
from scopt.astgen.gaining_share import gains_too_little
from scopt.astgen.library_loops import is_library_loop
from scopt.astgen.lone_rows import are_ragged_rows
from scopt.astgen.lone_thread import gains_alone, gains_by_tails, threads_text
from scopt.astgen.one_thread import has_own_vectors
from scopt.astgen.passes.lane_copies import has_lane_copies
from scopt.astgen.passes.reads_ahead import reads_ahead
from scopt.astgen.passes.skipping import has_searches
from scopt.astgen.passes.widened_factors import widens_factors
from scopt.astgen.source_work import (
    NEVER,
    has_vectors,
    is_plain,
    outermost_loops,
    product_of,
    source_tests,
    vector_elements,
    whole_test,
    without_tests,
)
from scopt.diagnostics import Remark, ScoptError
from scopt.ir.expr import exceeds, linear, names
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Block, Compare, Condition, Const, Expr, For, LoopNest, Name
from scopt.ir.scop import Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import SKEWED_FORKS, instance_cost, least_region, threads_cost
from scopt.poly.isl_utils import PARAM

# Iterations up to which compilers unroll a loop (gcc: max-completely-peel-times),
# and tiles along it would be mostly padding.
_SHORT = 16
_SET = isl.dim_type.set
_MARK = "mark the region"


class NotWorth(Exception):
    """The region had better stay as it is. remark: why."""

    def __init__(self, remark: Remark) -> None:
        super().__init__(remark.message)
        self.remark = remark


class Simpler(ScoptError):
    """This form of the transformation would be slower than another one. The text says why."""


class Worth(Struct, frozen=True, eq=False):
    """nest: without tests of single loops that the region's own test covers. condition: C text under which the nest
    pays, without ``||``; empty: always. alone: one thread gains, too. never: the condition doesn't hold with the sizes
    that are known."""

    nest: LoopNest
    condition: str = ""
    alone: bool = False
    never: bool = False


def check_source(scop: Scop, machine: Machine) -> None:
    """Raises NotWorth where the SCoP alone says that nothing can be gained."""
    if all(is_library_loop(scop, statement) for statement in scop.statements):
        message = "left as it was: compilers make calls of memset and memcpy of such loops"
        raise NotWorth(
            Remark("missed", "region.library", message, scop.location, f"{_MARK} if it is to run in parallel")
        )
    most = most_work(scop, machine)
    if most is not None and most < (least_region(machine) if scop.narrowed else threads_cost(machine)):
        message = f"left as it was: at most some {_time(most)} of work"
        raise NotWorth(Remark("missed", "region.tiny", message, scop.location, f"{_MARK} if it matters"))


def check_nest(
    source: Scop,
    scop: Scop,
    marked: MarkedSchedule,
    nest: LoopNest,
    weights: Mapping[str, tuple[str, int]],
    machine: Machine,
    *,
    shared: bool = False,
) -> Worth:
    """The nest with the condition under which it pays. source: the SCoP as it was scheduled; scop: with the statements
    that the nest runs. weights: as in `add_work_guards`. shared: threads have to pay.

    Raises NotWorth where it never does, Simpler where another form is likely to do better.
    """
    _check_short_loops(source, scop, marked, nest)
    if not (gains(scop, marked, nest) or has_own_vectors(scop, nest)):
        message = (
            "left as it was: the loops would be neither parallel nor tiled, and "
            "no others would be vector loops than before"
        )
        raise NotWorth(Remark("missed", "region.no-gain", message, scop.location, f"{_MARK} if you want to see it"))
    if gains_too_little(scop, marked, nest, machine):
        message = "left as it was: most of its work would be done in loops that gain nothing"
        raise NotWorth(Remark("missed", "region.no-gain", message, scop.location, f"{_MARK} if you want to see it"))
    for_one = not shared or gains_by_tails(source, marked, nest)
    alone = for_one and gains_alone(scop, marked, nest, machine)
    if not alone and (lone := of_diagonals(scop, nest)) is not None:
        return lone
    own = {one.name for one in scop.statements} - {one.name for one in source.statements}
    strips = own.union(*(one.statements for one in marked.strips.values())) if marked.strips else own
    costs = statement_costs(scop, weights, machine)
    worth = _from_size_on(source, scop, nest, costs, machine, frozenset(strips), threads=not alone)
    if alone:
        return replace(worth, alone=True, never=worth.never and bool(worth.condition))
    if are_ragged_rows(scop, nest):
        message = "left as it was: rows of lengths of their own are too short for threads to share one"
        raise NotWorth(Remark("missed", "region.no-gain", message, scop.location, f"{_MARK} if you want to see it"))
    threads = threads_text(scop)
    return replace(worth, condition=f"{worth.condition} && {threads}" if worth.condition else threads)


def of_diagonals(scop: Scop, nest: LoopNest) -> Worth | None:
    """What pays where all that there is are strips along diagonals for threads to share: their own test says better
    what there is to do than one of the original's loops, which run where it fails. None for other nests."""
    match nest.body.items:
        case (For(work=work) as loop,) if work is not None and loop.mark.sharing and not is_plain(work):
            text = f"{ExprPrinter.of(scop).condition(work).text} && {threads_text(scop)}"
            return Worth(LoopNest(without_tests(nest.body, [work])), text, never=never_holds(scop, work))
    return None


def _from_size_on(
    source: Scop,
    scop: Scop,
    nest: LoopNest,
    costs: Mapping[str, Fraction],
    machine: Machine,
    strips: frozenset[str] = frozenset(),
    *,
    threads: bool = False,
) -> Worth:
    """The nest with the condition of its size. strips: the statements in strips. threads: only several gain by it, so
    that loops that none share don't count."""
    gain = vector_elements(scop, machine)
    found: list[Condition] = []
    known = frozenset(p.name for p in scop.parameters)
    small = False
    body = nest.body
    if threads and (those := [loop for loop in outermost_loops(body) if any(_parallel(loop, ()))]):
        body = Block(tuple(those))
    for condition, quick in _conditions(scop, body, costs, machine, known, gain, strips):
        if condition == NEVER:
            small = small or quick
            continue
        if condition is None:
            return Worth(nest)
        condition = condition if quick else _scaled(condition, gain)
        if condition not in found:
            found.append(condition)
    if not found:
        return Worth(nest, never=small)
    if not all(is_plain(condition) for condition in found):
        whole = source_tests(source, SKEWED_FORKS * threads_cost(machine), machine)
        found = [condition for condition in whole if condition is not None]
        if not found or len(found) < len(whole):
            return Worth(nest)
    likely = [condition for condition in found if not never_holds(scop, condition)]
    never, found = not likely, likely or found
    texts = [ExprPrinter.of(scop).condition(condition).text for condition in found]
    nest = LoopNest(without_tests(nest.body, found))
    return Worth(nest, texts[0] if len(texts) == 1 else f"({' || '.join(texts)})", never=never)


def check_sizes(scop: Scop, worth: Worth) -> None:
    """Raises NotWorth where sizes that are known are too small."""
    if worth.never:
        message = "left as it was: with the sizes that are known, its loops have too little to do"
        raise NotWorth(Remark("missed", "region.tiny", message, scop.location, f"{_MARK} if it matters"))


def never_holds(scop: Scop, condition: Condition) -> bool:
    """Whether there is less work than a test asks for, with the parameters as large as array extents and macros let
    them be."""
    product = product_of(condition)
    if product is None:
        return False
    most = {one.name: one.estimate for one in scop.parameters}
    total = 1
    for factor in product[0]:
        coefficients, constant = linear(factor)
        for name, coefficient in coefficients.items():
            value = most.get(name.name) if isinstance(name, Name) else None
            if value is None:
                return False
            # what is subtracted is where a loop begins: in front of no array
            constant += coefficient * (value if coefficient > 0 else min(value, 0))
        total *= max(constant, 0)
    return total <= product[1]


# --- how much there is ------------------------------------------------------------------------------------------------


def most_work(scop: Scop, machine: Machine) -> Fraction | None:
    """Nanoseconds that the region takes at most, with the parameters as large as array extents and macros let them be;
    None if nobody knows."""
    total = Fraction(0)
    for statement in scop.statements:
        instances = _most_instances(scop, statement)
        if instances is None:
            return None
        total += instances * instance_cost(statement.body, machine)
    return total


def _most_instances(scop: Scop, statement: Statement) -> int | None:
    """A box around the domain."""
    domain = statement.domain.intersect_params(scop.context)
    for parameter in scop.parameters:
        position = domain.find_dim_by_name(PARAM, parameter.name)
        if position >= 0 and parameter.estimate is not None:
            domain = domain.upper_bound_val(PARAM, position, isl.Val(parameter.estimate))
    if domain.is_empty():
        return 0
    domain = domain.project_out(PARAM, 0, domain.dim(PARAM))
    count = 1
    for dimension in range(domain.dim(_SET)):
        low, high = domain.dim_min_val(dimension), domain.dim_max_val(dimension)
        if not (low.is_int() and high.is_int()):
            return None  # infinite (a dimension that only another one bounds is bounded for `dim_is_bounded`)
        count *= int(high.sub(low).to_python()) + 1
    return count


def _time(nanoseconds: Fraction) -> str:
    return f"{round(nanoseconds / 1000)} µs" if nanoseconds >= 1000 else f"{max(1, int(nanoseconds))} ns"


# --- loops that are short whatever happens ----------------------------------------------------------------------------


def _check_short_loops(source: Scop, scop: Scop, marked: MarkedSchedule, nest: LoopNest) -> None:
    """Raises Simpler where register tiles would be mostly padding, and where a short innermost loop, which compilers
    unroll, comes outside: but for strips of rows, which have weighed that."""
    for tiling in marked.tilings.values():
        contraction = tiling.contraction
        for name in contraction.statements:
            for dimension in (contraction.row, contraction.column, contraction.reduction):
                extent = _extent(scop, name, dimension)
                if extent is not None and extent <= _SHORT:
                    raise Simpler(f"a loop of {extent} iterations is too short for register tiles")
    in_strips = {name for strips in marked.strips.values() for name in strips.statements}
    statements = {one.name: one for one in source.statements if one.name not in in_strips}
    for path, call in calls_with_loops(nest.body, ()):
        if call.statement in statements and is_interchanged(path, call) and not is_unrolled(call):
            extent = _extent(source, call.statement, len(statements[call.statement].iterators) - 1)
            # One iteration, a border's, is no loop that anybody unrolls.
            if extent is not None and 1 < extent <= _SHORT:
                raise Simpler(f"a loop of {extent} iterations is better unrolled inside")


def _extent(scop: Scop, name: str, dimension: int) -> int | None:
    """How many values an iterator takes at most in one run of its loop, if that is a constant."""
    domain = next((s.domain for s in scop.statements if s.name == name), None)
    if domain is None or domain.is_empty():
        return None
    # the distance of two instances that share all outer iterators
    own = domain.project_out(_SET, dimension + 1, domain.dim(_SET) - dimension - 1)
    pairs = isl.Map.from_domain_and_range(own, own)
    for outer in range(dimension):
        pairs = pairs.equate(isl.dim_type.in_, outer, isl.dim_type.out, outer)
    distances = pairs.deltas()
    distances = distances.project_out(PARAM, 0, distances.dim(PARAM))
    most = distances.dim_max_val(dimension)
    return int(most.to_python()) + 1 if most.is_int() else None


# --- from which size on -----------------------------------------------------------------------------------------------


def _conditions(
    scop: Scop,
    block: Block,
    costs: Mapping[str, Fraction],
    machine: Machine,
    parameters: frozenset[str],
    gain: int,
    strips: frozenset[str],
) -> Iterator[tuple[Condition | None, bool]]:
    """Any of these is enough: the tests of parallel loops in terms of the parameters, or of a loop as a whole where
    none is inside, or strips stand beside them; None: always. Each with whether it is about loops that compilers make
    no vectors of, or counts on vectors itself. gain: by how much these are quicker; where a loop's size is known, that
    is counted in here."""
    for loop in outermost_loops(block):
        inside = list(_parallel(loop, ()))
        tests = [_outside(path, inner, parameters) for path, inner in inside]
        alone = LoopNest(Block((loop,)))
        searched = has_searches(scop, alone) or has_lane_copies(scop, alone)
        own = reads_ahead(scop, alone) or widens_factors(scop, alone) or has_own_vectors(scop, alone)
        if own or (scop.narrowed and has_vectors(loop)):
            yield whole_test(loop, costs, least_region(machine), parameters), True
        elif inside and all(test is not None for test in tests):
            if _has_beside(loop, strips):
                yield whole_test(loop, costs, least_region(machine), parameters), True
            for test, (_, inner) in zip(tests, inside, strict=True):
                quick = searched or has_vectors(inner)
                if test == _ALWAYS and not quick:
                    test, quick = whole_test(inner, costs, gain * threads_cost(machine), parameters), True
                yield None if test == _ALWAYS else test, quick
        else:
            limit = least_region(machine) if searched and not inside else threads_cost(machine)
            yield whole_test(loop, costs, limit, parameters), searched


_ALWAYS = Compare(Const(0), "==", Const(0))


def _parallel(item: For, path: tuple[For, ...]) -> Iterator[tuple[tuple[For, ...], For]]:
    """The outermost parallel loops in a loop, itself perhaps, with the loops around them."""
    if item.mark.parallel:
        yield path, item
        return
    for inner in outermost_loops(item.body):
        yield from _parallel(inner, (*path, item))


def _has_beside(loop: For, strips: frozenset[str]) -> bool:
    """Whether some of a loop's statements in strips stand in no parallel loop: one thread gains by them, too, however
    little there is for several."""
    if not strips or loop.mark.parallel:
        return False
    return any(
        call.statement in strips and not any(one.mark.parallel for one in path)
        for path, call in calls_with_loops(loop.body, ())
    )


def _outside(path: tuple[For, ...], loop: For, parameters: frozenset[str]) -> Condition | None:
    """A parallel loop's test at its best, over the parameters alone; None if it can't be told."""
    if loop.work is None:
        return _ALWAYS
    product = product_of(loop.work)
    if product is None:
        return None
    around = {outer.iterator: outer for outer in path}
    factors: list[Expr] = []
    for factor in product[0]:
        bound = bounded(factor, around)
        if bound is None or not names(bound) <= parameters:
            return None
        factors.append(bound)
    return exceeds(factors, product[1])


def _scaled(condition: Condition, factor: int) -> Condition:
    """A test for so many times the work."""
    product = product_of(condition)
    return condition if product is None else exceeds(product[0], rounded(Fraction(product[1] * factor)))
