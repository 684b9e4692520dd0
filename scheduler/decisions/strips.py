"""Recurrences along rows, vectors across rows: strips of rows whose loops run innermost, over what the recurrence steps
through.

A loop that carries a chain of operations runs at the chain's latency. Where the loop around it is coincident, its
iterations (rows) are independent, and a strip of them makes a vector loop inside of the recurrence: strip-mining and
interchange (Wolfe, "More iteration space tiling", 1989), legal since no dependence leads from row to row. Nests that
follow and use the same rows' values join the strip. Cells that lie apart in memory for neighbouring rows are kept in
buffers with the rows side by side; scalars that each row uses anew get a cell a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.marked_schedule import BandChoice, Mark
from scopt.ir.scop import Dependences, Scop
from scopt.machine.costs import thread_limit
from scopt.options import Options
from scopt.poly.bands import Ordered, distances, with_properties_below, zero
from scopt.poly.isl_utils import sets_of, union_of_sets, walk
from scopt.poly.row_buffers import is_short
from scopt.poly.set_pieces import in_sequence
from scopt.scheduler.decisions.arbiter import arbitrate
from scopt.scheduler.decisions.batches import batch
from scopt.scheduler.decisions.claims import Band, Claim
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.long_strips import strip_of_lines
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.shared_loops import has_few
from scopt.scheduler.decisions.strip_building import (
    Rows,
    StripBuilder,
    is_left,
    is_work,
    rows_of_strip,
    stays_in_buffers,
    stays_in_caches,
    with_blocks,
)
from scopt.scheduler.decisions.strip_chains import Chains
from scopt.scheduler.decisions.strip_claims import (
    alone_claim,
    gains_beside,
    has_lanes,
    has_many_steps,
    in_order,
    may_gain,
    rows_together,
    strip_claim,
    together_claim,
)
from scopt.scheduler.decisions.strip_ends import crossing, is_more, pairs_inside
from scopt.scheduler.decisions.strip_places import Keeper
from scopt.scheduler.decisions.strip_references import (
    along_lines,
    along_rows,
    is_mixed,
    own_scalars,
    row_iterator,
    row_members,
)
from scopt.scheduler.decisions.strip_trees import depth_of, has_several, is_leaf_band, with_band

_TYPE = isl.schedule_node_type
_SEVERAL = 2
# What is asked of a nest.
ROWS = "rows"
# What can become of it, and the rows for that; None: loops along the rows.
Offer = tuple[Claim, Rows | None]


class WithStrips(Struct, frozen=True, eq=False):
    """A tree with strips. marks, choices: as in `MarkedSchedule`."""

    tree: isl.Schedule
    marks: Mapping[str, Mark] = field(default_factory=dict)
    choices: tuple[BandChoice, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.marks)


def with_strips(setting: Setting, tree: isl.Schedule) -> WithStrips:
    """The tree with strips wherever they pay. Bands that are coincident, or wider than one member, are left alone with
    all that is below them. setting: with reductions in their order."""
    options = setting.options
    if not options.tile or not options.simd:
        return WithStrips(tree)
    builder = _Builder(setting, setting.scop, setting.deps.strict(), setting.dependences, options)
    root = tree.get_root()
    if root.n_children() != 1:
        return WithStrips(tree)
    made = builder.tree(root.child(0))
    return WithStrips(made, builder.marks, tuple(builder.choices.values()))


def best_rows(setting: Setting, node: isl.ScheduleNode) -> Rows | None:
    """The rows that are the best that can become of a nest; None: loops along them. setting: with reductions in their
    order."""
    options = setting.options
    if not options.tile or not options.simd:
        return None
    node = with_properties_below(setting.scop, setting.dependences, node)
    silent = replace(setting, decider=None)
    return _Builder(silent, setting.scop, setting.deps.strict(), setting.dependences, options).start(node)


class _Builder(Struct):
    """Builds the tree anew, with strips in place of some nests. choices: by the nests' statements."""

    setting: Setting
    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    marks: dict[str, Mark] = field(default_factory=dict)
    choices: dict[tuple[str, ...], BandChoice] = field(default_factory=dict)

    @property
    def chains(self) -> Chains:
        return Chains(self.scop, self.deps, self.dependences, self.options)

    @property
    def building(self) -> StripBuilder:
        return StripBuilder(self.scop, self.options, self.marks)

    def tree(self, node: isl.ScheduleNode, *, inside: bool = False) -> isl.Schedule:
        """inside: of loops that carry nothing, where strips have no buffers unless rows have ends."""
        match node.get_type():
            case _TYPE.leaf:
                return isl.Schedule.from_domain(node.get_domain())
            case _TYPE.filter:
                return self.tree(node.child(0), inside=inside)
            case _TYPE.band:
                rows = self.start(node, inside=inside)
                return self.building.strips(rows) if rows is not None else self.band(node, inside=inside)
            case _TYPE.sequence | _TYPE.set if inside:
                return in_sequence([self.tree(node.child(k).child(0), inside=True) for k in range(node.n_children())])
            case _TYPE.sequence | _TYPE.set:
                return in_sequence(self.parts([node.child(k).child(0) for k in range(node.n_children())]))
        raise AssertionError(f"unexpected schedule node {node.get_type()}")

    def band(self, node: isl.ScheduleNode, *, inside: bool = False) -> isl.Schedule:
        """A band as it was, with strips below it: inside of others, unless it is one loop that runs in order."""
        plain = node.band_n_member() == 1 and not node.band_member_get_coincident(0)
        return with_band(self.tree(node.child(0), inside=inside or not plain), node)

    def parts(self, nodes: Sequence[isl.ScheduleNode]) -> list[isl.Schedule]:
        """The parts of a sequence, those that share strips as one."""
        rest, made = list(nodes), []
        while rest:
            node = rest.pop(0)
            rows = self.start(node) if node.get_type() == _TYPE.band else None
            if rows is None:
                made.append(self.tree(node))
                continue
            # joined, rows would have no loops around them for threads to share
            joins = rows.parallel and not (rows.alone or rows.outer or rows.ragged)
            while rest and joins and (longer := self.joined(rows, rest[0])) is not None:
                rows = longer
                rest.pop(0)
            made.append(self.building.strips(rows))
        return made

    def start(self, node: isl.ScheduleNode, *, inside: bool = False) -> Rows | None:
        """A nest that is a recurrence along rows, if strips of its rows are the best that can become of it."""
        if inside and all(node.band_member_get_coincident(k) for k in range(node.band_n_member())):
            return self.within(node)
        if inside and node.band_n_member() > 1:
            return None
        band = Band(self.setting, node, inside or not self.options.parallel)
        offers = list[Offer]()
        longest, waiting, members = 0, 0.0, list(row_members(node))
        chained = {member: self.chains.longest(node, member) for member in members}
        if not any(chained.values()):
            members.reverse()  # with rows of their own to go along, those that are next to each other
        for member in members:
            chain = chained[member]
            along = frozenset[str]() if chain else along_rows(self.scop, node)
            steps = self.chains.below(node, member, along, whole=True) if chain or along else {}
            whole = max(steps.values(), default=0)
            longest = max(longest, chain)
            rows = self.rows_across(node, member)
            offers += batch(band, None if inside else rows, member, self.around(band, member))
            if rows is not None and ((not chain and not is_work(self.scop, rows)) or not has_lanes(band)):
                rows = None
            if rows is not None:
                rows = self.around(band, member)(rows)
                rows = replace(rows, length=strip_of_lines(band, rows))
                offers.append(
                    (strip_claim(band, rows, rows_of_strip(self.scop, self.options, rows), member, chain), rows)
                )
            alone = self.rows_alone(band, member)
            if alone is not None:
                waiting = self.chains.waiting(band.work, node, alone.along)
                offers.append((alone_claim(band, alone, member, waiting), alone))
            slower = rows is not None and stays_in_buffers(self.deps, rows)
            gains = whole and not slower and may_gain(band, member, steps)
            rows = self.rows_together(band, node, member, steps) if gains else None
            if rows is not None and own_scalars(self.scop, along) <= frozenset(rows.places.temporaries):
                rows, longest = replace(rows, along=along), max(longest, whole)
                offers.append((together_claim(band, rows, member, whole), rows))
        if node.band_n_member() == 1 and not node.band_member_get_coincident(0):
            longest, carrying = self.carrying(band, inside=inside)
            offers += carrying
        if not offers:
            return None
        if (branches := self.chains.left_to_branches()) is not self.chains:
            longest = max((branches.longest(node, member) for member in members), default=longest)
        offers.append((in_order(band, longest, offers[0][0].lanes, waiting), None))
        return self.chosen(band, offers)

    def carrying(self, band: Band, *, inside: bool) -> tuple[int, list[Offer]]:
        """What rows can become that something leads from one to another of, and the longest chain along them."""
        node, offers = band.node, list[Offer]()
        steps = self.chains.below(node, 0, whole=True) if self.chains.longest(node, 0) else {}
        longest = max(steps.values(), default=0)
        gains = longest and not inside and may_gain(band, 0, steps)
        rows = (
            self.rows_together(band, node, 0, steps) if gains and crossing(self.dependences, node) is not None else None
        )
        if rows is not None and self.building.keeps_order(rows, self.dependences.must):
            offers.append((together_claim(band, rows, 0, longest), rows))
        rows = self.rows_with_ends(node) if longest else None
        if rows is not None:
            offers.append((strip_claim(band, rows, rows_of_strip(self.scop, self.options, rows), 0, longest), rows))
        return longest, offers

    def chosen(self, band: Band, offers: Sequence[Offer]) -> Rows | None:
        """The rows of the claim that is taken."""
        taken, choice = arbitrate(band, [claim for claim, _ in offers], self.setting.decider, ROWS)
        rows = next(rows for claim, rows in offers if claim is taken)
        if rows is not None or choice.given_up:
            self.choices[choice.statements] = choice
        return rows

    def within(self, node: isl.ScheduleNode) -> Rows | None:
        """The rows of a loop inside of one that carries nothing, beside each other, or in strips without buffers."""
        member = node.band_n_member() - 1
        steps = self.chains.below(node, member, whole=True) if self.chains.longest(node, member) else {}
        if not steps:
            return None
        band, longest = Band(self.setting, node, True), max(steps.values())
        offers = list[Offer]()
        across = self.rows_across(node, member) if has_lanes(band) and has_many_steps(band, member) else None
        if across is not None and not across.places.buffers:
            across = replace(self.around(band, member)(across), parallel=False, inside=True)
            across = replace(across, length=strip_of_lines(band, across))
            count = rows_of_strip(self.scop, self.options, across)
            offers.append((strip_claim(band, across, count, member, longest), across))
        rows = self.rows_together(band, node, 0, steps) if member == 0 and may_gain(band, 0, steps) else None
        if rows is not None:
            offers.append((together_claim(band, rows, 0, longest), replace(rows, parallel=False)))
        if not offers:
            return None
        offers.append((in_order(band, longest, offers[0][0].lanes), None))
        return self.chosen(band, offers)

    def rows_across(self, node: isl.ScheduleNode, member: int) -> Rows | None:
        """The rows that a member walks through; None if strips of them can't be made, or if one nest alone has no cells
        of its own for them: then the loop over the rows can be the innermost one, an ordinary vector loop."""
        lane = node.band_get_partial_schedule().get_at(member)
        if is_mixed(self.scop, node, member, lane, self.options):
            return None
        rows = self.rows((node,), (member,), lane)
        needed = rows is not None and (rows.places.buffers or rows.places.scalars or has_several(node.child(0)))
        return rows if rows is not None and needed and stays_in_caches(self.scop, self.options, rows) else None

    def rows_alone(self, band: Band, member: int) -> Rows | None:
        """The rows that threads run one at a time, each with buffers of its own; None if they need none."""
        node = band.node
        lane = node.band_get_partial_schedule().get_at(member)
        if not self.options.parallel or node.band_n_member() > 1 or is_mixed(self.scop, node, member, lane):
            return None
        along = along_rows(self.scop, node)
        inner = [one for one in walk(node.child(0)) if is_leaf_band(one)]
        deep = node.get_schedule_depth() + 1
        deeper = [one for one in inner if one.get_schedule_depth() > deep]
        trips = band.work.trips[member]
        few = trips < _SEVERAL * self.options.machine.cores  # inside of few lines, loops are shared
        if not inner or (deeper and (few or any(is_more(self.setting, one) for one in deeper))):
            return None
        if deeper and self.has_strips_within(node):
            return None
        rows = self.rows((node,), (member,), lane, together=1)
        if rows is None or not is_work(self.scop, rows) or (deeper and not is_left(self.scop, rows)):
            return None
        return replace(rows, along=along, alone=True)

    def has_strips_within(self, node: isl.ScheduleNode) -> bool:
        """Whether some loop below a band's is better off in strips of its own."""
        silent = replace(self, setting=replace(self.setting, decider=None), choices={}, marks={})
        bands = [one for one in walk(node.child(0)) if one.get_type() == _TYPE.band and not is_leaf_band(one)]
        found = (silent.start(one, inside=True) for one in bands)
        return any(rows is not None and not rows.together for rows in found)

    def rows_together(
        self, band: Band, node: isl.ScheduleNode, member: int, steps: Mapping[tuple[str, ...], int]
    ) -> Rows | None:
        """The rows that a member walks through, to be written out beside each other; None if there are no whole blocks
        of them, if loops along them gain nothing, or if one over them would run along lines, and could be a vector
        loop. steps: as in `may_gain`."""
        lane = node.band_get_partial_schedule().get_at(member)
        if any(row_iterator(lane, part) is None for part in sets_of(node.get_domain())):
            return None
        vectors = self.rows((node,), (member,), lane)
        if vectors is not None and not (vectors.places.buffers or vectors.places.apart):
            return None
        if is_mixed(self.scop, node, member, lane, self.options) or not along_lines(self.scop, node, member):
            return None
        rows = self.rows((node,), (member,), lane, together=1)
        if rows is None:
            return None
        parallel = bool(node.band_member_get_coincident(member))
        rows = self.around(band, member)(rows)
        rows = replace(rows, together=rows_together(band, rows, member), parallel=parallel)
        return with_blocks(band.setting.scop, rows) if gains_beside(band, steps, rows.together) else None

    def rows_with_ends(self, node: isl.ScheduleNode) -> Rows | None:
        """The rows that a loop walks through, if nothing leads from row to row but from, and to, statements that stand
        outside of the loops along them: these run in order for the rows of a strip, as in ``for x: { for b < 9: bin =
        …; hist[bin] += …; }``, all others in vectors across the rows. None if that can't be, or if something leads
        back."""
        lane = node.band_get_partial_schedule().get_at(0)
        ends = crossing(self.dependences, node)
        if (
            ends is None
            or not ends
            or any(row_iterator(lane, part) is None for part in sets_of(node.get_domain()))
            or is_mixed(self.scop, node, 0, lane, self.options)
        ):
            return None
        rows = self.rows((node,), (0,), lane, ends=ends)
        if rows is None or not rows.places.scalars:
            return None
        rows = replace(rows, parallel=False)
        return rows if self.building.keeps_order(rows, self.dependences.must) else None

    def outer(self, band: Band, rows: Rows, member: int) -> tuple[int, ...]:
        """The other members that carry nothing, outside of which no buffer has to be chosen; one with enough values for
        threads first."""
        if not all(map(is_short, rows.places.buffers)):
            return ()
        others, trips = [k for k in band.coincident if k != member], band.work.trips
        wished, enough = band.setting.wished(band.node, "parallel"), thread_limit(self.options.machine)
        if wished is not None and wished not in others:
            return ()
        return tuple(sorted(others, key=lambda k: (k != wished, -min(trips[k], enough), k)))

    def around(self, band: Band, member: int) -> Callable[[Rows], Rows]:
        """Puts the other members that may stand there outside of strips."""

        def placed(rows: Rows) -> Rows:
            outer = self.outer(band, rows, member)
            return replace(rows, outer=outer, few=bool(outer) and has_few(self.setting, band.work.trips[outer[0]]))

        return placed

    def joined(self, rows: Rows, node: isl.ScheduleNode) -> Rows | None:
        """The rows with one more nest, if it uses what they have computed and each of its rows needs only one of
        theirs."""
        if node.get_type() != _TYPE.band:
            return None
        products = [
            inner for inner in walk(node) if is_leaf_band(inner) and contraction_of(self.scop, inner) is not None
        ]
        if products or depth_of(node) > depth_of(rows.nodes[0]):
            return None  # there is more in it than the strip
        both = rows.domain.union(node.get_domain())
        for member in row_members(node):
            lane = rows.lane.union_add(node.band_get_partial_schedule().get_at(member))
            between = pairs_inside(self.dependences.must, node, both)
            used = between.intersect_domain(rows.domain).intersect_range(node.get_domain())
            if not used.is_empty() and zero(distances(between, lane)):
                longer = self.rows((*rows.nodes, node), (*rows.members, member), lane, rows.together)
                return longer if longer is not None and not (rows.together and longer.blocks().is_empty()) else None
        return None

    def rows(
        self,
        nodes: tuple[isl.ScheduleNode, ...],
        members: tuple[int, ...],
        lane: isl.UnionPwAff,
        together: int = 0,
        ends: frozenset[str] = frozenset(),
    ) -> Rows | None:
        """Nests whose arrays all have a place; None if one has none. together, ends: see `Rows`."""
        domain = union_of_sets(part for node in nodes for part in sets_of(node.get_domain()))
        places = Keeper(self.scop, self.dependences, nodes, domain, lane, bool(together), ends).places()
        return Rows(nodes, members, lane, places, together=together, ends=ends) if places is not None else None
