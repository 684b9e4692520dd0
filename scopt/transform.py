"""One region, from syntax tree to C text: extract, analyse, schedule, transform, generate, verify."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from scopt.astgen.gaining_share import gains_too_little, leaves_the_deepest
from scopt.astgen.guard import guard_helpers
from scopt.astgen.guard_counters import counter_definitions, counter_name
from scopt.astgen.passes.exchanging import taken_to_be_writable
from scopt.astgen.rewrite_setting import Watch
from scopt.attempts import Generated, first_line, first_that_works, internal_remark
from scopt.clause_words import (
    asks_for_memory,
    expanded_words,
    functions_for_threads,
    without_directives,
    without_memory,
    without_threads,
)
from scopt.decision_file import decider_of, decision_text
from scopt.diagnostics import InputError, Refusal, Remark
from scopt.form_work import LeftAlone, Work
from scopt.frontend.extract import extract
from scopt.frontend.syntax.taken_functions import taken_functions
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.directives import apply_directives
from scopt.frontend.text.openmp_clauses import sequential
from scopt.ir.library_names import MEMORY
from scopt.ir.nest import For
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.large_regions import too_large
from scopt.options import Options
from scopt.plain_texts import plain_text, with_lanes
from scopt.poly.row_extents import within_rows
from scopt.rewritten_scop import dependences_of, whole_loops
from scopt.schedule_file import checked_tree, document, legend
from scopt.scheduler import takes_influence
from scopt.scheduler.decisions.decider import Decider, NoSuchAnswer
from scopt.scheduler.influence.guidance import guidance
from scopt.stage_clock import Clock
from scopt.statement_forms import Form, Forms
from scopt.steps import Shown
from scopt.taken_apart import MOST_STATEMENTS, exchanging
from scopt.tell.gains import gains
from scopt.tell.loop_counts import counts, summary
from scopt.tell.results import Outcome
from scopt.wanted import Wanted

if TYPE_CHECKING:
    from scopt.tell.view import RegionView

# For wishes where neither the user nor a pragma names a scheduler that can follow them.
INFLUENCED_SCHEDULER = "pluto"


def transform(
    tu: TranslationUnit,
    region: Region,
    number: int,
    options: Options,
    given: Wanted = Wanted(),  # noqa: B008 - it can't be changed
    watch: Watch = Watch(),  # noqa: B008 - it has no state
) -> Outcome:
    """Transform one region, the number-th of its file, as the user wants it. watch: sees what each
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
    return _with_functions(tu, region, number, _with_pragmas(options, region), given, watch)


def _with_functions(
    tu: TranslationUnit, region: Region, number: int, options: Options, given: Wanted, watch: Watch
) -> Outcome:
    """The outcome that asks the libraries for nothing that the file has taken the names of."""
    outcome = _with_directives(tu, region, number, options, given, watch)
    taken = taken_functions(tu)
    if options.parallel and taken & functions_for_threads(outcome):
        outcome = _with_directives(tu, region, number, replace(options, parallel=False), given, watch)
        outcome = replace(outcome, remarks=(*outcome.remarks, without_threads(taken, region.location)))
    if taken & MEMORY and asks_for_memory(outcome):
        return Outcome(None, remarks=(without_memory(taken, region.location),), seconds=outcome.seconds)
    return outcome


def _with_directives(
    tu: TranslationUnit, region: Region, number: int, options: Options, given: Wanted, watch: Watch
) -> Outcome:
    """The outcome, without directives where the file has macros for their words."""
    words = expanded_words(tu.preprocessed.all_macros)
    if not words or not (options.parallel or options.simd):
        return with_lanes(tu, region, options, _analysed(tu, region, number, options, given, watch))
    outcome = _analysed(tu, region, number, replace(options, parallel=False, simd=False), given, watch)
    if not any(one.id in ("region.transformed", "region.no-gain") for one in outcome.remarks):
        return outcome
    return replace(outcome, remarks=(*outcome.remarks, without_directives(words, region.location)))


