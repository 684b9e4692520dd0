"""How long loops are, as far as parameters say."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod

import islpy as isl

from scopt.poly.isl_utils import PARAM, SET, constant_pw_aff


def long_loops(
    domain: isl.Set, depth: int, needed: int, shortest: int = 0, estimates: Mapping[str, int] | None = None
) -> isl.Set:
    """The parameters for which the loops from a depth on have so many iterations together; those of unknown length are
    taken to be as long as each other. shortest: or one may have no more than that, if others are longer by as much.
    estimates: what parameters probably are: loops that are shorter than the others have to be half as long as these
    say, at least; if that leaves out these, which are enough, all are as much shorter than these as they may be."""
    rank, lengths = domain.dim(SET), list[isl.PwAff]()
    for k in range(depth, rank):
        one = domain.project_out(SET, k + 1, rank - k - 1).project_out(SET, 0, k)
        size = one.dim_max(0).sub(one.dim_min(0)).add(constant_pw_aff(1))
        if size.is_cst() and size.n_piece() == 1:
            needed = -(-needed // max(int(size.max_val().to_python()), 1))
        else:
            lengths.append(size)
    if not lengths:
        return domain.params() if needed <= 1 else isl.Set.empty(domain.params().get_space())
    found = _long_loops(domain.params(), list(lengths), needed, shortest, estimates or {})
    known = [_at(size, estimates or {}) for size in lengths]
    if None in known or not at_estimates(found, estimates or {}).is_empty():
        return found
    likely = [one for one in known if one is not None]
    if prod(likely) < needed or min(likely) < 1:
        return found
    share = (needed / prod(likely)) ** (1 / len(likely))
    context = domain.params()
    for size, about in zip(lengths, likely, strict=True):
        context = _at_least(context, [size], ceil(about * share))
    return context


def _long_loops(
    context: isl.Set, lengths: list[isl.PwAff], needed: int, shortest: int, estimates: Mapping[str, int]
) -> isl.Set:
    each = max(round(needed ** (1 / len(lengths)) + 0.5), 1)
    while len(lengths) > 1:
        likely = [(_at(size, estimates), size) for size in lengths]
        found = [(about, k) for k, (about, _) in enumerate(likely) if about is not None and about < each]
        if not found:
            break
        about, k = min(found)
        half = max(about // 2, 1)
        context, needed = _at_least(context, [lengths.pop(k)], half), -(-needed // half)
        each = max(round(needed ** (1 / len(lengths)) + 0.5), 1)
    if not 0 < shortest < each:
        return _at_least(context, lengths, each)
    total = lengths[0]
    for size in lengths[1:]:
        total = total.add(size)
    return _at_least(_at_least(context, lengths, shortest), [total], each * len(lengths))


def at_estimates(context: isl.Set, estimates: Mapping[str, int]) -> isl.Set:
    """Those parameters that are as estimated."""
    for k in range(context.dim(PARAM)):
        name = str(context.get_dim_name(PARAM, k))
        context = context.fix_val(PARAM, k, isl.Val(estimates[name])) if name in estimates else context
    return context


def _at(size: isl.PwAff, estimates: Mapping[str, int]) -> int | None:
    """A length where parameters are as estimated; None if one isn't."""
    for k in range(size.dim(PARAM)):
        if size.involves_dims(PARAM, k, 1) and str(size.get_dim_name(PARAM, k)) not in estimates:
            return None
    values = at_estimates(isl.Set.universe(size.get_space().params()), estimates)
    found = size.intersect_params(values).max_val()
    return int(found.to_python()) if found.is_int() else None


def _at_least(params: isl.Set, lengths: list[isl.PwAff], each: int) -> isl.Set:
    for size in lengths:
        params = params.intersect(size.add(constant_pw_aff(-each)).nonneg_set())
    return params
