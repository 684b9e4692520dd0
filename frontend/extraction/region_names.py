"""The names of a region: each with one meaning; what the region writes, and what gets its value in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Location, Refusal
from scopt.frontend.extraction.isl_words import ISL_WORDS
from scopt.frontend.extraction.plain_pointers import named_members, with_plain_choices, with_plain_pointers
from scopt.frontend.extraction.whole_structures import whole_structures
from scopt.frontend.model.affine import NotAffine
from scopt.frontend.model.asked_products import asked_products
from scopt.frontend.model.choice_variables import with_choice_variables
from scopt.frontend.model.narrow_divisions import with_narrow_divisions
from scopt.frontend.model.narrow_variables import with_narrow_variables
from scopt.frontend.model.products import hoist_products
from scopt.frontend.model.row_pointers import with_rows
from scopt.frontend.model.sizes import hoist_sizes
from scopt.frontend.normalize.branch_values import with_branch_values
from scopt.frontend.normalize.called_bodies import with_called_bodies
from scopt.frontend.normalize.choosing_calls import with_choosing_calls
from scopt.frontend.normalize.chosen_distances import with_chosen_distances
from scopt.frontend.normalize.commas import without_commas
from scopt.frontend.normalize.compound_literals import without_compound_literals
from scopt.frontend.normalize.constant_scalars import with_constant_scalars
from scopt.frontend.normalize.dereferenced import dereferenced
from scopt.frontend.normalize.direction_tables import without_direction_tables
from scopt.frontend.normalize.exchanged_pointers import ExchangedPointers, Surroundings, with_exchanged_pointers
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.failing_checks import with_plain_checks
from scopt.frontend.normalize.flat_pixels import with_flat_pixels
from scopt.frontend.normalize.forward_substitution import LocalNames, substituted_locals
from scopt.frontend.normalize.initializers import with_assigned_lists
from scopt.frontend.normalize.inlining import inlined_calls, written_choices
from scopt.frontend.normalize.local_tables import with_static_tables, without_tables
from scopt.frontend.normalize.loops_by_rows import RowLoops, with_loops_by_rows
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.memory_calls import with_memory_loops
from scopt.frontend.normalize.named_numbers import with_named_numbers
from scopt.frontend.normalize.normal import normalized, straight_before
from scopt.frontend.normalize.outer_products import with_outer_products
from scopt.frontend.normalize.plain_switches import without_switches
from scopt.frontend.normalize.scalar_copies import without_copies
from scopt.frontend.normalize.scalar_structs import with_scalar_structs
from scopt.frontend.normalize.separate_updates import with_separate_updates
from scopt.frontend.normalize.shared_origins import hoist_origins
from scopt.frontend.normalize.stage_copies import with_stage_copies
from scopt.frontend.normalize.stage_loops import with_stage_loops
from scopt.frontend.normalize.statement_counts import MAX_STATEMENTS, counted
from scopt.frontend.normalize.sums_apart import with_sums_apart
from scopt.frontend.normalize.values_in_front import with_values_in_front
from scopt.frontend.normalize.whole_runs import with_whole_runs
from scopt.frontend.syntax.liveness import may_be_read_after
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.openmp_variables import refuse_other_variables
from scopt.frontend.syntax.scoping import UniqueNames, loop_iterator, unique_names
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import Symbol, facts_of, is_value, scope_at, symbol_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.directives import is_directive, threadprivate_names
from scopt.ir.effects import Effects, effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, distinct, rebuilt, same_items, walk


class RegionNames(Struct, frozen=True, eq=False):
    """A region in its normal form, with unique names.

    items: its statements. symbols: what names are, iterators apart; arrays that members make are added.
    iterator_names, local_names: of its loops, and declared in it. effects: what it reads and writes.
    hoisted: sizes, members and products that variables of their own stand for. whole: bases whose structures are one
      cell each, whatever the member. narrowed: it computes with narrower types than the source says, or anew what an
      iteration of the source hands on to the next one, or both sides of what functions choose, or goes through the
      blocks of a stage. required: variables that mustn't be less than a number; limits: that mustn't be greater.
      numbers: those that have to have a value.
    distances: as in `StageLoops`. exchanged: what is known of pointers that iterations exchange. factors: as in
      `AskedProducts`. entered: conditions that have to hold for what is loaded in front of the region. blocks:
      executed as a whole; borders: iterators of loops whose bodies are such.
    """

    tu: TranslationUnit
    region: Region
    items: tuple[Any, ...]
    symbols: dict[str, Symbol]
    iterator_names: frozenset[str]
    local_names: frozenset[str]
    effects: Effects
    hoisted: tuple[Hoisted, ...]
    whole: frozenset[str]
    narrowed: bool = False
    required: tuple[tuple[str, int], ...] = ()
    distances: tuple[tuple[Any, int], ...] = ()
    exchanged: ExchangedPointers = ExchangedPointers(())
    numbers: Mapping[str, Any] = {}
    factors: Mapping[str, tuple[str, ...]] = {}
    entered: tuple[Any, ...] = ()
    blocks: frozenset[Any] = frozenset()
    borders: frozenset[str] = frozenset()
    limits: tuple[tuple[str, int], ...] = ()

    def in_blocks(self) -> RegionNames:
        """The region, if it is long, with blocks that are executed as a whole."""
        straight = not self.region.marked and counted(self.region.items) > MAX_STATEMENTS
        items, blocks = with_whole_runs(self.items, self.symbols, self.region.symbolic, straight=straight)
        loops = (one for one in walk(*items) if isinstance(one, ir.For) and loop_iterator(one) in self.borders)
        return replace(self, items=items, blocks=blocks | {one.stmt for one in loops})

    def typed_names(self) -> tuple[dict[str, CType], set[str]]:
        """The types of iterators that loops declare, or that nothing but their names leads to; and all such variables
        outside of loops."""
        variables = {name for name, symbol in self.symbols.items() if is_value(symbol) and not symbol.pointer}
        iterators = {
            name: self.iterator_type(loop)
            for loop in walk(*self.items)
            if isinstance(loop, ir.For) and (name := loop_iterator(loop)) is not None
            if isinstance(loop.init, ir.DeclList) or name in variables
        }
        return iterators, variables

    def location(self, node: Any) -> Location:
        """Where a node stands in the source, or the first below it that has a place; else the region."""
        return _location(self.region, node)

    def refuse(self, id: str, message: str, node: Any, hint: str = "") -> Refusal:
        """The refusal of a node."""
        return Refusal(id, message, self.location(node), hint)

    def not_affine(self, error: NotAffine, where: str, what: str) -> Refusal:
        """`where` is bound, condition or subscript; the id's last part says what is wrong with it."""
        reason = (
            f"{error.reason}-{where}" if error.reason in ("nonlinear", "indirect", "variant", "call") else error.reason
        )
        return self.refuse(f"affine.{reason}", f"{what}: {error.message}", error.node, error.hint)

    def iterator_type(self, node: ir.For) -> CType:
        """The type of a loop's iterator, declared in the loop or before it."""
        name = loop_iterator(node)
        if isinstance(node.init, ir.DeclList):
            symbol = symbol_of(node.init.decls[0], self.symbols)
        elif name is not None and name in self.symbols:
            symbol = self.symbols[name]
        elif isinstance(node.init, ir.ExprList):  # what it steps is a plain scalar
            raise self.refuse("loop.form", "data say where the loop ends", node)
        else:
            raise self.refuse("loop.form", "the loop's iterator is not a declared variable", node)
        if symbol.type.volatile:
            raise self.refuse("access.volatile", f"the iterator '{name}' is volatile", node)
        if symbol.dims or symbol.pointer or not symbol.type.integer or symbol.type.bits == 0:
            raise self.refuse(
                "loop.form", f"the iterator '{name}' is no integer variable", node, "use an integer iterator"
            )
        return symbol.type

    def read_after(self, name: str) -> bool:
        """Whether what the region leaves in a variable may be read."""
        return may_be_read_after(facts_of(self.tu, self.region.function), self.region, name)

    def origin(self, node: Any) -> Any:
        """What a node comes from in the source."""
        return facts_of(self.tu, self.region.function).origin(node)

    def needs_values(self, node: Any) -> bool:
        """Whether something that isn't affine has names of macros, whose values might make it so."""
        return not self.region.symbolic.keys().isdisjoint(identifiers(node))

    def waits_for_values(self, node: Any, refused: str) -> bool:
        """The same of a statement that was refused, by the remark's id: of all of it, if it isn't affine, or of a
        loop's step."""
        step = refused == "loop.step" and isinstance(node, ir.For)
        return (step and self.needs_values(node.next)) or (refused.startswith("affine.") and self.needs_values(node))


