"""Which variables a loop steps besides its iterator, and by how much: what has to be known to do without the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.closed_forms import Values, only_addresses, unconditional
from scopt.frontend.normalize.counting_loops import Variables, comparisons, runs_towards, set_value, setter_of
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.normalize.tree_rewriting import (
    amount_of,
    is_plain,
    items_of,
    mentions,
    names_of,
    number,
    replaced_value,
    signed_number,
    slope_of,
    step_of,
    stepped_name,
    value_of,
)
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import STEPS, changes_of, effects
from scopt.ir.scop import CType
from scopt.ir.walks import walk


class Pointers(Struct, frozen=True):
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


class Sequel(Struct, frozen=True, eq=False):
    """The assignment behind a rewritten loop that gives a variable its last value.

    amount: what was added to it where the loop runs at all; exact: in any case. loop: the `for`. assigned: the
    assignment. adds: in each iteration something is added, nothing subtracted.
    """

    name: str
    amount: Any
    exact: Any
    loop: ir.For
    assigned: Any
    adds: bool

    @property
    def is_valid(self) -> bool:
        """Whether nothing was put in the place of the assignment's variables since."""
        return names_of(self.amount) | names_of(self.exact) <= names_of(self.assigned)


class Sequels(Struct, frozen=True, eq=False):
    """Those made so far, by their assignments."""

    found: dict[Any, Sequel] = field(default_factory=dict)

    def carry(self, items: Sequence[Any], made: Sequence[Any]) -> None:
        """Know of what items became what is known of them."""
        become = {item: new for item, new in zip(items, made, strict=True) if item is not new}
        for assigned, sequel in list(self.found.items()):
            new, loop = become.get(assigned, assigned), become.get(sequel.loop, sequel.loop)
            if isinstance(new, ir.Assignment) and (new is not assigned or loop is not sequel.loop):
                self.found[new] = replace(sequel, assigned=new, loop=loop)


class Header(Struct, frozen=True, eq=False):
    """``for (iterator = start; iterator op end; iterator += step)``; end: None where it isn't known before the loop."""

    iterator: str
    start: Any
    op: str
    end: Any | None
    step: int


class Step(Struct, frozen=True, eq=False):
    """The place where an item of a loop's body steps a variable.

    place: the item's. amount: what is added; exact: the same, also where an inner loop doesn't run. inside: the `++` in
    a statement that does more, None for a statement of its own. sequel: that of an inner loop.
    """

    place: int
    amount: Any
    exact: Any
    inside: Any | None = None
    sequel: Sequel | None = None


class Induction(Struct, frozen=True, eq=False):
    """A variable of a loop. ctype: None for a pointer. start: its value in front of the loop; setter: a statement that
    is only there to set it.
    used: whether its last value may be."""

    name: str
    ctype: CType | None
    start: Any
    steps: list[Step]
    setter: Any | None
    used: bool


