"""Draws subscripts and affine conditions."""

from __future__ import annotations

from tests.fuzz.draft import LOOKUPS, WIDEST, Draft, Shape
from tests.fuzz.expressions import (
    Cast,
    Choice,
    Compare,
    Condition,
    Extremum,
    Int,
    IntExpr,
    Linear,
    Logic,
    Lookup,
    Quotient,
    Ref,
    Remainder,
    Var,
    shifted,
)
from tests.fuzz.scope import Scope


def element(draft: Draft, scope: Scope, shape: Shape, *, write: bool = False) -> Ref:
    """An element of an array."""
    return _place(draft, scope, shape, write=write)[0]


def followed(draft: Draft, scope: Scope, shape: Shape) -> tuple[str, Ref]:
    """The declaration of a pointer into a row of an array, or to an element of it, and an element that it leads to."""
    reference, subscripts = _place(draft, scope, shape, write=True)
    draft.pointers_made += 1
    name = f"q{draft.part}{draft.pointers_made}"
    whole = bool(shape.access.member) and not shape.access.inner
    if whole or draft.choices.chance(30):
        return f"{shape.type} *{name} = &{reference};", Ref(draft.choices.pick(f"*{name}", f"{name}[0]"))
    row = shape.access.text((*subscripts[:-1], Int(0)))
    return f"{shape.type} *{name} = &{row};", Ref(f"{name}[{subscripts[-1]}]")


def _place(draft: Draft, scope: Scope, shape: Shape, *, write: bool) -> tuple[Ref, tuple[IntExpr, ...]]:
    """An element of an array, and its subscripts."""
    drawn: tuple[IntExpr, ...] = tuple(
        _shifted_subscript(draft, scope, shape.rank, lookups=shape.role != "index") for _ in range(shape.rank)
    )
    reference = shape.reference(scope, drawn)
    if reference is None:
        drawn = (Int(0),) * shape.rank
        reference = shape.reference(scope, drawn)
    assert reference is not None
    shape.written = shape.written or write
    return reference, drawn


def _shifted_subscript(draft: Draft, scope: Scope, rank: int, *, lookups: bool) -> IntExpr:
    """A subscript plus what keeps it at 0 or above. The shift depends on this subscript alone: later ones can't change
    text that is drawn already."""
    drawn = subscript(draft, scope, rank, lookups=lookups)
    result = shifted(drawn, max(0, -drawn.range(scope.ranges)[0]))
    if scope.exact(result):
        return result
    plain = Var(scope.iterators[-1]) if scope.iterators else Int(1)
    low, high = plain.range(scope.ranges)
    return plain if low >= 0 and high < WIDEST[rank] else Int(1)


def subscript(draft: Draft, scope: Scope, rank: int, *, lookups: bool = False) -> IntExpr:
    choices = draft.choices
    if not scope.iterators:
        return Int(choices.up_to(3))
    if lookups and choices.chance(draft.kind.lookups):
        return lookup(draft, scope)
    for _ in range(2):
        drawn = affine(draft, scope) if choices.chance(18) else near_iterator(draft, scope)
        low, high = drawn.range(scope.ranges)
        if high - low + max(0, low) < WIDEST[rank]:
            return drawn
    return Remainder(Var(scope.iterators[-1]), 4)


def lookup(draft: Draft, scope: Scope) -> IntExpr:
    """`index[i]`, perhaps plus something."""
    index = next((shape for shape in draft.shapes if shape.role == "index"), None)
    if index is None:
        return near_iterator(draft, scope)
    found = Lookup(str(element(draft, scope, index)), LOOKUPS)
    return draft.choices.pick(found, found, shifted(found, 1))


def fixed_cell(draft: Draft, scope: Scope) -> IntExpr | None:
    """An element of the array of subscripts at a place that no loop changes; None without such an array."""
    index = next((shape for shape in draft.shapes if shape.role == "index"), None)
    if index is None:
        return None
    found = index.reference(scope, tuple(Int(draft.choices.up_to(2)) for _ in range(index.rank)))
    return Lookup(str(found), LOOKUPS) if found is not None else None


