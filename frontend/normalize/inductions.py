"""Variables that loops step besides their iterators: ``x[k++]``, ``*p++``, ``k += 2``.

Such a variable's value in an iteration follows from the iterator's: v + total × (i - start), where total is what an
iteration adds to v. With that in the place of v its steps aren't needed any more, and subscripts become affine. Loops
are done from the inside out; what an inner loop adds to a variable in all is a step of the loop around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

from scopt import ir
from scopt.frontend.normalize.closed_forms import Progress, Values, only_addresses, substituted, unconditional
from scopt.frontend.normalize.counting_loops import Variables, comparisons, runs_towards, set_value, setter_of, take_out
from scopt.frontend.normalize.heads import Head
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.normalize.tree_rewriting import (
    STEPS,
    amount_of,
    is_plain,
    items_of,
    mentions,
    names_of,
    number,
    signed_number,
    step_of,
    stepped_name,
    substituted as with_value,
    value_of,
    writes,
)
from scopt.frontend.syntax.mentioned import written_names
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.scop import CType
from scopt.ir.walks import changed, same_items, walk


@dataclass(frozen=True, slots=True)
class Pointers:
    """pointee(name): what the elements of a pointer or of an array of one dimension are, as something to compare; None
    where the name is anything else, or a pointer that more than its name can reach. declared_pointee,
    declared_type(declaration): the same, and `Variables.type_of`, of a variable of a loop's own. is_constant(name):
    whether it is a macro's. is_signed(name): whether it is a signed integer for sure. long_type: an integer type of 64
    bits."""

    pointee: Callable[[str], Any]
    declared_pointee: Callable[[Any], Any]
    declared_type: Callable[[Any], CType | None]
    is_constant: Callable[[str], bool]
    is_signed: Callable[[str], bool]
    long_type: str


@dataclass(frozen=True, slots=True, eq=False)
class Sequel:
    """The assignment behind a rewritten loop that gives a variable its last value.

    amount: what was added to it where the loop runs at all; exact: in any case. loop: the `for`. assigned: the
    assignment.
    """

    name: str
    amount: Any
    exact: Any
    loop: ir.For
    assigned: Any

    @property
    def is_valid(self) -> bool:
        """Whether nothing was put in the place of the assignment's variables since."""
        return names_of(self.amount) | names_of(self.exact) <= names_of(self.assigned)


@dataclass(frozen=True, slots=True, eq=False)
class Sequels:
    """Those made so far, by their assignments."""

    found: dict[Any, Sequel] = field(default_factory=dict)

    def carry(self, items: Sequence[Any], made: Sequence[Any]) -> None:
        """Know of what items became what is known of them."""
        become = {item: new for item, new in zip(items, made, strict=True) if item is not new}
        for assigned, sequel in list(self.found.items()):
            new, loop = become.get(assigned, assigned), become.get(sequel.loop, sequel.loop)
            if isinstance(new, ir.Assignment) and (new is not assigned or loop is not sequel.loop):
                self.found[new] = replace(sequel, assigned=new, loop=loop)


