"""C expressions to isl: quasi-affine functions and conditions over iterators and parameters, with C's semantics.

While a SCoP is extracted, iterators are isl parameters by their C names, so that every expression is a `isl.PwAff` on a
parameter domain and every condition a parameter set. `Scope.domain` holds what is known where the expression is
evaluated: it proves that a division truncates as a floor division does, or that unsigned arithmetic doesn't wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.formulas import formula_of
from scopt.frontend.syntax.constructs import construct_text
from scopt.ir.scop import CType
from scopt.poly.isl_utils import constant_pw_aff, param_pw_aff, passes, universe_params

# No object has more bytes, and no loop as many iterations.
LARGEST = 1 << 56
INT = CType("int", integer=True, signed=True, bits=32)
UNSIGNED = CType("unsigned int", integer=True, signed=False, bits=32)
LONG = CType("long", integer=True, signed=True, bits=64)
UNSIGNED_LONG = CType("unsigned long", integer=True, signed=False, bits=64)
_COMPARE: Mapping[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}


class NotAffine(Exception):
    """The expression is no quasi-affine function of iterators and parameters. `reason` is a remark id's last part."""

    def __init__(self, reason: str, message: str, node: Any, hint: str = "") -> None:
        super().__init__(message)
        self.reason, self.message, self.node, self.hint = reason, message, node, hint


class Value(Struct, frozen=True):
    """A quasi-affine function on the parameter domain, and the C type that the expression has."""

    aff: isl.PwAff
    type: CType


class Scope(Struct, frozen=True, eq=False):
    """What names mean where an expression stands.

    lookup: name and its node → the integer type of an iterator or parameter, or raises `NotAffine`; constants give a
      `Value`.
    functions: functions of the translation unit that can be inlined in affine expressions, by name.
    domain: parameter set of the iterators' and parameters' values at this place.
    ranges: gives a parameter set, the ranges of the C types of the names met so far.
    constant: value and type of an integer constant expression such as ``sizeof(x)``. assume(violation): takes for
      granted that no iteration is in a parameter set; False if that can't be tested.
    """

    lookup: Callable[[str, Any], CType | Value]
    functions: Mapping[str, ir.FuncDef] = field(default_factory=dict)
    domain: isl.Set = field(default_factory=universe_params)
    ranges: Callable[[], isl.Set] = universe_params
    cast_type: Callable[[Any], CType | None] = lambda node: None
    constant: Callable[[Any], tuple[int, CType] | None] = lambda node: None
    assume: Callable[[isl.Set], bool] = lambda violation: False

    def within(self, condition: isl.Set) -> Scope:
        """The same place, where `condition` is known to hold too."""
        return replace(self, domain=self.domain.intersect(condition))


@lru_cache(maxsize=1 << 12)
def type_range(name: str, ctype: CType) -> isl.Set:
    """Parameter set: the values that a variable of this type can hold;
    the universe for 64 bits, whose limits only slow isl down."""
    if ctype.bits == 0 or (ctype.bits >= 64 and ctype.signed):
        return universe_params()
    low = -(1 << (ctype.bits - 1)) if ctype.signed else 0
    high = (1 << (ctype.bits - 1 if ctype.signed else ctype.bits)) - 1
    return isl.Set(f"[{name}] -> {{ : {low} <= {name} <= {high} }}")


def always(scope: Scope, condition: isl.Set) -> bool:
    """Whether `condition` holds everywhere in the scope's domain."""
    return bool(scope.domain.intersect(scope.ranges()).is_subset(condition))


def assured(scope: Scope, condition: isl.Set) -> bool:
    """Whether `condition` holds everywhere in the scope's domain, or is taken for granted from now on."""
    place = scope.domain.intersect(scope.ranges())
    if place.is_subset(condition):
        return True
    # That a place is never reached is no assumption to make.
    return not place.is_disjoint(condition) and scope.assume(place.subtract(condition))


