"""Loops whose subscripts are other functions in the first or last iterations, as those of `a[j == 0 ? n - 1 : j - 1]`:
these iterations stand beside the others, which walk along lines then. So do those of loops around windows, in which the
iterator of a small loop is added (`a[(j + dj + n) % n]`, `a[min(max(j + dj, 0), n - 1)]`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.affine import NotAffine, Scope, affine, always, condition, constant_of
from scopt.ir.walks import mapped, used_names, walk
from scopt.poly.isl_utils import PARAM, project_out_params

# Values of an iterator that is small beside others, and iterations that stand beside the others at most (chosen).
SMALL, WIDEST = 16, 8
# Colours of a grid, which loops step by, at most (chosen).
LONGEST_STEP = 4
# How often remainders wrap around: once in (j + 1) % n, twice in (j + dj + n) % n.
TIMES = 2
# Masks that an int, and the sum of one and another, has room for.
LARGEST_MASK = 1 << 30


def choices(node: Any, scope: Scope) -> Iterator[ir.TernaryOp]:
    """The choices in the subscripts of a statement that are affine."""
    yield from _choices(node, scope, inside=False)


def _choices(node: Any, scope: Scope, *, inside: bool) -> Iterator[ir.TernaryOp]:
    if inside and (choice := as_choice(node, scope, surely=False)) is not None:
        yield from _links(choice)
    for role, child in node.children():
        yield from _choices(child, scope, inside=inside or (isinstance(node, ir.ArrayRef) and role == "subscript"))


def _links(choice: ir.TernaryOp) -> Iterator[ir.TernaryOp]:
    """A choice, and those that a remainder makes behind it."""
    yield choice
    if isinstance(choice.iffalse, ir.TernaryOp):
        yield from _links(choice.iffalse)


def as_choice(node: Any, scope: Scope, *, surely: bool = True) -> ir.TernaryOp | None:
    """A choice; a remainder that is one: of what is less than three times the divisor. surely: and never negative;
    otherwise, where it isn't. Masks of the lowest bits are remainders of what is negative, too."""
    match node:
        case ir.TernaryOp():
            return node
        case ir.BinaryOp(op="%", left=left, right=right):
            natural = ir.BinaryOp(">=", left, ir.Constant("int", "0"), node.coord)
            if _always(natural, scope):
                return _wrapped(left, right, TIMES, scope)
            if not surely:
                try:
                    return _wrapped(left, right, TIMES, scope.within(condition(natural, scope)))
                except NotAffine:
                    return None
        case ir.BinaryOp(op="&", left=left, right=right) if (count := _mask(right, scope)) is not None:
            return _masked(left, count, scope)
    return None


def _mask(node: Any, scope: Scope) -> int | None:
    """The power of two that ``x & node`` is the remainder by."""
    try:
        value = constant_of(affine(node, scope).aff)
    except NotAffine:
        return None
    return value + 1 if value is not None and 0 < value < LARGEST_MASK and not value & (value + 1) else None


def _masked(left: Any, count: int, scope: Scope) -> ir.TernaryOp | None:
    """A remainder by a power of two, of what isn't negative, or of what is less than one of it below."""
    divisor, zero = ir.Constant("int", str(count)), ir.Constant("int", "0")
    natural = ir.BinaryOp(">=", left, zero, left.coord)
    if _always(natural, scope):
        return _wrapped(left, divisor, TIMES, scope)
    above = ir.BinaryOp("+", left, divisor, left.coord)
    if not _always(ir.BinaryOp(">=", above, zero, left.coord), scope):
        return None
    inside = scope.within(condition(natural, scope))
    further = left if _always(ir.BinaryOp("<", left, divisor), inside) else _wrapped(left, divisor, TIMES, inside)
    return None if further is None else ir.TernaryOp(ir.BinaryOp("<", left, zero, left.coord), above, further)


def _wrapped(left: Any, right: Any, times: int, scope: Scope) -> ir.TernaryOp | None:
    """A remainder of what isn't negative as a choice: the divisor is taken away so many times at most, or not at all.
    None if that may not be enough."""
    beyond = ir.BinaryOp("-", left, right, left.coord)
    below = ir.BinaryOp("<", left, right, left.coord)
    if _always(ir.BinaryOp("<", beyond, right, left.coord), scope):
        return ir.TernaryOp(below, left, beyond, left.coord)
    further = _wrapped(beyond, right, times - 1, scope) if times > 1 else None
    return None if further is None else ir.TernaryOp(below, left, further, left.coord)


def _always(cond: Any, scope: Scope) -> bool:
    try:
        return always(scope, condition(cond, scope))
    except NotAffine:
        return False


def is_innermost(loop: ir.For) -> bool:
    """Whether a loop has only plain statements in its body."""
    return is_plain(loop.stmt)


def is_plain(node: Any) -> bool:
    """Whether there are no loops in a statement."""
    return not any(isinstance(one, (ir.For, ir.While, ir.DoWhile, ir.Switch)) for one in walk(node))


class Body(Struct, frozen=True, eq=False):
    """A statement without loops in it, and the loops that it stands in. iterators: theirs, outermost first; domain: the
    parameter set of their values; inner: those of small loops below the one that is asked for."""

    node: Any
    iterators: tuple[str, ...]
    domain: isl.Set
    inner: tuple[str, ...] = ()


