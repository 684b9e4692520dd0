"""Whether threads have buffers of their own, and no loop inside of an epoch carries what is in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import islpy as isl
from msgspec import Struct

from scopt.check.pairs import covers, is_carried, is_function, same_key, united, until
from scopt.check.read_text import Text
from scopt.check.uses import Part, is_in_order
from scopt.diagnostics import InternalError
from scopt.poly.readback import LoopDim


def check_threads(text: Text, name: str, part: Part) -> None:
    """Raise InternalError unless each thread has slots of its own in the epochs of one block. name: of the buffer."""
    _Threads(text, name, part).check_threads()


class _Threads(Struct, frozen=True, eq=False):
    text: Text
    name: str
    part: Part

    def check_threads(self) -> None:
        """Threads have slots of their own: by a private array, or by the part that a private variable chooses in the
        same epoch. Loops inside of an epoch carry nothing."""
        texts = {use.carrier.text: use.moved.through for use in self.part.uses} | {
            one.copy.text: one.copy.through for one in self.part.copies
        }
        names = {name: self.running(name) for name in texts}
        for loop in self.text.loops:
            touched = [name for name, dates in names.items() if not dates.is_disjoint_domain(loop.statements)]
            if not touched:
                continue
            if loop.dimension >= self.part.epochs.depth:
                self.check_not_carried(loop, texts)
            elif not (self.name in loop.mark.private or all(texts[name] in loop.mark.private for name in touched)):
                self.refuse(f"is shared by the iterations of the loop over '{loop.iterator}'")
        for variable in sorted({one for one in texts.values() if one is not None}):
            self.check_chosen(variable, [names[name] for name, one in texts.items() if one == variable])

    def running(self, name: str) -> _Running:
        return _Running(self.text.inside(self.part.epochs)[name])

    def check_chosen(self, variable: str, users: Sequence[_Running]) -> None:
        """In each epoch the variable is set before it is used, and not reset before the last use."""
        inside = self.text.inside(self.part.epochs)
        own = [
            (choice, inside[choice.text])
            for choice in self.text.roles.choices
            if choice.variable == variable and choice.text in inside
        ]
        exact = self.text.inside_exactly(self.part.epochs)
        opened = united(self.part.epochs.of(exact[choice.text]).range() for choice, _ in own if choice.opens)
        for user in users:
            epoch = self.part.epochs.of(user.dates)
            if not covers(opened, epoch.range()):
                self.refuse(f"is used where '{variable}' isn't set")
            for choice, dates in own:
                other = self.part.epochs.of(dates)
                if choice.opens:
                    self.in_order(other, dates, epoch, user.dates, f"used before '{variable}' is set")
                else:
                    self.in_order(epoch, user.dates, other, dates, f"used after '{variable}' is reset")

    def check_not_carried(self, loop: LoopDim, through: Mapping[str, str | None]) -> None:
        """No two iterations of a loop inside of an epoch share a slot, unless both only read it."""
        if loop.mark.parallel and any(one is not None for one in through.values()):
            self.refuse(f"is chosen outside of the parallel loop over '{loop.iterator}'")
        if self.name in loop.mark.private:
            self.refuse(f"is private inside of its epoch, in the loop over '{loop.iterator}'")
        inner = [
            (*self.inside_loop(use.key, use.dates, self.text.runs(use.carrier), loop), use.writes)
            for use in self.part.uses
        ]
        inner += [(*self.inside_loop(one.key, one.dates, None, loop), one.copy.inwards) for one in self.part.copies]
        inner = [one for one in inner if not one[0].is_empty()]
        if is_function(key.reverse().apply_range(until(dates, loop.dimension)) for key, dates, _ in inner):
            return  # each slot belongs to one iteration
        for k, (first, first_dates, writes) in enumerate(inner):
            for second, second_dates, also in inner[k:]:
                if not (writes or also):
                    continue
                pairs = same_key(first, second)
                if not pairs.is_empty() and is_carried(pairs, first_dates, second_dates, loop.dimension):
                    self.refuse(f"carries values through the loop over '{loop.iterator}'")

    def inside_loop(
        self, key: isl.Map, dates: isl.Map, instances: isl.Map | None, loop: LoopDim
    ) -> tuple[isl.Map, isl.Map]:
        """The part of a key and its dates that a loop runs.
        instances: from the key's domain to the text's statement."""
        text = instances if instances is not None else dates.domain().identity()
        running = text.intersect_range(loop.statements.extract_set(text.get_space().range())).domain()
        return key.intersect_domain(running), dates.intersect_domain(running)

    def in_order(self, first: isl.Map, first_dates: isl.Map, second: isl.Map, second_dates: isl.Map, what: str) -> None:
        """For pairs of one epoch."""
        if not is_in_order(self.part, first, first_dates, second, second_dates):
            self.refuse(f"is {what}")

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.text.source.location}: generated loops: the buffer '{self.name}' {what}")


class _Running(Struct, frozen=True, eq=False):
    """Instances of a statement of the text, with their dates."""

    dates: isl.Map

    def is_disjoint_domain(self, statements: isl.UnionSet) -> bool:
        return bool(statements.is_disjoint(isl.UnionSet.from_set(self.dates.domain())))
