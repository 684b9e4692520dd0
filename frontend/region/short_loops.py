"""Macros that say how often short loops run: what is best for these depends on the number, as what compilers make of
them does, so that it takes the place of the name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.frontend.region.mask_macros import mask_macros
from scopt.frontend.region.zero_points import zero_points
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.unit import Region
from scopt.ir.walks import rebuilt, walk

# Iterations of a loop whose number is best known, where the choice is ours, and where the region is marked: there, it
# has to be one that may become straight code, such as that over a lattice's directions.
LONG_LOOP = 64
FEW = 33


def short_macros(region: Region, symbolic: Mapping[str, int], types: Mapping[str, str], limit: int) -> list[str]:
    """The macros in the heads of loops that stand for fewer iterations."""
    names = {name for loop in _loops(region) for name in _head(loop)}
    return [name for name, value in symbolic.items() if name in names and 0 <= value < limit and name not in types]


def telling_macros(region: Region, symbolic: Mapping[str, int], types: Mapping[str, str]) -> list[str]:
    """The macros whose number tells what an expression is: zero points and masks."""
    found = {*zero_points(region, symbolic, types), *mask_macros(region, symbolic, types)}
    return [name for name in symbolic if name in found]


def with_short_loops(region: Region) -> Region:
    """A marked region, with the values of the macros that say how often short loops run, unless all are short, as in
    small instances of programs; and with those of zero points and masks."""
    short: set[str | None] = set()
    if not region.directives:
        short.update(short_macros(region, region.symbolic, region.types, FEW))
    iterators = {loop_iterator(loop) for loop in _loops(region)}
    if all(_head(loop) <= short | iterators for loop in _loops(region)):
        short.clear()
    known = {*short, *telling_macros(region, region.symbolic, region.types)} if not region.directives else short
    if not known:
        return region
    chosen = region
    baked = {name: value for name, value in region.symbolic.items() if name in known}
    for name, value in baked.items():
        chosen = with_number(chosen, name, value)
    symbolic = {name: value for name, value in region.symbolic.items() if name not in known}
    return replace(chosen, symbolic=symbolic, baked={**region.baked, **baked})


def with_number(region: Region, name: str, value: int) -> Region:
    """The region with a number in the place of a name."""

    def change(node: Any) -> Any:
        is_name = isinstance(node, ir.ID) and node.name == name
        if not is_name:
            return node
        number = ir.Constant("int", str(abs(value)), node.coord)
        return number if value >= 0 else ir.UnaryOp("-", number, node.coord)

    return replace(region, items=tuple(rebuilt(item, change) for item in region.items))


def _loops(region: Region) -> Iterator[ir.For]:
    return (node for item in region.items for node in walk(item) if isinstance(node, ir.For))


def _head(loop: ir.For) -> set[str | None]:
    return {name for part in (loop.init, loop.cond, loop.next) if part is not None for name in identifiers(part)}
