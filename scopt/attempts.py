"""From a SCoP to its text by one set of options, or by simpler ones where that fails."""

from __future__ import annotations

import time
from collections.abc import Iterator

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.allocation import Allocation
from scopt.astgen.emit.emit_c import Emitted
from scopt.astgen.generation import guard_of, lowered_program, rewritten
from scopt.astgen.lower.strip_dependences import apart
from scopt.astgen.rewrite_setting import Setting
from scopt.astgen.transformed_program import emitted, stand_ins
from scopt.astgen.worth import NotWorth, Simpler, check_source
from scopt.check.program import check_program
from scopt.diagnostics import InputError, Remark, ScoptError
from scopt.form_work import Asked, LeftAlone, NotCarried, Work, brings, may_pay
from scopt.frontend.region.surroundings import words_beside
from scopt.frontend.syntax.unit import Region
from scopt.ir.decisions import Alternative, Decision
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Dependences
from scopt.options import Options
from scopt.poly.bands import band_nodes
from scopt.poly.isl_utils import operation_limit, sets_of
from scopt.poly.legality import check_marks, check_order
from scopt.poly.restructure import has_inner_bands
from scopt.poly.row_extents import for_parameters
from scopt.rewritten_scop import (
    MAX_OPERATIONS,
    reorder_of,
)
from scopt.scheduler import get_scheduler
from scopt.scheduler.base import UNSCHEDULED, Scheduler, ScheduleResult
from scopt.scheduler.decisions.contractions import shape_of
from scopt.scheduler.decisions.decider import Decider, Given
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.influence.asked import asked_loops
from scopt.scheduler.influence.guidance import NotHonoured, check_wishes, complaints
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.scheduler.passes.bodies import with_bodies
from scopt.scheduler.passes.grouping import with_compounds
from scopt.scheduler.passes.nest_orders import order_by_nests
from scopt.scheduler.passes.overlapping import parts_chains
from scopt.scheduler.passes.plain_nests import is_mixed, without_mixed_loops
from scopt.scheduler.passes.vector_share import (
    is_plain,
    is_skewed,
    vector_share,
)
from scopt.simpler_forms import any_order, same_order
from scopt.taken_apart import EXCHANGE_OPERATIONS, exchanging, is_tiled_in_time
from scopt.tell.choices import bands_apart, choice_remarks, scenario_remarks
from scopt.tell.reordered import kept_in_order, reordered

# What is asked of a region: in which order its instances run before the passes.
ORDER = "order"
# Of a schedule's cycles by the model, those that another one takes less time with (measured: loops that differ by less,
# by the model, come out either way).
_LESS = 0.9
# Of more statements no scheduler makes a schedule in a minute: rounds of ciphers, unrolled code. Their loops stay in
# the order of the source, and may still run in parallel.
MOST_STATEMENTS = 100


