"""References to arrays that C knows one dimension of: ``A[i][j]`` of the SCoP is ``A[i * n + j]`` in C, or, of a
triangle, ``A[i * (i + 1) / 2 + j]``. Printed, and read back.

Sums and products are computed in the long type, or an unsigned type of its width; a size has the type that it has in
the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.c_expr import ExprPrinter, Kind, Level, Text, kind_of
from scopt.astgen.emit.c_read import Reader, Unreadable
from scopt.ir.ctypes import type_spelling
from scopt.ir.divisible_sums import always_divides
from scopt.ir.expr import linear, weighted
from scopt.ir.nest import Expr, Name
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Array, RowStarts
from scopt.ir.walks import same_tree

Terms = dict[tuple[object, ...], int | Fraction]


def reference_of(node: ir.Node, flat: Mapping[str, Array]) -> tuple[Array, list[ir.Node]] | None:
    """The array and the subscripts, outermost first, of a whole reference to an array of `flat`;
    None for any other node."""
    subscripts: list[ir.Node] = []
    while isinstance(node, ir.ArrayRef):
        subscripts.append(node.subscript)
        node = node.name
    array = flat.get(node.name) if isinstance(node, ir.ID) else None
    return (array, subscripts[::-1]) if array is not None and len(subscripts) == array.rank else None


def flat_subscript(array: Array, subscripts: Sequence[Text], printer: ExprPrinter) -> str:
    """One subscript for several."""
    if array.starts is not None:
        row, place = subscripts
        return _after_start(array.starts, row, place, printer)
    total = subscripts[0]
    for text, extent in zip(subscripts[1:], array.extents[1:], strict=True):
        assert extent is not None
        if total.text == "0":
            total = text
            continue
        total = Text(f"{printer.widened(total).at(Level.MULTIPLY)} * {_size(extent, printer)}", Level.MULTIPLY)
        if text.text != "0":
            total = Text(
                f"{total.text} + {text.at(Level.MULTIPLY) if text.text.startswith('-') else text.at(Level.ADD)}",
                Level.ADD,
            )
    return total.text


def _after_start(starts: RowStarts, row: Text, place: Text, printer: ExprPrinter) -> str:
    """A subscript of a triangle: where the row starts, and the place in it."""
    if row.text == "0":
        return place.text
    wide = printer.widened(row)
    names = {p.spelling: name for name, p in printer.parameters.items()}
    rest = weighted(
        ((c, Name(names[spelling])) for c, spelling in starts.linear if spelling),
        sum(c for c, spelling in starts.linear if not spelling),
    )
    own = wide.at(Level.MULTIPLY)
    moved = own if abs(starts.square) == 1 else f"{abs(starts.square)} * {own}"
    constant = int(printer.expr(rest).text) if not linear(rest)[0] else None
    if starts.square < 0:
        factor = f"({printer.long(rest).at(Level.ADD)} - {moved})"
    elif constant is not None:
        factor = f"({moved} {'+' if constant > 0 else '-'} {abs(constant)})" if constant else f"({moved})"
    else:
        factor = f"({moved} + {printer.long(rest).at(Level.MULTIPLY)})"
    start = f"{own} * {factor}" + (f" / {starts.divisor}" if starts.divisor > 1 else "")
    if place.text == "0":
        return start
    return f"{start} + {place.at(Level.MULTIPLY if place.text.startswith('-') else Level.ADD)}"


def _size(extent: ir.Node, printer: ExprPrinter) -> str:
    from scopt.astgen.emit.c_statement import PlainGenerator

    text = str(PlainGenerator().visit(extent))
    return text if isinstance(extent, ir.ID | ir.Constant) else f"({text})"


def row_length(array: Array, subscript: int) -> ir.Node:
    """The distance, in elements, of two cells that differ by one in a subscript (counted from the outermost one)."""
    assert array.starts is None or subscript + 1 == array.rank
    result: ir.Node | None = None
    for extent in array.extents[subscript + 1 :]:
        assert extent is not None
        result = extent if result is None else ir.BinaryOp("*", result, extent)
    return ir.Constant("int", "1") if result is None else result


# --- reading ----------------------------------------------------------------------------------------------------------

Match = Callable[[ir.Node, ir.Node], bool]


class Meant(Struct, frozen=True):
    """A subscript that is expected: its value, or, where that is not known as an expression, the node that a printed
    one has to match."""

    value: Expr | None
    node: ir.Node


def is_flat_subscript(array: Array, meant: Sequence[Meant], printed: ir.Node, reader: Reader, matches: Match) -> bool:
    """Whether a printed subscript is that of the cell, computed in 64 bits."""
    try:
        read = _Polynomials(reader, meant, matches).read(printed)[0]
    except Unreadable:
        return False
    total: Terms = {}
    for position, one in enumerate(meant):
        if position and array.starts is not None:
            total = _start(array.starts, total)
        elif position:
            extent = array.extents[position]
            assert extent is not None
            total = _times(total, _source(extent, reader.long_type))
        # Of subscripts that are the same, the first one is what a printed one is found to match.
        first = next(
            (k for k, other in enumerate(meant) if other.value is None and same_tree(other.node, one.node)), position
        )
        total = _plus(total, {(f"${first}",): 1} if one.value is None else _linear(one.value, reader))
    return total == read


class _Polynomials(Struct, frozen=True):
    reader: Reader
    meant: Sequence[Meant]
    matches: Match

    def read(self, node: ir.Node) -> tuple[Terms, bool]:
        """The polynomial, and whether the expression's type has 64 bits."""
        if any(same_tree(node, size) for size in self.sizes()):
            return _source(node, self.reader.long_type), isinstance(node, ir.Cast)
        match node:
            case ir.Cast(to_type=to_type, expr=inner) if type_spelling(to_type) == self.reader.long_type:
                position = next(
                    (k for k, one in enumerate(self.meant) if one.value is None and self.matches(one.node, inner)), None
                )
                return ({(f"${position}",): 1}, True) if position is not None else (self.read(inner)[0], True)
            case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                (a, wide), (b, also) = self.read(left), self.read(right)
                if op == "*" and not (a and b):
                    return {}, True  # 0 in any type
                if not (wide or also):  # a part that int holds, which is shown there
                    typed = self.reader.usable(node)
                    return _linear(typed.value, self.reader), typed.kind is Kind.LONG
                return (_times(a, b) if op == "*" else _plus(a, b if op == "+" else _times(b, {(): -1}))), True
            case ir.BinaryOp(op="/", left=ir.BinaryOp(op="*") as product, right=ir.Constant(value=value)) if (
                value.isdecimal() and int(value) and (quotient := self.exact(product, int(value))) is not None
            ):
                return quotient, True
            case ir.ID(name=name) if name not in self.reader.iterators and name in self.reader.parameters:
                kind = kind_of(self.reader.parameters[name].type)
                return {(name,): 1}, kind is None or kind is Kind.LONG
        typed = self.reader.usable(node)
        return _linear(typed.value, self.reader), typed.kind is Kind.LONG

    def exact(self, product: ir.Node, divisor: int) -> Terms | None:
        """The quotient of a product of 64 bits that it always divides and that is no linear expression."""
        if self.may_wrap(product):
            return None
        dividend, wide = self.read(product)
        integral = {monomial: int(c) for monomial, c in dividend.items() if c == int(c)}
        if not wide or len(integral) < len(dividend) or max(map(len, dividend), default=0) < 2:
            return None
        return _times(dividend, {(): Fraction(1, divisor)}) if always_divides(divisor, integral) else None

    def may_wrap(self, node: ir.Node) -> bool:
        """Whether unsigned numbers of 64 bits are among the operands of a product, as they are."""
        match node:
            case ir.BinaryOp(left=left, right=right):
                return self.may_wrap(left) or self.may_wrap(right)
            case ir.ID(name=name) if name in self.reader.parameters and name not in self.reader.iterators:
                return kind_of(self.reader.parameters[name].type) is None
        return False

    def sizes(self) -> Sequence[ir.Node]:
        return [
            extent
            for array in self.reader.flat.values()
            for extent in array.extents[1:]
            if isinstance(extent, ir.BinaryOp | ir.Cast)
        ]


