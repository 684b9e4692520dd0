"""From a schedule to C text: what becomes of the loops, one rewrite after the other; the proof comes last.

`REWRITES` reads top to bottom, from one `Program` to the next. Proved is the last one's text (`scopt.check.program`).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.c_expr import THREADS
from scopt.astgen.emit.loop_work import add_work_guards, with_uncopied_loops
from scopt.astgen.guard import guard_text
from scopt.astgen.guard_counters import counter_name
from scopt.astgen.least_lengths import diagonal_lengths
from scopt.astgen.least_size import least_size, least_size_alone
from scopt.astgen.lone_thread import threads_condition
from scopt.astgen.loops.isl_loops import build
from scopt.astgen.lower.panel_turns import with_turned_panels
from scopt.astgen.lower.register_lowering import Lowered, lower
from scopt.astgen.lower.strip_lowering import lower_strips
from scopt.astgen.lower.tile_steps import with_choices, with_kernel_calls, with_transposed_copies
from scopt.astgen.passes.alignment import with_aligned_starts
from scopt.astgen.passes.blended_cells import with_blended_cells
from scopt.astgen.passes.block_distances import with_block_distances
from scopt.astgen.passes.borders_apart import with_borders_apart
from scopt.astgen.passes.carried_cells import with_carried_cells
from scopt.astgen.passes.chains import with_products_apart
from scopt.astgen.passes.collapsing import with_collapsed_loops
from scopt.astgen.passes.common_choices import with_common_choices
from scopt.astgen.passes.common_values import with_common_values
from scopt.astgen.passes.dot_products import with_sums_along
from scopt.astgen.passes.eager import with_eager_conditions
from scopt.astgen.passes.ended_by_data import with_endings_in_lanes, with_possible_endings
from scopt.astgen.passes.estimates import drop_small_loops
from scopt.astgen.passes.exchanging import with_exchanges
from scopt.astgen.passes.fetched_cells import looked_up_lengths, with_fetched_cells
from scopt.astgen.passes.flat_lookups import with_flat_lookups
from scopt.astgen.passes.gathering import with_records_apart
from scopt.astgen.passes.kept_loops import with_kept_loops, with_plain_sums
from scopt.astgen.passes.lane_copies import with_lanes
from scopt.astgen.passes.lanes import with_lanes_apart
from scopt.astgen.passes.lengths import with_constant_lengths
from scopt.astgen.passes.lookups_apart import with_lookups_apart
from scopt.astgen.passes.masking import with_masks
from scopt.astgen.passes.narrow_loops import with_narrow_loops
from scopt.astgen.passes.narrow_parts import hold_cells_and_parts
from scopt.astgen.passes.neighbours import with_common_guards, with_lines_kept
from scopt.astgen.passes.outer_conditions import in_two_forms, with_conditions_outside
from scopt.astgen.passes.own_choices import with_own_choices
from scopt.astgen.passes.picking import with_picked_choices
from scopt.astgen.passes.places_ahead import with_placed_loops, with_places_ahead
from scopt.astgen.passes.row_variables import with_row_variables
from scopt.astgen.passes.shifted_rows import with_shifted_rows_apart
from scopt.astgen.passes.short_strips import with_short_strips
from scopt.astgen.passes.skipping import with_skipped_blocks
from scopt.astgen.passes.stepping import without_stepping_vectors
from scopt.astgen.passes.turned_sums import with_turned_sums
from scopt.astgen.passes.two_forms import with_two_forms
from scopt.astgen.passes.whole_diagonals import with_whole_diagonals
from scopt.astgen.passes.whole_windows import loops_inside, with_whole_windows
from scopt.astgen.passes.wide_vectors import with_wide_vectors
from scopt.astgen.passes.widened_factors import with_widened_factors
from scopt.astgen.rewrite_setting import Setting, Watch
from scopt.astgen.row_memory import memory_tests
from scopt.astgen.transformed_program import Program, stand_ins
from scopt.astgen.worth import check_nest, check_sizes
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Dependences, Scop
from scopt.machine import Machine
from scopt.machine.costs import short_row
from scopt.options import Options
from scopt.poly.isl_utils import IN


class Rewrite(Struct, frozen=True):
    """name: for people, and for `Watch`. what: one line about it."""

    name: str
    what: str
    run: Callable[[Program, Setting], Program]


def lowered_program(source: Scop, deps: Dependences, marked: MarkedSchedule, machine: Machine, watch: Watch) -> Program:
    """The loops of a schedule, strips, panels and register tiles carried out. Raises InternalError if isl can't make
    loops of it."""
    buffered = watch("strips-and-panels", lower_strips(source, deps, marked, machine))
    lowered = watch("register-tiles", lower(buffered.scop, buffered.schedule, machine))
    nest = watch("loops", build(lowered.scop, lowered.schedule))
    return Program(source, marked, buffered, lowered, lowered.scop, nest, nest, nest, nest)


def rewritten(program: Program, setting: Setting, watch: Watch) -> Program:
    """The program after all rewrites. Raises what they raise: NotWorth and Simpler where the original, or another form,
    would be better."""
    for rewrite in REWRITES:
        program = watch(rewrite.name, rewrite.run(program, setting))
    return program


def guard_of(program: Program, options: Options) -> str:
    """The test in front of the text."""
    source = program.source
    return guard_text(source, program.condition, counter_name(source.location) if options.count_guards else "")


# --- the rewrites -----------------------------------------------------------------------------------------------------


def _work_guards(program: Program, setting: Setting) -> Program:
    lowered = program.lowered
    nest = add_work_guards(lowered.scop, program.nest, lowered.weights, setting.options.machine)
    return replace(program, nest=nest)


def _small_loops(program: Program, setting: Setting) -> Program:
    """What the user's pragmas ask for stays, however small it is."""
    if setting.wishes:
        return program
    scop, weights, machine = program.lowered.scop, program.lowered.weights, setting.options.machine
    nest = drop_small_loops(program.source, with_common_guards(scop, program.nest))
    beside = setting.beside if setting.judged else frozenset()
    kept = with_lines_kept(scop, nest, weights, machine, beside)
    return replace(program, nest=drop_small_loops(program.source, kept))


