"""Names for mark nodes of a schedule tree, and what they say of the loops below them."""

from __future__ import annotations

from dataclasses import dataclass, field

import islpy as isl

from scopt.ir.nest import LoopMark

# What the names begin with that say nothing but what a loop is.
LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Marks:
    """found: by name. Grows as marks are inserted into one tree."""

    found: dict[str, LoopMark] = field(default_factory=dict)

    def above(self, node: isl.ScheduleNode, mark: LoopMark) -> isl.ScheduleNode:
        """Put a mark above a node; returns the mark node."""
        name = f"{LOOP}{len(self.found)}"
        return self.named(node, name, mark)

    def named(self, node: isl.ScheduleNode, name: str, mark: LoopMark | None = None) -> isl.ScheduleNode:
        """The same under a name that says more than the mark; without a mark, nothing is known of the loop."""
        self.found[name] = mark or LoopMark()
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
