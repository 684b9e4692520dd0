"""The text as it was read: what runs when, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.check.epochs import Epochs
from scopt.check.forms import Carrier, Roles
from scopt.check.pairs import hull
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.dates import by_place
from scopt.poly.isl_utils import IN, OUT, maps_of, union_of_maps
from scopt.poly.readback import LoopDim, ReadBack

T = TypeVar("T")


class Text(Struct, frozen=True, eq=False):
    """The text as it was read. source: the SCoP. deps: its dependences, in the order of the source. flows: its flow
    dependences; those of reductions in any order too. nest: expanded. dates: of the text's statements, ``{ T[…] ->
    [date] }``. loops: the marked ones. sizes: elements of each buffer, by dimension, as functions of the parameters.
    own: the dates of the SCoP's instances. wide: a superset of the dates with few pieces. What holds for all pairs of
    it holds for the text; what has to be there is looked for in `dates`.
    instances: by carrier, a superset of its instances, likewise. executed: by carrier, the SCoP's instances that it
    runs. found: see `worked_out`.
    """

    source: Scop
    deps: Dependences
    flows: tuple[Dependence, ...]
    nest: LoopNest
    dates: isl.UnionMap
    loops: tuple[LoopDim, ...]
    roles: Roles
    sizes: Mapping[str, Sequence[isl.PwAff]]
    own: isl.UnionMap
    wide: isl.UnionMap
    instances: Mapping[tuple[str, str], isl.Map]
    executed: Mapping[tuple[str, str], isl.Set]
    found: dict[Hashable, Any] = field(default_factory=dict)

    def worked_out(self, what: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, which depends on nothing but the text and `what`; made once."""
        if what not in self.found:
            self.found[what] = make()
        made: T = self.found[what]
        return made

    def inside(self, epochs: Epochs) -> Mapping[str, isl.Map]:
        """The dates in some epochs, or more, by statement."""
        return self.worked_out(("inside", epochs), lambda: epochs.inside(self.wide))

    def inside_exactly(self, epochs: Epochs) -> Mapping[str, isl.Map]:
        """The dates in some epochs, by statement."""
        return self.worked_out(("inside exactly", epochs), lambda: epochs.inside(self.dates))

    def of(self, name: str) -> isl.Map:
        """The dates of one statement, or more."""
        return next(m for m in maps_of(self.wide) if m.get_tuple_name(IN) == name)

    def runs(self, carrier: Carrier) -> isl.Map:
        """A carrier's instances, or more."""
        return self.instances[carrier.statement, carrier.text]

    def runs_exactly(self, carrier: Carrier) -> isl.Set:
        """The SCoP's instances that a carrier runs."""
        return self.executed[carrier.statement, carrier.text]

    @property
    def width(self) -> int:
        """How many dimensions dates have."""
        return int(maps_of(self.dates)[0].dim(OUT))

    @staticmethod
    def relaxed(
        source: Scop,
        deps: Dependences,
        flows: tuple[Dependence, ...],
        nest: LoopNest,
        read: ReadBack,
        roles: Roles,
        sizes: Mapping[str, Sequence[isl.PwAff]],
        own: isl.UnionMap,
    ) -> Text:
        """With one piece for each place in the text."""
        wide = union_of_maps(hull(place) for relation in maps_of(read.schedule) for place in by_place(relation))
        instances = {(one.statement, one.text): hull(one.instances) for one in roles.carriers}
        running = read.schedule.domain()
        executed = {
            (one.statement, one.text): one.instances.intersect_range(
                running.extract_set(one.instances.get_space().range())
            )
            .domain()
            .coalesce()
            for one in roles.carriers
        }
        return Text(source, deps, flows, nest, read.schedule, read.loops, roles, sizes, own, wide, instances, executed)

    def exact(self) -> Text:
        """With nothing but what there is."""
        own = {(one.statement, one.text): one.instances for one in self.roles.carriers}
        return replace(self, wide=self.dates, instances=own, found={})


def flows_by_array(
    text: Text, statement: str, accesses: Iterable[int], flows: Sequence[Dependence]
) -> Iterator[tuple[str, isl.Map]]:
    """Of some flow dependences, the pairs by which some reads of a statement get their values:
    through the same cell. By array."""
    own = text.source.statement(statement).accesses
    for access in (own[k] for k in accesses if own[k].kind == "read"):
        for flow in flows:
            if flow.array == access.array and flow.sink == statement:
                for write in text.source.statement(flow.source).accesses:
                    if write.array == access.array and write.is_write:
                        yield (
                            access.array,
                            flow.relation.intersect(write.relation.apply_range(access.relation.reverse())),
                        )