def _worth(program: Program, setting: Setting) -> Program:
    forms, machine = (program.scop, program.marked, program.nest), setting.options.machine
    if not setting.judged:
        condition = "" if setting.wishes else threads_condition(*forms, setting.options, shared=setting.shared)
        return replace(program, condition=condition)
    worth = check_nest(program.source, *forms, program.lowered.weights, machine, shared=setting.shared)
    if worth.alone and worth.condition:
        worth = least_size_alone(program.source, program.marked, program.loops, program.nest, machine, worth)
    check_sizes(program.source, worth)
    return replace(program, nest=worth.nest, condition=worth.condition)


def _stepping_loops(program: Program, setting: Setting) -> Program:
    """What the user's pragmas ask for stays."""
    if setting.wishes:
        return program
    scop, nest = with_exchanges(program.source, program.scop, program.nest)
    nest = without_stepping_vectors(scop, nest, setting.options.machine)
    return replace(program, scop=scop, nest=nest, loops=nest)


def _uncopied_loops(program: Program, setting: Setting) -> Program:
    nest = with_uncopied_loops(program.nest)
    return replace(program, nest=nest, loops=nest)


def _turned_sums(program: Program, setting: Setting) -> Program:
    if setting.wishes or not setting.options.simd:  # what the user's pragmas ask for stays
        return program
    own, machine = stand_ins(program), setting.options.machine
    scop, nest, summing = with_turned_sums(program.source, program.scop, own, program.nest, machine)
    return replace(program, scop=scop, nest=nest, summing=summing)


def _outer_conditions(program: Program, setting: Setting) -> Program:
    nest = with_borders_apart(program.scop, with_conditions_outside(program.scop, program.nest))
    return replace(program, nest=in_two_forms(nest))


