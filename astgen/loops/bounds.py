"""Loop bounds without case distinctions.

Where a loop runs over several statements, isl's bound may distinguish cases for a page of conditions. The largest of
the cases will do if the iterations that this adds execute nothing, because the loops and guards inside exclude them.
Of cases in several parameters, as the n and m of ``i < n && i < m``, those in one of them are enough where that holds
for them, too: the largest of all may be as far away as the largest parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.expr import maximum, minimum, names, negate
from scopt.ir.nest import Block, Call, Compare, Expr, For, Hold, If, LoopNest, Max, Min, Name, Select
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Scop
from scopt.poly.nest_sets import Context, NestSpace


def plain_bounds(scop: Scop, nest: LoopNest) -> LoopNest:
    """Replace lower bounds with cases by the least case, upper ones by the greatest,
    where no statement instance is added."""
    space = NestSpace.of(scop, nest)
    return LoopNest(_Pass(space).block(nest.body, space.outside()))


def _cases(bound: Expr) -> Iterator[Expr]:
    """The values that a bound may take, for any outcome of its conditions."""
    if isinstance(bound, Select):
        yield from _cases(bound.then)
        yield from _cases(bound.otherwise)
    else:
        yield bound


def _by_names(bound: Expr) -> list[list[Expr]]:
    """The cases, apart by the names in them."""
    found: dict[frozenset[str], list[Expr]] = {}
    for one in _cases(bound):
        found.setdefault(frozenset(names(one)), []).append(one)
    return list(found.values())


def _has_cases(bound: Expr) -> bool:
    return any(isinstance(arg, Select) for arg in (bound.args if isinstance(bound, Min | Max) else (bound,)))


class _Pass(Struct, frozen=True, eq=False):
    space: NestSpace

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case For():
                loop = self.wider(item, context)
                return replace(loop, body=self.block(loop.body, self.space.inside(loop, context)))
            case If():
                then = self.block(item.then, context.within(self.space.condition(item.condition, context)))
                if item.otherwise is None:
                    return replace(item, then=then)
                otherwise = context.within(self.space.condition(negate(item.condition), context))
                return If(item.condition, then, self.block(item.otherwise, otherwise))
            case Call() | Hold():
                return item

    def wider(self, loop: For, context: Context) -> For:
        """The loop with plain bounds, if it executes the same."""
        if _has_cases(loop.upper):
            args = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
            candidate = replace(loop, upper=minimum(maximum(_cases(arg)) for arg in args))
            if not self.executes(candidate, ">", loop.upper, context):
                near = [self.near(candidate, ">", [maximum(some) for some in _by_names(arg)], context) for arg in args]
                bounds = ((*some,) if some else (maximum(_cases(arg)),) for some, arg in zip(near, args, strict=True))
                loop = replace(loop, upper=minimum(one for some in bounds for one in some))
        # with a step, another lower bound would be another set of iterations
        if _has_cases(loop.lower) and loop.step == 1:
            args = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
            candidate = replace(loop, lower=maximum(minimum(_cases(arg)) for arg in args))
            if not self.executes(candidate, "<", loop.lower, context):
                near = [self.near(candidate, "<", [minimum(some) for some in _by_names(arg)], context) for arg in args]
                bounds = ((*some,) if some else (minimum(_cases(arg)),) for some, arg in zip(near, args, strict=True))
                loop = replace(loop, lower=maximum(one for some in bounds for one in some))
        return loop

    def near(self, loop: For, beyond: Literal["<", ">"], bounds: Sequence[Expr], context: Context) -> list[Expr]:
        """Those of several bounds beyond which no iteration executes anything."""
        if len(bounds) < 2:
            return []
        return [one for one in bounds if not self.executes(loop, beyond, one, context)]

    def executes(self, loop: For, beyond: Literal["<", ">"], bound: Expr, context: Context) -> bool:
        """Whether the loop's iterations beyond a bound execute anything."""
        inside = self.space.inside(loop, context)
        several = bound.args if isinstance(bound, Min if beyond == ">" else Max) else (bound,)
        universe = isl.Set.universe(self.space.space)
        return any(
            not domain.is_empty()
            for one in several
            for where in self.cases(Name(loop.iterator), beyond, one, inside, universe)
            for domain in self.domains(loop.body, inside.within(where))
        )

    def cases(
        self, iterator: Expr, beyond: Literal["<", ">"], bound: Expr, inside: Context, where: isl.Set
    ) -> Iterator[isl.Set]:
        """The iterations beyond a bound, case by case: as one function of all cases it takes isl a hundred times as
        long to compare them. where: the case's iterations."""
        if inside.domain.intersect(where).is_empty():
            return
        if isinstance(bound, Select):
            test = self.space.condition(bound.condition, inside)
            yield from self.cases(iterator, beyond, bound.then, inside, where.intersect(test))
            yield from self.cases(iterator, beyond, bound.otherwise, inside, where.subtract(test))
            return
        found = where.intersect(self.space.condition(Compare(iterator, beyond, bound), inside))
        if not inside.domain.intersect(found).is_empty():
            yield found

    def domains(self, block: Block, context: Context) -> Iterator[isl.Set]:
        """The iterations of each call in the block."""
        for item in block.items:
            match item:
                case For():
                    yield from self.domains(item.body, self.space.inside(item, context))
                case If():
                    yield from self.domains(item.then, context.within(self.space.condition(item.condition, context)))
                    if item.otherwise is not None:
                        yield from self.domains(
                            item.otherwise, context.within(self.space.condition(negate(item.condition), context))
                        )
                case Call():
                    yield context.domain
