"""Local variables that are one number in all of a region, as `double up = 1.005;`: uses get the number in their place.

Where iterations run side by side, such a variable would be a row of memory, with the same value in all cells: to a
compiler, `up / down` is a division for each of them then (an option's tree took twice as long). Integers in subscripts
and bounds have their values before (`scopt.frontend.normalize.forward_substitution`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from struct import pack, unpack
from typing import Any

from scopt import ir
from scopt.frontend.normalize.dead_definitions import without_dead
from scopt.frontend.syntax.symbols import Symbol, is_value
from scopt.ir.effects import effects
from scopt.ir.small_values import int_literal
from scopt.ir.walks import changed, replaced, walk

_DECIMAL, _REAL = re.compile(r"0|[1-9][0-9]*"), re.compile(r"([0-9]+\.[0-9]*|\.?[0-9]+)([eE][+-]?[0-9]+)?")
# Integers that a float holds; its normal numbers; bits that a double has more than a float.
_EXACT, _LEAST, _MOST, _CUT = 1 << 24, 2.0**-126, 2.0**127, 29


def with_constant_scalars(items: Iterable[Any], symbols: Mapping[str, Symbol]) -> tuple[Any, ...]:
    """The statements of a region, each of whose names has one meaning, with numbers in the place of such variables.
    symbols: what names mean."""
    items = tuple(items)
    heads = {node.init for node in walk(*items) if isinstance(node, ir.For) and isinstance(node.init, ir.DeclList)}
    stepped = {one for head in heads for one in head.decls}
    declared = [node for node in walk(*items) if isinstance(node, ir.Decl) and _is_number(node.init)]
    declared = [one for one in declared if one not in stepped]
    if not declared:
        return items
    done = effects(*items)
    if done.opaque:
        return items
    stay = done.assigned | done.through | done.taken
    found = {one: value for one in declared if one.name not in stay and (value := _value(one, symbols)) is not None}
    if not found:
        return items
    values = {one.name: value for one, value in found.items()}

    def number(node: Any) -> Any:
        return values.get(node.name, node) if isinstance(node, ir.ID) else node

    definitions = {one: str(one.name) for one in found}
    return tuple(without_dead([replaced(item, number) for item in items], definitions, frozenset()))


def _is_number(init: Any) -> bool:
    """Whether a variable begins as a constant, or minus one."""
    return isinstance(_magnitude(init), ir.Constant)


def _magnitude(init: Any) -> Any:
    return init.expr if isinstance(init, ir.UnaryOp) and init.op == "-" else init


def _value(declaration: Any, symbols: Mapping[str, Symbol]) -> Any | None:
    """The number of a variable in its own type; None if a constant of that type isn't surely the same number."""
    symbol = symbols.get(declaration.name)
    if symbol is None or symbol.kind != "local" or not is_value(symbol) or symbol.pointer:
        return None
    init = declaration.init
    constant = _magnitude(init)
    made = _of_type(constant, symbol.type.spelling)
    if made is None or init is constant:
        return made
    # minus 0 is 0 to integers alone
    return None if constant.type == "int" != made.type and int(constant.value) == 0 else changed(init, expr=made)


def _of_type(constant: Any, wanted: str) -> Any | None:
    """A constant as one of another type, with the value that it is converted to."""
    text, suffix = constant.value, "f" if wanted == "float" else ""
    match constant.type, wanted:
        case ("double" | "float" as own, other) if own == other:
            return constant
        case "int", "int":
            return constant if int_literal(constant) is not None else None
        case "int", "double" | "float" if _DECIMAL.fullmatch(text) and int(text) <= _EXACT:
            return ir.Constant(wanted, f"{text}.0{suffix}", constant.coord)
        case "double", "float" if _REAL.fullmatch(text) and _rounds_once(float(text)):
            return ir.Constant(wanted, text + suffix, constant.coord)
    return None


def _rounds_once(value: float) -> bool:
    """Whether a decimal number that is rounded to a double, and then to a float, is what it would be as a float at
    once: the double doesn't lie in the middle between two of them."""
    if value == 0:
        return True
    (bits,) = unpack("<Q", pack("<d", value))
    return _LEAST <= value < _MOST and bits % (1 << _CUT) != 1 << (_CUT - 1)