def _analysed(
    tu: TranslationUnit, region: Region, number: int, options: Options, given: Wanted, watch: Watch
) -> Outcome:
    """The outcome with these options, for which directives can be had."""
    clock = Clock()
    # Where nobody asks for the transformation, it has to pay.
    asked = options.eager or region.pragmas.used
    # A version is better than what it is a version of.
    wanted = region.marked or region.version
    judged, sized = not (wanted or asked or given.some), wanted and not asked
    if region.function.decl.name in tu.cold_functions and judged:
        message, hint = "left as it was: the function is declared cold", "mark the region if it matters"
        return Outcome(None, remarks=(Remark("missed", "region.cold", message, region.location, hint),))
    judged = judged or (options.hasty and not (asked or given.some))
    if region.threads and not (region.marked or options.parallel):
        return Outcome(None, remarks=(sequential(region.location),))
    if region.staged:
        return plain_text(tu, region, options)

    def at_work(form: Form, decider: Decider) -> Outcome:
        scop, deps = form.scop, form.deps
        with clock("check schedule"):
            fixed = checked_tree(scop, deps, given.schedule) if given.schedule is not None else None
        guide = guidance(scop, deps.strict(), options, number)
        meant = (decider, form.apart, form.in_order, form.tables, form.work, form.lanes, form.own, form.threads)
        cells = None if decider.is_open else forms.cells(form)
        about = (guide, fixed, judged, sized, clock, watch, form.carried, *meant, form.shared, cells)
        return _outcome(Work(scop, deps, region, options, *about))

    try:
        with clock("extract"):
            name = f"scop{number}"
            known = replace(given.scop, name=name) if given.scop is not None else None
            scop = known or extract(tu, region, name, assume_apart=options.assume_apart)
        if scop.exchanged and len(scop.statements) > MOST_STATEMENTS and not asked:
            return Outcome(None, remarks=(exchanging(scop),), seconds=clock.seconds, exchanging=True)
        with clock("dependences"):
            scop, fault = whole_loops(scop, options)
            if fault is not None:
                return Outcome(None, remarks=(internal_remark(region, fault),), seconds=clock.seconds)
            found = cache(partial(dependences_of, scop, options))
            whole = asked or given.some or given.whole or scop.exchanged
            large = too_large(scop, options.budget, found) if not whole else None
            if large is not None:
                return Outcome(None, remarks=(large,), seconds=clock.seconds)
            deps = found()
            inside = within_rows(scop, deps) if given.schedule is None else None
            if inside is not None:
                scop, deps = inside, dependences_of(inside, options)
        forms = Forms(region, scop, deps, options, given.schedule is not None, clock, watch)
        outcome = forms.outcome(at_work, decider_of(options, given.decisions, number))
        left = scop.exchanged and outcome.text is None
        return replace(outcome, remarks=(exchanging(scop),), exchanging=True) if left else outcome
    except NoSuchAnswer as fault:
        assert given.decisions is not None
        return Outcome(None, seconds=clock.seconds, error=str(given.decisions.error(fault)))
    except Refusal as refusal:
        return Outcome(None, remarks=(refusal.remark,), seconds=clock.seconds)
    except InputError as error:
        return Outcome(None, seconds=clock.seconds, error=str(error))


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


