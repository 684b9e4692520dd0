"""Draws reductions: sums, products, extrema, bitwise operations and counts, into scalars, cells, and histograms."""

from __future__ import annotations

from msgspec.structs import replace

from tests.fuzz.draft import Draft
from tests.fuzz.expressions import DataType, Ref
from tests.fuzz.integers import element
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Line, Stmt
from tests.fuzz.values import leaf

_EXTREMA = (
    "if ({v} < {t}) {t} = {v};",
    "if ({t} < {v}) {t} = {v};",
    "{t} = {v} < {t} ? {v} : {t};",
    "{t} = {t} > {v} ? {t} : {v};",
    "{t} = MIN({t}, {v});",
    "{t} = MAX({v}, {t});",
    "if ({v} >= {t}) {{ {t} = {v}; }}",
)
_SUMS = (
    "{t} += {v};",
    "{t} -= {v};",
    "{t} = {t} + {v};",
    "{t} = {v} + {t};",
    "{t} += {v} + {w};",
    "{t} = {t} - {v};",
    "if ({v} > {w}) {t} += {v};",
)
_COUNTS = ("{t}++;", "++{t};", "if ({v} > {w}) {t}++;", "{t} += {v} > {w};", "{t} += 2;")
_BITS = ("{t} |= {v};", "{t} &= {v};", "{t} ^= {v};", "{t} = {t} ^ {v};", "{t} = {t} && {v};", "{t} = {t} || {v};")
_FLOATING = (
    "{t} = fmin({t}, {v});",
    "{t} = fmax({v}, {t});",
    "{t} *= {v};",
    "{t} = {t} * {v};",
    "{t} += {v} * {w};",
    "{t} -= {v} * {w};",
)
_SIGNS = ("{t} *= ({v} > 3 ? 1 : -1);", "{t} = {t} * ({v} > {w} ? -1 : 1);")
_PRODUCTS = ("{t} *= {v};", "{t} = {v} * {t};", "{t} *= {v} + 1u;", "{t} = {t} * {v};")


def reduction(draft: Draft, scope: Scope) -> Stmt:
    """An update of a scalar or of a cell of an accumulator."""
    choices = draft.choices
    shapes = [shape for shape in draft.shapes if shape.role == "accumulator"]
    if draft.sums and (not shapes or choices.chance(50 if draft.kind.lookups < 50 else 10)):
        scalar = choices.pick(*draft.sums)
        return _update(draft, scope, Ref(scalar.text), scalar.type)
    shape = choices.pick(*shapes)
    outer = scope
    if choices.chance(draft.kind.lookups):
        pass  # data are likely to name the cell
    elif len(scope.iterators) > 1 and choices.chance(70):
        # A cell that several iterations of the inner loops update.
        outer = replace(scope, iterators=scope.iterators[:-1])
    elif choices.chance(25):
        outer = replace(scope, iterators=())
    return _update(draft, scope, element(draft, outer, shape, write=True), shape.type)


def _update(draft: Draft, scope: Scope, target: Ref, kind: DataType) -> Stmt:
    pattern = draft.choices.pick(*_patterns(kind, exact=draft.kind.exact))
    first = leaf(draft, scope, kind)
    second = leaf(draft, scope, kind)
    return Line(pattern.format(t=target, v=first, w=second))


def _patterns(kind: DataType, *, exact: bool) -> tuple[str, ...]:
    """Those that neither overflow nor, where sums are reordered, round."""
    match kind:
        case "double" | "float":
            return (*_SUMS, *_EXTREMA, "{t} += {v} * {w};", *_SIGNS) if exact else (*_SUMS, *_EXTREMA, *_FLOATING)
        case "unsigned":
            return (*_SUMS, *_COUNTS, *_EXTREMA, *_BITS, *_PRODUCTS)
        case "unsigned char":
            return (*_SUMS, *_COUNTS, *_EXTREMA, *_BITS)
        case "short":
            return (*_EXTREMA, *_BITS)
        case _:
            return (*_SUMS, *_COUNTS, *_EXTREMA, *_BITS)
