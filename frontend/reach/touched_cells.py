"""What a region touches of its arrays, as far as what subscripts are computed from says.

The statements are run through once, in the order of the source, with sums of products of names in the place of numbers
(Cousot and Halbwachs, "Automatic discovery of linear restraints among variables of a program", 1978, with another
domain); what a loop may change is forgotten where it begins. What is found is code that the program runs in front of
the region: see `Code`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.reach.code import Operand, Unbounded
from scopt.frontend.reach.ends import Limits
from scopt.frontend.reach.states import State, Value
from scopt.frontend.reach.sums import name, number
from scopt.frontend.reach.symbolic_values import Reader
from scopt.ir.constants import typed_constant
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.truths import conjuncts
from scopt.ir.walks import walk

_JUMPS = (ir.Goto, ir.Label, ir.Switch)
_LEAVES = (ir.Break, ir.Continue, ir.Return)
_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


class Touched(Struct, frozen=True):
    """The elements from the first to the last one, both included, that some accesses may touch."""

    first: Operand
    last: Operand


class Reading(Struct, frozen=True):
    """reader: of expressions. iterators: types of variables that loops declare. wanted: the arrays that are asked for.
    found: their cells so far; None if there is something that nothing is known of. given: what some variables get,
    where: expressions, their values, None if nothing is known of these, and what holds there."""

    reader: Reader
    iterators: Mapping[str, CType]
    wanted: Collection[str]
    found: dict[str, Touched | None] = field(default_factory=dict)
    given: dict[str, list[tuple[Any, Value | None, State]]] = field(default_factory=dict)

    # --- statements: `state` is changed to what holds behind them -----------------------------------------------------

    def block(self, items: Sequence[Any], state: State) -> None:
        for item in items:
            self.statement(item, state)

    def statement(self, node: Any, state: State) -> None:
        match node:
            case None:
                return
            case ir.Compound():
                self.block(node.block_items or (), state)
            case ir.DeclList():
                self.block(node.decls, state)
            case ir.Decl():
                self.plain(node.init, state)
                self.set(node.name, node.init, state)
            case ir.If():
                self.branches(node, state)
            case ir.For() | ir.While() | ir.DoWhile():
                self.loop(node, state)
            case ir.Assignment(op="=", lvalue=ir.ID(name=own)):
                self.plain(node.rvalue, state)
                self.set(own, node.rvalue, state)
            case ir.Assignment(lvalue=ir.ID(name=own)):
                self.plain(node.rvalue, state)
                self.set(own, ir.BinaryOp(node.op[:-1], node.lvalue, node.rvalue), state)
            case ir.UnaryOp(op=op, expr=ir.ID(name=own)) if op in _STEPS:
                sign = "+" if _STEPS[op] > 0 else "-"
                self.set(own, ir.BinaryOp(sign, node.expr, ir.Constant("int", "1")), state)
            case _:
                self.plain(node, state)

    def branches(self, node: ir.If, state: State) -> None:
        self.plain(node.cond, state)
        then, other = (self.reader.where(node.cond, state, holds) for holds in (True, False))
        self.statement(node.iftrue, then)
        self.statement(node.iffalse, other)
        left = [_leaves(node.iftrue), _leaves(node.iffalse)]
        if any(left):
            _replace(state, other if left[0] else then)
            return
        changed = effects(*(part for part in (node.iftrue, node.iffalse) if part)).changed
        for own in {*then.values, *other.values, *changed}:
            if own in changed:
                state.forget(own)
            a, b = then.values.get(own), other.values.get(own)
            state.values.pop(own, None)
            if a is None or b is None:
                continue
            if a == b and all(symbol in state.limits for symbol in self.symbols_of(a)):
                state.values[own] = a
                continue
            try:
                with self.reader.code.tried():
                    state.values[own] = self.reader.union(a, then, b, other, state)
            except Unbounded:
                continue

    def symbols_of(self, value: Value) -> set[str]:
        return {factor for monomial in value.sum for factor in monomial} & self.reader.order.keys()

    def set(self, own: str, init: Any, state: State) -> None:
        """A variable gets the value of an expression."""
        plain = init is not None and not effects(init).changed
        value = self.reader.value(init, state) if plain else None
        ctype = self.type_of(own)
        if plain and value is None and ctype is not None:
            value = self.reader.truncated(init, ctype, state)
        self.reader.floats.set(own, init if plain else None, state)
        state.values.pop(own, None)
        converted = self.converted(value, ctype, state) if value is not None and ctype is not None else None
        if converted is not None:
            state.values[own] = converted
        if own in self.given:
            self.given[own].append((init, converted, state.copy()))

    def converted(self, value: Value, ctype: CType, state: State) -> Value | None:
        try:
            with self.reader.code.tried():
                return self.reader.converted(value, ctype, state)
        except Unbounded:
            return None

    def loop(self, node: Any, state: State) -> None:
        counted = isinstance(node, ir.For)
        if counted:
            self.statements_of(node.init, state)
        first = dict(state.values)
        changed = effects(*(part for part in (node.cond, node.stmt, getattr(node, "next", None)) if part)).changed
        steps = {own: step for own in changed if (step := self.one_way(own, node)) and own in first}
        _forget(changed, state)
        self.chosen(changed - steps.keys(), node, steps, first, state)
        chosen = {own: state.values[own] for own in changed if own in state.values}
        self.iteration(node, steps, first, state)
        _forget(changed, state)
        state.values.update(chosen)
        self.stepped(steps, first, state)

    def iteration(self, node: Any, steps: Mapping[str, int], first: Mapping[str, Value], state: State) -> None:
        """What any iteration touches. state: what holds where each begins."""
        counted, inside = isinstance(node, ir.For), state.copy()
        self.stepped(steps, first, inside)
        if counted:
            self.count(node, first, inside)
        self.plain(node.cond, inside)
        if node.cond is not None and not isinstance(node, ir.DoWhile):
            inside = self.reader.where(node.cond, inside, True)
        self.statement(node.stmt, inside)
        if counted:
            self.plain(node.next, state.copy())

    def chosen(
        self, those: Collection[str], loop: Any, steps: Mapping[str, int], first: Mapping[str, Value], state: State
    ) -> None:
        """Variables that a loop gives other values now and then, such as where something least is found, lie between
        all of these and their first ones. Only where each value is known whatever the variables were before."""
        assigned = {own: _assigned(own, loop) for own in those if own in first and self.type_of(own) is not None}
        assigned = {own: nodes for own, nodes in sorted(assigned.items()) if nodes}
        if not assigned:
            return
        probe = Reading(self.reader, self.iterators, (), given={own: [] for own in assigned})
        probe.iteration(loop, steps, first, state)
        for own, nodes in assigned.items():
            seen = probe.given[own]
            if {id(node) for node in nodes} != {id(node) for node, _, _ in seen}:
                continue
            value = first[own]
            try:
                with self.reader.code.tried():
                    for _, other, place in seen:
                        if other is None or other.type != value.type:
                            raise Unbounded
                        value = self.reader.union(value, state, other, place, state)
            except Unbounded:
                continue
            state.values[own] = value

    def one_way(self, own: str, loop: Any) -> int:
        """In which direction a loop steps a variable, if it does nothing else with it but look; 0 if that isn't so."""
        signs = set[int]()
        for node in walk(loop):
            match node:
                case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if name == own and op in (*_STEPS, "&"):
                    signs.add(_STEPS.get(op, 0))
                case ir.Assignment(lvalue=ir.ID(name=name)) if name == own:
                    signs.add(self.step_of(node)[1])
                case ir.Decl(name=name) if name == own:
                    return 0
        return (1 if min(signs) > 0 else -1 if max(signs) < 0 else 0) if signs else 0

    def stepped(self, steps: Mapping[str, int], first: Mapping[str, Value], state: State) -> None:
        """Variables that are only stepped stay on one side of their first values: signed ones don't wrap around."""
        for own, step in sorted(steps.items()):
            ctype, start = self.type_of(own), first[own]
            if ctype is None or start.wraps or not ctype.signed or self.reader.wrapping:
                continue
            if ctype.bits >= self.reader.symbols["int"].type.bits:
                limits = Limits((start.sum,)) if step > 0 else Limits((), (start.sum,))
                state.values[own] = Value(name(self.reader.symbol(own, limits, state)), ctype)

    def statements_of(self, init: Any, state: State) -> None:
        for one in init.exprs if isinstance(init, ir.ExprList) else (init,):
            self.statement(one, state)

    def count(self, node: ir.For, first: Mapping[str, Value], state: State) -> None:
        """An iterator that only its head steps stays on one side of its first value."""
        own, step = self.step_of(node.next)
        ctype = self.type_of(own)
        self.look_ahead(node.cond, state)
        if ctype is None or not step or own in effects(node.stmt, node.cond).changed:
            return
        start = first.get(own)
        limits = Limits()
        if start is not None and not start.wraps and self.stays(node.cond, own, step, ctype):
            limits = Limits((start.sum,)) if step > 0 else Limits((), (start.sum,))
        if not ctype.signed:
            limits = Limits((number(0), *limits.lows), limits.highs)
        state.values[own] = Value(name(self.reader.symbol(own, limits, state)), ctype)

    def look_ahead(self, cond: Any, state: State) -> None:
        """Makes symbols for what an iterator is compared with before it has one itself, which they can bound then."""
        probe = self.reader.where(cond, state, True)
        for key, symbol in probe.atoms.items():
            if key not in state.atoms:
                state.atoms[key] = symbol
                state.limits.update({one: probe.limits[one] for one in probe.limits.keys() - state.limits.keys()})

    def stays(self, cond: Any, own: str, step: int, ctype: CType) -> bool:
        """Whether an iterator never passes its type's end and begins anew: by steps of 1 below a bound it doesn't;
        otherwise only where that is undefined."""
        strict = "<" if step > 0 else ">"
        below = any(
            isinstance(one, ir.BinaryOp) and one.op == strict and isinstance(one.left, ir.ID) and one.left.name == own
            for one in conjuncts(cond)
        )
        integer = self.reader.symbols["int"].type
        if ctype.bits < integer.bits:
            return False
        return (below and abs(step) == 1) or (ctype.signed and not self.reader.wrapping)

    def step_of(self, node: Any) -> tuple[str, int]:
        """The variable that a loop's head steps, and in which direction; 0 if that isn't known."""
        match node:
            case ir.UnaryOp(op=op, expr=ir.ID(name=own)) if op in _STEPS:
                return own, _STEPS[op]
            case ir.Assignment(op="+=" | "-=" as op, lvalue=ir.ID(name=own), rvalue=by):
                constant = typed_constant(by, self.reader.symbols)
                if constant is not None and constant[0] > 0:
                    return own, constant[0] if op == "+=" else -constant[0]
        return "", 0

    def type_of(self, own: str) -> CType | None:
        symbol = self.reader.symbols.get(own)
        scalar = symbol is not None and not symbol.dims and not symbol.pointer
        ctype = self.iterators.get(own) or (symbol.type if symbol is not None and scalar else None)
        plain = ctype is not None and ctype.integer and 0 < ctype.bits <= 64 and not ctype.volatile
        return ctype if plain else None

    # --- expressions --------------------------------------------------------------------------------------------------

    def plain(self, node: Any, state: State) -> None:
        """Notes what an expression touches. Nothing is known of what it changes, before and after."""
        if node is not None:
            _forget(effects(node).changed, state)
            self.note(node, state)

    def note(self, node: Any, state: State) -> None:
        match node:
            case ir.ID(name=own):
                self.touch(own, None)  # used as a whole
            case ir.ArrayRef():
                self.reference(node, state)
            case ir.TernaryOp():
                self.note(node.cond, state)
                self.note(node.iftrue, self.reader.where(node.cond, state, True))
                self.note(node.iffalse, self.reader.where(node.cond, state, False))
            case ir.BinaryOp(op="&&" | "||"):
                self.note(node.left, state)
                self.note(node.right, self.reader.where(node.left, state, node.op == "&&"))
            case ir.Typename():
                return
            case _:
                for part in node.parts:
                    self.note(part, state)

    def reference(self, node: ir.ArrayRef, state: State) -> None:
        base: Any = node
        subscript: Any = None
        while isinstance(base, ir.ArrayRef):
            self.note(base.subscript, state)
            base, subscript = base.name, base.subscript
        if not isinstance(base, ir.ID):
            self.note(base, state)
        elif base.name in self.wanted and self.found.get(base.name, 0) is not None:
            self.touch(base.name, self.elements(subscript, state))

    def elements(self, subscript: Any, state: State) -> Touched | None:
        """What a subscript reaches."""
        reader = self.reader
        try:
            with reader.code.tried():
                value = reader.value(subscript, state)
                if value is None:
                    return None
                total = reader.exact(value, state)
                return Touched(reader.end(total, state, up=False), reader.end(total, state, up=True))
        except Unbounded:
            return None

    def touch(self, own: str, touched: Touched | None) -> None:
        if own not in self.wanted:
            return
        old = self.found.get(own, touched)
        if old is None or touched is None:
            self.found[own] = None
            return
        code = self.reader.code
        try:
            first = code.extreme(old.first, touched.first, greatest=False)
            self.found[own] = Touched(first, code.extreme(old.last, touched.last, greatest=True))
        except Unbounded:
            self.found[own] = None


