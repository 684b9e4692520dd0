"""The original execution order of a SCoP: as a schedule tree, and as one flat,
zero-padded map (2d+1 form) for dependence analysis."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct

from scopt.poly.isl_utils import union_of_sets


class Leaf(Struct, frozen=True):
    """A statement by its name."""

    statement: str


class Sequence(Struct, frozen=True):
    """Parts executed one after the other, for each iteration of the loops around them."""

    parts: tuple[Tree, ...]


class Loop(Struct, frozen=True):
    """A loop around a part; direction -1 counts down."""

    iterator: str
    direction: int
    body: Tree


Tree = Leaf | Sequence | Loop


def statements_of(tree: Tree) -> tuple[str, ...]:
    """Names of the statements below, in textual order."""
    match tree:
        case Leaf(name):
            return (name,)
        case Loop(body=body):
            return statements_of(body)
        case Sequence(parts):
            return tuple(name for part in parts for name in statements_of(part))


def schedule_tree(tree: Tree, domains: dict[str, isl.Set]) -> isl.Schedule:
    """The order as an isl schedule tree over the statements' domains."""
    match tree:
        case Leaf(name):
            return isl.Schedule.from_domain(isl.UnionSet.from_set(domains[name]))
        case Sequence(parts):
            result = schedule_tree(parts[0], domains)
            for part in parts[1:]:
                result = result.sequence(schedule_tree(part, domains))
            return result
        case Loop(iterator, direction, body):
            inner = schedule_tree(body, domains)
            partial = isl.MultiUnionPwAff.from_union_pw_aff(
                _iterator_function(iterator, direction, [domains[name] for name in statements_of(body)])
            )
            return inner.insert_partial_schedule(partial)


def _iterator_function(iterator: str, direction: int, domains: list[isl.Set]) -> isl.UnionPwAff:
    """±iterator as a function on the instances of several statements."""
    result = isl.UnionPwAff("{ }")
    for domain in domains:
        position = domain.find_dim_by_name(isl.dim_type.set, iterator)
        aff = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(domain.get_space()), isl.dim_type.set, position)
        aff = aff if direction > 0 else aff.neg()
        result = result.union_add(aff.to_union_pw_aff())
    return result.intersect_domain(union_of_sets(domains))


def order_map(tree: Tree, domains: dict[str, isl.Set]) -> isl.UnionMap:
    """The order as ``{ S[i, j] -> [β0, ±i, β1, ±j, β2, 0, …] }``; all ranges in one space, so that lexicographic order
    is execution order."""
    dates = dict(_dates(tree, ()))
    width = max(len(date) for date in dates.values())
    result = isl.UnionMap("{ }")
    for name, date in dates.items():
        domain = domains[name]
        names = [domain.get_dim_name(isl.dim_type.set, k) for k in range(domain.dim(isl.dim_type.set))]
        padded = (*date, *("0" for _ in range(width - len(date))))
        result = result.union(
            isl.UnionMap(f"{{ {name}[{', '.join(n or '' for n in names)}] -> [{', '.join(padded)}] }}")
        )
    return result.intersect_domain(union_of_sets(domains[name] for name in dates))


def _dates(tree: Tree, prefix: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Each statement's date: sequence positions and signed iterators, alternating as the tree nests."""
    match tree:
        case Leaf(name):
            return [(name, prefix or ("0",))]
        case Sequence(parts):
            return [date for position, part in enumerate(parts) for date in _dates(part, (*prefix, str(position)))]
        case Loop(iterator, direction, body):
            return _dates(body, (*prefix, iterator if direction > 0 else f"-{iterator}"))
