"""The proof of a transformed region, from the text that will be written.

The text, parsed, is the final nest (`scopt.astgen.emit.reparse`); what its statements do is read from their bodies
(`roles`); the nest runs every instance of the SCoP once, in an order that keeps the dependences, and its parallel loops
carry none (`scopt.poly.legality`); variables and buffers stand for cells only where that changes nothing
(`scopt.astgen.passes.held_check`, `buffers`). The functions that the text calls do what they are called for
(`functions`), and what stands in front of it tests all that the SCoP takes for granted (`guards`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_read import Reader, canonical
from scopt.astgen.emit.emit_c import Emitted
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.held_check import check_held
from scopt.astgen.transformed_program import Program, turning_functions
from scopt.check.buffers import Buffers
from scopt.check.compared_blocks import check_compared_blocks
from scopt.check.ended_strips import check_ended_strips
from scopt.check.fetched_strips import check_fetched_strips
from scopt.check.forms import Roles
from scopt.check.functions.definitions import check_functions
from scopt.check.guards import check_guard
from scopt.check.lanes_beginnings import check_lane_copies
from scopt.check.left_out import check_searches
from scopt.check.loads import check_loads
from scopt.check.masks import masked_ones
from scopt.check.memory import Allocated, read_allocations
from scopt.check.narrow_values import check_narrow_values
from scopt.check.parametric import on_parameters
from scopt.check.read_text import Text
from scopt.check.reading import expanded, together
from scopt.check.roles import roles_of
from scopt.check.strips_of_lookups import check_strips_of_lookups
from scopt.check.summed_calls import check_row_sums
from scopt.check.touched import check_touched
from scopt.check.turned import check_turned
from scopt.crew import Crew
from scopt.diagnostics import InternalError
from scopt.ir.collapsed import inner_loop
from scopt.ir.ctypes import type_spelling
from scopt.ir.nest import Block, For, Hold, LoopMark
from scopt.ir.nest_walks import calls, children, items
from scopt.ir.scop import Array, Dependence, Dependences
from scopt.poly.dates import fewer_pieces
from scopt.poly.isl_utils import IN, OUT, compact, constant_pw_aff, maps_of, sets_of, union_of_maps, union_of_sets
from scopt.poly.legality import ParallelDim, check_order
from scopt.poly.readback import LoopDim, ReadBack, check_coverage, nest_to_schedule


def check_program(program: Program, deps: Dependences, text: Emitted, guard: str, jobs: int = 1) -> None:
    """Raise InternalError unless the text does what the SCoP does, where its guard holds.

    deps: its dependences; with reductions in any order, if the user allows that. jobs: processes that may work on it.
    """
    with Crew(jobs) as crew:
        crew.begin(lambda: _check_functions(program, text))
        crew.begin(lambda: _check_words(program, deps, text, guard))
        nest = expanded(program)
        read = nest_to_schedule(program.source, nest)
        roles = roles_of(program, read.schedule)
        check_touched(program.source, roles)
        own = _instances(program, read, roles)
        crew.begin(lambda: check_coverage(program.source, own))
        if not roles.copies and not any(carrier.moved for carrier in roles.carriers):
            crew.begin(lambda: _check_order(program, deps, own, {}))
            return
        strict = deps.strict()
        flows = strict.select("flow") if strict is deps else (*strict.select("flow"), *deps.select("flow"))
        relaxed = Text.relaxed(program.source, strict, flows, nest, read, roles, _sizes(program), own.schedule)
        _check_moved(program, deps, own, relaxed, jobs)


def _check_words(program: Program, deps: Dependences, text: Emitted, guard: str) -> None:
    """What is seen without dates: the text is the nest's, its guard tests what is taken for granted, directives and
    variables stand where they may."""
    check_guard(program.source, guard, program.condition)
    check_printed(program.scop, program.nest, text)
    check_turned(program)
    check_row_sums(program, deps)
    check_compared_blocks(program, deps)
    check_searches(program)
    check_strips_of_lookups(program)
    check_fetched_strips(program)
    check_lane_copies(program, deps)
    check_ended_strips(program)
    _check_nesting(program)
    _check_held(program)
    check_loads(program)
    check_narrow_values(program)


def _check_moved(program: Program, deps: Dependences, own: ReadBack, relaxed: Text, jobs: int) -> None:
    """Buffers, and the order of all that they are for: with few pieces where that is enough. What the exact form can't
    decide in as many operations as are left is refused as the quick one says."""
    try:
        _check_by(program, deps, own, relaxed, jobs)
    except InternalError as quick:
        try:
            _check_by(program, deps, own, relaxed.exact(), jobs)
        except isl.Error:
            raise quick from None


def _check_by(program: Program, deps: Dependences, own: ReadBack, text: Text, jobs: int) -> None:
    buffers = Buffers.of(text)
    with Crew(jobs) as crew:
        for check in buffers.checks():
            crew.begin(check)
        crew.begin(lambda: _check_order(program, deps, own, buffers.same))


def _check_order(program: Program, deps: Dependences, own: ReadBack, same: Mapping[str, isl.UnionMap]) -> None:
    """The dependences, but for those between slots, are kept, and parallel loops carry none."""
    loops = [
        ParallelDim(loop.dimension, loop.statements, loop.mark.private, reductions=loop.mark.reductions)
        for loop in own.loops
    ]
    check_order(program.source, _with_slots(deps, same), own.schedule, loops)


def _instances(program: Program, read: ReadBack, roles: Roles) -> ReadBack:
    """What was read, in terms of the SCoP's instances."""
    dates = {m.get_tuple_name(IN): m for m in maps_of(read.schedule)}
    if not (program.lowered.made or program.buffered.made):
        return read
    found = []
    forms = _forms(roles)
    for instances, texts in forms:
        name = texts[0]
        together = union_of_maps(dates[text].set_tuple_name(IN, name) for text in texts)
        found += [instances.apply_range(relation) for relation in maps_of(fewer_pieces(together))]
    return ReadBack(fewer_pieces(union_of_maps(found)), read.dims, tuple(_loop(loop, forms) for loop in read.loops))


