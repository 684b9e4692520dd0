"""What loops gain over the source's, with threads and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import islpy as isl

from scopt import ir
from scopt.astgen.emit.kept_inside import kept_inside
from scopt.astgen.emit.loop_work import is_tile_loop
from scopt.astgen.passes.block_distances import with_block_distances
from scopt.astgen.passes.divided_ints import has_quotients
from scopt.astgen.passes.eager import has_sums_of_comparisons
from scopt.astgen.passes.fetched_cells import with_fetched_cells
from scopt.astgen.passes.held import hold_cells
from scopt.astgen.passes.kept_loops import with_kept_loops
from scopt.astgen.passes.lanes import with_lanes_apart
from scopt.astgen.passes.masking import has_masks
from scopt.astgen.passes.narrow_loops import has_narrow_loops
from scopt.astgen.passes.reads_ahead import reads_ahead
from scopt.astgen.passes.shifted_rows import with_shifted_rows_apart
from scopt.astgen.passes.skipping import has_searches
from scopt.astgen.passes.whole_windows import loops_inside, with_whole_windows
from scopt.astgen.passes.widened_factors import widens_factors
from scopt.ir.expr import names, subtract
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Block, Call, Const, For, If, LoopNest, Name
from scopt.ir.nest_walks import children, items
from scopt.ir.scop import Array, Scop, Statement
from scopt.poly.source_loops import source_loops

# Pairs of pointers that compilers test at most (gcc: vect-max-version-for-alias-checks).
_TESTED = 10


def gains(scop: Scop, marked: MarkedSchedule, nest: LoopNest, *, threads: bool = True, strips: bool = True) -> bool:
    """Threads, tiles, lanes of loops that end on data, reductions in another order, searches that leave out blocks,
    extremes that masks choose, rows that data shift, small sums that gcc keeps, values among several constants, or
    vector loops of narrower values, of records or beside many pointers, over what was no innermost loop, or whose
    branches compilers leave as they are. threads: whether they are there. strips: whether those count that are there
    for threads to share."""
    loops = loops_of(nest)
    if gains_anywhere(marked, nest) or has_searches(scop, nest) or has_masks(scop, nest) or has_quotients(scop, nest):
        return True
    if has_borders_apart(scop, nest) or has_whole_windows(scop, nest) or reads_ahead(scop, nest):
        return True
    if any(loop.mark.ended for loop in loops):
        return True
    if any(loop.mark.around for loop in loops_of(with_shifted_rows_apart(scop, nest))):
        return True
    if any(loop.mark.kept for loop in loops_of(with_kept_loops(scop, nest))):
        return True
    if any(loop.mark.placed for loop in loops) or widens_factors(scop, nest):
        return True
    if with_block_distances(scop, scop, hold_cells(scop, nest))[2]:
        return True
    if any(loop.mark.fetched for loop in loops_of(with_fetched_cells(scop, scop, nest)[1])):
        return True
    if with_whole_windows(nest, loops_inside(scop)) != nest:
        return True
    if has_narrow_loops(scop, nest) or has_sums_of_comparisons(scop, nest):
        return True
    if any(kept_inside(scop, one) for one in scop.statements):
        return True
    vectors = [loop for loop in loops if loop.mark.simd and not _only_copies(scop, loop)]
    if vectors and (scop.narrowed or _has_records(scop, nest) or has_more_tests(scop)):
        return True
    if any(_looks_up(scop, loop) for loop in vectors):
        return True
    if threads and any(loop.mark.parallel for loop in loops):
        return True
    tiles = [loop for loop in loops if is_tile_loop(loop) and loop.step > 1 and (strips or not loop.mark.sharing)]
    if vectors and (tiles or _has_diamonds(scop, marked)):
        return True
    return any(_comes_back(scop, path, call) for path, call in calls_with_loops(nest.body, ()))


def _only_copies(scop: Scop, loop: For) -> bool:
    """Whether a loop does nothing but to put where they belong what others have left in arrays that the source doesn't
    have."""
    statements = [scop.statement(call.statement) for _, call in calls_with_loops(loop.body, ())]
    read = ([scop.arrays[one.array] for one in made.accesses if not one.is_write] for made in statements)
    copied = (len(own) == 1 and own[0].location is None and not own[0].local and bool(own[0].rank) for own in read)
    return all(copied) and all(_is_move(one.body) for one in statements)


def _is_move(body: ir.Node) -> bool:
    match body:
        case ir.Assignment(op="=", lvalue=ir.ArrayRef(), rvalue=ir.ArrayRef()):
            return True
    return False


def _has_diamonds(scop: Scop, marked: MarkedSchedule) -> bool:
    """Whether tiles hold rows of several iterations around them: a cache keeps what whole sweeps would load again. Of
    single cells a tile has too few for its bounds to be worth it."""
    deep = {one.name for one in scop.statements if len(one.iterators) > 2}
    return any(shape.rows is not None and shape.statements <= deep for shape in marked.shapes)


def loops_of(nest: LoopNest) -> list[For]:
    return [item for item in items(nest.body) if isinstance(item, For)]


def has_more_tests(scop: Scop) -> bool:
    """Whether more pointers are told apart, or rows in a loop of the source, than compilers make tests of in front of a
    loop. What all of the program says of pointers compilers don't know, either."""
    if scop.guard is not None and scop.guard.pairs > _TESTED:
        return True
    loops, inside = source_loops(scop), dict[int, list[Statement]]()
    for one in scop.statements:
        for loop in loops.get(one.name, ())[-1:]:
            inside.setdefault(loop, []).append(one)
    return any(_pairs(scop, statements) > _TESTED for statements in inside.values())


