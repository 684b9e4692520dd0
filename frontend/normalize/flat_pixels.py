"""Loops over pixels and their channels, ``for (x < w) for (c < n) d[x * n + c] = …``, as one loop over the numbers of a
row, ``for (i < w * n) d[i] = …``.

A row of pixels is as long as `n` says when the program runs, and lies at distances that are no multiples of `n`: as
numbers beside each other they are plain cells, and as many as vectors want (loop coalescing; Polychronopoulos, "Loop
coalescing: a compiler transformation for parallel machines", 1987). Filters ask for a pixel's place besides, at the
borders (``x >= r && x + r < w``, a clamped ``x + k``): where all of that is decided alike, between two places that the
program works out in front of the region, stands the loop over numbers; those on both sides of it learn their pixel by a
division, and are executed as a whole. Iterations keep their order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.fixed_values import FixedValues
from scopt.frontend.normalize.flat_subscripts import Numbers, flat_subscript
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.opaque import leaving, out_of_statements
from scopt.frontend.normalize.pixel_borders import Borders, inner_loops, is_product, terms
from scopt.frontend.normalize.tree_rewriting import cast, items_of, number, step_of, substituted, value_of
from scopt.frontend.syntax.scoping import unique_names
from scopt.frontend.syntax.symbols import symbol_of
from scopt.frontend.syntax.unit import Region
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import effects, targets
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import distinct, mapped, same_items, used_names, walk

_INT_BITS = 32
# Channels that pixels at borders have, at most: those of rows in a plane are better off as they are.
_MOST_CHANNELS = 16


class FlatPixels(Struct, frozen=True, eq=False):
    """items: statements in that form. hoisted: what they need in front of the region. local: new variables. iterators:
    of new loops; borders: of those among them whose iterations are executed as a whole. required: variables that
    mustn't be less than a number; limits: that mustn't be greater than one."""

    items: tuple[Any, ...]
    hoisted: tuple[Hoisted, ...] = ()
    local: Mapping[str, Symbol] = {}
    iterators: frozenset[str] = frozenset()
    borders: frozenset[str] = frozenset()
    required: tuple[tuple[str, int], ...] = ()
    limits: tuple[tuple[str, int], ...] = ()


def with_flat_pixels(around: MemberHoister, types: ExpressionTypes, region: Region, long_type: str) -> FlatPixels:
    """A region's statements in that form, or as they are, also where pragmas ask for loops of the source. around: has
    named the members; new names are added to its symbols. types: of expressions. long_type: the type of the new loops'
    iterators."""
    done, symbolic = effects(*around.items), region.symbolic
    if done.opaque or region.pragmas.used:
        return FlatPixels(around.items)
    loops = (node.init for node in walk(*around.items) if isinstance(node, ir.For))
    decls = (decl for init in loops if isinstance(init, ir.DeclList) for decl in init.decls)
    iterators = {decl.name: symbol_of(decl, around.symbols) for decl in decls}
    types = replace(types, scope={**around.symbols, **iterators})
    values = FixedValues(around.symbols, {*symbolic, *around.inside, *iterators, *done.assigned})
    rewriter = _Rewriter(around, types, values, long_type, frozenset(iterators))
    items = tuple(map(rewriter.changed, around.items))
    if same_items(items, around.items):
        return FlatPixels(around.items)
    names = frozenset(rewriter.iterators), frozenset(rewriter.borders)
    required = tuple((name, 1) for name in sorted(rewriter.lengths))
    limits = tuple((name, _MOST_CHANNELS) for name in sorted(rewriter.few))
    return FlatPixels(distinct(items), tuple(rewriter.hoisted), rewriter.local, *names, required, limits)


class _Pixels(Struct, frozen=True, eq=False):
    """``for (x = 0; x < width; x++) for (c = 0; c < channels; c++) body``"""

    x: str
    c: str
    width: Any
    channels: str
    body: Any
    where: Any


class _Rewriter(Struct, frozen=True, eq=False):
    """values: what stays what it is. moving: iterators. hoisted, local, iterators, borders: as in `FlatPixels`.
    lengths: numbers of channels; few: those that have to be small."""

    around: MemberHoister
    types: ExpressionTypes
    values: FixedValues
    long_type: str
    moving: frozenset[str]
    hoisted: list[Hoisted] = field(default_factory=list)
    local: dict[str, Symbol] = field(default_factory=dict)
    iterators: list[str] = field(default_factory=list)
    borders: list[str] = field(default_factory=list)
    lengths: set[str] = field(default_factory=set)
    few: set[str] = field(default_factory=set)

    def changed(self, node: Any) -> Any:
        """A statement with such loops in it."""
        if isinstance(node, ir.For) and (pixels := self.pixels(node)) is not None:
            made = self.flat(pixels)
            if made is not None:
                return made
        return mapped(node, self.changed) if isinstance(node, (ir.For, ir.Compound, ir.If)) else node

    def pixels(self, node: ir.For) -> _Pixels | None:
        """Loops over pixels and channels."""
        outer = self.header(node)
        inside = [one for one in items_of(node.stmt) if not isinstance(one, ir.EmptyStatement)]
        if outer is None or len(inside) != 1 or not isinstance(inside[0], ir.For):
            return None
        inner, body = self.header(inside[0]), inside[0].stmt
        if inner is None or not isinstance(inner[1], ir.ID) or body is None:
            return None
        ends = next(leaving(body), None) is not None or out_of_statements(body) is not None
        if ends or not {outer[0], inner[0]}.isdisjoint(effects(body).changed):
            return None
        return _Pixels(outer[0], inner[0], outer[1], inner[1].name, body, node.coord)

    def header(self, node: ir.For) -> tuple[str, Any] | None:
        """The iterator of a loop from zero in steps of one, an int that it declares, and what it ends at."""
        match node:
            case ir.For(
                init=ir.DeclList(
                    decls=[ir.Decl(name=name, type=ir.TypeDecl(type=ir.IdentifierType(names=["int"])), init=first)]
                ),
                cond=ir.BinaryOp(op="<", left=ir.ID(name=tested), right=end),
            ) if name == tested and value_of(first) == 0 and step_of(node.next) == (name, 1):
                return (name, end) if self.is_int(end) else None
        return None

    def is_int(self, node: Any) -> bool:
        """Whether an expression is one of variables of type int that stay what they are."""
        ctype = self.values.type_of(node)
        return ctype is not None and ctype.signed and ctype.bits == _INT_BITS

    # --- loops over numbers -------------------------------------------------------------------------------------------

    def flat(self, pixels: _Pixels) -> Any | None:
        """What stands in the place of loops over pixels and channels; None where they stay as they are."""
        loops = inner_loops(pixels.body, {pixels.x, pixels.c}, self.is_int)
        if loops is None:
            return None
        borders = Borders(pixels.x, pixels.width, loops, self.is_int, self.long_type)
        index = ir.ID(self.around.fresh(f"{pixels.x}_{pixels.c}"))
        inside = self.in_numbers(borders.decided(pixels.body), pixels, index)
        left = {pixels.x, pixels.c} & {*used_names(inside)}
        stored = any(index.name in used_names(node) for node in targets(inside))
        if left or not stored or not self.lie_in_rows(inside, pixels, index.name, {*loops}):
            return None
        index = ir.ID(self.fresh(index.name))
        self.lengths.add(pixels.channels)
        row = "_".join((*dict.fromkeys(used_names(pixels.width)), pixels.channels, "numbers"))
        factors = (pixels.width.name, pixels.channels) if isinstance(pixels.width, ir.ID) else ()
        whole = self.name(row, _times(cast(self.long_type, pixels.width), pixels), factors)
        if not borders.lows and not borders.highs:
            return self.loop(index.name, number(0), whole, inside, pixels)
        self.few.add(pixels.channels)
        begin, end = self.interior(borders, pixels)
        made = self.loop(index.name, begin, end, inside, pixels)
        around = self.border(number(0), begin, pixels), self.border(end, whole, pixels)
        return ir.Compound([around[0], made, around[1]], pixels.where)

    def lie_in_rows(self, body: Any, pixels: _Pixels, index: str, inner: Collection[str]) -> bool:
        """Whether some numbers lie in rows at distances that say nothing of the number of channels: other rows, and
        pixels of channels in them, show in the subscripts. inner: iterators of loops inside."""
        outer = self.moving - {pixels.x, pixels.c, *inner}
        for node in walk(body):
            if isinstance(node, ir.ArrayRef) and index in used_names(node.subscript):
                for _, part in terms(node.subscript):
                    names = {*used_names(part)}
                    if names & outer and is_product(part) and pixels.channels not in names:
                        return True
        return False

    def interior(self, borders: Borders, pixels: _Pixels) -> tuple[ir.ID, ir.ID]:
        """The numbers between which conditions are decided: from 0 to the row's end, the second not in front of the
        first."""
        width: Any = cast(self.long_type, pixels.width)
        low: Any = number(0)
        high = width
        for one in borders.lows:
            constant = value_of(one.expr) if isinstance(one, ir.Cast) else None
            if constant is not None and isinstance(low, ir.Constant):
                low = number(max(constant, value_of(low) or 0))
            else:
                low = self.name(f"{pixels.x}_low", _chosen(">", one, low))
        for one in borders.highs:
            high = self.name(f"{pixels.x}_high", _chosen("<", one, high))
        # as numbers of pixels they lie in a row, and have products that fit
        first = self.name(f"{pixels.x}_first", _chosen("<", low, width))
        last = self.name(f"{pixels.x}_last", _chosen(">", high, first))
        return self.name(f"{pixels.x}_begin", _times(first, pixels)), self.name(f"{pixels.x}_end", _times(last, pixels))

    def border(self, first: Any, last: Any, pixels: _Pixels) -> ir.For:
        """A loop over the numbers of pixels at a border, which each find out their pixel."""
        index, length = ir.ID(self.fresh(f"{pixels.x}_{pixels.c}")), ir.ID(pixels.channels)
        self.borders.append(index.name)
        pixel, channel = (self.variable(one) for one in (pixels.x, pixels.c))
        # What conditions say of the pixel bounds where others read.
        stored = frozenset(name for node in targets(pixels.body) for name in used_names(node))
        body = self.in_numbers(pixels.body, pixels, index, stored)
        body = substituted(substituted(self.renamed(body), pixels.x, ir.ID(pixel)), pixels.c, ir.ID(channel))
        values = (
            _declared("int", pixel, ir.BinaryOp("/", index, length), pixels.where),
            _declared("int", channel, ir.BinaryOp("%", index, length), pixels.where),
        )
        return self.loop(index.name, first, last, ir.Compound([*values, *items_of(body)], pixels.where), pixels)

    def in_numbers(self, body: Any, pixels: _Pixels, index: ir.ID, arrays: frozenset[str] | None = None) -> Any:
        """A body whose subscripts count a row's numbers, of all arrays or of some."""
        numbers = Numbers(pixels.x, pixels.c, pixels.channels, index, self.long_type, self.types)

        def change(node: Any) -> Any:
            made = None
            if isinstance(node, ir.ArrayRef) and (arrays is None or not arrays.isdisjoint(used_names(node.name))):
                made = flat_subscript(node.subscript, numbers)
            return mapped(node, change) if made is None else ir.ArrayRef(node.name, made, node.coord)

        return change(body)

    def loop(self, name: str, first: Any, last: Any, body: Any, pixels: _Pixels) -> ir.For:
        self.iterators.append(name)
        init = ir.DeclList([_declared(self.long_type, name, first, pixels.where)], pixels.where)
        step = ir.UnaryOp("p++", ir.ID(name, pixels.where), pixels.where)
        return ir.For(init, ir.BinaryOp("<", ir.ID(name), last, pixels.where), step, body, pixels.where)

    # --- names --------------------------------------------------------------------------------------------------------

    def renamed(self, body: Any) -> Any:
        """A copy of a body whose variables have names of their own."""
        names = {node.name for node in walk(body) if isinstance(node, ir.Decl)}
        taken = {*self.around.reserved, *self.around.symbols, *self.around.inside}
        unique = unique_names([body], taken, names)
        made = {name: symbol_of(decl, self.around.symbols) for name, decl in unique.declared.items()}
        self.local.update(made)
        self.around.symbols.update(made)
        self.iterators.extend(unique.iterators)
        return unique.items[0]

    def variable(self, wish: str) -> str:
        """A new int."""
        name = self.fresh(wish)
        self.local[name] = self.around.symbols[name]
        return name

    def name(self, wish: str, value: Any, factors: tuple[str, ...] = ()) -> ir.ID:
        """A variable in front of the region."""
        name = self.fresh(wish, self.long_type)
        text = f"const {self.long_type} {name} = {CPrinter(reduce_parentheses=True).visit(value)};"
        reads = frozenset(used_names(value))
        self.hoisted.append(Hoisted(self.around.symbols[name], text, reads=reads, factors=tuple(sorted(factors))))
        return ir.ID(name)

    def fresh(self, wish: str, spelling: str = "int") -> str:
        name = self.around.fresh(wish)
        ctype: CType = self.around.symbols[spelling].type
        self.around.symbols[name] = Symbol(name, "local", ctype, size=ctype.bits // 8)
        return name


def _times(value: Any, pixels: _Pixels) -> ir.BinaryOp:
    return ir.BinaryOp("*", value, ir.ID(pixels.channels), pixels.where)


def _chosen(op: str, one: Any, other: Any) -> ir.TernaryOp:
    """The greater (or lesser) one of two values."""
    return ir.TernaryOp(ir.BinaryOp(op, one, other), one, other)


def _declared(spelling: str, name: str, value: Any, where: Any) -> ir.Decl:
    typed = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split(), where), where)
    return ir.Decl(name, [], [], [], [], typed, value, None, where)