def _of_tiles(change: Callable[[Lowered, LoopNest], LoopNest]) -> Callable[[Program, Setting], Program]:
    return lambda program, setting: replace(program, nest=change(program.lowered, program.nest))


def _transposed_copies(program: Program, setting: Setting) -> Program:
    nest = with_transposed_copies({**program.lowered.turned, **program.buffered.turned}, program.nest)
    return replace(program, nest=with_turned_panels(program.buffered.turned, nest))


def _short_strips(program: Program, setting: Setting) -> Program:
    if setting.wishes:  # what the user's pragmas ask for stays
        return program
    own, counts = stand_ins(program), program.marked.plain_strips
    return replace(program, nest=with_short_strips(program.source, own, program.nest, counts))


def _constant_lengths(program: Program, setting: Setting) -> Program:
    buffered, lowered, marked = program.buffered, program.lowered, program.marked
    if not (lowered.made or marked.strips or marked.packed or any(one.interleave for one in marked.shapes)):
        return program
    # statements that copy tiles, which lack cells anyway, or panels, which takes little of the time
    copies = buffered.made - buffered.packed if buffered.packed else frozenset()
    rare = copies | frozenset(name for choice in lowered.choices for name in choice.others)
    longest = short_row(setting.options.machine)
    return replace(program, nest=with_constant_lengths(program.nest, longest, rare, lowered.fills, buffered.packed))


def _aligned_starts(program: Program, setting: Setting) -> Program:
    nest = with_aligned_starts(program.scop, program.nest, setting.options.machine.cache(1).line)
    return replace(program, nest=nest, shown=nest)


def _masked_extremes(program: Program, setting: Setting) -> Program:
    if not setting.options.simd:
        return program
    scop, nest = with_masks(program.scop, program.nest)
    return replace(program, scop=scop, nest=nest)


def _held_cells(program: Program, setting: Setting) -> Program:
    nest = hold_cells_and_parts(program.scop, program.nest)
    return replace(program, nest=nest, told=nest)


def _block_distances(program: Program, setting: Setting) -> Program:
    if setting.wishes or not setting.options.simd:
        return program
    scop, nest, distances = with_block_distances(program.source, program.scop, program.nest)
    return replace(program, scop=scop, nest=nest, distances=distances)


def _of_vectors(change: Callable[[Scop, LoopNest], LoopNest], *, always: bool = False) -> Callable[..., Program]:
    """A rewrite of loops that is about vectors alone; always: about other loops, too."""

    def run(program: Program, setting: Setting) -> Program:
        leaves = not (always or setting.options.simd)
        return program if leaves else replace(program, nest=change(program.scop, program.nest))

    return run


def _lanes_apart(program: Program, setting: Setting) -> Program:
    plain = frozenset(one.name for one in program.lowered.scop.statements)
    scop, nest = with_lanes_apart(program.scop, program.nest, plain)
    return replace(program, scop=scop, nest=nest)


def _computed(change: Callable[[Scop, Scop, LoopNest], tuple[Scop, LoopNest]]) -> Callable[..., Program]:
    """A rewrite of what vector loops compute, by statements of its own."""

    def run(program: Program, setting: Setting) -> Program:
        scop, nest = change(program.source, program.scop, program.nest)
        return replace(program, scop=scop, nest=nest)

    return run


def _own_choices(program: Program, setting: Setting) -> Program:
    own = stand_ins(program)
    return replace(program, scop=with_own_choices(program.source, program.scop, program.nest, own))


_whole_windows = _computed(lambda _, scop, nest: (scop, with_whole_windows(nest, loops_inside(scop))))
_flat_lookups = _computed(lambda _, scop, nest: with_flat_lookups(scop, nest))
_collapsed_loops = _computed(lambda _, scop, nest: (scop, with_collapsed_loops(nest)))


