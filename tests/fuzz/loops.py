"""Draws loop headers: ends, steps, forms, types of iterators."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from tests.fuzz.draft import MAX_INSTANCES, Draft
from tests.fuzz.expressions import (
    Compare,
    Comparison,
    Extremum,
    Int,
    IntExpr,
    Linear,
    Product,
    Quotient,
    Range,
    Remainder,
    Var,
    shifted,
)
from tests.fuzz.integers import affine, fixed_cell
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Induction, Loop
from tests.fuzz.typed import TYPES, defined, fits_type


class Opened(Struct, frozen=True):
    """A loop without a body, and what stands around its body."""

    loop: Loop
    scope: Scope


def open_loop(draft: Draft, scope: Scope, iterator: str) -> Opened:
    choices = draft.choices
    inside = not choices.chance(25)
    type = choices.pick(*draft.kind.iterators) if inside else draft.iterator_type
    loop = _header(draft, scope, iterator, type, inside)
    reached = _reached(scope, loop)
    trips = max(1, (reached[1] - reached[0]) // abs(loop.step) + 1)
    inner = _refined(scope, loop).inside(iterator, type, reached, trips)
    if loop.form == "for" and choices.chance(draft.kind.inductions):
        loop, inner = _with_induction(draft, loop, inner, trips)
    if (
        loop.form == "for"
        and choices.chance(draft.kind.control)
        and not (loop.induction is not None and loop.induction.in_header)
    ):
        loop = replace(loop, form=choices.pick("while", "do"))
    return Opened(loop, inner)


def _header(draft: Draft, scope: Scope, iterator: str, type: str, inside: bool) -> Loop:
    choices = draft.choices
    step = choices.pick(1, 1, 1, -1, -1, 2, 3, -2)
    if abs(step) > 1 and not draft.spice():
        step //= abs(step)
    unsigned = not TYPES[type][1]
    if unsigned and step < 0 and choices.chance(70):
        found = _counting_down(draft, scope, iterator, type, inside)
        if found is not None:
            return found
    start, bounds, comparison = _ends(draft, scope, step)
    loop = Loop(
        iterator=iterator,
        type=type,
        inside=inside,
        start=start,
        comparison=comparison,
        bounds=bounds,
        step=step,
        body=(),
        style=choices.pick(0, 0, 1, 2, 3),
        flipped=choices.chance(10),
        braces=not choices.chance(30),
    )
    if step > 0 and draft.kind.lookups and choices.chance(15) and (cell := fixed_cell(draft, scope)) is not None:
        loop = replace(loop, start=Int(0), bounds=(cell,), comparison="<")
    if _possible(scope, loop):
        return loop
    size = Var(draft.sizes[0])
    plain = replace(loop, start=Int(0), bounds=(size,), comparison="<", step=1, style=0)
    if _possible(scope, plain):
        return plain
    if step > 0 or unsigned:
        return replace(plain, bounds=(Int(3),))
    return replace(loop, start=Int(3), bounds=(Int(0),), comparison=">=")


def _counting_down(draft: Draft, scope: Scope, iterator: str, type: str, inside: bool) -> Loop | None:
    """`i-- > 0`, or an iterator that wraps around at 0."""
    choices = draft.choices
    size = Var(choices.pick(*draft.sizes))
    far = shifted(size, choices.pick(0, 0, 1))
    low, high = far.range(scope.ranges)
    if low < 0 or high > 40 or not scope.exact(far, type) or (high + 1) * scope.instances > MAX_INSTANCES:
        return None
    if TYPES[type][0] >= 32 and choices.chance(30):
        return Loop(iterator, type, inside, Linear(((1, size),), -1), "<", (size,), -1, (), form="wraparound")
    return Loop(iterator, type, inside, far, ">", (Int(choices.pick(0, 0, 1)),), -1, (), form="postdecrement")


def _possible(scope: Scope, loop: Loop) -> bool:
    """Whether C's loop runs as mathematics has it, to its end,
    without an iterator out of its type's range; and not for too long."""
    low, high = _reached(scope, loop)
    if low < -20 or high > 40 or (high - low + 1) // abs(loop.step) * scope.instances > MAX_INSTANCES:
        return False
    starts = loop.start.range(scope.ranges)
    size = abs(loop.step)
    ends = (min(low, starts[0]) - (size if loop.step < 0 else 0), max(high, starts[1]) + (size if loop.step > 0 else 0))
    if not fits_type(*ends, loop.type) or not scope.exact(loop.start, loop.type):
        return False
    around = replace(scope, ranges=scope.ranges | {loop.iterator: ends}, types=scope.types | {loop.iterator: loop.type})
    deciding = _deciding(scope, loop)
    return all(
        around.decides(Compare(Var(loop.iterator), loop.comparison, bound))
        if bound in deciding
        else defined(bound, scope.ranges, scope.types)
        for bound in loop.bounds
    )


def _deciding(scope: Scope, loop: Loop) -> tuple[IntExpr, ...]:
    """The bounds that count: all, but for those that may wrap around where another one doesn't. What such a bound is
    then doesn't matter."""
    settled = tuple(bound for bound in loop.bounds if scope.exact(bound))
    return settled if settled and loop.step > 0 else loop.bounds


def _reached(scope: Scope, loop: Loop) -> Range:
    """The values that an iterator can have inside the body; one value where the body can't be reached."""
    if loop.form == "wraparound":
        return 0, max(0, loop.bounds[0].range(scope.ranges)[1] - 1)
    starts = loop.start.range(scope.ranges)
    if loop.form == "postdecrement":
        (bound,) = loop.bounds
        low = bound.range(scope.ranges)[0]
        return low, max(low, starts[1] - 1)
    strict = loop.comparison in ("<", ">", "!=")
    ends = [bound.range(scope.ranges) for bound in _deciding(scope, loop)]
    if loop.step > 0:
        low, high = starts[0], min(end[1] for end in ends) - strict
        return low, max(low, high)
    low, high = max(end[0] for end in ends) + strict, starts[1]
    return min(low, high), high


