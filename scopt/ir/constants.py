"""Integer constant expressions, evaluated with C's types, conversions and truncating division."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scopt import ir
from scopt.ir.ctypes import Shape, Symbol, shape_of
from scopt.ir.scop import CType

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uU]?)(ll|LL|[lL]?)([uU]?)\Z")
_SIMPLE_ESCAPES = {
    "n": 10,
    "t": 9,
    "r": 13,
    "a": 7,
    "b": 8,
    "f": 12,
    "v": 11,
    "e": 27,
    "\\": 92,
    "'": 39,
    '"': 34,
    "?": 63,
}
# What an enumerator may be before the enumeration ends, and an enumeration may be as a whole.
_OF_ENUMS = ("int", "unsigned int", "long", "unsigned long")
Typed = tuple[int, CType]


def constant_value(expr: Any, scope: Mapping[str, Symbol]) -> int | None:
    """The value of an integer constant expression; None if it is none, or its evaluation is undefined in C."""
    constant = typed_constant(expr, scope)
    return constant[0] if constant is not None else None


def typed_constant(expr: Any, scope: Mapping[str, Symbol]) -> Typed | None:
    """Value and type of an integer constant expression, else None."""
    match expr:
        case ir.Constant():
            return _literal(expr, scope)
        case ir.ID():
            symbol = scope.get(expr.name)
            return (symbol.value, symbol.type) if symbol is not None and symbol.value is not None else None
        case ir.Cast():
            operand, target = typed_constant(expr.expr, scope), shape_of(expr.to_type, scope)
            if operand is None or target.layers or not target.type.integer:
                return None
            return _converted(operand[0], target.type), target.type
        case ir.UnaryOp():
            return _unary(expr, scope)
        case ir.BinaryOp():
            return _binary(expr, scope)
        case ir.TernaryOp():
            condition = typed_constant(expr.cond, scope)
            if condition is None:
                return None
            chosen = typed_constant(expr.iftrue if condition[0] else expr.iffalse, scope)
            other = typed_constant(expr.iffalse if condition[0] else expr.iftrue, scope)
            if chosen is None or other is None:
                return None
            common = usual_conversion(chosen[1], other[1], scope)
            return _converted(chosen[0], common), common
    return None


def _literal(node: Any, scope: Mapping[str, Symbol]) -> Typed | None:
    if node.type == "char" and node.value.startswith("'"):
        value = _character(node.value[1:-1])
        if value is None:
            return None
        char = scope["char"].type
        return _converted(value, char), scope["int"].type
    match = _INTEGER.match(node.value)
    if match is None:
        return None
    digits, first_u, longs, second_u = match.groups()
    digits = digits.replace("'", "")
    octal = digits.startswith("0") and digits.isdigit()
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        return None
    unsigned = bool(first_u or second_u)
    decimal = not octal and digits.isdigit()
    widths = {0: ("int", "long", "long long"), 1: ("long", "long long"), 2: ("long long",)}[len(longs)]
    for width in widths:
        for spelling in (f"unsigned {width}",) if unsigned else (width,) if decimal else (width, f"unsigned {width}"):
            ctype = scope[spelling].type
            if _fits(value, ctype):
                return value, ctype
    return None


def _character(text: str) -> int | None:
    """The value of a character constant with one character; None for others."""
    if len(text) == 1:
        return ord(text) if text != "\\" else None
    if not text.startswith("\\"):
        return None
    if text[1] in _SIMPLE_ESCAPES and len(text) == 2:
        return _SIMPLE_ESCAPES[text[1]]
    if re.fullmatch(r"\\[0-7]{1,3}", text):
        return int(text[1:], 8)
    return int(text[2:], 16) if re.fullmatch(r"\\x[0-9a-fA-F]{1,2}", text) else None


def _unary(expr: Any, scope: Mapping[str, Symbol]) -> Typed | None:
    if expr.op == "sizeof":
        size = _size_of(expr.expr, scope)
        if size is None:
            return None
        unsigned = "unsigned long" if scope["unsigned long"].size == scope["void *"].size else "unsigned long long"
        return size, scope[unsigned if scope["int"].size < scope["void *"].size else "unsigned int"].type
    operand = typed_constant(expr.expr, scope)
    if operand is None:
        return None
    if expr.op == "!":
        return int(not operand[0]), scope["int"].type
    promoted = promotion(operand[1], scope)
    match expr.op:
        case "-":
            return _result(-operand[0], promoted)
        case "+":
            return operand[0], promoted
        case "~":
            return _result(~operand[0], promoted)
    return None


def _binary(expr: Any, scope: Mapping[str, Symbol]) -> Typed | None:
    left = typed_constant(expr.left, scope)
    if left is not None and expr.op in ("&&", "||") and bool(left[0]) == (expr.op == "||"):
        return int(bool(left[0])), scope["int"].type
    right = typed_constant(expr.right, scope)
    if left is None or right is None:
        return None
    if expr.op in ("&&", "||"):
        return int(bool(right[0])), scope["int"].type
    if expr.op in ("<<", ">>"):
        ctype = promotion(left[1], scope)
        if not 0 <= right[0] < ctype.bits or (expr.op == "<<" and left[0] < 0):
            return None
        return _result(left[0] << right[0] if expr.op == "<<" else left[0] >> right[0], ctype)
    common = usual_conversion(left[1], right[1], scope)
    a, b = _converted(left[0], common), _converted(right[0], common)
    comparisons = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    if expr.op in comparisons:
        return int(comparisons[expr.op]), scope["int"].type
    if expr.op in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        in_range = _result(quotient, common)
        return in_range if in_range is None or expr.op == "/" else (a - b * quotient, common)
    values = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    return _result(values[expr.op], common) if expr.op in values else None


def promotion(ctype: CType, scope: Mapping[str, Symbol]) -> CType:
    """The integer promotions."""
    integer = scope["int"].type
    if ctype.bits < integer.bits or (ctype.bits == integer.bits and ctype.signed):
        return integer
    return ctype if ctype.bits != integer.bits else scope["unsigned int"].type


def usual_conversion(a: CType, b: CType, scope: Mapping[str, Symbol]) -> CType:
    """The common type of two integer operands."""
    a, b = promotion(a, scope), promotion(b, scope)
    if a.bits == b.bits:
        return b if a.signed else a
    return a if a.bits > b.bits else b


def _fits(value: int, ctype: CType) -> bool:
    low = -(1 << (ctype.bits - 1)) if ctype.signed else 0
    return low <= value < 1 << (ctype.bits - 1 if ctype.signed else ctype.bits)


def _converted(value: int, ctype: CType) -> int:
    if ctype.spelling == "_Bool" or ctype.bits == 1:
        return int(value != 0)
    value &= (1 << ctype.bits) - 1
    return value - (1 << ctype.bits) if ctype.signed and value >> (ctype.bits - 1) else value


def _result(value: int, ctype: CType) -> Typed | None:
    """An arithmetic result: unsigned wraps, signed overflow is undefined."""
    if ctype.signed:
        return (value, ctype) if _fits(value, ctype) else None
    return _converted(value, ctype), ctype


def _size_of(node: Any, scope: Mapping[str, Symbol]) -> int | None:
    """Bytes of a type name or of a named object."""
    if isinstance(node, ir.Typename):
        return _size(shape_of(node, scope), scope)
    if (
        isinstance(node, ir.ID)
        and (symbol := scope.get(node.name)) is not None
        and symbol.kind in ("local", "global", "parameter")
    ):
        if symbol.kind == "parameter" and symbol.pointer:
            return scope["void *"].size
        whole = (
            shape_of(symbol.decl, scope) if symbol.decl is not None else Shape(symbol.layers, symbol.type, symbol.size)
        )
        return _size(whole, scope)
    return None


def _size(shape: Shape, scope: Mapping[str, Symbol]) -> int | None:
    total = 1
    for layer in shape.layers:
        if layer.kind == "pointer":
            return total * scope["void *"].size
        extent = constant_value(layer.dim, scope) if layer.dim is not None else None
        if layer.kind == "function" or extent is None:
            return None
        total *= extent
    return total * shape.size or None


def enum_constants(node: Any, scope: Mapping[str, Symbol]) -> dict[str, int]:
    """The enumerators of an enum with a body. Those that can't be evaluated,
    and the ones that count on from them, are left out."""
    values: dict[str, int] = {}
    known: dict[str, Symbol] = dict(scope)
    following: int | None = 0
    for enumerator in node.values.enumerators if node.values is not None else ():
        if not isinstance(enumerator, ir.Enumerator):
            continue
        value = following if enumerator.value is None else constant_value(enumerator.value, known)
        if value is not None:
            values[enumerator.name] = value
            ctype = next((one for one in (scope[name].type for name in _OF_ENUMS) if _fits(value, one)), None)
            known[enumerator.name] = Symbol(enumerator.name, "enum-constant", ctype or scope["int"].type, value=value)
        following = None if value is None else value + 1
    return values


def enum_type(node: Any, scope: Mapping[str, Symbol]) -> CType:
    """The integer type of an enum as gcc and clang choose it: unsigned unless a constant is negative.
    Unknown without a body."""
    values = enum_constants(node, scope) if node.values is not None else {}
    spelling = f"enum {node.name}" if node.name else "enum"
    listed = [e for e in node.values.enumerators if isinstance(e, ir.Enumerator)] if node.values is not None else []
    if not listed or len(values) < len(listed):
        return CType(spelling)
    negative = min(values.values()) < 0
    for width in ("int", "long"):
        base = scope[width if negative else f"unsigned {width}"].type
        if all(_fits(value, base) for value in values.values()):
            return CType(spelling, integer=True, signed=negative, bits=base.bits)
    return CType(spelling)


def enumerator_types(node: Any, scope: Mapping[str, Symbol]) -> dict[str, CType]:
    """The types that the enumerators of an enum with a body have behind it: int, where one of them holds them all. As
    gcc and clang have it, larger ones are of the enum's type; those beside them are ints, or of that type in C23: what
    isn't an integer here isn't told."""
    values, integer = enum_constants(node, scope), scope["int"].type
    fitting = {name for name, value in values.items() if _fits(value, integer)}
    if len(fitting) == len(values):
        return dict.fromkeys(values, integer)
    whole = enum_type(node, scope)
    bases = (scope[name].type for name in _OF_ENUMS)
    large = next((one for one in bases if (one.signed, one.bits) == (whole.signed, whole.bits)), CType(whole.spelling))
    return {name: CType(whole.spelling) if name in fitting else large for name in values}