def affine(node: Any, scope: Scope) -> Value:
    """The value of an integer expression. Raises NotAffine."""
    match node:
        case ir.Constant():
            return _constant(node)
        case ir.ID():
            found = scope.lookup(node.name, node)
            return found if isinstance(found, Value) else Value(param_pw_aff(node.name), found)
        case ir.UnaryOp(op="sizeof" | "_Alignof"):
            return _size(node, scope)
        case ir.UnaryOp(op="~") if (constant := scope.constant(node)) is not None:
            return Value(constant_pw_aff(constant[0]), constant[1])
        case ir.UnaryOp(op="-"):
            value = _promote(affine(node.expr, scope))
            return _checked(Value(value.aff.neg(), value.type), scope, node)
        case ir.UnaryOp(op="+"):
            return _promote(affine(node.expr, scope))
        case ir.UnaryOp(op="!"):
            return _truth(condition(node, scope))
        case ir.BinaryOp(op=op) if op in _COMPARE or op in ("&&", "||"):
            return _truth(condition(node, scope))
        case ir.BinaryOp(op="&" | "^"):
            return _masked(node, scope)
        case ir.BinaryOp():
            return _binary(node, scope)
        case ir.TernaryOp():
            return _ternary(node, scope)
        case ir.Cast():
            return _cast(node, scope)
        case ir.FuncCall():
            return _inlined(node, scope)
        case ir.ArrayRef() | ir.UnaryOp(op="*"):
            raise NotAffine(
                "indirect",
                "the value of an array element is not affine",
                node,
                "use a loop iterator or a parameter here",
            )
        case _:
            raise NotAffine("nonlinear", f"{construct_text(node)} is not affine", node)


def condition(node: Any, scope: Scope) -> isl.Set:
    """The parameter set on which an integer expression is non-zero. Raises NotAffine."""
    match node:
        case ir.BinaryOp(op="&&"):
            left = condition(node.left, scope)
            return left.intersect(condition(node.right, scope.within(left)))
        case ir.BinaryOp(op="||"):
            left = condition(node.left, scope)
            return left.union(condition(node.right, scope.within(left.complement())))
        case ir.UnaryOp(op="!"):
            return condition(node.expr, scope).complement()
        case ir.BinaryOp(op=op) if op in _COMPARE:
            left_value, right_value, _ = _balanced(affine(node.left, scope), affine(node.right, scope), scope, node)
            return _COMPARE[op](left_value, right_value)
        case _:
            return affine(node, scope).aff.ne_set(constant_pw_aff(0))


def _size(node: ir.UnaryOp, scope: Scope) -> Value:
    # That of an array may come from a macro, whose value may be another one when the result is compiled.
    plain = scope.cast_type(node.expr) if isinstance(node.expr, ir.Typename) else None
    found = scope.constant(node) if plain is not None and (plain.integer or plain.floating) else None
    if found is None:
        raise NotAffine("nonlinear", "the size of this is not known", node)
    return Value(constant_pw_aff(found[0]), found[1])


def _constant(node: ir.Constant) -> Value:
    if "int" not in node.type and node.type != "char":
        raise NotAffine("nonlinear", f"'{node.value}' is not an integer", node)
    text = node.value.lower()
    if text.startswith("'"):
        if len(text) != 3:
            raise NotAffine("nonlinear", f"character constant {node.value} in an affine expression", node)
        return Value(constant_pw_aff(ord(node.value[1])), INT)
    digits = text.rstrip("ul")
    suffix, decimal = text[len(digits) :], digits == "0" or not digits.startswith("0")
    base = 10 if decimal else {"0x": 16, "0b": 2}.get(digits[:2], 8)
    value = int(digits, base)
    for ctype in (INT, UNSIGNED, LONG, UNSIGNED_LONG):  # C11, 6.4.4.1
        wide_enough = ctype.bits == LONG.bits or "l" not in suffix
        signs = not ctype.signed if "u" in suffix else ctype.signed or not decimal
        if wide_enough and signs and value < 1 << (ctype.bits - ctype.signed):
            return Value(constant_pw_aff(value), ctype)
    raise NotAffine("nonlinear", f"'{node.value}' has no integer type", node)


def _promote(value: Value) -> Value:
    """The integer promotions: what is narrower than int becomes int."""
    return Value(value.aff, INT) if value.type.bits < 32 else value


