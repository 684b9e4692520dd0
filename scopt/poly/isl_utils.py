"""isl idioms that several stages need; dimensions are named by what they hold, never counted by hand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import islpy as isl

PARAM = isl.dim_type.param
SET = isl.dim_type.set
IN = isl.dim_type.in_
OUT = isl.dim_type.out
DIV = isl.dim_type.div


@lru_cache(maxsize=1 << 10)
def param_pw_aff(name: str) -> isl.PwAff:
    """The parameter `name` as a function on the parameter domain: ``[name] -> { [(name)] }``."""
    return isl.PwAff(f"[{name}] -> {{ [({name})] }}")


@lru_cache(maxsize=1 << 10)
def constant_pw_aff(value: int) -> isl.PwAff:
    """A constant on the parameter domain: ``{ [(value)] }``."""
    return isl.PwAff(f"{{ [({value})] }}")


def passes(value: isl.PwAff, bound: int, largest: int) -> bool:
    """Whether a value may be greater than a bound where no parameter is further than `largest` from zero."""
    above = value.gt_set(constant_pw_aff(bound))
    for position in range(above.dim(PARAM)):
        above = above.lower_bound_val(PARAM, position, isl.Val(-largest))
        above = above.upper_bound_val(PARAM, position, isl.Val(largest))
    return not above.is_empty()


def universe_params() -> isl.Set:
    """The unconstrained set of parameter values."""
    return isl.Set("{ : }")


def to_statement_space(params_set: isl.Set, name: str, iterators: Sequence[str]) -> isl.Set:
    """Turn a parameter set whose parameters include the iterators into ``name[iterators]``.

    The iterators become set dimensions, in the order given; iterators that the set doesn't mention are unconstrained.
    """
    if not iterators:
        return isl.Set(f"{{ {name}[] }}").intersect_params(params_set)
    copies = ", ".join(f"{iterator}__" for iterator in iterators)
    equal = " and ".join(f"{iterator}__ = {iterator}" for iterator in iterators)
    tie = isl.Set(f"[{', '.join(iterators)}] -> {{ {name}[{copies}] : {equal} }}")
    lifted: isl.Set = project_out_params(tie.intersect_params(params_set), iterators)
    for position, iterator in enumerate(iterators):
        lifted = lifted.set_dim_name(SET, position, iterator)
    return lifted


def project_out_params(thing: Any, names: Iterable[str]) -> Any:
    """Existentially quantify the named parameters of a set or map; those that it doesn't have are ignored."""
    for name in names:
        position = thing.find_dim_by_name(PARAM, name)
        if position >= 0:
            thing = thing.project_out(PARAM, position, 1)
    return thing