def _forms(roles: Roles) -> list[tuple[isl.Map, list[str]]]:
    """The relations from the SCoP's instances to the text, each with the statements that it is for: those of a tile's
    two forms together, since each of its instances is in one or the other."""
    found: list[tuple[isl.Map, list[str]]] = []
    for carrier in roles.carriers:
        for instances, texts in found:
            if instances.plain_is_equal(carrier.instances.set_tuple_name(OUT, texts[0])):
                texts.append(carrier.text)
                break
        else:
            found.append((carrier.instances, [carrier.text]))
    return found


def _loop(loop: LoopDim, forms: Sequence[tuple[isl.Map, list[str]]]) -> LoopDim:
    """The loop, with the SCoP's instances that it runs."""
    running = {str(part.get_tuple_name()): part for part in sets_of(loop.statements)}
    found = []
    for instances, texts in forms:
        own = [running[text].set_tuple_name(texts[0]) for text in texts if text in running]
        if own:
            together = compact(isl.Set.from_union_set(union_of_sets(own)))
            found.append(instances.intersect_range(together).domain().coalesce())
    return replace(loop, statements=union_of_sets(found))


def _with_slots(deps: Dependences, same: Mapping[str, isl.UnionMap]) -> Dependences:
    """The dependences without those between different slots that stand for one cell: copies that rows, for example,
    have of a scalar."""
    if not same:
        return deps

    def kept(one: Dependence) -> tuple[Dependence, ...]:
        if one.array not in same or one.kind == "flow":
            return (one,)
        rest = isl.UnionMap.from_map(one.relation).intersect(same[one.array])
        return tuple(replace(one, relation=relation) for relation in maps_of(rest))

    return Dependences(tuple(some for one in deps.strict().all for some in kept(one)), deps.reductions)


def _check_nesting(program: Program) -> None:
    """Directives stand inside of each other only as OpenMP lets them:
    no loop of threads in another one, nothing in a vector loop."""

    def visit(block: Block, around: LoopMark) -> None:
        for item in block.items:
            mark = item.mark if isinstance(item, For) else LoopMark()
            shared = [name for name in mark.private if not _may_be_private(program, name)]
            if shared:
                raise InternalError(
                    f"{program.source.location}: generated loops: threads have no copies of '{shared[0]}'"
                )
            if isinstance(item, For) and mark.collapse > 1 and (mark.collapse != 2 or inner_loop(item) is None):
                raise InternalError(f"{program.source.location}: generated loops: loops that can't be collapsed")
            if (around.simd and (mark.parallel or mark.simd)) or (around.parallel and mark.parallel):
                raise InternalError(f"{program.source.location}: generated loops: a directive inside of another one")
            both = LoopMark(around.parallel or mark.parallel, around.simd or mark.simd)
            for inner in children(item):
                visit(inner, both)

    visit(program.nest.body, LoopMark())


def _may_be_private(program: Program, name: str) -> bool:
    """Whether a thread's own copy, which has no value at first, may stand for an array: one of ours, or one whose
    values are all written where they are used."""
    array = program.source.arrays.get(name)
    return name in program.scop.arrays if array is None else array.private


