"""Which reductions a transformed region computes in another order than its source: said in a remark, since rounding depends on it."""

from __future__ import annotations

import islpy as isl

from scopt.astgen.loops import items
from scopt.diagnostics import Remark
from scopt.model import Dependences, For, LoopNest, Scop
from scopt.verify import goes_forward, with_dates

_WORDS = {"+": "sum", "*": "product", "min": "minimum", "max": "maximum"}


def reordered(scop: Scop, deps: Dependences, dates: isl.UnionMap, nest: LoopNest) -> tuple[Remark, ...]:
    """A remark that names them; none if all updates happen one after the other, in the order of the source.

    dates: when instances are executed, as far as that is in sequence. nest: as it is printed.
    """
    clauses = {(one.operator, one.array) for item in items(nest.body) if isinstance(item, For) for one in item.mark.reductions}
    for pairs in deps.reductions:
        if not all(goes_forward(joint) for joint in with_dates(pairs.relation, dates, dates)):
            clauses.add((pairs.operator, pairs.array))
    if not clauses:
        return ()
    words = (f"{_WORDS.get(operator, operator)} in '{scop.arrays[array].spelling}'" for operator, array in sorted(clauses))
    return (Remark("passed", "reduction.reordered", f"in another order: {', '.join(words)}", scop.location),)
