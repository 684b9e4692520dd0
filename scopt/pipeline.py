"""The whole story on one screen: preprocess and parse,
transform each region in a process of its own, splice the results in."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.splice import Replacement, pieces, splice
from scopt.check.written import unproved
from scopt.clause_words import expanded_words, without_helpers
from scopt.decision_file import RANDOM, read_decisions
from scopt.diagnostics import InputError, Remark, Remarks
from scopt.done_regions import (
    Done,
    has_parts,
    in_parts,
    is_idle,
    is_large,
    is_slow,
    left_again,
    macros_in_the_way,
)
from scopt.expanded_macros import says_more, with_expanded_macros
from scopt.frontend.region.naming import Placed, with_names
from scopt.frontend.region.origins import macros_behind
from scopt.frontend.region.parse import parse
from scopt.frontend.region.small_distances import small_distances
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.frontend.syntax.user_functions import in_functions
from scopt.frontend.text.decided_conditionals import with_decided_conditionals
from scopt.frontend.text.openmp_lines import without_openmp
from scopt.function_places import helper_text, small_helpers
from scopt.isolation import Failed, Task, run_tasks
from scopt.line_directives import with_line_directives
from scopt.options import Options, check_options
from scopt.recursion import DEEPEST, recursion
from scopt.region_texts import known_parts, new_bytes
from scopt.schedule_file import read_schedules
from scopt.scheduler.influence.guidance import check_influence_file
from scopt.taken_apart import EXCHANGING
from scopt.tell.results import Outcome, RegionResult, Result
from scopt.time_shares import in_time
from scopt.wanted import Wanted

if TYPE_CHECKING:
    from scopt.frontend.region.autodetect import Detected

# Of a region's time, what each loop gets that is taken by itself where the region wasn't done in time, or was too large
# to be tried; and how many loops in one another are tried so. No loop is read and written in less than some time.
NEST_SHARE, LARGE_SHARE, MOST_LEVELS, LEAST_BUDGET = 0.25, 0.5, 2, 1.0


def optimize(source: bytes | str, options: Options | None = None, *, file: str = "<stdin>") -> Result:
    """Optimize the SCoPs of a C file.

    source: the file's content. file: its name, for locations and for includes relative to it; it isn't read.
    Raises InputError if the source can't be preprocessed or isn't C, for options that don't go together, and for
    unusable schedules or decisions in the files that options name. Whatever else can't be handled is a
    remark, and stays as it was.
    """
    with recursion(DEEPEST):
        return _optimize(source, options or Options(), file)


def _optimize(source: bytes | str, options: Options, file: str) -> Result:
    started = time.perf_counter()
    check_options(options)
    data = source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source
    given_data, data = data, _read_as_compiled(data, file, options)
    tu = parse(data, file, options)
    timings = {"parse": time.perf_counter() - started}
    found = _detected(tu, options) if options.autodetect else None
    unmarked = with_names(tu, found.regions, options, found.scop) if found is not None else ()
    regions = [*(Placed(tu, region) for region in tu.regions), *unmarked]
    check_influence_file(options, len(regions))
    given = _wanted(options, len(regions))
    end = started + options.file_budget if options.file_budget else math.inf
    done = _all_transformed(dict(enumerate(regions)), options, given, end)
    done, told = _with_loops_inside(dict(enumerate(regions)), done, options, end)
    again = {
        number: regions[number] for number, item in done.items() if number < len(regions) and macros_in_the_way(item)
    }
    while again:
        again = with_expanded_macros(tu, again, options)
        retried = _all_transformed(again, options, given, end)
        done |= {number: item for number, item in retried.items() if says_more(item.region, item.outcome)}
        again = {number: again[number] for number, item in retried.items() if macros_in_the_way(item)}
    done, others = _with_parts(tu, done, options, end)
    done = _with_nests(tu, done, options, end)
    done, replacements, text = _spliced(tu, done, options)
    text = text if replacements else given_data
    remarks = Remarks()
    remarks.extend(in_functions(tu, (*tu.remarks, *(found.remarks if found is not None else ()), *told, *others)))
    for item in done.values():
        remarks.extend(_remarks(item))
    timings |= {str(item.region.location): item.seconds for item in done.values()}
    timings["total"] = time.perf_counter() - started
    return Result(text, tuple(remarks), tuple(_result(item) for item in done.values()), timings, pieces(replacements))


def _read_as_compiled(data: bytes, file: str, options: Options) -> bytes:
    """The source without the lines that the compiler, by the options, doesn't see."""
    data = without_openmp(data) if options.ignore_openmp else data
    return with_decided_conditionals(data, file, options) if options.decide_conditionals else data