def read_names(tu: TranslationUnit, region: Region, *, by_rows: bool = False) -> RegionNames:
    """Give every name of a region one meaning. by_rows: loops through all of an array go through its rows. Raises
    Refusal."""
    refuse_other_variables(tu, region)
    tu, outer, exchanged, anew = _begun(tu, region)
    read_after = partial(may_be_read_after, facts_of(tu, region.function), region)
    rows = _by_rows(tu, region, exchanged.items, outer) if by_rows else RowLoops(exchanged.items)
    plain_items, numbers = with_named_numbers(_plain_statements(tu, region, rows.items, outer), outer)
    unique = _named_once(tu, plain_items, region, outer)
    items, constants, tables = without_tables(unique.items, unique.declared, outer, tu.reserved | ISL_WORDS)
    _refuse_visible(region)
    symbols = {**outer, **{local: symbol_of(decl, outer) for local, decl in unique.declared.items()}, **constants}
    if tu.strict_aliasing:
        symbols = with_rows(symbols, outer.keys() - unique.declared.keys())
    local_names = frozenset(unique.declared)
    items = inlined_calls(tuple(map(_without_directives, items)), tu, region, symbols)
    _refuse_thread_local(tu, region, items, symbols)
    items = with_constant_scalars(substituted_locals(items, _local_names(tu, region, symbols, unique)), symbols)
    items = written_choices(items, tu, region, symbols, unique.iterators)
    inside, reserved = local_names | unique.iterators, tu.reserved | set(ISL_WORDS)
    stages = with_stage_loops(items, symbols, inside, region.symbolic, reserved, tu.long_type, read_after)
    items, iterators = stages.items, unique.iterators | stages.iterators
    symbols, inside = {**symbols, **{one.symbol.name: one.symbol for one in stages.values}}, inside | iterators
    items = with_outer_products(items, facts_of(tu, region.function), symbols, inside)
    types = ExpressionTypes(symbols, tu.structs, region.symbolic, region.types)
    items, told, types = with_values_in_front(tu, items, types, iterators, reserved, read_after)
    symbols, local_names = {**symbols, **told}, local_names | told.keys()
    updates = with_separate_updates(with_branch_values(items, symbols, types), symbols, types)
    items = with_sums_apart(updates, types, tu.defined_functions)
    items, picking = with_plain_choices(tu, region, items, types, inside | told.keys())
    symbols, local_names = {**symbols, **picking}, local_names | picking.keys()
    plain_pointers = partial(with_plain_pointers, tu, region, symbols)
    before, (items, sizes) = items, hoist_sizes(distinct(plain_pointers(items)), symbols, inside, tu.reserved)
    members = MemberHoister(items, symbols, tu.structs, inside, tu.reserved, partial(_valid, tu, region, outer))
    given = partial(_local_names, tu, region, symbols, unique)
    found = named_members(tu, region, members, given, iterators, changed=not same_items(before, items))
    products, lengths = asked_products(members, facts_of(tu, region.function), rows, region.location)
    members.items = distinct(with_chosen_distances(members.items, replace(types, scope=symbols)))
    flat = with_flat_pixels(members, types, region, tu.long_type)
    members.items, iterators, local_names = flat.items, iterators | flat.iterators, local_names | flat.local.keys()
    places = (*flat.hoisted, *hoist_origins(members), *hoist_products(members, region.symbolic))
    hoisted = (*exchanged.rows, *tables, *stages.values, *sizes, *found, *products.tests, *places)
    # From here on accesses and the like are told by their nodes.
    plain = frozenset(name for name, symbol in symbols.items() if is_value(symbol)) - iterators
    narrow, after = with_narrow_variables(members.items, symbols, (plain & local_names).__contains__)
    narrowed = anew or stages.changed or any(after[name].type is not symbols[name].type for name in local_names)
    narrow, chosen = with_choice_variables(narrow, after, reserved)
    symbols, local_names = {**after, **chosen}, local_names | chosen.keys()
    divided = with_narrow_divisions(narrow, symbols, plain.__contains__)
    narrowed, items = narrowed or bool(chosen) or not same_items(divided, narrow), distinct(divided)
    whole = whole_structures(items, Types(symbols, tu.structs), local_names)
    known = (exchanged, {**numbers, **products.numbers}, products.factors, members.sure_entries(hoisted))
    wanted = (hoisted, whole, narrowed, (*stages.required, *lengths, *flat.required), stages.distances, *known)
    read = RegionNames(tu, region, items, symbols, iterators, local_names, effects(*items), *wanted)
    return replace(read, borders=flat.borders, limits=flat.limits).in_blocks()


