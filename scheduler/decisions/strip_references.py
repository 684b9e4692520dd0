"""Rows of strips, and how references move from row to row: what may stay where it is, and what needs a buffer."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.expr import linear
from scopt.ir.marked_schedule import RowBuffer
from scopt.ir.nest import Expr, Max, Name
from scopt.ir.scop import Access, Array, Scop
from scopt.machine.costs import UNKNOWN_EXTENT, least_strip_rows
from scopt.options import Options
from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.linear import affine_row, affine_rows
from scopt.scheduler.decisions.strip_trees import is_leaf_band, statements_of
from scopt.scheduler.locality.row_steps import is_step
from scopt.scheduler.locality.strides import linear_schedule, strides


def row_members(node: isl.ScheduleNode) -> list[int]:
    """The coincident members of a band that are an iterator, up to a constant, of each statement."""
    partial = node.band_get_partial_schedule()
    found = []
    for k in range(node.band_n_member()):
        if node.band_member_get_coincident(k) and all(
            row_iterator(partial.get_at(k), part) is not None for part in sets_of(node.get_domain())
        ):
            found.append(k)
    return found


def is_mixed(
    scop: Scop, node: isl.ScheduleNode, member: int, lane: isl.UnionPwAff, vectors: Options | None = None
) -> bool:
    """Whether other loops, of a band or below it, are skewed by the rows of a member: then few of these meet in one
    step. vectors: where rows are lanes, or beside each other, whether they are bounded by them, too, so that too few
    meet: ``for b: for (i = b * 1024; i < b * 1024 + 1024; i++)`` has another i for each b."""
    places = {str(part.get_tuple_name()): row_iterator(lane, part) for part in sets_of(node.get_domain())}
    for band in walk(node):
        if band.get_type() != isl.schedule_node_type.band:
            continue
        same = band.get_schedule_depth() == node.get_schedule_depth()
        for name, rows in linear_schedule(scop, band).members.items():
            place, others = places[name], [row for k, row in enumerate(rows) if not (same and k == member)]
            if place is not None and any(row[place[0]] for row in others):
                return True
    if vectors is None:
        return False
    least = least_strip_rows(vectors.machine)
    leaves = {name for band in walk(node) if is_leaf_band(band) for name in _stepping(band, node)}
    parts = [part for part in sets_of(node.get_domain()) if part.get_tuple_name() in leaves]
    return any(
        place is not None and _meet_few(part.intersect_params(scop.context), place[0], least)
        for part in parts
        for place in (places[str(part.get_tuple_name())],)
    )


def _stepping(band: isl.ScheduleNode, node: isl.ScheduleNode) -> list[str]:
    """The statements of a band in a nest that has a member beside the nest's rows."""
    deeper = band.get_schedule_depth() > node.get_schedule_depth() or band.band_n_member() > 1
    return statements_of(band) if deeper else []


def _meet_few(instances: isl.Set, rows: int, least: int) -> bool:
    """Whether less than so many rows, but not all there are, have an instance with the same other iterators. rows: the
    iterator that counts them."""
    instances = instances.reset_tuple_id() if instances.has_tuple_id() else instances
    count = instances.dim(isl.dim_type.set)
    pairs = isl.Map.from_domain_and_range(instances, instances)
    alike = pairs
    for k in range(count):
        if k != rows:
            alike = alike.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    near = _distance(alike, rows)
    if near is None or near + 1 >= least:
        return False
    far = _distance(pairs, rows)  # of any two, which takes long
    return far is None or near < far


def _distance(pairs: isl.Map, dimension: int) -> int | None:
    """How far pairs are apart at most along a dimension; None: nobody knows."""
    if pairs.is_empty():
        return 0
    most = pairs.deltas().dim_max_val(dimension)
    return int(most.to_python()) if most.is_int() else None


def own_scalars(scop: Scop, names: frozenset[str]) -> frozenset[str]:
    """The scalars that some statements write."""
    writes = (a.array for name in names for a in scop.statement(name).accesses if a.is_write)
    return frozenset(name for name in writes if not scop.arrays[name].rank)


def along_rows(scop: Scop, node: isl.ScheduleNode) -> frozenset[str]:
    """The statements of innermost loops below the rows' loop that carry nothing and walk along lines: vector loops
    along each row, whatever becomes of the others."""
    found: set[str] = set()
    for inner in walk(node):
        if not is_leaf_band(inner) or inner.band_n_member() != 1 or not inner.band_member_get_coincident(0):
            continue
        walks = strides(scop, linear_schedule(scop, inner), 0).contiguous
        if inner.get_schedule_depth() > node.get_schedule_depth() and walks:
            found.update(statements_of(inner))
    return frozenset(found)


