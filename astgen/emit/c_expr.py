"""Expressions and conditions of the simplified form as C text, evaluated in 64 bits.

Iterators of the emitted loops have the SCoP's long type, or are ints (`int_iterators`), parameters are C variables of
any integer type. C computes `n - 1` in `int` where the original program perhaps never did, and compares signed with
unsigned wrongly; so each operation gets an operand of the long type (an iterator, a literal with a suffix, a cast)
unless its operands alone can't overflow it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.emit.int_iterators import Interval, fits_int, interval, narrowed, run
from scopt.diagnostics import InternalError
from scopt.ir.expr import linear, mirrored, plus, subtract, weighted
from scopt.ir.nest import (
    And,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    FloorDiv,
    For,
    Max,
    Min,
    Mod,
    Name,
    Or,
    Select,
    Sum,
    Threads,
)
from scopt.ir.scop import Array, CType, Parameter, Scop

HELPERS = ("scopt_floord", "scopt_mod", "scopt_min", "scopt_max")
# A call that does nothing, but keeps clang from making a vector of what stands before and after it.
APART = "scopt_apart"
# A call that does nothing, but keeps clang from making a vector loop of the one that it stands in.
SCALAR = "scopt_scalar"
# A call that does nothing, but keeps gcc from making a vector loop of the one that it stands in, around another one.
AROUND = "scopt_around"
# Calls that return what they are given, by its type:
# clang doesn't make one instruction of a product in there and an addition outside.
PRODUCTS = {"double": "scopt_product", "float": "scopt_productf"}
# Calls that take the extremum of their first and their last operand, or the first one where the one between is 0, by
# operator, bits and sign.
MASKED = {
    (operator, bits, signed): f"scopt_{operator}_if{suffix}"
    for operator in ("max", "min")
    for bits, signed, suffix in ((32, True, ""), (32, False, "u"), (64, True, "ll"), (64, False, "ull"))
}
# Calls that return their second operand, or their last one where the first one is 0, by these two's type: they are
# computed before.
PICKS = {"int": "scopt_pick", "float": "scopt_pickf", "double": "scopt_pickd"}
# Calls that divide ints by means of a floating-point type, by operator and this type, or "any": doubles, for what may
# be the least int by -1. By 0, they give the left one.
QUOTIENTS = {
    ("/", "any"): "scopt_any_quotient",
    ("%", "any"): "scopt_any_remainder",
    ("/", "double"): "scopt_quotient",
    ("/", "float"): "scopt_quotientf",
    ("%", "double"): "scopt_remainder",
    ("%", "float"): "scopt_remainderf",
}
# Calls that compute with ints as processors do, without what is undefined: what is too large wraps around.
WRAPPED = {"+": "scopt_plus", "-": "scopt_minus", "*": "scopt_times"}
# A call that does what that of ints does, for those that others of the same condition stand beside, or that are
# divided: gcc doesn't see a condition in it.
BLEND = "scopt_blend"
# Calls that give an int's magnitude, and a short, of which clang doesn't know that it was an int.
SIZE, SHORT = "scopt_size", "scopt_short"
# Calls that return the short that they are given, a byte: gcc doesn't see that it was one. By whether what they are
# multiplied by has the same sign or none.
WIDENED = {True: "scopt_wide", False: "scopt_wider"}
# A call that says how many threads there may be.
THREADS = "scopt_threads"
# Calls that return what they are given, by an integer's bits and sign, or a floating-point type: gcc doesn't see that
# it could compute this value by the same operation as others.
LANES: dict[tuple[int, bool] | str, str] = {
    **{
        (bits, signed): f"scopt_lane{'' if signed else 'u'}{bits}"
        for bits in (8, 16, 32, 64)
        for signed in (True, False)
    },
    "float": "scopt_lanef",
    "double": "scopt_laned",
}
# Calls that add up the absolute differences of the bytes of two blocks, by how many a row has.
DISTANCES = {columns: f"scopt_distance_{columns}" for columns in (8, 16, 24, 32, 48, 64)}
ALL_HELPERS = (
    *HELPERS,
    *(THREADS, APART, SCALAR, AROUND, SIZE, SHORT, BLEND),
    *(
        name
        for family in (PRODUCTS, MASKED, LANES, PICKS, WRAPPED, QUOTIENTS, WIDENED, DISTANCES)
        for name in family.values()
    ),
)


def lane_type(key: tuple[int, bool] | str) -> str:
    """The C type that a function of `LANES` takes and returns."""
    if isinstance(key, str):
        return key
    bits, signed = key
    name = {8: "char", 16: "short", 32: "int", 64: "long long"}[bits]
    return name if signed and bits != 8 else f"{'' if signed else 'un'}signed {name}"


class Kind(Enum):
    """The C type of a piece of text: the long type, an int or what promotes to it, an unsigned of 32 bits."""

    LONG = "long"
    INT = "int"
    UINT = "unsigned"


class Level(IntEnum):
    """How tightly a piece of text binds."""

    TERNARY = 0
    OR = 1
    AND = 2
    COMPARE = 3
    ADD = 4
    MULTIPLY = 5
    UNARY = 6
    PRIMARY = 7


class Text(Struct, frozen=True):
    text: str
    level: Level
    kind: Kind = Kind.LONG

    def at(self, level: Level) -> str:
        """The text as an operand where at least `level` is needed."""
        return self.text if self.level >= level else f"({self.text})"


def helper_name(helper: str, reserved: frozenset[str]) -> str:
    """The name that a helper of `HELPERS` has in a file with these identifiers."""
    while helper in reserved:
        helper += "_"
    return helper


def kind_of(ctype: CType) -> Kind | None:
    """How C computes with a variable of this type; None where it needs a cast to the long type first."""
    if not ctype.integer or ctype.bits == 0 or ctype.bits > 64:
        return None
    if ctype.bits < 32:
        return Kind.INT
    if ctype.bits == 32:
        return Kind.INT if ctype.signed else Kind.UINT
    return Kind.LONG if ctype.signed else None


class ExprPrinter(Struct, frozen=True):
    """Prints expressions of one SCoP.

    parameters: the SCoP's parameters by name; every other name is an iterator, of the long type if it isn't one of
    `ints`. flat: arrays that C knows one dimension of, by their names in C. ranges: where iterators' values lie.
    """

    parameters: Mapping[str, Parameter]
    long_type: str
    long_suffix: str
    reserved: frozenset[str]
    flat: Mapping[str, Array] = field(default_factory=dict)
    ints: frozenset[str] = frozenset()
    ranges: Mapping[str, Interval | None] = field(default_factory=dict)

    @staticmethod
    def of(scop: Scop) -> ExprPrinter:
        return ExprPrinter(
            {p.name: p for p in scop.parameters}, scop.long_type, scop.long_suffix, scop.reserved, scop.flat
        )

    def within(self, loop: For, *, as_int: bool = False) -> ExprPrinter:
        """The printer of a loop's body. as_int: the iterator is an int."""
        ranges = {**self.ranges, loop.iterator: run(*self.bounds(loop))}
        return replace(self, ranges=ranges, ints=self.ints | {loop.iterator} if as_int else self.ints)

    def where(self, condition: Condition) -> ExprPrinter:
        """The printer of what runs where a condition holds."""
        return replace(self, ranges=narrowed(condition, self.types, self.ranges))

    def may_be_int(self, loop: For) -> bool:
        return fits_int(*self.bounds(loop), loop.step)

    def bounds(self, loop: For) -> tuple[Interval | None, Interval | None]:
        return interval(loop.lower, self.types, self.ranges), interval(loop.upper, self.types, self.ranges)

    @property
    def types(self) -> Mapping[str, CType]:
        return {name: parameter.type for name, parameter in self.parameters.items()}

    # --- expressions ---

    def expr(self, e: Expr) -> Text:
        """The value of `e`, in any kind that holds it."""
        match e:
            case Const(value):
                return self.constant(value)
            case Name(name):
                return self.name(name)
            case Sum(terms, constant):
                return self.sum(terms, constant)
            case FloorDiv(numerator, divisor, nonnegative):
                return (
                    self.division("/", numerator, divisor)
                    if nonnegative
                    else self.call("scopt_floord", numerator, Const(divisor))
                )
            case Mod(numerator, divisor, nonnegative, zero_test):
                plain = nonnegative or zero_test
                return (
                    self.division("%", numerator, divisor)
                    if plain
                    else self.call("scopt_mod", numerator, Const(divisor))
                )
            case Min(args):
                return self.call("scopt_min", *args)
            case Max(args):
                return self.call("scopt_max", *args)
            case Select(condition, then, otherwise):
                return self.select(condition, then, otherwise)

    def long(self, e: Expr) -> Text:
        """The value of `e`, of the long type."""
        if isinstance(e, Const):
            return self.constant(e.value, suffix=True)
        return self.widened(self.expr(e))

    def widened(self, text: Text) -> Text:
        if text.text.isdecimal():
            return self.constant(int(text.text), suffix=True)
        return text if text.kind is Kind.LONG else Text(f"({self.long_type}){text.at(Level.UNARY)}", Level.UNARY)

    def constant(self, value: int, suffix: bool = False) -> Text:
        if abs(value) >= 2**63:
            raise InternalError(f"the constant {value} doesn't fit in 64 bits")
        wide = suffix or abs(value) >= 2**31
        level = Level.UNARY if value < 0 else Level.PRIMARY
        return Text(f"{value}{self.long_suffix if wide else ''}", level, Kind.LONG if wide else Kind.INT)

    def name(self, name: str) -> Text:
        if name not in self.parameters:
            return Text(name, Level.PRIMARY, Kind.INT if name in self.ints else Kind.LONG)
        parameter = self.parameters[name]
        kind, text = kind_of(parameter.type), parameter.spelling
        return Text(f"({self.long_type}){text}", Level.UNARY) if kind is None else Text(text, Level.PRIMARY, kind)

    def sum(self, terms: tuple[tuple[int, Expr], ...], constant: int) -> Text:
        """Positive terms first, iterators before parameters, so that a first operand of the long type comes cheap; the
        constant last, or first where all else is negative."""
        parts = sorted(terms, key=lambda part: (part[0] < 0, not self.is_iterator(part[1])))
        if constant:
            parts.insert(0 if constant > 0 > parts[0][0] else len(parts), (constant, Const(1)))
        texts = [self.product(abs(c), x) for c, x in parts]
        small = parts[0][0] > 0 and self.stays_int([one.kind for one in texts], parts)
        if parts[0][0] < 0:
            first = self.widened(texts[0])
            # A minus binds tighter than the division that it belongs in front of, and two of them would be a decrement.
            bare = first.level >= Level.UNARY or abs(parts[0][0]) > 1
            plain = bare and first.level > Level.ADD and not first.text.startswith("-")
            texts[0] = Text(f"-{first.text}" if plain else f"-({first.text})", min(first.level, Level.UNARY))
        elif len(parts) > 1 and Kind.LONG not in (texts[0].kind, texts[1].kind) and not small:
            literal = next((k for k in (1, 0) if isinstance(parts[k][1], Const)), None)
            if literal is None:
                texts[0] = self.widened(texts[0])
            else:
                texts[literal] = self.constant(abs(parts[literal][0]), suffix=True)
        if len(parts) == 1:
            return texts[0]
        out = texts[0].at(Level.ADD)
        for (c, _), text in zip(parts[1:], texts[1:], strict=True):
            out += f" {'-' if c < 0 else '+'} {text.at(Level.MULTIPLY)}"
        return Text(out, Level.ADD, Kind.INT if small else Kind.LONG)

    def stays_int(self, kinds: Sequence[Kind], parts: Sequence[tuple[int, Expr]]) -> bool:
        """Whether a sum of ints with an iterator among them has an int's value after each of its terms."""
        if set(kinds) != {Kind.INT} or not any(isinstance(x, Name) and x.name in self.ints for _, x in parts):
            return False
        sums = (interval(weighted(parts[: k + 1]), self.types, self.ranges) for k in range(len(parts)))
        return all(fits_int(one, one, 0) for one in sums)

    def product(self, coefficient: int, e: Expr) -> Text:
        """coefficient·e for a positive coefficient, at least as wide as it needs."""
        if isinstance(e, Const):
            return self.constant(coefficient * e.value)
        text = self.expr(e)
        if coefficient == 1:
            return text
        small = self.stays_int([text.kind], [(coefficient, e)])
        factor = self.constant(coefficient, suffix=text.kind is not Kind.LONG and not small)
        kind = Kind.INT if small else Kind.LONG
        return Text(f"{factor.text} * {text.at(Level.UNARY)}", Level.MULTIPLY, kind)

    def is_iterator(self, e: Expr) -> bool:
        return isinstance(e, Name) and e.name not in self.parameters

    def division(self, op: str, numerator: Expr, divisor: int) -> Text:
        top, bottom = self.expr(numerator), self.constant(divisor)
        kind = Kind.LONG if Kind.LONG in (top.kind, bottom.kind) else top.kind
        return Text(f"{top.at(Level.MULTIPLY)} {op} {bottom.text}", Level.MULTIPLY, kind)

    def call(self, helper: str, *args: Expr) -> Text:
        """A helper of two arguments, nested for more; arguments become long by C's conversion at the call."""
        texts = [self.expr(arg).text for arg in args]
        name = helper_name(helper, self.reserved)
        out = texts[-1]
        for text in reversed(texts[:-1]):
            out = f"{name}({text}, {out})"
        return Text(out, Level.PRIMARY)

    def select(self, condition: Condition, then: Expr, otherwise: Expr) -> Text:
        test, left, right = self.condition(condition), self.expr(then), self.expr(otherwise)
        if Kind.LONG in (left.kind, right.kind):
            kind = Kind.LONG
        elif left.kind is right.kind:
            kind = left.kind
        else:
            left, kind = self.widened(left), Kind.LONG
        return Text(f"{test.at(Level.OR)} ? {left.at(Level.OR)} : {right.at(Level.OR)}", Level.TERNARY, kind)

    # --- conditions ---

    def condition(self, condition: Condition) -> Text:
        match condition:
            case And(()):
                return Text("1", Level.PRIMARY, Kind.INT)
            case Or(()):
                return Text("0", Level.PRIMARY, Kind.INT)
            case And(args):
                # gcc -Wparentheses wants || inside && in parentheses anyway, and && inside || too
                return Text(" && ".join(self.condition(a).at(Level.COMPARE) for a in args), Level.AND, Kind.INT)
            case Or(args):
                return Text(" || ".join(self.condition(a).at(Level.COMPARE) for a in args), Level.OR, Kind.INT)
            case Compare():
                return self.compare(condition)
            case Exceeds(factors, limit):
                product = " * ".join(self.expr(factor).at(Level.UNARY) for factor in factors)
                return Text(f"(double){product} > {self.expr(Const(limit)).text}", Level.COMPARE, Kind.INT)
            case Threads():
                return Text(f"{helper_name(THREADS, self.reserved)}() > 1", Level.COMPARE, Kind.INT)

    def compare(self, condition: Compare) -> Text:
        """Terms are moved to the side where their coefficient is positive,
        and an iterator to the left if the right has one only."""
        left, op, right = self.sides(condition)
        if not any(map(self.is_iterator, linear(left)[0])) and (
            isinstance(left, Const) or any(map(self.is_iterator, linear(right)[0]))
        ):
            left, op, right = right, mirrored(op), left
        a, b = self.expr(left), self.expr(right)
        if a.kind is not b.kind and Kind.LONG not in (a.kind, b.kind):
            trivial = Const(0) in (left, right) and op in (
                "<",
                ">=",
            )  # gcc warns of an unsigned value that is compared like this
            if trivial or not all(self.comparable(*pair) for pair in ((a, right), (b, left))):
                a, b = (text if text.kind is Kind.INT else self.widened(text) for text in (a, b))
        return Text(f"{a.at(Level.ADD)} {op} {b.at(Level.ADD)}", Level.COMPARE, Kind.INT)

    def comparable(self, text: Text, other: Expr) -> bool:
        """Whether an operand of a comparison of int with unsigned needs no cast:
        it is the int, or the int is no negative constant."""
        return text.kind is Kind.INT or (isinstance(other, Const) and other.value >= 0)

    def sides(self, condition: Compare) -> tuple[Expr, str, Expr]:
        coefficients, constant = linear(subtract(condition.left, condition.right))
        left = weighted((c, x) for x, c in coefficients.items() if c > 0)
        right = weighted((-c, x) for x, c in coefficients.items() if c < 0)
        op: str = condition.op
        if (op, constant) in ((">=", -1), ("<=", 1)):
            op, constant = op[0], 0  # x - 1 >= 0 is x > 0
        elif (op, constant) in ((">", 1), ("<", -1)):
            op, constant = f"{op}=", 0
        return (plus(left, constant), op, right) if constant > 0 else (left, op, plus(right, -constant))
