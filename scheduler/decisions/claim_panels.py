"""Where a tile keeps its arrays: in panels, or where they are. Asked when everything inside of the tile is decided."""

from __future__ import annotations

import islpy as isl

from scopt.ir.marked_schedule import PanelMark
from scopt.ir.nest import LoopMark
from scopt.machine.costs import PAGE_WALK
from scopt.poly.isl_utils import walk
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.panels import LEAST_RUNS, PanelOffer, TiledLoops, packed_tile
from scopt.scheduler.decisions.register_tiles import wanted

PANELS, IN_PLACE = "panels", "arrays where they are"
# What is asked of tiles.
PLACES = "places"


def places_of_arrays(
    band: Band, node: isl.ScheduleNode, tiles: TiledLoops, marks: Marks
) -> tuple[Claim | Reason, Claim | Reason]:
    """The claims on a band of loops over tiles. node: that band, all below decided; tiles: what it is. marks: of all
    that is inside."""
    setting = band.setting
    why = _why_not(band, node, marks)
    machine = setting.options.machine
    found = None if why else packed_tile(setting.scop, setting.deps, machine, node.child(0), tiles)
    if found is None:
        none = "no tile comes back often to long, narrow blocks of columns that may be copied"
        return Reason(PANELS, why or none), Claim(IN_PLACE, "", 0.0, _as_it_is, None, None)
    misses = found.misses if found.pages > machine.tlb_entries else found.pages
    return _panels(found), Claim(IN_PLACE, "", float(misses * PAGE_WALK), _as_it_is, None, None)


def _panels(found: PanelOffer) -> Claim:
    """Copied there and back, which takes as long as so many runs through their rows."""

    def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
        count = sum(isinstance(mark, PanelMark) for mark in build.marks.found.values())
        return build.marks.named(node.child(0), f"panels{count}", PanelMark(found.tile)).parent()

    arrays = ", ".join(sorted(panel.array for panel in found.tile.panels))
    return Claim(PANELS, f"for {arrays}", float(found.pages * LEAST_RUNS * PAGE_WALK), make, None, None)


def _as_it_is(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
    return node


def _why_not(band: Band, node: isl.ScheduleNode, marks: Marks) -> str:
    """Why a tile can't have panels, whatever its arrays are; empty if it may."""
    below = (inner for inner in walk(node.child(0)) if inner.get_type() == isl.schedule_node_type.mark)
    inside = [marks.found[inner.mark_get_id().get_name()] for inner in below]
    if not wanted(band.setting.options):
        return "buffers are switched off, or there are no tiles"
    if not all(isinstance(mark, LoopMark) for mark in inside):
        return "what is inside of the tile has buffers of its own"
    if any(isinstance(mark, LoopMark) and mark.parallel for mark in inside):
        return "threads share what is inside of the tile"
    return ""
