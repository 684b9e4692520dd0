"""Stages that feed each other run together, block of rows by block of rows.

In ``for y: for x: t[y][x] = f(in[y - 1 … y + 1][x]); for y: for x: out[y][x] = g(t[y - 1 … y + 1][x])`` each nest
streams its arrays through memory. Rows of the second one can follow rows of the first one as soon as these are there:
their loops become one, shifted by as much as the dependences reach. Threads share blocks of rows. What needs rows of
other blocks waits: in the first phase, each stage runs those rows of a block that depend on the block alone; in the
second one, in parallel too, those at the borders of blocks (split tiling: Grosser et al., "Split tiling for GPUs",
2013). Each instance runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.marked_schedule import BandChoice, Mark, MarkedSchedule, loop_of
from scopt.ir.nest import LoopMark
from scopt.poly.bands import active, distances
from scopt.poly.isl_utils import maps_of, sets_of, union_of_sets, walk
from scopt.poly.set_pieces import in_band, in_sequence, marked
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.stage_gains import Blocks, blocks_of, exceeds_caches

_TYPE = isl.schedule_node_type
# How many rows a stage may be behind another one, in all.
_FARTHEST = 16


class Stage(Struct, frozen=True, eq=False):
    """A nest whose rows run in parallel. node: its mark; mark: of its loop over rows.

    after, before: rows at the start and at the end of a block that are left to the second phase. In the first one, the
    loop over the rows of a block runs row y when it is at y + before.
    """

    node: isl.ScheduleNode
    mark: LoopMark
    after: int = 0
    before: int = 0

    @property
    def band(self) -> isl.ScheduleNode:
        return self.node.child(0)

    @property
    def domain(self) -> isl.UnionSet:
        return self.node.get_domain()

    @property
    def row(self) -> isl.UnionPwAff:
        return self.band.band_get_partial_schedule().get_at(0)


def stage_loops(setting: Setting, schedule: MarkedSchedule) -> MarkedSchedule:
    """Neighbouring nests that walk through the same rows together, where lines that they share would come from memory
    twice. The bands are decided; only plain loops are put together."""
    stages = _Stages(setting, schedule.marks, Marks(dict(schedule.marks)))
    root = schedule.tree.get_root()
    if root.n_children() != 1 or not _has_neighbours(root):
        return schedule
    made = stages.tree(root.child(0))
    if not stages.choices:
        return schedule
    kept = {node.mark_get_id().get_name() for node in walk(made.get_root()) if node.get_type() == _TYPE.mark}
    marks = {name: mark for name, mark in stages.made.found.items() if name in kept}
    return replace(schedule, tree=made, marks=marks, choices=(*schedule.choices, *stages.choices))


def _has_neighbours(root: isl.ScheduleNode) -> bool:
    return any(node.get_type() in (_TYPE.sequence, _TYPE.set) for node in walk(root))


class _Stages(Struct, eq=False):
    """marks: of the tree as it is; made: of the new one, too. choices: one for each group of stages."""

    setting: Setting
    marks: Mapping[str, Mark]
    made: Marks
    choices: list[BandChoice] = field(default_factory=list)

    def tree(self, node: isl.ScheduleNode) -> isl.Schedule:
        """The subtree at a node, as a tree of its own, with stages."""
        match node.get_type():
            case _TYPE.sequence | _TYPE.set:
                return in_sequence(self.parts([node.child(k).child(0) for k in range(node.n_children())]))
            case _TYPE.mark if self.is_whole(self.marks[node.mark_get_id().get_name()]):
                return copied(node)
        return _around(node, self.tree)

    def is_whole(self, mark: Mark) -> bool:
        """Whether what stands below a mark has no stages: they are in no loop that is parallel."""
        return not isinstance(mark, LoopMark) or mark.parallel

    def parts(self, nodes: Sequence[isl.ScheduleNode]) -> list[isl.Schedule]:
        """The parts of a sequence."""
        rest, found = list(nodes), []
        while rest:
            group = self.group(rest)
            blocks = self.blocks_of(group) if len(group) > 1 else None
            if blocks is not None:
                found += self.together(group, blocks)
                self.choices.append(_choice(group, blocks))
                del rest[: len(group)]
            else:
                found.append(self.tree(rest.pop(0)))
        return found

    def blocks_of(self, group: Sequence[Stage]) -> Blocks | None:
        """None where nothing is gained."""
        vectors = [any(loop_of(mark).simd for mark in self.below(stage.band)) for stage in group]
        return blocks_of(self.setting, [stage.band for stage in group], _widest(group), vectors)

    def below(self, node: isl.ScheduleNode) -> list[Mark]:
        """The marks at a node and below."""
        return [self.marks[one.mark_get_id().get_name()] for one in walk(node) if one.get_type() == _TYPE.mark]

    def group(self, nodes: Sequence[isl.ScheduleNode]) -> list[Stage]:
        """The first nodes, as many as may be stages of one loop."""
        nests: list[Stage] = []
        for node in nodes:
            stage = self.stage(node)
            if stage is None or (nests and not self.arrays(stage) & frozenset().union(*map(self.arrays, nests))):
                break
            nests.append(stage)
        if len(nests) < 2 or not exceeds_caches(self.setting, [stage.band for stage in nests]):
            return nests[:1]
        found: list[Stage] = []
        for stage in nests:
            placed = self.placed(stage, found)
            if placed is None:
                break
            found.append(placed)
        return found

    def stage(self, node: isl.ScheduleNode) -> Stage | None:
        """A nest as a stage: a parallel loop over rows, without tiles, around plain loops."""
        if node.get_type() != _TYPE.mark:
            return None
        mark = self.marks[node.mark_get_id().get_name()]
        if not isinstance(mark, LoopMark) or not mark.parallel or mark.simd or mark.reductions:
            return None
        below = self.below(node.child(0))
        if not all(isinstance(one, LoopMark) and not one.parallel and not one.jammed for one in below):
            return None
        stage = Stage(node, mark)
        inner = any(one.get_type() == _TYPE.band for one in walk(stage.band.child(0)))
        return stage if inner and stage.band.band_n_member() == 1 and _is_plain(stage.row) else None

    def placed(self, stage: Stage, others: Sequence[Stage]) -> Stage | None:
        """A stage behind some others; None if it can't follow them row by row."""
        after = before = 0
        pairs = [active(one, stage.node.parent().parent()) for one in self.pairs([*others, stage])] if others else []
        for other in others:
            for some in pairs:
                crossing = some.intersect_domain(other.domain).intersect_range(stage.domain)
                rows = distances(crossing, other.row.union_add(stage.row))
                if rows is None:
                    continue
                least, most = rows.dim_min_val(0), rows.dim_max_val(0)
                if not (least.is_int() and most.is_int()):
                    return None
                after = max(after, other.after + most.to_python())
                before = max(before, other.before - least.to_python())
        return replace(stage, after=after, before=before) if after + before <= _FARTHEST else None

    def pairs(self, stages: Sequence[Stage]) -> list[isl.UnionMap]:
        """What has to stay in order: all but reuse of the variables that each row has a copy of."""
        dependences = self.setting.dependences
        whole = union_of_sets(part for one in stages for part in sets_of(one.domain))
        found = [dependences.must]
        for name, reuse in dependences.reuse.items():
            ranges = dependences.ranges[name]
            ends = [(one.domain, name in one.mark.private) for one in stages]
            if not all(own or ranges.domain().union(ranges.range()).is_disjoint(domain) for domain, own in ends):
                found.append(reuse)
        return [one.intersect_domain(whole).intersect_range(whole) for one in found]

    def arrays(self, stage: Stage) -> frozenset[str]:
        """What a stage touches, scalars apart."""
        names = {str(relation.get_tuple_name()) for relation in sets_of(stage.domain)}
        scop = self.setting.scop
        inside = (access for one in scop.statements if one.name in names for access in one.accesses)
        return frozenset(access.array for access in inside if scop.arrays[access.array].rank > 1)

    # --- the new loops ------------------------------------------------------------------------------------------------

    def together(self, group: Sequence[Stage], sizes: Blocks) -> list[isl.Schedule]:
        """The two phases of some stages."""
        rows = sizes.rows
        parts = [_some_rows(one, rows, one.after, rows - one.before, whole=sizes.strip > 1) for one in group]
        first = in_sequence(parts)
        if sizes.strip < rows:
            follow = [_blocks(one.row, one.before, sizes.strip) for one in group]
            first = _sequential(in_band(first, [_united(follow, parts)], group[0].band))
        made = [self.blocks(first, group, _united([_blocks(one.row, -one.after, rows) for one in group], parts))]
        late = [stage for stage in group if _widest([stage])]
        if late:
            rest = [_some_rows(one, rows, -one.before, one.after, whole=True) for one in late]
            borders = _united([_blocks(one.row, one.before, rows) for one in late], rest)
            made.append(self.blocks(in_sequence(rest), late, borders))
        return made

    def blocks(self, inner: isl.Schedule, stages: Sequence[Stage], blocks: isl.UnionPwAff) -> isl.Schedule:
        """A parallel loop over blocks."""
        private = tuple(dict.fromkeys(name for stage in stages for name in stage.mark.private))
        name = f"blocks{len(self.made.found)}"
        self.made.found[name] = LoopMark(parallel=True, private=private)
        return marked(in_band(inner, [blocks], stages[0].band), name)


