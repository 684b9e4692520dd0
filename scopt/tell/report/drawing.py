"""Drawings of iteration domains as SVG. Lengths are in pixels; rows run downwards, columns to the right."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from scopt.tell.view import Arrow, Cell, Drawing
from scopt.tell.wording import some

_STEP = 30
_LEFT, _TOP = 42, 34
_RADIUS = 4.0


def drawing_svg(drawing: Drawing) -> str:
    """An ``<svg>`` element: a dot an iteration, an arrow a dependence,
    tiles as coloured areas with lines between them."""
    columns = 1 + max(point.at[1] - drawing.first[1] for point in drawing.points)
    rows = 1 + max(point.at[0] - drawing.first[0] for point in drawing.points)
    width, height = _LEFT + columns * _STEP + 16, _TOP + rows * _STEP + 12
    parts = [
        f'<svg class="domain" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<title>{escape(title(drawing))}</title>",
        *_axes(drawing, rows, columns),
        *_tiles(drawing),
        *(_arrow(arrow, drawing) for arrow in drawing.arrows),
        *(_dot(point.at, drawing) for point in drawing.points),
        *_waves(drawing),
        "</svg>",
    ]
    return "\n".join(parts)


def title(drawing: Drawing) -> str:
    """What is drawn, in a line."""
    plane = f"{drawing.rows} and {drawing.columns}" if drawing.rows else drawing.columns
    setting = f", for {', '.join(drawing.setting)}" if drawing.setting else ""
    return f"Iterations of {drawing.statement} over {plane}{setting}"


def notes(drawing: Drawing) -> tuple[str, ...]:
    """What a reader has to know about the drawing, a sentence each."""
    found = []
    if drawing.clipped:
        found.append("There are more iterations than those drawn.")
    if drawing.tiles:
        real = "; ".join(f"tiles of {text}" for text in drawing.tiles)
        found.append(
            f"The coloured areas are tiles, drawn with an edge of {drawing.drawn} "
            f"so that several fit. The loops have {real}."
        )
    if drawing.waves and len({point.tile for point in drawing.points}) > 1:
        found.append("Tiles with the same number can run at the same time, on several threads.")
    if not drawing.arrows:
        found.append("No arrows: no iteration drawn here has to wait for another one.")
    if any(arrow.kind == "indirect" for arrow in drawing.arrows):
        found.append("Thin arrows lead through an iteration of another statement, which uses the value in between.")
    if drawing.left_out:
        found.append(f"{some(drawing.left_out, 'arrow')} left out: those drawn start at some iterations only.")
    return tuple(found)


def _place(cell: Cell, drawing: Drawing) -> tuple[float, float]:
    """The center of an iteration."""
    return _LEFT + (cell[1] - drawing.first[1] + 0.5) * _STEP, _TOP + (cell[0] - drawing.first[0] + 0.5) * _STEP


def _axes(drawing: Drawing, rows: int, columns: int) -> Iterator[str]:
    yield f'<text class="axis" x="{_LEFT + 2}" y="12">{escape(drawing.columns)} →</text>'
    for column in range(columns):
        yield (
            f'<text class="tick" x="{_LEFT + (column + 0.5) * _STEP:g}" y="{_TOP - 6}" '
            f'text-anchor="middle">{drawing.first[1] + column}</text>'
        )
    if drawing.rows:
        yield f'<text class="axis" x="2" y="{_TOP - 6}">{escape(drawing.rows)} ↓</text>'
        for row in range(rows):
            place = _TOP + (row + 0.5) * _STEP + 4
            yield f'<text class="tick" x="{_LEFT - 8}" y="{place:g}" text-anchor="end">{drawing.first[0] + row}</text>'


def _tiles(drawing: Drawing) -> Iterator[str]:
    """A coloured square for each iteration of a tile, in four colours in turn,
    and lines where neighbours are in different tiles."""
    if not drawing.drawn:
        return
    tile = {point.at: point.tile for point in drawing.points}
    half = _STEP / 2
    for cell, coordinates in tile.items():
        x, y = _place(cell, drawing)
        colour = sum(coordinates) % 2 + 2 * (coordinates[0] % 2)
        yield f'<rect class="tile t{colour}" x="{x - half:g}" y="{y - half:g}" width="{_STEP}" height="{_STEP}"/>'
    for (row, column), coordinates in tile.items():
        x, y = _place((row, column), drawing)
        if tile.get((row, column + 1), coordinates) != coordinates:
            yield f'<path class="border" d="M{x + half:g},{y - half:g} v{_STEP}"/>'
        if tile.get((row + 1, column), coordinates) != coordinates:
            yield f'<path class="border" d="M{x - half:g},{y + half:g} h{_STEP}"/>'


def _arrow(arrow: Arrow, drawing: Drawing) -> str:
    (x1, y1), (x2, y2) = _place(arrow.source, drawing), _place(arrow.sink, drawing)
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if length == 0:
        return ""
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    x1, y1, x2, y2 = x1 + dx * _RADIUS, y1 + dy * _RADIUS, x2 - dx * (_RADIUS + 1), y2 - dy * (_RADIUS + 1)
    tip = (
        f"{x2:.1f},{y2:.1f} {x2 - 6 * dx - 3 * dy:.1f},{y2 - 6 * dy + 3 * dx:.1f} "
        f"{x2 - 6 * dx + 3 * dy:.1f},{y2 - 6 * dy - 3 * dx:.1f}"
    )
    return f'<g class="edge {arrow.kind}"><path d="{_line(x1, y1, x2, y2, length)}"/><polygon points="{tip}"/></g>'


def _line(x1: float, y1: float, x2: float, y2: float, length: float) -> str:
    """Straight between neighbours; bent aside where it would run through the iterations in between."""
    if length < 1.6 * _STEP:
        return f"M{x1:.1f},{y1:.1f} L{x2:.1f},{y2:.1f}"
    bend = 0.12 * length
    middle_x, middle_y = (x1 + x2) / 2 - (y2 - y1) / length * bend, (y1 + y2) / 2 + (x2 - x1) / length * bend
    return f"M{x1:.1f},{y1:.1f} Q{middle_x:.1f},{middle_y:.1f} {x2:.1f},{y2:.1f}"


def _dot(cell: Cell, drawing: Drawing) -> str:
    x, y = _place(cell, drawing)
    return f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS:g}"/>'


def _waves(drawing: Drawing) -> Iterator[str]:
    """In each tile the number of its wavefront, the first one drawn being 1."""
    if not drawing.waves or not drawing.drawn:
        return
    cells: dict[tuple[int, ...], list[Cell]] = {}
    for point in drawing.points:
        cells.setdefault(point.tile, []).append(point.at)
    waves = {tile: sum(tile[k] for k in drawing.waves) for tile in cells}
    for tile, members in sorted(cells.items()):
        x, y = _middle(members, drawing)
        yield (
            f'<text class="wave" x="{x:g}" y="{y + 5:g}" '
            f'text-anchor="middle">{waves[tile] - min(waves.values()) + 1}</text>'
        )


def _middle(cells: list[Cell], drawing: Drawing) -> tuple[float, float]:
    places = [_place(cell, drawing) for cell in cells]
    return sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places)
