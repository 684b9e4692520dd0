"""Arithmetic of the simplified form: constructors that keep the normal form, substitution, evaluation.

Everything that makes an expression goes through the functions here, so that equal sums are equal objects: a `Sum` is
flat, has each expression once, no zero coefficient, no single bare term, and its terms sorted; `Min` and `Max` are
flat, sorted and free of duplicates, and a constant added to one goes to its arguments. The flag ``nonnegative`` says
that C's `/` and `%` give the right value; it is never used as a fact about the numerator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod

from scopt.ir.nest import (
    And,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mod,
    Name,
    Or,
    Select,
    Sum,
    Threads,
)

TRUE: Condition = And(())
FALSE: Condition = Or(())

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def order(e: Expr) -> tuple[str, str]:
    """The key that terms and arguments are sorted by: names first, then the rest by its text."""
    return ("", e.name) if isinstance(e, Name) else ("~", repr(e))


def linear(e: Expr) -> tuple[dict[Expr, int], int]:
    """`e` as coefficients of expressions that are neither `Sum` nor `Const`, and a constant."""
    if isinstance(e, Const):
        return {}, e.value
    if isinstance(e, Sum):
        return {x: c for c, x in e.terms}, e.constant
    return {e: 1}, 0


def from_linear(coefficients: Mapping[Expr, int], constant: int) -> Expr:
    """The normal form of Σ coefficient·expression + constant; the expressions are neither `Sum` nor `Const`."""
    terms = tuple((c, x) for x, c in sorted(coefficients.items(), key=lambda item: order(item[0])) if c)
    if not terms:
        return Const(constant)
    if len(terms) == 1 and terms[0][0] == 1:
        only = terms[0][1]
        if constant == 0:
            return only
        if isinstance(only, Min | Max):
            return type(only)(tuple(sorted((plus(arg, constant) for arg in only.args), key=order)))
    return Sum(terms, constant)


def weighted(parts: Iterable[tuple[int, Expr]], constant: int = 0) -> Expr:
    """Σ weight·part + constant."""
    total: dict[Expr, int] = {}
    for weight, part in parts:
        coefficients, value = linear(part)
        constant += weight * value
        for x, c in coefficients.items():
            total[x] = total.get(x, 0) + weight * c
    return from_linear(total, constant)


def add(*parts: Expr) -> Expr:
    return weighted((1, part) for part in parts)


def plus(e: Expr, constant: int) -> Expr:
    return weighted(((1, e),), constant)


def subtract(a: Expr, b: Expr) -> Expr:
    return weighted(((1, a), (-1, b)))


def scale(e: Expr, factor: int) -> Expr:
    return weighted(((factor, e),))


def minimum(args: Iterable[Expr]) -> Expr:
    """The least of `args` (at least one)."""
    kept = _undominated(args, Min, lambda difference: difference >= 0)
    return kept[0] if len(kept) == 1 else Min(kept)


def maximum(args: Iterable[Expr]) -> Expr:
    """The greatest of `args` (at least one)."""
    kept = _undominated(args, Max, lambda difference: difference <= 0)
    return kept[0] if len(kept) == 1 else Max(kept)


def _undominated(
    args: Iterable[Expr], kind: type[Min] | type[Max], dominated: Callable[[int], bool]
) -> tuple[Expr, ...]:
    """Flatten, and drop each argument that lies a constant away from another one, on the dominated side."""
    flat: list[Expr] = []
    for arg in args:
        flat.extend(arg.args if isinstance(arg, kind) else (arg,))
    kept: dict[tuple[tuple[Expr, int], ...], int] = {}
    for arg in flat:
        coefficients, constant = linear(arg)
        key = tuple(sorted(coefficients.items(), key=lambda item: order(item[0])))
        if key not in kept or dominated(kept[key] - constant):
            kept[key] = constant
    return tuple(sorted((from_linear(dict(key), constant) for key, constant in kept.items()), key=order))


def floor_div(numerator: Expr, divisor: int, nonnegative: bool = False) -> Expr:
    """⌊numerator / divisor⌋, divisor > 0. nonnegative: C's `/` gives this value.

    Terms that the divisor divides are taken out; nothing is known of the rest's sign then.
    """
    coefficients, constant = linear(numerator)
    whole = {x: c // divisor for x, c in coefficients.items() if c % divisor == 0}
    rest = {x: c for x, c in coefficients.items() if c % divisor}
    if not rest:
        return from_linear(whole, constant // divisor)
    if not whole:
        return FloorDiv(numerator, divisor, nonnegative)
    return add(from_linear(whole, 0), FloorDiv(from_linear(rest, constant), divisor))


def modulo(numerator: Expr, divisor: int, nonnegative: bool = False, zero_test: bool = False) -> Expr:
    """numerator mod divisor, divisor > 0; the flags as in `Mod`."""
    coefficients, constant = linear(numerator)
    if all(c % divisor == 0 for c in coefficients.values()):
        return Const(constant % divisor)
    return Mod(numerator, divisor, nonnegative, zero_test)


def select(condition: Condition, then: Expr, otherwise: Expr) -> Expr:
    if condition == TRUE or then == otherwise:
        return then
    return otherwise if condition == FALSE else Select(condition, then, otherwise)


def compare(left: Expr, op: str, right: Expr) -> Condition:
    """left op right; `TRUE` or `FALSE` where the difference is constant."""
    difference = subtract(left, right)
    if isinstance(difference, Const):
        return TRUE if holds(difference.value, op, 0) else FALSE
    return Compare(left, op, right)  # type: ignore[arg-type]


def exceeds(factors: Sequence[Expr], limit: int) -> Condition:
    """The product of the factors, one at least, is greater than the limit."""
    match factors:
        case [FloorDiv(numerator, divisor)]:
            # a division each time the test is met takes longer than a short loop does
            return compare(numerator, ">", Const(divisor * limit + divisor - 1))
    return compare(factors[0], ">", Const(limit)) if len(factors) == 1 else Exceeds(tuple(factors), limit)


def conjunction(args: Iterable[Condition]) -> Condition:
    """All of `args`, flat, each once."""
    return _connect(args, And, TRUE, FALSE)


def disjunction(args: Iterable[Condition]) -> Condition:
    """Any of `args`, flat, each once."""
    return _connect(args, Or, FALSE, TRUE)


def _connect(
    args: Iterable[Condition], kind: type[And] | type[Or], neutral: Condition, absorbing: Condition
) -> Condition:
    flat: dict[Condition, None] = {}
    for arg in args:
        for part in arg.args if isinstance(arg, kind) else (arg,):
            if part == absorbing:
                return absorbing
            flat.setdefault(part)
    flat.pop(neutral, None)
    return next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))


def negate(condition: Condition) -> Condition:
    """The opposite, with the negation pushed to the comparisons."""
    match condition:
        case And(args):
            return disjunction(map(negate, args))
        case Or(args):
            return conjunction(map(negate, args))
        case Compare(left, op, right):
            return Compare(left, _NEGATED[op], right)  # type: ignore[arg-type]
        case Exceeds() | Threads():
            raise TypeError("a test of work, which is computed in floating point, or of threads is never negated")


def mirrored(op: str) -> str:
    """The operator that says the same with the sides exchanged."""
    return _MIRRORED[op]


def holds(left: int, op: str, right: int) -> bool:
    match op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
    return left != right


def rewrite(e: Expr, leaf: Callable[[Name], Expr]) -> Expr:
    """`e` with every `Name` replaced by leaf(name), in normal form again."""
    match e:
        case Const():
            return e
        case Name():
            return leaf(e)
        case Sum(terms, constant):
            return weighted(((c, rewrite(x, leaf)) for c, x in terms), constant)
        case FloorDiv(numerator, divisor, nonnegative):
            return floor_div(rewrite(numerator, leaf), divisor, nonnegative)
        case Mod(numerator, divisor, nonnegative, zero_test):
            return modulo(rewrite(numerator, leaf), divisor, nonnegative, zero_test)
        case Min(args):
            return minimum(rewrite(a, leaf) for a in args)
        case Max(args):
            return maximum(rewrite(a, leaf) for a in args)
        case Select(condition, then, otherwise):
            return select(rewrite_condition(condition, leaf), rewrite(then, leaf), rewrite(otherwise, leaf))


def rewrite_condition(condition: Condition, leaf: Callable[[Name], Expr]) -> Condition:
    """As `rewrite`."""
    match condition:
        case Compare(left, op, right):
            return compare(rewrite(left, leaf), op, rewrite(right, leaf))
        case Exceeds(factors, limit):
            return exceeds([rewrite(factor, leaf) for factor in factors], limit)
        case Threads():
            return condition
        case And(args):
            return conjunction(rewrite_condition(a, leaf) for a in args)
        case Or(args):
            return disjunction(rewrite_condition(a, leaf) for a in args)


def substitute(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """`e` with names replaced by expressions, all at once."""
    return rewrite(e, lambda name: values.get(name.name, name)) if values else e


def substitute_condition(condition: Condition, values: Mapping[str, Expr]) -> Condition:
    return rewrite_condition(condition, lambda name: values.get(name.name, name)) if values else condition


def names(e: Expr | Condition) -> frozenset[str]:
    """The free names of an expression or condition."""
    return frozenset(_names(e))


def _names(e: Expr | Condition) -> Iterator[str]:
    match e:
        case Const() | Threads():
            return
        case Name(name):
            yield name
        case Sum(terms):
            for _, x in terms:
                yield from _names(x)
        case FloorDiv(numerator) | Mod(numerator):
            yield from _names(numerator)
        case Min(args) | Max(args):
            for a in args:
                yield from _names(a)
        case And(conditions) | Or(conditions):
            for condition in conditions:
                yield from _names(condition)
        case Select(condition, then, otherwise):
            yield from _names(condition)
            yield from _names(then)
            yield from _names(otherwise)
        case Compare(left, _, right):
            yield from _names(left)
            yield from _names(right)
        case Exceeds(factors):
            for factor in factors:
                yield from _names(factor)


def evaluate(e: Expr, values: Mapping[str, int]) -> int:
    """The value of `e` where each name has the given value; KeyError if one has none."""
    match e:
        case Const(value):
            return value
        case Name(name):
            return values[name]
        case Sum(terms, constant):
            return sum((c * evaluate(x, values) for c, x in terms), constant)
        case FloorDiv(numerator, divisor):
            return evaluate(numerator, values) // divisor
        case Mod(numerator, divisor):
            return evaluate(numerator, values) % divisor
        case Min(args):
            return min(evaluate(a, values) for a in args)
        case Max(args):
            return max(evaluate(a, values) for a in args)
        case Select(condition, then, otherwise):
            return evaluate(then if satisfied(condition, values) else otherwise, values)


def satisfied(condition: Condition, values: Mapping[str, int]) -> bool:
    """Whether `condition` holds where each name has the given value."""
    match condition:
        case Compare(left, op, right):
            return holds(evaluate(left, values), op, evaluate(right, values))
        case And(args):
            return all(satisfied(a, values) for a in args)
        case Or(args):
            return any(satisfied(a, values) for a in args)
        case Exceeds(factors, limit):
            return prod(evaluate(factor, values) for factor in factors) > limit
        case Threads():
            return True