def _outcome(work: Work) -> Outcome:
    """What becomes of a SCoP."""
    scop, region = work.scop, work.region
    try:
        made = first_that_works(work)
    except LeftAlone as left:
        return Outcome(None, remarks=(left.remark,), seconds=work.clock.seconds)
    _, parallel, _ = counts(made.nest)
    if region.threads and not region.marked and not parallel:
        return Outcome(None, remarks=(sequential(region.location),), seconds=work.clock.seconds)
    if _is_vain(work, made):
        message = "left as it was: most of its work would be done in loops that gain nothing"
        hint = "mark the loops that gain something alone, or use --eager to see it"
        remark = Remark("missed", "region.no-gain", message, region.location, hint)
        return Outcome(None, remarks=(remark,), seconds=work.clock.seconds)
    transformed = Remark("passed", "region.transformed", summary(made.nest), region.location)
    with work.clock("explain"):
        explanation = _explanation(work, made) if work.options.explain else ""
        view = _view(work, made) if work.options.report else None
    counted = counter_name(scop.location) in made.guard
    tests = scop.guard.tests if scop.guard is not None else ()
    return Outcome(
        made.emitted.text,
        helpers=(
            *made.emitted.helpers,
            *(helper for one in made.allocations for helper in one.helpers),
            *guard_helpers(made.guard, scop.reserved),
        ),
        definitions=(
            *(counter_definitions(scop.location) if counted else ()),
            *(text for test in tests if made.guard for text in (*test.shared, test.definition)),
            *made.emitted.definitions,
        ),
        allocations=made.allocations,
        remarks=(*scop.assumptions, *_writable(scop, made), *made.remarks, transformed),
        seconds=work.clock.seconds,
        schedule=str(made.marked.tree.get_root()),
        proposal=document(region.location, str(made.tree), legend(scop)),
        final=document(region.location, str(made.marked.tree), legend(scop, made.marked.marks)),
        decisions=_decisions(work, made),
        explanation=explanation,
        view=view,
        gains=gains(scop, region, made.marked, made.nest),
        guard=made.guard,
        prologue=scop.prologue,
        epilogue=scop.epilogue,
        baked=scop.baked,
        idle=_is_idle(scop, made),
        jammed=any(
            isinstance(item, For) and item.mark.jammed and not item.mark.beside for item in items(made.nest.body)
        ),
    )


def _writable(scop: Scop, made: Generated) -> Iterator[Remark]:
    """What is said of memory that is written where data decided about it."""
    if found := taken_to_be_writable(scop, made.nest):
        message = f"taken to be writable, as in every marked region: {', '.join(map(repr, found))}"
        yield Remark("analysis", "assume.writable", message, scop.location)


def _is_idle(scop: Scop, made: Generated) -> bool:
    """Whether there are loops that are executed as a whole, and none that are as deep gain anything; or loops that go
    in stages, which only a part of the region can be taken for."""
    marks = [item.mark for item in items(made.nest.body) if isinstance(item, For)]
    gaining = any(mark.parallel or mark.simd or mark.jammed or mark.around for mark in marks)
    tiles = made.marked.tilings or made.marked.packed or made.marked.strips
    told = {remark.id for remark in scop.assumptions}
    if "statement.opaque" in told and leaves_the_deepest(scop, made.marked, made.nest):
        return True
    return "statement.stages" in told or (not (gaining or tiles) and "statement.opaque" in told)


def _is_vain(work: Work, made: Generated) -> bool:
    """Whether little of a marked region's work gains anything, where nobody asks for certain loops, or measures."""
    options = work.options
    wishes = options.schedule_file or options.decisions or options.tile_sizes
    if not work.sized or wishes or not (options.parallel and options.simd and options.tile):
        return False
    return gains_too_little(work.scop, made.marked, made.nest, options.machine)


def _decisions(work: Work, made: Generated) -> str:
    if not work.options.tell_decisions:
        return ""
    return decision_text(work.region.location, made.decisions, legend(work.scop), made.marked.cycles)


def _explanation(work: Work, made: Generated) -> str:
    """Words cost nobody their loops: a fault in here is told in their place."""
    from scopt.tell.explain import explain  # one run in many is asked for words

    try:
        return explain(work.scop, work.deps, made.tree, made.marked)
    except Exception as error:
        fault = f"{type(error).__name__}: {first_line(error)}"
        return f"{work.scop.location}: internal error, could not be explained: {fault}\n"


def _view(work: Work, made: Generated) -> RegionView | None:
    """A page costs nobody their loops either: without a view it shows less."""
    from scopt.tell.report.collect import view_of  # one run in many is asked for a page

    try:
        return view_of(work.scop, work.deps, made.tree, made.marked)
    except Exception:
        return None
