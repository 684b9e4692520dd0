"""One region, from syntax tree to C text: extract, analyse, schedule, transform, generate, verify."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import islpy as isl

from scopt.astgen.allocation import INCLUDE, Allocation, allocations
from scopt.astgen.emit.emit_c import Emitted
from scopt.astgen.generation import Setting, Watch, allocated, emitted, guard_of, lowered_program, rewritten, stand_ins
from scopt.astgen.guard import guard_helpers
from scopt.astgen.guard_counters import counter_definitions, counter_name
from scopt.astgen.lower.strip_dependences import apart
from scopt.astgen.worth import NotWorth, Simpler, check_source
from scopt.check.program import check_program
from scopt.check.rewritten import check_rewritten
from scopt.clause_words import expanded_words, without_directives
from scopt.diagnostics import InputError, Refusal, Remark, ScoptError
from scopt.frontend.extract import extract
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.directives import apply_directives
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import operation_limit
from scopt.poly.legality import check_marks, check_order
from scopt.poly.reductions import Reorder, updates_of
from scopt.schedule_file import ScheduleDocument, checked_tree, document, legend
from scopt.scheduler import get_scheduler, takes_influence
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.influence.asked import asked_loops
from scopt.scheduler.influence.guidance import Guidance, NotHonoured, check_wishes, complaints, guidance
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.scheduler.passes.expansion import Expansion, expand
from scopt.scheduler.passes.forwarding import forward
from scopt.simpler_forms import any_order, same_order
from scopt.steps import Shown
from scopt.tell.choices import bands_apart, choice_remarks, scenario_remarks
from scopt.tell.explain import explain
from scopt.tell.gains import gains
from scopt.tell.loop_counts import summary
from scopt.tell.reordered import kept_in_order, reducible, reordered
from scopt.tell.report.collect import view_of
from scopt.tell.results import Outcome
from scopt.tell.view import RegionView

# isl counts elementary operations; this many take some seconds. A transformation that needs more is tried again in a
# simpler form.
MAX_OPERATIONS = 40_000_000
# For wishes where neither the user nor a pragma names a scheduler that can follow them.
INFLUENCED_SCHEDULER = "pluto"


@dataclass(frozen=True, slots=True, eq=False)
class _Generated:
    """A transformed SCoP in all its forms. tree: the scheduler's, before the band passes."""

    tree: isl.Schedule
    marked: MarkedSchedule
    nest: LoopNest
    emitted: Emitted
    remarks: tuple[Remark, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    guard: str = ""


def transform(
    tu: TranslationUnit,
    region: Region,
    number: int,
    options: Options,
    given: ScheduleDocument | None = None,
    watch: Watch = Watch(),  # noqa: B008 - it has no state
) -> Outcome:
    """Transform one region, the number-th of its file, by the user's schedule if there is one. watch: sees what each
    step makes.

    Raises nothing that is the input's fault: a refusal is an outcome with its remark, and so is an InputError, which
      has to end the run.
    """
    if options.print_after:
        shown = Shown(options.print_after)
        outcome = transform(tu, region, number, replace(options, print_after=""), given, shown)
        return replace(
            outcome, explanation=f"{region.location}: after {shown.step}:\n{shown.text}{outcome.explanation}"
        )
    options = _with_pragmas(options, region)
    words = expanded_words(tu.preprocessed.all_macros)
    if not words or not (options.parallel or options.simd):
        return _analysed(tu, region, number, options, given, watch)
    outcome = _analysed(tu, region, number, replace(options, parallel=False, simd=False), given, watch)
    if not any(one.id in ("region.transformed", "region.no-gain") for one in outcome.remarks):
        return outcome
    return replace(outcome, remarks=(*outcome.remarks, without_directives(words, region.location)))


def _analysed(
    tu: TranslationUnit, region: Region, number: int, options: Options, given: ScheduleDocument | None, watch: Watch
) -> Outcome:
    """The outcome with these options, for which directives can be had."""
    clock = Clock()
    fault: Exception | None = None
    if region.function.decl.name in tu.cold_functions and _is_judged(region, options, given):
        remark = Remark(
            "missed",
            "region.cold",
            "left as it was: the function is declared cold",
            region.location,
            "mark the region if it matters",
        )
        return Outcome(None, remarks=(remark,))
    try:
        with clock("extract"):
            scop = extract(tu, region, f"scop{number}", assume_apart=options.assume_apart)
        with clock("dependences"):
            deps = _dependences(scop, options)
            rewritten = watch("rewritten", _rewritten(scop, deps, options)) if wanted(options) else None
        if rewritten is not None and options.verify == "full":
            with clock("verify statements"):
                fault = _fault(scop, rewritten)
                rewritten = rewritten if fault is None else None
        kept: tuple[Remark, ...] = ()
        if rewritten is not None:
            wide = _dependences(rewritten.scop, options)
            guide = guidance(rewritten.scop, wide.strict(), options, number)
            try:
                outcome = _transform(rewritten.scop, wide, region, options, guide, given, clock, watch)
                if outcome.definitions:
                    return _with_memory(outcome, rewritten)
            except InputError:
                if given is None:
                    raise
                kept = (_statements_kept(region),)  # the schedule may be one of the statements as they are
        outcome = _transform(
            scop, deps, region, options, guidance(scop, deps.strict(), options, number), given, clock, watch
        )
        found = kept if fault is None else (_given_up(region, fault),)
        return replace(outcome, remarks=(*found, *outcome.remarks)) if found else outcome
    except Refusal as refusal:
        return Outcome(None, remarks=(refusal.remark,), seconds=clock.seconds)
    except InputError as error:
        return Outcome(None, seconds=clock.seconds, error=str(error))


def _is_judged(region: Region, options: Options, given: ScheduleDocument | None) -> bool:
    """Whether nobody asks for the region's transformation, so that it has to pay."""
    return not (region.marked or options.eager or region.pragmas.used or given is not None)


def _rewritten(scop: Scop, deps: Dependences, options: Options) -> Expansion | None:
    """The SCoP with cells in place of scalars, and arrays in place of others, where that makes contractions; None if it
    nowhere does."""
    forwarded = forward(scop, deps.strict())
    if forwarded is not None:
        scop, deps = forwarded, _dependences(forwarded, options)
    expansion = expand(scop, deps.strict())
    return Expansion(scop, {}) if expansion is None and forwarded is not None else expansion


def _fault(scop: Scop, rewritten: Expansion) -> Exception | None:
    """Why it can't be shown that a rewritten SCoP computes what the original does; None if it can."""
    try:
        with operation_limit(MAX_OPERATIONS):
            check_rewritten(scop, rewritten.scop, allocations(rewritten.scop, rewritten.extents))
    except (isl.Error, ScoptError) as error:
        return error
    return None


def _dependences(scop: Scop, options: Options) -> Dependences:
    """The dependences, with reductions in any order as far as the options allow it."""
    return dependences(scop, inputs=options.inputs, updates=updates_of(scop, _reorder(options)))


def _reorder(options: Options) -> Reorder:
    """Which reductions may be computed in another order."""
    return Reorder.ALL if options.reassociate else Reorder.WRAPPING if "-fwrapv" in options.cpp_flags else Reorder.SAFE


def _with_memory(outcome: Outcome, expansion: Expansion) -> Outcome:
    """The outcome with the expanded arrays' memory."""
    needed = (*allocations(expansion.scop, expansion.extents), *outcome.allocations)
    helpers = (*outcome.helpers, *(helper for one in needed for helper in one.helpers))
    return replace(outcome, allocations=needed, helpers=helpers, definitions=(INCLUDE, *outcome.definitions))


def _with_pragmas(options: Options, region: Region) -> Options:
    """The region's own options. Wishes for loops, scenarios and ways to fuse need a scheduler that can follow them."""
    options = apply_directives(options, region.pragmas)
    wishes = (
        region.pragmas.parallel
        or region.pragmas.vector
        or options.influence
        or options.fusion in ("max", "smart", "typed")
    )
    if wishes and region.pragmas.scheduler is None and not takes_influence(options.scheduler):
        options = replace(options, scheduler=INFLUENCED_SCHEDULER)
    return options


def _transform(
    scop: Scop,
    deps: Dependences,
    region: Region,
    options: Options,
    guide: Guidance,
    given: ScheduleDocument | None,
    clock: Clock,
    watch: Watch,
) -> Outcome:
    """Schedule, generate and verify, in a simpler form where the first one fails."""
    with clock("check schedule"):
        fixed = checked_tree(scop, deps, given) if given is not None else None
    remarks = list(scop.assumptions)
    failure: Exception | None = None
    missing: NotHonoured | None = None
    simpler: Simpler | None = None
    judged = _is_judged(region, options, given)
    if judged:
        try:
            check_source(scop, options.machine)
        except NotWorth as error:
            return Outcome(None, remarks=(_with_reducible(scop, options, error.remark),), seconds=clock.seconds)
    for attempt in any_order(options) if fixed is None else same_order(options):
        try:
            with operation_limit(MAX_OPERATIONS if attempt.budget else 0):
                made = _generate(scop, deps, attempt, guide, clock, fixed, judged, watch)
            break
        except InputError:
            raise
        except NotWorth as error:
            return Outcome(None, remarks=(_with_reducible(scop, options, error.remark),), seconds=clock.seconds)
        except Simpler as error:
            simpler = error
        except NotHonoured as error:
            missing = missing or error
        except (isl.Error, ScoptError) as error:
            failure = failure or error
    else:
        if missing is not None:
            raise InputError(complaints(scop, deps, missing))
        if simpler is not None and failure is None:
            remark = Remark(
                "missed",
                "region.no-gain",
                f"left as it was: {simpler}",
                region.location,
                "mark the region if you want to see it",
            )
            return Outcome(None, remarks=(_with_reducible(scop, options, remark),), seconds=clock.seconds)
        return Outcome(None, remarks=(_internal(region, failure),), seconds=clock.seconds)
    if failure is not None:
        remarks.append(_given_up(region, failure))
    remarks += made.remarks
    remarks.append(Remark("passed", "region.transformed", summary(made.nest), region.location))
    with clock("explain"):
        explanation = _explanation(scop, deps, made) if options.explain else ""
        view = _view(scop, deps, made) if options.report else None
    return Outcome(
        made.emitted.text,
        (
            *made.emitted.helpers,
            *(helper for one in made.allocations for helper in one.helpers),
            *guard_helpers(made.guard, scop.reserved),
        ),
        (
            *(counter_definitions(scop.location) if counter_name(scop.location) in made.guard else ()),
            *made.emitted.definitions,
        ),
        made.allocations,
        tuple(remarks),
        clock.seconds,
        schedule=str(made.marked.tree.get_root()),
        proposal=document(region.location, str(made.tree), legend(scop)),
        final=document(region.location, str(made.marked.tree), legend(scop, made.marked.marks)),
        explanation=explanation,
        view=view,
        gains=gains(scop, region, made.marked, made.nest),
        guard=made.guard,
        prologue=scop.prologue,
    )


def _explanation(scop: Scop, deps: Dependences, made: _Generated) -> str:
    """Words cost nobody their loops: a fault in here is told in their place."""
    try:
        return explain(scop, deps, made.tree, made.marked)
    except Exception as error:
        return (
            f"{scop.location}: internal error, could not be explained: {type(error).__name__}: {_first_line(error)}\n"
        )


def _view(scop: Scop, deps: Dependences, made: _Generated) -> RegionView | None:
    """A page costs nobody their loops either: without a view it shows less."""
    try:
        return view_of(scop, deps, made.tree, made.marked)
    except Exception:
        return None


def _generate(
    scop: Scop,
    deps: Dependences,
    options: Options,
    guide: Guidance,
    clock: Clock,
    fixed: isl.Schedule | None,
    judged: bool,
    watch: Watch,
) -> _Generated:
    """By a schedule tree that is fixed, or else by the scheduler's. judged: raises NotWorth where the original is no
    worse."""
    with clock("schedule"):
        # Reductions in their order keep what they use close together. Schedulers that needn't order them put anything
        # in between.
        proposed = (
            ScheduleResult(fixed)
            if fixed is not None
            else get_scheduler(options.scheduler).schedule(scop, deps.strict(), options, guide.tree)
        )
        proposed = watch("schedule", proposed)
    with clock("bands"):
        hopes = asked_loops(scop, proposed.scenario) if options.simd and not guide.loops else ()
        marked = apply_passes(scop, deps, proposed.tree, options, guide.loops, hopes, watch)
    if options.verify != "off":
        with clock("verify schedule"):
            rows_apart = apart(scop, deps, marked)
            check_order(scop, rows_apart, marked.tree.get_map())
            check_marks(scop, rows_apart, marked)
    with clock("generate"):
        lowered = lowered_program(scop, deps, marked, options.machine, watch)
        program = rewritten(lowered, Setting(options, guide.loops, judged), watch)
    check_wishes(scop, marked, program.loops, stand_ins(program), guide.loops)
    with clock("print"):
        guard = watch("guard", guard_of(program, options))
        text = watch("print", emitted(program))
    if options.verify == "full":
        with clock("verify text"):
            check_program(program, deps, text, guard)
    told = (
        *(bands_apart(scop, deps, fixed) if fixed is not None else ()),
        *scenario_remarks(scop, proposed.remarks, marked, asked_loops(scop, proposed.scenario)),
        *choice_remarks(scop, marked, options),
        *reordered(scop, deps, marked.tree.get_map(), program.told),
        *kept_in_order(scop, _reorder(options), program.told),
    )
    return _Generated(proposed.tree, marked, program.shown, text, told, allocated(program), guard)


def _with_reducible(scop: Scop, options: Options, remark: Remark) -> Remark:
    """The remark with a hint at what --reassociate would reorder."""
    found = reducible(scop, _reorder(options)) if remark.id == "region.no-gain" else ""
    return (
        replace(remark, hint=f"{remark.hint}; give --reassociate if the last digits don't matter of the {found}")
        if found
        else remark
    )


def _given_up(region: Region, failure: Exception) -> Remark:
    message = f"the first choice of transformation was given up ({_first_line(failure)})"
    return Remark("analysis", "schedule.simplified", message, region.location)


def _statements_kept(region: Region) -> Remark:
    message = "the schedule given is one of the source's statements: scalars and arrays keep their cells"
    return Remark("analysis", "schedule.statements-kept", message, region.location)


def _internal(region: Region, failure: Exception | None) -> Remark:
    if "maximal number of operations" in _first_line(failure):
        message = "left as it was: more computations on integer sets than one region may take"
        return Remark("missed", "budget.exceeded", message, region.location, "split the region")
    message = f"left as it was, an internal check failed: {_first_line(failure)}"
    return Remark("missed", "internal.error", message, region.location, "please report this")


def _first_line(error: Exception | None) -> str:
    return (str(error).splitlines() or ["unknown"])[0]


@dataclass(slots=True)
class Clock:
    """Seconds by stage, added up over attempts."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
