"""Schedule trees as nested nodes in words, before and after the band passes;
the facts are those of `scopt.tell.explain_schedule`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import MarkedSchedule, loop_of
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Dependences, Scop
from scopt.poly.bands import Ordered, with_properties
from scopt.tell.explain_result import FinalTree
from scopt.tell.explain_schedule import TreeExplainer
from scopt.tell.member_texts import member_text, statement_names
from scopt.tell.view import TreeNode
from scopt.tell.wording import mark_text, place_text

_TYPE = isl.schedule_node_type
# Between the parts of `mark_text`, but not between the names in them.
_PARTS = re.compile(r", (?=vector loop|private copies|reduces)")


def proposed_tree(scop: Scop, deps: Dependences, dependences: Ordered, tree: isl.Schedule) -> tuple[TreeNode, ...]:
    """The scheduler's tree: what each dimension computes, whether it is parallel, and what forbids it."""
    root = with_properties(scop, dependences, tree).get_root().child(0)
    return _Proposed(scop, TreeExplainer.of(scop, deps, dependences)).nodes(root)


def final_tree(scop: Scop, marked: MarkedSchedule) -> tuple[TreeNode, ...]:
    """The loops that are generated: tile loops, point loops, and what they are."""
    return _Emitted(scop, FinalTree(scop, marked)).nodes(marked.tree.get_root().child(0), None)


class _Proposed(Struct, frozen=True, eq=False):
    scop: Scop
    explainer: TreeExplainer

    def nodes(self, node: isl.ScheduleNode) -> tuple[TreeNode, ...]:
        kind = node.get_type()
        if kind == _TYPE.leaf:
            return (TreeNode(statement_names(node.get_domain())),)
        if kind == _TYPE.band:
            return (self.band(node, 0),)
        if kind in (_TYPE.sequence, _TYPE.set):
            return (self.sequence(node),)
        return self.nodes(node.child(0))

    def band(self, node: isl.ScheduleNode, position: int) -> TreeNode:
        """The members of a band, one in the other, and what is below."""
        width = node.band_n_member()
        short, more = self.explainer.properties(node, position)
        text = member_text(self.scop, node.band_get_partial_schedule().get_at(position))
        heading = () if position else self.heading(node)
        children = (self.band(node, position + 1),) if position + 1 < width else self.nodes(node.child(0))
        return TreeNode(f"d{node.get_schedule_depth() + position} = {text}", tuple(short), (*heading, *more), children)

    def heading(self, node: isl.ScheduleNode) -> tuple[str, ...]:
        """What is to be said where a band begins."""
        lines: tuple[str, ...] = ()
        if node.get_tree_depth() > 0 and node.parent().get_type() == _TYPE.band:
            lines = tuple(
                line.strip()
                for line in self.explainer.border(node.parent(), node.band_get_partial_schedule().get_at(0))
            )
        width = node.band_n_member()
        return (
            (
                *lines,
                f"permutable band of {width}: this dimension and the next {width - 1} can be interchanged and tiled",
            )
            if width > 1
            else lines
        )

    def sequence(self, node: isl.ScheduleNode) -> TreeNode:
        parts = [node.child(k) for k in range(node.n_children())]
        free = node.get_type() == _TYPE.set
        children = []
        for position, part in enumerate(parts):
            notes = () if free else tuple(line.strip() for line in self.explainer.apart(node, parts[:position], part))
            children.append(
                TreeNode(f"{position + 1}. {statement_names(part.child(0).get_domain())}", (), notes, self.below(part))
            )
        return TreeNode("in any order" if free else "in this order", (), (), tuple(children))

    def below(self, part: isl.ScheduleNode) -> tuple[TreeNode, ...]:
        return () if part.child(0).get_type() == _TYPE.leaf else self.nodes(part.child(0))


class _Emitted(Struct, frozen=True, eq=False):
    scop: Scop
    final: FinalTree

    def nodes(self, node: isl.ScheduleNode, mark: LoopMark | None) -> tuple[TreeNode, ...]:
        kind = node.get_type()
        if kind == _TYPE.leaf:
            return (TreeNode(statement_names(node.get_domain())),)
        if kind == _TYPE.mark:
            mark = self.final.marked.mark(node)
            below = self.nodes(node.child(0), loop_of(mark))
            return (
                (TreeNode(text, (), (), below),)
                if not isinstance(mark, LoopMark) and (text := place_text(mark))
                else below
            )
        if kind == _TYPE.band:
            return (self.band(node, 0, mark),)
        if kind in (_TYPE.sequence, _TYPE.set):
            return (TreeNode("in this order", (), (), tuple(self.parts(node))),)
        return self.nodes(node.child(0), None)

    def band(self, node: isl.ScheduleNode, position: int, mark: LoopMark | None) -> TreeNode:
        text = member_text(self.scop, node.band_get_partial_schedule().get_at(position), tiles=True)
        badges = tuple(_PARTS.split(mark_text(mark))) if mark and not position else ()
        notes = tuple(self.final.shape(node)) if text.startswith("wavefront of") else ()
        last = position + 1 == node.band_n_member()
        return TreeNode(
            text, badges, notes, self.nodes(node.child(0), None) if last else (self.band(node, position + 1, None),)
        )

    def parts(self, node: isl.ScheduleNode) -> Iterator[TreeNode]:
        for position in range(node.n_children()):
            part = node.child(position)
            inner = part.child(0)
            children = () if inner.get_type() == _TYPE.leaf else self.nodes(inner, None)
            yield TreeNode(f"{position + 1}. {statement_names(inner.get_domain())}", (), (), children)
