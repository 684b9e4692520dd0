"""Loops over strips that the source has cut another loop into (Wolfe, "More iteration space tiling", 1989).

Of ``for (k0 = 0; k0 < n; k0 += 32) for (i …) for (k = k0; k < min(k0 + 32, n); k++)`` each ``k`` lies in one strip:
``k0`` says when an instance runs, not which one it is. Without it the instances are those of the loops that were tiled,
whose dependences are simple, and whose tiles can be others.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from msgspec.structs import replace

from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import used_names


def without_strips(scop: Scop) -> Scop | None:
    """The SCoP whose statements have no iterators that the others determine in all of them, and that none of them uses;
    None if there are none."""
    everything = (*scop.statements, *scop.kills)
    wished = {iterator for wish in scop.directives for _, iterator in wish.targets}
    dropped = list[str]()
    for name in dict.fromkeys(name for one in scop.statements for name in one.iterators):
        around = [one for one in everything if name in one.iterators]
        if name not in wished and all(_is_strip(one, name, dropped) for one in around):
            dropped.append(name)
    if not dropped:
        return None
    maps = {one.name: _projection(one, dropped) for one in everything}
    back = isl.UnionPwMultiAff("{ }")
    for one in scop.statements:
        back = back.union_add(isl.UnionPwMultiAff(maps[one.name].reverse().as_pw_multi_aff()))
    every = isl.UnionMap("{ }")
    for to in maps.values():
        every = every.union(isl.UnionMap.from_map(to))
    return replace(
        scop,
        statements=tuple(_without(one, dropped, maps[one.name]) for one in scop.statements),
        kills=tuple(_without(one, dropped, maps[one.name]) for one in scop.kills),
        schedule=scop.schedule.pullback_union_pw_multi_aff(back),
        order=scop.order.apply_domain(every),
    )


def _is_strip(statement: Statement, name: str, dropped: Sequence[str]) -> bool:
    """Whether a statement doesn't use an iterator, and one of the others that are left lies in strips that it numbers:
    values of the one belong to one of the other each, of which there are fewer."""
    if name in used_names(statement.body):
        return False
    own = statement.iterators.index(name)
    for place, other in enumerate(statement.iterators):
        if other != name and other not in dropped:
            found = _of_each_other(statement.domain, place, own)
            if found.is_single_valued() and not found.is_injective() and not found.range().is_singleton():
                return True
    return False


def _of_each_other(domain: isl.Set, source: int, target: int) -> isl.Map:
    """From the values of a dimension to those of another one that there are with it."""
    pairs = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    for kind, kept in ((isl.dim_type.in_, source), (isl.dim_type.out, target)):
        pairs = pairs.project_out(kind, kept + 1, pairs.dim(kind) - kept - 1).project_out(kind, 0, kept)
    return pairs


def _projection(statement: Statement, dropped: Sequence[str]) -> isl.Map:
    """From instances to what they are called without some iterators."""
    found = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(statement.domain)
    for place in reversed(range(len(statement.iterators))):
        if statement.iterators[place] in dropped:
            found = found.project_out(isl.dim_type.out, place, 1)
    return found.set_tuple_name(isl.dim_type.out, statement.name)


def _without(statement: Statement, dropped: Sequence[str], to: isl.Map) -> Statement:
    kept = [place for place, name in enumerate(statement.iterators) if name not in dropped]
    if len(kept) == len(statement.iterators):
        return statement

    def moved(access: Access) -> Access:
        return replace(access, relation=access.relation.apply_domain(to).coalesce())

    return replace(
        statement,
        domain=statement.domain.apply(to).coalesce(),
        iterators=tuple(statement.iterators[k] for k in kept),
        iterator_types=tuple(statement.iterator_types[k] for k in kept),
        accesses=tuple(map(moved, statement.accesses)),
    )
