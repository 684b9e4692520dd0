"""What has become of the bands of a region, and why: for `--explain`, and as remarks where a wish of the user's has
kept something from being made that would run faster, or has been rounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from scopt.diagnostics import Location, Remark
from scopt.ir.marked_schedule import BandChoice, GivenUp, MarkedSchedule
from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.bands import band_nodes, ordered, with_properties_below
from scopt.scheduler.influence.asked import lost_loops

_REACHED = "influence.reached"
# Of one cost beside another one: from here on they are told apart.
_ALIKE = 0.95


def choice_lines(scop: Scop, marked: MarkedSchedule) -> Iterator[str]:
    """Of each band: what was taken, what came next, and why there was no more to choose from."""
    for choice in marked.choices:
        yield f"{', '.join(choice.statements)}: {_taken(choice)}"
        if choice.needs:
            yield f"    by resource: {', '.join(f'{name} {_cycles(cycles)}' for name, cycles in choice.needs)}"
        for name, what, cycles in choice.others:
            yield f"    rather than {_named(name, what)}: {_times(cycles, choice.cycles)}"
        for one in choice.given_up:
            yield f"    for {_wishes(one)}, since {one.mechanism} would take {_times(one.cycles, choice.cycles)}"
        yield from (f"    not {name}: {why}" for name, why in choice.reasons)
        yield from (f"    sizes: {note}" for note in choice.notes)


def choice_remarks(scop: Scop, marked: MarkedSchedule, options: Options) -> tuple[Remark, ...]:
    """The same as remarks: choices only where they are to be explained; always, what wishes have cost."""
    found: list[Remark] = []
    for choice in marked.choices:
        place = _place(scop, choice)
        if options.explain:
            runner_up = next(
                (
                    f"; {_named(name, '')} would take {_times(cycles, choice.cycles)}"
                    for name, _, cycles in choice.others
                ),
                "",
            )
            found.append(Remark("analysis", "band.choice", f"{_taken(choice)}{runner_up}", place))
        for one in _dear(choice):
            message = (
                f"{choice.mechanism} for {_wishes(one)}; {one.mechanism} would take {_times(one.cycles, choice.cycles)}"
            )
            hint = f"leave {_wishes(one)} out if it needn't be"
            found.append(Remark("analysis", "band.restricted", message, place, hint))
        for note in choice.notes:
            message = f"{choice.mechanism}: {note}, the size that was asked for"
            found.append(Remark("analysis", "tiles.rounded", message, place))
    return tuple(dict.fromkeys(found))


def bands_apart(scop: Scop, deps: Dependences, tree: isl.Schedule) -> tuple[Remark, ...]:
    """A remark on a given schedule tree whose loops stand in bands of their own, though their order is free."""
    dependences = ordered(scop, deps)
    for node in band_nodes(tree):
        below = node.child(0)
        if below.get_type() != isl.schedule_node_type.band:
            continue
        both = node.band_get_partial_schedule().flat_range_product(below.band_get_partial_schedule())
        width = both.dim(isl.dim_type.out)
        joined = below.delete().parent().delete().insert_partial_schedule(both)
        if with_properties_below(scop, dependences, joined).band_n_member() == width:
            message = "loops of the given schedule stand in bands of their own: they are neither interchanged nor tiled"
            hint = "put loops whose order doesn't matter into one band"
            return (Remark("analysis", "schedule.bands-apart", message, scop.location, hint),)
    return ()


def scenario_remarks(
    scop: Scop, proposed: Sequence[Remark], marked: MarkedSchedule, asked: Sequence[LoopDirective]
) -> tuple[Remark, ...]:
    """A scheduler's remarks, where a scenario that its schedule follows says whether the loops do so, too."""
    lost = lost_loops(scop, marked, asked) if any(one.id == _REACHED for one in proposed) else ()
    if not lost:
        return tuple(proposed)
    return tuple(_lost(one, lost) if one.id == _REACHED else one for one in proposed)


def _dear(choice: BandChoice) -> list[GivenUp]:
    """What would take clearly less time."""
    return [one for one in choice.given_up if one.cycles < _ALIKE * choice.cycles]


def _lost(remark: Remark, lost: Sequence[str]) -> Remark:
    message = f"{remark.message.removesuffix(' holds')} holds in the schedule, not in the loops: {'; '.join(lost)}"
    return Remark("analysis", "influence.lost", message, remark.location, "see --explain for the choices")


def _taken(choice: BandChoice) -> str:
    return f"{_named(choice.mechanism, choice.what)}, some {_cycles(choice.cycles)} cycles"


def _named(mechanism: str, what: str) -> str:
    return f"{mechanism} ({what})" if what else mechanism


def _cycles(cycles: float) -> str:
    return f"{round(cycles)}" if cycles < 1e4 else f"{cycles:.1e}".replace("e+0", "e").replace("e+", "e")


def _times(cycles: float, of: float) -> str:
    """One cost beside another one."""
    ratio = cycles / of if of else 1.0
    if _ALIKE < ratio < 1 / _ALIKE:
        return "about the same time"
    if ratio < _ALIKE / 2:
        return f"1/{round(1 / ratio)} of the time" if ratio else "no time"
    return f"{ratio:.1f} times the time" if ratio < 10 else f"{round(ratio)} times the time"


def _wishes(one: GivenUp) -> str:
    return ", ".join(one.wishes)


def _place(scop: Scop, choice: BandChoice) -> Location:
    return scop.statement(choice.statements[0]).location if choice.statements else scop.location
