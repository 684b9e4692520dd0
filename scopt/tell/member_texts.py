"""The members of a band in words: what each computes, by statement; tile coordinates as tiles."""

from __future__ import annotations

import re
from collections.abc import Mapping

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.isl_utils import IN, sets_of
from scopt.tell.wording import function_text, people_order

WAVEFRONT = "wavefront of"
_TILE = re.compile(r"^(.+) - \((.+)\) mod (\d+)$")
_FLOOR = re.compile(r"(?:(\d+)\*)?floor\(\((.+?)\)/(\d+)\)(?: \+ |$)")


def member_text(scop: Scop, member: isl.UnionPwAff, tiles: bool = False) -> str:
    """What a band member computes: ``i`` if it is the same for all statements, else ``S0, S2: i; S1: 2t + i``.

    tiles: say ``tiles of 32 over i`` where a function is one of tile coordinates.
    """
    return by_text(
        scop,
        {name: _tiles(text) if tiles else people_order(text) for name, text in member_functions(scop, member).items()},
    )


def member_functions(scop: Scop, member: isl.UnionPwAff) -> dict[str, str]:
    """isl's text of a member's function, by statement."""
    functions: list[isl.PwAff] = []
    member.foreach_pw_aff(functions.append)
    found = ((function.get_space().get_tuple_name(IN), function) for function in functions)
    return {name: function_text(function, scop.statement(name).iterators, raw=True) for name, function in found}


def by_text(scop: Scop, texts: Mapping[str, str]) -> str:
    """What is said of statements; at once for those of which the same is said,
    and without names where that is all of them."""
    by_text: dict[str, list[str]] = {}
    for name, text in texts.items():
        by_text.setdefault(text, []).append(name)
    if len(by_text) == 1:
        return next(iter(by_text))
    position = {statement.name: k for k, statement in enumerate(scop.statements)}
    groups = sorted((sorted(names, key=position.__getitem__), text) for text, names in by_text.items())
    return "; ".join(
        f"{', '.join(names)}: {text}" for names, text in sorted(groups, key=lambda group: position[group[0][0]])
    )


def tile_coordinates(text: str) -> tuple[tuple[int, str], ...]:
    """(size, what is tiled) of each tile coordinate in isl's text of a function; () for a function of another form."""
    tile = _TILE.match(text)
    if tile and tile[1] == tile[2]:
        return ((int(tile[3]), tile[1]),)
    floors = _FLOOR.findall(text)
    if not floors or _FLOOR.sub("", text):
        return ()
    return tuple((int(size), inner) for factor, inner, size in floors for _ in range(int(factor or 1)))


def _tiles(text: str) -> str:
    """isl's text of a function, tile coordinates in words."""
    found = tile_coordinates(text)
    if not found:
        return people_order(text)
    coordinates = [f"tiles of {size} over {people_order(inner)}" for size, inner in found]
    return coordinates[0] if len(coordinates) == 1 else f"{WAVEFRONT} {', '.join(coordinates)}"


def statement_names(domain: isl.UnionSet) -> str:
    names = [s.get_tuple_name() for s in sets_of(domain)]
    return ", ".join(sorted(names, key=lambda name: (len(name), name)))
