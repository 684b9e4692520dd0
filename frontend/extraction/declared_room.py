"""Whether an array has no more elements than its declaration says, where only data say which ones are touched."""

from __future__ import annotations

from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.syntax.whole_arrays import sizes_of_whole


def has_declared_room(names: RegionNames, name: str, promised: dict[str, None], sized: dict[str, int]) -> bool:
    """Of a pointer: marked regions promise it, of others it has to be known.

    promised: is given names of which it is promised; sized: the macros that known sizes are made of, with their values.
    """
    if names.region.marked:
        promised[name] = None
        return True
    sizes = sizes_of_whole(names.tu, names.region, name)
    sized.update(sizes or {})
    return sizes is not None
