"""Iteration domains as drawings: which iterations there are for small parameters, which depend on each other, and how
tiles group them.

Spaces: a statement's domain ``S[i, j]`` with all parameters fixed; a drawing shows two of its dimensions (rows
downwards, columns to the right, so that the original loops run as one reads), the others fixed at a value near their
middle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Dependence, Dependences, Scop, Statement
from scopt.poly.isl_utils import walk
from scopt.tell.member_texts import member_functions, tile_coordinates
from scopt.tell.view import Arrow, Cell, Drawing, Point
from scopt.tell.wording import people_order

# Values tried for all parameters at once, the best first. Tiles of 4 are seen best in some dozen iterations.
_PARAMETERS = (14, 12, 10, 16, 8, 20, 24, 32, 48, 6, 4)
_WINDOW = 14
# The edge of tiles, and of tiles over functions that grow by more than
# 1 from one iteration to the next, such as 2t + i.
_TILE, _STEEP_TILE = 4, 8
_STEEP = re.compile(r"\d\w*[A-Za-z_]")
MAX_ARROWS = 200
_STRENGTH = ("flow", "indirect", "reduction", "anti", "output")
_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


class _Tiling(Struct, frozen=True):
    """The tile loops around a statement. functions: isl's texts of what is tiled, over the statement's iterators, with
    the largest size of each.
    waves: positions of the functions whose tile coordinates are added up by a wavefront."""

    functions: tuple[tuple[str, int], ...]
    waves: tuple[int, ...]


def drawings(scop: Scop, deps: Dependences, marked: MarkedSchedule, statement: Statement) -> tuple[Drawing, ...]:
    """The drawings of one statement: one for up to two loops around it, else one of the two outermost and one of the
    two innermost of them.

    None where no small parameters give it two iterations.
    """
    found = _small(scop, statement)
    if found is None:
        return ()
    domain, values = found
    tiling = _tiling(scop, marked, statement)
    depth = len(statement.iterators)
    planes: tuple[tuple[int, ...], ...] = (
        ((0,),) if depth == 1 else ((0, 1),) if depth == 2 else ((0, 1), (depth - 2, depth - 1))
    )
    made = (_Plane(scop, deps, statement, domain, values, plane).drawing(tiling) for plane in planes)
    return tuple(drawing for drawing in made if len(drawing.points) > 1)


def _small(scop: Scop, statement: Statement) -> tuple[isl.Set, dict[str, int]] | None:
    """The domain for small parameters, all the same if that can be, and their values."""
    names = [parameter.name for parameter in scop.parameters]
    whole = statement.domain.intersect_params(scop.context).align_params(scop.context.get_space())
    if not statement.iterators or whole.is_empty():
        return None
    for value in _PARAMETERS:
        values = dict.fromkeys(names, value)
        domain = _fixed(whole, values)
        if not domain.is_empty() and not domain.is_singleton():
            return domain, values
    point = whole.params().sample_point()
    values = {
        name: point.get_coordinate_val(_PARAM, point.get_space().find_dim_by_name(_PARAM, name)).to_python()
        for name in names
    }
    domain = _fixed(whole, values)
    return None if domain.is_singleton() else (domain, values)


def _fixed(thing: isl.Set, values: Mapping[str, int]) -> isl.Set:
    for name, value in values.items():
        position = thing.find_dim_by_name(_PARAM, name)
        if position >= 0:
            thing = thing.fix_val(_PARAM, position, isl.Val(value))
    return thing


def _tiling(scop: Scop, marked: MarkedSchedule, statement: Statement) -> _Tiling:
    """What the tile loops around a statement compute, from the outside in."""
    sizes: dict[str, int] = {}
    waves: tuple[str, ...] = ()
    for node in walk(marked.tree.get_root()):
        if node.get_type() != isl.schedule_node_type.band:
            continue
        partial = node.band_get_partial_schedule()
        for position in range(node.band_n_member()):
            coordinates = tile_coordinates(member_functions(scop, partial.get_at(position)).get(statement.name, ""))
            for size, inner in coordinates:
                sizes[inner] = max(size, sizes.get(inner, 0))
            if len(coordinates) > 1 and not waves:
                waves = tuple(inner for _, inner in coordinates)
    functions = tuple(sizes.items())
    return _Tiling(functions, tuple(k for k, (inner, _) in enumerate(functions) if inner in waves))


class _Plane(Struct, frozen=True, eq=False):
    """dims: positions of the iterators drawn, one or two.
    domain: of the statement, its parameters fixed at `values`."""

    scop: Scop
    deps: Dependences
    statement: Statement
    domain: isl.Set
    values: Mapping[str, int]
    dims: tuple[int, ...]

    def drawing(self, tiling: _Tiling) -> Drawing:
        section, others = self.section()
        lows = [section.dim_min_val(dim).to_python() for dim in self.dims]
        window = section
        for dim, low in zip(self.dims, lows, strict=True):
            window = window.upper_bound_val(_SET, dim, isl.Val(low + _WINDOW - 1))
        cells = self.cells(window)
        arrows = self.arrows(window)
        shown_arrows = _thinned(arrows)
        shown = [(text, size) for text, size in tiling.functions if size > 1]
        edge = _STEEP_TILE if any(_STEEP.search(text) for text, _ in shown) else _TILE
        drawn = min([edge, *(size for _, size in shown)]) if shown else 0
        evaluated = [self.evaluated(text) for text, _ in shown]
        points = tuple(
            Point(cell, tuple(self.value(f, point) // drawn for f in evaluated))
            for cell, point in sorted(cells.items())
        )
        names = [self.statement.iterators[dim] for dim in self.dims]
        return Drawing(
            self.statement.name,
            names[0] if len(names) > 1 else "",
            names[-1],
            (lows[0], lows[1]) if len(lows) > 1 else (0, lows[0]),
            tuple(f"{name} = {value}" for name, value in (*self.spelled(), *others)),
            points,
            shown_arrows,
            not section.is_subset(window),
            tuple(f"{people_order(text)} by {size}" for text, size in shown),
            drawn,
            tiling.waves if len(shown) == len(tiling.functions) else (),
            len(arrows) - len(shown_arrows),
        )

    def spelled(self) -> Iterator[tuple[str, int]]:
        for parameter in self.scop.parameters:
            yield parameter.spelling, self.values[parameter.name]

    def section(self) -> tuple[isl.Set, tuple[tuple[str, int], ...]]:
        """The domain where all iterators but those drawn have a value near the middle of their range;
        and these values."""
        section, others = self.domain, []
        for dim, name in enumerate(self.statement.iterators):
            if dim in self.dims:
                continue
            low, high = (end.to_python() for end in (section.dim_min_val(dim), section.dim_max_val(dim)))
            candidates = (value for value in ((low + min(high, low + _WINDOW)) // 2, low))
            value, section = next(
                (v, s) for v in candidates if not (s := section.fix_val(_SET, dim, isl.Val(v))).is_empty()
            )
            others.append((name, value))
        return section, tuple(others)

    def cell(self, coordinates: Sequence[int]) -> Cell:
        return (
            (coordinates[self.dims[0]], coordinates[self.dims[1]])
            if len(self.dims) > 1
            else (0, coordinates[self.dims[0]])
        )

    def cells(self, window: isl.Set) -> dict[Cell, tuple[int, ...]]:
        found: dict[Cell, tuple[int, ...]] = {}
        for coordinates in _points(window):
            found[self.cell(coordinates)] = coordinates
        return found

    def arrows(self, window: isl.Set) -> list[Arrow]:
        """The dependences between two iterations of the window."""
        kinds: dict[tuple[Cell, Cell], set[str]] = {}
        depth = len(self.statement.iterators)
        for kind, pairs in (*self.own(), *self.indirect()):
            for coordinates in _points(pairs.intersect_domain(window).intersect_range(window).wrap()):
                ends = self.cell(coordinates[:depth]), self.cell(coordinates[depth:])
                kinds.setdefault(ends, set()).add(kind)
        return [Arrow(source, sink, min(found, key=_STRENGTH.index)) for (source, sink), found in sorted(kinds.items())]

    def own(self) -> Iterator[tuple[str, isl.Map]]:
        """The statement's dependences on itself that order something, their parameters fixed, with their kinds."""
        private = {name for name, array in self.scop.arrays.items() if array.private}
        for dependence in (*self.deps.select("flow", "anti", "output"), *self.deps.reductions):
            if dependence.source == dependence.sink == self.statement.name and (
                dependence.kind == "flow" or dependence.array not in private
            ):
                yield dependence.kind, self.pairs(dependence)

    def indirect(self) -> Iterator[tuple[str, isl.Map]]:
        """Flow to another statement and from there back to this one."""
        flow = [d for d in self.deps.select("flow") if d.source != d.sink]
        for out in (d for d in flow if d.source == self.statement.name):
            for back in (d for d in flow if d.source == out.sink and d.sink == self.statement.name):
                yield "indirect", self.pairs(out).apply_range(self.pairs(back))

    def pairs(self, dependence: Dependence) -> isl.Map:
        return _fixed(dependence.relation.wrap().align_params(self.domain.get_space()), self.values).unwrap()

    def evaluated(self, text: str) -> isl.PwAff:
        """A function of the statement's iterators from isl's text,
        as a function of ``[i, j]``, its parameters fixed."""
        names = ", ".join(parameter.name for parameter in self.scop.parameters)
        space = ", ".join(self.statement.iterators)
        return isl.PwAff(f"[{names}] -> {{ [{space}] -> [({text})] }}")

    def value(self, function: isl.PwAff, coordinates: tuple[int, ...]) -> int:
        point = isl.Point.zero(function.domain().get_space())
        for position in range(point.get_space().dim(_PARAM)):
            name = point.get_space().get_dim_name(_PARAM, position) or ""
            point = point.set_coordinate_val(_PARAM, position, isl.Val(self.values[name]))
        for position, value in enumerate(coordinates):
            point = point.set_coordinate_val(_SET, position, isl.Val(value))
        return int(function.eval(point).floor().to_python())


def _thinned(arrows: Sequence[Arrow]) -> tuple[Arrow, ...]:
    """At most so many arrows: all of some iterations that are spread over the drawing,
    so that each distance is still seen."""
    kept = list(arrows)
    for step in range(3, 40):
        if len(kept) <= MAX_ARROWS:
            break
        kept = [arrow for arrow in arrows if (2 * arrow.source[0] + arrow.source[1]) % step == 0]
    return tuple(kept[:MAX_ARROWS])


def _points(bounded: isl.Set) -> list[tuple[int, ...]]:
    """The elements of a bounded set whose parameters are fixed, sorted."""
    found: list[tuple[int, ...]] = []
    depth = bounded.dim(_SET)
    bounded.foreach_point(
        lambda point: found.append(tuple(point.get_coordinate_val(_SET, k).to_python() for k in range(depth)))
    )
    return sorted(found)
