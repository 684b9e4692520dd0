"""What is to be done about a SCoP, and whether what its statements' form is for has come of it."""

from __future__ import annotations

from collections.abc import Callable, Collection

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.rewrite_setting import Watch
from scopt.diagnostics import Remark
from scopt.frontend.syntax.unit import Region
from scopt.ir.marked_schedule import MarkedSchedule, loop_of
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.source_loops import source_loops
from scopt.rewritten_scop import reorder_of
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.decisions.decider import Decider
from scopt.scheduler.influence.guidance import Guidance
from scopt.scheduler.passes.vector_share import in_threads, in_vectors, running_together
from scopt.stage_clock import Clock
from scopt.tell.gains import gains
from scopt.tell.reordered import reducible


class LeftAlone(Exception):
    """A region stays as it was. remark: why."""

    def __init__(self, remark: Remark) -> None:
        super().__init__(remark.message)
        self.remark = remark


class Cells(Struct, frozen=True):
    """What cells in place of scalars are for. kernels: for functions of the text's own alone, not for vector loops.
    changed: the statements that have some."""

    kernels: bool
    changed: frozenset[str]


# Has a scheduler answer, in one way; None where that isn't one for these statements.
Asked = Callable[["Work", Options], ScheduleResult | None]


class Work(Struct, frozen=True, eq=False):
    """What is to be done about a SCoP. guide: the user's wishes. fixed: the user's schedule tree, if there is one.

    judged: nobody asks for the region's transformation, so that it has to pay. sized: nobody asks for its loops at any
    size, so that small ones get the original. clock: told of each stage; watch: sees what each step makes. carried:
    scalars that the SCoP has for rows beside each other alone; apart: arrays that it has for rows that are independent
    of each other alone; in_order: the schedule is its own; tables: arrays that it has for threads' copies alone; lanes:
    the statements that it is for, which have to be in vector loops; own: local arrays that it has for threads alone;
    threads: the statements that have to be in parallel loops; shared: they do nearly all of the work; cells: what it
    has cells for. decider: who decides, with what was decided before. schedules: what
    schedulers have answered, or raised, by who asked and by options.
    """

    scop: Scop
    deps: Dependences
    region: Region
    options: Options
    guide: Guidance
    fixed: isl.Schedule | None
    judged: bool
    sized: bool
    clock: Clock
    watch: Watch
    carried: frozenset[str] = frozenset()
    decider: Decider = field(default_factory=Decider)
    apart: frozenset[str] = frozenset()
    in_order: bool = False
    tables: frozenset[str] = frozenset()
    work: frozenset[str] = frozenset()
    lanes: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()
    shared: bool = False
    cells: Cells | None = None
    schedules: list[tuple[Asked, Options, tuple[ScheduleResult | Exception | None]]] = field(default_factory=list)

    def left(self, remark: Remark) -> LeftAlone:
        """With a hint at what --reassociate would reorder."""
        found = reducible(self.scop, reorder_of(self.options)) if remark.id == "region.no-gain" else ""
        if found:
            hint = f"{remark.hint}; give --reassociate if the last digits don't matter of the {found}"
            remark = replace(remark, hint=hint)
        return LeftAlone(remark)


class NotCarried(Exception):
    """A scalar that rows carry isn't kept by rows beside each other, or rows with results of their own aren't run
    together."""


def rows_scalars(marked: MarkedSchedule) -> frozenset[str]:
    """The scalars that rows beside each other have one of each."""
    return frozenset(name for one in marked.strips.values() if not one.vectors for name in one.scalars)


def brings(work: Work, marked: MarkedSchedule) -> bool:
    """Whether what the statements' form is for has come of it."""
    loops = [loop_of(mark) for mark in marked.marks.values()]
    copies = {one.array for loop in loops for one in loop.reductions if one.whole or loop.parallel}
    private = {name for loop in loops if loop.parallel for name in loop.private}
    buffers = {one.array for strips in marked.strips.values() for one in strips.buffers}
    return (
        work.carried <= rows_scalars(marked)
        and work.tables <= copies
        and work.work <= buffers
        and work.lanes <= in_vectors(marked)
        and work.own <= private
        and work.threads <= in_threads(marked)
        and _is_apart(work, marked)
    )


def may_pay(work: Work, marked: MarkedSchedule) -> bool:
    """Whether functions of the text's own, or vector loops, may come of a schedule with cells in place of scalars, if
    it has some."""
    cells = work.cells
    if cells is None:
        return True
    rows = any(loop.jammed or loop.beside for loop in marked.loops.values())
    if rows or marked.tilings or marked.packed or marked.strips:
        return True
    loops = () if cells.kernels else gains(work.scop, work.region, marked)
    return any("vector" in one.got and (not cells.changed or one.statements & cells.changed) for one in loops)


def _is_apart(work: Work, marked: MarkedSchedule) -> bool:
    """Whether what rows do besides handing on their results runs in parallel, in vectors or several rows at a time."""
    needed = apart_statements(work.scop, work.apart)[0]
    return not needed or needed <= running_together(marked)


def apart_statements(scop: Scop, cells: Collection[str]) -> tuple[frozenset[str], int]:
    """The statements that have to run together where rows have such cells for their results, and how many loops are
    around the rows; none where nothing uses the cells."""
    users = [one for one in scop.statements if any(access.array in cells for access in one.accesses)]
    if not users:
        return frozenset(), 0
    loops, depth = source_loops(scop), min(len(one.iterators) for one in users)
    around = {loops[one.name][:depth] for one in users}
    deep = {name for name, own in loops.items() if len(own) > depth and own[:depth] in around}
    most = max((len(loops[name]) for name in deep), default=0)
    takers = {one.name for one in users if not any(a.is_write and a.array in cells for a in one.accesses)}
    return frozenset(name for name in deep if len(loops[name]) == most or name not in takers), depth
