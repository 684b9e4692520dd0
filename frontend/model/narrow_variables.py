"""Variables of type int that only choose among narrow cells, as what they are: of bytes, in ``int lo = a[i] < b[i] ?
a[i] : b[i];``, an unsigned char.

gcc computes what it can of narrow values in narrow vectors, but no minimum, maximum or choice whose operands are ints:
these it widens, four times as many vectors for bytes. A variable all of whose values are those of narrow cells, of
constants, or of other such variables, has the same value in the narrowest type that holds them all; an expression makes
an int of it, as it was. Variables that something else is computed for stay: compilers narrow arithmetic by themselves.
So do those that a loop hands on, whose vectors have as many lanes as their indices', but for extremes alone: ``if (a[i]
> most) most = a[i];``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import value_of
from scopt.frontend.syntax.symbols import is_value
from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import Symbol, limits_of, shape_of
from scopt.ir.effects import effects
from scopt.ir.walks import changed, rebuilt, same_tree, walk

# Iterations of a loop that may be written out, so that nothing is handed on by it.
_FEW = 16
_NARROW = 16
_TYPES = ("unsigned char", "signed char", "unsigned short", "short")
_TRUTHS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
Interval = tuple[int, int]
Symbols = Mapping[str, Symbol]


def with_narrow_variables(
    items: Iterable[Any], symbols: Symbols, own: Callable[[str], bool]
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """Statements with narrower declarations of such variables, and what names mean there.

    symbols: what names mean, each one thing. own(name): whether the statements declare a variable, that nothing but its
    name leads to.
    """
    items = tuple(items)
    reader = _Reader({name for name, symbol in symbols.items() if own(name) and _is_int(symbol)})
    if effects(*items).opaque or any(_asks_for_types(node) for node in walk(*items)):
        return items, dict(symbols)
    for item in items:
        reader.statement(item, 0)
    ranges = _ranges(reader, symbols)
    types = {name: kind for name, found in ranges.items() if (kind := _narrowest(found, symbols)) is not None}
    if not any(reader.chosen(name) for name in types):
        return items, dict(symbols)
    narrower = {name: _as(symbols[name], symbols[kind]) for name, kind in types.items()}

    def narrowed(node: Any) -> Any:
        return _declared(node, types[node.name]) if isinstance(node, ir.Decl) and node.name in types else node

    return tuple(rebuilt(item, narrowed) for item in items), {**symbols, **narrower}


def narrow_type(value: Any, symbols: Symbols) -> str | None:
    """The narrowest type that has all values of a choice among narrow cells, constants and variables of narrow types;
    None of others."""
    known = {
        name: limits_of(one.type)
        for name, one in symbols.items()
        if one.kind == "local" and one.type.spelling in _TYPES and is_value(one) and not one.pointer
    }
    found = _range(value, known, {*known}, symbols)
    return None if found is None or found == _NOTHING else _narrowest(found, symbols)


def _is_int(symbol: Symbol) -> bool:
    return symbol.type.spelling == "int" and not (symbol.dims or symbol.pointer or symbol.layers or symbol.type.const)


def _as(symbol: Symbol, kind: Symbol) -> Symbol:
    """A variable as one of another type."""
    return replace(symbol, type=kind.type, size=kind.size, decl=_declared(symbol.decl, kind.type.spelling))


def _asks_for_types(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op in ("sizeof", "_Alignof")


def _declared(node: ir.Decl, spelling: str) -> ir.Decl:
    return changed(node, type=changed(node.type, type=ir.IdentifierType(spelling.split())))


class _Reader(Struct, frozen=True, eq=False):
    """Collects what variables are given. names: those that may be narrowed; fewer and fewer. given: by name.
    depths: in how many loops a variable is declared. branches: variables that a condition decides about."""

    names: set[str]
    given: dict[str, list[Any]] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    branches: set[str] = field(default_factory=set)

    def statement(self, node: Any, depth: int, branch: bool = False) -> None:
        """depth: loops around that hand on what variables hold, declared outside of them."""
        match node:
            case ir.Decl(name=name, init=init):
                self.depths[name] = depth
                if init is not None:
                    self.give(name, init, depth, branch)
            case ir.If(iffalse=None) if (extremum := _extremum(node)) is not None:
                self.give(*extremum, self.depths.get(extremum[0], depth), True)
                return
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
                self.give(name, value, depth, branch)
            case (
                ir.Assignment(lvalue=ir.ID(name=name))
                | ir.UnaryOp(op="++" | "p++" | "--" | "p--" | "&", expr=ir.ID(name=name))
            ):
                self.names.discard(name)
        inner = depth + (isinstance(node, ir.For | ir.While | ir.DoWhile) and not _is_short(node))
        for child in () if node is None else node.parts:
            self.statement(child, inner, branch or isinstance(node, ir.If))

    def give(self, name: str, value: Any, depth: int, branch: bool) -> None:
        if self.depths.get(name) != depth:
            self.names.discard(name)
        self.given.setdefault(name, []).append(value)
        if branch:
            self.branches.add(name)

    def chosen(self, name: str) -> bool:
        """Whether a condition chooses the variable's value."""
        return name in self.branches or any(isinstance(value, ir.TernaryOp) for value in self.given[name])


