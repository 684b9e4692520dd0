"""Tiles that keep arrays in contiguous panels: statements that use these, copies before and after.

A tile of a `PackedTile` runs in this order: each thread points to panels of its own; cells whose values the tile gets
from outside are copied in; the statements; cells whose values are used outside, or are left at the end of the region,
are copied out. What depends on a tile's cells runs before the tile or after it, copies and all.
Source: Lam, Rothberg and Wolf, "The cache performance and optimizations of blocked algorithms" (1991), section 4:
  copied blocks have no conflicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.lower.body_syntax import assignment, call, integer
from scopt.astgen.lower.panel_turns import PanelTurns
from scopt.astgen.lower.strip_cells import Copied
from scopt.astgen.lower.strip_statements import Names, minus, plus, statement_of, subscripts_of
from scopt.diagnostics import InternalError
from scopt.ir.chosen_values import choices, element_type, whole_choice
from scopt.ir.marked_schedule import Mark, PackedTile, Panel, PanelDimension
from scopt.ir.nest import Const, LoopMark
from scopt.ir.scop import Access, CType, Dependences, Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.body_rewriting import with_references
from scopt.poly.isl_utils import OUT, SET, compact, joined, maps_of, sets_of
from scopt.poly.linear import affine_row
from scopt.poly.set_pieces import coordinate, marked


class Place(Struct, frozen=True):
    """Where a panel is. name: of what references use. memory: of what has a panel for each thread, one of which `name`
    points to, or None."""

    name: str
    memory: str | None


class PanelTile(Copied, eq=False):
    """What a packed tile becomes. prefix: ``{ S[…] -> [p0, …] }``, the loops over tiles and those around them. places:
    by array.
    marks: of all loops, by name; those of the copies are added. turns: of all tiles' copies, likewise."""

    tile: PackedTile
    names: Names
    places: Mapping[str, Place]
    marks: dict[str, Mark]
    turns: PanelTurns

    @staticmethod
    def of(
        scop: Scop,
        deps: Dependences,
        tile: PackedTile,
        node: isl.ScheduleNode,
        names: Names,
        marks: dict[str, Mark],
        turns: PanelTurns,
        *,
        parallel: bool,
    ) -> PanelTile:
        """node: the tile's mark. parallel: a loop around it runs in parallel. Raises InternalError if a panel doesn't
        hold what a tile refers to."""
        prefix = node.get_prefix_schedule_relation().intersect_domain(node.get_domain())
        places = {one.array: Place(*names.panel(one, parallel=parallel)) for one in tile.panels}
        made = PanelTile(scop, deps, prefix, [], {}, [], tile, names, places, marks, turns)
        for part in sets_of(node.get_domain()):
            made.expand(part)
        return made

    @property
    def private(self) -> tuple[str, ...]:
        """What each thread has of its own."""
        return tuple(place.name for place in self.places.values() if place.memory is not None)

    @property
    def pointers(self) -> dict[str, str]:
        """What the choices set, by their names."""
        return dict(zip(self.choices, self.private, strict=True))

    # --- statements ---------------------------------------------------------------------------------------------------

    def expand(self, domain: isl.Set) -> None:
        """The statement in place of an original one, over ``{ name[o, …, i, …] }``: the origins come first."""
        original = self.scop.statement(domain.get_tuple_name())
        name = self.names.statement(f"{original.name}_packed")
        origins = [self.origin(k, domain) for k in range(len(self.tile.origins))]
        expansion = domain.identity().reset_tuple_id(OUT)
        for origin in reversed(origins):
            expansion = origin.flat_range_product(expansion)
        expansion = expansion.set_tuple_name(OUT, name).coalesce()
        self.expansions[name] = expansion

        def reference(access: Access, node: ir.Node) -> ir.Node | None:
            panel = self.panel(access.array)
            return self.reference(panel, subscripts_of(node)) if panel is not None else None

        body, become = with_references(original, reference)
        # vectors are blended; and a panel's cells are nobody else's, so that they may be written at any time
        body = whole_choice(body, self.type_of) or choices(body, self.is_own, self.type_of) or body
        nodes = set(walk(body))
        moved = (
            self.moved(access, become.get(access.node, access.node) if access.node is not None else None, expansion)
            for access in original.accesses
        )
        accesses = tuple(access for access in moved if access.node is None or access.node in nodes)
        long = CType(self.scop.long_type, integer=True, bits=64)
        iterators = (*(_name(k) for k in range(len(origins))), *original.iterators)
        types = (*(long for _ in origins), *original.iterator_types)
        own = expansion.range().coalesce()
        self.statements.append(Statement(name, own, iterators, types, body, accesses, original.location))

    def type_of(self, reference: ir.Node) -> str | None:
        """How the type of a scalar, or of an element, is spelled; None of anything else."""
        return element_type((*self.scop.arrays.values(), *self.names.arrays.values()), reference)

    def is_own(self, reference: ir.Node) -> bool:
        """Whether a reference is to a panel, or to a scalar that each thread has of its own."""
        if isinstance(reference, ir.ID):
            return any(one.spelling == reference.name and one.private for one in self.scop.arrays.values())
        while isinstance(reference, ir.ArrayRef):
            reference = reference.name
        return isinstance(reference, ir.ID) and reference.name in {place.name for place in self.places.values()}

    def panel(self, array: str) -> Panel | None:
        return next((one for one in self.tile.panels if one.array == array), None)

    def origin(self, position: int, domain: isl.Set) -> isl.Map:
        """``{ S[…] -> [o] }``; the same for all of a tile."""
        own = isl.UnionSet.from_set(domain)
        origin = isl.Map.from_union_map(
            isl.UnionMap.from_union_pw_aff(self.tile.origins[position].intersect_domain(own))
        )
        there = self.prefix.intersect_domain(own).reverse().apply_range(isl.UnionMap.from_map(origin))
        if not there.is_single_valued():
            raise InternalError(
                f"{self.scop.location}: the panels of a tile of {domain.get_tuple_name()} begin at different columns"
            )
        return origin

    def reference(self, panel: Panel, subscripts: Sequence[ir.Node]) -> ir.Node:
        """A cell of a panel. subscripts: the array's."""
        node: ir.Node = ir.ID(self.places[panel.array].name)
        for one in panel.dimensions:
            node = ir.ArrayRef(node, _place(one, subscripts))
        return node

    def moved(self, access: Access, node: ir.Node | None, expansion: isl.Map) -> Access:
        """An access of the new statement. Raises InternalError if it is outside of its panel."""
        relation = expansion.reverse().apply_range(access.relation)
        panel = self.panel(access.array)
        if panel is None:
            return Access(access.array, access.kind, relation, node, access.location)
        if not relation.is_single_valued():
            raise InternalError(
                f"{self.scop.location}: '{access.array}' is packed, but a reference touches several of its cells"
            )
        place = self.places[panel.array].name
        inside = _in_panel(panel, relation).set_tuple_name(OUT, place)
        kept = inside
        for k, one in enumerate(panel.dimensions):
            if one.origin is not None:
                assert isinstance(one.cells, Const)
                kept = kept.lower_bound_val(OUT, k, isl.Val(0)).upper_bound_val(OUT, k, isl.Val(one.cells.value - 1))
        if not kept.is_equal(inside):
            raise InternalError(
                f"{self.scop.location}: a tile refers to cells of '{access.array}' outside of its panel"
            )
        return Access(place, access.kind, inside, node, access.location)

    # --- copies -------------------------------------------------------------------------------------------------------

    def before(self) -> Iterator[isl.Schedule]:
        """A thread's choice of its panels, and copies of what comes from outside."""
        for place in self.places.values():
            if place.memory is not None:
                yield self.choice(place.name, place.memory)
        for panel in self.tile.panels:
            yield from self.copies(
                panel,
                [(a, self.brought(s, a)) for s, a in self.accesses(panel.array) if a.kind != "write"],
                inwards=True,
            )

    def after(self) -> Iterator[isl.Schedule]:
        for panel in self.tile.panels:
            yield from self.copies(
                panel, [(a, self.needed(s, a)) for s, a in self.accesses(panel.array) if a.is_write], inwards=False
            )
        for place in self.places.values():
            if place.memory is not None:
                yield self.end_of_use(place.name)

    def choice(self, pointer: str, memory: str) -> isl.Schedule:
        """``pointer = memory[thread]``"""
        thread = call(self.names.thread, [ir.ID(self.names.threads)])
        statement = self.everywhere(f"{pointer}_choice", ir.ID(pointer), ir.ArrayRef(ir.ID(memory), thread))
        self.choices.append(statement.name)
        return isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain))

    def end_of_use(self, pointer: str) -> isl.Schedule:
        """``pointer = 0``. With a statement at both ends of each tile, isl can't make loops of their own, outside of a
        parallel one, for copies that only the first or the last tile has."""
        return isl.Schedule.from_domain(
            isl.UnionSet.from_set(self.everywhere(f"{pointer}_end", ir.ID(pointer), integer(0)).domain)
        )

    def everywhere(self, wish: str, target: ir.Node, value: ir.Node) -> Statement:
        """An assignment for each tile."""
        name = self.names.statement(wish)
        # where nothing runs, it does no harm: a convex set makes no conditions
        places = isl.Set.from_basic_set(sets_of(self.prefix.range())[0].coalesce().simple_hull())
        domain = places.intersect_params(self.scop.context).set_tuple_name(name)
        statement = statement_of(
            self.scop, name, domain, [f"${k}" for k in range(self.depth)], assignment(target, value)
        )
        self.statements.append(statement)
        return statement

    def brought(self, statement: Statement, access: Access) -> isl.UnionSet:
        """The instances that a cell is copied in for: what may be written, or not, keeps its value else."""
        if access.is_write:
            return isl.UnionSet.from_set(access.relation.domain())
        return self.exposed(statement, access)

    def copies(
        self, panel: Panel, parts: Sequence[tuple[Access, isl.UnionSet]], *, inwards: bool
    ) -> Iterator[isl.Schedule]:
        """Loops that copy the cells that some instances refer to, row by row:
        ``{ name[p0, …, o, …, row, …, column] }``."""
        cells = None
        for access, instances in parts:
            for relation in maps_of(self.prefix.intersect_domain(instances)):
                outer = relation
                for origin in panel.origins:
                    outer = outer.flat_range_product(self.origin(origin, relation.domain()))
                found = (
                    outer.reverse().apply_range(access.relation.intersect_domain(relation.domain())).wrap().flatten()
                )
                cells = found if cells is None else cells.union(found)
        if cells is None or cells.is_empty():
            return
        name = self.names.statement(f"{panel.array}_{'in' if inwards else 'out'}")
        domain = _convex(cells).set_tuple_name(name)
        copied = self.copied(name, domain, panel, inwards=inwards)
        turned = self.turns.add(self.scop, copied, panel, self.names, inwards=inwards)
        self.statements += [copied] if turned is None else [copied, turned]
        first = self.depth + len(panel.origins)
        *rows, column = (coordinate(domain, k) for k in range(first, domain.dim(SET)))
        loop = f"copy:{name}"
        along = panel.dimensions[-1].terms == ((domain.dim(SET) - 1 - first, 1),)
        self.marks[loop] = LoopMark(simd=along)
        tree = isl.Schedule.from_domain(isl.UnionSet.from_set(domain)).insert_partial_schedule(joined([column]))
        yield marked(tree, loop).insert_partial_schedule(joined(rows))

    def copied(self, name: str, domain: isl.Set, panel: Panel, *, inwards: bool) -> Statement:
        """One cell to its panel, or back."""
        array = self.scop.arrays[panel.array]
        cells = self.iterators(panel)
        there: ir.Node = ir.ID(array.spelling)
        for cell in cells:
            there = ir.ArrayRef(there, ir.ID(cell))
        here = self.reference(panel, [ir.ID(cell) for cell in cells])
        iterators = [*(f"${k}" for k in range(self.depth)), *map(_name, panel.origins), *cells]
        return statement_of(
            self.scop, name, domain, iterators, assignment(here, there) if inwards else assignment(there, here)
        )

    def iterators(self, panel: Panel) -> Sequence[str]:
        """Names for an array's subscripts: the iterators that stand there, in the reference that has most of them, of
        the deepest statement."""
        uses = sorted(self.accesses(panel.array), key=lambda use: -len(use[0].iterators))
        found = [self.subscript_iterators(statement, access) for statement, access in uses]
        names = max(found, key=lambda one: len(set(filter(None, one))))
        known = [name if name and name not in names[:k] else None for k, name in enumerate(names)]
        return [name or self.names.new(f"cell{k}") for k, name in enumerate(known)]

    def subscript_iterators(self, statement: Statement, access: Access) -> Sequence[str | None]:
        """The one iterator that each subscript moves with, if there is one."""
        parameters, found = [p.name for p in self.scop.parameters], list[str | None]()
        function = access.relation.as_pw_multi_aff()
        for k in range(function.dim(OUT)):
            row = affine_row(function.get_pw_aff(k), parameters)
            moving = [name for name, factor in zip(statement.iterators, row or (), strict=False) if factor]
            found.append(moving[0] if len(moving) == 1 else None)
        return found


