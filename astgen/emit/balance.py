"""Whether the iterations of a parallel loop take the same time: the printer's choice of an OpenMP schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scopt.astgen.emit.loop_work import bound_pairs, extent_candidates, is_tile_loop
from scopt.ir.expr import linear, names, substitute, subtract, weighted
from scopt.ir.nest import Block, Expr, FloorDiv, For, Max, Min, Mod, Name
from scopt.ir.nest_walks import children, items


def imbalanced(loop: For) -> bool:
    """Whether the time of an iteration depends on the iterator: an inner loop's extent does, or tiles are empty."""
    inner = [item for item in items(loop.body) if isinstance(item, For)]
    moving = [item.iterator for item in inner if _moves(item, loop.iterator, {})]
    together = {name: Name(loop.iterator) for name in moving}
    if any(_varies(item, loop.iterator) and not _moves(item, loop.iterator, together) for item in inner):
        return True
    return is_tile_loop(loop) and any(_may_be_empty(item, loop) for item in inner)


def _may_be_empty(inner: For, tiles: For) -> bool:
    """Whether a loop inside of a tile begins with it, and ends at a size that says nothing about which tiles there are:
    wavefronts of statements with several domains go on behind the last tile that has iterations."""
    around = names(tiles.lower) | names(tiles.upper)
    inside = {item.iterator for item in items(tiles.body) if isinstance(item, For)}
    lowers = inner.lower.args if isinstance(inner.lower, Max) else (inner.lower,)
    uppers = inner.upper.args if isinstance(inner.upper, Min) else (inner.upper,)
    begins = any(abs(linear(low)[0].get(Name(tiles.iterator), 0)) > 1 for low in lowers)
    others = (names(high) for high in uppers if tiles.iterator not in names(high))
    return begins and any(one - inside - around for one in others)


def runs_backwards(loop: For) -> bool:
    """Whether a parallel loop over tiles (with a stride) begins with its last iterations, since they take longest: what
    is left for the end is short.

    Source: Graham, "Bounds on multiprocessing timing anomalies" (1969): longest processing time first.
    """
    if not loop.mark.parallel or loop.step == 1:
        return False
    extents = (extent for inner in _outermost_varying(loop.body, loop.iterator) for extent in extent_candidates(inner))
    factors = [linear(extent)[0].get(Name(loop.iterator), 0) for extent in extents]
    return max(factors, default=0) > 0 and min(factors) >= 0


def _outermost_varying(block: Block, iterator: str) -> Iterator[For]:
    """Inner loops whose extents depend on an outer iterator, but for those inside of others."""
    for item in block.items:
        if isinstance(item, For) and _varies(item, iterator):
            yield item
        else:
            for inner in children(item):
                yield from _outermost_varying(inner, iterator)


def _varies(loop: For, iterator: str) -> bool:
    """Whether a loop's extent depends on an outer iterator,
    and the loop doesn't just move with it (tiles, skewed loops)."""
    if loop.mark.most:
        return False
    pairs = [one for one in bound_pairs(loop) if iterator in names(one[0]) | names(one[1])]
    return bool(pairs) and not _moves(loop, iterator, {}) and not all(_by_a_step(loop, iterator, *one) for one in pairs)


def _by_a_step(loop: For, iterator: str, lower: Expr, upper: Expr) -> bool:
    """Whether an outer iterator changes a loop's extent by one iteration at most, as that of the cells of one colour:
    ``for (j = (i + 1) % 2; j < n; j += 2)``."""
    terms, _ = linear(_by_remainders(subtract(upper, lower)))
    moving = {x: c for x, c in terms.items() if iterator in names(x)}
    if not all(isinstance(x, Mod) for x in moving):
        return False
    return sum(abs(c) * (x.divisor - 1) for x, c in moving.items() if isinstance(x, Mod)) <= loop.step


def _by_remainders(extent: Expr) -> Expr:
    """Multiples of quotients by what the divisor divides, as the numerators without their remainders."""
    coefficients, constant = linear(extent)
    parts: list[tuple[int, Expr]] = []
    for x, c in coefficients.items():
        if isinstance(x, FloorDiv) and c % x.divisor == 0:
            parts += [(c // x.divisor, x.numerator), (-(c // x.divisor), Mod(x.numerator, x.divisor))]
        else:
            parts.append((c, x))
    return weighted(parts, constant)


def _moves(loop: For, iterator: str, together: Mapping[str, Expr]) -> bool:
    """Whether a loop moves with an outer iterator as a whole. together: what stands for other iterators that do."""
    pairs = ((substitute(lower, together), substitute(upper, together)) for lower, upper in bound_pairs(loop))
    return any(
        iterator in names(lower) and iterator in names(upper) and iterator not in names(subtract(upper, lower))
        for lower, upper in pairs
    )
