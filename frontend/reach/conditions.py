"""What conditions say of symbols: of the latest in a sum, or of a part of the sum that has a symbol of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from scopt.frontend.reach.ends import Limits
from scopt.frontend.reach.states import State, key_of
from scopt.frontend.reach.sums import Sum, name, names_of, plus, scaled, times, with_value


def told(total: Sum, state: State) -> Sum:
    """The sum with symbols for the parts that conditions say something of."""
    for key, symbol in state.known.items():
        part = dict(key)
        first = max(part, key=len)
        for monomial in total:
            if Counter(first) <= Counter(monomial):
                rest = tuple(sorted((Counter(monomial) - Counter(first)).elements()))
                others: Sum = {rest: total[monomial] / part[first]}
                whole = times(part, others)
                if all(total.get(one) == coefficient for one, coefficient in whole.items()):
                    total = plus(plus(total, whole, -1), times(name(symbol), others))
                    break
    return total


def at_least(total: Sum, order: Mapping[str, int], state: State) -> Sum | None:
    """Notes that a sum isn't negative. Where that needs a symbol for a part of it and there is none: that part."""
    symbols = sorted((one for one in names_of([total]) if one in order), key=order.__getitem__)
    if not symbols:
        return None
    latest = symbols[-1]
    for earlier in symbols[:-1]:
        _bound_without_later(earlier, total, order, state)
    factor = total.get((latest,))
    if factor is not None and sum(latest in monomial for monomial in total) == 1:
        bound = scaled({one: c for one, c in total.items() if one != (latest,)}, -1 / factor)
        _bound(latest, bound, state, up=factor < 0)
        return None
    moving = {one: c for one, c in total.items() if any(one_of in order for one_of in one)}
    rest = {one: c for one, c in total.items() if one not in moving}
    positive = moving[min(moving)] > 0
    part = scaled(moving, 1 if positive else -1)
    key = key_of(part)
    if key not in state.known:
        return part
    _bound(state.known[key], scaled(rest, -1 if positive else 1), state, up=not positive)
    return None


def _bound_without_later(symbol: str, total: Sum, order: Mapping[str, int], state: State) -> None:
    """What a sum that isn't negative says of a symbol that isn't the latest in it, by the others' own limits."""
    factor = total.get((symbol,))
    if factor is None or sum(symbol in monomial for monomial in total) != 1:
        return
    rest = {one: c for one, c in total.items() if one != (symbol,)}
    place = order[symbol]
    for later in sorted(names_of([rest]) & order.keys(), key=order.__getitem__, reverse=True):
        if order[later] < place:
            break
        own, limits = rest.get((later,)), state.limits.get(later, Limits())
        if own is None or sum(later in monomial for monomial in rest) != 1:
            return
        ends = [
            end
            for end in (limits.highs if own > 0 else limits.lows)
            if all(order.get(one, -1) < place for one in names_of([end]))
        ]
        if not ends:
            return
        rest = dict(with_value(rest, later, ends[0]))
    _bound(symbol, scaled(rest, -1 / factor), state, up=factor < 0)


def _bound(symbol: str, bound: Sum, state: State, *, up: bool) -> None:
    limits = state.limits.get(symbol, Limits())
    lows, highs = ((), (bound,)) if up else ((bound,), ())
    state.limits[symbol] = Limits((*limits.lows, *lows), (*limits.highs, *highs))
