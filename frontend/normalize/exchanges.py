"""What iterations of a loop do to pointers, and to integers that pick buffers: nothing, after some of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import lcm
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import items_of, names_of, signed_number, substituted
from scopt.frontend.normalize.turns import MOST_TURNS, Turns, text_of
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.frontend.syntax.structs import Definitions, Typed, Types
from scopt.frontend.syntax.symbols import Symbol, constant_value, is_value, symbol_of
from scopt.ir.effects import effects
from scopt.ir.walks import copied, replaced, used_names, walk

# Nodes of all copies of a body.
_LONGEST = 4000
# Of integers that turn.
_LARGEST = 127


class Known(Struct, frozen=True, eq=False):
    """What is known in front of a loop. scope: what names mean there. before: the statements that are executed one
    after the other, and then the loop. defined: functions with a body in this file."""

    structs: Definitions
    scope: Mapping[str, Symbol]
    before: Sequence[Any]
    defined: Collection[str]

    def counts(self, name: str) -> bool:
        """Whether a name is that of a plain integer variable that nothing else leads to."""
        symbol = self.scope.get(name)
        return symbol is not None and is_value(symbol) and _is_signed(symbol)

    def value(self, name: str) -> int | None:
        """The constant that a variable has."""
        for item in reversed(self.before):
            match item:
                case ir.Decl(name=own, init=value) if own == name:
                    return constant_value(value, self.scope) if value is not None else None
                case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value) if own == name:
                    return constant_value(value, self.scope)
            if name in effects(item).changed:
                return None
        return None


class Exchange(Struct, frozen=True, eq=False):
    """setters: the declarations and assignments of pointers, in order. cycle: the pointers that are exchanged. outer:
    these, and all others that are set and not declared in the loop. copies: the other statements of an iteration, for
    each of the iterations until the pointers are what they were."""

    setters: tuple[Any, ...]
    cycle: tuple[Any, ...]
    outer: tuple[Any, ...]
    copies: tuple[tuple[Any, ...], ...]

    @property
    def order(self) -> int:
        return len(self.copies)


def exchange_of(loop: ir.For, turns: Turns, scope: Mapping[str, Symbol], known: Known) -> Exchange | None:
    """None where iterations do something else to the pointers, or nothing. known: of variables in front of the loop."""
    if any(isinstance(node, ir.Decl) and node.storage for node in walk(loop)):
        return None
    items = _flattened(items_of(loop.stmt), {*used_names(loop), *scope})
    inner = {one.name: symbol_of(one, scope) for one in items if isinstance(one, ir.Decl) and one.name}
    types = Types({**scope, **inner}, known.structs)
    for counters in (_counters(items, types, known), {}):
        setters, pointers = _setters(items, types, counters)
        told = _are_told_by_name(loop, items, setters, pointers, scope) and _are_reached_by_name(
            loop, pointers, types, known
        )
        found = _repeated(loop, items, turns, types, setters, pointers, counters) if told else None
        if found is not None:
            return found
    return None


def _repeated(
    loop: ir.For,
    items: Sequence[Any],
    turns: Turns,
    types: Types,
    setters: tuple[Any, ...],
    pointers: Mapping[str, Any],
    counters: Mapping[str, Any],
) -> Exchange | None:
    """The iterations up to the one behind which all is what it was."""
    period = _period(loop, turns, types)
    if not setters and period == 1:
        return None
    declared = {one.name for one in setters if isinstance(one, ir.Decl)}
    outer = {text: key for text, key in pointers.items() if text not in declared}
    first = {**outer, **{text: value for text, value in counters.items() if text in outer}}
    copies: list[tuple[Any, ...]] = []
    state, live = dict(first), frozenset[str]()
    while not copies or len(copies) % period or any(text_of(state[text]) != text_of(first[text]) for text in live):
        remainders = turns.remainders(len(copies)) if period > 1 else None
        copy = _Copy({text: state[text] for text in outer}, pointers, types.scope, remainders)
        copies.append(tuple(made for item in items if (made := copy.item(item)) is not None))
        live, state = frozenset(copy.read), copy.state
        if copy.lost or len(copies) > MOST_TURNS:
            return None
    cycle = tuple(key for text, key in outer.items() if text in live)
    if (
        len(copies) < 2
        or not _are_alike(items, setters, pointers, types)
        or sum(1 for _ in walk(loop.stmt)) * len(copies) > _LONGEST
    ):
        return None
    return Exchange(setters, cycle, tuple(outer.values()), tuple(copies))


def _period(loop: ir.For, turns: Turns, types: Types) -> int:
    """After how many iterations those remainders of the iterator are the same that a loop picks pointers from an array
    by; 1 without any."""
    picks = (node for node in walk(loop.stmt) if isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ID))
    picked = [
        node
        for node in picks
        if constant_value(node.subscript, types.scope) is None
        and (typed := types.of(node)) is not None
        and typed.pointer
        and (whole := types.of(node.name)) is not None
        and whole.layers[0].dim is not None
    ]
    own = loop.init.decls[0] if isinstance(loop.init, ir.DeclList) else None
    symbol = symbol_of(own, types.scope) if own is not None else types.scope.get(turns.name)
    if not picked or symbol is None or not _is_signed(symbol):
        return 1
    return lcm(*(found[1] for node in walk(loop.stmt) if (found := turns.remainder(node)) is not None))


def _counters(items: Sequence[Any], types: Types, known: Known) -> dict[str, Any]:
    """Integer variables that iterations set from their own values, by names, with the values that they have in front of
    the loop: ``cur = 1 - cur``."""
    found = dict[str, Any]()
    for item in items:
        one = _setting(item, known.counts)
        if one is not None and isinstance(item, ir.Assignment) and isinstance(one[0], ir.ID):
            value = known.value(one[0].name) if known.counts(one[0].name) else None
            if value is not None:
                found[one[0].name] = signed_number(value)
    return found


def _setters(items: Sequence[Any], types: Types, counters: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The statements that set pointers to other pointers' values, and these pointers, by their texts. Of those that are
    declared there, they are the ones that are assigned too, or get the value of one that is. counters: integers that
    are set likewise."""
    followed = {*counters}
    for item in reversed(items):  # integers that such ones are computed from
        found = _setting(item, followed.__contains__)
        if found is not None and found[1] is not None and text_of(found[0]) in followed:
            wanted = {name for name in names_of(found[1]) if name in types.scope}
            followed |= {one.name for one in items if isinstance(one, ir.Decl) and one.name in wanted}
    followed = {name for name in followed if _is_signed(types.scope[name])}
    setting = {item: found for item in items if (found := _setting(item, followed.__contains__)) is not None}
    pointers: dict[str, Any] = {name: ir.ID(name) for name in followed}

    def add(key: Any) -> None:
        typed = types.of(key)
        if typed is not None and typed.pointer:
            pointers.setdefault(text_of(key), key)

    for item, (key, value) in setting.items():
        if isinstance(item, ir.Assignment) and text_of(key) not in followed:
            add(key)
            add(value)
    for item, (key, value) in setting.items():
        if isinstance(item, ir.Decl) and value is not None and _is_key(value) and text_of(value) in pointers:
            add(key)
    return tuple(item for item, (key, _) in setting.items() if text_of(key) in pointers), pointers