def _common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions of two promoted integer types."""
    if left.signed == right.signed:
        return left if left.bits >= right.bits else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    return unsigned if unsigned.bits >= signed.bits else signed


def _balanced(left: Value, right: Value, scope: Scope, node: Any) -> tuple[isl.PwAff, isl.PwAff, CType]:
    """Both operands in their common type; refuses where a negative value would become a large unsigned one."""
    left, right = _promote(left), _promote(right)
    common = _common(left.type, right.type)
    for operand in (left, right):
        if operand.type.signed and not common.signed:
            _checked(Value(operand.aff, common), scope, node)
    return left.aff, right.aff, common


def _checked(value: Value, scope: Scope, node: Any) -> Value:
    """`value`, if unsigned arithmetic provably doesn't wrap there;
    signed overflow is undefined behaviour and needs no check."""
    if value.type.signed:
        return value
    inside = value.aff.ge_set(constant_pw_aff(0))
    if value.type.bits < 64:
        inside = inside.intersect(value.aff.le_set(constant_pw_aff((1 << value.type.bits) - 1)))
    if not assured(scope, inside):
        raise NotAffine(
            "unsigned-wrap",
            "unsigned arithmetic may wrap around here",
            node,
            "use a signed type, or add a bound that rules it out",
        )
    return value


def _binary(node: ir.BinaryOp, scope: Scope) -> Value:
    left, right, common = _balanced(affine(node.left, scope), affine(node.right, scope), scope, node)
    match node.op:
        case "+":
            return _checked(Value(left.add(right), common), scope, node)
        case "-":
            return _checked(Value(left.sub(right), common), scope, node)
        case "*":
            if not (left.is_cst() or right.is_cst()):
                raise NotAffine(
                    "nonlinear", "a product of two variables is not affine", node, "make one factor a constant"
                )
            return _checked(Value(left.mul(right), common), scope, node)
        case "/" | "%":
            return _division(node, left, right, common, scope)
        case "<<" | ">>":
            shift = constant_of(right)
            if shift is None or not 0 <= shift < common.bits:
                raise NotAffine("nonlinear", "a shift by a variable is not affine", node)
            factor = isl.Val(1 << shift)
            if node.op == ">>":
                return Value(left.scale_down_val(factor).floor(), common)
            return _checked(Value(left.scale_val(factor), common), scope, node)
        case _:
            raise NotAffine("nonlinear", f"operator '{node.op}' is not affine", node)


def _masked(node: ir.BinaryOp, scope: Scope) -> Value:
    """The lowest bits of a value, as `x & 7`; the others, as `x & ~7`; one bit, as `x & 2`; the lowest bits inverted,
    as `x ^ 1`. Negative numbers are two's complements."""
    left, right = _promote(affine(node.left, scope)), _promote(affine(node.right, scope))
    common = _common(left.type, right.type)
    mask = constant_of(right.aff)
    value = left if mask is not None else right
    mask = mask if mask is not None else constant_of(left.aff)
    if mask is None:
        raise NotAffine("nonlinear", f"'{node.op}' of two variables is not affine", node)
    if value.type.signed and not common.signed:
        _checked(Value(value.aff, common), scope, node)
    if not common.signed:
        mask %= 1 << common.bits
    others = ~mask if common.signed else ((1 << common.bits) - 1) ^ mask
    lowest = next((bits for bits in (mask, others) if bits >= 0 and not bits & (bits + 1)), None)
    if node.op == "&" and lowest is None and mask > 0 and not mask & (mask - 1):
        return Value(value.aff.mod_val(isl.Val(2 * mask)).sub(value.aff.mod_val(isl.Val(mask))), common)
    if lowest is None or (node.op == "^" and lowest != mask):
        raise NotAffine("nonlinear", f"'{node.op}' with this constant is not affine", node)
    rest = value.aff.mod_val(isl.Val(lowest + 1))
    if node.op == "^":
        return Value(value.aff.sub(rest.scale_val(isl.Val(2))).add(constant_pw_aff(mask)), common)
    return Value(rest if lowest == mask else value.aff.sub(rest), common)


def constant_of(aff: isl.PwAff) -> int | None:
    """The value of a constant function, None if it isn't one: to isl, functions are that have one on each piece."""
    if not aff.is_cst() or aff.is_empty():
        return None
    value = aff.max_val()
    return int(value.to_python()) if value.is_int() and value.eq(aff.min_val()) else None


def _division(node: ir.BinaryOp, left: isl.PwAff, right: isl.PwAff, common: CType, scope: Scope) -> Value:
    """C's division truncates towards zero; it is a floor division where the dividend is not negative."""
    divisor = constant_of(right)
    natural = divisor is None and node.op == "%" and always(scope, left.ge_set(constant_pw_aff(0)))
    if natural and (wrapped := _around(left, right, 2, scope)) is not None:
        return Value(wrapped.coalesce(), common)
    if divisor is None:
        raise NotAffine("nonlinear", f"'{node.op}' by a variable is not affine", node, "divide by a constant")
    if divisor == 0:
        raise NotAffine("nonlinear", "division by zero", node)
    magnitude = isl.Val(abs(divisor))
    nonnegative = left.ge_set(constant_pw_aff(0))
    if always(scope, nonnegative):
        quotient, rest = left.scale_down_val(magnitude).floor(), left.mod_val(magnitude)
    elif always(scope, left.le_set(constant_pw_aff(0))):
        quotient, rest = left.scale_down_val(magnitude).ceil(), left.neg().mod_val(magnitude).neg()
    else:
        quotient, rest = left.tdiv_q(constant_pw_aff(abs(divisor))), left.tdiv_r(constant_pw_aff(abs(divisor)))
    return Value(rest if node.op == "%" else quotient.neg() if divisor < 0 else quotient, common)


