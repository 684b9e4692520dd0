"""A `Scop` of what a walk through a region has found: spaces, context, guard, aliasing, and what is said of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import islpy as isl
from msgspec import Struct

from scopt.diagnostics import Refusal, Remark
from scopt.frontend.extraction.affine_names import AffineNames
from scopt.frontend.extraction.dead_behind import is_dead_behind
from scopt.frontend.extraction.likely_values import guessed_values
from scopt.frontend.extraction.region_arrays import RegionArrays
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.extraction.region_reach import RegionReach
from scopt.frontend.extraction.region_walk import RawStatement, RegionWalk
from scopt.frontend.model.access_names import RawAccess
from scopt.frontend.model.aliasing import Aliasing, Names as AliasNames, check_aliasing, loaded_cells
from scopt.frontend.model.assumptions import long_values, summable, too_large, typed_values
from scopt.frontend.model.bound_wishes import bound
from scopt.frontend.model.order import Leaf, Loop, Sequence, Tree, order_map, schedule_tree
from scopt.frontend.model.value_ranges import subscript_ranges
from scopt.frontend.normalize.members import Hoisted
from scopt.frontend.normalize.small_returns import small_returns
from scopt.frontend.syntax.library_calls import library_calls
from scopt.frontend.syntax.pointees import pointees_of
from scopt.frontend.syntax.pointer_slots import Slot, member_slot
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import is_value
from scopt.frontend.syntax.taken_functions import taken_functions
from scopt.frontend.syntax.whole_arrays import whole_array
from scopt.ir.scop import Access, Guard, Parameter, Scop, Statement
from scopt.poly.dependences import classify_private
from scopt.poly.isl_utils import few_pieces, to_statement_space, universe_params


class ScopParts(Struct, frozen=True, eq=False):
    """A region that has been walked through. name: of the SCoP. known: of the parameters, where arrays hold rows.
    assume_apart: different pointers are taken to lead to different memory, in unmarked regions too."""

    walk: RegionWalk
    name: str
    known: isl.Set
    assume_apart: bool

    @property
    def names(self) -> RegionNames:
        return self.walk.names

    @property
    def affine(self) -> AffineNames:
        return self.walk.affine

    @property
    def arrays(self) -> RegionArrays:
        return self.walk.arrays

    @property
    def statements(self) -> list[RawStatement]:
        return self.walk.statements

    def scop(self, tree: Tree) -> Scop:
        """The SCoP whose statements run in the order of `tree`."""
        context = universe_params()
        for parameter in self.affine.parameters.values():
            if not parameter.type.signed:
                context = context.intersect(isl.Set(f"[{parameter.name}] -> {{ : {parameter.name} >= 0 }}"))
        domains = {
            raw.name: few_pieces(to_statement_space(raw.domain, raw.name, raw.iterators)) for raw in self.statements
        }
        bodies = [raw for raw in self.statements if not raw.kill]
        body_tree = _without(tree, {raw.name for raw in self.statements if raw.kill})
        assert body_tree is not None
        statements = tuple(self.statement(raw, domains[raw.name]) for raw in bodies)
        kills = tuple(self.statement(raw, domains[raw.name]) for raw in self.statements if raw.kill)
        dead = frozenset(array.name for name, array in self.arrays.by_name.items() if is_dead_behind(self.names, name))
        order, by_name = order_map(tree, domains), {array.name: array for array in self.arrays.by_name.values()}
        arrays = classify_private(by_name, statements, kills, order, dead, self.walk.anew)
        typed = typed_values(self.affine.parameters.values())
        self.affine.assumed.values = self.affine.assumed.values.intersect(
            summable(self.affine.parameters.values(), statements, context.intersect(typed))
        )
        context = context.intersect(self.affine.assumed.values).intersect(self.known)
        aliasing = self.aliasing((*statements, *kills), context)
        guard, context = self.guard(aliasing, statements, typed), context.intersect(aliasing.holds)
        context = context.intersect(self.in_long(guard.fits)) if guard is not None else context
        return Scop(
            name=self.name,
            location=self.names.region.location,
            context=context,
            parameters=tuple(self.estimated(domains, statements)),
            arrays=arrays,
            statements=statements,
            kills=kills,
            schedule=schedule_tree(body_tree, {raw.name: domains[raw.name] for raw in bodies}),
            order=order,
            reserved=self.names.tu.reserved | {one.symbol.name for one in self.names.hoisted},
            taken=taken_functions(self.names.tu),
            typedefs=self.types(),
            long_type=self.names.tu.long_type,
            long_suffix=self.names.tu.long_suffix,
            assumptions=self.assumptions(aliasing, typed),
            guard=guard,
            prologue=tuple(one.text for one in self.names.hoisted),
            epilogue=self.names.exchanged.behind,
            exchanged=self.names.exchanged.form,
            by_value=self.by_value(),
            library=library_calls(self.names.tu, (one.body for one in statements)),
            returns=small_returns(self.names.tu, (one.body for one in statements)),
            narrowed=self.names.narrowed,
            marked=self.names.region.marked,
            baked=self.walk.sized,
            constants=frozenset(self.names.region.symbolic),
            row_ends=frozenset(one.symbol.name for one in self.names.hoisted if one.cell is not None and one.reads),
            directives=bound(self.names.region.pragmas, ((raw.name, raw.iterators, raw.loops) for raw in bodies)),
        )

    def assumptions(self, aliasing: Aliasing, typed: isl.Set) -> tuple[Remark, ...]:
        """What is taken for granted. typed: what the parameters' types say anyway."""
        return (
            *aliasing.remarks,
            *self.taken(typed),
            *self.trusted(),
            *self.walk.unknown,
            *map(_as_a_whole, self.walk.obstacles.values()),
            *map(_in_stages, self.walk.stages.values()),
        )

    def types(self) -> frozenset[str]:
        """Names of types, but for those that variables have here."""
        symbols = self.names.symbols
        own = {name for name, symbol in symbols.items() if symbol.kind == "typedef"}
        return frozenset(own | {name for name in self.names.tu.typedefs if name not in symbols or name in own})

    def by_value(self) -> frozenset[str]:
        """Variables of the function around the region, numbers and pointers."""
        found = (name for name, symbol in self.names.symbols.items() if is_value(symbol))
        return frozenset(found) - self.names.local_names

    def guard(self, aliasing: Aliasing, statements: tuple[Statement, ...], typed: isl.Set) -> Guard | None:
        """What the program has to test. typed: what the parameters' types say anyway."""
        both = self.affine.assumed.values.intersect(self.known).intersect(aliasing.holds)
        fits = too_large(self.affine.parameters.values(), statements, typed.intersect(self.affine.assumed.values))
        # What is assumed is tested in the long type too, where a value beyond it might pass.
        tested = both.gist(typed)
        wide = (p for p in self.affine.parameters.values() if not p.type.signed and p.type.bits >= 64)
        fits = (*fits, *(p.spelling for p in wide if p.name in self.affine.assumed.long or _involves(tested, p.name)))
        fitting = self.in_long(fits)
        fits = tuple(name for name in dict.fromkeys(fits) if not _implies_long(both, name))
        assumed = both.intersect(fitting).gist(typed.intersect(fitting)).coalesce()
        needed = aliasing.apart or aliasing.tests or fits or not assumed.plain_is_universe()
        return Guard(assumed, aliasing.apart, fits, aliasing.tests) if needed else None

    def in_long(self, spellings: Collection[str]) -> isl.Set:
        """Parameter set where the parameters of these spellings fit into the long type."""
        return long_values(p for p in self.affine.parameters.values() if p.spelling in spellings)

    def taken(self, typed: isl.Set) -> Iterator[Remark]:
        """What is said of the values that are tested."""
        exact = "C's arithmetic is exact and conversions change nothing"
        exact += ", and that no check fails" if self.affine.assumed.checks else ""
        flat = ", ".join(f"'{name}'" for name in sorted(self.arrays.shapes))
        for id, values, what in (
            ("assume.rows", self.known, f"the rows of {flat} don't overlap"),
            ("assume.values", self.affine.assumed.values, exact),
        ):
            tested = values.gist(typed).coalesce()
            if not tested.plain_is_universe():
                listed = str(tested).partition("{")[2].rpartition("}")[0].strip(" :")
                message = f"the program tests where the region begins that {what}: {listed}"
                yield Remark("analysis", id, message, self.names.region.location)

    def trusted(self) -> Iterator[Remark]:
        """That data are taken to stay within what parameters are declared with."""
        if self.walk.trusted:
            names = ", ".join(f"'{name}'" for name in self.walk.trusted)
            message = f"taken to have no more elements than declared, as in every marked region: {names}"
            yield Remark("analysis", "assume.size", message, self.names.region.location)

    def aliasing(self, statements: tuple[Statement, ...], context: isl.Set) -> Aliasing:
        names = AliasNames(
            self.names.symbols,
            self.arrays.by_name,
            self.written_keys(),
            frozenset(self.affine.parameters).union(*(one.reads for one in self.names.hoisted)),
            self.names.tu.defined_functions,
            statements,
            context,
            loaded_cells((one.symbol, one.cell) for one in self.names.hoisted),
            self.names.tu.strict_aliasing,
            self.subscript_ranges,
            self.reach(),
            lambda: pointees_of(self.names.tu),
            {one.symbol.name: slot for one in self.names.hoisted if (slot := self.slot(one)) is not None},
            lambda name: whole_array(self.names.tu, self.names.region, name),
        )
        return check_aliasing(self.names.region, names, assume_apart=self.assume_apart)

    def slot(self, one: Hoisted) -> Slot | None:
        """The member that a name for a pointer has its value from."""
        if one.cell is None or not one.symbol.pointer or not one.cell.path:
            return None
        return member_slot(Types(self.names.symbols, self.names.tu.structs), one.cell.struct, one.cell.path)

    def subscript_ranges(self) -> Mapping[str, tuple[int, int]]:
        """The first subscripts of names, where types and constants bound them."""
        return subscript_ranges(self.names.items, self.names.symbols, *self.names.typed_names())

    def reach(self) -> RegionReach:
        """What is asked for the memory that subscripts reach which aren't affine."""
        names = self.names
        hoisted = {one.symbol.name for one in names.hoisted}
        read = {parameter.spelling for parameter in self.affine.parameters.values()} | self.arrays.by_name.keys()
        return RegionReach(names, self.arrays.by_name, (read | hoisted) - names.effects.changed)

    def written_keys(self) -> frozenset[str]:
        """The arrays, by their keys, that statements write."""
        names = {access.array for raw in self.statements for access in raw.accesses if access.kind != "read"}
        return frozenset(key for key, array in self.arrays.by_name.items() if array.name in names)

    def statement(self, raw: RawStatement, domain: isl.Set) -> Statement:
        accesses = tuple(
            Access(a.array, a.kind, _relation(a, raw).intersect_domain(domain).coalesce(), a.node, a.location)
            for a in raw.accesses
        )
        return Statement(raw.name, domain, raw.iterators, raw.types, raw.body, accesses, raw.location)

    def estimated(self, domains: Mapping[str, isl.Set], statements: Iterable[Statement]) -> Iterable[Parameter]:
        """Parameters with a guess of their values: the largest that keep subscripts inside constant extents."""
        by_name = {array.name: array for array in self.arrays.by_name.values()}
        guesses = guessed_values(
            [
                (access.relation.range(), position, size)
                for statement in statements
                for access in statement.accesses
                for position, size in enumerate(by_name[access.array].sizes)
                if size is not None and size > 0
            ]
        )
        for parameter in self.affine.parameters.values():
            estimate = parameter.estimate if parameter.estimate is not None else guesses.get(parameter.name)
            yield Parameter(parameter.name, parameter.spelling, parameter.type, estimate)