class InductionReader(Struct, frozen=True, eq=False):
    """Looks at loops. sequels: of loops that were rewritten."""

    variables: Variables
    pointers: Pointers
    sequels: Sequels

    def header(self, loop: ir.For) -> Header | None:
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
            or name in changed_names(loop.stmt)
        ):
            return None
        op, end = compared
        if not runs_towards(op, stepped[1]) or not self.is_fixed(start, loop, ctype):
            return None
        return Header(name, start, op, end if self.is_fixed(end, loop, ctype) else None, stepped[1])

    def is_fixed(self, value: Any, loop: ir.For, ctype: CType) -> bool:
        """Whether an expression has the same value before and in a loop, and keeps it in a variable of that type."""
        if not is_plain(value) or names_of(value) & (changed_names(loop) | {loop_iterator(loop)}):
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
        self, loop: ir.For, original: Any, header: Header, name: str, declared: Any | None, before: list[Any]
    ) -> Induction | None:
        """What is known of a variable, if its values can be told. before: all statements in front of the loop."""
        ctype = self.pointers.declared_type(declared) if declared is not None else self.variables.type_of(name)
        pointee = self.pointers.declared_pointee(declared) if declared is not None else self.pointers.pointee(name)
        pointer = ctype is None and pointee is not None
        if (ctype is None and not pointer) or name == header.iterator:
            return None
        if mentions(loop.init, name) or mentions(loop.next, name) or (pointer and mentions(loop.cond, name)):
            return None
        steps = self.steps(loop, name)
        if (
            steps is None
            or (pointer and not _reaches_only(loop, name, steps))
            or (declared is None and not _is_used(loop, name, steps))
        ):
            return None
        if any(mentions(step.amount, header.iterator) for step in steps) and not (
            header.step == 1 and (ctype is None or ctype.signed) and all(_grows(step, header) for step in steps)
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
            return Induction(name, ctype, declared.init, steps, None, used=False) if known_start else None
        used = self.variables.used_after(original, name)
        if used and any(mentions(step.amount, header.iterator) for step in steps):
            return None
        if used and (header.end is None or abs(header.step) != 1):
            return None
        position = setter_of(before, name)
        value = set_value(before[position]) if position is not None else None
        if position is None or value is None or not self.is_known(value, loop, name, ctype, pointee):
            return Induction(name, ctype, ir.ID(name, loop.coord), steps, None, used)
        return Induction(name, ctype, value, steps, before[position], used)

    def steps(self, loop: ir.For, name: str) -> list[Step] | None:
        """All steps of a variable in a loop's body, in order;
        None if it changes in other ways, or in some iterations only."""
        items = items_of(loop.stmt)
        found = [step for place, item in enumerate(items) if (step := self.step(place, item, name)) is not None]
        if sum(changes_of(name, items[step.place]) for step in found) != changes_of(name, loop.stmt):
            return None
        changed = (changed_names(loop) - {loop_iterator(loop)}) | {name}
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

    def step(self, place: int, item: Any, name: str) -> Step | None:
        sequel = self.sequels.found.get(item)
        if sequel is not None:
            known = sequel.name == name and sequel.is_valid
            return Step(place, sequel.amount, sequel.exact, sequel=sequel) if known else None
        if (amount := amount_of(item, name)) is not None:
            if isinstance(amount, ir.UnaryOp) and value_of(amount) is None:
                # of a type that has negative numbers
                amount = Values(None, None, self.pointers.long_type).minus(number(0), amount.expr)
            return Step(place, amount, amount) if all(map(self.is_integer, names_of(amount))) else None
        inside = [
            node
            for node in unconditional(item)
            if isinstance(node, ir.UnaryOp) and node.op in STEPS and stepped_name(node) == name
        ]
        if len(inside) == 1 and mentions(item, name) == 1:
            amount = signed_number(1 if "++" in inside[0].op else -1)
            return Step(place, amount, amount, inside=inside[0])
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
            not others & (changed_names(loop) | {loop_iterator(loop)})
            and not changes_of(bases[0], loop)
            and bases[0] not in declared
        )

    def is_integer(self, name: str) -> bool:
        """Whether a name is an integer variable or constant."""
        return self.pointers.is_constant(name) or self.variables.type_of(name) is not None


def _grows(step: Step, header: Header) -> bool:
    """Whether a step's amount grows, or shrinks, by a constant with the iterator. What an inner loop adds is only known
    where it runs: once it runs it has to have run, or added nothing, in all iterations before."""
    slope = slope_of(step.amount, header.iterator)
    if slope is None:
        return False
    if step.sequel is None or slope == 0:
        return True
    if not step.sequel.adds or slope < 0:
        return step.sequel.adds
    first, least = value_of(header.start), replaced_value(step.amount, header.iterator, header.start)
    return first is not None and least is not None and least >= 0


def changed_names(node: Any) -> frozenset[str]:
    """Names that mean something else in a loop, or at its end."""
    return effects(node).changed


def _is_used(loop: ir.For, name: str, steps: Sequence[Step]) -> bool:
    """Whether anything but the steps mentions a variable: a mere count is a sum like any other."""
    own = {step.place for step in steps if step.inside is None}
    return any(mentions(item, name) for place, item in enumerate(items_of(loop.stmt)) if place not in own)


def _reaches_only(loop: ir.For, name: str, steps: Sequence[Step]) -> bool:
    own = {step.place for step in steps if step.inside is None}
    return all(only_addresses(item, name) for place, item in enumerate(items_of(loop.stmt)) if place not in own)
