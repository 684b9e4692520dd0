"""Whether a SCoP whose loops over strips, or blocks, are one with those inside of them is the SCoP that it was.

Shown from the two SCoPs alone. No two instances of a statement run at one date, and dates stay: instances that have the
same one are the same instance by two names, which tells what each iterator is of the former ones. All else has to
follow from that: as many instances, the same cells, the same place in the schedule, and bodies whose iterators have
the values of what stood there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NoReturn

import islpy as isl
from msgspec import Struct, field

from scopt import ir
from scopt.diagnostics import InternalError
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.walks import same_node
from scopt.poly.isl_utils import IN, OUT, maps_of
from scopt.poly.reductions import INT_BITS

# What iterators are part of. All else of a SCoP, of its statements and of their accesses is what it was.
_OF_SCOPS = frozenset({"statements", "kills", "schedule", "order"})
_OF_STATEMENTS = frozenset({"domain", "iterators", "iterator_types", "body", "accesses"})
_OF_ACCESSES = frozenset({"relation", "node"})


def check_merged(original: Scop, merged: Scop) -> None:
    """Raise InternalError unless a SCoP is the original one by other iterators."""
    if not _is_same(original, merged, _OF_SCOPS):
        _refuse(original, "more than statements is other than it was")
    dates = _Dates.of(original.order, merged.order)
    places = _Dates.of(original.schedule.get_map(), merged.schedule.get_map())
    for some, others in ((original.statements, merged.statements), (original.kills, merged.kills)):
        if len(some) != len(others):
            _refuse(original, "other statements than there were")
        for old, new in zip(some, others, strict=True):
            if not _is_same(old, new, _OF_STATEMENTS):
                _refuse(original, f"{old.name} is another statement than it was")
            names = dates.names(old.name)
            if names is None or not (
                names.is_bijective() and names.domain().is_equal(old.domain) and names.range().is_equal(new.domain)
            ):
                _refuse(original, f"{old.name} has other instances, or at other times")
            if some is original.statements and not places.are_kept(old.name, names):
                _refuse(original, f"{old.name} has another place in the schedule")
            _Bodies(original, old, new, names).check(_wished(original, old))


def _is_same(some: Struct, other: Struct, but: Collection[str]) -> bool:
    """Whether all fields but some are the same."""
    return all(
        getattr(some, name) is getattr(other, name) or getattr(some, name) == getattr(other, name)
        for name in some.__struct_fields__
        if name not in but
    )


def _wished(scop: Scop, statement: Statement) -> set[str]:
    """The iterators of a statement's loops that the user asks something of."""
    return {name for wish in scop.directives for of, name in wish.targets if of == statement.name}


class _Dates(Struct, frozen=True, eq=False):
    """When instances run, by the names of statements: of the original SCoP, and of the other one."""

    before: dict[str, isl.Map]
    after: dict[str, isl.Map]

    @classmethod
    def of(cls, before: isl.UnionMap, after: isl.UnionMap) -> _Dates:
        return cls(*({str(one.get_tuple_name(IN)): one for one in maps_of(dates)} for dates in (before, after)))

    def names(self, statement: str) -> isl.Map | None:
        """From a statement's instances to those that run at the same date; None where instances have several dates, or
        none has any. Where that is a function, all of its instances keep their dates."""
        before, after = self.before.get(statement), self.after.get(statement)
        if before is None or after is None or not (before.is_single_valued() and after.is_single_valued()):
            return None
        return before.apply_range(after.reverse())

    def are_kept(self, statement: str, names: isl.Map) -> bool:
        """Whether instances, and no others, have the dates that they had by their former names."""
        found = self.names(statement)
        if found is None:
            return False
        dated = names.intersect_domain(self.before[statement].domain())
        return bool(dated.is_subset(found) and self.after[statement].domain().is_equal(dated.range()))


class _Bodies(Struct, frozen=True, eq=False):
    """A statement before and after. names: ``{ S[former iterators] -> S[iterators] }``. known: sums of former iterators
    that an iterator is, each with that iterator. images: what stands in the place of each node."""

    scop: Scop
    old: Statement
    new: Statement
    names: isl.Map
    known: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    images: dict[ir.Node, list[ir.Node]] = field(default_factory=dict)

    def check(self, wished: Collection[str]) -> None:
        """wished: iterators that have to stay."""
        for name in wished:
            self.match(ir.ID(name), ir.ID(name))
        self.match(self.old.body, self.new.body)
        if len(self.old.accesses) != len(self.new.accesses):
            self.refuse("has other accesses")
        for access, moved in zip(self.old.accesses, self.new.accesses, strict=True):
            if not _is_same(access, moved, _OF_ACCESSES):
                self.refuse(f"accesses '{access.array}' otherwise")
            if not access.relation.apply_domain(self.names).is_equal(moved.relation):
                self.refuse(f"accesses other cells of '{access.array}'")
            images = [None] if access.node is None else self.images.get(access.node, [])
            if not images or any(image is not moved.node for image in images):
                self.refuse(f"has an access to '{access.array}' in another place")

    def match(self, node: ir.Node, made: ir.Node) -> None:
        """Raise InternalError unless both have the same value, and do the same."""
        self.images.setdefault(node, []).append(made)
        if isinstance(made, ir.ID) and made.name in self.new.iterators:
            self.match_value(node, made.name)
            return
        parts, others = node.children(), made.children()
        left = isinstance(node, ir.ID) and node.name in self.old.iterators
        if left or not same_node(node, made) or [role for role, _ in parts] != [role for role, _ in others]:
            self.refuse("has another body")
        for (_, part), (_, other) in zip(parts, others, strict=True):
            self.match(part, other)

    def match_value(self, node: ir.Node, iterator: str) -> None:
        """Raise InternalError unless what stood there has an iterator's value, and its type."""
        summands = self.summands(node)
        if summands is None:
            self.refuse(f"has '{iterator}' in the place of something else")
        if (iterator, summands) in self.known:
            return
        ctype = _type_of(self.new, iterator)
        # narrower numbers are added as integers
        fits = len(summands) == 1 or ctype.bits >= INT_BITS
        if not fits or any(_type_of(self.old, name) != ctype for name in summands):
            self.refuse(f"has '{iterator}' in the place of another type")
        sums = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(self.names.get_space()))
        sums = sums.set_coefficient_val(OUT, self.new.iterators.index(iterator), isl.Val(-1))
        for name, count in Counter(summands).items():
            sums = sums.set_coefficient_val(IN, self.old.iterators.index(name), isl.Val(count))
        if not self.names.is_subset(isl.Map.from_basic_map(isl.BasicMap.from_constraint(sums))):
            self.refuse(f"has '{iterator}' in the place of another value")
        self.known.add((iterator, summands))

    def summands(self, node: ir.Node) -> tuple[str, ...] | None:
        """The former iterators that an expression is the sum of; None if it is something else."""
        match node:
            case ir.ID(name=name) if name in self.old.iterators:
                return (name,)
            case ir.BinaryOp(op="+", left=left, right=right):
                first, second = self.summands(left), self.summands(right)
                return None if first is None or second is None else (*first, *second)
        return None

    def refuse(self, what: str) -> NoReturn:
        _refuse(self.scop, f"{self.old.name} {what}")


def _type_of(statement: Statement, iterator: str) -> CType:
    return statement.iterator_types[statement.iterators.index(iterator)]


def _refuse(scop: Scop, what: str) -> NoReturn:
    raise InternalError(f"{scop.location}: merged loops: {what}")