@dataclass(frozen=True, slots=True, eq=False)
class _Header:
    """``for (iterator = start; iterator op end; iterator += step)``; end: None where it isn't known before the loop."""

    iterator: str
    start: Any
    op: str
    end: Any | None
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The place where an item of a loop's body steps a variable.

    place: the item's. amount: what is added; exact: the same, also where an inner loop doesn't run. inside: the `++` in
    a statement that does more, None for a statement of its own. sequel: that of an inner loop.
    """

    place: int
    amount: Any
    exact: Any
    inside: Any | None = None
    sequel: Sequel | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Induction:
    """A variable of a loop. ctype: None for a pointer. start: its value in front of the loop; setter: a statement that
    is only there to set it.
    used: whether its last value may be."""

    name: str
    ctype: CType | None
    start: Any
    steps: list[_Step]
    setter: Any | None
    used: bool


@dataclass(frozen=True, slots=True, eq=False)
class Inductions:
    """Rewrites the loops of a region."""

    variables: Variables
    pointers: Pointers
    sequels: Sequels

    def closed(
        self, loop: ir.For, head: Head, original: Any, before: list[Any], outside: Sequence[Any]
    ) -> list[Any] | None:
        """The loop in its new form, and the assignments behind it; None if variables that only the loop's head
        declares can't be done without.

        head: what it had besides the iterator. original: the loop as the liveness of variables knows it. before,
          outside: as for `counted`.
        """
        given, own = loop, dict[str, Any]()
        for decl in head.declared:
            if self.is_kept(loop, decl):
                loop = self.carried(loop, partial(with_value, name=decl.name, value=decl.init))
            else:
                own[decl.name] = decl
        header = self.header(loop)
        turned = _upwards(header, loop) if header is not None else None
        header = turned or header
        names = dict.fromkeys([*own, *self.stepped(loop)])
        found = (
            [self.induction(loop, original, header, name, own.get(name), [*outside, *before]) for name in names]
            if header is not None
            else []
        )
        if header is None or own.keys() - {one.name for one in found if one is not None}:
            return None if own else [loop]
        if turned is not None and any(one is not None for one in found):
            iterator = ir.ID(turned.iterator, loop.coord)
            loop = changed(
                loop,
                init=changed(loop.init, decls=[changed(loop.init.decls[0], init=turned.start)]),
                cond=ir.BinaryOp(turned.op, iterator, turned.end, loop.coord),
                next=ir.UnaryOp("p++", iterator, loop.coord),
            )
        sequels: list[Sequel] = []
        for one in found:
            if one is None:
                continue
            if any(item is one.setter for item in before):
                position = next(k for k, item in enumerate(before) if item is one.setter)
                mentioned = mentions(loop if original is given else original, one.name)
                take_out(before, position, keep=one.used or self.variables.uses(one.name) > mentioned + 1)
            loop, sequel = self.applied(loop, header, one)
            sequels += [sequel] if sequel is not None else []
        self.sequels.found.update({sequel.assigned: replace(sequel, loop=loop) for sequel in sequels})
        return [loop, *(sequel.assigned for sequel in sequels)]

    def is_kept(self, loop: ir.For, decl: Any) -> bool:
        """Whether a variable of the loop's own keeps its first value."""
        ctype = self.pointers.declared_type(decl)
        return (
            ctype is not None
            and decl.init is not None
            and self.is_fixed(decl.init, loop, ctype)
            and decl.name not in _changed(loop)
            and not mentions(loop.init, decl.name)
        )

    def carried(self, loop: ir.For, change: Callable[[Any], Any]) -> ir.For:
        """The loop with another form of what it does. What is known of items of its body is known of what they
        become."""
        items = items_of(loop.stmt)
        made = [change(item) for item in items]
        self.sequels.carry(items, made)
        if not isinstance(loop.stmt, ir.Compound):
            stmt = made[0]
        else:
            stmt = loop.stmt if same_items(made, items) else changed(loop.stmt, block_items=made)
        cond, step = (change(part) if part is not None else None for part in (loop.cond, loop.next))
        return changed(loop, cond=cond, next=step, stmt=stmt)

    # --- recognition --------------------------------------------------------------------------------------------------

    def header(self, loop: ir.For) -> _Header | None:
        """The head of a plain loop, no iteration of which ends it."""
        name = loop_iterator(loop)
        if name is None or loop.cond is None or loop.next is None or next(leaving(loop.stmt), None) is not None:
            return None
        declared = loop.init.decls[0] if isinstance(loop.init, ir.DeclList) else None
        ctype = self.pointers.declared_type(declared) if declared is not None else self.variables.type_of(name)
        start = declared.init if declared is not None else loop.init.rvalue
        stepped = step_of(loop.next)
        sides = comparisons(loop.cond, computed=True)
        compared = next(((op, end) for side, op, end in sides if isinstance(side, ir.ID) and side.name == name), None)
        if (
            ctype is None
            or start is None
            or stepped is None
            or stepped[0] != name
            or compared is None
            or name in _changed(loop.stmt)
        ):
            return None
        op, end = compared
        if not runs_towards(op, stepped[1]) or not self.is_fixed(start, loop, ctype):
            return None
        return _Header(name, start, op, end if self.is_fixed(end, loop, ctype) else None, stepped[1])

    def is_fixed(self, value: Any, loop: ir.For, ctype: CType) -> bool:
        """Whether an expression has the same value before and in a loop, and keeps it in a variable of that type."""
        if not is_plain(value) or names_of(value) & (_changed(loop) | {loop_iterator(loop)}):
            return False
        if (constant := value_of(value)) is not None:
            return ctype.signed or constant >= 0
        return all(self.is_like(name, ctype) for name in names_of(value))

    def is_like(self, name: str, ctype: CType) -> bool:
        """Whether a name is a variable of that type, or a constant that it can hold."""
        if self.pointers.is_constant(name):
            return ctype.signed
        other = self.variables.type_of(name)
        return other is not None and (other.signed, other.bits) == (ctype.signed, ctype.bits)

    def stepped(self, loop: ir.For) -> Iterator[str]:
        """Variables that a loop's body may step."""
        for item in items_of(loop.stmt):
            if item in self.sequels.found:
                yield self.sequels.found[item].name
            yield from (name for node in (item, *unconditional(item)) if (name := stepped_name(node)) is not None)

    def induction(
        self, loop: ir.For, original: Any, header: _Header, name: str, declared: Any | None, before: list[Any]
    ) -> _Induction | None:
        """What is known of a variable, if its values can be told. before: all statements in front of the loop."""
        ctype = self.pointers.declared_type(declared) if declared is not None else self.variables.type_of(name)
        pointee = self.pointers.declared_pointee(declared) if declared is not None else self.pointers.pointee(name)
        pointer = ctype is None and pointee is not None
        if (
            (ctype is None and not pointer)
            or name == header.iterator
            or mentions(loop.init, name)
            or mentions(loop.next, name)
        ):
            return None
        if pointer and mentions(loop.cond, name):
            return None
        steps = self.steps(loop, name)
        if (
            steps is None
            or (pointer and not _reaches_only(loop, name, steps))
            or (declared is None and not _is_used(loop, name, steps))
        ):
            return None
        constants = [value_of(step.amount) for step in steps]
        known = [value for value in constants if value is not None]
        if len(known) < len(steps) and (abs(header.step) != 1 or (ctype is not None and not ctype.signed)):
            return None
        if len(known) == len(steps) and sum(known) % header.step:
            return None
        if declared is not None:
            known_start = declared.init is not None and self.is_known(declared.init, loop, name, ctype, pointee)
            return _Induction(name, ctype, declared.init, steps, None, used=False) if known_start else None
        used = self.variables.used_after(original, name)
        if used and (header.end is None or abs(header.step) != 1):
            return None
        position = setter_of(before, name)
        value = set_value(before[position]) if position is not None else None
        if position is None or value is None or not self.is_known(value, loop, name, ctype, pointee):
            return _Induction(name, ctype, ir.ID(name, loop.coord), steps, None, used)
        return _Induction(name, ctype, value, steps, before[position], used)

    def steps(self, loop: ir.For, name: str) -> list[_Step] | None:
        """All steps of a variable in a loop's body, in order;
        None if it changes in other ways, or in some iterations only."""
        items = items_of(loop.stmt)
        found = [step for place, item in enumerate(items) if (step := self.step(place, item, name)) is not None]
        if sum(writes(items[step.place], name) for step in found) != writes(loop.stmt, name):
            return None
        changed = _changed(loop) | {loop_iterator(loop), name}
        if any(names_of(amount) & changed for step in found for amount in (step.amount, step.exact)):
            return None
        sequels = [step.sequel for step in found if step.sequel is not None]
        if sequels:
            # How far an inner loop takes the variable is known where it runs.
            places = {step.place for step in found}
            others = [item for place, item in enumerate(items) if place not in places and item is not sequels[0].loop]
            if (
                len(sequels) > 1
                or any(mentions(item, name) for item in others)
                or any(step.inside is not None for step in found)
            ):
                return None
        return found

    def step(self, place: int, item: Any, name: str) -> _Step | None:
        sequel = self.sequels.found.get(item)
        if sequel is not None:
            return (
                _Step(place, sequel.amount, sequel.exact, sequel=sequel)
                if sequel.name == name and sequel.is_valid
                else None
            )
        if (amount := amount_of(item, name)) is not None:
            if isinstance(amount, ir.UnaryOp) and value_of(amount) is None:
                amount = Values(None, None, self.pointers.long_type).minus(
                    number(0), amount.expr
                )  # of a type that has negative numbers
            typed = all(
                self.pointers.is_constant(other) or self.variables.type_of(other) is not None
                for other in names_of(amount)
            )
            return _Step(place, amount, amount) if typed else None
        inside = [
            node
            for node in unconditional(item)
            if isinstance(node, ir.UnaryOp) and node.op in STEPS and stepped_name(node) == name
        ]
        if len(inside) == 1 and mentions(item, name) == 1:
            amount = signed_number(1 if "++" in inside[0].op else -1)
            return _Step(place, amount, amount, inside=inside[0])
        return None

    def is_known(self, value: Any, loop: ir.For, name: str, ctype: CType | None, pointee: Any) -> bool:
        """Whether a variable's first value is the same before and in a loop."""
        if ctype is not None:
            return self.is_fixed(value, loop, ctype)
        bases = [node.name for node in walk(value) if isinstance(node, ir.ID) and not self.is_integer(node.name)]
        if not is_plain(value) or len(bases) != 1 or bases[0] == name or self.pointers.pointee(bases[0]) != pointee:
            return False
        others = names_of(value) - {bases[0]}
        declared = {node.name for node in walk(loop) if isinstance(node, ir.Decl)}
        return (
            not others & (_changed(loop) | {loop_iterator(loop)})
            and not writes(loop, bases[0])
            and bases[0] not in declared
        )

    def is_integer(self, name: str) -> bool:
        return self.pointers.is_constant(name) or self.variables.type_of(name) is not None

    # --- what comes out -----------------------------------------------------------------------------------------------

    def applied(self, loop: ir.For, header: _Header, one: _Induction) -> tuple[ir.For, Sequel | None]:
        """The loop with a variable's values in its place; the assignment of its last one, if that is used."""
        values = Values(one.ctype, one.start, self.pointers.long_type)
        first, last = (
            (header.start, ir.ID(header.iterator)) if header.step > 0 else (ir.ID(header.iterator), header.start)
        )
        progress = Progress(values.minus(last, first), abs(header.step))
        total = reduce(values.plus, (step.amount for step in one.steps), number(0))
        condition = substituted(
            loop.cond, _use_of(one.name, None), values, values.at(progress, total, number(0)), self.pointers.is_signed
        )
        items = []
        added = number(0)
        steps = {step.place: step for step in one.steps}
        old = items_of(loop.stmt)
        for place, item in enumerate(old):
            step = steps.get(place)
            after = values.plus(added, step.amount) if step is not None else added
            if step is None or step.inside is not None:
                early = step is None or step.inside.op.startswith("p")  # type: ignore[union-attr]
                at = values.at(progress, total, added if early else after)
                items.append(substituted(item, _use_of(one.name, step), values, at, self.pointers.is_signed))
            else:
                items.append(ir.EmptyStatement(item.coord))  # the places of other variables' steps stay what they are
            added = after
        self.sequels.carry(old, items)
        loop = changed(loop, cond=condition, stmt=ir.Compound(items, loop.stmt.coord))
        if not one.used:
            return loop, None
        count, exact = _iterations(header, values)
        amount = values.product(total, count)
        whole = values.product(reduce(values.plus, (step.exact for step in one.steps), number(0)), exact)
        assigned = ir.Assignment(
            "=", ir.ID(one.name, loop.coord), values.whole(one.start, whole, wide=False), loop.coord
        )
        return loop, Sequel(one.name, amount, whole, loop, assigned)


