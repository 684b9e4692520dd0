"""Short vector loops that nearly always have the same length get it as a constant, where it is the loop's whole length.

Compilers make vectors of them that fit. Of ``for (j = jt; j < min(n, jt + 24); j++)`` they make a loop over several
vectors a turn, which 24 may not be enough for, and do the rest one by one.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.expr import FALSE, TRUE, compare, conjunction, names, plus, subtract
from scopt.ir.nest import Block, Call, Condition, Const, Expr, For, Hold, If, LoopNest, Max, Min
from scopt.ir.nest_walks import Item, map_block, merged


def with_constant_lengths(
    nest: LoopNest, longest: int, rare: Collection[str] = (), fills: Collection[str] = (), others: Collection[str] = ()
) -> LoopNest:
    """The same instances in the same order, with a choice between vector loops of a constant length and the loops as
    they were.

    longest: of the lengths, in iterations. rare: statements that aren't worth it. fills: statements that fill up what
    others leave out, so that their loops are empty where those have their whole length. others: statements whose loops
    are looked at even where they are no vector loops.
    A choice stands outside of all loops that it doesn't depend on, parallel ones aside.
    """
    versions = _Versions(longest, frozenset(rare), frozenset(fills), frozenset(others))
    return LoopNest(map_block(versions.block(nest.body), versions.with_something))


class _Versions(Struct, frozen=True):
    """made: conditions of the choices so far."""

    longest: int
    rare: frozenset[str]
    fills: frozenset[str]
    others: frozenset[str]
    made: set[Condition] = field(default_factory=set)

    def block(self, block: Block) -> Block:
        return Block(tuple(merged(map(self.item, block.items), self.joined)))

    def with_something(self, item: Item) -> tuple[Item, ...]:
        """What fills something up as it was, where nothing else shares its choice: its loops are empty when there is
        nothing to do."""
        match item:
            case If(condition, Block(()), Block() as otherwise) if condition in self.made:
                return otherwise.items
        return (item,)

    def item(self, item: Item) -> Item:
        match item:
            case For() if all(isinstance(inner, Call) for inner in item.body.items):
                return self.innermost(item)
            case For():
                return self.outwards(replace(item, body=self.block(item.body)))
            case If():
                otherwise = None if item.otherwise is None else self.block(item.otherwise)
                return replace(item, then=self.block(item.then), otherwise=otherwise)
            case Hold():
                return replace(item, body=self.block(item.body))
        return item

    def innermost(self, loop: For) -> Item:
        inside = {item.statement for item in loop.body.items if isinstance(item, Call)}
        if inside <= self.fills:
            return self.filling(loop)
        abreast = loop.mark.most > 0
        wanted = (loop.mark.simd or abreast or inside & self.others) and not inside & self.rare
        found = constant_length(loop, self.longest) if wanted and loop.step == 1 and not loop.mark.parallel else None
        if found is None:
            return loop
        condition, lower, upper = found
        self.made.add(condition)
        return If(condition, Block((replace(loop, lower=lower, upper=upper),)), Block((loop,)))

    def filling(self, loop: For) -> Item:
        empty = compare(loop.upper, "<=", plus(loop.lower, -1))
        if isinstance(loop.lower, Max) or isinstance(loop.upper, Min) or empty in (TRUE, FALSE):
            return loop
        self.made.add(empty)
        return If(empty, Block(()), Block((loop,)))

    def outwards(self, loop: For) -> Item:
        """A loop around nothing but a choice as a choice between two loops."""
        match loop.body.items:
            case (If(condition, then, Block() as otherwise),) if condition in self.made and not loop.mark.parallel:
                if loop.iterator not in names(condition):
                    loops = (Block((replace(loop, body=body),)) if body.items else body for body in (then, otherwise))
                    return If(condition, *loops)
        return loop

    def joined(self, before: Item, after: Item) -> Item | None:
        """One choice in place of two of the same condition."""
        match before, after:
            case If(first, then, Block() as otherwise), If(second, then_, Block() as otherwise_) if (
                first == second and first in self.made
            ):
                return If(first, Block((*then.items, *then_.items)), Block((*otherwise.items, *otherwise_.items)))
        return None


def constant_length(loop: For, longest: int) -> tuple[Condition, Expr, Expr] | None:
    """The shortest constant length that one of a loop's lower bounds and one of its upper bounds make: when it is the
    loop's, and the bounds."""
    lowers = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    uppers = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    if len(lowers) + len(uppers) == 2:
        return None
    pairs: list[tuple[int, Expr, Expr]] = []
    for low in lowers:
        for high in uppers:
            distance = subtract(high, low)
            if isinstance(distance, Const) and 1 <= distance.value < longest:
                pairs.append((distance.value, low, high))
    if not pairs:
        return None
    _, low, high = min(pairs, key=lambda pair: pair[0])
    later = (compare(other, "<=", low) for other in lowers if other != low)
    earlier = (compare(high, "<=", other) for other in uppers if other != high)
    return conjunction([*later, *earlier]), low, high