def _check_functions(program: Program, text: Emitted) -> None:
    """The functions in front of the text do what they are called for."""
    scop, lowered = program.scop, program.lowered
    helpers = sorted({*text.helpers, *(helper for one in program.buffered.allocations for helper in one.helpers)})
    small = helper_definitions(helpers, scop.long_type, scop.reserved)
    kernels = tuple(
        {id(one): one for one in (*lowered.kernels, *(step.kernel for step in lowered.steps.values()))}.values()
    )
    if len({one.name for one in kernels}) < len(kernels):
        raise InternalError(f"{scop.location}: two kernels have one name")
    check_functions(
        scop.location,
        (small, *text.definitions),
        kernels,
        (*lowered.transposed, *turning_functions(program)),
        program.summing.functions,
        program.endings.functions,
        helpers=helpers,
        long_type=scop.long_type,
        reserved=scop.reserved,
        taken=scop.taken,
    )


def _sizes(program: Program) -> dict[str, tuple[isl.PwAff, ...]]:
    """Elements of each buffer that an instance can reach, by dimension, as its declaration says."""
    found = {}
    for name, array in program.scop.arrays.items():
        if name not in program.source.arrays and not _is_declared(array):
            raise InternalError(f"{program.source.location}: generated loops: '{name}' is declared as something else")
        if name not in program.source.arrays and array.sizes and all(size is not None for size in array.sizes):
            found[name] = tuple(constant_pw_aff(size) for size in array.sizes if size is not None)
    pointers = {memory: pointer for pointer, memory in program.buffered.parts.items()}
    for memory in read_allocations(program.buffered.scop, program.buffered.allocations):
        extents = tuple(on_parameters(program.source, one) for one in memory.extents if one is not None)
        found[memory.name] = extents
        if memory.name in pointers:
            pointer = pointers[memory.name]
            _check_pointer(program, pointer, memory)
            found[pointer] = extents
    return found


def _is_declared(array: Array) -> bool:
    """Whether C has an array of our own by its name, and in its size."""
    declaration = array.declaration
    if array.spelling != array.name:
        return False
    if declaration is None or not array.sizes or None in array.sizes:
        return declaration is None or declaration.name == array.name
    if not isinstance(declaration, ir.Decl) or declaration.name != array.name:
        return False
    sizes, element = [], declaration.type
    while isinstance(element, ir.ArrayDecl) and isinstance(element.dim, ir.Constant):
        sizes.append(int(element.dim.value))
        element = element.type
    return array.sizes == tuple(sizes) and type_spelling(element) == array.type.spelling


def _check_pointer(program: Program, pointer: str, memory: Allocated) -> None:
    """A pointer to a thread's part of an array steps by that array's rows."""
    declaration, dimensions = program.scop.arrays[pointer].declaration, list[ir.Node]()
    node = declaration.type if declaration is not None else None
    if isinstance(node, ir.PtrDecl):
        node = node.type
        while isinstance(node, ir.ArrayDecl):
            dimensions.append(node.dim)
            node = node.type
        reader = Reader.of(program.source)
        read = [canonical(reader.usable(one).value) for one in dimensions]
        if type_spelling(node) == memory.element and read == [
            canonical(one) for one in memory.extents[2:] if one is not None
        ]:
            return
    raise InternalError(
        f"{program.source.location}: '{pointer}' points to something else than a part of '{memory.name}'"
    )


def _check_held(program: Program) -> None:
    """Variables stand for cells only where all that touches these is known."""
    known = {statement.name for statement in program.source.statements} | program.buffered.packed
    known |= _in_place(program)
    known |= {name for name, base in masked_ones(program).items() if base in known}
    nest = together(program)
    for item in items(nest.body):
        if isinstance(item, Hold) and item.cells:
            for call in calls(item.body):
                if call.statement not in known:
                    raise InternalError(
                        f"{program.source.location}: cells in variables: {call.statement} may touch them"
                    )
    check_held(program.scop, nest)


def _in_place(program: Program) -> set[str]:
    """The statements of strips that do what the SCoP's do, and say of themselves that they touch the same cells."""
    found = set[str]()
    for name, expansion in program.buffered.expansions.items():
        original = program.source.statement(str(expansion.get_tuple_name(IN)))
        made = next((one for one in program.scop.statements if one.name == name), None)
        if made is None or made.body is not original.body or len(made.accesses) != len(original.accesses):
            continue
        pairs = zip(original.accesses, made.accesses, strict=True)
        if all(
            (own.array, own.kind, own.node) == (new.array, new.kind, new.node)
            and new.relation.is_equal(own.relation.apply_domain(expansion))
            for own, new in pairs
        ):
            found.add(name)
    return found
