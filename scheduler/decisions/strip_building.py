"""Strips of rows put in place of nests: a loop over strips, in it the nests, whose loops over the rows of a strip are
innermost: vector loops, or written out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.marked_schedule import Mark, StripMark, Strips
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Dependences, Scop
from scopt.machine.batch_costs import batch_lanes
from scopt.machine.costs import least_strip_rows, strip_bytes, strip_rows
from scopt.options import Options
from scopt.poly import trees
from scopt.poly.isl_utils import sets_of, union_of_maps, union_of_sets
from scopt.poly.set_pieces import in_sequence, marked
from scopt.scheduler.decisions.ragged_rows import Ragged, are_few, has_steps, ragged
from scopt.scheduler.decisions.strip_blocks import divided, peeled, peeled_inside, whole_blocks
from scopt.scheduler.decisions.strip_places import Places
from scopt.scheduler.decisions.strip_references import bytes_a_row, first_row
from scopt.scheduler.decisions.strip_streams import short_streams
from scopt.scheduler.decisions.strip_trees import atomic_loop, outside
from scopt.scheduler.decisions.user_sizes import fitted_rows

# Rows that are written out beside each other.
_SEVERAL = 2
# Loops at most over the rows that blocks leave, where these have several ends.
_CASES = 2


class Rows(Struct, frozen=True, eq=False):
    """A nest, or several one after another, with one loop each over the rows. lane: whose row an instance is in.
    length: rows of a strip where that has to do with the lines that they are on; 0: elsewhere. outer: members of a
    single nest that carry nothing either, and stand outside of the strips, one that is to be parallel first; few: it
    may have too few iterations for threads. together: so many rows are written out beside each other, where their
    arrays are; 0: strips are vectors, but for ends: statements that run in order for the rows of a strip. along:
    statements of loops that carry nothing, which stay vector loops along each of these rows. parallel: no dependence
    leads from row to row; else one does, from what stands behind the loops along the rows. batch: rows are small
    problems, as many as a vector has lanes. inside: of a loop that carries nothing, which threads may share. ragged: of
    rows beside each other that begin or end at different steps."""

    nodes: tuple[isl.ScheduleNode, ...]
    members: tuple[int, ...]
    lane: isl.UnionPwAff
    places: Places
    length: int = 0
    outer: tuple[int, ...] = ()
    few: bool = False
    together: int = 0
    along: frozenset[str] = frozenset()
    parallel: bool = True
    alone: bool = False
    ends: frozenset[str] = frozenset()
    batch: bool = False
    inside: bool = False
    ragged: Ragged | None = None

    @property
    def domain(self) -> isl.UnionSet:
        return union_of_sets(part for node in self.nodes for part in sets_of(node.get_domain()))

    def blocks(self, count: int = 0) -> isl.UnionSet:
        """The instances of whole blocks of so many rows; 0: of those that are written out beside each other."""
        if self.ragged is not None and not count:
            return self.ragged.blocks
        partial = self.nodes[0].band_get_partial_schedule()
        around = [partial.get_at(member) for member in self.outer]
        return whole_blocks(
            self.nodes[0],
            self.domain,
            self.lane,
            around,
            first_row(self.lane.intersect_domain(self.domain)),
            count or self.together,
        )


def rows_of_strip(scop: Scop, options: Options, rows: Rows) -> int:
    """Rows of a strip: fewer where their buffers would be too large."""
    if rows.together:
        return rows.together
    size, machine = _bytes_a_row(scop, rows), options.machine
    if rows.batch:
        return batch_lanes(machine, max(scop.arrays[one.array].type.bytes or 1 for one in rows.places.buffers))
    user, least = options.tile_sizes, least_strip_rows(machine)
    count = fitted_rows(machine, user, rows.members[0]) if user else rows.length or strip_rows(machine)
    while count > least and size * count > strip_bytes(machine):
        count = max(count // 2 // least * least, least)
    return count


def stays_in_caches(scop: Scop, options: Options, rows: Rows) -> bool:
    """Whether a strip's buffers stay in the last cache at least: else all that strips take to them and back comes from
    memory once more."""
    return _bytes_a_row(scop, rows) * least_strip_rows(options.machine) <= options.machine.caches[-1].share


def _bytes_a_row(scop: Scop, rows: Rows) -> int:
    estimates = {p.name: p.estimate for p in scop.parameters}
    return sum(bytes_a_row(scop.arrays[one.array], one, estimates) for one in rows.places.buffers)


def stays_in_buffers(deps: Dependences, rows: Rows) -> bool:
    """Whether strips write an array that need not get to memory but in the last of several runs, since nothing else
    reads it: rows where they are would bring it there each time."""
    node = rows.nodes[0]
    if not node.get_schedule_depth():
        return False
    domain = node.get_domain()
    for buffer in rows.places.buffers:
        flows = [one.relation for one in deps.select("flow") if one.array == buffer.array]
        values = union_of_maps(flows).intersect_domain(domain)
        inside = values.intersect_range(domain).eq_at_multi_union_pw_aff(outside(node))
        if not values.is_empty() and values.is_subset(inside):
            return True
    return False


def is_work(scop: Scop, rows: Rows) -> bool:
    """Whether buffers are for nothing but what each row computes for itself: nothing is copied."""
    arrays = [scop.arrays[one.array] for one in rows.places.buffers]
    return bool(arrays) and all(array.private for array in arrays)


def is_left(scop: Scop, rows: Rows) -> bool:
    """Whether something of a buffer's array is copied to one that others see: of other arrays threads may have copies
    anyway."""
    arrays = {one.array for one in rows.places.buffers}
    inside = {str(part.get_tuple_name()) for part in sets_of(rows.domain)}
    behind = [one for one in scop.statements if one.name not in inside]
    copies = [one for one in behind if any(not a.is_write and a.array in arrays for a in one.accesses)]
    return any(a.is_write and not scop.arrays[a.array].private for one in copies for a in one.accesses)


class StripBuilder(Struct, frozen=True, eq=False):
    """Builds strips. marks: that are found so far."""

    scop: Scop
    options: Options
    marks: dict[str, Mark]

    def strips(self, rows: Rows) -> isl.Schedule:
        """What stands in place of the nests: a parallel loop over strips around them."""
        if rows.batch:
            return self.batches(rows)
        if not rows.together or rows.alone:
            return self.around(rows, self.loop(rows, rows.domain))
        streams = self.streams(rows)
        if not streams.is_empty():
            return self.apart(rows, streams)
        full = rows.blocks()
        rest = rows.domain.subtract(full).coalesce()
        tree = self.loop(rows, full)
        if rest.is_empty():
            return self.around(rows, tree)
        others = self.loop(replace(rows, together=1), rest)
        if rows.outer and rows.few and rows.parallel:  # apart: threads share out the blocks, too
            return self.around(rows, tree).sequence(self.around(rows, others))
        return self.around(rows, tree.sequence(others))

    def batches(self, rows: Rows) -> isl.Schedule:
        """Whole batches of small problems, then the problems that are left, one by one as they were."""
        full = rows.blocks(rows_of_strip(self.scop, self.options, rows))
        rest = rows.domain.subtract(full).coalesce()
        tree = self.loop(rows, full)
        if not rest.is_empty():
            tree = tree.sequence(self.one_by_one(rows, rest))
        return self.around(rows, tree)

    def one_by_one(self, rows: Rows, domain: isl.UnionSet) -> isl.Schedule:
        """Some problems of batches, as they were."""
        own = isl.MultiUnionPwAff.from_union_pw_aff(rows.lane.intersect_domain(domain))
        inner = trees.build(trees.read(rows.nodes[0].child(0))).intersect_domain(domain)
        return atomic_loop(inner.insert_partial_schedule(own), parallel=False)

    def streams(self, rows: Rows) -> isl.Set:
        """The parameters for which threads run rows one after the other, in place of several at a time: some of those
        of loops whose sizes are known at run time only."""
        nothing = isl.Set.empty(self.scop.context.get_space())
        alone = self.options.parallel and rows.parallel and not rows.outer and len(rows.nodes) == 1
        if not alone or rows.along or rows.places.buffers:
            return nothing
        found = short_streams(self.scop, self.options.machine, rows.domain, rows.lane)
        return nothing if self.scop.context.is_subset(found) else found

    def apart(self, rows: Rows, streams: isl.Set) -> isl.Schedule:
        """The rows in one of two ways, as parameters have it. streams: for which they run one after the other."""
        others = self.scop.context.subtract(streams).coalesce()
        full = rows.blocks().intersect_params(others)
        rest = rows.domain.intersect_params(others).subtract(full).coalesce()
        in_order = self.loop(replace(rows, together=1, alone=True), rows.domain.intersect_params(streams))
        trees_of = [in_order, self.loop(rows, full)]
        if not rest.is_empty():
            trees_of.append(self.loop(replace(rows, together=1), rest, cases=False))
        return in_sequence(trees_of)

    def keeps_order(self, rows: Rows, pairs: isl.UnionMap) -> bool:
        """Whether strips run each pair of instances in its order."""
        dates = replace(self, marks={}).strips(rows).get_map()
        inside = pairs.intersect_domain(rows.domain).intersect_range(rows.domain)
        inside = (
            inside.eq_at_multi_union_pw_aff(outside(rows.nodes[0])) if rows.nodes[0].get_schedule_depth() else inside
        )
        return bool(inside.is_subset(dates.lex_lt_union_map(dates)))

    def loop(self, rows: Rows, domain: isl.UnionSet, *, cases: bool = True) -> isl.Schedule:
        """The loop over strips of some instances; a row at a time in the order of its nests. cases: of several ends of
        the rows, each loop has its own."""
        key = f"strips{sum(isinstance(mark, StripMark) for mark in self.marks.values())}"
        count = rows_of_strip(self.scop, self.options, rows)
        first = first_row(rows.lane.intersect_domain(rows.domain))
        names = tuple(sorted(part.get_tuple_name() for part in sets_of(rows.domain)))
        vectors, shared = not rows.together, rows.together != 1 or rows.alone
        own = self.options.parallel and rows.parallel and not rows.outer and shared
        # a row with buffers runs by itself and needs no cells: its thread has the variables; others have blocks beside
        # them in which several rows run together
        scalars, private = rows.places.scalars, rows.places.temporaries
        if rows.alone and own and rows.places.buffers:
            scalars, private = (), (*private, *scalars)
        strips = Strips(names, rows.lane, count, rows.places.buffers, scalars, vectors)
        nests = zip(rows.nodes, rows.members, strict=True)
        inner = in_sequence([self.nest(rows, node, member) for node, member in nests])
        if rows.together or rows.batch:
            inner = inner.intersect_domain(domain)
        self.marks[key] = StripMark(strips)
        inner = marked(inner, key)
        strip = divided(rows.lane.intersect_domain(domain), first, count)
        tree = inner.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(strip))
        tree = atomic_loop(tree, parallel=own)
        if cases and rows.together == 1 and any(1 < part.n_basic_set() <= _CASES for part in sets_of(domain)):
            tree = _separate(tree)
        loop = f"strips:{key}"
        self.marks[loop] = LoopMark(parallel=own, private=private if own else ())
        return marked(tree, loop)

    def around(self, rows: Rows, tree: isl.Schedule) -> isl.Schedule:
        """The strips inside of the loops that stand outside of them, the outermost one in parallel."""
        partial = rows.nodes[0].band_get_partial_schedule()
        domain = tree.get_domain()
        for member in reversed(rows.outer):
            loop = isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(member).intersect_domain(domain))
            tree = atomic_loop(tree.insert_partial_schedule(loop), parallel=member == rows.outer[0] and not rows.inside)
        if rows.outer and self.options.parallel and not rows.inside:
            name = f"around{len(self.marks)}"
            private = (*rows.places.temporaries, *rows.places.scalars)
            collapse = 2 if rows.few and rows.parallel else 1
            self.marks[name] = LoopMark(parallel=True, private=private, collapse=collapse)
            tree = marked(tree, name)
        return tree

    def nest(self, rows: Rows, node: isl.ScheduleNode, member: int) -> isl.Schedule:
        partial = node.band_get_partial_schedule()
        lane = partial.get_at(member)
        others = [partial.get_at(k) for k in range(node.band_n_member()) if k != member and k not in rows.outer]
        inner = trees.read(node.child(0))
        if not rows.together or rows.alone:
            return self.lanes(trees.nested(others, inner), lane, rows)
        tree = beside_tree(others, inner)
        if rows.together == 1 and not rows.along:
            return trees.build(tree)
        if rows.ragged is not None and rows.together > 1:
            tree = rows.ragged.parted(tree)
        return self.lanes(tree, lane, rows)

    def lanes(self, tree: trees.Tree, lane: isl.UnionPwAff, rows: Rows) -> isl.Schedule:
        """The tree with a loop over the rows around each of its statements, or sequences of them: a vector loop, or
        one that is written out."""
        match tree:
            case trees.Band(partial, body) if rows.ragged is not None and rows.ragged.is_single(tree):
                return _row_by_row(trees.build(tree), lane)
            case trees.Band(partial, body) if not trees.has_bands(body) and rows.along.issuperset(_statements(tree)):
                return self.along_rows(trees.build(body), partial, lane, rows.places.temporaries)
            case trees.Band(partial, body):
                inner = self.lanes(body, lane, rows)
                if rows.together < _SEVERAL or trees.has_bands(body):
                    return inner.insert_partial_schedule(partial.intersect_domain(inner.get_domain()))
                return self.innermost(inner, partial)
            case trees.Sequence(parts) if any(trees.has_bands(part) for part in parts):
                together = parts if rows.together else tuple(self.neighbours(parts, rows))
                return in_sequence([self.lanes(part, lane, rows) for part in together])
        inner = trees.build(tree)
        if rows.together == 1:
            return inner
        own = isl.MultiUnionPwAff.from_union_pw_aff(lane.intersect_domain(inner.get_domain()))
        made = inner.insert_partial_schedule(own)
        if rows.together >= _SEVERAL:
            band = made.get_root().child(0)
            return band.band_member_set_ast_loop_type(0, isl.ast_loop_type.unroll).get_schedule()
        if rows.ends & _statements(tree):
            return made
        name = f"rows{len(self.marks)}"
        private = tuple(self.used(inner, rows.places.temporaries))
        self.marks[name] = LoopMark(simd=True, private=private)
        return marked(made, name)

    def neighbours(self, parts: Sequence[trees.Tree], rows: Rows) -> Iterator[trees.Tree]:
        """The parts of a sequence, those without loops that follow each other as one: but where they hand on a scalar,
        which has a cell a row for all of the strip, and where one runs row by row."""
        group: list[trees.Tree] = []
        for part in parts:
            alone = trees.has_bands(part) or bool(rows.ends & _statements(part))
            if group and (alone or self.hands_on(group, part, rows.places.scalars)):
                yield _together(group)
                group = []
            if alone:
                yield part
            else:
                group.append(part)
        if group:
            yield _together(group)

    def hands_on(self, before: Sequence[trees.Tree], part: trees.Tree, scalars: Collection[str]) -> bool:
        """Whether a part uses a scalar that one of those before it sets, or sets one that they use."""
        first = self.accesses(trees.Sequence(tuple(before)))
        return any(
            array in scalars and (written or first.get(array, False))
            for array, written in self.accesses(part).items()
            if array in first
        )

    def accesses(self, tree: trees.Tree) -> dict[str, bool]:
        """The arrays that a tree's statements access, and whether they write there."""
        found: dict[str, bool] = {}
        for access in (one for name in _statements(tree) for one in self.scop.statement(name).accesses):
            found[access.array] = found.get(access.array, False) or access.is_write
        return found

    def along_rows(
        self, inner: isl.Schedule, partial: isl.MultiUnionPwAff, lane: isl.UnionPwAff, temporaries: Sequence[str]
    ) -> isl.Schedule:
        """A vector loop along each row of a strip, one after the other."""
        domain = inner.get_domain()
        name = f"rows{len(self.marks)}"
        self.marks[name] = LoopMark(simd=True, private=tuple(self.used(inner, temporaries)))
        made = marked(inner.insert_partial_schedule(partial.intersect_domain(domain)), name)
        return made.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(lane.intersect_domain(domain)))

    def innermost(self, inner: isl.Schedule, partial: isl.MultiUnionPwAff) -> isl.Schedule:
        """A loop around rows that are written out, with a mark that says so."""
        name = f"rows{len(self.marks)}"
        self.marks[name] = LoopMark(jammed=True, beside=True)
        return marked(inner.insert_partial_schedule(partial.intersect_domain(inner.get_domain())), name)

    def used(self, tree: isl.Schedule, arrays: Sequence[str]) -> Iterator[str]:
        """Of some arrays those that a tree's statements use."""
        names = {str(part.get_tuple_name()) for part in sets_of(tree.get_domain())}
        inside = {access.array for name in names for access in self.scop.statement(name).accesses}
        return (one for one in arrays if one in inside)


