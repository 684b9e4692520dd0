"""Loops whose iterations exchange pointers, ``tmp = a; a = b; b = tmp;``: stencils with two or three buffers, dynamic
programs with two rows.

What an iteration does to the pointers is a permutation of the values that they have in front of the loop. After k
iterations, its order, all are what they were: iteration i is one of k copies of the body, by the remainder of i, and in
each copy the pointers' first values stand in their places. Nothing sets a pointer any more; those that somebody reads
behind the region get their last values there, by as many of the exchanges as are left over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import lcm
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.opaque import leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import items_of, names_of, number, signed_number, step_of, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.structs import Definitions, Typed, Types
from scopt.frontend.syntax.symbols import Symbol, constant_value, is_value, symbol_of
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.walks import changed, copied, replaced, walk

# Copies of a body, and nodes of all of them.
_MOST_COPIES, _LONGEST = 4, 4000


class ExchangedPointers(Struct, frozen=True, eq=False):
    """items: the statements. behind: C statements, one each, that give pointers their last values behind the region.
    changed: there are such loops."""

    items: tuple[Any, ...]
    behind: tuple[str, ...] = ()
    changed: bool = False


class Surroundings(Struct, frozen=True, eq=False):
    """symbols: what names mean where the region begins. structs: definitions of structures. before: the statements in
    front of the region that are executed one after the other, and then the region. read_after: whether what the region
    leaves in a variable may be read. reserved: names that mean something. long_type: an integer type of 64 bits."""

    symbols: Mapping[str, Symbol]
    structs: Definitions
    before: Sequence[Any]
    read_after: Callable[[str], bool]
    reserved: frozenset[str]
    long_type: str


def with_exchanged_pointers(items: Sequence[Any], around: Surroundings) -> ExchangedPointers:
    """The statements of a region with such loops in that form: those that are executed once, whatever data say."""
    if not any(isinstance(item, (ir.For, ir.Compound)) for item in items):
        return ExchangedPointers(tuple(items))
    maker = _Maker(around, tuple(items))
    made = maker.block(items, around.symbols, (), ())
    return ExchangedPointers(tuple(made), tuple(maker.behind), changed=maker.found)


class _Maker(Struct, eq=False):
    """region: its statements. behind, found: as in `ExchangedPointers`."""

    around: Surroundings
    region: tuple[Any, ...]
    behind: list[str] = []
    found: bool = False

    def block(
        self, items: Sequence[Any], scope: Mapping[str, Symbol], before: Sequence[Any], after: Sequence[Any]
    ) -> list[Any]:
        """The items of a block that is executed once. before, after: what is executed in front of it and behind it in
        the region."""
        inner, made = dict(scope), []
        for place, item in enumerate(items):
            rest = (*items[place + 1 :], *after)
            if isinstance(item, ir.Decl) and item.name:
                inner[item.name] = symbol_of(item, inner)
            if isinstance(item, ir.Compound):
                block = self.block(item.block_items or (), inner, (*before, *items[:place]), rest)
                item = changed(item, block_items=block) if self.found else item
            elif isinstance(item, ir.For):
                item = self.loop(item, inner, (*before, *items[:place]), rest)
            made.append(item)
        return made

    def loop(self, loop: ir.For, scope: Mapping[str, Symbol], before: Sequence[Any], after: Sequence[Any]) -> Any:
        """What stands in a loop's place: itself, if it isn't one of that kind. before: what is executed in front of it
        in the region."""
        turns = _turns(loop)
        known = Known(self.around.structs, scope, (*self.around.before, *before))
        exchange = _exchange(loop, turns, scope, known) if turns is not None else None
        if turns is None or exchange is None or not _is_last(turns, exchange, after):
            return loop
        wanted = [key for key in exchange.outer if self.is_wanted(key, scope)]
        if wanted:
            inside = {one.name for one in walk(*self.region) if isinstance(one, ir.Decl)}
            named = {name for key in exchange.outer for name in names_of(key)} | names_of(turns.start)
            if (named | names_of(turns.end)) & inside:
                return loop
            self.behind.append(self.left_over(turns, exchange, wanted))
        self.found = True
        return changed(loop, stmt=_in_copies(loop, turns, exchange))

    def is_wanted(self, key: Any, scope: Mapping[str, Symbol]) -> bool:
        """Whether the value that the region leaves in a pointer may be read."""
        if not isinstance(key, ir.ID):
            return True
        own = scope.get(key.name) is not self.around.symbols.get(key.name)
        return not own and self.around.read_after(key.name)

    def left_over(self, turns: _Turns, exchange: _Exchange, wanted: Sequence[Any]) -> str:
        """The statement behind the region: the exchanges that don't make each other good."""
        steps, order = turns.number(self.around.long_type), exchange.order
        body = " ".join(f"{_text(one)};" for one in exchange.setters)
        cycle = [_text(key) for key in exchange.cycle]
        if all(_text(key) in cycle for key in wanted) and order == 2:
            return f"if ({steps} > 0 && {steps} % 2 == 1) {{ {body} }}"
        names = (f"turn_{k}" if k > 1 else "turn" for k in count(1))
        used = self.around.reserved | {name for one in exchange.setters for name in names_of(one)}
        name = next(name for name in names if name not in used)
        declared = f"{self.around.long_type} {name} = {steps} > 0 ? ({steps} - 1) % {order} + 1 : 0"
        return f"for ({declared}; {name} > 0; {name}--) {{ {body} }}"


