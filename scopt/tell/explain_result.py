"""The tree that is generated, in words: tile loops, point loops and their marks; what was fused or distributed."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import MarkedSchedule, TileShape
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, band_nodes, with_properties
from scopt.poly.isl_utils import sets_of
from scopt.tell.member_texts import WAVEFRONT, by_text, member_functions, member_text, statement_names
from scopt.tell.wording import mark_text, people_order

_TYPE = isl.schedule_node_type


def final_lines(scop: Scop, dependences: Ordered, tree: isl.Schedule, marked: MarkedSchedule) -> list[str]:
    """The tree that is generated: tile loops, point loops and their marks;
    and where loops were fused or distributed."""
    lines = list(FinalTree(scop, marked).lines(marked.tree.get_root().child(0), None))
    return lines + regrouped(with_properties(scop, dependences, tree), marked.tree)


class FinalTree(Struct, frozen=True, eq=False):
    """The loops of a marked tree, outermost first."""

    scop: Scop
    marked: MarkedSchedule

    def lines(self, node: isl.ScheduleNode, mark: LoopMark | None) -> Iterator[str]:
        kind = node.get_type()
        if kind == _TYPE.mark:
            yield from self.lines(node.child(0), self.marked.loop(node))
        elif kind == _TYPE.band:
            partial = node.band_get_partial_schedule()
            for position in range(node.band_n_member()):
                indent = "  " * position
                meaning = f"  [{mark_text(mark)}]" if mark and not position else ""
                text = member_text(self.scop, partial.get_at(position), tiles=True)
                yield from (indent + line for line in (self.shape(node) if WAVEFRONT in text else ()))
                yield indent + text + meaning
            indent = "  " * node.band_n_member()
            yield from (indent + line for line in self.lines(node.child(0), None))
        elif kind in (_TYPE.sequence, _TYPE.set):
            for position in range(node.n_children()):
                part = node.child(position)
                yield f"{position + 1}. {statement_names(part.child(0).get_domain())}"
                yield from (f"     {line}" for line in self.lines(part.child(0), None))
        elif kind != _TYPE.leaf:
            yield from self.lines(node.child(0), None)

    def shape(self, node: isl.ScheduleNode) -> Iterator[str]:
        """How the tiles of a wavefront are cut, and what is special in the order of their points."""
        names = {part.get_tuple_name() for part in sets_of(node.get_domain())}
        shape = next((shape for shape in self.marked.shapes if shape.statements == names), TileShape(frozenset(names)))
        if shape.rows is not None:
            hyperplanes = [
                member_functions(self.scop, shape.rows.get_at(k)) for k in range(shape.rows.dim(isl.dim_type.out))
            ]
            texts = {name: " and ".join(people_order(row[name]) for row in hyperplanes) for name in hyperplanes[0]}
            yield (
                f"tiles are diamonds, all tiles of a wavefront can start at once; their "
                f"hyperplanes: {by_text(self.scop, texts)}"
            )
        else:
            yield "tiles are cut along the band's own dimensions: the first and the last wavefronts have few of them"
        if shape.interleave:
            what = "the points of a tile run in wavefronts too, over the sum of its last two dimensions"
            yield f"{what}: those with the same sum don't wait for each other"


def regrouped(before: isl.Schedule, after: isl.Schedule) -> list[str]:
    """Statements that shared their innermost band and no longer do, and such that do now."""
    old, new = _innermost(before), _innermost(after)
    lines = []
    for group in dict.fromkeys(old.values()):
        parts = list(dict.fromkeys(new[name] for name in sorted(group) if name in new))
        if len(parts) > 1 and all(part < group for part in parts):
            lines.append(
                f"distributed, so that each has an innermost loop of its own: "
                f"{' | '.join(', '.join(sorted(part)) for part in parts)}"
            )
    for group in dict.fromkeys(new.values()):
        if not any(group <= former for former in old.values()):
            lines.append(f"fused under one loop: {', '.join(sorted(group))}")
    return lines


def _innermost(tree: isl.Schedule) -> dict[str, frozenset[str]]:
    """By statement: the statements in the innermost band around it."""
    found: dict[str, frozenset[str]] = {}
    for node in band_nodes(tree):
        names = frozenset(s.get_tuple_name() for s in sets_of(node.get_domain()))
        found |= dict.fromkeys(names, names)
    return found
