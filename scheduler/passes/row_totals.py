"""Totals of rows: what a nest accumulates in a number is accumulated in one of each row's own, where values are also
handed on along rows.

In ``for i for j { h = f(h, above[j]); peak = max(peak, h); }`` the extremum binds all iterations to their order, where
rows could run along diagonals. With ``own = INT_MIN`` in front of each row, and ``peak = max(peak, own)`` behind it, no
row waits for another one's total (privatization of reductions: Rauchwerger and Padua, "The LRPD test", 1995).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.ctypes import UNSIGNED, is_complex
from scopt.ir.scop import CType, Dependences, Scop, Statement
from scopt.poly.body_rewriting import agree
from scopt.poly.first_best import is_first_best
from scopt.poly.reductions import BETTER, Update, update_of
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.passes.private_tables import Counted, with_table
from scopt.scheduler.passes.row_places import alone, searches_for, with_places
from scopt.scheduler.passes.totals import total_around

# Nothing is promoted to these: an extremum is the one that the program would take.
_COMPARED = (32, 64)


class RowTotals(Struct, frozen=True, eq=False):
    """A SCoP with totals of rows, which are the variables with these names."""

    scop: Scop
    names: frozenset[str]


def with_row_totals(scop: Scop, deps: Dependences) -> RowTotals | None:
    """The SCoP with a total for each row of what rows accumulate that hand on other values; None without any.
    deps: with reductions in their order."""
    made, names = scop, set[str]()
    for name in _numbers(scop):
        searches = searches_for(made, name)
        plain = alone(made, searches) if searches else made
        found = _found(plain, name, deps)
        if found is not None:
            counted, own = with_table(plain, found)
            counted = replace(counted, arrays={**counted.arrays, own: replace(counted.arrays[own], private=True)})
            whole = with_places(counted, made, found, searches)
            if whole is not None:
                made, places = whole
                names |= {own, *places}
    return RowTotals(made, frozenset(names)) if names else None


def _numbers(scop: Scop) -> Iterator[str]:
    """The variables that are integers, or floating-point numbers."""
    for array in scop.arrays.values():
        kind = array.type
        plain = not (array.rank or array.within or array.pointer or kind.volatile or kind.atomic or is_complex(kind))
        if plain and ((kind.integer and kind.bits in UNSIGNED) or (kind.floating and kind.bits in _COMPARED)):
            yield array.name


def _found(scop: Scop, name: str, deps: Dependences) -> Counted | None:
    """What rows accumulate in a variable, if they do nothing else with it, and hand on something else."""
    loops, array = source_loops(scop), scop.arrays[name]
    users = [one for one in scop.statements if any(access.array == name for access in one.accesses)]
    updates: Mapping[str, Update | None] = {one.name: update_of(scop, one) for one in users}
    for first in users:
        update, depth = updates[first.name], len(loops[first.name]) - 1
        if update is None or update.array != name or depth < 1 or not _fits(update, array.type):
            continue
        if _hands_on(deps, loops, first, name):
            found = total_around(scop, loops, first, updates, depth)
            exact = found is not None and all(is_first_best(scop, one) for one in found.statements)
            return found if exact or array.type.integer else None
    return None


def _fits(update: Update, kind: CType) -> bool:
    """Whether rows may have their own; an extremum of floating-point numbers is the first one of the best."""
    return (update.operator in BETTER and kind.bits in _COMPARED) or (
        kind.integer and update.operator in ("+", "|", "^")
    )


def _hands_on(deps: Dependences, loops: Mapping[str, Loops], first: Statement, name: str) -> bool:
    """Whether anything else than an accumulated number gets from an iteration of the innermost loop to another one."""
    inside = {one for one, own in loops.items() if own == loops[first.name]}
    flows = (one for one in deps.select("flow") if one.array != name and {one.source, one.sink} <= inside)
    return any(not agree(one.relation, len(loops[first.name])) for one in flows)