class _Copy(Struct, eq=False):
    """One iteration. state: what pointers hold, as expressions of their first values, and integers. pointers: those
    that the loop sets. scope: what names mean. remainders: the values of the iterator's. read: those whose value is
    read before they are set. lost: a value is read that nobody has set."""

    state: dict[str, Any]
    pointers: Mapping[str, Any]
    scope: Mapping[str, Symbol]
    remainders: Callable[[Any], Any | None] | None
    read: set[str] = set()
    done: set[str] = set()
    lost: bool = False

    def item(self, item: Any) -> Any | None:
        """A statement of the copy; None for one that sets a pointer."""
        found = _setting(item, self.pointers.__contains__)
        if found is None or text_of(found[0]) not in self.pointers:
            return replaced(copied(item), self.value)
        key, value = found
        if value is not None:
            self.set(key, value)
        return None

    def set(self, key: Any, value: Any) -> None:
        symbol = self.scope.get(key.name) if isinstance(key, ir.ID) else None
        made = replaced(copied(value), self.value)
        if symbol is not None and _is_signed(symbol):
            number = constant_value(made, self.scope)
            self.lost = self.lost or number is None or not 0 <= number <= _LARGEST
            made = signed_number(number or 0)
        else:
            self.lost = self.lost or text_of(value) not in self.pointers
        self.state[text_of(key)] = made
        self.done.add(text_of(key))

    def value(self, node: Any) -> Any:
        """What stands in a pointer's place; the node itself if it is none."""
        if self.remainders is not None and (number := self.remainders(node)) is not None:
            return number
        if not isinstance(node, (ir.ID, ir.StructRef, ir.ArrayRef)) or (text := text_of(node)) not in self.pointers:
            return node
        if text not in self.done:
            self.read.add(text)
        if text not in self.state:
            self.lost = True
            return node
        return copied(self.state[text])


def _flattened(items: Iterable[Any], taken: set[str]) -> list[Any]:
    """The statements of a block, those in blocks that do nothing else but to set variables among them; what these
    declare gets names that aren't taken."""
    made = list[Any]()
    for item in items:
        inner = item.block_items or () if isinstance(item, ir.Compound) else ()
        if not inner or not all(_setting(one) is not None or isinstance(one, ir.EmptyStatement) for one in inner):
            made.append(item)
            continue
        for name in [one.name for one in inner if isinstance(one, ir.Decl)]:
            fresh = next(one for k in count(2) if (one := f"{name}_{k}") not in taken)
            taken.add(fresh)
            inner = [_renamed(one, name, fresh) for one in inner]
        made += inner
    return made


def _renamed(item: Any, name: str, fresh: str) -> Any:
    made = substituted(item, name, ir.ID(fresh))
    return renamed_declaration(made, fresh) if isinstance(made, ir.Decl) and made.name == name else made