def along_lines(scop: Scop, node: isl.ScheduleNode, member: int) -> bool:
    """Whether the innermost loops below a loop over rows walk along lines: a few rows of a column are no use."""
    for inner in walk(node):
        own = int(inner.get_schedule_depth() == node.get_schedule_depth())
        if not is_leaf_band(inner) or inner.band_n_member() == own:
            continue
        last = max(k for k in range(inner.band_n_member()) if not own or k != member)
        if strides(scop, linear_schedule(scop, inner), last).leaves_lines:
            return False
    return True


def row_iterator(function: isl.UnionPwAff, domain: isl.Set) -> tuple[int, int] | None:
    """The function on a statement's instances is iterator + constant: the iterator's position and the constant."""
    pieces = function.intersect_domain(isl.UnionSet.from_set(domain)).get_pw_aff_list()
    if pieces.n_pw_aff() != 1:
        return None
    own = pieces.get_at(0)
    names = _parameters(own)
    row = affine_row(own, names)
    if row is None:
        return None
    count = domain.dim(isl.dim_type.set)
    moving = [k for k in range(count) if row[k]]
    if len(moving) != 1 or row[moving[0]] != 1 or any(row[count:-1]):
        return None
    return moving[0], row[-1]


def _parameters(thing: isl.PwAff | isl.PwMultiAff | isl.Map | isl.Set) -> list[str]:
    return [str(thing.get_dim_name(isl.dim_type.param, k)) for k in range(thing.dim(isl.dim_type.param))]


def _subscripts(access: Access) -> list[tuple[int, ...] | None]:
    """For each subscript its row of coefficients: of the iterators, of the parameters, and the constant."""
    return [*affine_rows(access.relation)]


def moves_of(access: Access, iterator: int) -> list[int] | None:
    """By how much each subscript moves from row to row; None if that isn't always the same."""
    rows = _subscripts(access)
    return None if any(row is None for row in rows) else [row[iterator] for row in rows if row is not None]


def runs_along(moves: list[int] | None, array: Array) -> bool:
    """Whether neighbouring rows refer to neighbouring cells, or to cells of neighbouring records, or all to the same
    one."""
    if moves is None or any(moves[:-1]):
        return False
    return not moves or moves[-1] in (0, 1) or (moves[-1] > 1 and is_step(array, tuple(map(Fraction, moves))))


class RowPlace(Struct, frozen=True):
    """Which subscript of a reference is the row, and what is added to the row: a constant, and parameters, each times a
    number."""

    dimension: int
    offset: int
    base: tuple[tuple[str, int], ...]


def row_subscript(array: Array, access: Access, iterator: int, shift: int) -> RowPlace | None:
    """None if no subscript is the row, or the reference isn't a plain one."""
    rows = _subscripts(access)
    node: ir.Node | None = access.node
    for _ in range(array.rank):
        node = node.name if isinstance(node, ir.ArrayRef) else None
    if not isinstance(node, ir.ID) or len(rows) != array.rank or any(row is None for row in rows):
        return None
    moving = [k for k, row in enumerate(rows) if row is not None and row[iterator]]
    if len(moving) != 1:
        return None
    row = rows[moving[0]]
    assert row is not None
    count = access.relation.dim(isl.dim_type.in_)
    if row[iterator] != 1 or any(value for k, value in enumerate(row[:count]) if k != iterator):
        return None
    parameters = zip(_parameters(access.relation), row[count:-1], strict=True)
    return RowPlace(moving[0], row[-1] - shift, tuple(sorted((name, value) for name, value in parameters if value)))


def bytes_a_row(array: Array, buffer: RowBuffer, estimates: Mapping[str, int | None]) -> int:
    """What one row of a buffer takes, about."""
    cells = 1
    for k, extent in enumerate(buffer.extents):
        if k != buffer.dimension:
            cells *= max(
                1, *(_estimate(one, estimates) for one in (extent.args if isinstance(extent, Max) else (extent,)))
            )
    return (
        cells * (max(array.type.bits, 32) if array.type.integer else 32 if array.type.spelling == "float" else 64) // 8
    )


def _estimate(extent: Expr, estimates: Mapping[str, int | None]) -> int:
    terms, constant = linear(extent)
    known = {x: estimates.get(x.name) or UNKNOWN_EXTENT for x in terms if isinstance(x, Name)}
    return sum(terms[x] * value for x, value in known.items()) + constant


def first_row(lane: isl.UnionPwAff) -> isl.Aff:
    """The first row, of the parameters: where they say which one it is, strips that begin there lack no rows but in
    their end. 0 where it is no sum of parameters."""
    rows = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(lane).range())
    least = rows.dim_min(0).coalesce()
    names = _parameters(rows)
    row = affine_row(least, names) or (0,) * (len(names) + 1)
    local = isl.LocalSpace.from_space(rows.get_space().params())
    found = isl.Aff.zero_on_domain(local).set_constant_val(isl.Val(row[-1]))
    for k, factor in enumerate(row[:-1]):
        found = found.set_coefficient_val(isl.dim_type.param, k, isl.Val(factor))
    return found
