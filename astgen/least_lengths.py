"""How long loops have to be for what becomes of them to pay, however much work there is in all.

A register tile takes its time whether or not it has all of its cells: products of a vector and a matrix are one row of
eight, and packing an operand for a single step takes as long as what is done with it. Compilers make vectors of loops
over the columns of one row; of a sum in order they make none, which leaves register tiles much more to gain. A loop
that was around another one and is a vector loop inside of it is entered as often as that one had iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.emit.loop_work import paths
from scopt.astgen.gained import calls_with_loops, is_interchanged
from scopt.astgen.loops.isl_loops import build
from scopt.astgen.one_thread import DIAGONALS
from scopt.astgen.source_work import outermost_loops, waiting
from scopt.ir.expr import compare, exceeds, from_linear, linear, names, plus, subtract
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Condition, Expr, For, LoopNest
from scopt.ir.scop import Scop, Statement
from scopt.poly.linear import subscript_rows

# Where compilers have vectors: steps of a tile, and steps in all its columns, from which on tiles pay if they have all
# rows (measured: half of the rows take 1.8 times as long; one step up to twice as long, three 0.9 times).
_STEPS, _COLUMN_STEPS = 3, 9
# Where each cell waits for its sum instead: columns, cells, and additions to a row of them (measured: a step of a tile,
# with its operands, takes as long as ten additions that wait, one for each row and column; sums of five terms in five
# columns take half as long as a tile, sums of nine in nine 1.2 times as long).
_COLUMNS, _WAITING_CELLS, _ADDITIONS = 3, 16, 80
# What loops have to do in comparison with others for nobody to care how long they are: an eighth (chosen; one row in a
# strip takes two to three times as long as in the original).
_SMALL_PART = 8
# Iterations of a vector loop that wasn't innermost (measured on products of matrices: with 4 of them they take two to
# three times as long as sums in order, with 13 two thirds).
_VECTOR = 8
# Rows and columns of a dynamic program whose diagonals are vector loops, and cells in all (measured for alignments: 8
# rows take 1.1 to 2 times as long as one by one, 16 as long, 32 0.75 times, but of 32 cells 1.2 times).
_DIAGONAL, _DIAGONAL_CELLS = 32, 4096


def tile_lengths(source: Scop, marked: MarkedSchedule) -> list[Condition]:
    """That contractions have as much, of sizes that aren't known."""
    if not marked.tilings:
        return []
    loops, waits = dict(_source_loops(source)), waiting(source)
    found: list[Condition] = []
    for tiling in marked.tilings.values():
        contraction = tiling.contraction
        for name in contraction.statements:
            extents = [plus(subtract(loop.upper, loop.lower), 1) for loop in loops.get(name, ())]
            if len(extents) <= max(contraction.row, contraction.column, contraction.reduction):
                continue
            rows, columns, steps = (extents[k] for k in (contraction.row, contraction.column, contraction.reduction))
            if name in waits:
                still = _unmoved(source.statement(name))
                asked = [((columns,), _COLUMNS), ((rows, columns), _WAITING_CELLS)]
                asked.append(((columns, *(extents[k] for k in still)), _ADDITIONS))
            else:
                asked = [((rows,), tiling.rows), ((steps,), _STEPS), ((columns, steps), _COLUMN_STEPS)]
            found += [test for factors, least in asked for test in _exceed(source, factors, least)]
    return list(dict.fromkeys(found))


