"""The statements of a region without pointers that they set, and with names for what they reach through others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from scopt.frontend.extraction.isl_words import ISL_WORDS
from scopt.frontend.model.chosen_pointers import with_chosen_pointers
from scopt.frontend.model.fixed_cells import named_cells
from scopt.frontend.model.local_pointers import LocalPointers, without_local_pointers
from scopt.frontend.model.pointers import PointerSums
from scopt.frontend.model.row_pointers import with_rows
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.formulas import formula_of
from scopt.frontend.normalize.forward_substitution import LocalNames, substituted_locals
from scopt.frontend.normalize.inlining import written_choices
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.picked_rows import with_picked_rows
from scopt.frontend.normalize.pointer_casts import hoist_casts
from scopt.frontend.normalize.pointer_cells import hoist_pointers
from scopt.frontend.syntax.liveness import may_be_read_after
from scopt.frontend.syntax.reads_before import pointers_read_before
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import Symbol, ctype_of, facts_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.scop import CType
from scopt.ir.walks import distinct, rebuilt


def named_members(
    tu: TranslationUnit,
    region: Region,
    members: MemberHoister,
    given: Callable[[], LocalNames],
    iterators: Collection[str],
    *,
    changed: bool,
) -> tuple[Hoisted, ...]:
    """Name the members of structures, pointers of another type and cells that a region leaves as they are; its
    statements are changed in place. given: what forward substitution asks for then. changed: it may find more than it
    did before, whatever gets a name."""
    plain_pointers = partial(with_plain_pointers, tu, region, members.symbols)
    found = hoist_pointers(members)
    _take_rows(tu, members.symbols, found)
    casts = hoist_casts(members)
    if found or casts:
        members.items = distinct(plain_pointers(members.items))
    read_before = pointers_read_before(facts_of(tu, region.function), region)
    cells, behind = named_cells(members, len(found), read_before, plain_pointers, given)
    if not cells and (found or changed):  # what is computed from members is computed from names
        members.items = substituted_locals(members.items, given())
    if found:
        members.items = written_choices(members.items, tu, region, members.symbols, iterators)
    _take_rows(tu, members.symbols, behind)
    return (*found, *casts, *cells, *behind)


def _take_rows(tu: TranslationUnit, symbols: dict[str, Symbol], hoisted: Iterable[Hoisted]) -> None:
    """Take new names that point to pointers to numbers for arrays of rows."""
    if tu.strict_aliasing:
        symbols |= with_rows(symbols, [one.symbol.name for one in hoisted])


def with_plain_pointers(
    tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol], items: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The statements without pointers that they set, and with subscripts in the place of pointer arithmetic."""
    facts, sums = facts_of(tu, region.function), PointerSums(symbols, tu.long_type)
    formulas = _value_functions(tu, symbols, formulas=True)
    items = without_local_pointers(
        items, sums, tu.structs, lambda name: may_be_read_after(facts, region, name), formulas
    )
    return tuple(rebuilt(item, sums.subscripted) for item in items)


def with_plain_choices(
    tu: TranslationUnit, region: Region, items: tuple[Any, ...], types: ExpressionTypes, inside: Collection[str]
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """The statements without pointers that are one of several, or lead to rows that data pick, and new variables."""
    scope = dict(types.scope)
    facts, sums = facts_of(tu, region.function), PointerSums(scope, tu.long_type)
    pointers = LocalPointers(sums, Types(scope, tu.structs), lambda name: may_be_read_after(facts, region, name))
    formulas, others = (_value_functions(tu, scope, formulas=formulas) for formulas in (True, False))
    reserved, types = tu.reserved | ISL_WORDS, replace(types, scope=scope)
    items, chosen = with_chosen_pointers(items, pointers, types, reserved, formulas | others)
    items, picked = with_picked_rows(items, scope, types, {*inside, *chosen}, reserved, others)
    return items, {**chosen, **picked}


def _value_functions(tu: TranslationUnit, symbols: Mapping[str, Symbol], *, formulas: bool) -> dict[str, CType]:
    """The functions of the file that only compute an integer from values, with its type. formulas: those that are one
    expression of their parameters, or all others."""
    found = {}
    for name, function in tu.functions.items():
        if tu.pure_functions.get(name) == "const" and formulas == (formula_of(function) is not None):
            ctype = ctype_of(function.decl.type.type, symbols)
            if ctype is not None and ctype.integer and ctype.bits:
                found[name] = ctype
    return found
