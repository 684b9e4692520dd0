"""Mark nodes of a schedule tree, and what they mean: their names only keep them apart."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct, field

from scopt.ir.marked_schedule import Mark
from scopt.ir.nest import LoopMark


class Marks(Struct, frozen=True):
    """found: by name. Grows as marks are inserted into one tree. hidden: see `MarkedSchedule`; waits: cycles that the
    chains which hide it wait, of one run of each."""

    found: dict[str, Mark] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    waits: list[float] = field(default_factory=list)

    def above(self, node: isl.ScheduleNode, mark: LoopMark) -> isl.ScheduleNode:
        """Put a mark above a node; returns the mark node."""
        return self.named(node, f"loop{len(self.found)}", mark)

    def named(self, node: isl.ScheduleNode, name: str, mark: Mark) -> isl.ScheduleNode:
        """The same under a name for people."""
        assert name not in self.found
        self.found[name] = mark
        return node.insert_mark(isl.Id(name))

    def above_member(self, node: isl.ScheduleNode, member: int, mark: LoopMark) -> isl.ScheduleNode:
        """Isolate one member of a band in a band of its own and put a mark above it.
        Returns the node at the band's place."""
        width = node.band_n_member()
        if member + 1 < width:
            node = node.band_split(member + 1)
        if member == 0:
            return self.above(node, mark)
        return self.above(node.band_split(member).child(0), mark).parent()
