"""Which divisions may be C's own `/` and `%`, which round towards zero.

isl marks those whose numerator can't be negative, but takes for granted that the loop or guard at hand runs at all.
Bounds are evaluated before that is known, and for a negative numerator C's result is another one than floor division's.
So the flag is decided here, by the enclosing loops and guards alone.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.expr import conjunction, disjunction, floor_div, maximum, minimum, modulo, negate, select, weighted
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
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Scop
from scopt.poly.nest_sets import Context, NestSpace


def settle_divisions(scop: Scop, nest: LoopNest) -> LoopNest:
    """Set the flag ``nonnegative`` of each division to whether its numerator
    is never negative there, or the division is exact."""
    space = NestSpace.of(scop, nest)
    return LoopNest(_Prover(space).block(nest.body, space.outside()))


class _Prover(Struct, frozen=True, eq=False):
    space: NestSpace

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case For():
                loop = replace(item, lower=self.expr(item.lower, context), upper=self.expr(item.upper, context))
                return replace(loop, body=self.block(loop.body, self.space.inside(loop, context)))
            case If():
                condition = self.condition(item.condition, context)
                then = self.block(item.then, context.within(self.space.condition(condition, context)))
                if item.otherwise is None:
                    return If(condition, then)
                return If(
                    condition,
                    then,
                    self.block(item.otherwise, context.within(self.space.condition(negate(condition), context))),
                )
            case Call():
                return Call(item.statement, tuple(self.expr(arg, context) for arg in item.args))
            case Hold():
                return item

    def expr(self, e: Expr, context: Context) -> Expr:
        match e:
            case Const() | Name():
                return e
            case Sum(terms, constant):
                return weighted(((c, self.expr(x, context)) for c, x in terms), constant)
            case FloorDiv(numerator, divisor):
                inner = self.expr(numerator, context)
                return floor_div(inner, divisor, self.rounds_down(inner, divisor, context))
            case Mod(numerator, divisor, _, zero_test):
                inner = self.expr(numerator, context)
                return modulo(inner, divisor, not zero_test and self.rounds_down(inner, divisor, context), zero_test)
            case Min(args):
                return minimum(self.expr(arg, context) for arg in args)
            case Max(args):
                return maximum(self.expr(arg, context) for arg in args)
            case Select(condition, then, otherwise):
                test = self.condition(condition, context)
                holds = self.space.condition(test, context)
                left = self.expr(then, context.within(holds))
                return select(test, left, self.expr(otherwise, context.within(holds.complement())))

    def rounds_down(self, numerator: Expr, divisor: int, context: Context) -> bool:
        return self.space.truncated(self.space.value(numerator, context), divisor, context).is_empty()

    def condition(self, condition: Condition, context: Context) -> Condition:
        match condition:
            case Compare(left, op, right):
                return Compare(self.expr(left, context), op, self.expr(right, context))
            case And(args):
                kept: list[Condition] = []
                for arg in args:  # evaluated only where those before it hold
                    kept.append(self.condition(arg, context))
                    context = context.within(self.space.condition(kept[-1], context))
                return conjunction(kept)
            case Or(args):
                return disjunction(self.condition(arg, context) for arg in args)
            case Exceeds(factors, limit):
                return Exceeds(tuple(self.expr(factor, context) for factor in factors), limit)
            case Threads():
                return condition