def _by_rows(tu: TranslationUnit, region: Region, items: tuple[Any, ...], outer: Mapping[str, Symbol]) -> RowLoops:
    return with_loops_by_rows(items, tu.reserved, outer, region.function, tu.structs)


def _begun(
    tu: TranslationUnit, region: Region
) -> tuple[TranslationUnit, Mapping[str, Symbol], ExchangedPointers, bool]:
    """What names mean around a region, with new ones, and what `_normal` says of it, and of what it calls."""
    region = replace(region, items=without_switches(with_plain_checks(region.items, tu.defined_functions)))
    called = with_called_bodies(tu, region, outer := scope_at(tu, region))
    tu = replace(tu, reserved=tu.reserved | called.names) if called.names else tu
    chosen = with_choosing_calls(tu, region, called.items)
    tu = replace(tu, reserved=tu.reserved | chosen.names) if chosen.names else tu
    read_after = partial(may_be_read_after, facts_of(tu, region.function), region)
    exchanged, anew = _normal(tu, replace(region, items=chosen.items), outer, read_after)
    rows = {one.symbol.name: one.symbol for one in exchanged.rows}
    tu = replace(tu, reserved=tu.reserved | rows.keys()) if rows else tu
    return tu, {**outer, **rows}, exchanged, anew or bool(chosen.names)


