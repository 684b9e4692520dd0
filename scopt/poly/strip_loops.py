"""Loops over strips that the source has cut another loop into (Wolfe, "More iteration space tiling", 1989).

Of ``for (k0 = 0; k0 < n; k0 += 32) for (i …) for (k = k0; k < min(k0 + 32, n); k++)`` each ``k`` lies in one strip:
``k0`` says when an instance runs, not which one it is. Without it the instances are those of the loops that were tiled,
whose dependences are simple, and whose tiles can be others.

Of ``for (k0 = 0; k0 < n; k0 += 8) for (k = 0; k < 8; k++) … x[k0 + k]`` the inner loop counts from where the strip
begins. Where nothing but sums of both is looked at, the sum is the iterator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import permutations

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import rewritten, used_names, walk
from scopt.poly.reductions import INT_BITS


def without_strips(scop: Scop, *, sums: bool = False) -> Scop | None:
    """The SCoP whose statements have no iterators that the others determine in all of them, and that none of them uses;
    None if there are none. sums: also where iterators count from the beginning of a strip."""
    if sums:
        scop = _counted_on(scop)
    wished = _wished(scop)
    dropped = list[str]()
    for name in _iterators(scop):
        if name not in wished and all(_is_strip(one, name, dropped) for one in _around(scop, name)):
            dropped.append(name)
    if not dropped:
        return None
    maps = {one.name: _projection(one, dropped) for one in _everything(scop)}
    return _renamed(scop, maps, lambda one: _without(one, dropped, maps[one.name]))


def _everything(scop: Scop) -> tuple[Statement, ...]:
    return (*scop.statements, *scop.kills)


def _iterators(scop: Scop) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in scop.statements for name in one.iterators))


def _around(scop: Scop, name: str) -> list[Statement]:
    return [one for one in _everything(scop) if name in one.iterators]


def _wished(scop: Scop) -> set[str]:
    """The iterators of loops that somebody has wishes for."""
    return {iterator for wish in scop.directives for _, iterator in wish.targets}


def _renamed(scop: Scop, maps: Mapping[str, isl.Map], change: Callable[[Statement], Statement]) -> Scop:
    """The SCoP whose statements are others. maps: what becomes of their instances, one for each."""
    back, every = isl.UnionPwMultiAff("{ }"), isl.UnionMap("{ }")
    for one in scop.statements:
        back = back.union_add(isl.UnionPwMultiAff(maps[one.name].reverse().as_pw_multi_aff()))
    for to in maps.values():
        every = every.union(isl.UnionMap.from_map(to))
    return replace(
        scop,
        statements=tuple(map(change, scop.statements)),
        kills=tuple(map(change, scop.kills)),
        schedule=scop.schedule.pullback_union_pw_multi_aff(back),
        order=scop.order.apply_domain(every),
    )


def _counted_on(scop: Scop) -> Scop:
    """The SCoP in which iterators that count from the beginning of a strip count on from where the strip begins,
    wherever the strips can be done without then."""
    wished = _wished(scop)
    for strip, inner in permutations(_iterators(scop), 2):
        inside = [one for one in _everything(scop) if {strip, inner} & set(one.iterators)]
        if {strip, inner} & wished or not all(_looks_at_sum(one, strip, inner) for one in inside):
            continue
        maps = {
            one.name: _sum(one, strip, inner) if inner in one.iterators else one.domain.identity()
            for one in _everything(scop)
        }
        made = _renamed(scop, maps, partial(_with_sum, strip=strip, inner=inner, maps=maps))
        if all(_is_strip(one, strip, ()) for one in _around(made, strip)):
            scop = made
    return scop


def _looks_at_sum(statement: Statement, strip: str, inner: str) -> bool:
    """Whether a statement is in both loops, and looks at their iterators for nothing but the sum, which is a number of
    their type: narrower ones are added as integers."""
    if not {strip, inner} <= set(statement.iterators):
        return False
    outer, own = (statement.iterators.index(name) for name in (strip, inner))
    types = statement.iterator_types
    if outer > own or types[outer] != types[own] or types[own].bits < INT_BITS:
        return False
    sums = sum(_adds(node, strip, inner) for node in walk(statement.body))
    uses = list(used_names(statement.body))
    return uses.count(strip) == uses.count(inner) == sums


def _adds(node: ir.Node, strip: str, inner: str) -> bool:
    """Whether an expression is the sum of two iterators."""
    if not isinstance(node, ir.BinaryOp) or node.op != "+":
        return False
    sides = [side.name for side in (node.left, node.right) if isinstance(side, ir.ID)]
    return sorted(sides) == sorted((strip, inner))


def _sum(statement: Statement, strip: str, inner: str) -> isl.Map:
    """``{ S[…, strip, …, inner, …] -> S[…, strip, …, strip + inner, …] }``"""
    values = isl.MultiAff.identity_on_domain_space(statement.domain.get_space())
    begin, place = (statement.iterators.index(name) for name in (strip, inner))
    values = values.set_aff(place, values.get_at(begin).add(values.get_at(place)))
    return isl.Map.from_multi_aff(values).intersect_domain(statement.domain)


def _with_sum(statement: Statement, *, strip: str, inner: str, maps: Mapping[str, isl.Map]) -> Statement:
    """The statement with the inner iterator in the place of the sum."""
    if inner not in statement.iterators:
        return statement
    become: dict[ir.Node, ir.Node] = {}
    body = rewritten(
        statement.body,
        lambda node, made: ir.ID(inner, node.coord) if _adds(node, strip, inner) else made,
        become,
    )
    moved = _without(statement, (), maps[statement.name])
    accesses = (
        replace(one, node=become.get(one.node, one.node)) if one.node is not None else one for one in moved.accesses
    )
    return replace(moved, body=body, accesses=tuple(accesses))


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

    def moved(access: Access) -> Access:
        return replace(access, relation=access.relation.apply_domain(to).coalesce())

    return replace(
        statement,
        domain=statement.domain.apply(to).coalesce(),
        iterators=tuple(statement.iterators[k] for k in kept),
        iterator_types=tuple(statement.iterator_types[k] for k in kept),
        accesses=tuple(map(moved, statement.accesses)),
    )