class Generated(Struct, frozen=True, eq=False):
    """A transformed SCoP in all its forms. tree: the scheduler's, before the band passes. remarks: what was found on
    the way, failures of forms that were tried before among them.
    decisions: all that led here, if they are asked for."""

    tree: isl.Schedule
    marked: MarkedSchedule
    nest: LoopNest
    emitted: Emitted
    remarks: tuple[Remark, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    guard: str = ""
    decisions: tuple[Decision, ...] = ()


def first_that_works(work: Work) -> Generated:
    """The SCoP in the first form that can be generated and verified. Raises LeftAlone where there is none, or where the
    original is no worse; InputError for wishes that no form keeps, and for schedules that can't be used; NotCarried."""
    if work.judged:
        try:
            check_source(work.scop, work.options.machine)
        except NotWorth as error:
            raise work.left(error.remark) from None
    failure: Exception | None = None
    missing: NotHonoured | None = None
    simpler: Simpler | None = None
    plain: list[Options] = []  # that have led to a schedule without register tiles
    most = EXCHANGE_OPERATIONS if _may_be_taken_apart(work, work.options) else MAX_OPERATIONS
    for attempt in _attempts(work):
        if any(attempt == replace(one, register_tile=False) for one in plain):
            continue  # would be the same again
        try:
            with operation_limit(most if attempt.budget else 0):
                made = _generated(work, attempt, plain)
            given_up = (given_up_remark(work.region, failure),) if failure is not None else ()
            return replace(made, remarks=(*given_up, *made.remarks))
        except InputError:
            raise
        except NotWorth as error:
            raise work.left(error.remark) from None
        except Simpler as error:
            simpler = error
        except NotHonoured as error:
            missing = missing or error
        except (isl.Error, ScoptError) as error:
            if isinstance(error, isl.Error) and most < MAX_OPERATIONS:
                raise LeftAlone(exchanging(work.scop)) from None
            failure = failure or error
    if missing is not None:
        raise InputError(complaints(work.scop, work.deps, missing))
    if simpler is not None and failure is None:
        message, hint = f"left as it was: {simpler}", "mark the region if you want to see it"
        raise work.left(Remark("missed", "region.no-gain", message, work.region.location, hint))
    raise LeftAlone(internal_remark(work.region, failure))


def _attempts(work: Work) -> Iterator[Options]:
    """Simpler and simpler ones. Who decides for himself gets what he has decided, or nothing."""
    if isinstance(work.decider.policy, Given):
        return iter((work.options,))
    return any_order(work.options) if work.fixed is None else same_order(work.options)


def _generated(work: Work, options: Options, plain: list[Options]) -> Generated:
    """By the schedule tree that is fixed, or else by the scheduler's. plain: is given the options where no register
    tile comes of them. Raises NotWorth where the original is no worse."""
    scop, deps, clock, watch = work.scop, work.deps, work.clock, work.watch
    with clock("schedule"):
        proposed, grouped = _proposed(work, options)
        proposed = watch("schedule", proposed)
    with clock("bands"):
        hopes = asked_loops(scop, proposed.scenario) if options.simd and not work.guide.loops else ()
        marked = apply_passes(scop, deps, proposed.tree, options, work.guide.loops, hopes, watch)
        if not brings(work, marked):
            raise NotCarried
        original = None if work.in_order else _better_original(work, options, proposed, marked, grouped)
        order, original = _by_nests(work, options, proposed, marked, original)
        decider, better = work.decider.fresh(), original is not None
        if decider.is_open:  # what was made before is the model's
            better = _keeps_order(work, options, proposed, decider, best=better)
        if better:
            proposed = replace(proposed, tree=order)
        if original is not None and not decider.is_open and not watch.sees:
            marked = original
        elif better or decider.is_open:
            marked = apply_passes(scop, deps, proposed.tree, options, work.guide.loops, hopes, watch, decider)
            decider.check_all_asked()
        if _is_free(work, options) and not work.in_order:
            marked = without_mixed_loops(scop, marked)
        if not (brings(work, marked) and may_pay(work, marked)):
            raise NotCarried
    if _may_be_taken_apart(work, options) and not is_tiled_in_time(scop, marked):
        raise LeftAlone(exchanging(scop))
    plain += () if marked.tilings or marked.packed else (options,)
    scop, deps, marked = for_parameters(scop, deps, marked)
    if options.verify != "off":
        with clock("verify schedule"):
            rows_apart = apart(scop, deps, marked)
            check_order(scop, rows_apart, marked.tree.get_map())
            check_marks(scop, rows_apart, marked)
    with clock("generate"):
        lowered = lowered_program(scop, deps, marked, options.machine, watch)
        program = rewritten(
            lowered,
            Setting(options, work.guide.loops, work.judged, work.sized, words_beside(work.region), work.shared),
            watch,
        )
    check_wishes(scop, marked, program.loops, stand_ins(program), work.guide.loops)
    with clock("print"):
        guard = watch("guard", guard_of(program, options))
        text = watch("print", emitted(program))
    if options.verify == "full":
        with clock("verify text"):
            check_program(program, deps, text, guard, options.jobs)
    told = (
        *(bands_apart(scop, deps, work.fixed) if work.fixed is not None else ()),
        *scenario_remarks(scop, proposed.remarks, marked, asked_loops(scop, proposed.scenario)),
        *choice_remarks(scop, marked, options),
        *reordered(scop, deps, marked.tree.get_map(), program.told),
        *kept_in_order(scop, reorder_of(options), program.told),
    )
    made = tuple(decider.made) if decider.is_open else ()
    return Generated(proposed.tree, marked, program.shown, text, told, program.buffered.allocations, guard, made)


def _may_be_taken_apart(work: Work, options: Options) -> bool:
    """Whether iterations exchange pointers, and nobody wants to see what becomes of that."""
    return bool(work.scop.exchanged) and not (options.eager or work.decider.is_open or work.fixed is not None)


def _keeps_order(work: Work, options: Options, proposed: ScheduleResult, decider: Decider, *, best: bool) -> bool:
    """Whether the loops stay in the order of the source. best: the model's answer."""
    own = proposed.tree.plain_is_equal(work.scop.schedule)
    if work.in_order or proposed.scenario or own or not _is_free(work, options):
        return best
    return bool(decider.choose(ORDER, (), (Alternative("scheduler"), Alternative("source")), int(best)))


def _better_original(
    work: Work, options: Options, proposed: ScheduleResult, marked: MarkedSchedule, grouped: bool
) -> MarkedSchedule | None:
    """What becomes of the loops in the order of the source where more of the work would run in vectors then: tiles over
    several loops, or iterations of them that are skewed, are worth less, and worth nothing where no loop is parallel or
    a vector loop; around compounds, no more than as much; or where chains run beside each other that wait alone else.
    None where that isn't so, or where somebody wants a schedule of his own."""
    if proposed.scenario or not _is_free(work, options):
        return None
    if not (grouped or work.in_order) and parts_chains(work.scop, work.deps, options, marked):
        original = apply_passes(work.scop, work.deps, work.scop.schedule, options)
        if vector_share(work.scop, original) >= vector_share(work.scop, marked):
            return original
    if work.deps.reductions and not grouped:
        return None  # of sums in any order compilers make vectors by themselves
    if proposed.tree.plain_is_equal(work.scop.schedule):
        return None
    share = vector_share(work.scop, marked)
    if share == 1 and not grouped and not _has_loops_alone(marked):
        return None  # nothing is better
    original = apply_passes(work.scop, work.deps, work.scop.schedule, options)
    if options.parallel and ((is_plain(marked) and is_skewed(work.scop, marked)) or is_mixed(work.scop, marked)):
        return original
    own = vector_share(work.scop, original)
    if (
        (own > share and (share < 1 or grouped))
        or (grouped and own == share)
        or (own >= share and (_costs_less(original, marked) or _hides_as_much(original, marked)))
    ):
        return original
    return None


def _by_nests(
    work: Work, options: Options, proposed: ScheduleResult, marked: MarkedSchedule, original: MarkedSchedule | None
) -> tuple[isl.Schedule, MarkedSchedule | None]:
    """The source's order, and what becomes of it, but for nests that have register tiles by the scheduler's alone."""
    order = order_by_nests(work.scop, proposed.tree, marked, original) if original is not None else None
    if order is not None and original is not None:
        made = apply_passes(work.scop, work.deps, order, options)
        if vector_share(work.scop, made) >= vector_share(work.scop, original):
            return order, made
    return work.scop.schedule, original


def _costs_less(one: MarkedSchedule, other: MarkedSchedule) -> bool:
    """Whether a schedule of loops alone takes less time by the model than another one of loops alone, by more than the
    model is wrong about what is nearly the same."""
    if one.cycles is None or other.cycles is None or not (_has_loops_alone(one) and _has_loops_alone(other)):
        return False
    return one.cycles < _LESS * other.cycles


def _hides_as_much(original: MarkedSchedule, marked: MarkedSchedule) -> bool:
    """Whether chains of the source hide what another schedule makes vectors of, and that takes no less time: chains in
    loops of their own wait as long."""
    if not original.hidden or original.cycles is None or marked.cycles is None:
        return False
    return original.cycles - original.waits <= marked.cycles - marked.waits


def _has_loops_alone(schedule: MarkedSchedule) -> bool:
    """Whether nothing but loops becomes of a schedule, and each statement has one innermost loop: what buffers, kernels
    and parts of a statement's instances take is known for each on its own, not for all together."""
    innermost = [node for node in band_nodes(schedule.tree) if not has_inner_bands(node)]
    names = [str(part.get_tuple_name()) for node in innermost for part in sets_of(node.get_domain())]
    return not (schedule.strips or schedule.tilings or schedule.packed) and len(names) == len(set(names))


def _is_free(work: Work, options: Options) -> bool:
    """Whether nobody wants a schedule of his own."""
    tree, usual = work.guide.tree, Options()
    if work.fixed is not None or (tree and tree.branches) or work.guide.loops:
        return False
    own = (options.scheduler, options.fusion, options.inputs, options.tile_sizes)
    return options.simd and own == (usual.scheduler, usual.fusion, usual.inputs, usual.tile_sizes)


def _proposed(work: Work, options: Options) -> tuple[ScheduleResult, bool]:
    """The schedule before the band passes, and whether it was made with compounds.

    All schedules of a region together get one budget; when it is used up, loops stay in the order of the source, and
    what is left to decide is which of them run in parallel and in vectors.
    """
    if not options.schedule_budget or not _is_free(work, options):
        return _scheduled(work, options)
    left, start = options.schedule_budget - work.clock.scheduling, time.process_time()
    try:
        if left > 0:
            return _scheduled(work, replace(options, schedule_budget=left))
    except TimeoutError:
        pass
    finally:
        work.clock.scheduling += time.process_time() - start
    return ScheduleResult(work.scop.schedule, (given_up_remark(work.region, TimeoutError(UNSCHEDULED)),)), False


def _scheduled(work: Work, options: Options) -> tuple[ScheduleResult, bool]:
    """The user's schedule, or the scheduler's. Raises TimeoutError.

    Reductions in their order keep what they use close together; schedulers that needn't order them put anything in
    between.
    """
    if work.fixed is not None:
        return ScheduleResult(work.fixed), False
    if work.in_order:  # rows beside each other are those of the source
        if not _is_free(work, options):
            raise NotCarried
        return ScheduleResult(work.scop.schedule), False
    if _is_free(work, options):
        made = _once(work, _with_compounds, replace(options, **_tiles_that_matter(work, options)))
        if made is not None:
            return made, True
        if len(work.scop.statements) > MOST_STATEMENTS:
            return ScheduleResult(work.scop.schedule), False
    made = _once(work, _of_statements, replace(options, register_tile=False, tile=False))
    assert made is not None
    return made, False


def _once(work: Work, ask: Asked, options: Options) -> ScheduleResult | None:
    """What a scheduler answers, or raises, which is the same for all that is done with the loops afterwards."""
    alike = replace(options, schedule_budget=0.0)
    known = next((answer for asked, chosen, answer in work.schedules if asked is ask and chosen == alike), None)
    if known is None:
        try:
            known = (ask(work, options),)
        except (isl.Error, ScoptError, TimeoutError) as error:
            known = (error,)
        work.schedules.append((ask, alike, known))
    (found,) = known
    if isinstance(found, Exception):
        raise found
    return found


def _tiles_that_matter(work: Work, options: Options) -> dict[str, bool]:
    """What compounds depend on, of how loops are tiled: whether contractions have register tiles, if there are any."""
    tiles = wanted(options) and any(shape_of(work.scop, one) for one in work.scop.statements)
    return {"register_tile": tiles, "tile": tiles}


def _with_compounds(work: Work, options: Options) -> ScheduleResult | None:
    """The scheduler's answer where small loops and what stands beside them are one statement; None where none are."""
    deps = work.deps.strict()
    grouping = with_compounds(work.scop, deps, options)
    if grouping is None:
        return None
    made = get_scheduler(options.scheduler).schedule(grouping.scop, grouping.deps, options)
    tree = grouping.expanded(made.tree)
    return None if tree is None else replace(made, tree=tree)


def _of_statements(work: Work, options: Options) -> ScheduleResult:
    """The scheduler's answer for the statements."""
    scheduler, deps = get_scheduler(options.scheduler), work.deps.strict()
    return _by_bodies(work, scheduler, deps, options) or scheduler.schedule(work.scop, deps, options, work.guide.tree)


def _by_bodies(work: Work, scheduler: Scheduler, deps: Dependences, options: Options) -> ScheduleResult | None:
    """The scheduler's answer where what hands on scalars is one statement; None where nothing does, or where an
    influence names statements."""
    if work.tables or not _is_free(work, options) or (grouping := with_bodies(work.scop, deps)) is None:
        return None  # what is added to tables binds loops in a way of its own
    made = scheduler.schedule(grouping.scop, grouping.deps, options)
    tree = grouping.expanded(made.tree)
    return None if tree is None else replace(made, tree=tree)


def given_up_remark(region: Region, failure: Exception) -> Remark:
    """That a simpler form takes the place of one that failed."""
    message = f"the first choice of transformation was given up ({first_line(failure)})"
    return Remark("analysis", "schedule.simplified", message, region.location)


def internal_remark(region: Region, failure: Exception | None) -> Remark:
    """That a region stays because of a fault of scopt's own, or because there was too much to compute."""
    if "maximal number of operations" in first_line(failure):
        message = "left as it was: more computations on integer sets than one region may take"
        return Remark("missed", "budget.exceeded", message, region.location, "split the region")
    message = f"left as it was, an internal check failed: {first_line(failure)}"
    return Remark("missed", "internal.error", message, region.location, "please report this")


def first_line(error: Exception | None) -> str:
    """Of an error's message."""
    return (str(error).splitlines() or ["unknown"])[0]