def _exceed(source: Scop, factors: Sequence[Expr], least: int, *, guessed: bool = False) -> list[Condition]:
    """That a product of extents is no less; nothing where none of them is unknown, or one is something else. guessed:
    those are unknown, too, of which arrays tell the most."""
    unknown = frozenset(p.name for p in source.parameters if guessed or p.estimate is None)
    known = prod(linear(one)[1] for one in factors if not linear(one)[0])
    others = tuple(one for one in factors if linear(one)[0])
    if known < 1 or not others or not all(names(one) <= unknown for one in others):
        return []
    return [exceeds(others, (least - 1) // known)] if least > known else []


def _unmoved(statement: Statement) -> list[int]:
    """The iterators that the cell which a statement adds to doesn't move with."""
    written = (subscript_rows(one.relation) or () for one in statement.accesses if one.is_write)
    moving = {k for rows in written for row in rows for k in range(len(statement.iterators)) if row[k]}
    return [k for k in range(len(statement.iterators)) if k not in moving]


def vector_lengths(source: Scop, loops: LoopNest) -> list[Condition]:
    """That vector loops over what was no innermost loop are no shorter than a vector, of sizes that aren't known."""
    unknown = frozenset(p.name for p in source.parameters if p.estimate is None)
    found: list[Condition] = []
    for path, call in calls_with_loops(loops.body, ()):
        if is_interchanged(path, call):
            extents = (plus(subtract(loop.upper, loop.lower), 1) for loop in path if loop.mark.simd)
            found += [exceeds((one,), _VECTOR - 1) for one in extents if linear(one)[0] and names(one) <= unknown]
    return list(dict.fromkeys(found))


def diagonal_lengths(source: Scop, marked: MarkedSchedule) -> list[str]:
    """C text that vector loops along diagonals, which are entered and left, have enough to do, of sizes that
    aren't known."""
    loops = dict(_source_loops(source))
    found: list[Condition] = []
    for choice in marked.choices:
        names_of = choice.statements if choice.mechanism == DIAGONALS else ()
        for name in (one for one in names_of if len(loops.get(one, ())) > 1):
            rows, columns = (plus(subtract(loop.upper, loop.lower), 1) for loop in loops[name][-2:])
            asked = [((rows,), _DIAGONAL), ((columns,), _DIAGONAL), ((rows, columns), _DIAGONAL_CELLS)]
            found += [test for factors, least in asked for test in _exceed(source, factors, least, guessed=True)]
    return list(dict.fromkeys(ExprPrinter.of(source).condition(one).text for one in found))


def source_factors(source: Scop, loops: Sequence[For]) -> dict[For, Counter[Expr]]:
    """How often the statement in the most loops of each of these runs: the lengths of the original's loops around it,
    whose product that is, up to constants that are added; loops where a length isn't one of parameters are left out.
    (Statements in strips are called after those of the source: `S0_rows`.)"""
    paths_of, found = dict(_source_loops(source)), dict[For, Counter[Expr]]()
    parameters = frozenset(p.name for p in source.parameters)
    for loop in loops:
        called = {call.statement for _, call in calls_with_loops(loop.body, ())}
        inside = {name for name in paths_of if name in called or any(one.startswith(f"{name}_") for one in called)}
        deepest = max(inside, key=lambda name: len(paths_of[name]), default=None)
        if deepest is not None:
            lengths = [from_linear(linear(subtract(one.upper, one.lower))[0], 0) for one in paths_of[deepest]]
            if all(names(one) and names(one) <= parameters for one in lengths):
                found[loop] = Counter(lengths)
    return found


def outweighed(loop: For, work: Mapping[For, Counter[Expr]]) -> list[Condition]:
    """That others have several times as much to do, where one length of theirs says so."""
    found = []
    for other, its in work.items():
        mine = work.get(loop, its)
        own, others = list((mine - its).elements()), list((its - mine).elements())
        if other is not loop and len(own) == 1 and others:
            terms, constant = linear(own[0])
            scaled = from_linear({name: _SMALL_PART * c for name, c in terms.items()}, constant)
            found += [compare(scaled, "<", one) for one in others]
    return list(dict.fromkeys(found))


def _source_loops(source: Scop) -> Iterator[tuple[str, tuple[For, ...]]]:
    """The loops of the original around each statement that has one loop for each of its iterators."""
    nest = build(source, MarkedSchedule(source.schedule, {}))
    for loop in outermost_loops(nest.body):
        for path, call in paths(loop):
            if len(path) == len(source.statement(call.statement).iterators):
                yield call.statement, path