def _place(one: PanelDimension, subscripts: Sequence[ir.Node]) -> ir.Node:
    """A subscript of a panel. What is subtracted from has our own type, lest unsigned numbers run round."""
    positive = [subscripts[position] for position, sign in one.terms if sign > 0]
    negative = [subscripts[position] for position, sign in one.terms if sign < 0]
    if one.origin is None:
        return positive[0]
    origin = ir.ID(_name(one.origin))
    value = minus(positive[0], origin) if positive else ir.UnaryOp("-", origin)
    for other in positive[1:]:
        value = ir.BinaryOp("+", value, other)
    for other in negative:
        value = minus(value, other)
    return plus(value, -one.first)


def _in_panel(panel: Panel, relation: isl.Map) -> isl.Map:
    """``{ [o, …, i, …] -> [place] }`` for a reference to the array, origins first."""
    function, local = relation.as_pw_multi_aff(), isl.LocalSpace.from_space(relation.get_space().domain())
    made = isl.MultiPwAff.zero(function.get_space())
    for k, one in enumerate(panel.dimensions):
        value = isl.PwAff.zero_on_domain(local)
        for position, sign in one.terms:
            value = value.add(function.get_pw_aff(position).scale_val(isl.Val(sign)))
        if one.origin is not None:
            value = value.sub(isl.PwAff.var_on_domain(local, SET, one.origin)).add_constant_val(isl.Val(-one.first))
        made = made.set_pw_aff(k, value)
    return isl.Map.from_multi_pw_aff(made).intersect_domain(relation.domain())


def _convex(cells: isl.Set) -> isl.Set:
    """The same cells, in one piece if they are its integer points."""
    hull = isl.Set.from_basic_set(cells.simple_hull())
    return hull if hull.is_subset(cells) else compact(cells)


def _name(origin: int) -> str:
    """The iterator that holds an origin; no C identifier is like it."""
    return f"$panel{origin}"
