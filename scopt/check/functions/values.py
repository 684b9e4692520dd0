"""The types that functions of our own compute with, and what an expression of such a type is in Python."""

from __future__ import annotations

from msgspec import Struct

from scopt.check.functions.faults import Fault

# Integer types by rank, with their bits where a long has 64.
_BITS = {"int": 32, "unsigned int": 32, "long": 64, "unsigned long": 64, "long long": 64, "unsigned long long": 64}
# Those that nothing is computed with: what C would promote them to isn't followed. They are loaded and stored.
NARROW = {"signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16}
_SPELLINGS = {
    "unsigned": "unsigned int",
    "__SIZE_TYPE__": "unsigned long",
    "long int": "long",
    "signed int": "int",
    "signed": "int",
    "unsigned long int": "unsigned long",
    "long long int": "long long",
    "unsigned long long int": "unsigned long long",
}
FLOATING = ("float", "double")
# A function of gcc, from its version 12 on, that returns what it is given.
BARRIER = "__builtin_assoc_barrier"


def spelling(words: list[str]) -> str:
    """One name for each type."""
    name = " ".join(words)
    return _SPELLINGS.get(name, name)


def whole_number(digits: str) -> int | None:
    """The value of an integer constant without its suffix; None if it is none."""
    base = 16 if digits[:2].lower() == "0x" else 8 if digits.startswith("0") else 10
    try:
        return int(digits, base)
    except ValueError:
        return None


def floating_number(text: str) -> float:
    """The value of a constant of one of the floating types."""
    digits = text.rstrip("fF")
    return float.fromhex(digits) if text[:2].lower() == "0x" else float(digits)


def bits(name: str) -> int:
    """Of an integer type. Raises Fault for others."""
    if name not in _BITS and name not in NARROW:
        raise Fault(f"the type '{name}' isn't understood")
    return _BITS[name] if name in _BITS else NARROW[name]


def is_signed(name: str) -> bool:
    return not name.startswith("unsigned")


def rank(name: str) -> int:
    """Raises Fault for types that nothing is computed with."""
    if name in NARROW:
        raise Fault(f"computes with the type '{name}'")
    return list(_BITS).index(name)


def size(name: str) -> int:
    """Bytes of an element's type."""
    return {"float": 4, "double": 8}.get(name) or bits(name) // 8


class Whole(Struct, frozen=True):
    """An integer whose value is known when the function is run."""

    name: str


class Element(Struct, frozen=True):
    """A number of which only the term is known."""

    name: str


class Vector(Struct, frozen=True):
    """name: that the text gives it. bytes: of all its elements."""

    name: str
    element: str
    bytes: int


class Pointer(Struct, frozen=True):
    """Into one of the buffers that the function is given. const: what lies there isn't written."""

    target: Element | Vector | Whole
    const: bool


class Opaque(Struct, frozen=True):
    """What is only passed on, and compared with null: a string, a file, fresh memory."""

    name: str


class Void(Struct, frozen=True):
    pass


Type = Whole | Element | Vector | Pointer | Opaque | Void


class Value(Struct, frozen=True):
    """An expression: code in Python that gives an int, a term, a tuple of terms, or for a pointer the offset in its
    buffer.

    number: of a literal, its value. degree: of an integer, as a polynomial in the function's variables; 0 of constants.
    base: of a pointer, the variable with its buffer. atomic: the code needs no parentheses.
    """

    code: str
    type: Type
    number: int | float | None = None
    degree: int = 0
    base: str = ""
    atomic: bool = False

    @property
    def operand(self) -> str:
        return self.code if self.atomic else f"({self.code})"
