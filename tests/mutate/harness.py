"""Plants a fault in what a step makes, and looks at what comes of it.

scopt works on a source as always; where a step has made something, the process forks, and goes on in its child with the
fault. A child ends with the first attempt at the region: what is tried then, in simpler forms, would hide what became
of the fault.
"""

from __future__ import annotations

import os
import pickle
import random
import resource
import signal
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, TypeVar
from unittest import mock

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import attempts, pipeline, statement_forms, transform as region
from scopt.astgen.rewrite_setting import Watch
from scopt.astgen.transformed_program import Program
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Scop
from scopt.isolation import Attempt, Failed, Finished
from scopt.options import Options
from scopt.scheduler.base import ScheduleResult
from tests.mutate.judge import Judge
from tests.mutate.mutations import Mutation, Shown, mutations
from tests.mutate.source import Source

T = TypeVar("T")
# Of processor time, and bytes, for one fault.
SECONDS, MEMORY = 20, 8 << 30
# The exit status of a process in which the harness itself has failed.
BROKEN = 99


class Stopped(BaseException):
    """The first attempt has ended."""


class BrokenHarness(BaseException):
    """A fault of the harness itself, which must not count as a refusal."""


class Same(BaseException):
    """What was planted is no fault: nothing is changed."""


class Planted(Struct, frozen=True):
    """One fault and what became of it. number: of all that can be planted there. verdict: ``refused``, ``equivalent``
    or ``survived``.
    why: the refusal's words, or what shows that the result is wrong."""

    source: str
    step: str
    number: int
    kind: str
    place: str
    verdict: str
    why: str = ""
    text: str = ""

    @property
    def name(self) -> str:
        return f"{self.source}:{self.step}:{self.number}"


class Places(Struct, frozen=True):
    """What can be planted in a source: by step, the kinds of all faults in order, and whether they are in something
    that the step has changed."""

    source: str
    attempt: int
    kinds: Mapping[str, tuple[tuple[str, bool], ...]]

    def drawn(self, step: str, count: int, random_numbers: random.Random) -> list[int]:
        """So many faults of a step, by their numbers: of as many kinds as there are,
        and first of what the step has changed."""
        by_kind: dict[str, list[int]] = {}
        numbers = list(enumerate(self.kinds[step]))
        random_numbers.shuffle(numbers)
        for number, (kind, _) in sorted(numbers, key=lambda one: not one[1][1]):
            by_kind.setdefault(kind.partition(":")[0], []).append(number)
        drawn: list[int] = []
        queues = list(by_kind.values())
        random_numbers.shuffle(queues)
        while queues and len(drawn) < count:
            queues = [queue for queue in queues if queue]
            for queue in queues:
                if len(drawn) < count:
                    drawn.append(queue.pop(0))
        return drawn


class _Watch(Struct, Watch, eq=False):
    """attempt: in which faults are planted, counted from 1. plan: by step, the numbers of the faults; None: those of
    each attempt and step are only counted.
    pipe: of a child, to tell what became of its fault; else -1. more: so many attempts may still begin."""

    scop: Scop
    attempt: int
    plan: Mapping[str, tuple[int, ...]] | None
    current: int = 0
    sees: ClassVar[bool] = True
    shown: Shown = field(default_factory=Shown)
    kinds: dict[tuple[int, str], tuple[tuple[str, bool], ...]] = field(default_factory=dict)
    ended: list[tuple[str, int, Mutation, bytes]] = field(default_factory=list)
    pipe: int = -1
    more: int = 0

    def scheduled(self) -> None:
        """An attempt begins. Raises Stopped if it is another one than that with the fault."""
        if self.pipe >= 0:
            if not self.more:
                raise Stopped
            self.more -= 1
        self.current += 1
        self.shown = Shown(self.scop)

    def __call__(self, step: str, made: T) -> T:
        early = step in ("rewritten", "own", "work", "rolled")
        attempt = self.current + early
        if (self.plan is not None and attempt != self.attempt) or self.pipe >= 0:
            return made
        if self.plan is not None and step not in self.plan:
            self.shown = self.shown.after(made)
            return made
        faults = list(mutations(made, self.shown))
        self.shown = self.shown.after(made)
        if self.plan is None:
            self.kinds[attempt, step] = tuple((one.kind, one.near) for one in faults)
            return made
        for number in self.plan[step]:
            receiving, sending = os.pipe()
            child = os.fork()
            if not child:
                os.close(receiving)
                self.pipe, self.more = sending, int(early)
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
                changed: T = faults[number].make()
                if _tree(changed) == _tree(made) != "":
                    raise Same
                isl.DEFAULT_CONTEXT.reset_operations()
                isl.DEFAULT_CONTEXT.set_max_operations(attempts.MAX_OPERATIONS)
                return changed
            os.close(sending)
            with os.fdopen(receiving, "rb") as pipe:
                self.ended.append((step, number, faults[number], pipe.read()))
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == BROKEN:
                raise BrokenHarness
        return made


def _tree(made: Any) -> str:
    """All that a schedule tree and notes about it say; empty for anything else."""
    match made:
        case ScheduleResult(tree=tree):
            return str(tree)
        case MarkedSchedule(tree=tree):
            return f"{tree} {made.marks}"
    return ""


