"""C expressions → expressions of the simplified form, with C's types: the way back from the printer, written
independently of it.

Raises `Unreadable` where an expression is not of the printer's language or where C might compute something else than
  the mathematical
value: arithmetic without an operand of the long type, a 64-bit unsigned operand, a comparison of signed with unsigned.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import HELPERS, THREADS, Kind, helper_name, kind_of
from scopt.astgen.emit.int_iterators import Interval, fits_int, interval, narrowed, run
from scopt.diagnostics import ScoptError
from scopt.ir.ctypes import type_spelling
from scopt.ir.expr import (
    FALSE,
    TRUE,
    compare,
    conjunction,
    disjunction,
    exceeds,
    floor_div,
    linear,
    maximum,
    minimum,
    modulo,
    order,
    plus,
    scale,
    select,
    subtract,
    weighted,
)
from scopt.ir.nest import (
    And,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    FloorDiv,
    Loaded,
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
from scopt.ir.truths import COMPARISONS


class Unreadable(ScoptError):
    """Printed C that isn't what the printer may print."""


class Typed(Struct, frozen=True):
    """An expression and the kind of its C type; None for one that has to be cast to the long type before use."""

    value: Expr
    kind: Kind | None


class Reader(Struct, frozen=True):
    """Reads expressions where certain iterators are declared, of the long type if they aren't among `ints`; other names
    are parameters. ranges: where the iterators' values lie. choices: values of those that are no loops' iterators;
    loads: what other variables stand for."""

    parameters: Mapping[str, Parameter]
    long_type: str
    long_suffix: str
    helpers: Mapping[str, str]
    iterators: frozenset[str] = frozenset()
    flat: Mapping[str, Array] = field(default_factory=dict)
    ints: frozenset[str] = frozenset()
    ranges: Mapping[str, Interval | None] = field(default_factory=dict)
    threads: str = THREADS
    choices: Mapping[str, Expr] = field(default_factory=dict)
    loads: Mapping[str, Loaded] = field(default_factory=dict)

    @staticmethod
    def of(scop: Scop) -> Reader:
        parameters = {p.spelling: p for p in scop.parameters}
        helpers = {helper_name(h, scop.reserved): h for h in HELPERS}
        threads = helper_name(THREADS, scop.reserved)
        return Reader(parameters, scop.long_type, scop.long_suffix, helpers, flat=scop.flat, threads=threads)

    def within(self, iterator: str, spelling: str, lower: Expr, upper: Expr, step: int) -> Reader:
        """The same with one more iterator; it must not hide another one or a parameter, and has a type that holds all
        its values."""
        if (
            iterator in self.iterators
            or iterator in self.parameters
            or any(p.name == iterator for p in self.parameters.values())
        ):
            raise Unreadable(f"the iterator '{iterator}' hides another name")
        first, last = interval(lower, self.types, self.ranges), interval(upper, self.types, self.ranges)
        if spelling != self.long_type and not (spelling == "int" and fits_int(first, last, step)):
            raise Unreadable(f"the iterator '{iterator}' has a type that may be too narrow")
        ints = self.ints if spelling == self.long_type else self.ints | {iterator}
        ranges = {**self.ranges, iterator: run(first, last)}
        return replace(self, iterators=self.iterators | {iterator}, ints=ints, ranges=ranges)

    def where(self, condition: Condition) -> Reader:
        """The same where a condition holds."""
        return replace(self, ranges=narrowed(condition, self.types, self.ranges))

    def with_choice(self, name: str, value: Expr) -> Reader:
        """The same with a variable of the long type that has a value; it must not hide another name."""
        hidden = self.iterators | self.parameters.keys() | {p.name for p in self.parameters.values()}
        if name in hidden:
            raise Unreadable(f"the variable '{name}' hides another name")
        return replace(self, iterators=self.iterators | {name}, choices={**self.choices, name: value})

    def with_load(self, load: Loaded) -> Reader:
        """The same with a variable for what a reference reads; its name must not hide another one."""
        hidden = self.iterators | self.loads.keys() | self.parameters.keys()
        if load.name in hidden | {p.name for p in self.parameters.values()}:
            raise Unreadable(f"the variable '{load.name}' hides another name")
        return replace(self, loads={**self.loads, load.name: load})

    def usable(self, n: ir.Node) -> Typed:
        """An expression whose value converts to the long type unchanged."""
        read = self.expr(n)
        if read.kind is None:
            raise Unreadable("a parameter of an unsigned 64-bit or unknown type is used without a cast")
        return read

    def expr(self, n: ir.Node) -> Typed:
        match n:
            case ir.Constant(type="int" | "long int" | "long long int"):
                return self.constant(n)
            case ir.ID(name=name) if name in self.iterators:
                return Typed(Name(name), Kind.INT if name in self.ints else Kind.LONG)
            case ir.ID(name=name) if name in self.parameters:
                parameter = self.parameters[name]
                return Typed(Name(parameter.name), kind_of(parameter.type))
            case ir.Cast(to_type=to_type, expr=operand) if type_spelling(to_type) == self.long_type:
                return Typed(self.expr(operand).value, Kind.LONG)
            case ir.UnaryOp(op="-", expr=operand):
                read = self.usable(operand)
                if read.kind is not Kind.LONG and not isinstance(operand, ir.Constant):
                    raise Unreadable("a negation of something narrower than the long type")
                return Typed(scale(read.value, -1), read.kind)
            case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                return self.arithmetic(op, self.usable(left), self.usable(right))
            case ir.BinaryOp(op="/" | "%" as op, left=left, right=right):
                return self.division(op, self.usable(left), self.usable(right))
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[first, second])) if name in self.helpers:
                return Typed(
                    self.helper(self.helpers[name], self.usable(first).value, self.usable(second).value), Kind.LONG
                )
            case ir.TernaryOp(cond=cond, iftrue=then, iffalse=otherwise):
                return self.select(self.condition(cond), self.usable(then), self.usable(otherwise))
        raise Unreadable(f"the printed expression has an unexpected {type(n).__name__}")

    def constant(self, n: ir.Constant) -> Typed:
        digits = n.value.removesuffix(self.long_suffix)
        wide = digits != n.value
        if not digits.isdecimal() or (digits[0] == "0" and digits != "0"):
            raise Unreadable(f"the literal {n.value}")
        if int(digits) >= 2 ** (63 if wide else 31):
            raise Unreadable(f"the literal {n.value} doesn't fit its type")
        return Typed(Const(int(digits)), Kind.LONG if wide else Kind.INT)

    def arithmetic(self, op: str, left: Typed, right: Typed) -> Typed:
        value = self.result(op, left, right)
        if Kind.LONG in (left.kind, right.kind):
            return Typed(value, Kind.LONG)
        where = interval(value, self.types, self.ranges)
        if {left.kind, right.kind} == {Kind.INT} and fits_int(where, where, 0):
            return Typed(value, Kind.INT)
        raise Unreadable(f"an operator {op} without an operand of the long type")

    @property
    def types(self) -> Mapping[str, CType]:
        return {parameter.name: parameter.type for parameter in self.parameters.values()}

    def result(self, op: str, left: Typed, right: Typed) -> Expr:
        if op != "*":
            return weighted(((1, left.value), (1 if op == "+" else -1, right.value)))
        if isinstance(left.value, Const):
            return scale(right.value, left.value.value)
        if isinstance(right.value, Const):
            return scale(left.value, right.value.value)
        raise Unreadable("a product of two expressions that aren't constant")

    def division(self, op: str, left: Typed, right: Typed) -> Typed:
        if not isinstance(right.value, Const) or right.value.value <= 0:
            raise Unreadable(f"a right operand of {op} that isn't a positive constant")
        value = (
            floor_div(left.value, right.value.value, True) if op == "/" else modulo(left.value, right.value.value, True)
        )
        return Typed(value, Kind.LONG if right.kind is Kind.LONG else left.kind)

    def helper(self, helper: str, first: Expr, second: Expr) -> Expr:
        if helper == "scopt_min":
            return minimum((first, second))
        if helper == "scopt_max":
            return maximum((first, second))
        if not isinstance(second, Const) or second.value <= 0:
            raise Unreadable(f"a divisor of {helper} that isn't a positive constant")
        return floor_div(first, second.value) if helper == "scopt_floord" else modulo(first, second.value)

    def select(self, condition: Condition, then: Typed, otherwise: Typed) -> Typed:
        kinds = {then.kind, otherwise.kind}
        if kinds == {Kind.INT, Kind.UINT}:
            raise Unreadable("a conditional expression with a signed and an unsigned branch")
        return Typed(select(condition, then.value, otherwise.value), Kind.LONG if Kind.LONG in kinds else then.kind)

    def condition(self, n: ir.Node) -> Condition:
        match n:
            case ir.Constant(value="0" | "1"):
                return TRUE if n.value == "1" else FALSE
            case ir.BinaryOp(op="&&", left=left, right=right):
                return conjunction((self.condition(left), self.condition(right)))
            case ir.BinaryOp(op="||", left=left, right=right):
                return disjunction((self.condition(left), self.condition(right)))
            case ir.BinaryOp(op=op, left=left, right=right) if op in COMPARISONS:
                a, b = self.usable(left), self.usable(right)
                if {a.kind, b.kind} == {Kind.INT, Kind.UINT} and not any(
                    isinstance(x.value, Const) and x.value.value >= 0 for x in (a, b)
                ):
                    raise Unreadable("a comparison of signed with unsigned")
                return compare(a.value, op, b.value)
        raise Unreadable(f"the printed condition has an unexpected {type(n).__name__}")

    def work(self, n: ir.Node) -> Condition:
        """The guard of a parallel loop: conditions, or products in double compared with a constant, and whether there
        are threads."""
        match n:
            case ir.BinaryOp(op="&&", left=left, right=right):
                return conjunction((self.work(left), self.work(right)))
            case ir.BinaryOp(
                op=">", left=ir.FuncCall(name=ir.ID(name=name), args=None), right=ir.Constant(value="1")
            ) if name == self.threads:
                return Threads()
            case ir.BinaryOp(op=">", left=ir.BinaryOp(op="*") as left, right=right) if _in_double(left):
                limit = self.usable(right).value
                if not isinstance(limit, Const):
                    raise Unreadable("the printed work is compared with something that isn't a constant")
                return exceeds(self.factors(left), limit.value)
        return self.condition(n)

    def factors(self, n: ir.Node) -> tuple[Expr, ...]:
        if isinstance(n, ir.BinaryOp):
            return (*self.factors(n.left), self.expr(n.right).value)
        return (self.expr(n.expr).value,)