def _around(left: isl.PwAff, right: isl.PwAff, times: int, scope: Scope) -> isl.PwAff | None:
    """The remainder of what isn't negative, from which the divisor is taken away so many times at most, once as in
    (i + 1) % n, twice in (i + di + n) % n; None if that may not be enough."""
    inside, beyond = left.lt_set(right), left.sub(right)
    enough = always(scope, beyond.lt_set(right))
    rest = beyond if enough else _around(beyond, right, times - 1, scope) if times > 1 else None
    if rest is None:
        return None
    return left.intersect_domain(inside).union_add(rest.intersect_domain(inside.complement()))


def _truth(where: isl.Set) -> Value:
    """1 on `where`, 0 elsewhere: the value of a comparison."""
    one, zero = constant_pw_aff(1), constant_pw_aff(0)
    return Value(one.intersect_domain(where).union_add(zero.intersect_domain(where.complement())), INT)


def _ternary(node: ir.TernaryOp, scope: Scope) -> Value:
    where = condition(node.cond, scope)
    otherwise = where.complement()
    then = affine(node.iftrue, scope.within(where))
    other = affine(node.iffalse, scope.within(otherwise))
    left, right, common = then.aff, other.aff, _common(_promote(then).type, _promote(other).type)
    for value, place in ((then, where), (other, otherwise)):
        if value.type.signed and not common.signed:
            _checked(Value(value.aff, common), scope.within(place), node)
    return Value(left.intersect_domain(where).union_add(right.intersect_domain(otherwise)).coalesce(), common)


def _cast(node: ir.Cast, scope: Scope) -> Value:
    target = scope.cast_type(node.to_type)
    if target is None or not target.integer or target.bits == 0:
        raise NotAffine("nonlinear", "a cast to something that is no integer type is not affine", node)
    return converted(affine(node.expr, scope), target, scope, node)


def converted(value: Value, target: CType, scope: Scope, node: Any) -> Value:
    """`value` converted to an integer type; refuses where the conversion could change it."""
    source = value.type
    widens = target.bits > source.bits or (target.bits == source.bits and target.signed)
    if (source.signed == target.signed and target.bits >= source.bits) or (
        not source.signed and widens and target.bits > source.bits
    ):
        return Value(value.aff, target)
    low = -(1 << (target.bits - 1)) if target.signed else 0
    high = (1 << (target.bits - 1 if target.signed else target.bits)) - 1
    inside = value.aff.ge_set(constant_pw_aff(low)).intersect(value.aff.le_set(constant_pw_aff(high)))
    if target.signed and target.bits == 64 and not source.signed and not passes(value.aff, high, LARGEST):
        inside = value.aff.ge_set(constant_pw_aff(low))  # half of the unsigned range is enough
    if not assured(scope, inside):
        raise NotAffine(
            "narrowing", f"the conversion to '{target.spelling}' may change the value", node, "use a wider signed type"
        )
    return Value(value.aff, target)


def _inlined(node: ir.FuncCall, scope: Scope) -> Value:
    """A call of a function of this file that only returns an affine expression, such as min or max."""
    name = node.name.name if isinstance(node.name, ir.ID) else ""
    function = scope.functions.get(name)
    body = formula_of(function) if function is not None else None
    if function is None or body is None:
        raise NotAffine("call", f"the call of '{name}' is not affine", node, "use a ternary expression or a macro")
    params = function.decl.type.args.params if function.decl.type.args else []
    args = node.args.exprs if node.args else []
    if len(params) != len(args):
        raise NotAffine("call", f"the call of '{name}' has another number of arguments than its definition", node)
    values: dict[str, Value] = {}
    for param, arg in zip(params, args, strict=True):
        target = scope.cast_type(param)
        if target is None or not target.integer or target.bits == 0:
            raise NotAffine("call", f"a parameter of '{name}' is no integer", node)
        values[param.name] = converted(affine(arg, scope), target, scope, node)

    def lookup(inner: str, where: Any) -> CType | Value:
        if inner not in values:
            raise NotAffine("call", f"'{name}' reads '{inner}', which is not one of its parameters", node)
        return values[inner]

    result = affine(body, replace(scope, lookup=lookup, functions={}))
    returned = scope.cast_type(function.decl.type.type)
    if returned is None or not returned.integer or returned.bits == 0:
        raise NotAffine("call", f"'{name}' returns no integer", node)
    return converted(result, returned, scope, node)