def _extremum(node: ir.If) -> tuple[str, Any] | None:
    """The variable of ``if (value > variable) variable = value;``, and the value; None of other conditions."""
    inner = node.iftrue
    if isinstance(inner, ir.Compound) and len(inner.block_items or ()) == 1:
        inner = inner.block_items[0]
    match node.cond, inner:
        case ir.BinaryOp(op="<" | ">" | "<=" | ">="), ir.Assignment(
            op="=", lvalue=ir.ID(name=name) as own, rvalue=value
        ):
            sides = (node.cond.left, node.cond.right)
            pairs = (sides, sides[::-1])
            done = effects(node.cond, value)
            plain = not (done.written or done.called or done.taken or done.opaque)
            if plain and any(same_tree(a, own) and same_tree(b, value) for a, b in pairs):
                return name, value
    return None


def _is_short(loop: Any) -> bool:
    """Whether a loop counts from a constant to another one, which is near."""
    if not isinstance(loop, ir.For):
        return False
    match loop.init:
        case ir.DeclList(decls=(ir.Decl(init=first),)) | ir.Assignment(op="=", rvalue=first):
            pass
        case _:
            return False
    low = value_of(first)
    high = value_of(loop.cond.right) if isinstance(loop.cond, ir.BinaryOp) else None
    return low is not None and high is not None and abs(high - low) <= _FEW


# --- values -----------------------------------------------------------------------------------------------------------


def _ranges(reader: _Reader, symbols: Symbols) -> dict[str, Interval]:
    """The values of variables that are given nothing but narrow values. What one of them holds depends on others: the
    least ranges that agree with all assignments, or none for those that grow too large."""
    names = {name for name in reader.names if reader.given.get(name)}
    while True:
        found: dict[str, Interval] = {}
        for _ in range(len(names) + 1):
            made = {name: _hull([_range(one, found, names, symbols) for one in reader.given[name]]) for name in names}
            left = {name for name in names if made[name] is None}
            known = {name: ends for name, ends in made.items() if ends is not None and ends != _NOTHING}
            if left or known == found:
                break
            found = known
        if not left:
            return found
        names -= left


# Of a variable that nothing is known of yet; of no use to anybody else.
_NOTHING = (1, 0)


def _range(node: Any, found: Mapping[str, Interval], names: set[str], symbols: Symbols) -> Interval | None:
    """Where the value of an expression lies that computes nothing; None of others."""
    match node:
        case ir.ID(name=name):
            return found.get(name, _NOTHING) if name in names else None
        case ir.Constant() | ir.UnaryOp(op="-", expr=ir.Constant()):
            inner = node.expr if isinstance(node, ir.UnaryOp) else node
            constant = typed_constant(inner, symbols)
            if constant is None or constant[1].spelling != "int":
                return None
            value = constant[0] if inner is node else -constant[0]
            return value, value
        case ir.ArrayRef():
            return _cell(node, symbols)
        case ir.TernaryOp(iftrue=first, iffalse=second):
            return _hull([_range(first, found, names, symbols), _range(second, found, names, symbols)])
        case ir.Cast(to_type=to_type):
            target = shape_of(to_type, symbols)
            plain = not target.layers and target.type.integer and 0 < target.type.bits <= _NARROW
            return limits_of(target.type) if plain else None
        case ir.BinaryOp(op=op) if op in _TRUTHS:
            return 0, 1
    return None


def _cell(node: Any, symbols: Symbols) -> Interval | None:
    """The values of a narrow array's cells."""
    base, rank = node, 0
    while isinstance(base, ir.ArrayRef):
        base, rank = base.name, rank + 1
    symbol = symbols.get(base.name) if isinstance(base, ir.ID) else None
    if symbol is None or len(symbol.dims) != rank or not symbol.type.integer or not 0 < symbol.type.bits <= _NARROW:
        return None
    if symbol.type.volatile or symbol.type.atomic:
        return None
    return limits_of(symbol.type)


def _hull(some: Iterable[Interval | None]) -> Interval | None:
    """What holds all of them; None if one is unknown, or they are no narrow type's."""
    ends = list(some)
    known = [one for one in ends if one is not None and one != _NOTHING]
    if None in ends:
        return None
    if not known:
        return _NOTHING
    low, high = min(one[0] for one in known), max(one[1] for one in known)
    return (low, high) if low >= -(1 << _NARROW) and high < 1 << _NARROW else None


def _narrowest(found: Interval, symbols: Symbols) -> str | None:
    """The narrowest type that holds all values; None if there is none."""
    for spelling in _TYPES:
        kind = symbols[spelling].type if spelling in symbols else None
        if kind is not None and kind.integer and 0 < kind.bits < symbols["int"].type.bits:
            low, high = limits_of(kind)
            if low <= found[0] and found[1] <= high:
                return spelling
    return None