def _pairs(scop: Scop, statements: Sequence[Statement]) -> int:
    """Pairs of what statements of one loop walk along, one of which they write, that nothing but a test tells apart:
    pointers, and rows these lead to, of a type."""
    places = dict[tuple[str, str], bool]()
    for access in (access for one in statements for access in one.accesses):
        array = scop.arrays[access.array]
        if array.pointer:
            place = array.name, _row(access.relation) if array.rows else ""
            places[place] = places.get(place, False) or access.is_write
    return sum(
        (places[one] or places[other]) and _are_told_apart(scop.arrays[one[0]], scop.arrays[other[0]])
        for one, other in combinations(places, 2)
    )


def _are_told_apart(one: Array, other: Array) -> bool:
    """Whether nothing but a test tells compilers that two arrays are apart: they are reached through pointers, which
    don't say so themselves, to one type, and are no members of the same elements."""
    if any(not array.pointer or (array.restrict and not array.rows) for array in (one, other)):
        return False
    together = bool(one.within) and one.within == other.within
    return not together and one.type.spelling.removeprefix("const ") == other.type.spelling.removeprefix("const ")


def _row(relation: isl.Map) -> str:
    """Which row a reference is to, whatever the statement is called."""
    columns = relation.project_out(isl.dim_type.out, relation.dim(isl.dim_type.out) - 1, 1)
    return str(columns.gist_domain(columns.domain()).reset_tuple_id(isl.dim_type.in_))


def _looks_up(scop: Scop, loop: For) -> bool:
    """Whether a loop reads cells that data name, where it is tested that nothing is written there: no compiler makes
    such a test."""
    if scop.guard is None or not scop.guard.tests:
        return False
    inside = {call.statement for _, call in calls_with_loops(loop.body, ())}
    read = (a for one in scop.statements if one.name in inside for a in one.accesses if not a.is_write)
    return any(scop.arrays[a.array].rank and not a.relation.is_single_valued() for a in read)


def _has_records(scop: Scop, nest: LoopNest) -> bool:
    """Whether iterations write records that gcc makes vectors of only as the text will have them."""
    plain = frozenset(one.name for one in scop.statements)
    return len(with_lanes_apart(scop, hold_cells(scop, nest), plain)[0].statements) > len(plain)


