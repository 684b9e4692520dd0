"""The test in front of a transformed region, as C text.

Addresses are compared as integers, since C compares pointers of one object only; offsets are computed in an unsigned
type, since bounds that the region never reaches might overflow a signed one.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.c_expr import HELPERS, THREADS, ExprPrinter, Level, helper_name
from scopt.astgen.emit.c_read import Reader, Unreadable, canonical_condition
from scopt.astgen.loops.isl_loops import condition_of
from scopt.diagnostics import InternalError
from scopt.ir.expr import TRUE
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.nest import And, Block, Condition, LoopNest
from scopt.ir.scop import Guard, Polynomial, Scop, Stretch
from scopt.poly.nest_sets import Context, NestSpace


def guard_text(scop: Scop, worth: str = "", counter: str = "") -> str:
    """The condition under which the transformed region is right, as a C expression; empty if that is always so.

    worth: another condition, without ``||``, that has to hold too. counter: a function that is given the condition,
      where it is asked for.
    Raises InternalError if the printed condition, read back, allows parameters that the guard doesn't.
    """
    if scop.guard is None:
        return worth
    condition = condition_of(scop, scop.guard.parameters)
    printer = ExprPrinter.of(scop)
    tests = [f"({scop.long_type}){name} >= 0" for name in scop.guard.fits]
    if condition != TRUE:
        conjuncts = condition.args if isinstance(condition, And) else (condition,)
        texts = [printer.condition(one).at(Level.COMPARE) for one in conjuncts]
        _check(scop, scop.guard, condition, " && ".join(texts))
        tests += texts
    tests += [_apart(scop, *pair) for pair in scop.guard.apart]
    tests += [test.call for test in scop.guard.tests]
    tests = [f"{counter}({' && '.join(tests)})"] if counter and tests else tests
    tests = [worth, *tests] if worth else tests
    return (
        tests[0].removeprefix("(").removesuffix(")")
        if len(tests) == 1 and scop.guard.apart and not (counter or scop.guard.tests)
        else " && ".join(tests)
    )


def guard_helpers(text: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """The helper functions that a guard calls."""
    return tuple(helper for helper in (*HELPERS, THREADS) if f"{helper_name(helper, reserved)}(" in text)


def _check(scop: Scop, guard: Guard, meant: Condition, text: str) -> None:
    """The text, parsed again, is the condition, and it holds nowhere outside of the guard's set."""
    try:
        tree = parse_c(f"int guard(void) {{ return {text}; }}")
        returned: ir.Return = tree.ext[0].body.block_items[0]
        read = Reader.of(scop).condition(returned.expr)
    except (Unreadable, CSyntaxError) as error:
        raise InternalError(f"{scop.location}: the printed guard can't be read: {error}") from error
    if canonical_condition(read) != canonical_condition(meant):
        raise InternalError(f"{scop.location}: the printed guard is another condition")
    space = NestSpace.of(scop, LoopNest(Block(())), strict=True)
    everywhere = Context(isl.Set.universe(space.space), {})
    if not space.condition(read, everywhere).params().is_subset(guard.parameters):
        raise InternalError(f"{scop.location}: the printed guard allows too much")


# --- memory -----------------------------------------------------------------------------------------------------------


def _apart(scop: Scop, one: Stretch, other: Stretch) -> str:
    """One stretch ends before the other begins, in parentheses."""
    before = " && ".join(_not_after(scop, one, other))
    after = " && ".join(_not_after(scop, other, one))
    if len(one.beyond) * len(other.first) > 1:
        before = f"({before})"
    if len(other.beyond) * len(one.first) > 1:
        after = f"({after})"
    return f"({before} || {after})"


def _not_after(scop: Scop, one: Stretch, other: Stretch) -> Iterator[str]:
    for end in one.beyond:
        for start in other.first:
            yield f"{_address(scop, one, end)} <= {_address(scop, other, start)}"


def _address(scop: Scop, stretch: Stretch, offset: Polynomial) -> str:
    """An address as an unsigned integer; unsigned arithmetic can't overflow."""
    return _Address(scop, stretch).text(offset)


class _Address(Struct, frozen=True, eq=False):
    scop: Scop
    stretch: Stretch

    def text(self, offset: Polynomial) -> str:
        address = f"({self.word}){self.stretch.base}"
        if not offset:
            return address
        if len(offset) > 1:
            return f"{address} + {self.stretch.element} * ({self.sum(offset)})"
        coefficient, factors = offset[0]
        more = () if abs(coefficient) == 1 and not factors else self.factors(abs(coefficient), factors)
        return f"{address} {'-' if coefficient < 0 else '+'} {' * '.join((self.stretch.element, *more))}"

    def factors(self, coefficient: int, factors: tuple[str, ...]) -> tuple[str, ...]:
        sums = dict(self.stretch.sums)
        quotients = {key: (value, divisor) for key, value, divisor in self.stretch.quotients}
        texts = []
        for factor in factors:
            if factor in quotients:
                value, divisor = quotients[factor]
                texts.append(f"(({self.sum(value)}) / {self.unsigned(divisor)})")
            else:
                texts.append(f"({self.sum(sums[factor])})" if factor in sums else factor)
        return (*((self.unsigned(coefficient),) if coefficient != 1 or not factors else ()), *texts)

    def sum(self, offset: Polynomial) -> str:
        """Each term has a factor of the unsigned type, or is a single name, which the sum converts."""
        terms = sorted(offset, key=lambda term: (term[0] < 0, -len(term[1])))
        constant = next((term for term in terms if not term[1]), None)
        if constant is not None:
            terms.remove(constant)
            terms.insert(1 if terms[0][0] > 0 else 0, constant)
        wide = {name for name, *_ in (*self.stretch.sums, *self.stretch.quotients)}
        text = ""
        for coefficient, factors in terms:
            product = " * ".join(self.factors(abs(coefficient), factors))
            narrow = bool(factors) and abs(coefficient) == 1 and wide.isdisjoint(factors)
            if narrow and (len(factors) > 1 or not (text or constant is not None)):
                product = f"({self.word}){product}"
            if not text:
                text = product if coefficient > 0 else f"-{product}"
            else:
                text += f" {'-' if coefficient < 0 else '+'} {product}"
        return text

    @property
    def word(self) -> str:
        """An unsigned type as wide as a pointer."""
        return "unsigned long" if self.scop.long_type == "long" else "__UINTPTR_TYPE__"

    def unsigned(self, value: int) -> str:
        return f"{value}UL" if self.scop.long_type == "long" else f"({self.word}){value}"