def read_touched(
    items: Iterable[Any], reader: Reader, iterators: Mapping[str, CType], wanted: Collection[str]
) -> dict[str, Touched]:
    """What statements touch of some arrays, where that is known; nothing where statements jump."""
    items = tuple(items)
    if any(isinstance(node, _JUMPS) for node in walk(*items)):
        return {}
    reading = Reading(reader, iterators, wanted)
    reading.block(items, State())
    return {own: touched for own, touched in reading.found.items() if touched is not None}


def _assigned(own: str, loop: Any) -> list[ir.Node]:
    """All that a loop assigns to a variable; nothing if it changes it in other ways, too."""
    found = list[ir.Node]()
    for node in walk(loop):
        match node:
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value) if name == own:
                found.append(value)
            case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if name == own and op in (*_STEPS, "&"):
                return []
            case ir.Assignment(lvalue=ir.ID(name=name)) | ir.Decl(name=name) if name == own:
                return []
    return found


def _replace(state: State, by: State) -> None:
    for own, other in zip(state.parts, by.parts, strict=True):
        kept = dict(other)
        own.clear()
        own.update(kept)


def _leaves(node: Any) -> bool:
    """Whether a statement always jumps away in the end."""
    while isinstance(node, ir.Compound) and node.block_items:
        node = node.block_items[-1]
    return isinstance(node, _LEAVES)


def _forget(names: Iterable[str], state: State) -> None:
    for own in names:
        state.forget(own)
