"""Translates C expressions into Python that computes exactly what C says.

Integers that control loops and addresses are ints. Numbers are terms: an operation on them looks up, or makes, the term
of its operands in a table. What C leaves undefined, or converts in silence to something narrower, is a fault; so is all
that the functions don't need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from scopt import ir
from scopt.check.functions.conversions import Conversions
from scopt.check.functions.faults import Fault
from scopt.check.functions.instructions import ADDED, WIDENED
from scopt.check.functions.values import (
    BARRIER,
    NARROW,
    Element,
    Opaque,
    Pointer,
    Type,
    Value,
    Vector,
    Void,
    Whole,
    is_signed,
    size,
    whole_number,
)
from scopt.ir.walks import walk

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ARITHMETIC = ("+", "-", "*", "/", "%")
_BITWISE = ("&", "|")
_INT = Whole("int")


class Expressions(Conversions, eq=False):
    """Of the functions of a text."""

    def value(self, n: ir.Node) -> Value:
        """Raises Fault if the expression isn't understood."""
        match n:
            case ir.Constant():
                return self.literal(n)
            case ir.ID(name=name):
                return self.name(name)
            case ir.BinaryOp(op=op, left=left, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case ir.UnaryOp(op="*", expr=pointer):
                return self.loaded(self.value(pointer))
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=array, subscript=subscript)) if self.exact:
                place = self.sum("+", self.value(array), self.value(subscript))
                return replace(place, code=f"({place.base}, {place.code})", atomic=True)
            case ir.UnaryOp(op="-" | "+" as op, expr=inner):
                return self.signed(op, self.value(inner))
            case ir.ArrayRef(name=array, subscript=subscript):
                return self.subscripted(self.value(array), self.value(subscript))
            case ir.Cast(to_type=target, expr=inner):
                return self.cast(self.type(target), self.value(inner))
            case ir.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise):
                return self.chosen(self.value(condition), self.value(then), self.value(otherwise))
            case ir.FuncCall(name=ir.ID(name=name), args=arguments):
                return self.call(name, list(arguments.exprs) if arguments is not None else [])
            case ir.ExprList(exprs=[*unused, last]) if all(isinstance(self.value(one).type, Void) for one in unused):
                return self.value(last)
        raise Fault(f"an expression that isn't understood: {type(n).__name__}")

    # --- operands -----------------------------------------------------------------------------------------------------

    def name(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in self.integers:
            return Value(name, _INT, atomic=True)
        if name in self.globals:
            return self.globals[name]
        raise Fault(f"'{name}' isn't declared")

    def loaded(self, place: Value) -> Value:
        """What a pointer leads to."""
        match place.type:
            case Pointer(Vector() as target):
                return Value(f"_read_vector({place.base}, {place.code}, {self.lanes(target)})", target, atomic=True)
            case Pointer(Whole() as target):
                return Value(f"_read({place.base}, {place.code})", target, degree=1, atomic=True)
            case Pointer(target):
                return Value(f"_read({place.base}, {place.code})", target, atomic=True)
        raise Fault("a value that is no pointer is followed")

    def subscripted(self, array: Value, subscript: Value) -> Value:
        if isinstance(array.type, Vector):
            if not isinstance(subscript.type, Whole):
                raise Fault("a lane's number is no integer")
            return Value(f"_read_lane({array.code}, {subscript.code})", Element(array.type.element), atomic=True)
        return self.loaded(self.sum("+", array, subscript))

    def lanes(self, vector: Vector) -> str:
        """Code for how many a vector has."""
        return f"_lanes_{vector.name}"

    # --- operations ---------------------------------------------------------------------------------------------------

    def binary(self, op: str, left: Value, right: Value) -> Value:
        match left.type, right.type:
            case (Pointer(), Whole()) | (Whole(), Pointer()) if op in ("+", "-"):
                return self.sum(op, left, right)
            case Whole(), Whole():
                return self.integer(op, left, right)
            case (Vector() as vector, Vector() | Element() | Whole()) | (Element() | Whole(), Vector() as vector):
                return self.lane_by_lane(op, vector, left, right)
            case (Element(), Element() | Whole()) | (Whole(), Element()):
                return self.number(op, left, right)
            case (Whole() | Opaque(), Whole() | Opaque()) if op in ("&&", "||"):
                return Value(
                    f"int(bool({left.code}) {'and' if op == '&&' else 'or'} bool({right.code}))",
                    _INT,
                    degree=1,
                    atomic=True,
                )
        raise Fault(f"operands of '{op}' that aren't understood")

    def sum(self, op: str, left: Value, right: Value) -> Value:
        """An address. Only pointers to elements are moved."""
        if op == "+" and isinstance(right.type, Pointer):
            left, right = right, left
        if not (
            isinstance(left.type, Pointer)
            and isinstance(left.type.target, Element | Whole)
            and isinstance(right.type, Whole)
        ):
            raise Fault("an address that isn't understood")
        code = right.code if left.code == "0" and op == "+" else f"{left.code} {op} {right.operand}"
        return Value(code, left.type, degree=self.degree(max(left.degree, right.degree)), base=left.base)

    def integer(self, op: str, left: Value, right: Value) -> Value:
        if op in ("&&", "||"):
            if not self.exact:
                raise Fault(f"'{op}' of values that are only tried")
            return Value(
                f"int(bool({left.code}) {'and' if op == '&&' else 'or'} bool({right.code}))",
                _INT,
                degree=1,
                atomic=True,
            )
        ctype = self.common(left, right)
        if op in _COMPARISONS:
            if not self.exact and left.type != right.type and left.degree and right.degree:
                raise Fault("compares integers of two types")
            return Value(
                f"{left.operand} {op} {right.operand}", _INT, degree=self.degree(max(left.degree, right.degree))
            )
        if op in _BITWISE and self.exact:
            # Python's integers have as many equal bits in front as C's: two's complement
            return Value(f"{left.operand} {op} {right.operand}", ctype, degree=1)
        if op not in _ARITHMETIC:
            raise Fault(f"the operator '{op}' isn't understood")
        degree = self.degree(left.degree + right.degree if op == "*" else max(left.degree, right.degree))
        if op in ("/", "%"):
            if degree and not self.exact:
                raise Fault(f"'{op}' of values that are only tried")
            code = f"_{'quotient' if op == '/' else 'remainder'}({left.code}, {right.code})"
            code = self.fitted(code, ctype)
            return Value(self.constant(code) if not degree else code, ctype, degree=degree, atomic=True)
        code = f"{left.operand} {op} {right.operand}"
        if self.exact or not is_signed(ctype.name):
            return Value(self.fitted(code, ctype), ctype, degree=degree, atomic=True)
        return Value(code, ctype, degree=degree)

    def number(self, op: str, left: Value, right: Value) -> Value:
        """One of numbers that aren't known."""
        name = self.wider(left, right)
        operands = f"{self.converted(left, Element(name)).code}, {self.converted(right, Element(name)).code}"
        if op in _COMPARISONS:
            return Value(f"{self.table(op, name)}[{operands}]", Element("a comparison"), atomic=True)
        if op not in _ARITHMETIC[:4]:
            raise Fault(f"the operator '{op}' isn't understood")
        return Value(f"{self.table(op, name)}[{operands}]", Element(name), atomic=True)

    def lane_by_lane(self, op: str, vector: Vector, left: Value, right: Value) -> Value:
        if op not in _ARITHMETIC[:4]:
            raise Fault(f"the operator '{op}' of vectors isn't understood")
        operands = []
        for one in (left, right):
            if one.type == vector:
                operands.append(one.code)
            elif isinstance(one.type, Vector) or (isinstance(one.type, Element) and one.type.name != vector.element):
                raise Fault("computes with vectors of two types")
            else:
                operands.append(f"_repeat({self.converted(one, Element(vector.element)).code})")
        lookup = f"{self.table(op, vector.element)}_of"
        return Value(f"tuple(map({lookup}, zip({', '.join(operands)})))", vector, atomic=True)

    def signed(self, op: str, inner: Value) -> Value:
        match inner.type:
            case Whole() if inner.number is not None:
                return replace(
                    inner, code=f"{op}{inner.code}", number=inner.number if op == "+" else -inner.number, atomic=False
                )
            case Whole() if op == "-":
                return self.integer("-", Value("0", inner.type, 0, atomic=True), inner)
            case Element(name=name):
                return inner if op == "+" else Value(f"{self.table('-', name)}[{inner.code},]", inner.type, atomic=True)
            case Vector(element=element):
                return (
                    inner
                    if op == "+"
                    else Value(f"tuple(map({self.table('-', element)}_of, zip({inner.code})))", inner.type, atomic=True)
                )
        raise Fault(f"an operand of '{op}' that isn't understood")

    def chosen(self, condition: Value, then: Value, otherwise: Value) -> Value:
        match condition.type:
            case Element("a comparison") if isinstance(then.type, Element) and isinstance(otherwise.type, Element):
                name = self.wider(then, otherwise)
                operands = (
                    f"{self.converted(then, Element(name)).code}, {self.converted(otherwise, Element(name)).code}"
                )
                return Value(f"{self.table('?', name)}[{condition.code}, {operands}]", Element(name), atomic=True)
            case Whole() | Opaque() if self.exact:
                if isinstance(then.type, Whole) and isinstance(otherwise.type, Whole):
                    ctype: Type = self.common(then, otherwise)
                elif then.type == otherwise.type and isinstance(then.type, Opaque | Element):
                    ctype = then.type
                else:
                    raise Fault("a choice of values of two types")
                degree = max(1, then.degree, otherwise.degree)
                return Value(f"{then.operand} if {condition.operand} else {otherwise.operand}", ctype, degree=degree)
        raise Fault("a choice that isn't understood")

    def call(self, name: str, arguments: list[ir.Node]) -> Value:
        values = [self.value(one) for one in arguments]
        if name == "__builtin_shufflevector" and len(values) > 2:
            return self.shuffled(values)
        if name == ADDED and len(values) == len(("c", "x", "y")):
            return self.pairs_added(*values)
        if name.startswith(WIDENED) and len(values) == 1:
            return self.widened(values[0], self.vectors.get(name.removeprefix(WIDENED)))
        if name == BARRIER and len(values) == 1:
            return values[0]  # gcc's: nothing is computed
        signature = self.functions.get(name)
        if signature is None:
            raise Fault(f"the function '{name}' isn't declared")
        fixed = len(signature.parameters)
        if len(values) < fixed or (len(values) > fixed and not signature.variadic):
            raise Fault(f"'{name}' is given {len(values)} arguments")
        given = [self.converted(one, ctype).code for one, ctype in zip(values, signature.parameters, strict=False)]
        given += [one.code for one in values[fixed:]]
        return Value(f"{name}({', '.join(given)})", signature.result, degree=1, atomic=True)

    # --- vectors of other lanes ---------------------------------------------------------------------------------------

    def shuffled(self, values: Sequence[Value]) -> Value:
        """Some lanes of two vectors: as many as they have, or twice as many."""
        vector, lanes = values[0].type, [one.number for one in values[2:]]
        if not isinstance(vector, Vector) or values[1].type != vector or None in lanes:
            raise Fault("a shuffle that isn't understood")
        if len(lanes) * size(vector.element) != vector.bytes:
            known = (one for one in self.vectors.values() if one.element == vector.element)
            made = next((one for one in known if len(lanes) * size(one.element) == one.bytes), None)
            if made is None:
                raise Fault("a shuffle to a vector that has no name")
            vector = made
        return Value(f"_shuffled({values[0].code}, {values[1].code}, {tuple(lanes)})", vector, atomic=True)

    def pairs_added(self, cells: Value, pair: Value, others: Value) -> Value:
        """Cells with the products of a pair and those of a vector added."""
        types = cells.type, pair.type, others.type
        if not all(isinstance(one, Vector) for one in types):
            raise Fault("pairs of something else than vectors")
        elements = [one.element for one in types if isinstance(one, Vector)]
        sizes = [one.bytes for one in types if isinstance(one, Vector)]
        if elements != ["unsigned int", "short", "short"] or sizes[1] != size("int") or sizes[2] != sizes[0]:
            raise Fault("pairs that an instruction doesn't multiply")
        tables = self.table("+", elements[0]), self.table("*", elements[0])
        code = ", ".join((cells.code, pair.code, others.code, *tables))
        return Value(f"_pairs_added({code})", cells.type, atomic=True)

    def widened(self, narrow: Value, target: Vector | None) -> Value:
        """Lanes of integers as wider ones with the same values, or with the same remainder by 2³²."""
        own = narrow.type
        if target is None or not isinstance(own, Vector) or own.element not in NARROW:
            raise Fault("a conversion of vectors that isn't understood")
        wider = size(target.element) > size(own.element) and target.element in ("short", "int", "unsigned int")
        if not wider or target.bytes * size(own.element) != own.bytes * size(target.element):
            raise Fault("a conversion of vectors that isn't understood")
        return replace(narrow, type=target)


def numbers(n: ir.Node) -> Iterator[int]:
    """The integers that stand in an expression."""
    for part in walk(n):
        if isinstance(part, ir.Constant) and part.type.endswith("int"):
            yield whole_number(part.value.rstrip("uUlL")) or 0
