"""Which reductions a transformed region computes in another order than its source, and which it doesn't though another
order would be faster: said in remarks, since rounding depends on it."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from scopt.astgen.passes.chains import stays
from scopt.diagnostics import Remark
from scopt.ir.nest import Call, For, LoopNest
from scopt.ir.nest_walks import items
from scopt.ir.scop import Dependences, Scop
from scopt.poly.bands import may_be_copied
from scopt.poly.dates import goes_forward, with_dates
from scopt.poly.isl_utils import IN
from scopt.poly.linear import subscript_rows
from scopt.poly.reductions import Update
from scopt.poly.reordering import Reorder, updates_of

_WORDS = {"+": "sum", "*": "product", "min": "minimum", "max": "maximum"}


def reordered(scop: Scop, deps: Dependences, dates: isl.UnionMap, nest: LoopNest) -> tuple[Remark, ...]:
    """A remark that names them; none if all updates happen one after the other, in the order of the source.

    dates: when instances are executed, as far as that is in sequence. nest: as it is printed.
    """
    clauses = {
        (one.operator, one.array) for item in items(nest.body) if isinstance(item, For) for one in item.mark.reductions
    }
    for pairs in deps.reductions:
        if not all(goes_forward(joint) for joint in with_dates(pairs.relation, dates, dates)):
            clauses.add((pairs.operator, pairs.array))
    if not clauses:
        return ()
    return (Remark("passed", "reduction.reordered", f"in another order: {_named(scop, clauses)}", scop.location),)


def kept_in_order(scop: Scop, reorder: Reorder, nest: LoopNest) -> tuple[Remark, ...]:
    """A remark that names the reductions of sequential loops that might be computed in any other order. reorder: which
    ones may be."""
    kept = _kept(scop, reorder)
    found: set[tuple[str, str]] = set()
    for loop in items(nest.body):
        if not isinstance(loop, For) or loop.mark.parallel or loop.mark.simd or loop.mark.jammed:
            continue
        inside = [call for call in loop.body.items if isinstance(call, Call)]
        if len(inside) == len(loop.body.items):
            own = (call for call in inside if call.statement in kept)
            found |= {
                kept[call.statement].reduction
                for call in own
                if stays(scop.statement(call.statement), call, loop.iterator)
                or _is_histogram(scop, kept[call.statement])
            }
    if not found:
        return ()
    sides = ((one, _of(scop, found, integer=one)) for one in (False, True))
    return tuple(_in_order(scop, some, integer=one) for one, some in sides if some)


def _of(scop: Scop, found: Iterable[tuple[str, str]], *, integer: bool) -> set[tuple[str, str]]:
    """The reductions of integers, or the others."""
    return {one for one in found if scop.arrays[one[1]].type.integer == integer}


def _in_order(scop: Scop, found: set[tuple[str, str]], *, integer: bool) -> Remark:
    why = "signed numbers might overflow on the way in another order" if integer else "the result depends on the order"
    hint = (
        "give -fwrapv if the build does, or --reassociate if they don't"
        if integer
        else ("give --reassociate if its last digits don't matter")
    )
    message = f"one after the other, since {why}: {_named(scop, found)}"
    return Remark("analysis", "reduction.in-order", message, scop.location, hint)


def _is_histogram(scop: Scop, update: Update) -> bool:
    """Whether data name the cells, and threads could have copies of all."""
    return may_be_copied(scop.arrays[update.array]) and not update.own[0].relation.is_single_valued()


def reducible(scop: Scop, reorder: Reorder) -> str:
    """Names the reductions over innermost loops that only --reassociate reorders; empty if there are none."""
    found = set()
    for update in _kept(scop, reorder).values():
        rows = subscript_rows(update.own[0].relation)
        last = update.own[0].relation.dim(IN) - 1
        if _is_histogram(scop, update) or (rows is not None and last >= 0 and not any(row[last] for row in rows)):
            found.add(update.reduction)
    return _named(scop, found)


def _kept(scop: Scop, reorder: Reorder) -> dict[str, Update]:
    """By statement, the updates that --reassociate alone would reorder."""
    allowed = updates_of(scop, reorder)
    return {name: update for name, update in updates_of(scop, Reorder.ALL).items() if name not in allowed}


def _named(scop: Scop, reductions: Iterable[tuple[str, str]]) -> str:
    """By operator and array."""
    return ", ".join(
        f"{_WORDS.get(operator, operator)} in '{scop.arrays[array].spelling}'" for operator, array in sorted(reductions)
    )
