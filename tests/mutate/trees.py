"""Faults in schedule trees, and in what is noted about their loops."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import islpy as isl
import yaml
from msgspec.structs import replace

from scopt.ir.marked_schedule import (
    Mark,
    MarkedSchedule,
    PackedTile,
    Panel,
    PanelDimension,
    PanelMark,
    StripMark,
    Strips,
    TileMark,
)
from scopt.ir.nest import Const, LoopMark
from scopt.ir.scop import Scop
from scopt.scheduler.base import ScheduleResult

T = TypeVar("T")
# A kind of fault, its place, and what makes it.
Edit = tuple[str, str, Callable[[], T]]


def tree_edits(tree: isl.Schedule, put: Callable[[isl.Schedule], T]) -> Iterator[Edit[T]]:
    """Every fault in a schedule tree. put: makes of the changed tree what it is part of. The edits raise isl.Error for
    what is no schedule tree."""
    document = yaml.safe_load(str(tree))
    for kind, place, changed in _node_edits(document, "root"):
        yield kind, place, partial(_made, json.dumps(changed), put)


def _made(text: str, put: Callable[[isl.Schedule], T]) -> T:
    return put(isl.Schedule(text))


def _node_edits(node: dict[str, Any], place: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if "schedule" in node:
        yield from ((kind, place, {**node, **changed}) for kind, changed in _band_edits(node))
    if "sequence" in node:
        children = node["sequence"]
        for k in range(len(children) - 1):
            exchanged = [*children[:k], children[k + 1], children[k], *children[k + 2 :]]
            yield "children exchanged", place, {**node, "sequence": exchanged}
        yield "children reversed", place, {**node, "sequence": children[::-1]}
        yield (
            "any order of children",
            place,
            {"set" if key == "sequence" else key: value for key, value in node.items()},
        )
    if "child" in node:
        if "schedule" in node and "child" in node["child"] and "schedule" in node["child"]:
            inner = node["child"]
            outer = {**{key: value for key, value in node.items() if key != "child"}, "child": inner["child"]}
            yield "bands exchanged", place, {**inner, "child": outer}
        for kind, where, child in _node_edits(node["child"], f"{place} >"):
            yield kind, where, {**node, "child": child}
    for key in ("sequence", "set"):
        for k, part in enumerate(node.get(key, ())):
            for kind, where, child in _node_edits(part, f"{place} {k}"):
                parts = copy.copy(node[key])
                parts[k] = child
                yield kind, where, {**node, key: parts}


def _band_edits(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    partial = isl.MultiUnionPwAff(node["schedule"])
    count = partial.dim(isl.dim_type.set)
    flags = {"coincident": [1] * count, "permutable": 1}
    for k in range(count):
        member = partial.get_at(k)
        yield "member negated", {"schedule": str(partial.set_at(k, member.neg()))}
        pieces: list[isl.PwAff] = []
        member.foreach_pw_aff(pieces.append)
        if len(pieces) > 1:
            for m, piece in enumerate(sorted(pieces, key=str)):
                for shift in (1, -1):
                    one = piece.domain().affine_hull()
                    moved = isl.PwAff.from_aff(
                        isl.Aff.zero_on_domain(isl.LocalSpace.from_space(one.get_space())).add_constant_val(
                            isl.Val(shift)
                        )
                    )
                    others = [other for n, other in enumerate(sorted(pieces, key=str)) if n != m]
                    changed = isl.UnionPwAff.from_pw_aff(piece.add(moved))
                    for other in others:
                        changed = changed.union_add(isl.UnionPwAff.from_pw_aff(other))
                    yield "statement moved by one", {"schedule": str(partial.set_at(k, changed))}
        for m in range(k + 1, count):
            yield "members exchanged", {"schedule": str(partial.set_at(k, partial.get_at(m)).set_at(m, member))}
            yield "member lost", {"schedule": str(partial.set_at(m, member))}
            yield "member skewed", {"schedule": str(partial.set_at(k, member.add(partial.get_at(m)))), **flags}
    yield "claims to be permutable and coincident", flags


def result_edits(result: ScheduleResult) -> Iterator[Edit[ScheduleResult]]:
    """Faults in what a scheduler proposes."""
    yield from tree_edits(result.tree, lambda tree: replace(result, tree=tree))


def schedule_edits(scop: Scop, schedule: MarkedSchedule) -> Iterator[Edit[MarkedSchedule]]:
    """Faults in what the band passes make. scop: what is scheduled."""
    yield from tree_edits(schedule.tree, lambda tree: replace(schedule, tree=tree))
    for kind, place, changed in _noted_edits(scop, schedule):
        yield kind, place, partial(_as_it_is, changed)


def _as_it_is(made: T) -> T:
    return made


def _noted_edits(scop: Scop, schedule: MarkedSchedule) -> Iterator[tuple[str, str, MarkedSchedule]]:
    for name, mark in schedule.marks.items():
        for kind, changed in _mark_edits(scop, mark):
            yield kind, f"mark {name}", _with_mark(schedule, name, changed)


def _with_mark(schedule: MarkedSchedule, name: str, changed: Mark) -> MarkedSchedule:
    """The schedule with another mark of a name; the marks of one register tiling keep one tiling."""
    old = schedule.marks[name]
    marks = {**schedule.marks, name: changed}
    if isinstance(old, TileMark) and isinstance(changed, TileMark):
        places = {key: mark for key, mark in marks.items() if isinstance(mark, TileMark) and mark.tiling is old.tiling}
        marks |= {key: replace(mark, tiling=changed.tiling) for key, mark in places.items()}
    return replace(schedule, marks=marks)


def _mark_edits(scop: Scop, mark: Mark) -> Iterator[tuple[str, Mark]]:
    match mark:
        case LoopMark():
            yield from _loop_edits(scop, mark)
        case TileMark(place="tile", tiling=tiling):
            yield from ((kind, replace(mark, tiling=changed)) for kind, changed in _tiling_fields(tiling))
        case StripMark(strips=strips):
            yield from ((kind, replace(mark, strips=changed)) for kind, changed in _strips_fields(strips))
        case PanelMark(tile=tile):
            yield from ((kind, replace(mark, tile=changed)) for kind, changed in _packed_fields(tile))


def _loop_edits(scop: Scop, mark: LoopMark) -> Iterator[tuple[str, LoopMark]]:
    if not mark.parallel:
        yield "parallel set", replace(mark, parallel=True)
    if not mark.simd:
        yield "simd set", replace(mark, simd=True)
    if not mark.jammed:
        yield "jammed set", replace(mark, jammed=True)
    for k, name in enumerate(mark.private):
        yield f"private dropped: {name}", replace(mark, private=mark.private[:k] + mark.private[k + 1 :])
    for name, array in sorted(scop.arrays.items()):
        if name not in mark.private and not array.pointer and (mark.parallel or mark.simd):
            yield f"private added: {name}", replace(mark, private=(*mark.private, name))
    for k, one in enumerate(mark.reductions):
        others = mark.reductions[:k] + mark.reductions[k + 1 :]
        yield "reduction dropped", replace(mark, reductions=others)
        for operator in ("+", "*", "max"):
            if operator != one.operator:
                yield "reduction's operator", replace(mark, reductions=(*others, replace(one, operator=operator)))
        yield "reduction's array", replace(mark, reductions=(*others, replace(one, whole=not one.whole)))


def _tiling_fields(tiling: Any) -> Iterator[tuple[str, Any]]:
    for name in ("rows", "columns", "block", "depth"):
        for more in (1, -1):
            yield f"{name} of a tiling {more:+}", replace(tiling, **{name: getattr(tiling, name) + more})
    yield "simd of a tiling turned", replace(tiling, simd=not tiling.simd)
    contraction = tiling.contraction
    exchanged = replace(contraction, row=contraction.column, column=contraction.row)
    yield "row and column of a contraction exchanged", replace(tiling, contraction=exchanged)
    if len(contraction.statements) > 1:
        yield (
            "statement of a contraction dropped",
            replace(tiling, contraction=replace(contraction, statements=contraction.statements[1:])),
        )
    operation = contraction.operation
    for op in ("+=", "-=", "*=", "="):
        if op != operation.op:
            yield (
                "operator of a contraction",
                replace(tiling, contraction=replace(contraction, operation=replace(operation, op=op))),
            )
    if operation.extremum is not None:
        for other in ("<", "<=", ">", ">="):
            if other != operation.extremum.op:
                extremum = replace(operation.extremum, op=other)
                yield (
                    "extremum of a contraction",
                    replace(tiling, contraction=replace(contraction, operation=replace(operation, extremum=extremum))),
                )


def _strips_fields(strips: Strips) -> Iterator[tuple[str, Strips]]:
    for more in (1, -1):
        yield f"rows of a strip {more:+}", replace(strips, count=strips.count + more)
    for k, one in enumerate(strips.buffers):
        before, behind = strips.buffers[:k], strips.buffers[k + 1 :]
        yield "buffer dropped", replace(strips, buffers=before + behind)
        for name in ("first", "spread", "dimension"):
            for more in (1, -1):
                yield (
                    f"{name} of a buffer {more:+}",
                    replace(strips, buffers=(*before, replace(one, **{name: getattr(one, name) + more}), *behind)),
                )
        if len(one.extents) > 1:
            yield (
                "extents of a buffer",
                replace(strips, buffers=(*before, replace(one, extents=one.extents[::-1]), *behind)),
            )
    for k in range(len(strips.scalars)):
        yield "scalar of a strip dropped", replace(strips, scalars=strips.scalars[:k] + strips.scalars[k + 1 :])


def _panel_dimensions(panel: Panel, origins: int) -> Iterator[tuple[str, tuple[PanelDimension, ...]]]:
    for k, one in enumerate(panel.dimensions):
        changes: list[tuple[str, PanelDimension]] = []
        for more in (1, -1):
            if one.origin is not None:
                changes.append((f"first of a panel {more:+}", replace(one, first=one.first + more)))
            if isinstance(one.cells, Const):
                changes.append((f"cells of a panel {more:+}", replace(one, cells=Const(one.cells.value + more))))
        if len(one.terms) > 1:
            changes.append(("subscript of a panel dropped", replace(one, terms=one.terms[1:])))
        for m, (position, sign) in enumerate(one.terms):
            other = (*one.terms[:m], (position, -sign), *one.terms[m + 1 :])
            changes.append(("sign of a panel's subscript", replace(one, terms=other)))
        if one.origin is not None and origins > 1:
            changes.append(("origin of a panel", replace(one, origin=(one.origin + 1) % origins)))
        for what, other in changes:
            yield what, (*panel.dimensions[:k], other, *panel.dimensions[k + 1 :])
    yield "dimensions of a panel", panel.dimensions[::-1]


def _packed_fields(tile: PackedTile) -> Iterator[tuple[str, PackedTile]]:
    for k, panel in enumerate(tile.panels):
        before, behind = tile.panels[:k], tile.panels[k + 1 :]
        yield "panel dropped", replace(tile, panels=before + behind)
        for what, other in _panel_dimensions(panel, len(tile.origins)):
            yield what, replace(tile, panels=(*before, replace(panel, dimensions=other), *behind))
    for k in range(len(tile.statements)):
        yield "statement of a tile dropped", replace(tile, statements=tile.statements[:k] + tile.statements[k + 1 :])