def _is_signed(symbol: Symbol) -> bool:
    """Whether a variable is a signed integer."""
    return not symbol.dims and not symbol.pointer and symbol.type.integer and symbol.type.signed


def _setting(item: Any, counts: Callable[[str], bool] = lambda name: False) -> tuple[Any, Any] | None:
    """What a statement sets to another variable's value, and that one; None if it does something else. counts: whether
    a name is that of an integer whose value is told: it may be computed."""
    match item:
        case ir.Decl(name=str(name), init=value) if not item.storage:
            key: Any = ir.ID(name, item.coord)
        case ir.Assignment(op="=", lvalue=key, rvalue=value):
            pass
        case ir.Assignment(op=op, lvalue=ir.ID(name=name) as key, rvalue=value) if counts(name):
            value = ir.BinaryOp(op.removesuffix("="), key, value, item.coord)
        case _:
            return None
    if isinstance(key, ir.ID) and counts(key.name):
        return key, value
    while isinstance(value, ir.Cast):
        value = value.expr
    fits = _is_key(key) and (value is None or _is_key(value))
    return (key, value) if fits else None


def _is_key(node: Any) -> bool:
    """Whether an expression always means the same variable, as long as the names in it keep their values."""
    match node:
        case ir.ID():
            return True
        case ir.StructRef(name=base):
            return _is_key(base)
        case ir.ArrayRef(name=base, subscript=ir.Constant()):
            return _is_key(base)
    return False


def _are_told_by_name(
    loop: ir.For, items: Sequence[Any], setters: Sequence[Any], pointers: Mapping[str, Any], scope: Mapping[str, Symbol]
) -> bool:
    """Whether nothing else in the loop sets the pointers, or leads to them by another name."""
    names = {name for key in pointers.values() for name in names_of(key)}
    rest = [item for item in items if not any(item is one for one in setters)]
    done = effects(*rest, loop.init, loop.cond, loop.next)
    if done.opaque or done.unnamed or names & (done.changed | done.taken):
        return False
    own = {one.name for one in setters if isinstance(one, ir.Decl)}
    declared = [node.name for node in walk(loop) if isinstance(node, ir.Decl)]
    if any(declared.count(name) > (name in own) for name in names) or own & scope.keys():
        return False
    whole = [key for key in pointers.values() if not isinstance(key, ir.ID)]
    bases = {name for key in whole for name in names_of(key)}
    if len(bases) > 1 or bases & pointers.keys():
        return False  # one may lead to the other's members
    above = {text_of(part) for key in whole for part in walk(key) if part is not key}
    members = {key.field for key in whole if isinstance(key, ir.StructRef)}
    for node in _references(loop):
        if text_of(node) in above or (
            isinstance(node, ir.StructRef) and node.field in members and not names_of(node) <= bases
        ):
            return False
    return True


def _are_reached_by_name(loop: ir.For, pointers: Mapping[str, Any], types: Types, known: Known) -> bool:
    """Whether neither functions nor pointers to pointers can lead to the pointers: they are variables with no address,
    or there are no such ones in the loop."""
    names = {name for key in pointers.values() for name in names_of(key)}
    if all(isinstance(key, ir.ID) and is_value(types.scope[key.name]) for key in pointers.values()):
        return True
    if not effects(loop).called <= VALUE_FUNCTIONS - {*known.defined}:
        return False
    others = {name for name in used_names(loop) if name in types.scope} - names
    typed = [types.of(ir.ID(name)) for name in others]
    return not any(one is not None and sum(layer.kind == "pointer" for layer in one.layers) > 1 for one in typed)


def _are_alike(items: Sequence[Any], setters: Sequence[Any], pointers: Mapping[str, Any], types: Types) -> bool:
    """Whether all pointers lead to elements of one type and shape, but for those that only hand on others' values."""
    rest = [item for item in items if not any(item is one for one in setters)]
    used = {text_of(node) for item in rest for node in walk(item) if _is_key(node)}
    typed = [
        found
        for text, key in pointers.items()
        if (found := types.of(key)) is not None and found.pointer and (found.type.spelling != "void" or text in used)
    ]
    groups = [[one for one in typed if _is_like(one, other)] for other in typed]
    return len(groups) < 2 or all(len(one) > 1 for one in groups)


def _references(node: Any) -> Iterator[Any]:
    """The longest names, members and constant elements in a tree; those below what has no such name."""
    if isinstance(node, (ir.ID, ir.StructRef, ir.ArrayRef)):
        yield from [node] if _is_key(node) or isinstance(node, ir.StructRef) else []
        if _is_key(node):
            return
    for child in node.parts:
        yield from _references(child)


def _is_like(one: Typed, other: Typed | None) -> bool:
    """Whether two pointers lead to elements of one type and shape."""
    if other is None or len(one.layers) != len(other.layers) or one.type.spelling != other.type.spelling:
        return False
    pairs = zip(one.layers, other.layers, strict=True)
    return all(
        a.kind == b.kind
        and (a.dim is b.dim or (a.dim is not None and b.dim is not None and text_of(a.dim) == text_of(b.dim)))
        for a, b in pairs
    )
