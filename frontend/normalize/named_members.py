"""Members whose products variables are declared as, ``int cells = g->nx * g->ny;``, as names for a while: rows are
found by the names that subscripts multiply by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.outer_products import OuterVariables, is_plain_member
from scopt.frontend.syntax.structs import Definitions, Types, reference_of
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.effects import targets
from scopt.ir.walks import replaced, used_names, walk

_Key = tuple[str, tuple[str, ...], tuple[int, ...]]


class NamedMembers(Struct, frozen=True, eq=False):
    """items: statements with names in the place of members. symbols: what names mean, these too. products: what
    variables hold according to their declarations, of such names. members: by name."""

    items: tuple[Any, ...]
    symbols: Mapping[str, Symbol]
    products: Mapping[str, Any] = {}
    members: Mapping[str, Any] = {}

    def unnamed(self, item: Any) -> Any:
        """A statement or expression with the members in the place of their names."""
        if not self.members:
            return item
        return replaced(item, lambda node: self.members.get(node.name, node) if isinstance(node, ir.ID) else node)


def with_named_members(
    items: Iterable[Any],
    symbols: Mapping[str, Symbol],
    function: Any,
    structs: Definitions,
    reserved: Collection[str],
) -> NamedMembers:
    """The statements of a region that way; only members that the region doesn't set. reserved: names that may not be
    new ones."""
    items = tuple(items)
    inside = frozenset(node.name for node in walk(*items) if isinstance(node, ir.Decl))
    outer = OuterVariables(function, symbols, inside, Types(symbols, structs))
    used = dict.fromkeys(used_names(*items))
    found = {name: product for name in used if (product := outer.product(name)) is not None}
    found = {name: product for name, product in found.items() if members_of(product)}
    fields = {reference_of(node).path[-1:] for node in targets(*items)}
    found = {
        name: product
        for name, product in found.items()
        if all(reference_of(one).path[-1:] not in fields and one_base(one) not in inside for one in members_of(product))
    }
    if not found:
        return NamedMembers(items, symbols)
    names: dict[_Key, str] = {}
    members, more = dict[str, Any](), dict[str, Symbol]()
    taken = {*reserved, *symbols, *inside}
    for member in (one for product in found.values() for one in members_of(product)):
        key = _key(member)
        typed = Types(symbols, structs).of(member)
        if key not in names and typed is not None:
            wish = "_".join((key[0], *key[1], "member"))
            while wish in taken or wish in more:
                wish += "_"
            names[key], members[wish], more[wish] = wish, member, Symbol(wish, "local", typed.type)

    def named(node: Any) -> Any:
        name = names.get(_key(node)) if is_plain_member(node) else None
        return node if name is None else ir.ID(name, node.coord)

    copies = {_key(value): name for name in used if (value := outer.member(name)) is not None}
    products = {name: replaced(one, lambda node: _copied(node, copies) or named(node)) for name, one in found.items()}
    return NamedMembers(tuple(replaced(item, named) for item in items), {**symbols, **more}, products, members)


def members_of(product: Any) -> list[Any]:
    """The factors of a product that are members."""
    match product:
        case ir.BinaryOp():
            return [*members_of(product.left), *members_of(product.right)]
        case ir.Cast():
            return members_of(product.expr)
    return [product] if isinstance(product, ir.StructRef) else []


def one_base(member: Any) -> str:
    """The variable that a member is reached by."""
    return str(reference_of(member).base.name)


def _copied(node: Any, copies: Mapping[_Key, str]) -> ir.ID | None:
    """The variable that was initialized with a member, if the statements use one."""
    name = copies.get(_key(node)) if is_plain_member(node) else None
    return None if name is None else ir.ID(name, node.coord)


def _key(member: Any) -> _Key:
    found = reference_of(member)
    return found.base.name, found.path, found.before
