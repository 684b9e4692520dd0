"""What a region takes for granted about overlap: the pragma's convention in marked regions, proof otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from scopt.diagnostics import Refusal, Remark
from scopt.frontend.regions import Region
from scopt.frontend.symbols import Symbol
from scopt.model import Array


def check_aliasing(
    region: Region, symbols: Mapping[str, Symbol], arrays: Mapping[str, Array], written: frozenset[str], parameters: frozenset[str]
) -> list[Remark]:
    """The analysis remark for a marked region's convention; a Refusal where an unmarked region's arrays may overlap.

    Two names can't overlap if neither is written, if both are objects of their own, or if one is a restrict pointer.
    """
    names = [*arrays, *(name for name in sorted(parameters) if name in symbols)]
    doubtful = [
        (a, b) for a, b in combinations(names, 2)
        if (a in written or b in written) and _may_overlap(symbols[a], symbols[b])
    ]
    if not doubtful:
        return []
    if not region.marked:
        a, b = doubtful[0]
        raise Refusal("alias.may-overlap", f"'{a}' and '{b}' may overlap", region.location, "declare the pointers restrict, or mark the region")
    involved = sorted({name for pair in doubtful for name in pair if symbols[name].pointer})
    listed = ", ".join(f"'{name}'" for name in involved)
    return [Remark("analysis", "alias.assumed-none", f"taken not to overlap, as in every marked region: {listed}", region.location)]


def _may_overlap(a: Symbol, b: Symbol) -> bool:
    if not (a.pointer or b.pointer):
        return False
    if a.restrict or b.restrict:
        return False
    other = b if a.pointer else a
    if other.pointer:
        return True
    # A pointer reaches an object by name only if that object's address can be known to it.
    return other.kind == "global" or other.address_taken or bool(other.dims)
