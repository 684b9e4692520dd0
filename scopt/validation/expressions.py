"""Translates C expressions into Python that computes exactly what C says.

Integers that control loops and addresses are ints. Numbers are terms: an operation on them looks up, or makes, the term of its operands in a table.
What C leaves undefined, or converts in silence to something narrower, is a fault; so is all that the functions don't need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from scopt.validation.faults import Fault
from scopt.validation.terms import Terms
from scopt.validation.values import FLOATING, Element, Opaque, Pointer, Type, Value, Vector, Void, Whole, bits, is_signed, rank, spelling

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ARITHMETIC = ("+", "-", "*", "/", "%")
# Of an address as a polynomial in the loops' variables and lengths: what few values of each are enough to tell apart.
_DEGREE = 2
_INT = Whole("int")


@dataclass(frozen=True, slots=True)
class Signature:
    """Of a function that may be called. variadic: more arguments, of any type, may follow."""

    parameters: tuple[Type, ...]
    result: Type
    variadic: bool = False


@dataclass(slots=True, eq=False)
class Expressions:
    """Of the functions of a text.

    terms: constants become terms here. vectors: types, by name. integers: macros that stand for constants. globals: objects at file scope.
    functions: that may be called. exact: all integers are known, so that any operation on them is checked; otherwise loops and addresses have to be
      polynomials, of which few values tell all, in sizes that are only tried.
    tables: what the code needs of the terms, by name. constants: its own, computed once. thresholds: numbers that loops compare sizes with.
    """

    terms: Terms
    vectors: Mapping[str, Vector]
    integers: Mapping[str, int]
    globals: Mapping[str, Value]
    functions: dict[str, Signature]
    exact: bool
    tables: dict[str, object] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    thresholds: set[int] = field(default_factory=set)
    scopes: list[dict[str, Value]] = field(default_factory=list)

    def value(self, n: c_ast.Node) -> Value:
        """Raises Fault if the expression isn't understood."""
        match n:
            case c_ast.Constant():
                return self.literal(n)
            case c_ast.ID(name=name):
                return self.name(name)
            case c_ast.BinaryOp(op=op, left=left, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case c_ast.UnaryOp(op="*", expr=pointer):
                return self.loaded(self.value(pointer))
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=array, subscript=subscript)) if self.exact:
                place = self.sum("+", self.value(array), self.value(subscript))
                return replace(place, code=f"({place.base}, {place.code})", atomic=True)
            case c_ast.UnaryOp(op="-" | "+" as op, expr=inner):
                return self.signed(op, self.value(inner))
            case c_ast.ArrayRef(name=array, subscript=subscript):
                return self.subscripted(self.value(array), self.value(subscript))
            case c_ast.Cast(to_type=target, expr=inner):
                return self.cast(self.type(target), self.value(inner))
            case c_ast.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise):
                return self.chosen(self.value(condition), self.value(then), self.value(otherwise))
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=arguments):
                return self.call(name, list(arguments.exprs) if arguments is not None else [])
            case c_ast.ExprList(exprs=[*unused, last]) if all(isinstance(self.value(one).type, Void) for one in unused):
                return self.value(last)
        raise Fault(f"an expression that isn't understood: {type(n).__name__}")

    # --- types ----------------------------------------------------------------------------------------------------------------------------

    def type(self, n: c_ast.Node, constant: bool = False) -> Type:
        """Of a declaration or cast; a number's is that of what isn't known."""
        match n:
            case c_ast.Typename(type=inner):
                return self.type(inner)
            case c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)):
                name = spelling(names)
                if name in self.vectors:
                    return self.vectors[name]
                if name == "void":
                    return Void()
                return Element(name) if name in FLOATING else Opaque(name) if name in ("char", "FILE") else Whole(self.whole(name))
            case c_ast.PtrDecl(type=c_ast.TypeDecl(quals=quals) as inner):
                target = self.type(inner)
                if isinstance(target, Opaque | Void):
                    return Opaque(f"{target.name} *" if isinstance(target, Opaque) else "void *")
                assert not isinstance(target, Pointer)
                return Pointer(target, "const" in quals)
        raise Fault(f"a type that isn't understood: {type(n).__name__}")

    def whole(self, name: str) -> str:
        bits(name)
        return name

    # --- operands -------------------------------------------------------------------------------------------------------------------------

    def literal(self, n: c_ast.Constant) -> Value:
        text = n.value
        if n.type == "string":
            return Value(repr(_unescaped(text)), Opaque("char *"), atomic=True)
        if n.type in FLOATING:
            number = float.fromhex(text.rstrip("fF")) if text.lower().startswith("0x") else float(text.rstrip("fF"))
            return Value(str(self.terms.floating(n.type, number)), Element(n.type), number, atomic=True)
        digits, suffix = text.rstrip("uUlL"), text.lstrip("0123456789abcdefxABCDEFX").lower()
        if not digits.isdecimal() or (len(digits) > 1 and digits.startswith("0")) or suffix not in ("", "l", "u", "ul", "ll", "ull"):
            raise Fault(f"a constant that isn't understood: {text}")
        name = {"": "int", "l": "long", "u": "unsigned int", "ul": "unsigned long", "ll": "long long", "ull": "unsigned long long"}[suffix]
        if int(digits) >= 1 << bits(name) - is_signed(name):
            raise Fault(f"a constant that isn't understood: {text}")
        return Value(digits, Whole(name), int(digits), atomic=True)

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

    # --- operations -----------------------------------------------------------------------------------------------------------------------

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
                return Value(f"int(bool({left.code}) {'and' if op == '&&' else 'or'} bool({right.code}))", _INT, degree=1, atomic=True)
        raise Fault(f"operands of '{op}' that aren't understood")

    def sum(self, op: str, left: Value, right: Value) -> Value:
        """An address. Only pointers to elements are moved."""
        if op == "+" and isinstance(right.type, Pointer):
            left, right = right, left
        if not (isinstance(left.type, Pointer) and isinstance(left.type.target, Element | Whole) and isinstance(right.type, Whole)):
            raise Fault("an address that isn't understood")
        code = right.code if left.code == "0" and op == "+" else f"{left.code} {op} {right.operand}"
        return Value(code, left.type, degree=self.degree(max(left.degree, right.degree)), base=left.base)

    def integer(self, op: str, left: Value, right: Value) -> Value:
        if op in ("&&", "||"):
            if not self.exact:
                raise Fault(f"'{op}' of values that are only tried")
            return Value(f"int(bool({left.code}) {'and' if op == '&&' else 'or'} bool({right.code}))", _INT, degree=1, atomic=True)
        ctype = self.common(left, right)
        if op in _COMPARISONS:
            if not self.exact and left.type != right.type and left.degree and right.degree:
                raise Fault("compares integers of two types")
            return Value(f"{left.operand} {op} {right.operand}", _INT, degree=self.degree(max(left.degree, right.degree)))
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

    def fitted(self, code: str, ctype: Whole) -> str:
        if not is_signed(ctype.name):
            return f"(({code}) & {(1 << bits(ctype.name)) - 1})"
        return f"_fitting({code}, {bits(ctype.name)})" if self.exact else code

    def degree(self, degree: int) -> int:
        if degree > _DEGREE and not self.exact:
            raise Fault("an address that isn't a polynomial of the second degree")
        return degree

    def constant(self, code: str) -> str:
        """A name for what is computed once."""
        return self.constants.setdefault(code, f"_constant_{len(self.constants)}")

    def common(self, left: Value, right: Value) -> Whole:
        """The type that C computes in. Raises Fault where it takes a negative value for another."""
        assert isinstance(left.type, Whole)
        assert isinstance(right.type, Whole)
        narrow, wide = sorted((left, right), key=lambda one: rank(one.type.name))  # type: ignore[union-attr]
        assert isinstance(narrow.type, Whole)
        assert isinstance(wide.type, Whole)
        if is_signed(narrow.type.name) != is_signed(wide.type.name):
            is_safe = not is_signed(narrow.type.name) and bits(wide.type.name) > bits(narrow.type.name)
            if not is_safe and narrow.number is None:
                raise Fault("computes with signed and unsigned integers")
        return wide.type

    def number(self, op: str, left: Value, right: Value) -> Value:
        """One of numbers that aren't known."""
        name = self.wider(left, right)
        operands = f"{self.converted(left, Element(name)).code}, {self.converted(right, Element(name)).code}"
        if op in _COMPARISONS:
            return Value(f"{self.table(op, name)}[{operands}]", Element("a comparison"), atomic=True)
        if op not in _ARITHMETIC[:4]:
            raise Fault(f"the operator '{op}' isn't understood")
        return Value(f"{self.table(op, name)}[{operands}]", Element(name), atomic=True)

    def wider(self, left: Value, right: Value) -> str:
        """The type that C computes with two numbers in."""
        names = [one.type.name for one in (left, right) if isinstance(one.type, Element)]
        if "a comparison" in names:
            raise Fault("computes with the result of a comparison")
        if len(names) == 1 and names[0] not in FLOATING:
            (whole,) = (one.type.name for one in (left, right) if isinstance(one.type, Whole))
            if rank(whole) > rank(names[0]):
                raise Fault(f"computes with '{names[0]}' and a constant of the type '{whole}'")
        if len(set(names)) == 1:
            return names[0]
        found = next((name for name in reversed(FLOATING) if name in names), None)
        if found is not None:
            return found
        if bits(names[0]) == bits(names[-1]) and is_signed(names[0]) != is_signed(names[-1]):
            return next(name for name in names if not is_signed(name))
        raise Fault(f"computes with '{names[0]}' and '{names[-1]}'")

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
                return replace(inner, code=f"{op}{inner.code}", number=inner.number if op == "+" else -inner.number, atomic=False)
            case Whole() if op == "-":
                return self.integer("-", Value("0", inner.type, 0, atomic=True), inner)
            case Element(name=name):
                return inner if op == "+" else Value(f"{self.table('-', name)}[{inner.code},]", inner.type, atomic=True)
            case Vector(element=element):
                return inner if op == "+" else Value(f"tuple(map({self.table('-', element)}_of, zip({inner.code})))", inner.type, atomic=True)
        raise Fault(f"an operand of '{op}' that isn't understood")

    def chosen(self, condition: Value, then: Value, otherwise: Value) -> Value:
        match condition.type:
            case Element("a comparison") if isinstance(then.type, Element) and isinstance(otherwise.type, Element):
                name = self.wider(then, otherwise)
                operands = f"{self.converted(then, Element(name)).code}, {self.converted(otherwise, Element(name)).code}"
                return Value(f"{self.table('?', name)}[{condition.code}, {operands}]", Element(name), atomic=True)
            case Whole() | Opaque() if self.exact:
                if isinstance(then.type, Whole) and isinstance(otherwise.type, Whole):
                    ctype: Type = self.common(then, otherwise)
                elif then.type == otherwise.type and isinstance(then.type, Opaque):
                    ctype = then.type
                else:
                    raise Fault("a choice of values of two types")
                degree = max(1, then.degree, otherwise.degree)
                return Value(f"{then.operand} if {condition.operand} else {otherwise.operand}", ctype, degree=degree)
        raise Fault("a choice that isn't understood")

    def call(self, name: str, arguments: list[c_ast.Node]) -> Value:
        values = [self.value(one) for one in arguments]
        if name == "__builtin_shufflevector" and len(values) > 2:
            vector, lanes = values[0].type, [one.number for one in values[2:]]
            if not isinstance(vector, Vector) or values[1].type != vector or None in lanes:
                raise Fault("a shuffle that isn't understood")
            return Value(f"_shuffled({values[0].code}, {values[1].code}, {tuple(lanes)})", vector, atomic=True)
        signature = self.functions.get(name)
        if signature is None:
            raise Fault(f"the function '{name}' isn't declared")
        fixed = len(signature.parameters)
        if len(values) < fixed or (len(values) > fixed and not signature.variadic):
            raise Fault(f"'{name}' is given {len(values)} arguments")
        given = [self.converted(one, ctype).code for one, ctype in zip(values, signature.parameters, strict=False)]
        given += [one.code for one in values[fixed:]]
        return Value(f"{name}({', '.join(given)})", signature.result, degree=1, atomic=True)

    # --- conversions ----------------------------------------------------------------------------------------------------------------------

    def cast(self, target: Type, value: Value) -> Value:
        match target, value.type:
            case Void(), _:
                return replace(value, type=target)
            case Whole(name), Element(own):
                return self.converted(value, Element(name)) if own != "a comparison" else self.converted(value, target)
            case Whole(), Whole() if value.number is not None:
                return replace(value, type=target) if 0 <= value.number < 1 << 31 else self.converted(value, target)
            case Pointer(Vector() as vector, const), Pointer(Element(element), own_const):
                same = element == vector.element or (element not in FLOATING and f"unsigned {element}" == vector.element)
                if not same:
                    raise Fault(f"takes elements '{element}' for '{vector.element}'")
                return replace(value, type=Pointer(vector, const or own_const))
        return self.converted(value, target)

    def converted(self, value: Value, target: Type) -> Value:
        """The value as what it is assigned to, in silence. Raises Fault where that could change it."""
        if value.type == target:
            return value
        match target, value.type:
            case Element(name), Whole():
                if value.number is None:
                    raise Fault("an integer becomes a number")
                made = self.terms.floating(name, value.number) if name in FLOATING else self.terms.integer(bits(name), int(value.number))
                return Value(str(made), target, value.number, atomic=True)
            case Element(name), Element(own) if own != "a comparison":
                if {name, own} & set(FLOATING):
                    return Value(f"{self.table(f'to {name}', own)}[{value.code},]", target, atomic=True)
                if bits(name) == bits(own):
                    return replace(value, type=target)
            case Whole(name), Whole(own):
                wider = bits(name) > bits(own) and is_signed(own) <= is_signed(name)
                if wider or (bits(name) == bits(own) and is_signed(name) == is_signed(own)):
                    return replace(value, type=target)
                if value.number is not None and 0 <= value.number < 1 << bits(name) - 1:
                    return replace(value, type=target)
            case Pointer(element, const), Pointer(own_element, own_const) if element == own_element and const >= own_const:
                return replace(value, type=target)
            case Opaque(name), Opaque() if "void *" in (name, value.type.name):
                return replace(value, type=target)
        raise Fault("a conversion that isn't understood")

    def table(self, op: str, ctype: str) -> str:
        """The name of a table of terms in the code."""
        if ctype == "a comparison":
            raise Fault("computes with the result of a comparison")
        table = self.terms.table(op, ctype)
        name = f"_table_{sum(1 for known in self.tables if not known.endswith('_of'))}"
        for known, found in self.tables.items():
            if found is table:
                return known
        self.tables[name], self.tables[f"{name}_of"] = table, table.__getitem__
        return name


def numbers(n: c_ast.Node) -> Iterator[int]:
    """The integers that stand in an expression."""
    if isinstance(n, c_ast.Constant) and n.type.endswith("int"):
        yield int(n.value.rstrip("uUlL"))
    for _, child in n.children():
        yield from numbers(child)


def _unescaped(text: str) -> str:
    """The value of a string without other escapes than of quotes, backslashes and ends of lines."""
    out, escaped = [], False
    for character in text[1:-1]:
        if escaped:
            if character not in 'n"\\':
                raise Fault(f"a string that isn't understood: {text}")
            out.append("\n" if character == "n" else character)
        elif character != "\\":
            out.append(character)
        escaped = character == "\\" and not escaped
    return "".join(out)