def _normal(
    tu: TranslationUnit, region: Region, outer: Mapping[str, Symbol], read_after: Callable[[str], bool]
) -> tuple[ExchangedPointers, bool]:
    """The statements in their normal form, without pointers that iterations exchange; and whether values that these
    hand on are computed anew. Where nobody asks, pointers are exchanged in a loop by itself, so that others don't
    depend on what becomes of it."""
    items, anew = normalized(tu, with_stage_copies(region, outer), outer)
    if not region.exchanging or region.pragmas.used or not (region.marked or len(region.items) == 1):
        return ExchangedPointers(items), anew
    before, defined, names = straight_before(tu, region), tu.defined_functions, tu.reserved | ISL_WORDS
    around = Surroundings(outer, tu.structs, before, defined, read_after, names, tu.long_type, tu.strict_aliasing)
    return with_exchanged_pointers(items, around), anew


def _plain_statements(
    tu: TranslationUnit, region: Region, items: tuple[Any, ...], outer: Mapping[str, Symbol]
) -> tuple[Any, ...]:
    """The statements with what C has short words for as assignments and loops."""
    items = with_static_tables(without_compound_literals(without_commas(items), tu.reserved), outer)
    items = without_direction_tables(items, outer, tu.structs)
    items = with_assigned_lists(items, outer, tu.structs, tu.reserved, region.symbolic)
    return with_memory_loops(items, tu, region, outer)