def gains_anywhere(marked: MarkedSchedule, nest: LoopNest, those: frozenset[str] | None = None) -> bool:
    """Whether one thread gains with data that all caches hold: by register tiles, strips of rows, rows that run
    together, reductions in another order, or vector loops over what was no innermost loop, or whose branches compilers
    leave as they are.

    those: the statements that the loops are asked for; None: any."""
    loops = [item for item in items(nest.body) if isinstance(item, For)]
    if marked.tilings or marked.packed or not all(one.alone for one in marked.strips.values()):
        return True
    if any(loop.mark.jammed for loop in loops):
        return True
    if any(loop.mark.reductions and loop.mark.simd for loop in loops):
        return True
    if any(loop.mark.simd and any(isinstance(inner, If) for inner in items(loop.body)) for loop in loops):
        return True
    return any(
        is_interchanged(path, call)
        for path, call in calls_with_loops(nest.body, ())
        if those is None or call.statement in those
    )


def has_borders_apart(scop: Scop, nest: LoopNest) -> bool:
    """Whether there are vector loops over the interior of what the source has one loop for: first or last iterations,
    with subscripts that wrap around or are clamped there, keep compilers from making any of the original."""
    apart = {one.name for one, other in permutations(scop.statements, 2) if _is_part(one, other)}
    loops = [item for item in items(nest.body) if isinstance(item, For) and item.mark.simd]
    return any(isinstance(one, Call) and one.statement in apart for loop in loops for one in loop.body.items)


def has_whole_windows(scop: Scop, nest: LoopNest) -> bool:
    """Whether there are vector loops over windows that are unrolled, which bounds or conditions of the source cut off
    at borders: compilers unroll none of them, so they make no vectors of the loop around."""
    return any(
        _is_cut_off(statement, call)
        for path, call in calls_with_loops(nest.body, ())
        if any(loop.mark.simd and Name(loop.iterator) in call.args for loop in path)
        for statement in scop.statements
        if statement.name == call.statement
    )


def _is_cut_off(statement: Statement, call: Call) -> bool:
    """Whether the values of those iterators that a call has numbers for depend on the other ones."""
    numbers = [isinstance(one, Const) for one in call.args]
    if not any(numbers) or all(numbers) or len(numbers) != len(statement.iterators):
        return False
    own = around = statement.domain
    for dimension, is_number in enumerate(numbers):
        if is_number:
            around = around.eliminate(isl.dim_type.set, dimension, 1)
        else:
            own = own.eliminate(isl.dim_type.set, dimension, 1)
    return not own.intersect(around).is_subset(statement.domain)


def _is_part(one: Statement, other: Statement) -> bool:
    """Whether two statements are one of the source, for different iterations of the same loops."""
    if one.location != other.location or one.iterators != other.iterators:
        return False
    return bool(one.domain.set_tuple_name("").is_disjoint(other.domain.set_tuple_name("")))


def _comes_back(scop: Scop, path: tuple[For, ...], call: Call) -> bool:
    """Whether an instance stands in tiles of more loops than the arrays that it touches have dimensions: a tile keeps
    in a cache what the loops as they were came back to after a whole sweep."""
    statement = next((one for one in scop.statements if one.name == call.statement), None)
    tiled = sum(is_tile_loop(loop) and loop.step > 1 for loop in path)
    ranks = [scop.arrays[access.array].rank for access in statement.accesses] if statement is not None else []
    return tiled > max(ranks, default=tiled) >= 2


def is_interchanged(path: tuple[For, ...], call: Call) -> bool:
    """Whether a vector loop around an instance is not the loop of its innermost iterator, nor that one unrolled: it is
    around that, or goes along diagonals."""
    moving = [names(one) for one in call.args]
    vectors = [loop.iterator for loop in path if loop.mark.simd] if moving and moving[-1] else []
    return any(one not in moving[-1] or sum(one in some for some in moving) > 1 for one in vectors)


def is_unrolled(call: Call) -> bool:
    """Whether an instance's innermost iterator is another one up to a constant: that of a window that moves with the
    loop around, in straight code."""
    *outer, last = call.args
    return any(isinstance(subtract(last, one), Const) for one in outer if names(one))


def calls_with_loops(block: Block, path: tuple[For, ...]) -> Iterator[tuple[tuple[For, ...], Call]]:
    """All instances' calls, each with the loops around it."""
    for item in block.items:
        if isinstance(item, Call):
            yield path, item
        else:
            inner = (*path, item) if isinstance(item, For) else path
            for part in children(item):
                yield from calls_with_loops(part, inner)
