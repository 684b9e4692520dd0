"""Schedules as texts, for tests of the schedulers: the rows of the construction, statement by statement, and the bands
of the tree."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Dependences, Scop
from scopt.poly.bands import band_nodes, ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.generators import Row
from scopt.poly.legality import check_order
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.scheduling_problem import Edge, statement_spaces
from scopt.scheduler.construct.assemble import schedule_tree
from scopt.scheduler.construct.dimensions import Construction, Dimension, Strategy
from scopt.scheduler.construct.feautrier import FeautrierStrategy
from scopt.scheduler.construct.journal import Journal
from scopt.scheduler.construct.live_ranges import Bonds, with_reuse_where_needed
from scopt.scheduler.construct.pluto import PlutoStrategy
from scopt.scheduler.construct.separation import FusionPolicy
from scopt.scheduler.influence.influence_tree import CONSTANT, InfluenceTree


class Band(Struct, frozen=True):
    """A band of the tree. statements: that it runs, in textual order. coincident: of each member."""

    statements: tuple[str, ...]
    permutable: bool
    coincident: tuple[bool, ...]


class Made(Struct, frozen=True, eq=False):
    """What a construction has made of a SCoP. events: last parts of the ids of its remarks on influence, in order."""

    scop: Scop
    deps: Dependences
    dimensions: tuple[Dimension, ...]
    tree: isl.Schedule
    events: tuple[str, ...]

    def rows(self, statement: str) -> tuple[str, ...]:
        """A statement's schedule, a text a dimension: ``2t+i+1`` for a loop, ``[1]`` for a place in a sequence.
        Dimensions in which nothing happens any more are left out."""
        columns = statement_spaces(self.scop)[statement].columns
        found = []
        for dimension in self.dimensions:
            if dimension.kinds[statement] != "none":
                text = row_text(dimension.rows[statement], columns)
                found.append(f"[{text}]" if dimension.kinds[statement] == "scalar" else text)
        return tuple(found)

    def bands(self) -> list[Band]:
        """The bands of the tree, outermost first, with properties that are computed from the dependences."""
        tree = with_properties(self.scop, ordered(self.scop, self.deps), self.tree)
        return [_band(node) for node in band_nodes(tree)]

    def fused(self) -> list[tuple[str, ...]]:
        """The groups of statements that share an outermost loop, in the order of their execution."""
        return _outermost(self.tree.get_root())


def pluto(
    scop: Scop,
    fusion: FusionPolicy = "max",
    tree: InfluenceTree | None = None,
    *,
    negative: bool = True,
    inputs: bool = False,
) -> Made:
    """Pluto's schedule, checked against the dependences."""
    return _made(scop, PlutoStrategy(negative=negative), fusion, tree, FeautrierStrategy(), inputs=inputs)


def feautrier(scop: Scop, fusion: FusionPolicy = "max", tree: InfluenceTree | None = None) -> Made:
    """Feautrier's schedule, checked against the dependences."""
    return _made(scop, FeautrierStrategy(), fusion, tree)


def row_text(row: Row, columns: Sequence[str]) -> str:
    """A schedule row as a sum: ``2t-i+1``."""
    terms = ""
    for factor, column in zip(row, columns, strict=True):
        name = "" if column == CONSTANT else column
        if factor:
            size = "" if abs(factor) == 1 and name else str(abs(factor))
            terms += ("-" if factor < 0 else "+") + size + name
    return terms.removeprefix("+") or "0"


def _made(
    scop: Scop,
    strategy: Strategy,
    fusion: FusionPolicy,
    tree: InfluenceTree | None,
    rescue: Strategy | None = None,
    *,
    inputs: bool = False,
) -> Made:
    deps, spaces, journal = dependences(scop, inputs=inputs), statement_spaces(scop), Journal(scop.location)
    reads = edges_of(scop, deps.select("input"))
    found: list[tuple[Dimension, ...]] = []

    def construct(edges: tuple[Edge, ...], bonds: Bonds) -> isl.Schedule:
        journal.clear()
        found.append(
            Construction(spaces, edges, strategy, fusion, rescue, reads, tree or InfluenceTree(), journal, bonds).run()
        )
        return schedule_tree(scop, spaces, found[-1])

    made = with_reuse_where_needed(scop, deps, construct)
    check_order(scop, deps, made.get_map())
    return Made(scop, deps, found[-1], made, tuple(remark.id.removeprefix("influence.") for remark in journal.remarks))


def _band(node: isl.ScheduleNode) -> Band:
    members = tuple(bool(node.band_member_get_coincident(k)) for k in range(node.band_n_member()))
    return Band(_statements(node), bool(node.band_get_permutable()), members)


def _outermost(node: isl.ScheduleNode) -> list[tuple[str, ...]]:
    children = [node.child(k) for k in range(node.n_children())]
    if node.get_type() in (isl.schedule_node_type.band, isl.schedule_node_type.leaf):
        return [_statements(node)]
    return [group for child in children for group in _outermost(child)]


def _statements(node: isl.ScheduleNode) -> tuple[str, ...]:
    names: list[str] = []
    node.get_domain().foreach_set(lambda part: names.append(str(part.get_tuple_name())))
    return tuple(sorted(names, key=lambda name: int(name[1:])))
