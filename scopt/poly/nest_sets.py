"""Loop nests as isl sets: iterators of enclosing loops as dimensions, expressions and conditions over them.

All sets live in one space for the whole nest, that of dates: positions in blocks in the even dimensions, iterators in
the odd ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.ir.expr import from_linear, linear, negate, subtract, weighted
from scopt.ir.nest import (
    And,
    Block,
    Call,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    FloorDiv,
    For,
    Hold,
    If,
    LoopNest,
    Max,
    Min,
    Mod,
    Name,
    Or,
    Select,
    Sum,
    Threads,
)
from scopt.ir.nest_walks import Item, children
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import PARAM, SET

Function = isl.Aff | isl.PwAff


class Context(Struct, frozen=True, eq=False):
    """Where an item stands. domain: values of the parameters and the enclosing iterators. iterators: their dimensions,
    by name.

    values: of iterators whose dimension counts their loop's iterations from 0 on, since it has a stride: then no
      remainders are needed.
    """

    domain: isl.Set
    iterators: Mapping[str, int]
    values: Mapping[str, isl.Aff] = field(default_factory=dict)

    def within(self, constraint: isl.Set) -> Context:
        return replace(self, domain=self.domain.intersect(constraint))


class NestSpace(Struct, frozen=True, eq=False):
    """The space of one nest, and what is read in it.

    strict: refuse divisions marked as C's `/` or `%` whose numerator may be negative.
    """

    scop: Scop
    space: isl.Space
    strict: bool = False

    @staticmethod
    def of(scop: Scop, nest: LoopNest, *, strict: bool = False) -> NestSpace:
        space = scop.domain.get_space().align_params(scop.context.get_space())
        for parameter in scop.parameters:
            if space.find_dim_by_name(PARAM, parameter.name) < 0:
                space = space.add_dims(PARAM, 1).set_dim_name(PARAM, space.dim(PARAM), parameter.name)
        return NestSpace(scop, space.set_from_params().add_dims(SET, 2 * loop_depth(nest.body) + 1), strict)

    def outside(self) -> Context:
        """The context of the nest itself."""
        return Context(isl.Set.universe(self.space).intersect_params(self.scop.context), {})

    def inside(self, loop: For, context: Context) -> Context:
        """The context of a loop's body."""
        dimension = 2 * len(context.iterators) + 1
        inner = replace(context, iterators={**context.iterators, loop.iterator: dimension})
        first = self.value(loop.lower, context) if loop.step > 1 else None
        if isinstance(first, isl.Aff):
            count = isl.Aff.var_on_domain(isl.LocalSpace.from_space(self.space), SET, dimension)
            value = first.add(count.scale_val(isl.Val(loop.step)))
            inner = replace(inner, values={**context.values, loop.iterator: value})
            inner = inner.within(at_most(self.constant(0), count))
            return inner.within(self._compare(Compare(Name(loop.iterator), "<=", loop.upper), inner, context))
        iterator = Name(loop.iterator)
        # a bound is read outside the loop, the iterator inside
        lower = self._compare(Compare(iterator, ">=", loop.lower), inner, context)
        upper = self._compare(Compare(iterator, "<=", loop.upper), inner, context)
        inner = inner.within(lower.intersect(upper))
        return inner.within(self._on_step(loop, inner, context)) if loop.step > 1 else inner

    def items(self, block: Block, context: Context) -> Iterator[tuple[For | Call | Hold, Context]]:
        """A block's items, those of its ifs under their conditions."""
        for item in block.items:
            if not isinstance(item, If):
                yield item, context
                continue
            for branch, where in self.branches(item, context):
                yield from self.items(branch, where)

    def branches(self, item: If, context: Context) -> Iterator[tuple[Block, Context]]:
        """What runs where a condition holds, and what else, if there is anything."""
        yield item.then, context.within(self.condition(item.condition, context))
        if item.otherwise is not None:
            yield item.otherwise, context.within(self.condition(negate(item.condition), context))

    def changed(self, item: If, context: Context, change: Callable[[Block, Context], Block]) -> If:
        """The same condition about other blocks."""
        then, *otherwise = [change(block, where) for block, where in self.branches(item, context)]
        return replace(item, then=then, otherwise=otherwise[0] if otherwise else None)

    def _on_step(self, loop: For, inner: Context, outer: Context) -> isl.Set:
        """Points a multiple of the step away from the lower bound."""
        lower = loop.lower
        if isinstance(lower, Max | Min) and all(_congruent(a, b, loop.step) for a, b in pairwise(lower.args)):
            lower = lower.args[0]  # all arguments agree modulo the step, so that any of them will do
        distance = _add(self.value(Name(loop.iterator), inner), self.value(lower, outer).neg())
        return equal(distance.mod_val(isl.Val(loop.step)), self.constant(0))

    # --- conditions ---

    def condition(self, condition: Condition, context: Context) -> isl.Set:
        match condition:
            case Compare():
                return self._compare(condition, context, context)
            case And(args):
                result = isl.Set.universe(self.space)
                for arg in args:  # C evaluates one only where those before it hold
                    result = result.intersect(self.condition(arg, context.within(result)))
                return result
            case Or(args):
                result = isl.Set.empty(self.space)
                for arg in args:
                    result = result.union(self.condition(arg, context))
                return result
            case Exceeds() | Threads():
                raise InternalError(f"{self.scop.location}: generated loops: no set of iterations: {condition}")

    def _compare(self, c: Compare, left: Context, right: Context) -> isl.Set:
        """The points where the comparison holds, its sides read in contexts of their own. Conjunctions stay without
        pieces: x <= min(a, b)."""
        zero_test = any(isinstance(side, Mod) and side.zero_test for side in (c.left, c.right))
        if zero_test and (c.op not in ("==", "!=") or Const(0) not in (c.left, c.right)):
            raise InternalError(f"{self.scop.location}: generated loops: a remainder of unknown sign in {c}")
        if c.op in ("<", "<="):
            return self._below(c.left, left, c.right, right, c.op == "<")
        if c.op in (">", ">="):
            return self._below(c.right, right, c.left, left, c.op == ">")
        first, second = c.left, c.right
        if Const(0) in (first, second):  # whether a remainder is 0 doesn't depend on the rounding
            first, second = (
                replace(side, nonnegative=False) if isinstance(side, Mod) else side for side in (first, second)
            )
        same = equal(self.value(first, left), self.value(second, right))
        return same if c.op == "==" else same.complement()

    def _below(self, small: Expr, small_in: Context, large: Expr, large_in: Context, strict: bool) -> isl.Set:
        result = isl.Set.universe(self.space)
        for a in small.args if isinstance(small, Max) else (small,):
            for b in large.args if isinstance(large, Min) else (large,):
                lower, upper = self.value(a, small_in), self.value(b, large_in)
                result = result.intersect(at_most(lower.add_constant_val(isl.Val(int(strict))), upper))
        return result

    # --- expressions ---

    def constant(self, value: int) -> isl.Aff:
        return isl.Aff.zero_on_domain(isl.LocalSpace.from_space(self.space)).add_constant_val(isl.Val(value))

    def variable(self, name: str, context: Context) -> isl.Aff:
        local = isl.LocalSpace.from_space(self.space)
        if name in context.values:
            return context.values[name]
        if name in context.iterators:
            return isl.Aff.var_on_domain(local, SET, context.iterators[name])
        position = self.space.find_dim_by_name(PARAM, name)
        if position < 0:
            raise InternalError(f"{self.scop.location}: generated loops use the unknown name '{name}'")
        return isl.Aff.var_on_domain(local, PARAM, position)

    def value(self, e: Expr, context: Context) -> Function:
        """`e` as a function on the space of dates; piecewise only where it has a min, max or select."""
        match e:
            case Const(value):
                return self.constant(value)
            case Name(name):
                return self.variable(name, context)
            case Sum(terms, constant):
                total: Function = self.constant(constant)
                for c, x in terms:
                    total = _add(total, self.value(x, context).scale_val(isl.Val(c)))
                return total
            case FloorDiv(numerator, divisor, nonnegative):
                top = self.value(numerator, context)
                if nonnegative and self.strict:
                    self.check_truncation(e, top, divisor, context)
                return top.scale_down_val(isl.Val(divisor)).floor()
            case Mod(numerator, divisor, nonnegative):
                top = self.value(numerator, context)
                if nonnegative and self.strict:
                    self.check_truncation(e, top, divisor, context)
                return top.mod_val(isl.Val(divisor))
            case Min(args) | Max(args):
                first, *others = (_pw(self.value(a, context)) for a in args)
                for other in others:
                    first = first.min(other) if isinstance(e, Min) else first.max(other)
                return first
            case Select(condition, then, otherwise):
                test = self.condition(condition, context)
                left = _pw(self.value(then, context.within(test))).intersect_domain(test)
                elsewhere = test.complement()
                return left.union_add(_pw(self.value(otherwise, context.within(elsewhere))).intersect_domain(elsewhere))

    def piecewise(self, e: Expr, context: Context) -> isl.PwAff:
        """The same, always as a piecewise function."""
        return _pw(self.value(e, context))

    def check_truncation(self, e: Expr, numerator: Function, divisor: int, context: Context) -> None:
        """C's `/` and `%` round towards zero: refuse a numerator that can be negative, unless the division is exact."""
        wrong = self.truncated(numerator, divisor, context)
        if not wrong.is_empty():
            raise InternalError(
                f"{self.scop.location}: generated loops: {e} may have a negative numerator: {wrong.sample_point()}"
            )

    def truncated(self, numerator: Function, divisor: int, context: Context) -> isl.Set:
        """Where C's `/` and `%` differ from floor division and its remainder."""
        negative = at_most(numerator, self.constant(-1))
        return context.domain.intersect(negative).subtract(equal(numerator.mod_val(isl.Val(divisor)), self.constant(0)))


