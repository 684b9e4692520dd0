"""How a region's time is shared by the ways to transform it, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from scopt.decision_file import RANDOM
from scopt.diagnostics import Remark
from scopt.frontend.syntax.unit import Region
from scopt.isolation import Attempt, Failed, Finished, Task
from scopt.options import Options
from scopt.scheduler.base import UNSCHEDULED
from scopt.simpler_forms import quicker
from scopt.tell.results import Outcome

# Stages that come first whatever the options are, and those that are the same whatever becomes of loops.
_FIRST = frozenset({"extract", "dependences"})
_BEFORE_BANDS = _FIRST | {"forms", "verify statements", "check schedule", "schedule"}
# What comes behind a schedule: what has begun with it is half done, and its result worth more than a simpler one's.
_BEHIND_SCHEDULES = frozenset({"bands", "verify schedule", "generate", "print", "verify text"})
# Of a region's time, what the first form may take besides its half of it once it has come that far.
_LATE_SHARE = 0.2
# Of a region's time, what schedules may take.
SCHEDULE_SHARE = 0.25


def in_time(
    work: Callable[[Options], Outcome], region: Region, options: Options
) -> Task[Outcome, Finished[Outcome] | Failed]:
    """A region's outcome within its budget: with the options as they are,
    then in simpler forms, each with a part of the budget."""
    attempts = [*quicker(options, wishes=bool(region.pragmas.used))]
    if not options.budget or len(attempts) == 1 or options.decisions not in ("", RANDOM):
        return (yield Attempt(partial(work, options), options.budget, options.memory))
    if attempts[-1].scheduler != options.scheduler:
        # Behind a schedule that takes this long nothing would be done in time; the original order takes hardly any.
        attempts[0] = replace(options, schedule_budget=SCHEDULE_SHARE * options.budget)
    # Loops over the tiles of oddly skewed bands can take isl forever, and so can schedules of many statements; the
    # first form gets as much time as the others together.
    left, part, given_up = options.budget, options.budget / 2, ""
    more = _LATE_SHARE * options.budget
    while attempts:
        chosen = attempts.pop(0)
        outcome = yield Attempt(partial(work, chosen), part, options.memory, more, _BEHIND_SCHEDULES)
        if not isinstance(outcome, Failed):
            if chosen.hasty and outcome.value.text is None and not outcome.value.error:
                break  # more time may bring what pays
            return _with_remark(outcome, region, given_up) if given_up and outcome.value.text is not None else outcome
        if not outcome.timed_out:
            return outcome
        if outcome.stage in _FIRST:  # where others, which have no more time, would come to their end, too
            message = f"its dependences take more than {part:g} s of {options.budget:g} s"
            return Failed(message, timed_out=True, stage=outcome.stage)
        given_up = given_up or outcome.message
        attempts, left = _simpler(attempts, outcome), left - part - (more if outcome.late else 0.0)
        part, more = left / max(1, len(attempts)), 0.0
        if outcome.late > part:  # as long as a schedule takes, which only the last ones do without
            attempts = [one for one in attempts if one.hasty]
            part = left / max(1, len(attempts))
    return Failed(f"not finished after {options.budget:g} s", timed_out=True)


def _simpler(attempts: list[Options], failed: Failed) -> list[Options]:
    """Those of the attempts that are left that take less time where another one came to its end."""
    quick = failed.message == UNSCHEDULED or failed.stage in _BEFORE_BANDS
    return [one for one in attempts if one.hasty or not (quick or (failed.stage == "bands" and one.tile))]


def _with_remark(outcome: Finished[Outcome], region: Region, given_up: str) -> Finished[Outcome]:
    message = f"the first choice of transformation was given up ({given_up})"
    remark = Remark("analysis", "schedule.simplified", message, region.location)
    return Finished(replace(outcome.value, remarks=(*outcome.value.remarks, remark)))
