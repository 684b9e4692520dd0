"""The guard in front of a region, read back from its text: where it holds, all that the SCoP takes for granted does.

The text is parsed and each of its conjuncts is recognized: what it says of parameters becomes a set, addresses become
polynomials. Nothing of what printed them is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_read import Reader, Unreadable
from scopt.astgen.guard_counters import counter_name
from scopt.diagnostics import InternalError
from scopt.ir.ctypes import type_spelling
from scopt.ir.expr import conjunction
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.nest import Block, Condition, LoopNest
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Guard, Parameter, Polynomial, Scop, Stretch
from scopt.ir.truths import conjuncts
from scopt.poly.nest_sets import Context, NestSpace

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ARITHMETIC = ("+", "-", "*", "&&", "||", *_COMPARISONS)
_NUMBERS = ("long", "long long", "unsigned long", "int", "double")

# Σ coefficient · product of atoms: names, `sizeof`s and addresses, by their text.
_Value = dict[tuple[str, ...], int]
# (left, right) of each comparison left <= right.
_Order = frozenset[tuple[frozenset[tuple[tuple[str, ...], int]], frozenset[tuple[tuple[str, ...], int]]]]


def check_guard(scop: Scop, guard: str, worth: str = "") -> None:
    """Raises InternalError unless the guard's text implies what the SCoP's `Guard` asks for.

    guard: the C expression that will stand in front of the region, empty for none. worth: the condition under which
    the region pays, which has to be part of it. Any other conjunct that `Guard` doesn't ask for is refused.
    """
    asked = scop.guard or Guard(isl.Set.universe(scop.context.get_space()))
    if not guard:
        if (
            worth
            or asked.apart
            or asked.tests
            or asked.fits
            or not isl.Set.universe(asked.parameters.get_space()).is_subset(asked.parameters)
        ):
            raise InternalError(f"{scop.location}: there is no text of the guard")
        return
    asked, guard = _without_types(asked, guard)
    try:
        _check(scop, asked, _Reading.of(scop, asked), *_parsed(guard, worth))
    except Unreadable as error:
        raise InternalError(f"{scop.location}: the guard can't be read back: {error}") from error


def _check(scop: Scop, asked: Guard, reading: _Reading, guard: ir.Node, worth: ir.Node | None) -> None:
    """Raises Unreadable for text that isn't what guards are made of, InternalError for a guard that is too weak."""
    gains = [*conjuncts(worth)] if worth is not None else []
    calls = [_parsed(test.call, "")[0] for test in asked.tests]
    tested = [*_uncounted(scop, guard, {_text(call) for call in calls})]
    rest = _without(scop, tested, [*gains, *calls])
    for one in gains:
        reading.harmless(one)
    fits, apart = {reading.fit(one) for one in rest}, {reading.apart(one) for one in rest}
    if lacking := set(asked.fits) - fits:
        raise InternalError(f"{scop.location}: the guard doesn't test that {min(lacking)} has a value of the long type")
    pairs = {frozenset((reading.before(one, other), reading.before(other, one))) for one, other in asked.apart}
    if not pairs <= apart:
        raise InternalError(f"{scop.location}: the guard doesn't tell all stretches of memory apart")
    others = [one for one in rest if reading.fit(one) not in asked.fits and reading.apart(one) not in pairs]
    read = conjunction([reading.reader.condition(one) for one in others])
    if not _parameters(scop, read).is_subset(asked.parameters):
        raise InternalError(f"{scop.location}: the guard allows parameters that the region can't have")


def _without_types(asked: Guard, guard: str) -> tuple[Guard, str]:
    """The same with names in the place of the types of whole arrays, whose macros can't be read here."""
    types = dict.fromkeys(one.whole for pair in asked.apart for one in pair if one.whole)
    types |= dict.fromkeys(one for test in asked.tests for one in test.types)
    names = {whole: f"scopt_whole_type_{k}" for k, whole in enumerate(types)}

    def named(one: Stretch) -> Stretch:
        return replace(one, element=f"sizeof({names[one.whole]})", whole=names[one.whole]) if one.whole else one

    def read(text: str) -> str:
        for whole, name in names.items():
            text = text.replace(f"sizeof({whole})", f"sizeof({name})")
        return text

    tests = tuple(replace(test, call=read(test.call)) for test in asked.tests)
    return replace(asked, apart=tuple((named(a), named(b)) for a, b in asked.apart), tests=tests), read(guard)


def _without(scop: Scop, tested: Sequence[ir.Node], others: Sequence[ir.Node]) -> list[ir.Node]:
    """The conjuncts but for one occurrence of each of the others."""
    rest = [*tested]
    for other in map(_text, others):
        place = next((k for k, one in enumerate(rest) if _text(one) == other), None)
        if place is None:
            raise InternalError(f"{scop.location}: the guard lacks {other}")
        del rest[place]
    return rest


def _parameters(scop: Scop, condition: Condition) -> isl.Set:
    space = NestSpace.of(scop, LoopNest(Block(())), strict=True)
    return space.condition(condition, Context(isl.Set.universe(space.space), {})).params()