def few_pieces(points: isl.Set) -> isl.Set:
    """The same points, in pieces that don't overlap where that takes fewer: several conditions that leave out a point
    each (``p != 0 || q != 0``) overlap, and statements have as many pieces of dependences as there are pairs."""
    points = points.coalesce()
    if points.n_basic_set() < 2:
        return points
    apart = points.make_disjoint().coalesce()
    return apart if apart.n_basic_set() < points.n_basic_set() else points


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, in a deterministic order (by tuple name)."""
    found: list[isl.Set] = []
    union.foreach_set(found.append)
    return sorted(found, key=lambda s: s.get_tuple_name() or "") if len(found) > 1 else found


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """The maps of a union, in a deterministic order (by their printed spaces)."""
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return sorted(found, key=lambda m: str(m.get_space())) if len(found) > 1 else found


def union_of_sets(sets: Iterable[isl.Set]) -> isl.UnionSet:
    """The union of sets in any spaces."""
    result = None
    for item in sets:
        one = isl.UnionSet.from_set(item)
        result = one if result is None else result.union(one)
    return isl.UnionSet("{ }") if result is None else result


def union_of_maps(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The union of maps in any spaces. Neighbours first: each union copies both of its parts, which of hundreds, one
    after the other, would take seconds."""
    parts = [isl.UnionMap.from_map(one) for one in maps]
    while len(parts) > 1:
        rest = parts[len(parts) // 2 * 2 :]
        parts = [*(one.union(other) for one, other in zip(parts[::2], parts[1::2], strict=False)), *rest]
    return parts[0] if parts else isl.UnionMap("{ }")


def equalities(piece: isl.BasicSet) -> int:
    """How many equations a set has, those that define quotients aside."""
    return sum(
        1 for constraint in piece.get_constraints() if constraint.is_equality() and not constraint.is_div_constraint()
    )


def remainder(whole: isl.Set, union: isl.Set) -> isl.Set:
    """What of a set isn't in a union. Piece by piece: isl would cut all that is left by each constraint of each of
    them."""
    for piece in union.coalesce().get_basic_sets():
        whole = whole.subtract(isl.Set.from_basic_set(piece)).coalesce()
    return whole


def compact(union: isl.Set) -> isl.Set:
    """The same set as the conjunction of all constraints of its pieces that hold for all of it, if it is one.

    isl's own coalescing misses such unions where that takes reasoning about integers.
    """
    union = union.coalesce()
    if union.n_basic_set() < 2:
        return union
    hull = isl.Set.universe(union.get_space())
    for valid in _halves(union):
        if not hull.is_subset(valid) and union.is_subset(valid):
            hull = hull.intersect(valid)
    return hull.coalesce() if hull.is_subset(union) else union


def _halves(union: isl.Set) -> Iterator[isl.Set]:
    """For each constraint of a union's pieces, quotients' definitions aside, all that it allows; none twice."""
    seen: dict[int, list[isl.Set]] = {}
    for piece in union.get_basic_sets():
        for constraint in piece.get_constraints():
            if constraint.is_div_constraint():
                continue
            half = isl.Set.from_basic_set(isl.BasicSet.from_constraint(constraint))
            alike = seen.setdefault(hash(half), [])
            if not any(half.plain_is_equal(other) for other in alike):
                alike.append(half)
                yield half


@contextmanager
def operation_limit(operations: int) -> Iterator[None]:
    """Let isl raise an error after that many of its elementary operations (some millions a second); 0: no limit."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def agreeing_pairs(pairs: isl.UnionMap, functions: isl.UnionMap) -> isl.UnionMap:
    """Those pairs whose ends have the same value: ``{ S[i] -> [value] }``. Only for the statements that the pairs are
    between: of hundreds, all pairs of any two would take minutes."""
    first, last = (functions.intersect_domain(ends.universe()) for ends in (pairs.domain(), pairs.range()))
    return pairs.intersect(first.apply_range(last.reverse()))


def total(function: isl.PwAff) -> isl.PwAff:
    """The function without the instances that have it, where one expression says it of all: unrolled loops have many
    sets of instances, and each question would have a piece for any two of them."""
    pieces = function.get_pieces() if function.n_piece() == 1 else ()
    return isl.PwAff.from_aff(pieces[0][1]) if pieces else function


def everywhere(function: isl.UnionPwAff) -> isl.UnionPwAff:
    """The same of functions of several statements."""
    parts, whole = function.get_pw_aff_list(), isl.UnionPwAff.empty(function.get_space())
    for position in range(parts.n_pw_aff()):
        whole = whole.union_add(isl.UnionPwAff.from_pw_aff(total(parts.get_at(position))))
    return whole


def joined(members: Sequence[isl.UnionPwAff]) -> isl.MultiUnionPwAff:
    """One or more functions side by side, as the schedule of a band."""
    result = isl.MultiUnionPwAff.from_union_pw_aff(members[0])
    for member in members[1:]:
        result = result.flat_range_product(isl.MultiUnionPwAff.from_union_pw_aff(member))
    return result


def walk(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """A schedule node and all its descendants, parents first."""
    yield node
    for position in range(node.n_children()):
        yield from walk(node.child(position))


def block_style(tree: str) -> str:
    """A schedule tree as YAML in block style, without the final newline."""
    printer = isl.Printer.to_str(isl.DEFAULT_CONTEXT).set_yaml_style(isl.yaml_style.BLOCK)
    return str(printer.print_schedule(isl.Schedule(tree)).get_str()).rstrip("\n")
