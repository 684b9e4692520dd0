"""Whether buffers hold what is read from them, and what is written to them gets where the SCoP has it.

A buffer stands for other memory during an epoch (`scopt.check.epochs`): each of its cells, a *slot*, for one *content*.
Shown for each buffer, from the bodies of the statements and their dates:

- all uses of a slot in one epoch mean the same content, and a cell that is written has one slot only;
- what is read has been copied in, or written by the instance that it comes from in the SCoP, in the same epoch;
- copies in come before all else that happens to their slot, and after every write of the cell that is to be seen,
  wherever that was stored;
- what is written and seen outside of the epoch, or left at the end, is copied out, after the last write in the epoch
  and before it is seen;
- threads have buffers of their own, and slots are inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import NoReturn

import islpy as isl
from msgspec import Struct, field

from scopt.check.epochs import Epochs, epochs_of
from scopt.check.forms import Carrier, Copy, Moved, cell
from scopt.check.pairs import agreeing, covers, forward, is_function, lifted, same_key, united
from scopt.check.read_text import Text, flows_by_array
from scopt.check.stores import Stored, check_order_of_stores, is_apart, same_slots, stored_by
from scopt.check.threads import check_threads
from scopt.check.uses import Copied, Part, Use, is_in_order, same_content, written_array
from scopt.diagnostics import InternalError
from scopt.ir.scop import Dependence
from scopt.poly.isl_utils import IN, OUT, SET, union_of_maps, union_of_sets


class Buffers(Struct, frozen=True, eq=False):
    """All buffers of a text. parts: of all of them. stored: by array, where it is written. same: by array,
    ``{ S[…] -> S'[…] }``, pairs of instances whose accesses are to one slot in one epoch, for arrays all of whose
    accesses are to buffers."""

    text: Text
    buffers: tuple[Buffer, ...]
    parts: tuple[Part, ...]
    stored: Mapping[str, Stored]
    same: Mapping[str, isl.UnionMap]

    @staticmethod
    def of(text: Text) -> Buffers:
        names = sorted(
            {str(one.slot.get_tuple_name(OUT)) for carrier in text.roles.carriers for one in carrier.moved}
            | {str(copy.slot.get_tuple_name(OUT)) for copy in text.roles.copies}
        )
        buffers = tuple(Buffer.of(text, name) for name in names)
        parts = tuple(part for buffer in buffers for part in buffer.parts)
        return Buffers(text, buffers, parts, stored_by(text, parts), same_slots(text, parts))

    def checks(self) -> Iterator[Callable[[], None]]:
        """What shows that buffers may stand for what they stand for, piece by piece; each raises InternalError where
        that isn't shown."""
        yield partial(check_order_of_stores, self.text, self.parts, self.stored)
        for buffer in self.buffers:
            yield partial(buffer.check, self.parts, self.stored)


class Buffer(Struct, eq=False):
    """One buffer. parts: by blocks with epochs of their own. others: those of all other buffers."""

    text: Text
    name: str
    parts: list[Part] = field(default_factory=list)
    others: tuple[Part, ...] = ()

    @staticmethod
    def of(text: Text, name: str) -> Buffer:
        buffer = Buffer(text, name)
        used = [
            (carrier, one)
            for carrier in text.roles.carriers
            for one in carrier.moved
            if one.slot.get_tuple_name(OUT) == name
        ]
        copies = [copy for copy in text.roles.copies if copy.slot.get_tuple_name(OUT) == name]
        writing = {carrier.text for carrier, one in used if buffer.writes(carrier, one)}
        openers = writing | {copy.text for copy in copies if copy.inwards and not copy.fill}
        through = {one.through for _, one in used} | {copy.through for copy in copies}
        # what fills a buffer where nothing is needed may stand anywhere outside of its epochs
        mentions = {carrier.text for carrier, _ in used} | {copy.text for copy in copies if not copy.fill}
        chosen = {choice.text for choice in text.roles.choices if choice.variable in through}

        def made(epochs: Epochs) -> Part:
            return text.worked_out(("part", name, epochs), lambda: buffer.part(epochs, used, copies))

        fillers = {copy.text for copy in copies if copy.inwards and not copy.fill}
        some = epochs_of(text.nest, mentions, openers, fillers, chosen, lambda one: buffer.is_complete(made(one)), name)
        buffer.parts = [made(one) for one in some]
        return buffer

    def part(self, epochs: Epochs, used: Sequence[tuple[Carrier, Moved]], copies: Sequence[Copy]) -> Part:
        dates, exact = self.text.inside(epochs), self.text.inside_exactly(epochs)
        uses, copied = list[Use](), list[Copied]()
        for carrier, moved in used:
            if carrier.text in dates:
                uses.append(self.use(epochs, carrier, moved, dates[carrier.text], exact[carrier.text]))
        for copy in copies:
            if copy.text in dates:
                slots = epochs.of(dates[copy.text]).flat_range_product(copy.slot.reset_tuple_id(OUT))
                copied.append(Copied(copy, slots, slots, dates[copy.text], exact[copy.text], epochs))
        part = Part(epochs, tuple(uses), tuple(copied))
        return (
            part.by_contents() if is_function(part.places(slots, content) for slots, content in part.meanings) else part
        )

    def use(self, epochs: Epochs, carrier: Carrier, moved: Moved, dates: isl.Map, exact: isl.Map) -> Use:
        instances = self.text.runs(carrier)
        own = instances.apply_range(dates)
        places = instances.range_map().apply_range(epochs.of(dates)).flat_range_product(moved.slot.reset_tuple_id(OUT))
        slots = places.domain_factor_domain()
        return Use(
            carrier,
            moved,
            slots,
            slots,
            own,
            exact,
            moved.content,
            self.reads(carrier, moved),
            self.writes(carrier, moved),
            epochs,
        )

    def kinds(self, carrier: Carrier, moved: Moved) -> set[str]:
        statement = self.text.source.statement(carrier.statement)
        return {statement.accesses[k].kind for k in moved.accesses}

    def reads(self, carrier: Carrier, moved: Moved) -> bool:
        return "read" in self.kinds(carrier, moved)

    def writes(self, carrier: Carrier, moved: Moved) -> bool:
        return not self.kinds(carrier, moved) <= {"read"}

    # --- what is shown ------------------------------------------------------------------------------------------------

    def check(self, parts: Sequence[Part], stored: Mapping[str, Stored]) -> None:
        """parts: of all buffers."""
        self.others = tuple(part for part in parts if part not in self.parts)
        for part in self.parts:
            self.check_contents(part)
            if not self.is_complete(part):
                self.refuse("is read where nothing has been put")
            self.check_sequence(part)
            self.check_current(part, stored)
            self.check_boxes(part)
            check_threads(self.text, self.name, part)
        self.check_inside()
        self.check_values_left(stored)

    def check_contents(self, part: Part) -> None:
        """One content for each slot; one slot for each cell that is written,
        unless rows of a private one have their own."""
        meanings = list(part.meanings)
        if not is_function(slots.reverse().apply_range(content) for slots, content in meanings):
            self.refuse("has a slot that stands for two things")
        filled = [isl.UnionSet.from_set(one.slots.range()) for one in part.fills()]
        used = [isl.UnionSet.from_set(slots.range()) for slots, _ in meanings] if filled else []
        if any(not one.is_disjoint(other) for one, other in product(filled, used)):
            self.refuse("is filled where it holds something")
        written = {use.content.get_tuple_name(OUT) for use in part.uses if use.writes}
        for name in sorted(name for name in written if not self.is_private(name)):
            own = [(slots, content) for slots, content in meanings if content.get_tuple_name(OUT) == name]
            if not is_function(part.places(slots, content) for slots, content in own):
                self.refuse(f"holds {name} twice")

    def is_private(self, content: str) -> bool:
        return any(cell(name) == content and array.private for name, array in self.text.source.arrays.items())

    def is_complete(self, part: Part) -> bool:
        """Whether whatever is read in an epoch has been copied in, or written by its source, in the same one."""
        return self.text.worked_out(("complete", part), lambda: self._is_complete(part))

    def _is_complete(self, part: Part) -> bool:
        for use in part.uses:
            if not use.reads or covers(part.copied_in, use.held):
                continue
            outside = isl.UnionMap.from_map(use.sure).subtract_range(part.copied_in)
            rest, strict = outside.domain().intersect(self.reading(use)), self.text.deps.select("flow")
            if rest.is_empty():
                continue
            own = self.own_flows(part, use, strict)
            sure = self.own_flows(part, use, strict, sure=True).range().coalesce()
            if not rest.coalesce().is_subset(sure) or self.comes_from_elsewhere(part, use, rest, own):
                return False
        return True

    def comes_from_elsewhere(self, part: Part, use: Use, rest: isl.UnionSet, own: isl.UnionMap) -> bool:
        """Whether an instance among `rest` may get its value from outside of the epoch though it has flows inside: what
        writes perhaps (`if (seen[i]) last = i;`) leaves what was there before. own: its flows inside."""
        if not any(writer.writes and self.may_keep(writer) and same_content(writer, use) for writer in part.uses):
            return False
        strict = self.text.deps.select("flow")
        flows = flows_by_array(self.text, use.carrier.statement, use.moved.accesses, strict)
        found = union_of_maps(flow for _, flow in flows)
        return not found.intersect_range(rest).is_subset(own)

    def reading(self, use: Use) -> isl.UnionSet:
        """The instances of a use that do read: a statement that is executed as a whole has loops that may not run."""
        accesses = self.text.source.statement(use.carrier.statement).accesses
        reads = (accesses[k].relation for k in use.moved.accesses if accesses[k].kind == "read")
        return union_of_sets(relation.domain() for relation in reads)

    def own_flows(self, part: Part, use: Use, flows: Sequence[Dependence], *, sure: bool = False) -> isl.UnionMap:
        """``{ W[…] -> S[…] }``: the writes that a use gets its value from, in the same slot and epoch. sure: but for
        those that may leave what was there, which a private array has nothing of."""
        found = []
        sure = sure and not self.is_private(str(use.content.get_tuple_name(OUT)))
        for _, flow in flows_by_array(self.text, use.carrier.statement, use.moved.accesses, flows):
            for writer in part.uses:
                counts = writer.writes and not (sure and self.may_keep(writer))
                if counts and writer.carrier.statement == flow.get_tuple_name(IN) and same_content(writer, use):
                    found.append(flow.intersect(same_key(writer.sure, use.sure)))
        return union_of_maps(found)

    def check_sequence(self, part: Part) -> None:
        """Copies in before everything else that happens to a slot, copies out after its writes;
        what is copied out is surely written."""
        others = [(use.key, use.dates) for use in part.uses]
        outs = [(one.key, one.dates) for one in part.outs()]
        for one in part.ins():
            for key, dates in (*others, *outs):
                self.in_order(part, one.key, one.dates, key, dates, "copied in too late")
        for use in part.uses:
            if use.writes:
                for key, dates in outs:
                    self.in_order(part, use.key, use.dates, key, dates, "copied out too early")
        written = union_of_sets(use.held for use in part.uses if use.writes)
        sure = (use.held for use in part.uses if use.writes and not self.may_keep(use))
        valid = union_of_sets(sure).union(part.copied_in)
        for out in part.outs():
            # what no instance writes, another thread may be writing
            if not (covers(written, out.key.range()) and covers(valid, out.key.range())):
                self.refuse("is copied out where nothing has been put")

    def in_order(
        self, part: Part, first: isl.Map, first_dates: isl.Map, second: isl.Map, second_dates: isl.Map, what: str
    ) -> None:
        """For pairs of one slot and epoch."""
        if not is_in_order(part, first, first_dates, second, second_dates):
            self.refuse(f"is {what}")

    def check_current(self, part: Part, stored: Mapping[str, Stored]) -> None:
        """What is copied in is what the SCoP has there at the time of its uses, wherever that was written."""
        inside = union_of_sets(use.sure.domain() for use in part.uses if use.writes)
        for one, use in product(part.ins(), part.uses):
            if one.key.get_tuple_name(OUT) != use.key.get_tuple_name(OUT) or not (use.reads or self.may_keep(use)):
                continue
            copied = isl.UnionMap.from_map(same_key(use.key, one.key).apply_range(one.dates))
            for array, flow in flows_by_array(self.text, use.carrier.statement, use.moved.accesses, self.text.flows):
                pairs = isl.UnionMap.from_map(flow).intersect_range(isl.UnionSet.from_set(use.sure.domain()))
                self.check_stored_before(part, array, pairs, inside, copied, stored)
            for earlier in self.text.deps.select("output") if self.may_keep(use) else ():
                if earlier.sink == use.carrier.statement and cell(earlier.array) == use.content.get_tuple_name(OUT):
                    pairs = isl.UnionMap.from_map(earlier.relation.intersect_range(use.sure.domain()))
                    self.check_stored_before(part, earlier.array, pairs, inside, copied, stored)

    def may_keep(self, use: Use) -> bool:
        """Whether a write may leave what was there."""
        return "may-write" in self.kinds(use.carrier, use.moved)

    def check_stored_before(
        self,
        part: Part,
        array: str,
        pairs: isl.UnionMap,
        inside: isl.UnionSet,
        copied: isl.UnionMap,
        stored: Mapping[str, Stored],
    ) -> None:
        """Each source is stored before its sink is copied in, but for those inside of the epoch. Where they are in
        different epochs they have that order themselves."""
        if pairs.is_empty():
            return
        places = stored[array]
        if not places.holds(pairs.domain(), inside):
            self.refuse(f"holds '{array}' before it is stored")
        if self.is_alone(part, array):
            return
        together = agreeing(pairs, self.text.own, min(part.epochs.depth, places.depth))
        together = together if together.is_empty() else together.subtract_domain(inside)
        if not forward(together.intersect_range(copied.domain()), places.dates, copied):
            self.refuse(f"gets an old value of '{array}'")

    def is_alone(self, part: Part, array: str) -> bool:
        """Whether nothing else touches an array while it is in the buffer: neither itself, nor in another buffer that
        is stored in the same block or around it. Then the order of the instances is that of the copies too."""
        deeper = (
            other.epochs.depth > part.epochs.depth
            for other in self.others
            for use in other.uses
            if use.writes and written_array(self.text, use) == array
        )
        return all(deeper) and is_apart(self.text, (*self.parts, *self.others), part, array)

    def check_boxes(self, part: Part) -> None:
        """A kernel that works on a copy updates what is copied out by nothing but instances."""
        texts = {use.carrier.text for use in part.uses if use.carrier.place is not None and use.writes}
        kept = united(out.slots.range() for out in part.outs() if texts)
        for text in sorted(texts):
            carriers = [c for c in self.text.roles.carriers if c.text == text]
            rows, columns = carriers[0].box
            dates = self.text.inside_exactly(part.epochs).get(text)
            if dates is None or kept.is_empty():
                continue
            running = dates.domain()
            count = running.dim(SET)
            names = ", ".join(f"x{k}" for k in range(count))
            box = isl.Map(
                f"{{ {text}[{names}] -> [{names}{', ' if names else ''}i, j] : 0 "
                f"<= i < {rows} and 0 <= j < {columns} }}"
            )
            cells = isl.Map(f"{{ [{names}{', ' if names else ''}i, j] -> [{columns} * i + j] }}")
            back = box.intersect_domain(running).reverse()
            key = back.apply_range(part.epochs.of(dates)).flat_range_product(cells.intersect_domain(back.domain()))
            live = isl.Set.from_union_set(isl.UnionMap.from_map(key).intersect_range(kept).domain())
            for carrier in carriers:
                if carrier.place is not None:
                    live = live.subtract(carrier.place.range())
            if not live.is_empty():
                self.refuse(f"is updated where no instance does: {live.sample_point()}")

    # --- sizes --------------------------------------------------------------------------------------------------------

    def check_inside(self) -> None:
        """Slots lie in the buffer."""
        sizes = self.text.sizes.get(self.name)
        if sizes is None:
            self.refuse("has no size")
        for slot in self.touched():
            cells = slot.range().reset_tuple_id()
            if cells.dim(SET) != len(sizes):
                self.refuse("has another number of dimensions")
            for k, size in enumerate(sizes):
                index = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(cells.get_space()), SET, k)
                limit = lifted(size, cells.get_space())
                inside = index.lt_set(limit).intersect(index.ge_set(index.sub(index)))
                if not cells.is_subset(inside):
                    self.refuse(f"is left by a reference: {cells.subtract(inside).sample_point()}")

    def touched(self) -> Iterator[isl.Map]:
        """The slots of all references that run; those of a kernel's whole box."""
        for part in self.parts:
            for use in part.uses:
                slot = use.moved.slot
                yield slot.intersect_domain(slot.domain().unwrap().intersect_range(use.exact.domain()).wrap())
            yield from (one.copy.slot.intersect_domain(one.exact.domain()) for one in part.copies)

    # --- values that are seen elsewhere -------------------------------------------------------------------------------

    def check_values_left(self, stored: Mapping[str, Stored]) -> None:
        """What is written here and seen elsewhere, or left at the end, is stored."""
        for part in self.parts:
            for use in part.uses:
                if use.writes:
                    self.check_kept(part, use, stored)

    def check_kept(self, part: Part, use: Use, stored: Mapping[str, Stored]) -> None:
        statement = self.text.source.statement(use.carrier.statement)
        array = written_array(self.text, use)
        if part.leaves(use):
            return
        running = isl.UnionSet.from_set(use.key.domain())
        needed = isl.UnionSet("{ }")
        for flow in (d for d in self.text.flows if d.array == array and d.source == statement.name):
            pairs = isl.UnionMap.from_map(flow.relation).intersect_domain(running)
            needed = needed.union(pairs.subtract(self.inside_pairs(part, use, flow)).domain())
        if not self.text.source.arrays[array].private:
            covered = union_of_maps(
                d.relation for d in self.text.deps.select("output") if self.surely_overwrites(d, array, statement.name)
            )
            needed = needed.union(running.subtract(covered.domain()))
        if not stored[array].holds(needed):
            self.refuse(f"keeps values of '{array}' that are needed elsewhere")

    def surely_overwrites(self, dependence: Dependence, array: str, source: str) -> bool:
        if dependence.array != array or dependence.source != source:
            return False
        return all(
            a.kind == "write"
            for a in self.text.source.statement(dependence.sink).accesses
            if a.array == array and a.is_write
        )

    def inside_pairs(self, part: Part, use: Use, flow: Dependence) -> isl.UnionMap:
        """The pairs of a flow dependence whose sink reads the value in the same slot and epoch."""
        readers = [
            one for one in part.uses if one.reads and one.carrier.statement == flow.sink and same_content(one, use)
        ]
        return union_of_maps(flow.relation.intersect(same_key(use.sure, one.sure)) for one in readers)

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.text.source.location}: generated loops: the buffer '{self.name}' {what}")
