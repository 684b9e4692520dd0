"""What is computed in one lane, as terms: of the text with vectors, and of the loop that it stands for.

Integers are what they are in the lane's bits; sums of signed numbers that fit are the same in any number of bits, so
that a lane may have more than C's type. Conditions are asked of an oracle, one answer for each comparison of two terms,
so that each side of all choices is seen.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec import Struct, field

from scopt.check.functions.faults import Fault

Term = tuple[object, ...]
_WORD = 0xFFFFFFFF
# Ways through an iteration that are tried.
_MOST = 1000
_SWAPPED = {">": "<", ">=": "<="}


class Undecided(Exception):
    """An answer that is missing."""

    def __init__(self, atom: Term) -> None:
        super().__init__(atom)
        self.atom = atom


class Oracle(Struct):
    """What holds, by comparison."""

    known: dict[Term, bool] = field(default_factory=dict)

    def holds(self, op: str, kind: str, left: Term, right: Term) -> bool:
        """kind: `f`, or how integers that are less than others are compared: `i`, `u`."""
        if op in _SWAPPED:
            op, left, right = _SWAPPED[op], right, left
        if op == "!=":
            return not self.holds("==", kind, left, right)
        if kind != "f" and left[0] == right[0] == "n":
            return _compared(op, kind, left[1], right[1])
        atom = (op, "" if op == "==" and kind != "f" else kind, left, right)
        if atom not in self.known:
            raise Undecided(atom)
        return self.known[atom]


class Ways(Struct):
    """All answers, one after the other."""

    todo: list[Oracle]
    count: int = 0

    @staticmethod
    def of(known: Oracle) -> Ways:
        return Ways([known])

    def __iter__(self) -> Iterator[Oracle]:
        while self.todo:
            self.count += 1
            if self.count > _MOST:
                raise Fault("an iteration with too many conditions")
            yield self.todo.pop()

    def further(self, oracle: Oracle, undecided: Undecided) -> None:
        """Try both answers."""
        self.todo += [Oracle({**oracle.known, undecided.atom: answer}) for answer in (False, True)]


def _compared(op: str, kind: str, left: object, right: object) -> bool:
    assert isinstance(left, int)
    assert isinstance(right, int)
    if kind == "u":
        left, right = left & (1 << 64) - 1, right & (1 << 64) - 1
    return left == right if op == "==" else left < right if op == "<" else left <= right


class LaneTerms(Struct, frozen=True):
    """Terms of lanes of so many bits."""

    bits: int

    def number(self, value: int) -> Term:
        """In the range of signed numbers."""
        value &= (1 << self.bits) - 1
        return ("n", value - (value >> self.bits - 1 << self.bits))

    def floating(self, text: str) -> Term:
        """A constant of the lanes' floating type."""
        single = text.lower().endswith("f")
        if single != (self.bits == 32):
            raise Fault(f"the constant {text} in lanes of {self.bits} bits")
        return self.rounded(float(text.rstrip("fF")))

    def rounded(self, value: float) -> Term:
        return ("fn", struct.unpack("f", struct.pack("f", value))[0].hex() if self.bits == 32 else value.hex())

    def converted(self, a: Term) -> Term:
        """An integer as a floating-point number: of signed ones."""
        if a[0] == "n":
            assert isinstance(a[1], int)
            if abs(a[1]) < 1 << 24:
                return self.rounded(float(a[1]))
        return ("float", a)

    def cut(self, a: Term) -> Term:
        """The low word."""
        if self.bits == 32:
            return a
        if a[0] == "n":
            assert isinstance(a[1], int)
            return self.number(a[1] & _WORD)
        return a if a[0] == "cut" else ("cut", a)

    def binary(self, op: str, kind: str, a: Term, b: Term) -> Term:
        """kind: `f`, `i` or `u`."""
        if kind == "f":
            if op not in "+-*/":
                raise Fault(f"'{op}' of floating-point numbers")
            return (f"f{op}", a, b)
        if op in "&|^":
            return self.logical(op, a, b)
        first, second = a[1], b[1]
        if op in "+-*" and a[0] == b[0] == "n":
            assert isinstance(first, int)
            assert isinstance(second, int)
            return self.number({"+": first + second, "-": first - second, "*": first * second}[op])
        if op in "+-" and b[0] == "n":
            assert isinstance(second, int)
            second = self.number(second if op == "+" else -second)
            return a if second == self.number(0) else ("+", a, second)
        if op in "+-*":
            return (op, a, b)
        if op in ("/", "%"):
            if b[0] != "n" or not isinstance(second, int) or second <= 0 or second & second - 1:
                raise Fault("a division that may fail")
            return (op, kind, a, b)
        if op in ("<<", ">>"):
            if b[0] != "n" or not isinstance(second, int) or not 0 <= second < self.bits:
                raise Fault("a shift that may fail")
            return ("<<", a, b) if op == "<<" else (">>", kind, a, b)
        raise Fault(f"the operator '{op}'")

    def logical(self, op: str, a: Term, b: Term) -> Term:
        none, all_ones = self.number(0), self.number(-1)
        if a[0] == b[0] == "n":
            first, second = a[1], b[1]
            assert isinstance(first, int)
            assert isinstance(second, int)
            return self.number({"&": first & second, "|": first | second, "^": first ^ second}[op])
        for one, other in ((a, b), (b, a)):
            if op == "&" and one == none:
                return none
            if (op, one) in (("&", all_ones), ("|", none), ("^", none)):
                return other
        if op == "&" and a[0] == "bits" and b == self.number((1 << self.bits - 1) - 1):
            return ("bits", ("fabs", a[1]))
        if op == "&" and self.bits > 32 and b == self.number(_WORD):
            return self.cut(a)
        return (op, a, b)

    def negated(self, kind: str, a: Term) -> Term:
        if kind == "f":
            return self.rounded(-float.fromhex(str(a[1]))) if a[0] == "fn" else ("f-", a)
        return self.binary("-", kind, self.number(0), a)

    def inverted(self, a: Term) -> Term:
        if a[0] == "n":
            assert isinstance(a[1], int)
            return self.number(~a[1])
        return ("~", a)