def _refined(scope: Scope, loop: Loop) -> Scope:
    """What is known in the body: that the loop has iterations."""
    if loop.form == "wraparound":
        return scope.at_least(loop.bounds[0], 1)
    if loop.form == "postdecrement":
        return scope.at_least(loop.start, loop.bounds[0].range(scope.ranges)[0] + 1)
    strict = loop.comparison in ("<", ">")
    if loop.comparison == "!=":
        return scope
    if loop.step < 0:
        low = max(bound.range(scope.ranges)[0] for bound in loop.bounds)
        return scope.at_least(loop.start, low + strict)
    for bound in _deciding(scope, loop):
        scope = scope.at_least(bound, loop.start.range(scope.ranges)[0] + strict)
    return scope


def _with_induction(draft: Draft, loop: Loop, inner: Scope, trips: int) -> tuple[Loop, Scope]:
    """A second variable, in steps of its own."""
    choices = draft.choices
    name = f"p{draft.part}{len(draft.inductions)}"
    start, step = choices.up_to(4), choices.pick(1, 2, -1)
    last = start + step * trips
    in_header = loop.inside and loop.type in ("int", "long") and choices.chance(50)
    if min(start, last) < -20 or max(start, last) > 60:
        return loop, inner
    if not in_header:
        type = choices.pick("int", "int", "int", "long", *(("unsigned", "size_t") if last >= 0 else ()))
        draft.inductions.append((type, name))
    else:
        name, type = f"h{loop.iterator}", loop.type
    ranges = inner.ranges | {name: (min(start, last), max(start, last))}
    known = replace(inner, ranges=ranges, types=inner.types | {name: type}, inductions=(*inner.inductions, name))
    return replace(loop, induction=Induction(name, start, step, in_header, choices.pick(99, 99, 0, 1))), known


def _ends(draft: Draft, scope: Scope, step: int) -> tuple[IntExpr, tuple[IntExpr, ...], Comparison]:
    choices = draft.choices
    near, far = _near_end(draft, scope), _far_end(draft, scope)
    if abs(step) == 1 and choices.chance(8):
        return _unequal_ends(draft, scope, step)
    if step > 0:
        bounds: tuple[IntExpr, ...] = (far,)
        if draft.wide and choices.chance(30):
            bounds = (far, _wide_end(draft))
        elif choices.chance(12) and draft.spice():
            bounds = (far, _far_end(draft, scope))
        return near, bounds, choices.pick("<", "<", "<=")
    bounds = (near, _near_end(draft, scope)) if choices.chance(12) and draft.spice() else (near,)
    return shifted(far, -1), bounds, choices.pick(">=", ">=", ">")


def _wide_end(draft: Draft) -> IntExpr:
    """A second bound that may be larger than an int can be, or wrap around."""
    wide = Var(draft.wide)
    return draft.choices.pick(wide, shifted(wide, -1), shifted(wide, -2), shifted(wide, 1))


def _near_end(draft: Draft, scope: Scope) -> IntExpr:
    """Where a loop starts when it counts up."""
    choices = draft.choices
    if scope.iterators and choices.chance(40):
        outer = Var(choices.pick(*scope.iterators[::-1]))
        if choices.chance(60) or not draft.spice():
            return shifted(outer, choices.pick(0, 1, -2))
        return choices.pick(Extremum("max", Int(0), shifted(outer, -3), choices.chance(50)), Quotient(outer, 2))
    if choices.chance(10):
        return affine(draft, scope)
    if draft.constants and choices.chance(15):
        return Var(choices.pick(*draft.constants))
    return Int(choices.pick(0, 0, 0, 1, 2, -2))


def _far_end(draft: Draft, scope: Scope) -> IntExpr:
    """Where a loop ends when it counts up."""
    choices = draft.choices
    n, m = (Var(name) for name in draft.sizes[:2])
    if scope.iterators and choices.chance(35):
        outer = Var(choices.pick(*scope.iterators[::-1]))
        if choices.chance(25) and draft.spice():
            return Extremum("min", n, shifted(outer, 4), choices.chance(50))
        return choices.pick(
            shifted(outer, choices.pick(0, 1, 3)), Linear(((1, n), (-1, outer))), Linear(((2, outer),), 1)
        )
    if choices.chance(12):
        return affine(draft, scope)
    if choices.chance(8) and draft.spice():
        return Quotient(m, 2)
    if draft.constants and choices.chance(25):
        return Var(choices.pick(*draft.constants))
    if choices.chance(6):
        # No sum of variables, but the same in all iterations.
        return shifted(
            Product(choices.pick(n, Remainder(n, 4), Quotient(m, 2)), Remainder(m, choices.pick(3, 4))),
            choices.pick(0, 0, -1),
        )
    return choices.pick(n, n, m, shifted(n, choices.pick(-1, 1)), Int(5))


def _unequal_ends(draft: Draft, scope: Scope, step: int) -> tuple[IntExpr, tuple[IntExpr, ...], Comparison]:
    """Ends for `!=`: the far one is never short of the near one, in any call."""
    outer = [name for name in (*scope.iterators, *draft.sizes) if scope.ranges[name][0] >= 0]
    far: IntExpr = Var(draft.choices.pick(*outer)) if outer else Int(4)
    if step > 0:
        return Int(0), (far,), "!="
    return far, (Int(0),), "!="
