"""Dates in few pieces: those of straight code as the loops that it stands for.

Checks look at each pair of pieces. The statements that straight code makes of a window have a piece each, whose place
is a constant; together they mostly are one affine function of the window's points, as in the loops.
"""

from __future__ import annotations

import islpy as isl

from scopt.poly.isl_utils import OUT, maps_of

# Fewer pieces are left as they are.
_MANY = 8


def in_few_pieces(dates: isl.UnionMap) -> isl.UnionMap:
    """The same map; statements with many pieces have fewer, where there are affine functions for them."""
    found = maps_of(dates)
    if all(len(one.get_basic_maps()) <= _MANY for one in found):
        return dates
    result = isl.UnionMap("{ }")
    for one in found:
        result = result.union(isl.UnionMap.from_map(_fewer(one) if len(one.get_basic_maps()) > _MANY else one))
    return result


def _fewer(dates: isl.Map) -> isl.Map:
    dates = dates.coalesce()
    if len(dates.get_basic_maps()) <= _MANY:
        return dates
    groups: dict[tuple[int | None, ...], list[isl.BasicMap]] = {}
    for piece in dates.get_basic_maps():
        groups.setdefault(_places(piece), []).append(piece)
    result = isl.Map.empty(dates.get_space())
    for pieces in groups.values():
        together = isl.Map.from_basic_map(pieces[0])
        for piece in pieces[1:]:
            together = together.union(isl.Map.from_basic_map(piece))
        # tiles' dates have bounds, too
        hull = together.affine_hull().intersect(together.simple_hull())
        joint = isl.Map.from_basic_map(hull).intersect_domain(together.domain().coalesce())
        result = result.union(joint if joint.is_equal(together) else together)
    return result


def _places(piece: isl.BasicMap) -> tuple[int | None, ...]:
    """The constants among a piece's dates, up to the last one that isn't zero, which is left out: it may be a place in
    straight code. Zeros behind it fill up."""
    values = [piece.plain_get_val_if_fixed(OUT, k) for k in range(int(piece.dim(OUT)))]
    places = [int(value.to_python()) if value.is_int() else None for value in values]
    while places and places[-1] in (0, None):
        places.pop()
    return tuple(places[:-1])
