"""Recurrences along rows, vectors across rows: strips of rows whose loops run innermost, over what the recurrence steps
through.

A loop that carries a chain of operations runs at the chain's latency. Where the loop around it is coincident, its
iterations (rows) are independent, and a strip of them makes a vector loop inside of the recurrence: strip-mining and
interchange (Wolfe, "More iteration space tiling", 1989), legal since no dependence leads from row to row. Nests that
follow and use the same rows' values join the strip. Cells that lie apart in memory for neighbouring rows are kept in
buffers with the rows side by side; scalars that each row uses anew get a cell a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from scopt import ir
from scopt.ir.expr import linear
from scopt.ir.marked_schedule import BandChoice, Mark, RowBuffer, StripMark, Sweep
from scopt.ir.nest import Expr, LoopMark, Max, Name
from scopt.ir.scop import Access, Array, Dependences, Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import (
    LEAST_CHAIN,
    UNKNOWN_EXTENT,
    least_strip_rows,
    operation_latency,
    strip_bytes,
    strip_rows,
)
from scopt.options import Options
from scopt.poly import trees
from scopt.poly.array_extents import extents
from scopt.poly.bands import Ordered, active, distances, zero
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import OUT, sets_of, union_of_sets, walk
from scopt.poly.linear import affine_row
from scopt.poly.set_pieces import in_band, in_sequence, marked
from scopt.scheduler.decisions.arbiter import arbitrate
from scopt.scheduler.decisions.claims import Band, Builder, Claim
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.user_sizes import fitted_rows, rounded, size_of

_TYPE = isl.schedule_node_type


@dataclass(frozen=True, slots=True, eq=False)
class Strips:
    """A tree with strips. marks, choices: as in `MarkedSchedule`."""

    tree: isl.Schedule
    marks: Mapping[str, Mark] = field(default_factory=dict)
    choices: tuple[BandChoice, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.marks)


def with_sweeps(setting: Setting, tree: isl.Schedule) -> Strips:
    """The tree with strips wherever they pay. Bands that are coincident, or wider than one member, are left alone with
    all that is below them. setting: with reductions in their order."""
    options = setting.options
    if not options.tile or not options.simd:
        return Strips(tree)
    builder = _Builder(setting, setting.scop, setting.deps.strict(), setting.dependences, options)
    root = tree.get_root()
    if root.n_children() != 1:
        return Strips(tree)
    made = builder.tree(root.child(0))
    return Strips(made, builder.marks, tuple(builder.choices.values()))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A nest, or several one after another, with one loop each over the rows. lane: whose row an instance is in."""

    nodes: tuple[isl.ScheduleNode, ...]
    members: tuple[int, ...]
    lane: isl.UnionPwAff
    buffers: tuple[RowBuffer, ...]
    scalars: tuple[str, ...]

    @property
    def domain(self) -> isl.UnionSet:
        return union_of_sets(part for node in self.nodes for part in sets_of(node.get_domain()))