def near_iterator(draft: Draft, scope: Scope) -> IntExpr:
    """i, i + 1, i - 2: what most subscripts look like."""
    choices = draft.choices
    if scope.inductions and choices.chance(40):
        return Var(choices.pick(*scope.inductions))
    iterator = Var(scope.iterators[-1 - choices.up_to(len(scope.iterators) - 1)])
    result = shifted(iterator, choices.pick(0, 0, 0, 1, -1, 2, -2))
    if draft.constants and choices.chance(15):
        return Linear(((1, iterator), (choices.pick(1, -1), Var(choices.pick(*draft.constants)))))
    if len(draft.kind.iterators) > 2 and choices.chance(6):
        cast = Cast(choices.pick("int", "long", "size_t"), result)
        return cast if scope.exact(cast) else result
    return result


def affine(draft: Draft, scope: Scope) -> IntExpr:
    choices = draft.choices
    names = (*scope.iterators[::-1], *draft.sizes, *draft.constants)
    one, other = Var(choices.pick(*names)), Var(choices.pick(*names))
    constant = choices.pick(0, 1, -1, 2, 3, -4)
    form = choices.up_to(11)
    if form > 5 and not draft.spice():
        form = 1
    match form:
        case 0 | 1:
            return shifted(one, constant)
        case 2:
            return Linear(((1, one), (1, other)), constant) if one != other else Linear(((2, one),), constant)
        case 3:
            return Linear(((1, one), (-1, other)), constant) if one != other else shifted(one, constant)
        case 4:
            return Linear(((choices.pick(2, 3, -1, -2), one),), constant)
        case 5:
            return Int(choices.up_to(6))
        case 6:
            return Quotient(shifted(one, constant), choices.pick(2, 3, 4))
        case 7:
            return Remainder(shifted(one, constant), choices.pick(2, 3, 5))
        case 8:
            return Extremum(
                choices.pick("min", "max"),
                shifted(one, constant),
                shifted(other, choices.pick(0, 2, -3)),
                choices.chance(50),
            )
        case 9:
            return Linear(
                ((choices.pick(1, 2), Quotient(Linear(((1, one), (1, other)), constant), choices.pick(2, 3))),),
                choices.pick(0, 1),
            )
        case 10:
            holds = Compare(one, choices.pick("<", "=="), Int(choices.up_to(3)))
            return Linear(
                ((choices.pick(1, 1, -1), Choice(holds, Int(0), Int(choices.pick(2, 5)))), (1, other)), constant
            )
        case _:
            return Choice(
                Compare(one, choices.pick("<", ">="), shifted(other, constant)), shifted(one, 1), Var(draft.sizes[1])
            )


def condition(draft: Draft, scope: Scope) -> Condition:
    """An affine condition that C decides as mathematics does."""
    drawn = _condition(draft, scope, 2)
    return drawn if scope.decides(drawn) else Compare(Var(scope.iterators[-1]), ">", Int(1))


def _condition(draft: Draft, scope: Scope, nested: int) -> Condition:
    choices = draft.choices
    match choices.up_to(7 if nested else 4):
        case 0 | 1 | 2:
            left = Var(scope.iterators[-1]) if choices.chance(50) else affine(draft, scope)
            return Compare(left, choices.pick("<", ">=", "<=", ">", "==", "!="), affine(draft, scope))
        case 3 | 4 if draft.spice():
            left = Remainder(near_iterator(draft, scope), choices.pick(2, 3))
            return Compare(left, choices.pick("==", "!=", ">"), Int(choices.up_to(1)))
        case 5:
            return Logic("&&", _condition(draft, scope, nested - 1), _condition(draft, scope, nested - 1))
        case 3 | 4:
            return Compare(Var(scope.iterators[-1]), choices.pick("<", ">=", "!="), near_iterator(draft, scope))
        case 6:
            return Logic("||", _condition(draft, scope, nested - 1), _condition(draft, scope, nested - 1))
        case _:
            return Logic("!", _condition(draft, scope, nested - 1))
