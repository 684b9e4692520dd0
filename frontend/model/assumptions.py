"""What a region takes for granted about its parameters' values, so that C's arithmetic is that of the integers; the
program tests it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl
from msgspec import Struct, field

from scopt.frontend.model.affine import type_range
from scopt.ir.scop import Parameter, Statement
from scopt.poly.isl_utils import PARAM, SET, project_out_params, universe_params

# More alternatives than this make no test that anybody could read.
_MOST_ALTERNATIVES = 2
# A loop that is that long never ends: no program can depend on what comes after it.
_FOREVER = 2**62
_LONG_BITS = 64
# No memory has that many elements; sums of some such numbers still fit into 64 bits.
_MOST_OF_ALL = 2**56


class Assumptions(Struct):
    """Collects what has to hold. values: parameter set. long: unsigned parameters of 64 bits that have to fit into the
    long type too. checks: some of it is what the program itself checks."""

    values: isl.Set = field(default_factory=universe_params)
    long: set[str] = field(default_factory=set)
    checks: bool = False

    def add(self, violation: isl.Set, iterators: Iterable[str], parameters: Iterable[Parameter]) -> bool:
        """Take for granted that no iteration lies in `violation`, a parameter set over iterators and parameters; False
        if that would leave nothing, or no simple condition in 64 bits."""
        parameters = tuple(parameters)
        if violation.intersect(_wide_values(violation, parameters)).is_empty():
            return True
        bad = project_out_params(violation, list(iterators))
        known = typed_values(parameters)
        kept = self.values.intersect(known.subtract(bad)).coalesce()
        if kept.is_empty() or kept.n_basic_set() > _MOST_ALTERNATIVES:
            return False
        tested = kept.gist(known)
        large: tuple[Parameter, ...] = ()
        if not _fits_long(tested):
            # Bounds of sizes that unsigned types of 64 bits can hold, but no memory:
            # smaller ones are as good, and can be tested.
            large = tuple(p for p in parameters if _is_large(p) and violation.find_dim_by_name(PARAM, p.name) >= 0)
            limits = long_values(large) if _one_at_a_time(bad, large) else long_values(large, _MOST_OF_ALL)
            kept, known = kept.intersect(limits), known.intersect(long_values(large))
            tested = kept.gist(known)
        if kept.is_empty() or tested.n_basic_set() > _MOST_ALTERNATIVES or not _fits_long(tested):
            return False
        self.values = kept.coalesce()
        self.long |= {parameter.name for parameter in large}
        return True


def long_values(parameters: Iterable[Parameter], limit: int = 2**63) -> isl.Set:
    """Parameter set where parameters are below a limit, if not told otherwise the long type's."""
    fitting = universe_params()
    for parameter in parameters:
        fitting = fitting.intersect(isl.Set(f"[{parameter.name}] -> {{ : {parameter.name} < {limit} }}"))
    return fitting


def _one_at_a_time(values: isl.Set, parameters: Iterable[Parameter]) -> bool:
    """Whether no constraint of a parameter set has a multiple of a parameter, or two of them: sums of values in the
    long type might leave it."""
    places = [k for parameter in parameters if (k := values.find_dim_by_name(PARAM, parameter.name)) >= 0]
    for part in values.get_basic_sets():
        for constraint in part.get_constraints():
            if sum(abs(constraint.get_coefficient_val(PARAM, k).to_python()) for k in places) > 1:
                return False
    return True


def _is_large(parameter: Parameter) -> bool:
    return not parameter.type.signed and parameter.type.bits >= _LONG_BITS


def typed_values(parameters: Iterable[Parameter]) -> isl.Set:
    """Parameter set of what the parameters' types can hold."""
    known = universe_params()
    for parameter in parameters:
        known = known.intersect(type_range(parameter.name, parameter.type))
    return known


def _wide_values(values: isl.Set, parameters: Iterable[Parameter]) -> isl.Set:
    """Parameter set of what types of 64 bits can hold, which `typed_values` leaves out where they are signed; over the
    names of `values`."""
    signed = {parameter.name for parameter in parameters if parameter.type.signed}
    limits = universe_params()
    for k in range(values.dim(PARAM)):
        name = values.get_dim_name(PARAM, k)
        limits = limits.intersect(
            isl.Set(f"[{name}] -> {{ : {-(2**63)} <= {name} < {2**63 if name in signed else 2**64} }}")
        )
    return limits


