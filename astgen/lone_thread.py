"""Whether one thread gains by a nest that several were made for; else it has the loops as they were."""

from __future__ import annotations

from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.gained import gains, loops_of
from scopt.astgen.gaining_share import gains_by_threads_alone
from scopt.astgen.one_thread import WAVEFRONTS, has_own_loops
from scopt.astgen.passes.whole_rows import with_whole_rows
from scopt.astgen.source_work import has_vectors, outermost_loops
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import For, LoopNest, Threads
from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.options import Options

_PLAIN = "plain loops"  # mechanism: the loops as compilers take them
_ABOUT = 1.05  # what the model takes for as fast


def threads_condition(
    scop: Scop, marked: MarkedSchedule, nest: LoopNest, options: Options, *, shared: bool = False
) -> str:
    """The condition of a region that somebody has marked, and may want to run with one thread, too: wavefronts, and
    strips along diagonals, that gain by threads alone only slow that down, which has the loops as they were; rows that
    run one by one are those loops, but for their buffers. So do others that are there for threads: `shared`. Empty for
    the rest."""
    if options.schedule_file or options.decisions or options.tile_sizes or not options.parallel:
        return ""
    by_rows = shared and not gains_by_tails(scop, marked, nest)
    if by_rows or gains_by_threads_alone(scop, marked, nest, options.machine):
        return threads_text(scop)
    shares = _shares_strips(nest)
    if marked.shapes or gains(scop, marked, nest, threads=False, strips=not shares):
        return ""  # tiles that start at once, or whose points are interleaved, keep a thread busy, too
    alone = bool(marked.strips)  # rows one by one, in buffers
    return threads_text(scop) if shares or alone or _needs_threads(marked, nest, options.machine) else ""


def gains_by_tails(source: Scop, marked: MarkedSchedule, nest: LoopNest) -> bool:
    """Whether one thread gains where tails stand behind loops: by vectors across rows, whatever it hands on, or by
    loops that compilers don't make, if cells of the SCoP's own are all that is handed on."""
    if any(strips.vectors for strips in marked.strips.values()):
        return True
    handed = any(array.rank and array.location is None and not array.local for array in source.arrays.values())
    return not handed and gains(source, marked, nest, threads=False)


def gains_alone(scop: Scop, marked: MarkedSchedule, nest: LoopNest, machine: Machine) -> bool:
    """Whether one thread gains by what compilers leave."""
    own = has_own_loops(scop, marked, nest) and not _needs_threads(marked, nest, machine)
    return own or gains(scop, marked, nest, threads=False, strips=not _shares_strips(nest))


def _shares_strips(nest: LoopNest) -> bool:
    """Whether there are strips for threads alone which one thread can't run as whole rows: along diagonals, rows of
    several strips begin and end elsewhere."""
    return any(loop.mark.sharing and loop.mark.parallel and with_whole_rows(loop) is None for loop in loops_of(nest))


def _needs_threads(marked: MarkedSchedule, nest: LoopNest, machine: Machine) -> bool:
    """Whether there are wavefronts that only slow one thread down."""
    slices = [loop for loop in outermost_loops(nest.body) if not loop.mark.parallel and _has_parallel(loop)]
    # vectors inside of tiles find in a cache what they come back to
    faster = 1 if any(map(has_vectors, slices)) else machine.cores
    slower = any(
        choice.mechanism == WAVEFRONTS and choice.cycles * faster * _ABOUT > cycles
        for choice in marked.choices
        for name, _, cycles in choice.others
        if name == _PLAIN
    )
    return bool(slices) and slower


def threads_text(scop: Scop) -> str:
    """The condition that there is more than one thread, in C."""
    return ExprPrinter.of(scop).condition(Threads()).text


def _has_parallel(loop: For) -> bool:
    return loop.mark.parallel or any(map(_has_parallel, outermost_loops(loop.body)))