def _named_once(
    tu: TranslationUnit, items: tuple[Any, ...], region: Region, outer: Mapping[str, Symbol]
) -> UniqueNames:
    """The statements in which each name has one meaning, with a variable for each member of structures."""
    unique = unique_names(items, tu.reserved, ISL_WORDS)
    symbols = {**outer, **{local: symbol_of(decl, outer) for local, decl in unique.declared.items()}}
    made = with_scalar_structs(unique.items, symbols, tu.structs, unique.declared, tu.reserved | ISL_WORDS)
    unique = unique if made is unique.items else unique_names(made, tu.reserved, ISL_WORDS)
    own = unique.declared.keys() - {node.name for node in walk(*region.items) if isinstance(node, ir.Decl)}
    if not own:
        return unique
    symbols = {**outer, **{local: symbol_of(decl, outer) for local, decl in unique.declared.items()}}
    shorter = without_copies(unique.items, symbols, tu.structs, own, unique.iterators, tu.defined_functions)
    return unique if same_items(shorter, unique.items) else unique_names(shorter, tu.reserved, ISL_WORDS)


def _valid(tu: TranslationUnit, region: Region, outer: Mapping[str, Symbol]) -> frozenset[str]:
    """The pointers that surely lead to objects where a region begins."""
    return dereferenced(straight_before(tu, region), outer)


def _local_names(tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol], unique: UniqueNames) -> LocalNames:
    """What forward substitution asks for."""
    facts = facts_of(tu, region.function)
    return LocalNames(
        symbols,
        frozenset(unique.declared),
        unique.iterators,
        frozenset(region.symbolic),
        tu.functions,
        lambda name: may_be_read_after(facts, region, name),
    )


def _without_directives(item: Any) -> Any:
    """A statement whose blocks have no ``#pragma scopt`` any more."""

    def change(node: Any) -> Any:
        if not isinstance(node, ir.Compound) or not any(map(is_directive, node.block_items or ())):
            return node
        return changed(node, block_items=[inner for inner in node.block_items if not is_directive(inner)])

    return rebuilt(item, change)


def _refuse_thread_local(
    tu: TranslationUnit, region: Region, items: Iterable[Any], symbols: Mapping[str, Symbol]
) -> None:
    """Other threads would have variables of their own by these names, and OpenMP's clauses don't take them."""
    private = threadprivate_names(tu.ast.ext)
    if b"threadprivate" in tu.source:
        private |= threadprivate_names(walk(region.function))
    for node in (node for node in walk(*items) if isinstance(node, ir.ID)):
        if node.name in private or (node.name in symbols and symbols[node.name].thread_local):
            message = f"each thread has a '{node.name}' of its own"
            hint = "copy it to a plain variable, or give the region a pointer to it"
            raise Refusal("access.thread-local", message, _location(region, node), hint)


def _refuse_visible(region: Region) -> None:
    """Declarations move into a block of the region's own:
    what is used after the region has to be declared before it."""
    after = (region.parent.block_items or ())[region.stop :]
    for item in region.items:
        if isinstance(item, (ir.Decl, ir.Typedef)) and any(item.name in identifiers(node) for node in after):
            message = f"'{item.name}' is used after the region"
            raise Refusal("decl.used-after", message, _location(region, item), "declare it before the region")


def _location(region: Region, node: Any) -> Location:
    coord = getattr(node, "coord", None)
    while coord is None and node is not None:
        node = node.parts[0] if node.parts else None
        coord = getattr(node, "coord", None)
    if coord is None:
        return region.location
    return Location(coord.file, coord.line, coord.column or 0)
