"""Variables that hold products of members from in front of a region, as ``int plane = g->nx * g->ny;``, where the
program finds that they still do.

``a[z * plane + y * g->nx + x]`` has cells ``a[z][y][x]`` then, and a loop through all of a plane is one through its
rows. What stands between the declaration and the region may change the members, a function that it calls, say: so the
program compares the variable with the product where the region begins. It does so in `double`, in which no product of
what loops can count wraps around.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.diagnostics import Location, Refusal
from scopt.frontend.model.affine import INT
from scopt.frontend.model.copied_members import with_copied_members
from scopt.frontend.normalize.loops_by_rows import RowLoops
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.named_members import members_of
from scopt.frontend.normalize.outer_products import OuterVariables, in_subscripts, is_plain_member, strides
from scopt.frontend.normalize.tree_rewriting import number
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.structs import Types, reference_of
from scopt.ir.ctypes import Symbol
from scopt.ir.walks import distinct, replaced, same_items, used_names, walk

Key = tuple[str, tuple[str, ...]]

# Larger numbers than that may be rounded products.
_EXACT = 1 << 52


class AskedProducts(Struct, frozen=True, eq=False):
    """tests: variables that tell whether others are products. numbers: what these have to be, and members' names that
    have copies. factors: by variable, the names of what it has to be the product of, whether that is asked or not.
    names: of members."""

    tests: tuple[Hoisted, ...] = ()
    numbers: Mapping[str, Any] = {}
    factors: Mapping[str, tuple[str, ...]] = {}
    names: Mapping[Key, str] = {}

    def named(self, node: Any) -> Any:
        """An expression with names in the place of its members; None if some have none."""
        made = replaced(node, lambda one: self._name(one) or one if is_plain_member(one) else one)
        return None if any(isinstance(one, ir.StructRef) for one in walk(made)) else made

    def _name(self, member: Any) -> ir.ID | None:
        name = self.names.get(_key(member))
        return None if name is None else ir.ID(name, member.coord)


def asked_products(
    members: MemberHoister, facts: FunctionFacts, rows: RowLoops, location: Location
) -> tuple[AskedProducts, tuple[tuple[str, int], ...]]:
    """Put copies in the place of members that have names, and products in that of such variables in subscripts; and
    the lengths of rows, with what they have to be at least. Raises Refusal where loops go by rows of members that have
    no names."""
    copies = with_copied_members(members, facts)
    found = _found(members, facts.function, rows.asked, copies)
    lengths = [(found.named(node), least) for node, least in rows.required] if found is not None else []
    if found is None or any(node is None for node, _ in lengths):
        raise Refusal("affine.variant-bound", "loops go by the rows of members that may change", location)
    return found, tuple((node.name, least) for node, least in lengths)


def _found(
    members: MemberHoister, function: Any, asked: Collection[str], copies: Mapping[str, Any]
) -> AskedProducts | None:
    """asked: variables that have to be products; None if one of these can't be asked about. copies: what stands in the
    place of members' names."""
    outer = OuterVariables(function, members.symbols, members.inside, Types(members.symbols, members.structs))
    used = frozenset(used_names(*members.items))
    held = {name: outer.product(name) for name in sorted({*asked, *used} - members.inside)}
    names = {_key(value): name for name in sorted(used - members.inside) if (value := outer.member(name)) is not None}
    names |= {
        (one.cell.within.name, one.cell.path): one.symbol.name
        for one in members.found
        if one.cell is not None and one.cell.within is not None and one.symbol.type.integer and not one.symbol.pointer
    }
    found = AskedProducts(names=names)
    named = {name: found.named(one) for name, one in held.items() if one is not None and members_of(one)}
    products = {name: one for name, one in named.items() if one is not None}
    if not products.keys() >= set(asked):
        return None
    copied = {name: replaced(one, lambda node: _copied(node, copies)) for name, one in products.items()}
    distances = frozenset(strides(members.items))
    rows = {name: one for name, one in copied.items() if not distances.isdisjoint(used_names(one))}
    before, items = members.items, tuple(in_subscripts(item, rows) for item in members.items)
    if not same_items(items, before):
        members.items = distinct(items)
    left, had = Counter(used_names(*members.items)), Counter(used_names(*before))
    tests = [_test(members, name, one) for name, one in products.items() if name in asked or left[name] < had[name]]
    numbers = {**copies, **{one.symbol.name: number(1) for one in tests}}
    factors = {name: tuple(used_names(one)) for name, one in copied.items()}
    return AskedProducts(tuple(tests), numbers, factors, names)


def _copied(node: Any, copies: Mapping[str, Any]) -> Any:
    return copies.get(node.name, node) if isinstance(node, ir.ID) else node


def _test(members: MemberHoister, name: str, product: Any) -> Hoisted:
    """A variable that tells whether another one is a product."""
    kind = members.symbols[name].type
    factors = list(used_names(product))
    text = f"(double){' * '.join(factors)} == {name}"
    if kind.bits > INT.bits:
        text += f" && {name} < {_EXACT}"
    symbol = Symbol(members.fresh(f"{name}_is_product"), "local", INT, size=INT.bytes)
    members.symbols[symbol.name] = symbol
    return Hoisted(symbol, f"const int {symbol.name} = {text};", reads=frozenset((name, *factors)))


def _key(member: Any) -> Key:
    found = reference_of(member)
    return found.base.name, found.path
