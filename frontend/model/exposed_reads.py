"""What a statement that is executed as a whole reads of what was there before it: not the cells that it has written
itself by then, as one that fills a small table first and works with it then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.frontend.model.access_names import RawAccess
from scopt.poly.isl_utils import project_out_params

# Places in a text, each followed by the iterator of the loop there, and its step.
Moment = tuple[int | tuple[str, int], ...]

# Pieces of what is written at most: more take long to compare.
_MOST = 100


class Timed(Struct, frozen=True, eq=False):
    """When an access takes place, and the cells for the values of the iterators of loops inside of the statement."""

    when: Moment
    cells: isl.Set
    inner: tuple[str, ...]


def without_own_values(accesses: Sequence[RawAccess], timed: Mapping[Any, Timed]) -> list[RawAccess]:
    """The accesses of a statement, whose reads are of the cells alone that it hasn't surely written before. timed: of
    accesses, by their places in the list."""
    writes: dict[str, list[int]] = defaultdict(list)
    for k, access in enumerate(accesses):
        if access.kind == "write" and k in timed:
            writes[access.array].append(k)
    found = list(accesses)
    longest = max((len(one.when) for one in timed.values()), default=0)
    written: dict[str, isl.Map] = {}
    for k, access in enumerate(accesses):
        before = writes.get(access.array, ()) if access.kind == "read" and k in timed else ()
        if not before or access.subscripts.is_empty():
            continue
        if access.array not in written:
            moments = [_at(timed[one], longest) for one in before]
            written[access.array] = isl.Map.coalesce(_union(moments))
        if written[access.array].n_basic_map() > _MOST:
            continue
        read = _at(timed[k], longest)
        times = read.domain().get_space()
        earlier = isl.Map.lex_gt(times).apply_range(written[access.array])
        cells = read.subtract(earlier).range()
        found[k] = replace(access, subscripts=project_out_params(cells, timed[k].inner).coalesce())
    return found


def _union(maps: Sequence[isl.Map]) -> isl.Map:
    whole = maps[0]
    for one in maps[1:]:
        whole = whole.union(one)
    return whole


def _at(timed: Timed, length: int) -> isl.Map:
    """``{ moment -> cell }``."""
    when = (*timed.when, *[0] * (length - len(timed.when)))
    dims = [f"t{k}" for k in range(length)]
    values = [
        f"{dim} = {one}" if isinstance(one, int) else f"{dim} = {'-' if one[1] < 0 else ''}{one[0]}"
        for dim, one in zip(dims, when, strict=True)
    ]
    names = f"[{', '.join(timed.inner)}] -> " if timed.inner else ""
    moments = isl.Set(f"{names}{{ [{', '.join(dims)}] : {' and '.join(values)} }}")
    made = isl.Map.from_domain_and_range(moments, timed.cells)
    placed: isl.Map = project_out_params(made, timed.inner)
    return placed
