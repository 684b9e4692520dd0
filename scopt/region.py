"""One region, from syntax tree to C text: extract, analyse, schedule, transform, generate, verify."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import islpy as isl

from scopt.astgen.build import build
from scopt.astgen.emit_c import Emitted, emit
from scopt.astgen.estimates import drop_small_loops
from scopt.astgen.readback import check_coverage, nest_to_schedule
from scopt.astgen.reparse import check_printed
from scopt.astgen.work import add_work_guards
from scopt.diagnostics import Refusal, Remark, ScoptError
from scopt.frontend.dependences import dependences
from scopt.frontend.extract import extract
from scopt.frontend.parse import TranslationUnit
from scopt.frontend.regions import Region
from scopt.isl_utils import operation_limit
from scopt.model import Block, Dependences, For, If, LoopNest, MarkedSchedule, Scop
from scopt.options import Options
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes import apply_passes
from scopt.verify import ParallelDim, check_marks, check_order

# isl counts elementary operations; this many take some seconds. A transformation that needs more is tried again in a simpler form.
MAX_OPERATIONS = 40_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a region. text is None if it stays as it was; then a `missed` remark says why.

    helpers: helper functions that the text calls, by name. schedule: the transformed schedule tree in isl's notation. seconds: per stage.
    """

    text: str | None
    helpers: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    schedule: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


def transform(tu: TranslationUnit, region: Region, name: str, options: Options) -> Outcome:
    """Transform one region. Raises nothing that is the input's fault: a refusal is an outcome with its remark."""
    clock = Clock()
    try:
        with clock("extract"):
            scop = extract(tu, region, name)
    except Refusal as refusal:
        return Outcome(None, remarks=(refusal.remark,), seconds=clock.seconds)
    with clock("dependences"):
        deps = dependences(scop)
    remarks = list(scop.assumptions)
    failure: Exception | None = None
    for attempt in _attempts(options):
        try:
            with operation_limit(MAX_OPERATIONS if attempt.budget else 0):
                marked, nest, emitted = _generate(scop, deps, attempt, clock)
            break
        except (isl.Error, ScoptError) as error:
            failure = failure or error
    else:
        return Outcome(None, remarks=(_internal(region, failure),), seconds=clock.seconds)
    if failure is not None:
        message = f"the first choice of transformation was given up ({_first_line(failure)})"
        remarks.append(Remark("analysis", "schedule.simplified", message, region.location))
    remarks.append(Remark("passed", "region.transformed", _summary(nest), region.location))
    return Outcome(emitted.text, emitted.helpers, tuple(remarks), str(marked.tree.get_root()), clock.seconds)


def _attempts(options: Options) -> Iterator[Options]:
    """The options as they are; then without tiling; then the original order. Each is verified like the first."""
    yield options
    if options.tile:
        yield replace(options, tile=False)
    if options.scheduler != "identity":
        yield replace(options, tile=False, scheduler="identity")


def _generate(scop: Scop, deps: Dependences, options: Options, clock: Clock) -> tuple[MarkedSchedule, LoopNest, Emitted]:
    with clock("schedule"):
        tree = get_scheduler(options.scheduler).schedule(scop, deps, options).tree
    with clock("bands"):
        marked = apply_passes(scop, deps, tree, options)
    if options.verify != "off":
        with clock("verify schedule"):
            check_order(scop, deps, marked.tree.get_map())
            check_marks(scop, deps, marked)
    with clock("generate"):
        nest = drop_small_loops(scop, add_work_guards(scop, build(scop, marked)))
    if options.verify == "full":
        with clock("verify loops"):
            read = nest_to_schedule(scop, nest)
            check_coverage(scop, read)
            loops = [ParallelDim(loop.dimension, loop.statements, loop.mark.private) for loop in read.loops]
            check_order(scop, deps, read.schedule, loops)
    with clock("print"):
        emitted = emit(scop, nest)
    if options.verify == "full":
        with clock("verify text"):
            check_printed(scop, nest, emitted)
    return marked, nest, emitted


def _internal(region: Region, failure: Exception | None) -> Remark:
    message = f"left as it was, an internal check failed: {_first_line(failure)}"
    return Remark("missed", "internal.error", message, region.location, "please report this")


def _first_line(error: Exception | None) -> str:
    return (str(error).splitlines() or ["unknown"])[0]


def _summary(nest: LoopNest) -> str:
    """What the result has, in a few words."""
    parallel = simd = loops = 0

    def visit(block: Block) -> None:
        nonlocal parallel, simd, loops
        for item in block.items:
            if isinstance(item, For):
                loops += 1
                parallel += item.mark.parallel
                simd += item.mark.simd
                visit(item.body)
            elif isinstance(item, If):
                visit(item.then)
                if item.otherwise is not None:
                    visit(item.otherwise)

    visit(nest.body)
    return f"transformed: {loops} loops, {parallel} parallel, {simd} vectorizable"


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