# --- the text ---------------------------------------------------------------------------------------------------------


@lru_cache(64)
def _parsed(guard: str, worth: str) -> tuple[ir.Node, ir.Node | None]:
    """The trees of two expressions, the second one perhaps empty: forms of a region have the same ones.
    Raises Unreadable for what isn't an expression each."""
    texts = [text for text in (guard, worth) if text]
    functions = "".join(f"int guard{k}(void) {{ return {text}; }}\n" for k, text in enumerate(texts))
    try:
        tree = parse_c("typedef unsigned long __UINTPTR_TYPE__;\n" + functions)
    except CSyntaxError as error:
        raise Unreadable(str(error)) from error
    found = [one.body.block_items for one in tree.ext[1:] if isinstance(one, ir.FuncDef)]
    if len(found) != len(tree.ext) - 1 or len(found) != len(texts) or any(len(items) != 1 for items in found):
        raise Unreadable("it isn't one expression")
    first, *others = (items[0].expr for items in found)
    return first, others[0] if others else None


def _uncounted(scop: Scop, n: ir.Node, calls: Set[str]) -> Iterator[ir.Node]:
    """The conjuncts, also those that are given to the function that counts,
    which returns what it is given: zero or one. calls: of functions that return these."""
    for one in conjuncts(n):
        match one:
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[ir.BinaryOp(op=op) as told])):
                if name != counter_name(scop.location) or op not in ("&&", "||", *_COMPARISONS):
                    raise Unreadable(f"a call of {name}")
                yield from conjuncts(told)
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[told])) if (
                name == counter_name(scop.location) and _text(told) in calls
            ):
                yield told
            case _:
                yield one


def _text(n: ir.Node) -> str:
    return str(CPrinter().visit(n))


# --- what it means ----------------------------------------------------------------------------------------------------


