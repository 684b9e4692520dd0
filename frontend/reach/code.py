"""Straight-line C that computes integers, or gives up: where a result doesn't fit, a divisor isn't positive, or
something that was counted on doesn't hold, the function that it is the body of returns 0."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct, field

from scopt.frontend.reach.sums import Sum, denominator
from scopt.ir.scop import CType

# A test of more lines takes longer than small loops run.
MAX_LINES = 160
# Numbers beyond this are no offsets of memory.
_HUGE = 1 << 60

_FLOAT_BITS = 32

Operand = int | str

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_RESULT = re.compile(
    r"if \(__builtin_\w+_overflow\(.*, &(\w+)\)\) return 0;|if \(!\w+\(.*&(\w+), &(\w+)\)\) return 0;|(\w+) = "
)


class Unbounded(Exception):
    """Nothing simple bounds a value."""


class Code(Struct):
    """type: of all numbers, signed, of 64 bits. taken: names that can't be used. lines: so far. known: the names of
    results, by how they are computed."""

    type: str
    taken: Collection[str]
    lines: list[str] = field(default_factory=list)
    known: dict[tuple[Operand, ...], Operand] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    @contextmanager
    def tried(self) -> Iterator[None]:
        """What is written inside is taken back if `Unbounded` is raised there."""
        lines, known, names = len(self.lines), dict(self.known), len(self.names)
        try:
            yield
        except Unbounded:
            del self.lines[lines:], self.names[names:]
            self.known.clear()
            self.known.update(known)
            raise

    # --- operations ---------------------------------------------------------------------------------------------------

    def plus(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, int) and isinstance(b, int):
            return _small(a + b)
        if 0 in (a, b):
            return b if a == 0 else a
        return self.checked("add", *sorted((a, b), key=str))

    def minus(self, a: Operand, b: Operand) -> Operand:
        if isinstance(b, int):
            return self.plus(a, -b)
        return 0 if a == b else self.checked("sub", a, b)

    def times(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, int) and isinstance(b, int):
            return _small(a * b)
        if 0 in (a, b):
            return 0
        if 1 in (a, b):
            return b if a == 1 else a
        return self.checked("mul", *sorted((a, b), key=str))

    def checked(self, operation: str, a: Operand, b: Operand) -> Operand:
        key = (operation, a, b)
        if key not in self.known:
            made = self.fresh()
            self.line(f"if (__builtin_{operation}_overflow({a}, {b}, &{made})) return 0;")
            self.known[key] = made
        return self.known[key]

    def rounded(self, a: Operand, divisor: int, *, up: bool) -> Operand:
        """A quotient by a positive number."""
        if divisor == 1:
            return a
        if isinstance(a, int):
            return -(-a // divisor) if up else a // divisor
        more = f"+ ({a} % {divisor} > 0)" if up else f"- ({a} % {divisor} < 0)"
        return self.computed(f"{a} / {divisor} {more}")

    def quotient(self, a: Operand, b: Operand) -> Operand:
        """As C rounds it; the divisor has to be positive."""
        self.require_positive(b)
        if isinstance(a, int) and isinstance(b, int):
            return a // b if a >= 0 else -(-a // b)
        return a if b == 1 or a == 0 else self.computed(f"{a} / {b}")

    def extreme(self, a: Operand, b: Operand, *, greatest: bool) -> Operand:
        if a == b:
            return a
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b) if greatest else min(a, b)
        return self.computed(f"{a} {'>' if greatest else '<'} {b} ? {a} : {b}")

    def chosen(self, condition: tuple[Operand, str, int], a: Operand, b: Operand) -> Operand:
        """One of two values: the first if a comparison with a number holds."""
        left, sign, right = condition
        if a == b:
            return a
        if isinstance(left, int):
            return a if (left >= right if sign == ">=" else left <= right) else b
        return self.computed(f"{left} {sign} {right} ? {a} : {b}")

    def require(self, left: Operand, sign: str, right: int) -> None:
        """What has to hold for any of this to be of use. Raises Unbounded where it never does."""
        if isinstance(left, int):
            if not (left >= right if sign == ">=" else left <= right):
                raise Unbounded
            return
        key = ("require", left, sign, right)
        if key not in self.known:
            opposite = "<" if sign == ">=" else ">"
            self.line(f"if ({left} {opposite} {right}) return 0;")
            self.known[key] = 0

    def require_that(self, condition: str) -> None:
        """The same of a condition of names."""
        if ("require", condition) not in self.known:
            self.line(f"if (!({condition})) return 0;")
            self.known["require", condition] = 0

    def require_positive(self, a: Operand) -> None:
        self.require(a, ">=", 1)

    def value(self, a: Sum, *, up: bool) -> Operand:
        """A sum of products of names, rounded up or down."""
        divisor = denominator(a)
        total: Operand = 0
        for monomial in sorted(a, key=lambda one: (-len(one), one)):
            coefficient = int(a[monomial] * divisor)
            term: Operand = 1
            for factor in monomial:
                term = self.times(term, factor)
            if coefficient < 0 and total != 0:
                total = self.minus(total, self.times(term, -coefficient))
            else:
                total = self.plus(total, self.times(term, coefficient))
        return self.rounded(total, divisor, up=up)

    def needed(self, uses: Iterable[str]) -> tuple[list[str], list[str]]:
        """The lines that other lines need, or that may give up on purpose, and the names of their results."""
        words = {word for line in uses for word in _WORD.findall(line)}
        lines: list[str] = []
        for line in reversed(self.lines):
            result = _RESULT.match(line)
            own = {one for one in result.groups() if one} if result is not None else None
            if own is None or own & words:
                lines.append(line)
                words.update(_WORD.findall(line))
        return lines[::-1], [name for name in self.names if name in words]

    # --- text ---------------------------------------------------------------------------------------------------------

    def computed(self, text: str) -> Operand:
        if (text,) not in self.known:
            made = self.fresh()
            self.line(f"{made} = {text};")
            self.known[text,] = made
        return self.known[text,]

    def fresh(self) -> str:
        """A name for a result, of `Code.type`."""
        number = len(self.names) + 1
        made = f"t{number}"
        while made in self.taken:
            made += "_"
        self.names.append(made)
        return made

    def line(self, text: str) -> None:
        if len(self.lines) >= MAX_LINES:
            raise Unbounded
        self.lines.append(text)


def type_of_value(ctype: CType, number: str) -> str:
    """Of a parameter of a test, given the type of all integers."""
    return number if ctype.integer else "float" if ctype.bits == _FLOAT_BITS else "double"


def _small(value: int) -> int:
    if abs(value) > _HUGE:
        raise Unbounded
    return value