def _upwards(header: _Header, loop: ir.For) -> _Header | None:
    """The head of a loop that counts up as often as this one counts down to 0; None if the body looks at the iterator,
    or something else may.

    In `while (n--) *p++ = 0;` what counts is how often: cells are better gone through in the direction of the
    addresses.
    """
    if header.step != -1 or header.end is None or value_of(header.end) != 0 or not isinstance(loop.init, ir.DeclList):
        return None
    if mentions(loop.stmt, header.iterator):
        return None
    return _Header(header.iterator, number(0), {">": "<", ">=": "<=", "!=": "!="}[header.op], header.start, 1)


def _iterations(header: _Header, values: Values) -> tuple[Any, Any]:
    """How often a loop runs whose iterator is stepped by one: if it does at all, and in any case."""
    low, high = (header.start, header.end) if header.step > 0 else (header.end, header.start)
    count = values.minus(high, low)
    if header.op in ("<=", ">="):
        count = values.plus(count, number(1))
    if (constant := value_of(count)) is not None:
        return count, signed_number(max(0, constant))
    if header.op == "!=":
        return count, count
    return count, ir.TernaryOp(ir.BinaryOp(header.op, header.start, header.end), count, number(0))


def _changed(node: Any) -> frozenset[str]:
    """Names that mean something else in a loop, or at its end."""
    return written_names(node) | {found.name for found in walk(node) if isinstance(found, ir.Decl)}


def _use_of(name: str, step: _Step | None) -> Callable[[Any], bool]:
    """What is replaced in an item of the body: the variable, or the expression that steps it."""
    if step is not None and step.inside is not None:
        return lambda node: node is step.inside
    return lambda node: isinstance(node, ir.ID) and node.name == name


def _is_used(loop: ir.For, name: str, steps: Sequence[_Step]) -> bool:
    """Whether anything but the steps mentions a variable: a mere count is a sum like any other."""
    own = {step.place for step in steps if step.inside is None}
    return any(mentions(item, name) for place, item in enumerate(items_of(loop.stmt)) if place not in own)


def _reaches_only(loop: ir.For, name: str, steps: Sequence[_Step]) -> bool:
    own = {step.place for step in steps if step.inside is None}
    return all(only_addresses(item, name) for place, item in enumerate(items_of(loop.stmt)) if place not in own)