def _choice(group: Sequence[Stage], sizes: Blocks) -> BandChoice:
    names = tuple(sorted(str(part.get_tuple_name()) for stage in group for part in sets_of(stage.domain)))
    what = f"{len(group)} nests in blocks of {sizes.rows} rows, {sizes.strip} rows of each at a time"
    return BandChoice(names, "stages", what, sizes.cycles)


def _widest(stages: Sequence[Stage]) -> int:
    return max(stage.after + stage.before for stage in stages)


def copied(node: isl.ScheduleNode) -> isl.Schedule:
    """The subtree at a node as a tree of its own."""
    if node.get_type() in (_TYPE.sequence, _TYPE.set):
        return in_sequence([copied(node.child(k).child(0)) for k in range(node.n_children())])
    return _around(node, copied)


def _around(node: isl.ScheduleNode, below: Callable[[isl.ScheduleNode], isl.Schedule]) -> isl.Schedule:
    """A node that isn't a sequence as a tree of its own, around what is made of the one below it."""
    match node.get_type():
        case _TYPE.leaf:
            return isl.Schedule.from_domain(node.get_domain())
        case _TYPE.mark:
            return marked(below(node.child(0)), node.mark_get_id().get_name())
        case _TYPE.filter:  # of a sequence all other parts of which turned out to be empty
            return below(node.child(0))
        case _TYPE.band:
            inner, partial = below(node.child(0)), node.band_get_partial_schedule()
            domain = inner.get_domain()
            members = [partial.get_at(k).intersect_domain(domain) for k in range(node.band_n_member())]
            return in_band(inner, members, node)
    raise AssertionError(f"unexpected schedule node {node.get_type()}")