def loop_depth(block: Block) -> int:
    """How deep loops are nested."""

    def of(item: Item) -> int:
        return isinstance(item, For) + max(map(loop_depth, children(item)), default=0)

    return max(map(of, block.items), default=0)


def _congruent(a: Expr, b: Expr, modulus: int) -> bool:
    """Whether two expressions agree modulo `modulus`, as far as their form tells."""
    return _residue(subtract(a, b), modulus) == Const(0)


def _residue(e: Expr, modulus: int) -> Expr:
    """Something simpler that agrees with `e` modulo `modulus`."""
    coefficients, constant = linear(e)
    parts = [(c % modulus, x) for x, c in coefficients.items() if c % modulus]
    flat = ((c, x.numerator if isinstance(x, Mod) and c * x.divisor % modulus == 0 else x) for c, x in parts)
    simpler = weighted(flat, constant)
    coefficients, constant = linear(simpler)
    reduced = from_linear({x: c % modulus for x, c in coefficients.items()}, constant % modulus)
    return reduced if reduced == e else _residue(reduced, modulus)


def _pw(value: Function) -> isl.PwAff:
    return value if isinstance(value, isl.PwAff) else isl.PwAff.from_aff(value)


def _add(a: Function, b: Function) -> Function:
    return a.add(b) if isinstance(a, isl.Aff) and isinstance(b, isl.Aff) else _pw(a).add(_pw(b))


def at_most(a: Function, b: Function) -> isl.Set:
    if isinstance(a, isl.Aff) and isinstance(b, isl.Aff):
        return a.le_basic_set(b).to_set()
    return _pw(a).le_set(_pw(b))


def equal(a: Function, b: Function) -> isl.Set:
    if isinstance(a, isl.Aff) and isinstance(b, isl.Aff):
        return a.eq_basic_set(b).to_set()
    return _pw(a).eq_set(_pw(b))


def free(things: isl.Set, *dimensions: int) -> isl.Set:
    """Without the constraints on some dimensions."""
    for dimension in dimensions:
        things = things.project_out(SET, dimension, 1).insert_dims(SET, dimension, 1)
    return things
