"""Which reductions may be computed in another order than that of the source."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree
from scopt.poly.first_best import is_first_best, value_bits
from scopt.poly.reductions import INT_BITS, Update, counts, selected, update_of
from scopt.poly.zero_signs import is_library, never_minus_zero


class Reorder(Enum):
    """Which reductions may be reordered. SAFE: those with the same result, bit for bit; WRAPPING: and signed sums,
    which wrap around; ALL."""

    SAFE = 0
    WRAPPING = 1
    ALL = 2


def updates_of(scop: Scop, reorder: Reorder) -> dict[str, Update]:
    """By the names of the statements, those that accumulate into a cell and may do so in any order."""
    found = ((statement, update_of(scop, statement)) for statement in scop.statements)
    allowed = ((one, _allowed(scop, one, update, reorder)) for one, update in found if update is not None)
    updates = {one.name: update for one, update in allowed if update is not None}
    mixed = {one.array for one in updates.values() if one.best and len(_ways(scop, updates, one.array)) > 1}
    return {name: update for name, update in updates.items() if update.array not in mixed}


def is_best_in_any_order(scop: Scop, statement: Statement) -> bool:
    """Whether a statement gives a cell of floating-point numbers what is better than the cell, and of equal numbers
    there is but one: what is no number is never taken. The cell stays what it was if that was as good; if it was no
    number, it does so too, but for the library's functions, which take the first number."""
    found = selected(statement.body)
    if found is not None:
        return is_first_best(scop, statement) and never_minus_zero(scop, statement, found.value)
    match statement.body:
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList() as both)):
            value = next((one for one in both.exprs if not same_tree(one, cell)), None)
            if value is None or not is_library(scop, name):
                return False
            bits = [value_bits(scop, statement, one) for one in (cell, value)]
            single = name.endswith("f")
            fits = bits[0] == (32 if single else 64) and bits[1] is not None and bits[1] <= bits[0]
            return fits and never_minus_zero(scop, statement, value)
    return False


def takes_a_number(statement: Statement) -> bool:
    """Whether such a statement takes the place of what is no number: fmin and fmax do."""
    return isinstance(statement.body, ir.Assignment) and isinstance(statement.body.rvalue, ir.FuncCall)


def _ways(scop: Scop, updates: Mapping[str, Update], array: str) -> set[bool]:
    """What becomes of a cell that is no number, where statements look for the best in an array."""
    return {takes_a_number(scop.statement(name)) for name, one in updates.items() if one.array == array}


def _allowed(scop: Scop, statement: Statement, update: Update, reorder: Reorder) -> Update | None:
    """The update if its order may change, as far as the user allows it."""
    ctype = scop.arrays[update.array].type
    if reorder == Reorder.ALL:
        return update
    if ctype.floating:
        return replace(update, best=True) if is_best_in_any_order(scop, statement) else None
    # an unsigned type smaller than int is promoted to int, in which a product may overflow
    wraps = not ctype.signed and (ctype.bits >= INT_BITS or update.operator != "*")
    counted = ctype.bits >= INT_BITS and counts(statement.body)
    exact = update.operator not in ("+", "*") or wraps or counted or reorder == Reorder.WRAPPING
    return update if ctype.integer and exact else None