def _is_plain(member: isl.UnionPwAff) -> bool:
    """Whether a member has no quotients: tiles have."""
    return all(
        not piece.dim(isl.dim_type.div)
        for relation in maps_of(isl.UnionMap.from_union_pw_aff(member))
        for piece in relation.get_basic_maps()
    )


def _some_rows(stage: Stage, rows: int, least: int, most: int, *, whole: bool) -> isl.Schedule:
    """The rows from `least` to before `most` of all blocks, or of the last one before that; whole: with the loop over
    them."""
    kept = isl.UnionSet(f"{{ [y] : exists t : {least} <= y - {rows} t < {most} }}")
    instances = isl.UnionMap.from_union_pw_aff(stage.row).intersect_range(kept).domain()
    return copied(stage.band if whole else stage.band.child(0)).intersect_domain(instances)


def _moved(member: isl.UnionPwAff, rows: int) -> isl.UnionPwAff:
    """A member, so many rows later."""
    domain = isl.UnionMap.from_union_pw_aff(member).domain()
    return member.add(isl.UnionPwAff.val_on_domain(domain, isl.Val(rows)))


def _blocks(member: isl.UnionPwAff, shift: int, rows: int) -> isl.UnionPwAff:
    """The first row of each row's block, or of its strip."""
    if rows == 1:
        return _moved(member, shift)
    size = isl.Val(rows)
    return _moved(member, shift).scale_down_val(size).floor().scale_val(size)


def _united(members: Sequence[isl.UnionPwAff], parts: Sequence[isl.Schedule]) -> isl.UnionPwAff:
    """One function for all stages, on what is left of them."""
    whole = members[0].intersect_domain(parts[0].get_domain())
    for member, part in zip(members[1:], parts[1:], strict=True):
        whole = whole.union_add(member.intersect_domain(part.get_domain()))
    return whole


def _sequential(tree: isl.Schedule) -> isl.Schedule:
    """A tree whose outermost loop carries something."""
    return tree.get_root().child(0).band_member_set_coincident(0, 0).get_schedule()