def _in_double(n: ir.Node) -> bool:
    """Whether the leftmost factor of a product is cast to double."""
    while isinstance(n, ir.BinaryOp) and n.op == "*":
        n = n.left
    return isinstance(n, ir.Cast) and type_spelling(n.to_type) == "double"


# --- canonical forms: what prints to the same meaning is equal --------------------------------------------------------


def canonical(e: Expr) -> Expr:
    """`e` with its two flags for `%` made one, as the printed text knows one only."""
    match e:
        case Const() | Name():
            return e
        case Sum(terms, constant):
            return _settled(weighted(((c, canonical(x)) for c, x in terms), constant))
        case FloorDiv(numerator, divisor, nonnegative):
            return floor_div(canonical(numerator), divisor, nonnegative)
        case Mod(numerator, divisor, nonnegative, zero_test):
            return modulo(canonical(numerator), divisor, nonnegative or zero_test)
        case Min(args):
            return minimum(map(canonical, args))
        case Max(args):
            return maximum(map(canonical, args))
        case Select(condition, then, otherwise):
            return select(canonical_condition(condition), canonical(then), canonical(otherwise))


def canonical_condition(condition: Condition) -> Condition:
    """Every comparison becomes one of a sum with zero: sum >= 0, or == or != with a positive first coefficient."""
    match condition:
        case And(args):
            return conjunction(map(canonical_condition, args))
        case Or(args):
            return disjunction(map(canonical_condition, args))
        case Exceeds(factors, limit):
            return exceeds([*map(canonical, factors)], limit)
        case Threads():
            return condition
        case Compare(left, op, right):
            difference = subtract(canonical(left), canonical(right))
            if op in ("==", "!="):
                difference = _settled(difference)
                coefficients, _ = linear(difference)
                first = min(coefficients.items(), key=lambda item: order(item[0]))[1] if coefficients else 1
                return compare(scale(difference, 1 if first > 0 else -1), op, Const(0))
            if op in ("<", "<="):
                difference = scale(difference, -1)
            return compare(_settled(plus(difference, -1) if op in ("<", ">") else difference), ">=", Const(0))


def _settled(e: Expr) -> Expr:
    """A sum with a minimum or maximum among its terms can keep its constant inside or outside: take it outside."""
    coefficients, constant = linear(e)
    if len(coefficients) == 1 and not isinstance(e, Sum):
        return e
    parts: list[tuple[int, Expr]] = []
    for x, c in coefficients.items():
        if isinstance(x, Min | Max):
            # the arguments differ in more than their constants, so that the first one by its terms is well-defined
            _, shift = linear(min(x.args, key=lambda arg: order(plus(arg, -linear(arg)[1]))))
            x = type(x)(tuple(sorted((plus(arg, -shift) for arg in x.args), key=order)))
            constant += c * shift
        parts.append((c, x))
    return weighted(parts, constant)