# --- loops ------------------------------------------------------------------------------------------------------------


class _Turns(Struct, frozen=True, eq=False):
    """A loop over an iterator that steps by 1 or -1: from start, while it compares (op) with end."""

    name: str
    start: Any
    op: str
    end: Any
    step: int

    def since_start(self) -> Any:
        """How many iterations came before."""
        own = ir.ID(self.name)
        if self.step > 0 and value_of(self.start) == 0:
            return own
        ends = (own, copied(self.start)) if self.step > 0 else (copied(self.start), own)
        return ir.BinaryOp("-", *ends)

    def remainder(self, node: Any) -> tuple[int, int] | None:
        """What a node adds to the iterator, and what it divides by, if it is a remainder of what isn't negative."""
        first = value_of(self.start)
        if not isinstance(node, ir.BinaryOp) or node.op not in ("%", "&") or first is None or self.step != 1:
            return None
        divisor, added = value_of(node.right), 0
        match node.left:
            case ir.ID(name=own):
                pass
            case ir.BinaryOp(op="+" | "-" as op, left=ir.ID(name=own), right=right) if value_of(right) is not None:
                added = (value_of(right) or 0) * (1 if op == "+" else -1)
            case _:
                return None
        if own != self.name or divisor is None or first + added < 0:
            return None
        if node.op == "&":
            divisor = divisor + 1 if divisor & (divisor + 1) == 0 else 0
        return (added, divisor) if 2 <= divisor <= _MOST_COPIES else None

    def remainders(self, turn: int) -> Callable[[Any], Any | None]:
        """The values of all such remainders in an iteration, and those that come a period later each."""

        def value(node: Any) -> Any | None:
            found = self.remainder(node)
            return number((turn + (value_of(self.start) or 0) + found[0]) % found[1]) if found is not None else None

        return value

    def number(self, long_type: str) -> str:
        """How many iterations there are, where that is positive."""
        low, high = (self.start, self.end) if self.step > 0 else (self.end, self.start)
        wide = [f"({long_type})({_text(one)})" for one in (high, low)]
        text = wide[0] if value_of(low) == 0 else f"{wide[0]} - {wide[1]}"
        text = f"{text} + 1" if "=" in self.op else text
        return text if text is wide[0] else f"({text})"


def _turns(loop: ir.For) -> _Turns | None:
    """How a loop counts; None where it counts in another way, or its body may be left."""
    name = loop_iterator(loop)
    match loop.cond:
        case ir.BinaryOp(op="<" | "<=" | ">" | ">=" as op, left=ir.ID(name=own), right=end) if own == name:
            pass
        case _:
            return None
    step = step_of(loop.next)
    if name is None or step is None or step[0] != name or abs(step[1]) != 1:
        return None
    start = loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue
    if (step[1] > 0) != op.startswith("<") or start is None or not (_is_value(start) and _is_value(end)):
        return None
    inside = effects(loop.stmt, loop.next).changed
    if name in effects(loop.stmt).changed or (names_of(start) | names_of(end)) & (inside | {name}):
        return None
    if next(leaving(loop.stmt), None) is not None or out_of_statements(loop.stmt) is not None:
        return None
    return _Turns(name, start, op, end, step[1])


