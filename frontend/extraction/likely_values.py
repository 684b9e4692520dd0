"""What parameters probably are, from the sizes of the arrays that they bound subscripts of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from scopt.frontend.extraction.region_walk import RegionWalk
from scopt.poly.isl_utils import project_out_params


def likely_values(walk: RegionWalk) -> dict[str, int]:
    """The parameters' values, as far as constant sizes and macros tell."""
    by_name = {array.name: array for array in walk.arrays.by_name.values()}
    bounded = [
        (project_out_params(access.subscripts.intersect_params(raw.domain), raw.iterators), position, size)
        for raw in walk.statements
        for access in raw.accesses
        for position, size in enumerate(by_name[access.array].sizes)
        if size is not None and size > 0 and access.subscripts.dim(isl.dim_type.set) > position
    ]
    return guessed_values(bounded) | dict(walk.names.region.symbolic)


def may_hold(condition: isl.Set, values: Mapping[str, int]) -> bool:
    """Whether a condition on parameters holds for some, where these have the given values."""
    for name, value in values.items():
        index = condition.find_dim_by_name(isl.dim_type.param, name)
        if index >= 0:
            condition = condition.fix_val(isl.dim_type.param, index, isl.Val(value))
    return not condition.is_empty()


def guessed_values(bounded: Sequence[tuple[isl.Set, int, int]]) -> dict[str, int]:
    """What parameters probably are. bounded: subscripts, the position of one of them, and the array's extent there."""
    guesses: dict[str, int] = {}
    for others in (False, True):  # what one of several parameters bounds says more once the others are known
        known = dict(guesses) if others else {}
        for subscripts, position, size in bounded:
            _guess_from_extent(subscripts, position, size, known, guesses)
    return guesses


def _guess_from_extent(
    subscripts: isl.Set, position: int, size: int, known: Mapping[str, int], guesses: dict[str, int]
) -> None:
    """From `subscript < n` and a constant extent: n is probably the extent.
    Only where one parameter bounds the subscript, besides those that are known."""
    rank = subscripts.dim(isl.dim_type.set)
    one = subscripts.project_out(isl.dim_type.set, position + 1, rank - position - 1).project_out(
        isl.dim_type.set, 0, position
    )
    one = one.gist_params(one.params())  # other parameters may say whether there are instances at all
    for other, value in known.items():
        index = one.find_dim_by_name(isl.dim_type.param, other)
        if index >= 0:
            one = one.fix_val(isl.dim_type.param, index, isl.Val(value)).project_out(isl.dim_type.param, index, 1)
    involved = [p for p in range(one.dim(isl.dim_type.param)) if one.involves_dims(isl.dim_type.param, p, 1)]
    if len(involved) != 1:
        return
    name = one.get_dim_name(isl.dim_type.param, involved[0])
    fits = isl.Set(f"{{ [x] : x < {size} }}")
    beyond = one.subtract(fits).params()
    if beyond.is_empty() or not name:
        return
    inside = beyond.complement().intersect(one.params())
    index = inside.find_dim_by_name(isl.dim_type.param, name)
    if index < 0:
        return
    values = isl.Set(f"[{name}] -> {{ [x] : x = {name} }}").intersect_params(inside)
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    highest = values.dim_max_val(0) if not values.is_empty() else isl.Val(0)
    if highest.is_int() and (guess := int(highest.to_python())) > 0:
        guesses[name] = min(guess, guesses.get(name, guess))