def _start(starts: RowStarts, row: Terms) -> Terms:
    """Where a row starts."""
    rest: Terms = {(name,) if name else (): coefficient for coefficient, name in starts.linear}
    product = _times(row, _plus(_times(row, {(): starts.square}), rest))
    return _times(product, {(): Fraction(1, starts.divisor)})


def _source(node: ir.Node, long_type: str) -> Terms:
    """The polynomial of an expression of the source, in C's names."""
    match node:
        case ir.ID(name=name):
            return {(name,): 1}
        case ir.Constant(value=value) if value.isdecimal():
            return {(): int(value)} if int(value) else {}
        case ir.BinaryOp(op="*", left=left, right=right):
            return _times(_source(left, long_type), _source(right, long_type))
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            return _plus(_source(left, long_type), _times(_source(right, long_type), {(): 1 if op == "+" else -1}))
        case ir.UnaryOp(op="-", expr=inner):
            return _times(_source(inner, long_type), {(): -1})
        case ir.Cast(to_type=to_type, expr=inner) if type_spelling(to_type) == long_type:
            return _source(inner, long_type)
        case ir.BinaryOp(op="/" | "%" | ">>" | "<<" | "&" | "|" | "^"):
            # one of its own, by its text: the same tree has the same value
            return {(f"({CPrinter().visit(node)})",): 1}
    raise Unreadable(f"the size of a row has an unexpected {type(node).__name__}")


def _linear(value: Expr, reader: Reader) -> Terms:
    """An expression over iterators and parameters, in C's names."""
    spelling = {p.name: p.spelling for p in reader.parameters.values()}
    coefficients, constant = linear(value)
    terms: Terms = {(spelling.get(x.name, x.name) if isinstance(x, Name) else x,): c for x, c in coefficients.items()}
    return _plus(terms, {(): constant})


def _plus(a: Terms, b: Terms) -> Terms:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _times(a: Terms, b: Terms) -> Terms:
    total: Terms = {}
    for left, some in a.items():
        for right, others in b.items():
            total = _plus(total, {tuple(sorted((*left, *right), key=str)): some * others})
    return total