def with_blocks(scop: Scop, rows: Rows) -> Rows | None:
    """Rows that are written out beside each other, if there are blocks of them that share steps along the rows."""
    node, member = rows.nodes[0], rows.members[0]
    partial, members = node.band_get_partial_schedule(), range(node.band_n_member())
    tree = beside_tree(
        [partial.get_at(k) for k in members if k != member and k not in rows.outer], trees.read(node.child(0))
    )
    if has_steps(tree, rows.blocks()):
        return rows
    if rows.outer or rows.along or not are_few(scop, rows.lane, rows.domain):
        return None
    first = first_row(rows.lane.intersect_domain(rows.domain))
    found = ragged(node, tree, rows.domain, rows.lane, first, rows.together)
    return replace(rows, ragged=found) if found is not None else None


def beside_tree(others: Sequence[isl.UnionPwAff], inner: trees.Tree) -> trees.Tree:
    """What a row does that is written out beside others. others: its band's members but for the one over the rows."""
    return trees.nested(others[:-1], peeled(trees.nested(others[-1:], peeled_inside(inner))))


def _row_by_row(inner: isl.Schedule, lane: isl.UnionPwAff) -> isl.Schedule:
    """Loops of rows, one after the other, each with a text of its own: scalars of rows have numbers for subscripts."""
    own = isl.MultiUnionPwAff.from_union_pw_aff(lane.intersect_domain(inner.get_domain()))
    band = inner.insert_partial_schedule(own).get_root().child(0)
    return band.band_member_set_ast_loop_type(0, isl.ast_loop_type.unroll).get_schedule()


def _together(parts: Sequence[trees.Tree]) -> trees.Tree:
    return parts[0] if len(parts) == 1 else trees.Sequence(tuple(parts))


def _separate(tree: isl.Schedule) -> isl.Schedule:
    return tree.get_root().child(0).band_member_set_ast_loop_type(0, isl.ast_loop_type.separate).get_schedule()


def _statements(tree: trees.Tree) -> frozenset[str]:
    return frozenset(str(part.get_tuple_name()) for part in sets_of(trees.domain_of(tree)))
