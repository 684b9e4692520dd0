"""Tables of constants that a region declares (``static const int c[4] = {13, 17, 13, 7};``): they stand in front of it,
as values that nothing changes. So do constant arrays that aren't static: they have the same values every time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import count
from typing import Any

from scopt import ir
from scopt.frontend.normalize.members import Hoisted
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.frontend.syntax.symbols import Symbol, shape_of, symbol_of
from scopt.ir.printing import CPrinter
from scopt.ir.walks import changed, rebuilt, replaced, used_names, walk

_VALUES = (
    ir.InitList,
    ir.NamedInitializer,
    ir.ArrayDesignator,
    ir.FieldDesignator,
    ir.Constant,
    ir.BinaryOp,
    ir.UnaryOp,
    ir.Cast,
    ir.Typename,
    ir.TypeDecl,
    ir.IdentifierType,
)


def with_static_tables(items: Iterable[Any], scope: Mapping[str, Symbol]) -> tuple[Any, ...]:
    """The statements of a region, in which constant arrays of constants are static ones."""

    def change(node: Any) -> Any:
        constant = isinstance(node, ir.Decl) and isinstance(node.init, ir.InitList) and not node.storage
        if not constant or not isinstance(node.type, ir.ArrayDecl) or not shape_of(node, scope).type.const:
            return node
        return changed(node, storage=["static"]) if lists_constants(node.init) else node

    return tuple(rebuilt(item, change) for item in items)


def lists_constants(values: ir.InitList) -> bool:
    """Whether a list has no values but constants."""
    return all(isinstance(one, _VALUES) and not _takes(one) for one in walk(values))


def _takes(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op not in ("-", "+", "~", "!")


def without_tables(
    items: tuple[Any, ...],
    declared: Mapping[str, ir.Decl],
    scope: Mapping[str, Symbol],
    reserved: Collection[str],
) -> tuple[tuple[Any, ...], dict[str, Symbol], tuple[Hoisted, ...]]:
    """The statements, in which each name has one meaning, without such declarations; what stands for these names, and
    the declarations. declared: what the region declares. reserved: names that mustn't be declared in front of it."""
    found = {name: decl for name, decl in declared.items() if _is_table(decl, declared, scope)}
    if not found:
        return items, {}, ()
    symbols: dict[str, Symbol] = {}
    new: dict[str, str] = {}
    tables = []
    for name, decl in found.items():
        taken = {*reserved, *declared, *symbols, *scope}
        new[name] = next(one for k in count(1) if (one := f"{name}_values{'' if k == 1 else k}") not in taken)
        own = renamed_declaration(decl, new[name])
        symbols[new[name]] = symbol_of(own, scope)
        tables.append(Hoisted(symbols[new[name]], f"{CPrinter().visit(own)};"))
    made = set(map(id, found.values()))

    def change(node: Any) -> Any:
        if isinstance(node, ir.ID) and node.name in new:
            return changed(node, name=new[node.name])
        return ir.EmptyStatement() if id(node) in made else node

    return tuple(replaced(item, change) for item in items), symbols, tuple(tables)


def _is_table(decl: ir.Decl, declared: Mapping[str, ir.Decl], scope: Mapping[str, Symbol]) -> bool:
    shape = shape_of(decl, scope)
    plain = list(decl.storage or ()) == ["static"] and decl.init is not None and shape.type.const
    arrays = all(layer.kind == "array" for layer in shape.layers)
    return (
        plain and arrays and not shape.type.volatile and declared.keys().isdisjoint(set(used_names(decl)) - {decl.name})
    )