class _Reading(Struct, frozen=True):
    """Reads conjuncts. parameters: by their names in C. integers: other names that stand in polynomials. bases: the
    stretches' addresses. elements: the sizes of what these point to. long_type: as in the SCoP."""

    reader: Reader
    parameters: Mapping[str, Parameter]
    integers: frozenset[str]
    bases: frozenset[str]
    elements: frozenset[str]
    long_type: str

    @staticmethod
    def of(scop: Scop, asked: Guard) -> _Reading:
        reader = Reader.of(scop)
        stretches = [stretch for pair in asked.apart for stretch in pair]
        for stretch in stretches:
            pointed = f"sizeof({stretch.base[1:]})" if stretch.base.startswith("&") else f"sizeof(*{stretch.base})"
            pointed = f"sizeof({stretch.whole})" if stretch.whole else pointed
            if stretch.element != pointed or not stretch.first or not stretch.beyond:
                raise InternalError(f"{scop.location}: the stretch of '{stretch.array}' isn't one of its elements")
        factors = {
            atom
            for one in stretches
            for end in (*one.first, *one.beyond)
            for atoms in _expanded(one, end)
            for atom in atoms
        }
        bases, elements = frozenset(one.base for one in stretches), frozenset(one.element for one in stretches)
        for name in factors & reader.parameters.keys():
            if not reader.parameters[name].type.integer or not 0 < reader.parameters[name].type.bits <= 64:
                raise InternalError(f"{scop.location}: '{name}' has no integer type of 64 bits or fewer")
        return _Reading(reader, reader.parameters, frozenset(factors), bases, elements, scop.long_type)

    def fit(self, n: ir.Node) -> str:
        """The name that ``(long)name >= 0`` tests; empty for any other condition."""
        match n:
            case ir.BinaryOp(
                op=">=",
                left=ir.Cast(to_type=to_type, expr=ir.ID(name=name)),
                right=ir.Constant(type="int", value="0"),
            ):
                return str(name) if type_spelling(to_type) == self.long_type else ""
        return ""

    def apart(self, n: ir.Node) -> frozenset[_Order] | None:
        """The two orders of a test that one stretch ends before the other begins, or the other way round; None for
        any other condition."""
        if not isinstance(n, ir.BinaryOp) or n.op != "||":
            return None
        try:
            return frozenset((self.order(n.left), self.order(n.right)))
        except Unreadable:
            return None

    def order(self, n: ir.Node) -> _Order:
        """What has to lie before what, all of it."""
        found = set()
        for one in conjuncts(n):
            if not isinstance(one, ir.BinaryOp) or one.op != "<=":
                raise Unreadable("a test of addresses that isn't <=")
            (left, wide), (right, also) = self.address(one.left), self.address(one.right)
            if not wide or not also:
                raise Unreadable("addresses that aren't compared as unsigned integers")
            found.add((frozenset(left.items()), frozenset(right.items())))
        return frozenset(found)

    def before(self, one: Stretch, other: Stretch) -> _Order:
        """That one stretch ends where the other begins or before."""
        ends, starts = (
            [_bytes(stretch, end) for end in ends] for stretch, ends in ((one, one.beyond), (other, other.first))
        )
        return frozenset((frozenset(end.items()), frozenset(start.items())) for end in ends for start in starts)

    def address(self, n: ir.Node) -> tuple[_Value, bool]:
        """The value of an expression modulo two to the bits of a pointer, and whether C computes it in the unsigned
        type of that width.

        Raises Unreadable where C computes a part of it in another type: of operands of which none has the unsigned one.
        """
        match n:
            case ir.ID(name=name) if name in self.parameters or (name in self.integers and name not in self.bases):
                return {(name,): 1}, False
            case ir.Constant(type="int", value=value) if value.isdecimal() and (value == "0" or value[0] != "0"):
                return _terms({(): int(value)}), False
            case ir.Constant(type="unsigned long int", value=value) if (
                self.long_type == "long" and value.removesuffix("UL").isdecimal()
            ):
                return _terms({(): int(value.removesuffix("UL"))}), True
            case ir.Cast(expr=ir.ID() | ir.Constant() | ir.UnaryOp(op="&") as expr) if (
                type_spelling(n.to_type) == self.word
            ):
                base = _text(expr)
                is_base = base in self.bases and base not in self.parameters
                return {(f"({base})",): 1} if is_base else self.address(expr)[0], True
            case ir.UnaryOp(op="sizeof") if _text(n) in self.elements:
                return {(_text(n),): 1}, True
            case ir.UnaryOp(op="-", expr=operand):
                value, wide = self.address(operand)
                return {atoms: -c for atoms, c in value.items()}, self.wide(wide)
            case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                (a, first), (b, second) = self.address(left), self.address(right)
                return _times(a, b) if op == "*" else _plus(a, b, 1 if op == "+" else -1), self.wide(first or second)
            case ir.BinaryOp(op="/", left=left, right=right):
                (value, first), (divisor, second) = self.address(left), self.address(right)
                if set(divisor) == {()}:
                    return _quotient(value, divisor[()]), self.wide(first and second)
        raise Unreadable(f"an address has an unexpected {type(n).__name__}")

    def wide(self, found: bool) -> bool:
        if not found:
            raise Unreadable("an address is computed in a type that may be signed or narrower than a pointer")
        return True

    @property
    def word(self) -> str:
        """The unsigned type as wide as a pointer."""
        return "unsigned long" if self.long_type == "long" else "__UINTPTR_TYPE__"

    def harmless(self, n: ir.Node) -> None:
        """Raises Unreadable unless evaluating an expression changes nothing and can't stop the program."""
        match n:
            case ir.ID(name=name) if name in self.parameters:
                return
            case ir.Constant():
                return
            case ir.BinaryOp(op="/" | "%", right=ir.Constant(value=divisor)) if divisor.strip("0uUlL"):
                return self.harmless(n.left)
            case ir.BinaryOp(op=op) if op in _ARITHMETIC:
                parts = [n.left, n.right]
            case ir.UnaryOp(op="-" | "!"):
                parts = [n.expr]
            case ir.Cast(to_type=to_type) if type_spelling(to_type) in _NUMBERS:
                parts = [n.expr]
            case ir.TernaryOp():
                parts = [n.cond, n.iftrue, n.iffalse]
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=parts)) if name in self.reader.helpers:
                pass
            case ir.FuncCall(name=ir.ID(name=name), args=None) if name == self.reader.threads:
                return
            case _:
                raise Unreadable(f"a condition has an unexpected {type(n).__name__}")
        for part in parts:
            self.harmless(part)


# --- polynomials ------------------------------------------------------------------------------------------------------


def _bytes(stretch: Stretch, offset: Polynomial) -> _Value:
    """The address of an element."""
    return _plus({(f"({stretch.base})",): 1}, _times({(stretch.element,): 1}, _expanded(stretch, offset)), 1)


def _expanded(stretch: Stretch, value: Polynomial) -> _Value:
    """A polynomial over names in C alone."""
    sums, total = dict(stretch.sums), _Value()
    quotients = {key: (dividend, divisor) for key, dividend, divisor in stretch.quotients}

    def atom(factor: str) -> _Value:
        if factor in quotients:
            dividend, divisor = quotients[factor]
            return _quotient(_expanded(stretch, dividend), divisor)
        return _expanded(stretch, sums[factor]) if factor in sums else {(factor,): 1}

    for coefficient, factors in value:
        product: _Value = {(): coefficient}
        for factor in factors:
            product = _times(product, atom(factor))
        total = _plus(total, product, 1)
    return total


def _quotient(value: _Value, divisor: int) -> _Value:
    """As C computes it: something of its own."""
    return {(f"({sorted(value.items())}) / {divisor}",): 1}


def _plus(a: _Value, b: _Value, sign: int) -> _Value:
    return _terms({atoms: a.get(atoms, 0) + sign * b.get(atoms, 0) for atoms in (*a, *b)})


def _times(a: _Value, b: _Value) -> _Value:
    total = _Value()
    for left, c in a.items():
        for right, d in b.items():
            atoms = tuple(sorted((*left, *right)))
            total[atoms] = total.get(atoms, 0) + c * d
    return _terms(total)


def _terms(value: _Value) -> _Value:
    return {atoms: c for atoms, c in value.items() if c}
