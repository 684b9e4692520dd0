"""The dependence graph of a region as SVG: statements in layers, dependences as curves between them.

A small layered layout (Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures",
1981): textual order breaks cycles, a statement's layer is the longest way to it, long edges get a place in each layer
that they cross, and a few sweeps with the mean of the neighbours' places keep crossings few. Lengths are in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from msgspec import Struct

from scopt.tell.view import Edge, StatementView

_WIDTH, _HEIGHT = 210, 44
_GAP_X, _GAP_Y = 34, 62
_DUMMY = 16
# Free space at the top and at both sides, and how far each edge that runs backwards keeps from the one before.
_TOP, _SIDE, _LANE = 20, 60, 16
_MAX_LANES = 12
_SWEEPS = 4
MAX_TEXT = 26
# With more edges, what they are is only told where one points at them.
MAX_LABELS = 40


class _Slot(Struct, frozen=True):
    """A place in a layer: a statement, or where the edge of that number passes through the layer of that depth."""

    statement: str = ""
    edge: int = -1
    depth: int = -1


def graph_svg(statements: Sequence[StatementView], edges: Sequence[Edge]) -> str:
    """An ``<svg>`` element. statements: in textual order; edges: between them, also from one to itself."""
    names = [statement.name for statement in statements]
    edges = [edge for edge in edges if edge.source in names and edge.sink in names]
    forward = [edge for edge in edges if names.index(edge.source) < names.index(edge.sink)]
    layer = _layers(names, forward)
    rows = _ordered(_rows(names, layer, forward), forward)
    backward = [edge for edge in edges if edge not in forward and edge.source != edge.sink]
    center = _centers(rows, _SIDE + _LANE * min(len(backward), _MAX_LANES))
    width = max(x for x, _ in center.values()) + _WIDTH / 2 + _SIDE
    height = len(rows) * (_HEIGHT + _GAP_Y) - _GAP_Y + 2 * _TOP
    parts = [
        f'<svg class="graph" role="img" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}">',
        f"<title>Dependences between {len(names)} statements</title>",
    ]
    for edge in edges:
        parts.append(_edge_svg(edge, _route(edge, forward, backward, layer, center), labelled=len(edges) <= MAX_LABELS))
    parts += [_statement_svg(statement, center[_Slot(statement.name)]) for statement in statements]
    return "\n".join([*parts, "</svg>"])


def _layers(names: Sequence[str], forward: Sequence[Edge]) -> dict[str, int]:
    """The longest way to each statement; names are in textual order, so that sources come first."""
    layer = dict.fromkeys(names, 0)
    for name in names:
        for edge in forward:
            if edge.source == name:
                layer[edge.sink] = max(layer[edge.sink], layer[name] + 1)
    return layer


def _rows(names: Sequence[str], layer: dict[str, int], forward: Sequence[Edge]) -> list[list[_Slot]]:
    rows: list[list[_Slot]] = [[] for _ in range(max(layer.values()) + 1)]
    for name in names:
        rows[layer[name]].append(_Slot(name))
    for number, edge in enumerate(forward):
        for between in range(layer[edge.source] + 1, layer[edge.sink]):
            rows[between].append(_Slot(edge=number, depth=between))
    return rows


def _ordered(rows: list[list[_Slot]], forward: Sequence[Edge]) -> list[list[_Slot]]:
    """Each layer sorted by the mean position of the neighbours in the layer above, then below, and again."""
    layer_of = {slot: depth for depth, row in enumerate(rows) for slot in row if slot.statement}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for depth in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            beside = {slot: float(k) for k, slot in enumerate(rows[depth - 1 if down else depth + 1])}
            places = {slot: float(k) for k, slot in enumerate(rows[depth])}
            for slot in rows[depth]:
                near = [beside[end] for end in _neighbours(slot, depth, forward, layer_of, down) if end in beside]
                places[slot] = sum(near) / len(near) if near else places[slot]
            rows[depth].sort(key=lambda slot: places[slot])
    return rows


def _neighbours(
    slot: _Slot, depth: int, forward: Sequence[Edge], layer_of: dict[_Slot, int], down: bool
) -> list[_Slot]:
    """The slots in the next layer (above if down) that a slot is connected with."""
    found = []
    for number, edge in enumerate(forward):
        near, far = (edge.sink, edge.source) if down else (edge.source, edge.sink)
        if slot.edge == number or slot.statement == near:
            beside = depth + (-1 if down else 1)
            found.append(_Slot(far) if layer_of[_Slot(far)] == beside else _Slot(edge=number, depth=beside))
    return found


def _centers(rows: Sequence[Sequence[_Slot]], left: float) -> dict[_Slot, tuple[float, float]]:
    def width(slot: _Slot) -> float:
        return _WIDTH if slot.statement else _DUMMY

    widths = [sum(width(slot) + _GAP_X for slot in row) - _GAP_X for row in rows]
    center = {}
    for depth, row in enumerate(rows):
        x = left + (max(widths) - widths[depth]) / 2
        for slot in row:
            center[slot] = (x + width(slot) / 2, _TOP + depth * (_HEIGHT + _GAP_Y) + _HEIGHT / 2)
            x += width(slot) + _GAP_X
    return center


class _Route(Struct, frozen=True):
    """path: of the curve. label: where its text begins; tip: end of the arrow and the way it points, (x, y, dx, dy)."""

    path: str
    label: tuple[float, float]
    tip: tuple[float, float, float, float]


def _route(
    edge: Edge,
    forward: Sequence[Edge],
    backward: Sequence[Edge],
    layer: dict[str, int],
    center: dict[_Slot, tuple[float, float]],
) -> _Route:
    """Forward edges run down from layer to layer, backward ones around the left side, those from a statement to itself
    at its right."""
    (x1, y1), (x2, y2) = center[_Slot(edge.source)], center[_Slot(edge.sink)]
    half = _HEIGHT / 2
    if edge.source == edge.sink:
        right = x1 + _WIDTH / 2
        path = (
            f"M{right:g},{y1 - 10:g} C{right + 34:g},{y1 - 22:g} {right + 34:g},{y1 + 22:g} {right + 5:g},{y1 + 10:g}"
        )
        return _Route(path, (right - 20, y1 + half + 13), (right, y1 + 10, -1, 0))
    if edge not in forward:
        left1, left2 = x1 - _WIDTH / 2, x2 - _WIDTH / 2
        lane = backward.index(edge) % _MAX_LANES
        out = min(left1, left2) - 30 - 1.3 * _LANE * lane
        path = f"M{left1:g},{y1:g} C{out:g},{y1:g} {out:g},{y2:g} {left2 - 5:g},{y2 + 6:g}"
        return _Route(
            path, (out / 4 + 3 * min(left1, left2) / 4 - 34, (y1 + y2) / 2 + 13 * (lane % 3)), (left2, y2 + 6, 1, 0)
        )
    number = forward.index(edge)
    between = [center[_Slot(edge=number, depth=depth)] for depth in range(layer[edge.source] + 1, layer[edge.sink])]
    stops = [(x1, y1 + half), *between, (x2, y2 - half - 5)]
    path = f"M{stops[0][0]:g},{stops[0][1]:g}"
    for (ax, ay), (bx, by) in pairwise(stops):
        middle = (ay + by) / 2
        path += f" C{ax:g},{middle:g} {bx:g},{middle:g} {bx:g},{by:g}"
    (ax, ay), (bx, by) = stops[0], stops[1]
    return _Route(path, ((ax + bx) / 2 + 4, (ay + by) / 2 + 4), (x2, y2 - half, 0, 1))


def _edge_svg(edge: Edge, route: _Route, *, labelled: bool) -> str:
    x, y, dx, dy = route.tip
    tip = f"{x:g},{y:g} {x - 7 * dx - 4 * dy:g},{y - 7 * dy - 4 * dx:g} {x - 7 * dx + 4 * dy:g},{y - 7 * dy + 4 * dx:g}"
    text = edge.labels[0] + (" …" if len(edge.labels) > 1 else "")
    meaning = f"{edge.source} → {edge.sink}: {'; '.join(edge.labels)}"
    label = f'<text x="{route.label[0]:g}" y="{route.label[1]:g}">{escape(_short(text))}</text>' if labelled else ""
    return (
        f'<g class="edge {edge.kind}"><title>{escape(meaning)}</title>'
        f'<path d="{route.path}"/><polygon points="{tip}"/>{label}</g>'
    )


def _statement_svg(statement: StatementView, center: tuple[float, float]) -> str:
    x, y = center[0] - _WIDTH / 2, center[1] - _HEIGHT / 2
    line = f'<tspan class="line">line {statement.line}</tspan>'
    return (
        f'<g class="statement"><title>{escape(f"{statement.name}, line {statement.line}: {statement.text}")}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{x + 10:g}" y="{y + 18:g}">{escape(statement.name)} {line}</text>'
        f'<text x="{x + 10:g}" y="{y + 35:g}">{escape(_short(statement.text))}</text></g>'
    )


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