@dataclass(slots=True)
class _Builder:
    """Builds the tree anew, with strips in place of some nests. choices: by the nests' statements."""

    setting: Setting
    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    marks: dict[str, Mark] = field(default_factory=dict)
    choices: dict[tuple[str, ...], BandChoice] = field(default_factory=dict)

    def tree(self, node: isl.ScheduleNode) -> isl.Schedule:
        match node.get_type():
            case _TYPE.leaf:
                return isl.Schedule.from_domain(node.get_domain())
            case _TYPE.filter:
                return self.tree(node.child(0))
            case _TYPE.band:
                rows = self.start(node)
                return self.strips(rows) if rows is not None else self.band(node)
            case _TYPE.sequence | _TYPE.set:
                return in_sequence(self.parts([node.child(k).child(0) for k in range(node.n_children())]))
        raise AssertionError(f"unexpected schedule node {node.get_type()}")

    def band(self, node: isl.ScheduleNode) -> isl.Schedule:
        """A band as it was; strips are looked for below it if it is one loop that runs in order."""
        plain = node.band_n_member() == 1 and not node.band_member_get_coincident(0)
        inner = self.tree(node.child(0)) if plain else _copied(node.child(0))
        return _with_band(inner, node)

    def parts(self, nodes: Sequence[isl.ScheduleNode]) -> list[isl.Schedule]:
        """The parts of a sequence, those that share strips as one."""
        rest, made = list(nodes), []
        while rest:
            node = rest.pop(0)
            rows = self.start(node) if node.get_type() == _TYPE.band else None
            if rows is None:
                made.append(self.tree(node))
                continue
            while rest and (longer := self.joined(rows, rest[0])) is not None:
                rows = longer
                rest.pop(0)
            made.append(self.strips(rows))
        return made

    # --- what shares strips -------------------------------------------------------------------------------------------

    def start(self, node: isl.ScheduleNode) -> _Rows | None:
        """A nest that is a recurrence along rows, if strips of its rows are the best that can become of it."""
        band = Band(self.setting, node, not self.options.parallel)
        offers: list[tuple[Claim, _Rows | None]] = []
        longest = 0
        for member in _row_members(node):
            chain = self.chain(node, member)
            longest = max(longest, chain)
            rows = self.rows_across(node, member) if chain else None
            if rows is not None:
                offers.append((self.claim(band, rows, member, chain), rows))
        if not offers:
            return None
        offers.append((_in_order(band, longest, offers[0][0].lanes), None))
        taken, choice = arbitrate(band, [claim for claim, _ in offers])
        chosen = next(rows for claim, rows in offers if claim is taken)
        if chosen is not None or choice.given_up:
            self.choices[choice.statements] = choice
        return chosen

    def rows_across(self, node: isl.ScheduleNode, member: int) -> _Rows | None:
        """The rows that a member walks through; None if strips of them can't be made, or if they need neither buffers
        nor cells of their own: then the loop over the rows can be the innermost one of all, an ordinary vector loop."""
        rows = self.rows((node,), (member,), node.band_get_partial_schedule().get_at(member))
        return rows if rows is not None and (rows.buffers or rows.scalars) else None

    def claim(self, band: Band, rows: _Rows, member: int, chain: int) -> Claim:
        """Strips of rows: a step of the chain serves a vector's lanes, and what copying rows to and fro takes is worth
        `LEAST_CHAIN` cycles a step."""
        lanes = band.work.lanes
        cycles = band.work.instances() * (chain / lanes + LEAST_CHAIN * (1 - 1 / lanes))
        names = {}
        for part in sets_of(rows.domain):
            place = _iterator(rows.lane, part)
            assert place is not None
            names[str(part.get_tuple_name())] = self.scop.statement(part.get_tuple_name()).iterators[place[0]]
        cost = cycles if band.parallel_above else band.work.parallel(cycles, 0.0, 1)
        count, user = self.count(rows), self.options.tile_sizes
        notes = rounded(user, rows_a_strip=(size_of(user, member), count)) if user else ()
        return Claim("strips of rows", f"of {count} rows", cost, _nothing, member, None, lanes=names, notes=notes)

    def joined(self, rows: _Rows, node: isl.ScheduleNode) -> _Rows | None:
        """The rows with one more nest, if it uses what they have computed and each of its rows needs only one of
        theirs."""
        if node.get_type() != _TYPE.band:
            return None
        products = [
            inner for inner in walk(node) if _is_leaf_band(inner) and contraction_of(self.scop, inner) is not None
        ]
        if products or self.depth(node) > self.depth(rows.nodes[0]):
            return None  # there is more in it than the strip
        both = rows.domain.union(node.get_domain())
        for member in _row_members(node):
            lane = rows.lane.union_add(node.band_get_partial_schedule().get_at(member))
            between = self.inside(self.dependences.must, node, both)
            used = between.intersect_domain(rows.domain).intersect_range(node.get_domain())
            if not used.is_empty() and zero(distances(between, lane)):
                return self.rows((*rows.nodes, node), (*rows.members, member), lane)
        return None

    def inside(self, pairs: isl.UnionMap, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.UnionMap:
        """Pairs of some instances that agree in everything outside a node that stands among them."""
        pairs = pairs.intersect_domain(domain).intersect_range(domain)
        if node.get_schedule_depth() == 0 or pairs.is_empty():
            return pairs
        return pairs.eq_at_multi_union_pw_aff(_outside(node))

    def rows(self, nodes: tuple[isl.ScheduleNode, ...], members: tuple[int, ...], lane: isl.UnionPwAff) -> _Rows | None:
        """Where each array of the nests is kept; None if an array can neither stay where it is nor be kept in a
        buffer."""
        rows = _Rows(nodes, members, lane, (), ())
        domain = rows.domain
        shift = {
            part.get_tuple_name(): place for part in sets_of(domain) if (place := _iterator(lane, part)) is not None
        }
        uses: dict[str, list[tuple[Statement, Access]]] = {}
        for name in shift:
            for access in self.scop.statement(name).accesses:
                uses.setdefault(access.array, []).append((self.scop.statement(name), access))
        buffers, scalars = [], []
        for name, own in uses.items():
            array = self.scop.arrays[name]
            if array.rank == 0 and array.private and any(access.is_write for _, access in own):
                if not self.expandable(array, own, nodes[0], domain, lane):
                    return None
                scalars.append(name)
                continue
            moves = [_moves(access, shift[statement.name][0]) for statement, access in own]
            if array.private and any(access.is_write for _, access in own) and not all(any(one or ()) for one in moves):
                return None  # each row would need a copy of the whole
            if not all(_runs_along(one) for one in moves):
                buffer = self.buffer(array, own, shift)
                if buffer is None:
                    return None
                buffers.append(buffer)
        return _Rows(nodes, members, lane, tuple(buffers), tuple(scalars))

    def expandable(
        self,
        array: Array,
        uses: Sequence[tuple[Statement, Access]],
        node: isl.ScheduleNode,
        domain: isl.UnionSet,
        lane: isl.UnionPwAff,
    ) -> bool:
        """Whether each value of a scalar stays in the row, and in the nests, that it was computed in."""
        if (
            array.type.volatile
            or array.type.atomic
            or any(a.kind == "may-write" or not isinstance(a.node, ir.ID) for _, a in uses)
        ):
            return False
        ranges = self.dependences.ranges[array.name]
        touched = ranges.intersect_domain(domain).union(ranges.intersect_range(domain))
        inner = self.inside(ranges, node, domain)
        return bool(touched.is_subset(inner)) and zero(distances(inner, lane))

    def buffer(
        self, array: Array, uses: Sequence[tuple[Statement, Access]], shift: dict[str, tuple[int, int]]
    ) -> RowBuffer | None:
        """A buffer with the rows side by side: one subscript of all references is the row, up to a constant."""
        offsets: set[tuple[int, int]] = set()
        for statement, access in uses:
            place = _row_subscript(array, access, *shift[statement.name])
            if place is None or not always_evaluated(statement.body, access.node):
                return None
            offsets.add(place)
        dimensions = {dimension for dimension, _ in offsets}
        writes = [(statement.name, access) for statement, access in uses if access.is_write]
        if len(dimensions) != 1 or len({name for name, _ in writes}) < len(writes):
            return None
        sizes = extents(self.scop, [access.relation for _, access in uses])
        if sizes is None or array.type.volatile or array.type.atomic or not (array.type.floating or array.type.integer):
            return None
        dimension, first = dimensions.pop(), min(offset for _, offset in offsets)
        return RowBuffer(array.name, dimension, first, max(offset for _, offset in offsets) - first, sizes)

    def depth(self, node: isl.ScheduleNode) -> int:
        """Of the deepest statement below a node."""
        return max(part.dim(isl.dim_type.set) for part in sets_of(node.get_domain()))

    def chain(self, node: isl.ScheduleNode, member: int) -> int:
        """Cycles a step of the longest chain that the innermost loops below the rows' loop carry; 0 if one of them
        carries nothing, or has a better form in register tiles or jammed rows."""
        longest = 0
        for inner in walk(node):
            if not _is_leaf_band(inner):
                continue
            others = [
                k
                for k in range(inner.band_n_member())
                if inner.get_schedule_depth() > node.get_schedule_depth() or k != member
            ]
            if any(inner.band_member_get_coincident(k) for k in others) or contraction_of(self.scop, inner) is not None:
                return 0
            if jam_of(self.scop, self.dependences, inner, self.options) is not None:
                return 0
            if others:
                longest = max(longest, self.carried_chain(inner))
        return longest

    def carried_chain(self, band: isl.ScheduleNode) -> int:
        """Cycles from an operand that an earlier iteration has computed to the result that it goes into."""
        longest = 0
        for flow in self.deps.select("flow"):
            pairs = active(isl.UnionMap.from_map(flow.relation), band)
            if pairs.is_empty() or pairs.is_subset(pairs.eq_at_multi_union_pw_aff(band.band_get_partial_schedule())):
                continue
            body = self.scop.statement(flow.sink).body
            for access in self.scop.statement(flow.sink).accesses:
                if access.array == flow.array and not access.is_write and access.node is not None:
                    longest = max(longest, _cycles_to(body, access.node, self.options.machine) or 0)
        return longest

    # --- strips -------------------------------------------------------------------------------------------------------

    def strips(self, rows: _Rows) -> isl.Schedule:
        """A parallel loop over strips around the nests, whose loops over the rows of a strip are innermost."""
        key = f"sweep{sum(isinstance(mark, StripMark) for mark in self.marks.values())}"
        count = self.count(rows)
        first = _first(rows.lane)
        names = tuple(sorted(part.get_tuple_name() for part in sets_of(rows.domain)))
        sweep = Sweep(names, rows.lane, first, count, rows.buffers, rows.scalars)
        inner = in_sequence([self.nest(node, member) for node, member in zip(rows.nodes, rows.members, strict=True)])
        self.marks[key] = StripMark(sweep)
        inner = marked(inner, key)
        place = (
            rows.lane.add(_constant(rows.lane, -first)).scale_down_val(isl.Val(count)).floor().scale_val(isl.Val(count))
        )
        strip = place.add(_constant(rows.lane, first))
        tree = inner.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(strip))
        tree = _atomic(tree, parallel=self.options.parallel)
        loop = f"strips:{key}"
        self.marks[loop] = LoopMark(parallel=self.options.parallel)
        return marked(tree, loop)

    def count(self, rows: _Rows) -> int:
        """Rows of a strip: fewer where their buffers would be too large."""
        estimates = {p.name: p.estimate for p in self.scop.parameters}
        size = sum(_bytes_a_row(self.scop.arrays[one.array], one, estimates) for one in rows.buffers)
        machine = self.options.machine
        user, least = self.options.tile_sizes, least_strip_rows(machine)
        count = fitted_rows(machine, user, rows.members[0]) if user else strip_rows(machine)
        while count > least and size * count > strip_bytes(machine):
            count = max(count // 2 // least * least, least)
        return count

    def nest(self, node: isl.ScheduleNode, member: int) -> isl.Schedule:
        partial = node.band_get_partial_schedule()
        lane = partial.get_at(member)
        others = [partial.get_at(k) for k in range(node.band_n_member()) if k != member]
        return self.lanes(trees.nested(others, trees.read(node.child(0))), lane)

    def lanes(self, tree: trees.Tree, lane: isl.UnionPwAff) -> isl.Schedule:
        """The tree with a vector loop over the rows around each of its statements, or sequences of them."""
        match tree:
            case trees.Band(partial, body):
                inner = self.lanes(body, lane)
                return inner.insert_partial_schedule(partial.intersect_domain(inner.get_domain()))
            case trees.Sequence(parts) if any(trees.has_bands(part) for part in parts):
                return in_sequence([self.lanes(part, lane) for part in parts])
        inner = trees.build(tree)
        own = isl.MultiUnionPwAff.from_union_pw_aff(lane.intersect_domain(inner.get_domain()))
        name = f"rows{len(self.marks)}"
        self.marks[name] = LoopMark(simd=True)
        return marked(inner.insert_partial_schedule(own), name)


def _in_order(band: Band, chain: int, lanes: Mapping[str, str]) -> Claim:
    """What else can become of a nest: its steps wait for each other; what is parallel is decided later. Vector loops
    can only be those over the rows, too. lanes: by statement, their iterator."""
    cycles = band.work.instances() * chain
    cost = cycles if band.parallel_above else band.work.parallel(cycles, 0.0, 1)
    wished = band.setting.wished(band.node, "parallel")
    parallel = wished if wished in band.coincident else next(iter(band.coincident), None)
    return Claim("loops along the rows", "", cost, _nothing, parallel, None, lanes=lanes)


def _nothing(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Strips are made by who asks for them, of several nests together."""
    return node


def _is_leaf_band(node: isl.ScheduleNode) -> bool:
    return node.get_type() == _TYPE.band and not any(below.get_type() == _TYPE.band for below in walk(node.child(0)))


# --- rows and their references ----------------------------------------------------------------------------------------


def _row_members(node: isl.ScheduleNode) -> list[int]:
    """The coincident members of a band that are an iterator, up to a constant, of each statement."""
    partial = node.band_get_partial_schedule()
    found = []
    for k in range(node.band_n_member()):
        if node.band_member_get_coincident(k) and all(
            _iterator(partial.get_at(k), part) is not None for part in sets_of(node.get_domain())
        ):
            found.append(k)
    return found


def _iterator(function: isl.UnionPwAff, domain: isl.Set) -> tuple[int, int] | None:
    """The function on a statement's instances is iterator + constant: the iterator's position and the constant."""
    pieces = function.intersect_domain(isl.UnionSet.from_set(domain)).get_pw_aff_list()
    if pieces.n_pw_aff() != 1:
        return None
    own = pieces.get_at(0)
    names = _parameters(own)
    row = affine_row(own, names)
    if row is None:
        return None
    count = domain.dim(isl.dim_type.set)
    moving = [k for k in range(count) if row[k]]
    if len(moving) != 1 or row[moving[0]] != 1 or any(row[count:-1]):
        return None
    return moving[0], row[-1]


def _parameters(thing: isl.PwAff | isl.PwMultiAff | isl.Set) -> list[str]:
    return [str(thing.get_dim_name(isl.dim_type.param, k)) for k in range(thing.dim(isl.dim_type.param))]


def _subscripts(access: Access) -> list[tuple[int, ...] | None]:
    """For each subscript its row of coefficients: of the iterators, of the parameters, and the constant."""
    if not access.relation.is_single_valued():
        return [None] * access.relation.dim(OUT)
    function = access.relation.as_pw_multi_aff()
    names = _parameters(function)
    return [affine_row(function.get_pw_aff(k), names) for k in range(function.dim(OUT))]


def _moves(access: Access, iterator: int) -> list[int] | None:
    """By how much each subscript moves from row to row; None if that isn't always the same."""
    rows = _subscripts(access)
    return None if any(row is None for row in rows) else [row[iterator] for row in rows if row is not None]


def _runs_along(moves: list[int] | None) -> bool:
    """Whether neighbouring rows refer to neighbouring cells, or all to the same one."""
    return moves is not None and not any(moves[:-1]) and (not moves or moves[-1] in (0, 1))


def _row_subscript(array: Array, access: Access, iterator: int, shift: int) -> tuple[int, int] | None:
    """Which subscript is the row, and the constant to be added to the row; None if there is no such subscript, or the
    reference isn't a plain one."""
    rows = _subscripts(access)
    node: ir.Node | None = access.node
    for _ in range(array.rank):
        node = node.name if isinstance(node, ir.ArrayRef) else None
    if (
        not isinstance(node, ir.ID)
        or access.kind == "may-write"
        or len(rows) != array.rank
        or any(row is None for row in rows)
    ):
        return None
    moving = [k for k, row in enumerate(rows) if row is not None and row[iterator]]
    if len(moving) != 1:
        return None
    row = rows[moving[0]]
    assert row is not None
    others = [*row[:iterator], *row[iterator + 1 : -1]]
    return (moving[0], row[-1] - shift) if row[iterator] == 1 and not any(others) else None


def _cycles_to(root: ir.Node, leaf: ir.Node, machine: Machine) -> int | None:
    """Latencies of the operations on the way from an operand to the whole; None if it isn't part of it."""
    if root is leaf:
        return 0
    for child in root.parts:
        below = _cycles_to(child, leaf, machine)
        if below is not None:
            op = root.op.removesuffix("=") if isinstance(root, ir.BinaryOp | ir.Assignment) else ""
            return below + operation_latency(op, machine)
    return None


def _bytes_a_row(array: Array, buffer: RowBuffer, estimates: Mapping[str, int | None]) -> int:
    """What one row of a buffer takes, about."""
    cells = 1
    for k, extent in enumerate(buffer.extents):
        if k != buffer.dimension:
            cells *= max(
                1, *(_estimate(one, estimates) for one in (extent.args if isinstance(extent, Max) else (extent,)))
            )
    return (
        cells * (max(array.type.bits, 32) if array.type.integer else 32 if array.type.spelling == "float" else 64) // 8
    )


def _estimate(extent: Expr, estimates: Mapping[str, int | None]) -> int:
    terms, constant = linear(extent)
    known = {x: estimates.get(x.name) or UNKNOWN_EXTENT for x in terms if isinstance(x, Name)}
    return sum(terms[x] * value for x, value in known.items()) + constant


def _first(lane: isl.UnionPwAff) -> int:
    """The first row, if that is a constant; else 0."""
    rows = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(lane).range())
    row = affine_row(rows.dim_min(0).coalesce(), _parameters(rows))
    return row[-1] if row is not None and not any(row[:-1]) else 0


# --- pieces of schedules ----------------------------------------------------------------------------------------------


def _outside(node: isl.ScheduleNode) -> isl.MultiUnionPwAff:
    """The schedule outside a node, for all statements of the bands around it."""
    while node.parent().get_type() != _TYPE.band:
        node = node.parent()
    return node.get_prefix_schedule_multi_union_pw_aff()


def _constant(like: isl.UnionPwAff, value: int) -> isl.UnionPwAff:
    domain = isl.UnionMap.from_union_pw_aff(like).domain()
    return isl.UnionPwAff.val_on_domain(domain, isl.Val(value))


def _atomic(tree: isl.Schedule, *, parallel: bool) -> isl.Schedule:
    band = tree.get_root().child(0).band_set_permutable(1)
    band = band.band_member_set_ast_loop_type(0, isl.ast_loop_type.atomic)
    return band.band_member_set_coincident(0, int(parallel)).get_schedule()


def _copied(node: isl.ScheduleNode) -> isl.Schedule:
    """The subtree at a node as a schedule of its own."""
    match node.get_type():
        case _TYPE.leaf:
            return isl.Schedule.from_domain(node.get_domain())
        case _TYPE.band:
            return _with_band(_copied(node.child(0)), node)
        case _TYPE.sequence | _TYPE.set:
            return in_sequence([_copied(node.child(k).child(0)) for k in range(node.n_children())])
    return _copied(node.child(0))


def _with_band(inner: isl.Schedule, node: isl.ScheduleNode) -> isl.Schedule:
    """A schedule inside of a band like another one."""
    partial = node.band_get_partial_schedule()
    members = [partial.get_at(k).intersect_domain(inner.get_domain()) for k in range(node.band_n_member())]
    return in_band(inner, members, node)