def _is_value(node: Any) -> bool:
    """Whether an expression only computes from variables, members and constants."""
    match node:
        case ir.ID() | ir.Constant():
            return True
        case ir.StructRef():
            return _is_value(node.name)
        case ir.UnaryOp(op="+" | "-") | ir.Cast(to_type=ir.Typename(type=ir.TypeDecl())):
            return _is_value(node.expr)
        case ir.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
            return _is_value(node.left) and _is_value(node.right)
    return False


class Known(Struct, frozen=True, eq=False):
    """What is known in front of a loop. scope: what names mean there. before: the statements that are executed one
    after the other, and then the loop."""

    structs: Definitions
    scope: Mapping[str, Symbol]
    before: Sequence[Any]

    def counts(self, name: str) -> bool:
        """Whether a name is that of a plain integer variable that nothing else leads to."""
        symbol = self.scope.get(name)
        return symbol is not None and is_value(symbol) and symbol.type.integer and not symbol.dims

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


# --- what iterations do to pointers -----------------------------------------------------------------------------------


class _Exchange(Struct, frozen=True, eq=False):
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


def _exchange(loop: ir.For, turns: _Turns, scope: Mapping[str, Symbol], known: Known) -> _Exchange | None:
    """None where iterations do something else to the pointers, or nothing. known: of variables in front of the loop."""
    items = [*_flattened(items_of(loop.stmt))]
    inner = {one.name: symbol_of(one, scope) for one in items if isinstance(one, ir.Decl) and one.name}
    types = Types({**scope, **inner}, known.structs)
    for counters in (_counters(items, types, known), {}):
        setters, pointers = _setters(items, types, counters)
        told = _are_told_by_name(loop, items, setters, pointers, scope)
        found = _repeated(loop, items, turns, types, setters, pointers, counters) if told else None
        if found is not None:
            return found
    return None


def _repeated(
    loop: ir.For,
    items: Sequence[Any],
    turns: _Turns,
    types: Types,
    setters: tuple[Any, ...],
    pointers: Mapping[str, Any],
    counters: Mapping[str, Any],
) -> _Exchange | None:
    """The iterations up to the one behind which all is what it was."""
    period = _period(loop, turns, types)
    if not setters and period == 1:
        return None
    declared = {one.name for one in setters if isinstance(one, ir.Decl)}
    outer = {text: key for text, key in pointers.items() if text not in declared}
    first = {**outer, **{text: value for text, value in counters.items() if text in outer}}
    copies: list[tuple[Any, ...]] = []
    state, live = dict(first), frozenset[str]()
    while not copies or len(copies) % period or any(_text(state[text]) != _text(first[text]) for text in live):
        remainders = turns.remainders(len(copies)) if period > 1 else None
        copy = _Copy({text: state[text] for text in outer}, pointers, types.scope, remainders)
        copies.append(tuple(made for item in items if (made := copy.item(item)) is not None))
        live, state = frozenset(copy.read), copy.state
        if copy.lost or len(copies) > _MOST_COPIES:
            return None
    cycle = tuple(key for text, key in outer.items() if text in live)
    typed = [types.of(key) for key in cycle if _text(key) not in counters]
    alike = all(one is not None and _is_like(one, typed[0]) for one in typed)
    if len(copies) < 2 or not alike or sum(1 for _ in walk(loop.stmt)) * len(copies) > _LONGEST:
        return None
    return _Exchange(setters, cycle, tuple(outer.values()), tuple(copies))


