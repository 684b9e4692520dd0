"""What happens to a buffer in its epochs: uses by instances, and copies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.check.epochs import Epochs
from scopt.check.forms import Carrier, Copy, Moved
from scopt.check.pairs import by_content, covers, forward, positions, same_key
from scopt.check.read_text import Text
from scopt.poly.isl_utils import OUT, compact, union_of_sets


class Use(Struct, frozen=True, eq=False, dict=True):
    """Instances of one of the SCoP's statements whose value is in the buffer, in one block's epochs.

    slots: ``{ S[…] -> [epoch, slot] }``. key: the same, or ``{ S[…] -> content[…, epoch] }`` where that says the same
    and is simpler.
    dates: ``{ S[…] -> [date] }``. exact: ``{ text[…] -> [date] }``, no more than there is. reads, writes: whether they
    do.
    """

    carrier: Carrier
    moved: Moved
    slots: isl.Map
    key: isl.Map
    dates: isl.Map
    exact: isl.Map
    content: isl.Map
    reads: bool
    writes: bool
    epochs: Epochs

    @cached_property
    def sure(self) -> isl.Map:
        """The key of nothing but what is in the text."""
        epoch, instances = self.epochs.of(self.exact), self.carrier.instances
        if self.key is not self.slots:
            return by_content(self.content, instances.apply_range(epoch))
        places = instances.range_map().apply_range(epoch).flat_range_product(self.moved.slot.reset_tuple_id(OUT))
        return places.domain_factor_domain()

    @cached_property
    def held(self) -> isl.Set:
        """The keys of nothing but what is in the text."""
        return self.sure.range().coalesce()


class Copied(Struct, frozen=True, eq=False, dict=True):
    """Instances of a copy in one block's epochs. slots, key, dates, exact: as above, for the text's statement."""

    copy: Copy
    slots: isl.Map
    key: isl.Map
    dates: isl.Map
    exact: isl.Map
    epochs: Epochs

    @cached_property
    def sure(self) -> isl.Set:
        """Of the key's range no more than there is."""
        epoch = self.epochs.of(self.exact)
        if self.key is not self.slots and self.copy.content is not None:
            return compact(by_content(self.copy.content, epoch).range())
        return compact(epoch.flat_range_product(self.copy.slot.reset_tuple_id(OUT)).range())


class Part(Struct, frozen=True, eq=False, dict=True):
    """What happens to a buffer in the epochs of one block."""

    epochs: Epochs
    uses: tuple[Use, ...]
    copies: tuple[Copied, ...]

    @property
    def meanings(self) -> Iterator[tuple[isl.Map, isl.Map]]:
        """``{ […] -> [epoch, slot] }`` and ``{ […] -> content[…] }``, of all that happens to the buffer: instances with
        what runs them, or copies."""
        for use in self.uses:
            yield use.slots, use.content
        for one in self.copies:
            if one.copy.content is not None:
                yield one.slots, one.copy.content

    def places(self, slots: isl.Map, content: isl.Map) -> isl.Map:
        """``{ content[…, epoch] -> [slot] }``"""
        epoch = slots.project_out(OUT, self.epochs.loops, slots.dim(OUT) - self.epochs.loops)
        slot = slots.project_out(OUT, 0, self.epochs.loops)
        return by_content(content, epoch).reverse().apply_range(slot)

    def by_contents(self) -> Part:
        """With contents in place of slots, if each content has one slot: no arithmetic of subscripts then."""
        uses = (replace(use, key=by_content(use.content, self.epochs.of(use.dates))) for use in self.uses)
        copies = (
            one
            if one.copy.content is None
            else replace(one, key=by_content(one.copy.content, self.epochs.of(one.dates)))
            for one in self.copies
        )
        return Part(self.epochs, tuple(uses), tuple(copies))

    def leaves(self, use: Use) -> bool:
        """Whether all that a use writes is copied out."""
        return covers(self.copied_out, use.held)

    @cached_property
    def copied_in(self) -> isl.UnionSet:
        """Surely."""
        return union_of_sets(one.sure for one in self.ins())

    @cached_property
    def copied_out(self) -> isl.UnionSet:
        """Surely."""
        return union_of_sets(one.sure for one in self.outs())

    def ins(self) -> Iterator[Copied]:
        return (one for one in self.copies if one.copy.inwards and not one.copy.fill)

    def outs(self) -> Iterator[Copied]:
        return (one for one in self.copies if not one.copy.inwards)

    def fills(self) -> Iterator[Copied]:
        return (one for one in self.copies if one.copy.fill)


def same_content(first: Use, second: Use) -> bool:
    return bool(first.content.get_tuple_name(OUT) == second.content.get_tuple_name(OUT))


def written_array(text: Text, use: Use) -> str:
    """The array that a use writes in the SCoP."""
    accesses = text.source.statement(use.carrier.statement).accesses
    return next(accesses[k].array for k in use.moved.accesses if accesses[k].is_write)


def is_in_order(part: Part, first: isl.Map, first_dates: isl.Map, second: isl.Map, second_dates: isl.Map) -> bool:
    """Whether, of pairs with one key in an epoch, the first one comes before the second one."""
    if max(positions(first_dates, part.epochs.depth)) < min(positions(second_dates, part.epochs.depth)):
        return True  # one stands before the other in the block
    pairs = isl.UnionMap.from_map(same_key(first, second))
    return forward(pairs, isl.UnionMap.from_map(first_dates), isl.UnionMap.from_map(second_dates))