def is_small(domain: isl.Set, iterator: str) -> bool:
    """Whether an iterator has few values, the same ones wherever it is."""
    values = _values(domain, iterator)
    values = values.project_out(PARAM, 0, values.dim(PARAM))
    least, most = values.dim_min_val(0), values.dim_max_val(0)
    return bool(least.is_int() and most.is_int() and most.sub(least).lt(isl.Val(SMALL)))


def parts(
    around: Body, bodies: Sequence[Body], scope_of: Callable[[isl.Set, tuple[str, ...]], Scope]
) -> list[tuple[isl.Set, bool]]:
    """The values of the iterator of a loop, a parameter set, in parts that follow each other: the first few ones, or
    the last few, where some choice is made in another way than elsewhere; and whether these are such.

    around: the loop's body. bodies: the statements in it, below small loops at most. scope_of: of a body."""
    domain, iterator = around.domain, around.iterators[-1]
    small = is_small(domain, iterator)
    sides = [side for body in bodies for side in _sides(around, body, _modest(scope_of(body.domain, body.iterators)))]
    if not sides:
        return [(domain, False)]
    nothing, most = domain.subtract(domain), 1 if small else WIDEST
    ends = []
    for begins in (True, False):
        lengths = [length for side in sides if (length := _reach(domain, iterator, side, most, first=begins))]
        ends.append(_end(domain, iterator, max(lengths), first=begins) if lengths else nothing)
    first, last = ends[0], ends[1].subtract(ends[0])
    made = ((first, True), (domain.subtract(first).subtract(last), False), (last, True))
    return [(one.coalesce(), border) for one, border in made if not one.is_empty()]


def _sides(around: Body, body: Body, scope: Scope) -> Iterator[isl.Set]:
    """Where choices are made one way, and where the other way, as far as some iterations do. In small loops, choices
    that depend on loops around, too, are those loops' to make."""
    iterator, outer = around.iterators[-1], {*around.iterators[:-1]}
    window = is_small(around.domain, iterator)
    for choice in choices(body.node, scope):
        used = set(used_names(choice.cond))
        if iterator not in used or (window and not outer.isdisjoint(used)):
            continue
        try:
            holds = condition(choice.cond, scope)
        except NotAffine:
            continue
        for side in (body.domain.intersect(holds), body.domain.subtract(holds)):
            if not side.is_empty():
                yield project_out_params(side, body.inner)


def _modest(scope: Scope) -> Scope:
    """The scope, where nothing is taken for granted."""
    return replace(scope, assume=lambda violation: False)


def _reach(domain: isl.Set, iterator: str, side: isl.Set, most: int, *, first: bool) -> int:
    """How many of the first, or last, iterations have all of a side; 0: more than `most`."""
    ends = ((length, _end(domain, iterator, length, first=first)) for length in range(1, most + 1))
    return next((length for length, end in ends if side.is_subset(end)), 0)


def _end(domain: isl.Set, iterator: str, length: int, *, first: bool) -> isl.Set:
    """The least or greatest values of an iterator, so many, for the values of all other names."""
    values = project_out_params(_values(domain, iterator), [iterator])
    end, own = values.lexmin() if first else values.lexmax(), f"{iterator}_"
    near = f"{own} <= {iterator} < {own} + {length}" if first else f"{own} - {length} < {iterator} <= {own}"
    exact = isl.Set(f"[{iterator}] -> {{ [{own}] : {near} }}").intersect(end).params().intersect(domain)
    return _without_its_end(domain, iterator, values, exact, length, first=first)


def _without_its_end(
    domain: isl.Set, iterator: str, values: isl.Set, exact: isl.Set, length: int, *, first: bool
) -> isl.Set:
    """The same iterations, without the least or greatest value where a constant does: of every second one from
    ``i % 2`` on, the first is the one below 2. Steps are short where this matters."""
    everywhere = values.project_out(PARAM, 0, values.dim(PARAM))
    bound = everywhere.dim_min_val(0) if first else everywhere.dim_max_val(0)
    if not bound.is_int() or not exact.involves_locals():
        return exact
    end = int(bound.to_python())
    ranges = (length + more for more in range(LONGEST_STEP))
    near = (f"{iterator} < {end + one}" if first else f"{iterator} > {end - one}" for one in ranges)
    simple = (domain.intersect(isl.Set(f"[{iterator}] -> {{ : {one} }}")) for one in near)
    return next((one for one in simple if one.is_equal(exact)), exact)


def _values(domain: isl.Set, iterator: str) -> isl.Set:
    """The values of an iterator as points, for those of all names, itself, too."""
    own = f"{iterator}_"  # names of dimensions hide those of parameters
    return isl.Set(f"[{iterator}] -> {{ [{own}] : {own} = {iterator} }}").intersect_params(domain)


def decided(node: Any, scope: Scope) -> Any:
    """A statement without the choices in subscripts that are always made alike there."""
    scope = _modest(scope)

    def visit(part: Any, inside: bool) -> Any:
        if inside and (choice := as_choice(part, scope)) is not None:
            for cond, chosen in ((choice.cond, choice.iftrue), (ir.UnaryOp("!", choice.cond), choice.iffalse)):
                if _always(cond, scope) and _has_type_of(chosen, part, scope):
                    return visit(chosen, inside)
        subscript = part.subscript if isinstance(part, ir.ArrayRef) else None
        return mapped(part, lambda child: visit(child, inside or child is subscript))

    return visit(node, False)


def _has_type_of(chosen: Any, node: Any, scope: Scope) -> bool:
    try:
        first, second = affine(chosen, scope).type, affine(node, scope).type
    except NotAffine:
        return False
    return (first.signed, first.bits) == (second.signed, second.bits)