def _endings_in_lanes(program: Program, setting: Setting) -> Program:
    scop, nest, endings = with_endings_in_lanes(program.source, program.scop, program.nest)
    return replace(program, scop=scop, nest=nest, endings=endings)


def _skipped_blocks(program: Program, setting: Setting) -> Program:
    """What the user's pragmas ask for stays, and so does what has no vectors."""
    if setting.wishes or not setting.options.simd:
        return program
    scop, nest = with_skipped_blocks(program.scop, program.nest)
    return replace(program, scop=scop, nest=nest)


def _wide_vectors(program: Program, setting: Setting) -> Program:
    return replace(program, nest=with_wide_vectors(program.scop, program.nest, setting.options.machine.vector_bytes))


def _common_reads(program: Program, setting: Setting) -> Program:
    expansions = program.buffered.expansions.items()
    originals = {name: str(relation.get_tuple_name(IN)) for name, relation in expansions}
    nest = with_common_values(program.source, program.scop, originals, program.nest)
    return replace(program, nest=with_row_variables(program.source, program.scop, originals, nest))


def _records_apart(program: Program, setting: Setting) -> Program:
    nest = with_records_apart(program.scop, with_plain_sums(program.scop, program.nest), setting.options.machine)
    return replace(program, nest=nest) if setting.options.simd and not setting.wishes else program


def _two_forms(program: Program, setting: Setting) -> Program:
    alone = setting.shared and program.condition  # the original is the form for one thread
    return program if alone else replace(program, nest=with_two_forms(program.nest))


def _least_size(program: Program, setting: Setting) -> Program:
    if not setting.sized or setting.judged:
        return program  # judged: the region's condition knows already whether one thread gains
    machine = setting.options.machine
    worth = least_size(program.source, program.marked, program.loops, program.nest, machine, program.condition)
    return replace(program, nest=worth.nest, condition=worth.condition)


def _row_memory(program: Program, setting: Setting) -> Program:
    if not (setting.judged or setting.sized):
        return program
    tests = memory_tests(program.source, stand_ins(program), program.loops, setting.options.machine)
    tests += [*looked_up_lengths(program.source, program.nest), *diagonal_lengths(program.source, program.marked)]
    return replace(program, condition=" && ".join(filter(None, (program.condition, *tests))))


def _tiles_two_forms(program: Program, setting: Setting) -> Program:
    """Loops in which statements run where they are, not in functions that the compiler has for both forms anyway."""
    own = not (program.lowered.made or program.marked.strips)
    again = bool(program.condition) and THREADS not in program.condition
    return replace(program, nest=with_two_forms(program.nest, tiles=True, enough=own and again, again=again))


