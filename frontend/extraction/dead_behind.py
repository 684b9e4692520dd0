"""Variables whose value nobody can see behind a region."""

from __future__ import annotations

from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.syntax.own_statics import is_own_static
from scopt.frontend.syntax.scratch_variables import is_scratch


def is_dead_behind(names: RegionNames, name: str) -> bool:
    """Whether nobody can see the value that the region leaves in a scalar or array."""
    if name in names.local_names:
        return True
    symbol = names.symbols[name]
    if symbol.static and name in names.effects.written:
        known = names.tu, names.region, symbol
        if is_own_static(*known) or is_scratch(*known):
            return True
    if (
        symbol.within is not None
        or symbol.pointer
        or symbol.kind not in ("local", "parameter")
        or symbol.static
        or symbol.address_taken
    ):
        return False
    return not names.read_after(name)