@cache
def scop_of(source: Source) -> Scop:
    """What is scheduled; it is asked for again with each plan of faults."""
    found: list[Scop] = []

    class First(Watch):
        def __call__(self, step: str, made: T) -> T:
            if isinstance(made, Program):
                found.append(made.source)
                raise Stopped
            return made

    try:
        _optimized(source, First())
    except Stopped:
        return found[0]
    raise AssertionError(f"{source.name} isn't transformed")


def places_of(source: Source) -> Places:
    """All faults that can be planted in a source, in the attempt that succeeds."""
    watch = _Watch(scop_of(source), 0, None)
    result = _optimized(source, watch)
    kinds = {step: watch.kinds[attempt, step] for attempt, step in watch.kinds if attempt == watch.current}
    if [one.transformed for one in result.regions] != [True] or "print" not in kinds:
        raise AssertionError(f"{source.name}: {[remark.text() for remark in result.remarks]}")
    return Places(source.name, watch.current, kinds)


def plant(source: Source, attempt: int, plan: Mapping[str, tuple[int, ...]], folder: Path) -> list[Planted]:
    """What became of some faults. attempt, plan: see `_Watch`. folder: for programs."""
    watch = _Watch(scop_of(source), attempt, plan)
    reply: tuple[str, str]
    try:
        result = _optimized(source, watch)
        reply = ("accepted", result.text.decode())
        if [one.transformed for one in result.regions] != [True]:
            missed = [remark.message for remark in result.remarks if remark.kind == "missed"]
            reply = ("refused", missed[-1] if missed else "")
    except Stopped as stopped:
        reply = ("refused", str(stopped) or _told(stopped.__traceback__))
    except Same:
        reply = ("same", "")
    except Exception as error:
        reply = ("refused", f"{type(error).__name__}: {error}")
    except BrokenHarness:
        traceback.print_exc()
        os._exit(BROKEN)
    except BaseException:
        if watch.pipe >= 0:
            os._exit(1)
        raise
    if watch.pipe >= 0:
        with os.fdopen(watch.pipe, "wb") as pipe:
            pipe.write(pickle.dumps(reply))
        os._exit(0)
    judge = Judge(source, folder)
    found = []
    for step, number, fault, data in watch.ended:
        one = Planted(source.name, step, number, fault.kind, fault.place, "refused", "no answer")
        if data:
            verdict, words = pickle.loads(data)
            if verdict == "same":
                continue
            one = replace(one, why=words)
            if verdict == "accepted":
                wrong = "" if words == reply[1] else judge.verdict(words)
                one = replace(
                    one,
                    verdict="survived" if wrong else "equivalent",
                    why=wrong,
                    text="" if words == reply[1] else words,
                )
        found.append(one)
    return found


def judged(source: Source, folder: Path) -> str:
    """What is wrong with the result for a source without any fault; empty if nothing is."""
    return Judge(source, folder).verdict(_optimized(source, Watch()).text.decode())


def _told(trace: TracebackType | None) -> str:
    """Why an attempt failed, from the functions that know it."""
    words = ""
    while trace is not None:
        own, function = trace.tb_frame.f_locals, trace.tb_frame.f_code.co_name
        known = [own[name] for name in ("failure", "missing", "simpler") if own.get(name) is not None]
        if function == "first_that_works" and known:
            words = str(known[-1])
        if function in ("outcome", "first") and own.get("outcome") is not None:
            words = own["outcome"].remarks[-1].message
        trace = trace.tb_next
    return (words.splitlines() or [""])[0]


def _at_any_size(options: Options) -> Options:
    """Without limits, and, of marked regions, without the tests that give small sizes the original loops: faults would
    never run."""
    return replace(options, budget=0.0, eager=options.eager or not options.autodetect)


def _optimized(source: Source, watch: Watch) -> pipeline.Result:
    """scopt's result, computed in this process."""

    def transform(tu: Any, one: Any, number: int, options: Any, given: Any) -> region.Outcome:
        return transformed(tu, one, number, replace(options, budget=0.0), given, watch)

    def schedule(work: Any, options: Any) -> Any:
        if isinstance(watch, _Watch):
            watch.scheduled()
        return scheduled(work, options)

    def fault(*arguments: Any) -> Exception | None:
        found = fault_of(*arguments)
        if found is not None and isinstance(watch, _Watch) and watch.pipe >= 0:
            raise Stopped(str(found))
        return found

    transformed, scheduled, fault_of = region.transform, attempts._scheduled, statement_forms.rewriting_fault
    with (
        mock.patch.object(region, "transform", transform),
        mock.patch.object(pipeline, "run_tasks", _run_here),
        mock.patch.object(attempts, "_scheduled", schedule),
        mock.patch.object(statement_forms, "rewriting_fault", fault),
    ):
        return pipeline.optimize(source.text.encode(), _at_any_size(source.options), file=f"{source.name}.c")


def _run_here(tasks: Any, jobs: int) -> list[Any]:
    """As `scopt.isolation.run_tasks`, but in this process.
    Faults may make anything of an attempt, so that all its exceptions count."""
    results = []
    for task in tasks:
        outcome: Finished[Any] | Failed | None = None
        try:
            while True:
                attempt: Attempt[Any] = next(task) if outcome is None else task.send(outcome)
                outcome = _attempted(attempt.work)
        except StopIteration as stop:
            results.append(stop.value)
    return results


def _attempted(work: Callable[[], Any]) -> Finished[Any] | Failed:
    try:
        return Finished(work())
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        if Path(last.filename) == Path(__file__):
            raise BrokenHarness from error
        return Failed(f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})")