REWRITES: tuple[Rewrite, ...] = (
    Rewrite("tile-forms", "a choice between whole register tiles and those that lack cells", _of_tiles(with_choices)),
    Rewrite("work-guards", "parallel loops get a test of their work, or lose their mark", _work_guards),
    Rewrite("small-loops", "parallel loops that surely have little work become plain ones", _small_loops),
    Rewrite("stepping-loops", "no vectors of loops that step, or look up; exchanges without branches", _stepping_loops),
    Rewrite("placed-loops", "loops that look up where they compute are to be strips", _of_vectors(with_placed_loops)),
    Rewrite("possible-endings", "loops that end on data, where lanes can be had", _computed(with_possible_endings)),
    Rewrite("worth", "of regions without pragmas: whether, and from which size on, the loops pay", _worth),
    Rewrite("uncopied-loops", "loops whose threads copy arrays stand beside plain ones", _uncopied_loops),
    Rewrite(
        "kernel-calls", "one call in place of a loop over the steps of a register tile", _of_tiles(with_kernel_calls)
    ),
    Rewrite("transposed-copies", "one call in place of loops that pack an operand across its rows", _transposed_copies),
    Rewrite("turned-sums", "one call in place of loops that sum along rows beside each other", _turned_sums),
    Rewrite("outer-conditions", "conditions that a vector loop leaves as they are stand around it", _outer_conditions),
    Rewrite("short-strips", "of fewer rows than a strip has, pieces of constant lengths", _short_strips),
    Rewrite("constant-lengths", "short vector loops get their usual length as a constant", _constant_lengths),
    Rewrite("whole-diagonals", "whole diagonals of rows are straight code", _of_vectors(with_whole_diagonals)),
    Rewrite("whole-windows", "small windows get constant lengths where no border cuts them off", _whole_windows),
    Rewrite("aligned-starts", "vector loops over rows start where the rows' lines do", _aligned_starts),
    Rewrite("masked-extremes", "extremes of what conditions let through, without branches", _masked_extremes),
    Rewrite("held-cells", "cells that are used again and again are held in variables", _held_cells),
    Rewrite("block-distances", "one call in place of loops that compare the bytes of two blocks", _block_distances),
    Rewrite("products-apart", "products apart from additions", _computed(lambda _, *made: with_products_apart(*made))),
    Rewrite("sums-along", "sums of products of narrow integers are gcc's vector loops", _of_vectors(with_sums_along)),
    Rewrite("widened-factors", "sums of products of bytes by instructions for shorts", _computed(with_widened_factors)),
    Rewrite("kept-loops", "small loops of sums that gcc would write out", _of_vectors(with_kept_loops)),
    Rewrite("shifted-rows", "vector loops along shifted rows run one by one", _of_vectors(with_shifted_rows_apart)),
    Rewrite("lanes-apart", "of records that are computed differently, one element apart", _lanes_apart),
    Rewrite("eager-conditions", "both sides of && and || are evaluated", _computed(with_eager_conditions)),
    Rewrite("picked-choices", "both sides of choices among constants", _computed(with_picked_choices)),
    Rewrite("blended-cells", "cells of lanes' own that conditions update", _computed(with_blended_cells)),
    Rewrite("own-choices", "choices that strips make between computed numbers", _own_choices),
    Rewrite("lane-copies", "lanes have copies of extrema in any order", _computed(lambda _, *made: with_lanes(*made))),
    Rewrite("skipped-blocks", "searches leave out blocks in which nothing better is found", _skipped_blocks),
    Rewrite("wide-vectors", "vector loops over long rows ask for whole registers", _wide_vectors),
    Rewrite("collapsed-loops", "loops of threads over two loops only where these can be one", _collapsed_loops),
    Rewrite("common-reads", "what a vector loop only reads, or chooses, is in a variable", _common_reads),
    Rewrite("common-choices", "choices that loops leave, in front", _of_vectors(with_common_choices, always=True)),
    Rewrite("narrow-loops", "sums of narrow cells have 16 bits where these are enough", _of_vectors(with_narrow_loops)),
    Rewrite("places-ahead", "places that loops compute, cells there, the rest", _computed(with_places_ahead)),
    Rewrite("fetched-cells", "cells that last for some iterations, in buffers", _computed(with_fetched_cells)),
    Rewrite("lookups-apart", "places in tables in vectors, lookups one by one", _computed(with_lookups_apart)),
    Rewrite("endings-in-lanes", "loops that end on data, for many items at a time", _endings_in_lanes),
    Rewrite("carried-cells", "what loops in order hand on is in variables", _of_vectors(with_carried_cells)),
    Rewrite("records-apart", "no vectors of clang's whose elements would be gathered for too little", _records_apart),
    Rewrite("flat-lookups", "tables of several dimensions by one subscript", _flat_lookups),
    Rewrite("two-forms", "small parallel loops inside of others stand beside plain ones for little work", _two_forms),
    Rewrite("least-size", "of marked regions: from which size on their loops replace the original", _least_size),
    Rewrite("row-memory", "rows beside each other that write nothing are long, or come from a cache", _row_memory),
    Rewrite("two-forms-of-tiles", "parallel loops over tiles, too, where their text is short", _tiles_two_forms),
)
