"""Calls that fill or copy memory as what they do to the elements: ``memset(a, 0, n * sizeof *a)`` is ``for (int k = 0;
k < n; k++) a[k] = 0;``, ``memcpy(row, a + i, sizeof row)`` a loop of assignments. Compilers make calls of such loops
again where these stay whole.

Only where types say how many whole elements there are, all of one type, whose bytes are all used: what an assignment
leaves out, such as the gaps in structures, a call copies. ``memmove`` goes from the end where its places overlap so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.element_loops import Cells, ElementLoops, NoElementsError, counting, sized
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import cast, number, signed_number
from scopt.frontend.syntax.declared_sizes import with_macro_sizes
from scopt.frontend.syntax.structs import Typed, Types
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.constants import constant_value, promotion
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.walks import mapped, walk

_BYTE, _INT_BITS = 8, 32
LIBRARY = ("memset", "memcpy", "memmove", "bzero")
MEMORY_CALLS = {f"{prefix}{name}": name for prefix in ("", "__builtin_") for name in LIBRARY}
_MEMORY = (ir.ArrayRef, ir.StructRef)
_CELLS = (ir.ArrayRef, ir.UnaryOp, ir.FuncCall)


def with_memory_loops(
    items: Iterable[Any], tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol]
) -> tuple[Any, ...]:
    """The statements of a region, with loops in the place of such calls. symbols: what names mean where it begins.
    Where nothing else is done, and nobody asks for it, the library is quicker."""
    items = tuple(items)
    if not any(_called(node, tu) for node in walk(*items)) or (not region.marked and _calls_alone(items)):
        return items
    inside = {node.name for node in walk(*items) if isinstance(node, (ir.Decl, ir.ID))}
    maker, scope = _Maker(tu, region, tu.reserved | inside), dict(symbols)
    for name in inside & symbols.keys():
        scope[name] = with_macro_sizes(symbols[name], tu, region.symbolic, symbols)
    return tuple(maker.statement(item, scope) for item in items)


def _calls_alone(items: Iterable[Any]) -> bool:
    """Whether some statements set nothing, but for iterators of loops."""
    loops = [node for node in walk(*items) if isinstance(node, ir.For)]
    heads = {id(node) for loop in loops for node in walk(loop.init, loop.next)}
    sets = (node for node in walk(*items) if isinstance(node, (ir.Assignment, ir.UnaryOp)) and id(node) not in heads)
    return not any(isinstance(node, ir.Assignment) or node.op in ("++", "p++", "--", "p--") for node in sets)


def _called(node: Any, tu: TranslationUnit) -> str | None:
    """Which of these functions of C's library a node calls."""
    if not isinstance(node, ir.FuncCall) or not isinstance(node.name, ir.ID) or node.args is None:
        return None
    return MEMORY_CALLS.get(node.name.name) if node.name.name not in tu.defined_functions else None


class _Maker(Struct, frozen=True, eq=False):
    """Walks through blocks; scopes say what names mean there. taken: names that new variables must not have."""

    tu: TranslationUnit
    region: Region
    taken: frozenset[str]
    numbers: Any = field(default_factory=lambda: count(1))

    def statement(self, node: Any, scope: dict[str, Symbol]) -> Any:
        match node:
            case ir.Decl(name=str(name)):
                scope[name] = symbol_of(node, scope)
            case ir.DeclList():
                for decl in node.decls:
                    self.statement(decl, scope)
            case ir.FuncCall():
                return self.call(node, scope)
            case ir.Cast(expr=ir.FuncCall() as call):  # (void)memset(...)
                made = self.call(call, scope)
                return node if made is call else made
            case ir.Compound() | ir.For():
                inner = dict(scope)
                return mapped(node, lambda child: self.statement(child, inner))
            case ir.If() | ir.While() | ir.DoWhile() | ir.Switch() | ir.Case() | ir.Default() | ir.Label():
                return mapped(node, lambda child: self.statement(child, scope))
        return node

    def call(self, node: ir.FuncCall, scope: Mapping[str, Symbol]) -> Any:
        function = _called(node, self.tu)
        arguments = list(node.args.exprs) if function is not None else []
        if function == "bzero":
            arguments.insert(1, number(0))
        done = effects(*arguments)
        if len(arguments) != len("123") or done.written or done.called or done.opaque or done.unnamed:
            return node
        types = ExpressionTypes(scope, self.tu.structs, self.region.symbolic, self.region.types)
        loops = ElementLoops(Types(scope, self.tu.structs), self.fresh, self.region.symbolic)
        call = _Call(self, types, loops, node.coord)
        try:
            if function in ("memset", "bzero"):
                return call.filled(*arguments)
            return call.copied(*arguments, anyhow=function == "memcpy")
        except NoElementsError:
            return node

    def fresh(self) -> str:
        return next(name for k in self.numbers if (name := f"at_{k}") not in self.taken)


