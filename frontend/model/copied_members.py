"""Members whose copies a region uses beside them: ``int nx = m->nx; … for (i < nx) a[j * m->nx + i]``, in another type,
too: ``size_t row = m->nx; … a[k + row]``.

Rows are as long as loops over them only where both are known to be the same number. What stands between the copy and
the region may change the member, a function that it calls, say: so the program asks whether both are equal, and the
region has the copy in the member's place.
"""

from __future__ import annotations

from typing import Any

import islpy as isl

from scopt import ir
from scopt.frontend.model.affine import Scope, condition
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.outer_products import OuterVariables, is_plain_member, with_outer_products
from scopt.frontend.normalize.tree_rewriting import cast
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.pointer_values import without_casts
from scopt.frontend.syntax.structs import reference_of
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import targets
from scopt.ir.walks import distinct, replaced, used_names


def with_copied_members(members: MemberHoister, facts: FunctionFacts) -> dict[str, ir.ID]:
    """Put copies in the place of members that have names, and products of these in subscripts; the members' names with
    the copies, which have to be equal where the region begins."""
    loaded = [one for one in members.found if one.cell is not None and one.symbol.type.integer and not one.symbol.dims]
    loaded = [one for one in loaded if not one.symbol.pointer]
    if not loaded or facts.hidden_jumps or facts.entered:
        return {}
    used = set(used_names(*members.items))
    outer = OuterVariables(facts.function, members.symbols, members.inside)
    candidates = [
        (name, symbol) for name, symbol in members.symbols.items() if name in used and _copied(symbol) is not None
    ]
    copies: dict[str, str] = {}
    for one in loaded:
        found = (name for name, symbol in candidates if _is_copy(one, symbol) and outer.fixed(name) is not None)
        copy = next(found, None)
        if copy is not None and one.cell is not None and not _sets(facts.function, one.cell.path[-1]):
            copies[one.symbol.name] = copy
    if copies:
        values = {name: _in_type_of(members.symbols[name], members.symbols[copy]) for name, copy in copies.items()}

        def put(node: Any) -> Any:
            return values[node.name] if isinstance(node, ir.ID) and node.name in values else node

        items = tuple(replaced(item, put) for item in members.items)
        members.items = distinct(with_outer_products(items, facts, members.symbols, members.inside))
    return {name: ir.ID(copy) for name, copy in copies.items()}


def differ(name: str, value: Any, scope: Scope) -> isl.Set:
    """The parameters for which a variable, as a number, is not what it has to be: a constant, or another variable,
    whatever both types are."""
    if not isinstance(value, ir.ID):
        return condition(ir.BinaryOp("!=", ir.ID(name), value), scope)
    for one in (name, value.name):
        scope.lookup(one, value)
    return isl.Set(f"[{name}, {value.name}] -> {{ : {name} != {value.name} }}")


def _copied(symbol: Symbol) -> Any | None:
    """The member of an object, or of what a variable points to, that a variable is initialized with."""
    value = symbol.decl.init if symbol.kind == "local" and isinstance(symbol.decl, ir.Decl) else None
    value = without_casts(value) if symbol.type.integer and not symbol.pointer and not symbol.dims else None
    return value if is_plain_member(value) else None


def _is_copy(one: Hoisted, symbol: Symbol) -> bool:
    """Whether a variable is initialized with a member, in a type that is as wide."""
    found, cell = reference_of(_copied(symbol)), one.cell
    if cell is None or cell.within is None or not isinstance(found.base, ir.ID):
        return False
    wide = symbol.type.bits >= one.symbol.type.bits
    return wide and found.base.name == cell.within.name and found.path == cell.path


def _in_type_of(member: Symbol, copy: Symbol) -> Any:
    """A copy's value in the member's type."""
    same = (copy.type.bits, copy.type.signed) == (member.type.bits, member.type.signed)
    return ir.ID(copy.name) if same else cast(member.type.spelling, ir.ID(copy.name))


def _sets(function: Any, field: str) -> bool:
    """Whether a function sets a member of that name: the copy is one of what was there before, then."""
    return any(isinstance(one, ir.StructRef) and reference_of(one).path[-1:] == (field,) for one in targets(function))
