"""How long loops are, as far as parameters say."""

from __future__ import annotations

import islpy as isl

from scopt.poly.isl_utils import SET, constant_pw_aff


def long_loops(domain: isl.Set, depth: int, needed: int, shortest: int = 0) -> isl.Set:
    """The parameters for which the loops from a depth on have so many iterations together; those of unknown length are
    taken to be as long as each other. shortest: or one may have no more than that, if others are longer by as much."""
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
    each = max(round(needed ** (1 / len(lengths)) + 0.5), 1)
    if not 0 < shortest < each:
        return _at_least(domain.params(), lengths, each)
    total = lengths[0]
    for size in lengths[1:]:
        total = total.add(size)
    return _at_least(_at_least(domain.params(), lengths, shortest), [total], each * len(lengths))


def _at_least(params: isl.Set, lengths: list[isl.PwAff], each: int) -> isl.Set:
    for size in lengths:
        params = params.intersect(size.add(constant_pw_aff(-each)).nonneg_set())
    return params