class _Place(Struct, frozen=True, eq=False):
    """Where memory begins: an array or pointer, and the index of the element; or one object. typed: of a pointer to
    it."""

    base: Any
    offset: Any
    typed: Typed
    object: bool = False

    def cell(self, index: Any) -> Any:
        """An element. index: from there on; None: the first one."""
        if self.object:
            if index is not None:
                raise NoElementsError
            return self.base
        parts = [one for one in (self.offset, index) if one is not None]
        whole = parts[0] if len(parts) == 1 else ir.BinaryOp("+", *parts) if parts else number(0)
        return ir.ArrayRef(self.base, whole, self.base.coord)


class _Call(Struct, frozen=True, eq=False):
    maker: _Maker
    types: ExpressionTypes
    loops: ElementLoops
    coord: Any

    def filled(self, where: Any, byte: Any, size: Any) -> Any:
        (place,) = self.in_rows([self.place(where)], size)

        def fill(cells: Cells, kind: Typed) -> list[Any]:
            if kind.type.const:
                raise NoElementsError
            return [ir.Assignment("=", cells[0], self.value(byte, kind), self.coord)]

        return self.each((place,), size, lambda cells, kind: self.loops.loops(cells, kind, fill))

    def copied(self, where: Any, source: Any, size: Any, *, anyhow: bool) -> Any:
        """anyhow: the places don't overlap."""
        places = self.in_rows([self.place(where), self.place(source)], size)
        if not self.types.lead_to_the_same(places[0].typed, places[1].typed):
            raise NoElementsError
        backwards = not anyhow and self.backwards(*places)

        def copy(cells: Cells, kind: Typed) -> list[Any]:
            if kind.type.const or (kind.type.floating and kind.size > _BYTE):
                raise NoElementsError
            return [ir.Assignment("=", *cells, self.coord)]

        def cells_of(cells: Cells, kind: Typed) -> list[Any]:
            return self.loops.loops(cells, kind, copy, whole=True)

        return self.each(places, size, cells_of, backwards=backwards)

    def place(self, node: Any) -> _Place:
        """Where a pointer leads to, whatever type it is converted to."""
        while isinstance(node, ir.Cast):
            node = node.expr
        typed = self.types.pointer(node)
        inner = node.expr if isinstance(node, ir.UnaryOp) and node.op == "&" else node
        indices = [part for one in _indices(inner) for part in walk(one)]
        if typed is None or any(isinstance(one, _CELLS) for one in indices):
            raise NoElementsError
        match node:
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=base, subscript=subscript)):
                return _Place(base, subscript, typed)
            case ir.UnaryOp(op="&", expr=whole):
                return _Place(whole, None, typed, object=True)
            case ir.BinaryOp(op="+", left=left, right=right):
                return _Place(left, right, typed)
            case ir.BinaryOp():
                return _Place(node.left, ir.UnaryOp("-", cast(self.maker.tu.long_type, node.right)), typed)
        return _Place(node, None, typed)

    def in_rows(self, places: list[_Place], size: Any) -> tuple[_Place, ...]:
        """Places from which so many bytes lie in one row, as subscripts do: where several rows may be meant, elements
        are rows. Raises NoElementsError where they can't be."""
        while not all(self.is_in_row(place, size) for place in places):
            places = [self.rows(place) for place in places]
        return tuple(places)

    def is_in_row(self, place: _Place, size: Any) -> bool:
        """Whether some bytes from a place on lie in the row that it is in, as far as their number and the row's length
        tell. Sizes that only the run of the program tells are taken to end in a row that is one of many, and to go on
        in others where it is the first one."""
        row, element = self.loops.types.of(place.base), place.typed.element()
        if place.object or row is None or not row.array or element is None:
            return True
        total, factors = self.product(size)
        each, names = self.loops.size(element)
        texts, length = [_text(one) for one in factors], row.layers[0].dim
        for name in map(_text, names):
            if name in texts:
                texts.remove(name)
        number_of, known = total // each, constant_value(length, self.types.scope) if length is not None else None
        offset = constant_value(place.offset, self.types.scope) if place.offset is not None else 0
        if not texts and known is not None:
            return number_of + max(offset or 0, 0) <= known
        if length is not None and number_of == 1 and texts == [_text(length)]:
            return not offset
        if not isinstance(place.base, ir.ArrayRef):
            return True
        first = constant_value(place.base.subscript, self.types.scope) is not None
        return not (first or len(texts) > 1 or (known is not None and number_of >= known))

    def rows(self, place: _Place) -> _Place:
        """A place at a row's beginning as that of the row. Raises NoElementsError for other places."""
        if place.offset is not None and constant_value(place.offset, self.types.scope) != 0:
            raise NoElementsError
        typed = self.types.pointer(place.base.name) if isinstance(place.base, ir.ArrayRef) else None
        if typed is None:
            raise NoElementsError
        return _Place(place.base.name, place.base.subscript, typed)

    def may_be_written(self, node: Any) -> bool:
        """Whether a call may write what a part of its arguments is read from, which loops would read again."""
        symbol = self.types.scope.get(node.name) if isinstance(node, ir.ID) else None
        return isinstance(node, _CELLS) or (symbol is not None and (symbol.address_taken or symbol.kind == "global"))

    def value(self, byte: Any, kind: Typed) -> Any:
        """What a number is all of whose bytes are the same."""
        known = constant_value(byte, self.types.scope)
        if known == 0:
            return number(0)
        if known is None and any(map(self.may_be_written, walk(byte))):
            raise NoElementsError
        if not kind.type.integer or kind.type.bits < _BYTE or kind.type.spelling == "_Bool":
            raise NoElementsError
        if kind.type.bits == _BYTE:
            return byte
        if known is None or kind.type.bits > _INT_BITS:
            raise NoElementsError
        value = int.from_bytes(bytes([known % 256]) * (kind.type.bits // _BYTE), "little")
        if kind.type.signed and value >> (kind.type.bits - 1):
            value -= 1 << kind.type.bits
        return ir.Constant("unsigned int", f"{value}u") if value >= 1 << 31 else signed_number(value)

    def each(self, places: tuple[_Place, ...], size: Any, make: Any, *, backwards: bool = False) -> Any:
        """Statements about all elements of some bytes."""
        element = places[0].typed.element()
        if element is None or element.pointer or element.type.volatile or element.type.atomic:
            raise NoElementsError
        total, factors = self.product(size)
        each, inner = self.loops.size(element)
        number_of, rest = divmod(total, each)
        for factor in inner:
            same = next((k for k, one in enumerate(factors) if _text(one) == _text(factor)), None)
            if same is None:
                raise NoElementsError
            factors = factors[:same] + factors[same + 1 :]
        if rest or not number_of:
            raise NoElementsError
        if not factors and number_of == 1:
            made = make(tuple(place.cell(None) for place in places), element)
            return made[0] if len(made) == 1 else ir.Compound(made, self.coord)
        before, bound, spelling = self.bound(number_of, factors)
        index: Any = ir.ID(self.maker.fresh(), self.coord)
        name = index.name
        if backwards:
            index = ir.BinaryOp("-", ir.BinaryOp("-", bound, number(1)), index, self.coord)
        body = make(tuple(place.cell(index) for place in places), element)
        loop = counting(name, spelling, bound, body, self.coord)
        return ir.Compound([*before, loop], self.coord) if before else loop

    def product(self, node: Any) -> tuple[int, list[Any]]:
        """A size as a constant times other factors."""
        if isinstance(node, ir.BinaryOp) and self.may_wrap(node):
            return 1, [node]
        if isinstance(node, ir.BinaryOp) and node.op == "*":
            (a, some), (b, others) = self.product(node.left), self.product(node.right)
            return a * b, [*some, *others]
        sizes = sized(node, self.loops)
        if sizes is not None:
            return sizes
        known = constant_value(node, self.types.scope)
        if known is not None:
            return known, []
        if isinstance(node, ir.Cast) and self.keeps_value(node):
            return self.product(node.expr)
        if isinstance(node, ir.BinaryOp) and node.op == "<<":
            shift = constant_value(node.right, self.types.scope)
            if shift is not None and 0 <= shift < _BYTE:
                total, factors = self.product(node.left)
                return total << shift, factors
        return 1, [node]

    def may_wrap(self, node: Any) -> bool:
        """Whether an unsigned product of fewer bits than sizes have may be another number than in their type."""
        kind = self.types.of(node)
        return kind is not None and not kind.signed and kind.bits <= _INT_BITS

    def keeps_value(self, node: ir.Cast) -> bool:
        """Whether an integer is the same number behind a conversion, as far as sizes go."""
        made, found = self.types.of(node), self.types.of(node.expr)
        if made is None or not made.integer or made.bits < _INT_BITS:
            return False
        known = found if found is not None else made
        return known.integer and known.bits <= made.bits and (made.bits > _INT_BITS or made.signed >= known.signed)

    def bound(self, number_of: int, factors: list[Any]) -> tuple[list[Any], Any, str]:
        """How many elements there are: statements that come before, the number, and the type to count in."""
        kinds = [self.types.of(factor) for factor in factors]
        if any(kind is None or not kind.integer for kind in kinds):
            raise NoElementsError
        long_type = self.maker.tu.long_type
        promoted = [promotion(kind, self.types.scope) for kind in kinds if kind is not None]
        alone = len(factors) == 1 and number_of == 1
        spelling = "int" if not factors else promoted[0].spelling if alone else long_type
        if any(not kind.signed for kind in promoted) and not alone:
            spelling = f"unsigned {long_type}"
        amount: Any = number(number_of)
        if factors:
            amount = factors[0] if alone else cast(spelling, factors[0])
            for factor in (*factors[1:], *([number(number_of)] if number_of > 1 else [])):
                amount = ir.BinaryOp("*", amount, factor, self.coord)
        if not any(isinstance(one, (*_MEMORY, ir.UnaryOp)) for one in walk(amount)):
            return [], amount, spelling
        # What is written may be what the number is read from.
        name = self.maker.fresh()
        kind = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split()))
        return [ir.Decl(name, [], [], [], [], kind, amount, None, self.coord)], ir.ID(name, self.coord), spelling

    # --- places that may overlap --------------------------------------------------------------------------------------

    def backwards(self, where: _Place, source: _Place) -> bool:
        """Whether elements have to be copied from the last one on. Raises NoElementsError where that isn't known."""
        distance = self.distance(where, source)
        if distance is not None:
            return distance > 0
        bases = [one.base.name for one in (where, source) if isinstance(one.base, ir.ID)]
        symbols = [self.types.scope.get(name) for name in bases]
        arrays = [one is not None and bool(one.dims) and not one.pointer for one in symbols]
        parameters = [one is not None and one.kind == "parameter" and self.region.marked for one in symbols]
        apart = all(a or b for a, b in zip(arrays, parameters, strict=True))
        if len(set(bases)) < len("12") or not apart:
            raise NoElementsError
        return False

    @property
    def region(self) -> Region:
        return self.maker.region

    def distance(self, where: _Place, source: _Place) -> int | None:
        """By how many elements one place lies behind another in the same array, if that is known."""
        if _text(where.base) != _text(source.base):
            return None
        known = [0, 0]
        terms: list[list[tuple[int, str]]] = [[], []]
        for k, place in enumerate((where, source)):
            for sign, term in _terms(place.offset, 1):
                value = constant_value(term, self.types.scope)
                if value is None:
                    terms[k].append((sign, _text(term)))
                else:
                    known[k] += sign * value
        return known[0] - known[1] if sorted(terms[0]) == sorted(terms[1]) else None


def _indices(node: Any) -> Iterator[Any]:
    """What is added to a pointer, and the subscripts of an array."""
    match node:
        case ir.BinaryOp():
            yield from _indices(node.left)
            yield node.right
        case ir.ArrayRef():
            yield from _indices(node.name)
            yield node.subscript
        case ir.StructRef() | ir.Cast() | ir.UnaryOp():
            for part in node.parts:
                yield from _indices(part)


def _terms(node: Any, sign: int) -> list[tuple[int, Any]]:
    match node:
        case None:
            return []
        case ir.UnaryOp(op="-", expr=ir.Cast(expr=inner)) | ir.UnaryOp(op="-", expr=inner):
            return _terms(inner, -sign)
        case ir.BinaryOp(op="+" | "-" as op):
            return [*_terms(node.left, sign), *_terms(node.right, sign if op == "+" else -sign)]
    return [(sign, node)]


def _text(node: Any) -> str:
    return str(CPrinter().visit(node))