def _relation(access: RawAccess, raw: RawStatement) -> isl.Map:
    """``{ S[i] -> A[a] }`` from the parameter-space form, in which the iterators are parameters."""
    space = isl.Set(f"{{ {raw.name}[{', '.join(raw.iterators)}] }}")
    relation = isl.Map.from_domain_and_range(space, access.subscripts)
    for position, iterator in enumerate(raw.iterators):
        index = relation.find_dim_by_name(isl.dim_type.param, iterator)
        if index >= 0:
            relation = relation.equate(isl.dim_type.param, index, isl.dim_type.in_, position).project_out(
                isl.dim_type.param, index, 1
            )
    return relation


def _as_a_whole(refusal: Refusal) -> Remark:
    """What is said of a statement that is executed as a whole."""
    reason = refusal.remark
    message = f"this is executed as a whole in each iteration of the loops around it: {reason.message}"
    return Remark("analysis", "statement.opaque", message, reason.location, reason.hint)


def _in_stages(refusal: Refusal) -> Remark:
    """What is said of a statement in a loop that goes in stages."""
    reason = refusal.remark
    return Remark("analysis", "statement.stages", reason.message, reason.location, reason.hint)


def _involves(values: isl.Set, name: str) -> bool:
    position = values.find_dim_by_name(isl.dim_type.param, name)
    return bool(position >= 0 and values.involves_dims(isl.dim_type.param, position, 1))


def _implies_long(values: isl.Set, name: str) -> bool:
    """Whether a test of a parameter, read as one of the long type, fails where it isn't of that type."""
    return bool(values.is_subset(isl.Set(f"[{name}] -> {{ : {name} >= 1 }}")))


def _without(tree: Tree, names: set[str]) -> Tree | None:
    """The tree less some leaves; what becomes empty goes too."""
    match tree:
        case Leaf(name):
            return None if name in names else tree
        case Loop(iterator, direction, body):
            inner = _without(body, names)
            return None if inner is None else Loop(iterator, direction, inner)
        case Sequence(parts):
            kept = tuple(part for old in parts if (part := _without(old, names)) is not None)
            return None if not kept else kept[0] if len(kept) == 1 else Sequence(kept)
