"""The vector loops that a scenario of an influence constraint tree asks for, and whether the final tree has them.

A scenario asks for a vector loop of a statement where it fixes the statement's last dimension to one of its iterators:
coefficient ±1 there, 0 for all others.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import LoopDirective, Scop, Statement
from scopt.poly.isl_utils import SET, sets_of
from scopt.scheduler.influence.honoured import MarkedLoop, loops_of_tree, runs_over, unhonoured
from scopt.scheduler.influence.influence_tree import InfluenceNode

_BAND = isl.schedule_node_type.band


def asked_loops(scop: Scop, path: Sequence[InfluenceNode]) -> tuple[LoopDirective, ...]:
    """What a scenario asks for, as wishes for vector loops. path: its nodes, from dimension 0 on."""
    found = []
    for statement in scop.statements:
        last = len(statement.iterators) - 1
        iterator = _innermost(statement, path[last], last) if 0 <= last < len(path) else None
        if iterator is not None:
            target = ((statement.name, iterator),)
            found.append(LoopDirective("vector", iterator, target, statement.location))
    return tuple(found)


def _innermost(statement: Statement, node: InfluenceNode, dimension: int) -> str | None:
    """The iterator that a node fixes a statement's dimension to; None if it leaves a choice."""
    fixed: dict[str, int] = {}
    for row in node.rows:
        if row.relation == "=" and len(row.terms) == 1:
            ((factor, coefficient),) = row.terms
            if (coefficient.statement, coefficient.dimension) == (statement.name, dimension):
                fixed[coefficient.column] = -row.constant * factor
    moving = [name for name in statement.iterators if fixed.get(name)]
    complete = all(name in fixed for name in statement.iterators)
    return moving[0] if complete and len(moving) == 1 and abs(fixed[moving[0]]) == 1 else None


def lost_loops(scop: Scop, marked: MarkedSchedule, asked: Sequence[LoopDirective]) -> tuple[str, ...]:
    """What the final tree has in place of what was asked for, in words: a vector loop over another iterator, or another
    innermost loop where there is no vector loop at all. Empty if all is there."""
    loops = loops_of_tree(marked)
    found = []
    for one in unhonoured(scop, asked, loops):
        (name, iterator), *_ = one.targets
        statement = scop.statement(name)
        others = [other for other in statement.iterators if _has_vectors(statement, other, loops)]
        if others:
            found.append(f"the vector loop of {name} runs over {others[0]} instead of {iterator}")
        elif not _ends_in(marked, statement, iterator):
            found.append(f"{iterator} is not the innermost loop of {name}, which has no vector loop")
    return tuple(found)


def _has_vectors(statement: Statement, iterator: str, loops: Sequence[MarkedLoop]) -> bool:
    position = statement.domain.find_dim_by_name(SET, iterator)
    return any(loop.simd and runs_over(loop, statement.name, position) for loop in loops)


def _ends_in(marked: MarkedSchedule, statement: Statement, iterator: str) -> bool:
    """Whether the innermost loops around a statement run over an iterator."""
    position = statement.domain.find_dim_by_name(SET, iterator)
    found: list[MarkedLoop] = []

    def visit(node: isl.ScheduleNode, around: MarkedLoop | None) -> None:
        if statement.name not in {part.get_tuple_name() for part in sets_of(node.get_domain())}:
            return
        if node.get_type() == isl.schedule_node_type.leaf and around is not None:
            found.append(around)
        if node.get_type() == _BAND:
            around = _loop(marked, node, statement) or around
        for child in range(node.n_children()):
            visit(node.child(child), around)

    visit(marked.tree.get_root(), None)
    return bool(found) and all(runs_over(loop, statement.name, position) for loop in found)


def _loop(marked: MarkedSchedule, band: isl.ScheduleNode, statement: Statement) -> MarkedLoop | None:
    """The last of a band's members that is a loop for a statement; None if there is none, or only one over a few rows,
    which is unrolled or left at a border."""
    above = band.parent()
    mark = marked.mark(above) if above.get_type() == isl.schedule_node_type.mark else None
    if isinstance(mark, LoopMark) and mark.most > 0:
        return None
    for member in reversed(range(band.band_n_member())):
        if band.band_member_get_ast_loop_type(member) == isl.ast_loop_type.unroll:
            continue
        values = isl.UnionMap.from_union_pw_aff(band.band_get_partial_schedule().get_at(member))
        own = values.intersect_domain(isl.UnionSet.from_set(statement.domain)).range()
        if not isl.Set.from_union_set(own).is_singleton():
            return MarkedLoop(False, False, band.get_domain(), values)
    return None
