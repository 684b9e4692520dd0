"""Small loops of constant size inside of others become straight code, so that the loop around is the innermost one.

In ``for i: for j: { s = 0; for p < 3: for q < 3: s += w[p][q] * x[i + p][j + q]; y[i][j] = s; }`` nothing but the sum
of a window keeps j from being a vector loop. Full unrolling leaves each value where it was in its order (Allen and
Kennedy, "Optimizing compilers for modern architectures", 2001, 8.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import prod

import islpy as isl
from msgspec import Struct

from scopt.machine.costs import ELEMENT, LEAST_STEPS, arithmetic
from scopt.poly.bands import reductions_of, with_properties_below
from scopt.poly.isl_utils import SET, joined, sets_of, walk
from scopt.poly.linear import subscript_rows
from scopt.poly.reductions import update_of
from scopt.poly.restructure import has_inner_bands, reordered
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.items import is_in_item
from scopt.scheduler.decisions.prospects import holds_contraction
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.shared_parts import is_shared_outside
from scopt.scheduler.decisions.small_loops import (
    FEW_POINTS,
    MOST_INSTANCES,
    inner_bands,
    is_short,
    is_small_box,
    span,
    straightened,
    values_of,
    values_of_member,
)
from scopt.scheduler.decisions.windows import borders, settled, split_at_borders
from scopt.scheduler.influence.honoured import wished_members
from scopt.scheduler.locality.strides import linear_schedule, strides

_TYPE = isl.schedule_node_type
# Values of a parallel loop from row to row that is straight code all the same.
_FEW_ROWS = 4
# Operations of scalars that a core finishes in a cycle, and the cycles from an addition to a cell in memory to the next
# one: it is stored, and loaded again (Zen 4).
_OPERATIONS_A_CYCLE, _STORED = 2, 12


def unroll_loops(setting: Setting, tree: isl.Schedule) -> isl.Schedule:
    """Unroll what is below each band that has a loop for vectors and nothing but small loops inside, and the small
    members of bands of statements that have such a loop besides."""
    unroller = _Unroller(setting)
    made = unroller.below(tree.get_root())
    return made.get_schedule() if unroller.done else tree


def with_straight_code(setting: Setting, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """A band that stands alone in its tree, or below the band around it, as it is once small loops are straight
    code."""
    flagged = with_properties_below(setting.scop, setting.dependences, node)
    if not setting.options.simd:
        return flagged
    made = unroll_loops(setting, flagged.get_schedule()).get_root()
    for _ in range(int(node.get_tree_depth())):
        made = made.child(0)
    return made


class _Unroller(Struct, eq=False):
    """done: bands that have been unrolled."""

    setting: Setting
    done: int = 0

    def below(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The node, with all done that is to be done at it and below."""
        if is_in_item(self.setting.scop, node.get_domain(), int(node.get_schedule_depth())):
            return node
        if node.get_type() == _TYPE.band:
            made = self.around(node) if has_inner_bands(node) else self.members(node)
            if made is not None:
                self.done += 1
                return with_properties_below(self.setting.scop, self.setting.dependences, made)
        for position in range(node.n_children()):
            node = self.below(node.child(position)).parent()
        return node

    def around(self, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """A band with straight code in the place of all bands below, if that pays."""
        inner = tuple(inner_bands(node.child(0)))
        lanes, collects = self.lanes_of(node), self.collects(node, inner)
        faster = any(self.has_vectors(one, lanes) or self.sums_faster(node, one) for one in inner)
        if (faster and not collects) or self.is_named(inner):
            return None
        depth = int(node.get_schedule_depth()) + int(node.band_n_member())
        still = settled(node.child(0), depth).parent()
        inner = tuple(inner_bands(still.child(0)))
        if not all(values_of(one) for one in inner) or not is_short(still, inner):
            return None
        if any(self.is_long_chain(node, one) for one in inner):
            return None
        straight = straightened(still.child(0)).parent()
        found = borders(straight)
        keeps = collects and self.fits_registers(straight)
        members = range(node.band_n_member())
        reducing = [k for k in members if self.reduces(straight, k)]
        if found is None or not (keeps or self.has_lanes(straight, members, reducing)):
            return None
        return split_at_borders(still, straight, found)

    def members(self, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """A band of statements without its small members, which become straight code, if that pays."""
        if not node.band_get_permutable() or holds_contraction(self.setting, node):
            return None
        collected = self.collected(node)
        if collected is not None:
            return collected
        if self.has_vectors(node, self.lanes_of(node)):
            return None
        for inner in (self.small_inside(node), self.without_skew(node)):
            if inner is None or not is_small_box(inner) or not is_short(inner.parent(), (inner,)):
                continue
            if not self.is_named((inner,)):
                straight = straightened(inner).parent()
                found = borders(straight)
                return straight if found is None else split_at_borders(inner.parent(), straight, found)
        return None

    def collected(self, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """A band whose only large member adds to the same few cells in each iteration, with straight code in the place
        of the others; see `collects`. None if it is none."""
        members = range(node.band_n_member())
        large = [k for k in members if not node.band_member_get_coincident(k)]
        if len(large) != 1 or len(members) < 3:
            return None
        rest = [k for k in members if k not in large]
        if not all(values_of_member(node, k, FEW_POINTS) for k in rest):
            return None
        inner = reordered(node, [*large, *rest]).band_split(1).child(0)
        if not is_small_box(inner) or not is_short(inner.parent(), (inner,)) or self.is_named((inner,)):
            return None
        straight = straightened(inner).parent()
        if not self.collects(inner.parent(), (inner,)) or not self.fits_registers(straight):
            return None
        rows = max(len(values_of_member(node, k, FEW_POINTS) or ()) for k in rest)
        if self.setting.options.parallel and not is_shared_outside(node) and self.shares_faster(straight, rows):
            return None
        found = borders(straight)
        return straight if found is None else split_at_borders(inner.parent(), straight, found)

    def shares_faster(self, straight: isl.ScheduleNode, rows: int) -> bool:
        """Whether threads that take a row of the cells each, in memory, are faster than one that keeps all of them."""
        operations, scop = _instances(straight), self.setting.scop
        cycles = max(arithmetic(scop.statement(name).body) for name in operations) / _OPERATIONS_A_CYCLE
        count = sum(operations.values())
        turns = -(-rows // min(self.setting.options.machine.cores, rows))
        return turns * max(_STORED, count / rows * cycles) < count * cycles

    def is_named(self, bands: Iterable[isl.ScheduleNode]) -> bool:
        """Whether the user wants a loop of these bands to be a parallel or a vector loop."""
        scop, wishes = self.setting.scop, (*self.setting.loops, *self.setting.hopes)
        return any(wished_members(scop, node, wishes, kind) for node in bands for kind in ("parallel", "vector"))

    def small_inside(self, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """The band with its small members innermost, as a band of their own, which is returned."""
        small = self.small_members(node)
        rest = [k for k in range(node.band_n_member()) if k not in small]
        if not small or not rest or not self.has_lanes(node, rest):
            return None
        return reordered(node, [*rest, *small]).band_split(len(rest)).child(0)

    def without_skew(self, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
        """The band of a single statement without the members that small loops are mixed into, and inside of it a band
        over these loops in the order of the source. That keeps to the dependences: in one point of what is left of the
        band all other loops of the source stand still. None where that isn't so, or doesn't pay."""
        parts = sets_of(node.get_domain())
        if len(parts) != 1:
            return None
        part = parts[0]
        rows = linear_schedule(self.setting.scop, node).members.get(str(part.get_tuple_name()))
        if rows is None:
            return None
        iterators = int(part.dim(SET))
        sizes = [_size(part, k) for k in range(iterators)]
        inner: list[int] = []
        best: tuple[list[int], list[int]] | None = None
        for k in reversed([k for k in range(iterators) if sizes[k]]):
            inner = [k, *inner]
            if prod(sizes[k] for k in inner) > MOST_INSTANCES:
                break
            rest = [m for m, row in enumerate(rows) if not any(row[k] for k in inner)]
            if any(node.band_member_get_coincident(m) for m in range(len(rows)) if m not in rest):
                break  # a loop that nothing is mixed into
            if len(rest) == iterators - len(inner) and self.has_lanes(node, rest):
                best = rest, inner
        if best is None:
            return None
        loops = [isl.UnionPwAff.from_pw_aff(_iterator(part, k)) for k in best[1]]
        return reordered(node, best[0]).child(0).insert_partial_schedule(joined(loops)).band_set_permutable(0)

    def small_members(self, node: isl.ScheduleNode) -> list[int]:
        """As many of the members with few values as straight code may have, the innermost ones; those that carry
        something first."""
        values = {k: self.values(node, k) for k in range(node.band_n_member())}
        found: list[int] = []
        for member in sorted(values, key=lambda k: (-bool(node.band_member_get_coincident(k)), k), reverse=True):
            if values[member] and prod(values[k] for k in (member, *found)) <= MOST_INSTANCES:
                found.append(member)
        return sorted(found)

    def values(self, node: isl.ScheduleNode, member: int) -> int:
        """How many values a small member has; 0 if it isn't one, or is a parallel loop from row to row."""
        count = len(values_of_member(node, member, FEW_POINTS) or ())
        line = strides(self.setting.scop, linear_schedule(self.setting.scop, node), member)
        return 0 if count > _FEW_ROWS and node.band_member_get_coincident(member) and line.leaves_lines else count

    def has_lanes(self, node: isl.ScheduleNode, members: Sequence[int], reducing: Collection[int] = ()) -> bool:
        """Whether one of these members of a band may be a vector loop that walks along lines, but for what it looks up
        in narrow cells, which may be done apart, or runs from record to record, whose cells straight code keeps in
        registers. reducing: those that carry nothing but reductions."""
        schedule = linear_schedule(self.setting.scop, node)
        free = [k for k in members if k in reducing or node.band_member_get_coincident(k)]
        return any(one.looks_up or one.by_records for one in (strides(self.setting.scop, schedule, k) for k in free))

    def reduces(self, node: isl.ScheduleNode, member: int) -> bool:
        """Whether nothing keeps a loop in order but what may be collected in any order, by each lane for itself."""
        partial = node.band_get_partial_schedule().get_at(member)
        return bool(reductions_of(self.setting.scop, self.setting.dependences, node, partial))

    def lanes_of(self, node: isl.ScheduleNode) -> int:
        """How many lanes of a vector the loops of a band that carry nothing have iterations for, at most."""
        found, most = 0, self.setting.options.machine.vector_bytes
        for member in range(node.band_n_member()):
            if node.band_member_get_coincident(member):
                points = values_of_member(node, member, most)
                found = max(found, most if points is None else len(points))
        return found

    def has_vectors(self, node: isl.ScheduleNode, around: int) -> bool:
        """Whether a small loop of a band is a vector loop as good as any: it carries nothing and fills a vector, at
        least one of the integers that C computes narrower ones in, or as much of one as a loop around does, that has
        iterations for `around` lanes."""
        schedule, machine = linear_schedule(self.setting.scop, node), self.setting.options.machine
        for member in range(node.band_n_member()):
            if node.band_member_get_coincident(member) and strides(self.setting.scop, schedule, member).contiguous:
                points = values_of_member(node, member, MOST_INSTANCES)
                work = Work.of(self.setting.scop, machine, node)
                if points is not None and len(points) >= min(
                    work.lanes, machine.lanes(ELEMENT // 2), max(around, machine.lanes(ELEMENT) // 2)
                ):
                    return True
        return False

    def collects(self, node: isl.ScheduleNode, inner: Sequence[isl.ScheduleNode]) -> bool:
        """Whether a loop in order adds to the same cells in each iteration, in small loops that fill no vector: sums of
        products of few components (moments, normal equations). In memory each addition waits for the last one's store,
        in straight code the cells stay in registers."""
        if node.band_n_member() > 1 or node.band_member_get_coincident(0):
            return False
        scop, schedule = self.setting.scop, linear_schedule(self.setting.scop, node)
        for name in {str(part.get_tuple_name()) for one in inner for part in sets_of(one.get_domain())}:
            row, statement = schedule.members.get(name, ((),))[0], scop.statement(name)
            update = update_of(scop, statement)
            if update is None or not scop.arrays[update.array].type.floating:
                return False
            cell = subscript_rows(next(access.relation for access in statement.accesses if access.is_write))
            if cell is None or not row or any(step and any(one[k] for one in cell) for k, step in enumerate(row)):
                return False
            values = self.values_inside(inner, name)
            # a row of cells waits in variables while several iterations go by (`scopt.scheduler.decisions.claim_jam`)
            if len(values) < 2 or Work.of(scop, self.setting.options.machine, node).lanes <= max(values):
                return False
        return True

    def values_inside(self, inner: Sequence[isl.ScheduleNode], name: str) -> list[int]:
        """How many values the loops of a statement have among small ones inside of another."""
        own = [one for one in inner if any(str(part.get_tuple_name()) == name for part in sets_of(one.get_domain()))]
        return [
            len(values_of_member(one, k, MOST_INSTANCES) or range(MOST_INSTANCES))
            for one in own
            for k in range(one.band_n_member())
        ]

    def fits_registers(self, straight: isl.ScheduleNode) -> bool:
        """Whether the instances of straight code are as few as the cells that registers hold beside operands."""
        instances = sum(_instances(straight).values())
        return 4 * instances <= 3 * self.setting.options.machine.vector_registers

    def is_long_chain(self, node: isl.ScheduleNode, inner: isl.ScheduleNode) -> bool:
        """Whether a small loop hands something on along lines in steps enough for rows beside each other, while each
        loop around that carries nothing goes from record to record: chains that overlap gain more than these do."""
        if inner.band_n_member() > 1 or inner.band_member_get_coincident(0):
            return False
        scop, points = self.setting.scop, values_of_member(inner, 0, MOST_INSTANCES)
        if points is None or len(points) < LEAST_STEPS:
            return False
        schedule = linear_schedule(scop, node)
        free = [k for k in range(node.band_n_member()) if node.band_member_get_coincident(k)]
        return strides(scop, linear_schedule(scop, inner), 0).contiguous and not any(
            strides(scop, schedule, k).along_lines for k in free
        )

    def sums_faster(self, node: isl.ScheduleNode, inner: isl.ScheduleNode) -> bool:
        """Whether a small loop only adds up integers along lines, enough of them for whole vectors, which compilers
        make of it, while each loop around that might be a vector loop steps over elements."""
        scop, machine = self.setting.scop, self.setting.options.machine
        if inner.band_n_member() > 1 or inner.band_member_get_coincident(0):
            return False
        names = [str(part.get_tuple_name()) for part in sets_of(inner.get_domain())]
        updates = [update_of(scop, scop.statement(name)) for name in names]
        if not all(one is not None and scop.arrays[one.array].type.integer for one in updates):
            return False
        if not strides(scop, linear_schedule(scop, inner), 0).contiguous:
            return False
        points = values_of_member(inner, 0, MOST_INSTANCES)
        if points is None or len(points) < Work.of(scop, machine, inner).lanes:
            return False
        around = Work.of(scop, machine, node)
        free = [k for k in range(node.band_n_member()) if node.band_member_get_coincident(k)]
        return all(any(around.statements[name].jumping[k].loads for name in names) for k in free)


def _instances(straight: isl.ScheduleNode) -> Counter[str]:
    """How often each statement stands in straight code."""
    leaves = (one for one in walk(straight) if one.get_type() == _TYPE.leaf)
    return Counter(str(part.get_tuple_name()) for one in leaves for part in sets_of(one.get_domain()))


def _size(part: isl.Set, iterator: int) -> int:
    """How many values an iterator has, if it is few; else 0."""
    size = span(part, iterator)
    return size if size is not None and size <= FEW_POINTS else 0


def _iterator(part: isl.Set, iterator: int) -> isl.PwAff:
    space = isl.LocalSpace.from_space(part.get_space())
    return isl.PwAff.var_on_domain(space, isl.dim_type.set, iterator).intersect_domain(part)