def _period(loop: ir.For, turns: _Turns, types: Types) -> int:
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
    divisors = {found[1] for node in walk(loop.stmt) if (found := turns.remainder(node)) is not None}
    return lcm(*divisors) if picked and divisors else 1


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

    def counts(name: str) -> bool:
        return name in followed

    for item in items:  # integers that such ones are computed from, or that are computed from them
        symbol = types.scope.get(item.name) if isinstance(item, ir.Decl) and item.init is not None else None
        if symbol is not None and not symbol.dims and symbol.type.integer and names_of(item.init) & followed:
            followed.add(item.name)
    setting = {item: found for item in items if (found := _setting(item, counts)) is not None}
    pointers: dict[str, Any] = {name: ir.ID(name) for name in followed}

    def add(key: Any) -> None:
        typed = types.of(key)
        if typed is not None and typed.pointer:
            pointers.setdefault(_text(key), key)

    for item, (key, value) in setting.items():
        if isinstance(item, ir.Assignment) and _text(key) not in followed:
            add(key)
            add(value)
    for item, (key, value) in setting.items():
        if isinstance(item, ir.Decl) and value is not None and _is_key(value) and _text(value) in pointers:
            add(key)
    return tuple(item for item, (key, _) in setting.items() if _text(key) in pointers), pointers


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
        if found is None or _text(found[0]) not in self.pointers:
            return replaced(copied(item), self.value)
        key, value = found
        if value is not None:
            self.set(key, value)
        return None

    def set(self, key: Any, value: Any) -> None:
        typed = self.scope.get(key.name) if isinstance(key, ir.ID) else None
        made = replaced(copied(value), self.value)
        if typed is not None and not typed.dims:
            number = constant_value(made, self.scope)
            self.lost = self.lost or number is None
            made = signed_number(number or 0)
        else:
            self.lost = self.lost or _text(value) not in self.pointers
        self.state[_text(key)] = made
        self.done.add(_text(key))

    def value(self, node: Any) -> Any:
        """What stands in a pointer's place; the node itself if it is none."""
        if self.remainders is not None and (number := self.remainders(node)) is not None:
            return number
        if not isinstance(node, (ir.ID, ir.StructRef, ir.ArrayRef)) or (text := _text(node)) not in self.pointers:
            return node
        if text not in self.done:
            self.read.add(text)
        if text not in self.state:
            self.lost = True
            return node
        return copied(self.state[text])


def _flattened(items: Iterable[Any]) -> Iterator[Any]:
    """The statements of a block, those in blocks that do nothing else but to set variables among them."""
    for item in items:
        inner = item.block_items or () if isinstance(item, ir.Compound) else None
        if inner and all(_setting(one) is not None or isinstance(one, ir.EmptyStatement) for one in inner):
            yield from inner
        else:
            yield item


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
    above = {_text(part) for key in whole for part in walk(key) if part is not key}
    members = {key.field for key in whole if isinstance(key, ir.StructRef)}
    for node in _references(loop):
        if _text(node) in above or (
            isinstance(node, ir.StructRef) and node.field in members and not names_of(node) <= bases
        ):
            return False
    return True


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
        and (a.dim is b.dim or (a.dim is not None and b.dim is not None and _text(a.dim) == _text(b.dim)))
        for a, b in pairs
    )


def _is_last(turns: _Turns, exchange: _Exchange, after: Sequence[Any]) -> bool:
    """Whether nothing behind the loop in the region names the pointers, or changes how often it runs."""
    names = {name for key in exchange.outer for name in names_of(key)}
    bounds = names_of(turns.start) | names_of(turns.end)
    return not any(names & names_of(item) for item in after) and not bounds & effects(*after).changed


def _in_copies(loop: ir.For, turns: _Turns, exchange: _Exchange) -> Any:
    """The body that does, in each iteration, what the copy for that does."""
    *some, made = (ir.Compound(list(copy), loop.stmt.coord) for copy in exchange.copies)
    for place in reversed(range(len(some))):
        rest = ir.BinaryOp("%", turns.since_start(), number(exchange.order), loop.coord)
        made = ir.If(ir.BinaryOp("==", rest, number(place), loop.coord), some[place], made, loop.coord)
    return ir.Compound([made], loop.stmt.coord)


def _text(node: Any) -> str:
    return str(CPrinter(reduce_parentheses=True).visit(node))