def _fits_long(values: isl.Set) -> bool:
    """Whether the constants of a parameter set can be written, and what is added to them to compare."""
    constraints = (constraint for part in values.get_basic_sets() for constraint in part.get_constraints())
    return all(abs(constraint.get_constant_val().to_python()) < _FOREVER for constraint in constraints)


def too_large(parameters: Iterable[Parameter], statements: Sequence[Statement], context: isl.Set) -> tuple[str, ...]:
    """The unsigned parameters of 64 bits that may have values which a signed type of 64 bits can't hold.

    Others can't: some statement would have to be executed forever.
    """
    return tuple(
        parameter.spelling
        for parameter in parameters
        if _is_large(parameter) and not _runs_forever(parameter.name, statements, context)
    )


def _runs_forever(name: str, statements: Sequence[Statement], context: isl.Set) -> bool:
    """Whether a parameter beyond the signed range makes some loop around a
    statement too long to ever end, or changes nothing."""
    large = context.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {2**63} }}"))
    nothing = isl.Set(f"[{name}] -> {{ : {name} <= 0 }}")
    if not all(statement.domain.intersect_params(nothing).is_empty() for statement in statements):
        return not any(_mentions(statement, name) for statement in statements)
    # Read as a signed number it is negative, and as with 0, nothing is executed:
    # right, if nothing was to be executed anyway.
    something = isl.Set.empty(universe_params().get_space())
    for statement in statements:
        something = something.union(statement.domain.params())
    large = large.intersect(something)
    for statement in statements:
        domain = statement.domain.intersect_params(large)
        rank = domain.dim(SET)
        for k in range(rank):
            values = domain.project_out(SET, k + 1, rank - k - 1).project_out(SET, 0, k).reset_tuple_id()
            stretch = isl.Map(f"{{ [l] -> [x] : l <= x <= l + {_FOREVER} }}")
            if large.is_subset(values.params()) and values.lexmin().apply(stretch).is_subset(values):
                return True
    return not any(_mentions(statement, name) for statement in statements)


def summable(parameters: Iterable[Parameter], statements: Sequence[Statement], context: isl.Set) -> isl.Set:
    """Parameter set where signed parameters of 64 bits are small enough for sums, for those that may be large without
    that anybody would notice: not the n of ``i < n`` alone, whose loop would never end, but the n of ``i < m && i <
    n``. Those have a limit below zero as well: nothing may be executed there, but bounds are computed."""
    limits = universe_params()
    for parameter in parameters:
        if parameter.type.signed and parameter.type.bits >= _LONG_BITS:
            large = context.intersect(isl.Set(f"[{parameter.name}] -> {{ : {parameter.name} >= {_MOST_OF_ALL} }}"))
            if any(_mentions(statement, parameter.name) for statement in statements) and not _impossible(
                large, statements
            ):
                least = isl.Set(f"[{parameter.name}] -> {{ : {parameter.name} >= {-_MOST_OF_ALL} }}")
                limits = limits.intersect(long_values((parameter,), _MOST_OF_ALL)).intersect(least)
    return limits


def _impossible(values: isl.Set, statements: Sequence[Statement]) -> bool:
    """Whether for each of some parameters nothing is executed at all, or more iterations than any program can do, or
    cells that no memory has."""
    executed = never = isl.Set.empty(values.get_space())
    for statement in statements:
        domain = statement.domain.intersect_params(values)
        executed = executed.union(domain.params())
        for k in range(domain.dim(SET)):
            never = never.union(_far(domain, k))
        for access in statement.accesses:
            if access.kind == "may-write" or not access.relation.is_single_valued():
                continue
            cells = access.relation.intersect_domain(domain).range()
            for k in range(cells.dim(SET)):
                never = never.union(cells.lower_bound_val(SET, k, isl.Val(_MOST_OF_ALL // 2)).params())
    return values.intersect(executed).is_subset(never)


def _far(domain: isl.Set, k: int) -> isl.Set:
    """Parameter set where an iterator takes values that are as far apart as no loop can get."""
    values = domain.project_out(SET, k + 1, domain.dim(SET) - k - 1).project_out(SET, 0, k).reset_tuple_id()
    return values.apply(isl.Map(f"{{ [x] -> [x + {_MOST_OF_ALL // 2}] }}")).intersect(values).params()


def _mentions(statement: Statement, name: str) -> bool:
    sets = [statement.domain.params(), *(access.relation.params() for access in statement.accesses)]
    return any(part.find_dim_by_name(isl.dim_type.param, name) >= 0 for part in sets)