def _wanted(options: Options, regions: int) -> list[Wanted]:
    """What the user's files give for so many regions. Raises InputError."""
    nothing = (None,) * regions
    schedules = read_schedules(options.schedule_file, regions) if options.schedule_file else nothing
    listed = options.decisions not in ("", RANDOM)
    decisions = read_decisions(options.decisions, regions) if listed else nothing
    return [Wanted(*each) for each in zip(schedules, decisions, strict=True)]


def _detected(tu: TranslationUnit, options: Options) -> Detected:
    """The search may take a third of the file's time."""
    from scopt.frontend.region.autodetect import detect  # one run in many needs it

    deadline = time.monotonic() + options.file_budget / 3 if options.file_budget else math.inf
    return detect(tu, assume_apart=options.assume_apart, deadline=deadline, reassociate=options.reassociate)


def _all_transformed(
    regions: Mapping[int, Placed], options: Options, given: Sequence[Wanted], end: float
) -> dict[int, Done]:
    """Regions by their numbers, some at a time. Where the file's time is limited, until `end` (of `time.perf_counter`),
    those that gain most come first."""
    order = list(regions)
    if options.file_budget:
        order.sort(key=lambda number: (not regions[number].region.marked, -_depth(regions[number].region.items)))
    each = replace(options, jobs=max(1, options.jobs // max(1, len(order))))
    done = run_tasks([_transformed(regions[number], number, each, given, end) for number in order], options.jobs)
    by_number = dict(zip(order, done, strict=True))
    return {number: by_number[number] for number in regions}


def _depth(nodes: Iterable[Any]) -> int:
    """How deep loops are nested."""
    return max((isinstance(node, ir.For) + _depth(child for child in node.parts) for node in nodes), default=0)


def _transformed(
    placed: Placed, number: int, options: Options, given: Sequence[Wanted], end: float
) -> Task[Outcome, Done]:
    """One region under its limits. given: for all regions. Raises InputError if what is
    given for this one can't be used."""
    started = time.perf_counter()
    tu, region = placed.tu, placed.region
    if region.directives:
        hint = "move them out of the region"
        remark = Remark(
            "missed",
            "region.directives",
            "the region has preprocessor directives or text of other files",
            region.location,
            hint,
        )
        return Done(region, Outcome(None, remarks=(remark,)), 0.0)
    if "static" in expanded_words(tu.preprocessed.all_macros):
        return Done(region, Outcome(None, remarks=(without_helpers(region.location),)), 0.0)
    if started >= end:
        message = "left as it was: the time for the file is over"
        remark = Remark("missed", "budget.file", message, region.location, "allow more with --file-budget")
        return Done(region, Outcome(None, remarks=(remark,)), 0.0)
    left = end - started
    if left < options.budget or (not options.budget and left < math.inf):
        options = replace(options, budget=left)
    from scopt.transform import transform  # most of the program, which a file without regions does without

    wanted = replace(given[number], scop=placed.scop)
    outcome = yield from in_time(lambda chosen: transform(tu, region, number, chosen, wanted), region, options)
    seconds = time.perf_counter() - started
    if not isinstance(outcome, Failed):
        if outcome.value.error:
            raise InputError(outcome.value.error)
        found = outcome.value.baked
        macros = {**region.baked, **found, **macros_behind(tu, region)} if outcome.value.text is not None else {}
        alone = outcome.value.text is None or given[number].some or options.decisions
        versions = () if alone else (yield from _versions(placed, number, options))
        return Done(region, outcome.value, time.perf_counter() - started, macros, versions)
    if outcome.timed_out:
        hint = "allow more with --budget or --memory"
        remark = Remark("missed", "budget.exceeded", f"left as it was: {outcome.message}", region.location, hint)
    else:
        remark = Remark(
            "missed", "internal.error", f"left as it was: {outcome.message}", region.location, "please report this"
        )
    return Done(region, Outcome(None, remarks=(remark,)), seconds)


def _versions(placed: Placed, number: int, options: Options) -> Task[Outcome, tuple[tuple[str, Outcome], ...]]:
    """What becomes of a region that has been transformed for small distances between its cells."""
    from scopt.transform import transform  # loaded by then

    found = []
    for condition, region in small_distances(placed.tu, placed.region):
        quiet = replace(options, explain=False, report=False, tell_decisions=False)
        made = yield from in_time(partial(transform, placed.tu, region, number), region, quiet)
        if isinstance(made, Failed) or made.value.error or made.value.allocations or made.value.text is None:
            continue
        found.append((condition, made.value))
    return tuple(found)


def _with_loops_inside(
    placed: Mapping[int, Placed], done: dict[int, Done], options: Options, end: float
) -> tuple[dict[int, Done], tuple[Remark, ...]]:
    """With the loops inside of unmarked regions, of one translation unit, whose iterations exchange pointers without a
    gain, and what is to be told of them."""
    left = [number for number, item in done.items() if item.outcome.exchanging and not item.region.marked]
    if not left or options.schedule_file or options.decisions:
        return done, ()
    from scopt.frontend.region.autodetect import detect_inside  # loaded by then: it has found the regions
    from scopt.frontend.region.parts import news  # one run in many needs it

    whole = [placed[number].expanded or placed[number] for number in left]
    tu, assume_apart = whole[0].tu, options.assume_apart
    found = detect_inside(tu, [one.region for one in whole], assume_apart=assume_apart, reassociate=options.reassociate)
    named = all(placed[number].region.part for number in left)
    if named:
        inside = [Placed(tu, one, scop=found.scop(one)) for one in found.regions]
    else:
        inside = with_names(tu, found.regions, options, found.scop)
    first = max(placed) + 1
    numbered = {first + position: one for position, one in enumerate(inside)}
    made = _all_transformed(numbered, options, (Wanted(),) * (first + len(numbered)), end)
    told = news(found.remarks, (), EXCHANGING)
    return done | made, told


def _with_parts(
    tu: TranslationUnit, done: dict[int, Done], options: Options, end: float
) -> tuple[dict[int, Done], tuple[Remark, ...]]:
    """With the parts of marked regions that could not be taken as a whole, or gain nothing, and what is to be told of
    them. What a user gives for regions is for whole ones."""
    refused = [item for item in done.values() if has_parts(item)]
    idle = [item for item in done.values() if is_idle(item)]
    if options.schedule_file or options.decisions:
        return done, ()
    done, told = _in_parts_of(tu, done, refused, options, end)
    done, others = _in_parts_of(tu, done, idle, options, end)
    return done, (*told, *others)


def _in_parts_of(
    tu: TranslationUnit, done: dict[int, Done], refused: list[Done], options: Options, end: float
) -> tuple[dict[int, Done], tuple[Remark, ...]]:
    """With the parts of some marked regions, and what is to be told of them: nothing where a region stays whole."""
    if not refused:
        return done, ()
    from scopt.frontend.region.parts import is_whole, news, parts_of  # one run in many needs it

    try:
        whole = [replace(one.region, exchanging=not one.outcome.exchanging) for one in refused]
        again, found = parts_of(whole, tu, options)
    except InputError:
        return done, ()
    refused = [
        item for item in refused if not (is_idle(item) and any(is_whole(one, item.region) for one in found.regions))
    ]
    others = [item.region for item in done.values() if item not in refused]
    regions = [one for one in found.regions if not any(one.lies_in(region) for region in others)]
    parts = {number: Placed(again, one, scop=found.scop(one)) for number, one in enumerate(regions, len(done))}
    known = EXCHANGING if any(item.outcome.exchanging for item in refused) else ""
    told = news(found.remarks, (remark for item in refused for remark in item.outcome.remarks), known)
    made = _all_transformed(parts, options, (Wanted(),) * (len(done) + len(parts)), end)
    made, inside = _with_loops_inside(parts, made, options, end)
    told = (*told, *inside)
    gaining = [one.region for one in made.values() if any(gain.got for gain in one.outcome.gains)]
    parted = [one for one in refused if any(part.lies_in(one.region) for part in gaining)]
    kept = [one.region for one in refused if is_idle(one) and one not in parted]
    if len(kept) == len(refused):
        return done, ()
    made = {k: one for k, one in made.items() if not any(one.region.lies_in(whole) for whole in kept)}
    return done | {k: in_parts(one) for k, one in done.items() if one in parted and is_idle(one)} | made, told


def _with_nests(tu: TranslationUnit, done: dict[int, Done], options: Options, end: float) -> dict[int, Done]:
    """With the loops of regions that were not done in time, each by itself, or those inside of it."""
    slow = [item for item in done.values() if is_slow(item)]
    if options.schedule_file or options.decisions:
        return done
    for level in range(MOST_LEVELS):
        if not slow:
            break
        from scopt.frontend.region.parts import less_shared, nests_of  # one run in many needs it

        untried = all(map(is_large, slow))  # what has taken its time leaves less to the loops inside
        if level == 0 or not untried:
            share = LARGE_SHARE if untried else NEST_SHARE
            options = replace(options, budget=max(share * options.budget, min(options.budget, LEAST_BUDGET)))
        try:
            again, found = nests_of([item.region for item in slow], tu, options)
        except InputError:
            break
        first = max(done) + 1
        parts = {number: Placed(again, one, scop=found.scop(one)) for number, one in enumerate(found.regions, first)}
        given = (Wanted(whole=level + 1 == MOST_LEVELS),) * (first + len(parts))
        made = _all_transformed(parts, options, given, end)
        threads = {number: item.region for number, item in made.items() if item.outcome.in_threads}
        made |= _all_transformed(less_shared(parts, threads), options, given, end)
        slow = [item for item in made.values() if is_slow(item)]
        # of several loops, the slow ones are told of, too; of a single one that much is known of the whole
        done = done | {number: item for number, item in made.items() if item not in slow or len(made) > 1}
    return done


def _spliced(
    tu: TranslationUnit, done: dict[int, Done], options: Options
) -> tuple[dict[int, Done], list[Replacement], bytes]:
    """The regions, the replacements in the source, and what it becomes. A region whose text fails a check there stays
    as it was."""
    while True:
        changed = {number: item for number, item in done.items() if item.outcome.text is not None}
        replacements = _replacements(tu, changed, options)
        text = splice(tu.source, [*replacements.values()])
        failures = _unproved(tu, changed, replacements, text) if options.verify == "full" else {}
        if not failures:
            return done, sorted(replacements.values()), text
        done = {
            number: left_again(item, failures[number]) if number in failures else item for number, item in done.items()
        }


def _unproved(
    tu: TranslationUnit, done: Mapping[int, Done], replacements: Mapping[int | None, Replacement], text: bytes
) -> dict[int, str]:
    """What is wrong with the new texts of regions, by their numbers."""
    regions = {number: known_parts(tu, item.texts) for number, item in done.items()}
    helpers, definitions = _needed(tu, done.values())
    helper = (small_helpers(tu, helpers),) if helpers else ()
    return unproved(tu.preprocessed.raw, regions, replacements, (*helper, *definitions), text)


def _needed(tu: TranslationUnit, done: Iterable[Done]) -> tuple[list[str], list[str]]:
    """Helper functions, by name, and definitions of other functions that the regions' texts call."""
    items = [*done]
    outcomes = [outcome for item in items for outcome in item.outcomes]
    helpers = sorted({name for outcome in outcomes for name in outcome.helpers})
    own = dict.fromkeys(text for outcome in outcomes for text in outcome.definitions)
    return helpers, [*own]


def _replacements(tu: TranslationUnit, done: Mapping[int, Done], options: Options) -> dict[int | None, Replacement]:
    """The texts of transformed regions, and, by None, the helper functions that they call, in front of the first
    function that has one."""
    replacements: dict[int | None, Replacement] = {
        number: (item.region.start, item.region.end, new_bytes(tu, item.texts)) for number, item in done.items()
    }
    helpers, definitions = _needed(tu, done.values())
    if helpers or definitions:
        first = min((item.region for item in done.values()), key=lambda region: region.start)
        place, text = helper_text(tu, first, helpers, definitions)
        replacements[None] = (place, place, text)
    if done and options.line_directives:
        raw, newline = tu.preprocessed.raw, next(iter(done.values())).region.newline
        return {key: with_line_directives(raw, one, newline, tu.file) for key, one in replacements.items()}
    return replacements


def _remarks(item: Done) -> tuple[Remark, ...]:
    name = item.region.function.decl.name
    return tuple(replace(remark, function=name) for remark in item.outcome.remarks)


def _result(item: Done) -> RegionResult:
    outcome = item.outcome
    return RegionResult(
        location=item.region.location,
        marked=item.region.marked,
        part=item.region.part,
        transformed=outcome.text is not None,
        remarks=_remarks(item),
        seconds=item.seconds,
        stages=outcome.seconds,
        function=item.region.function.decl.name,
        **outcome.told(),
    )
