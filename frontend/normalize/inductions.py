"""Variables that loops step besides their iterators: ``x[k++]``, ``*p++``, ``k += 2``.

Such a variable's value in an iteration follows from the iterator's: v + total × (i - start), where total is what an
iteration adds to v. With that in the place of v its steps aren't needed any more, and subscripts become affine. Loops
are done from the inside out; what an inner loop adds to a variable in all is a step of the loop around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.closed_forms import Progress, Values, substituted
from scopt.frontend.normalize.counting_loops import Variables, take_out
from scopt.frontend.normalize.heads import Head
from scopt.frontend.normalize.induction_variables import (
    Header,
    Induction,
    InductionReader,
    Pointers,
    Sequel,
    Sequels,
    Step,
    changed_names,
)
from scopt.frontend.normalize.tree_rewriting import (
    items_of,
    mentions,
    number,
    replaced_value,
    signed_number,
    slope_of,
    substituted as with_value,
    value_of,
)
from scopt.ir.walks import changed, same_items


class Inductions(Struct, frozen=True, eq=False):
    """Rewrites the loops of a region."""

    variables: Variables
    pointers: Pointers
    sequels: Sequels

    @property
    def reader(self) -> InductionReader:
        return InductionReader(self.variables, self.pointers, self.sequels)

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
        reader = self.reader
        header = reader.header(loop)
        turned = _upwards(header, loop) if header is not None else None
        header = turned or header
        if header is None:
            return None if own else [loop]
        names = dict.fromkeys([*own, *reader.stepped(loop)])
        around = [*outside, *before]
        read = [reader.induction(loop, original, header, name, own.get(name), around) for name in names]
        found = [one for one in read if one is not None]
        if own.keys() - {one.name for one in found}:
            return None
        if turned is not None and found:
            loop = _turned(loop, turned)
        sequels: list[Sequel] = []
        for one in found:
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
            and self.reader.is_fixed(decl.init, loop, ctype)
            and decl.name not in changed_names(loop)
            and not mentions(loop.init, decl.name)
        )

    def carried(self, loop: ir.For, change: Callable[[Any], Any]) -> ir.For:
        """The loop with another form of what it does.
        What is known of items of its body is known of what they become."""
        items = items_of(loop.stmt)
        made = [change(item) for item in items]
        self.sequels.carry(items, made)
        if not isinstance(loop.stmt, ir.Compound):
            stmt = made[0]
        else:
            stmt = loop.stmt if same_items(made, items) else changed(loop.stmt, block_items=made)
        cond, step = (change(part) if part is not None else None for part in (loop.cond, loop.next))
        return changed(loop, cond=cond, next=step, stmt=stmt)

    def applied(self, loop: ir.For, header: Header, one: Induction) -> tuple[ir.For, Sequel | None]:
        """The loop with a variable's values in its place; the assignment of its last one, if that is used."""
        values = Values(one.ctype, one.start, self.pointers.long_type)
        first, last = (
            (header.start, ir.ID(header.iterator)) if header.step > 0 else (ir.ID(header.iterator), header.start)
        )
        progress = Progress(values.minus(last, first), abs(header.step))
        total = reduce(values.plus, (step.amount for step in one.steps), number(0))
        growth = _growth(one, header, values, progress)
        total = total if growth is None else _in_the_first(total, header.iterator)

        def at(prefix: Any) -> tuple[Any, Any]:
            start, added = values.at(progress, total, prefix)
            return start, added if growth is None else values.plus(added, growth)

        condition = substituted(loop.cond, _use_of(one.name, None), values, at(number(0)), self.pointers.is_signed)
        items = []
        added = number(0)
        steps = {step.place: step for step in one.steps}
        old = items_of(loop.stmt)
        for place, item in enumerate(old):
            step = steps.get(place)
            after = values.plus(added, step.amount) if step is not None else added
            if step is None or step.inside is not None:
                early = step is None or step.inside.op.startswith("p")  # type: ignore[union-attr]
                place_value = at(added if early else after)
                items.append(substituted(item, _use_of(one.name, step), values, place_value, self.pointers.is_signed))
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
        adds = (value_of(total) or 0) > 0
        return loop, Sequel(one.name, amount, whole, loop, assigned, adds)


def _upwards(header: Header, loop: ir.For) -> Header | None:
    """The head of a loop that counts up as often as this one counts down to 0; None if the body looks at the iterator,
    or something else may.

    In `while (n--) *p++ = 0;` what counts is how often: cells are better gone through in the direction of the
    addresses.
    """
    if header.step != -1 or header.end is None or value_of(header.end) != 0 or not isinstance(loop.init, ir.DeclList):
        return None
    if mentions(loop.stmt, header.iterator):
        return None
    return Header(header.iterator, number(0), {">": "<", ">=": "<=", "!=": "!="}[header.op], header.start, 1)


def _turned(loop: ir.For, header: Header) -> ir.For:
    """The loop with the head of one that counts up by one."""
    iterator = ir.ID(header.iterator, loop.coord)
    return changed(
        loop,
        init=changed(loop.init, decls=[changed(loop.init.decls[0], init=header.start)]),
        cond=ir.BinaryOp(header.op, iterator, header.end, loop.coord),
        next=ir.UnaryOp("p++", iterator, loop.coord),
    )


def _in_the_first(total: Any, iterator: str) -> Any:
    """What is added with 0 in the iterator's place."""
    known = replaced_value(total, iterator, number(0))
    return signed_number(known) if known is not None else with_value(total, iterator, number(0))


def _growth(one: Induction, header: Header, values: Values, progress: Progress) -> Any | None:
    """What is added where steps grow, or shrink, with the iterator i, besides what they come to with 0 in its place:
    their slopes times first + … + (i - 1); None where they don't."""
    slope = sum(slope_of(step.amount, header.iterator) or 0 for step in one.steps)
    if not any(mentions(step.amount, header.iterator) for step in one.steps):
        return None
    last = values.minus(values.plus(ir.ID(header.iterator), header.start), number(1))
    product = ir.BinaryOp("*", values.widened(progress.iterations), last)
    return values.product(signed_number(slope), ir.BinaryOp("/", product, number(2)))


def _iterations(header: Header, values: Values) -> tuple[Any, Any]:
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


def _use_of(name: str, step: Step | None) -> Callable[[Any], bool]:
    """What is replaced in an item of the body: the variable, or the expression that steps it."""
    if step is not None and step.inside is not None:
        return lambda node: node is step.inside
    return lambda node: isinstance(node, ir.ID) and node.name == name
