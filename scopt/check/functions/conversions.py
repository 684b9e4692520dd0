"""What expressions need to be translated: their types, constants, and the conversions between them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.check.functions.faults import Fault
from scopt.check.functions.terms import Terms
from scopt.check.functions.values import (
    FLOATING,
    NARROW,
    Element,
    Opaque,
    Pointer,
    Type,
    Value,
    Vector,
    Void,
    Whole,
    bits,
    floating_number,
    is_signed,
    rank,
    spelling,
    whole_number,
)

# Of an address as a polynomial in the loops' variables and lengths: what few values of each are enough to tell apart.
_DEGREE = 2
# The types of integer constants that fit into them.
_SUFFIXES = {
    "": "int",
    "l": "long",
    "u": "unsigned int",
    "ul": "unsigned long",
    "ll": "long long",
    "ull": "unsigned long long",
}


class Signature(Struct, frozen=True):
    """Of a function that may be called. variadic: more arguments, of any type, may follow."""

    parameters: tuple[Type, ...]
    result: Type
    variadic: bool = False


class Conversions(Struct, eq=False):
    """Of the functions of a text.

    terms: constants become terms here. vectors: types, by name. integers: macros that stand for constants. globals:
    objects at file scope.
    functions: that may be called. exact: all integers are known, so that any operation on them is checked; otherwise
    loops and addresses have to be polynomials, of which few values tell all, in sizes that are only tried.
    tables: what the code needs of the terms, by name. constants: its own, computed once. thresholds: numbers that loops
    compare sizes with.
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

    # --- types --------------------------------------------------------------------------------------------------------

    def type(self, n: ir.Node, constant: bool = False) -> Type:
        """Of a declaration or cast; a number's is that of what isn't known."""
        match n:
            case ir.Typename(type=inner):
                return self.type(inner)
            case ir.TypeDecl(type=ir.IdentifierType(names=names)):
                name = spelling(names)
                if name in self.vectors:
                    return self.vectors[name]
                if name == "void":
                    return Void()
                return (
                    Element(name)
                    if name in FLOATING
                    else Opaque(name)
                    if name in ("char", "FILE")
                    else Whole(self.whole(name))
                )
            case ir.PtrDecl(type=ir.TypeDecl(quals=quals) as inner):
                target = self.type(inner)
                if isinstance(target, Opaque | Void):
                    return Opaque(f"{target.name} *" if isinstance(target, Opaque) else "void *")
                assert not isinstance(target, Pointer)
                return Pointer(target, "const" in quals)
        raise Fault(f"a type that isn't understood: {type(n).__name__}")

    def whole(self, name: str) -> str:
        bits(name)
        return name

    def literal(self, n: ir.Constant) -> Value:
        text = n.value
        if n.type == "string":
            return Value(repr(_unescaped(text)), Opaque("char *"), atomic=True)
        if n.type in FLOATING:
            number = floating_number(text)
            return Value(str(self.terms.floating(n.type, number)), Element(n.type), number, atomic=True)
        digits = text.rstrip("uUlL")
        value, name = whole_number(digits), _SUFFIXES.get(text[len(digits) :].lower())
        if value is None or name is None or value >= 1 << bits(name) - is_signed(name):
            raise Fault(f"a constant that isn't understood: {text}")
        return Value(str(value), Whole(name), value, atomic=True)

    def common(self, left: Value, right: Value) -> Whole:
        """The type that C computes in. Raises Fault where it takes a negative value for another."""
        assert isinstance(left.type, Whole)
        assert isinstance(right.type, Whole)
        narrow, wide = sorted((left, right), key=lambda one: rank(one.type.name))  # type: ignore[union-attr]
        assert isinstance(narrow.type, Whole)
        assert isinstance(wide.type, Whole)
        if is_signed(narrow.type.name) != is_signed(wide.type.name):
            is_safe = not is_signed(narrow.type.name) and bits(wide.type.name) > bits(narrow.type.name)
            if not is_safe and (narrow.number is None or narrow.number < 0):
                raise Fault("computes with signed and unsigned integers")
        return wide.type

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

    # --- conversions --------------------------------------------------------------------------------------------------

    def cast(self, target: Type, value: Value) -> Value:
        match target, value.type:
            case Void(), _:
                return replace(value, type=target)
            case Whole(name), Element(own):
                return self.converted(value, Element(name)) if own != "a comparison" else self.converted(value, target)
            case Whole(), Whole() if value.number is not None:
                return replace(value, type=target) if 0 <= value.number < 1 << 31 else self.converted(value, target)
            case Whole(name), Whole(own) if self.exact and name in (f"unsigned {own}", own.removeprefix("unsigned ")):
                # the same bits: gcc and clang wrap around where C leaves that to compilers
                least = -(1 << bits(name) - 1) if is_signed(name) else 0
                return Value(f"((({value.code}) - {least}) % {1 << bits(name)} + {least})", target)
            case Pointer(Vector() as vector, const), Pointer(Element(element), own_const):
                same = element == vector.element or (
                    element not in FLOATING and f"unsigned {element}" == vector.element
                )
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
                made = (
                    self.terms.floating(name, value.number)
                    if name in FLOATING
                    else self.terms.integer(bits(name), int(value.number))
                )
                return Value(str(made), target, value.number, atomic=True)
            case Element(name), Element(own) if own != "a comparison":
                if {name, own} & set(FLOATING):
                    return Value(f"{self.table(f'to {name}', own)}[{value.code},]", target, atomic=True)
                keeps = own in NARROW and bits(name) > bits(own) and is_signed(name) >= is_signed(own)
                if bits(name) == bits(own) or keeps or (own in NARROW and name not in NARROW):
                    return replace(value, type=target)  # the same number, or the same remainder by a power of two
            case Whole(name), Whole(own):
                wider = bits(name) > bits(own) and is_signed(own) <= is_signed(name)
                if wider or (bits(name) == bits(own) and is_signed(name) == is_signed(own)):
                    return replace(value, type=target)
                if value.number is not None and 0 <= value.number < 1 << bits(name) - 1:
                    return replace(value, type=target)
            case Pointer(element, const), Pointer(own_element, own_const) if (
                element == own_element and const >= own_const
            ):
                return replace(value, type=target)
            case Opaque(name), Opaque() if "void *" in (name, value.type.name):
                return replace(value, type=target)
        raise Fault("a conversion that isn't understood")

    def table(self, op: str, ctype: str) -> str:
        """The name of a table of terms in the code."""
        if ctype == "a comparison":
            raise Fault("computes with the result of a comparison")
        if ctype in NARROW:
            raise Fault(f"computes with the type '{ctype}'")
        table = self.terms.table(op, ctype)
        name = f"_table_{sum(1 for known in self.tables if not known.endswith('_of'))}"
        for known, found in self.tables.items():
            if found is table:
                return known
        self.tables[name], self.tables[f"{name}_of"] = table, table.__getitem__
        return name


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
