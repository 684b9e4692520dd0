"""Loops that compilers don't make of the original by themselves, so that one thread gains by them.

A loop over what was the innermost one already, without branches and beside few pointers, is as much a vector loop in
the original. Straight code in place of small loops is not, nor what compilers unroll before they look for vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import islpy as isl

from scopt import ir
from scopt.astgen.gained import calls_with_loops, loops_of
from scopt.astgen.passes.divided_ints import divides
from scopt.ir.expr import names, subtract
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Block, Call, Const, For, LoopNest
from scopt.ir.nest_walks import children
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.machine.costs import arithmetic, takes_its_time
from scopt.poly.source_loops import source_loops

# What compilers unroll a loop to at most: iterations, and operations (gcc: max-completely-peel-times, and
# max-completely-peeled-insns, with loads and stores beside the operations).
_UNROLLED, _OPERATIONS = 16, 100
# Mechanisms: tiles on diagonals; a loop in order around one that threads share.
WAVEFRONTS, SHARED_INSIDE = "wavefronts", "a parallel loop inside"
DIAGONALS = "vectors along diagonals"


def has_own_loops(scop: Scop, marked: MarkedSchedule, nest: LoopNest) -> bool:
    """Whether there are vector loops, straight code or tiles in time that a compiler doesn't make of the original."""
    if is_straight(nest.body, scop):
        return True
    rows = any(loop.mark.simd for loop in loops_of(nest)) or any(shape.rows is not None for shape in marked.shapes)
    if rows and any(choice.mechanism == WAVEFRONTS for choice in marked.choices):
        return True  # of single cells a tile has too few for its bounds to be worth it
    return has_own_vectors(scop, nest)


def has_own_vectors(scop: Scop, nest: LoopNest) -> bool:
    """Whether there are vector loops that a compiler doesn't make of the original's innermost loops."""
    cut = {call.statement for path, call in calls_with_loops(nest.body, ()) if _is_cut_out(path, call)}
    return any(loop.mark.simd and _is_own(scop, loop, cut) for loop in loops_of(nest))


def is_straight(block: Block, scop: Scop | None = None) -> bool:
    """Whether a small loop is straight code: instances of a statement stand side by side, but for those of several
    rows. scop: but for what compilers unroll as well, and what has loops of its own that run as often as data say;
    None: whatever they do."""
    here = Counter(item.statement for item in block.items if isinstance(item, Call))
    if any(count > 1 and not _has_loops(scop, name) for name, count in here.items()):
        return scop is None or not _unroll_too(scop, [item for item in block.items if isinstance(item, Call)])
    inner = (item for item in block.items if not (isinstance(item, For) and item.mark.jammed))
    return any(is_straight(part, scop) for item in inner for part in children(item))


def _has_loops(scop: Scop | None, statement: str) -> bool:
    return scop is not None and takes_its_time(scop.statement(statement).body)


def _is_cut_out(path: Sequence[For], call: Call) -> bool:
    """Whether a call is for the one iteration of the innermost loop that is what a loop around is at."""
    last = names(call.args[-1]) if path and call.args else set()
    return bool(last) and path[-1].iterator not in last


def _unroll_too(scop: Scop, calls: Sequence[Call]) -> bool:
    """Whether compilers write out the small loops that have become of these calls, and find the same in them: the loops
    are short, and only variables are written again and again, so that there are no pointers to test in between."""
    counts = Counter(call.statement for call in calls)
    repeated = {scop.statement(name): count for name, count in counts.items() if count > 1}
    if any(_writes_cells(scop, one) for one in repeated):
        return False
    operations = sum(count * arithmetic(one.body) for one, count in repeated.items())
    return operations <= _OPERATIONS and all(_values(calls, one.name) <= _UNROLLED for one in repeated)


def _values(calls: Sequence[Call], statement: str) -> int:
    """How many numbers an iterator has at most in a statement's calls."""
    numbers = zip(*(call.args for call in calls if call.statement == statement), strict=True)
    return max((len({arg for arg in args if isinstance(arg, Const)}) for args in numbers), default=0)


def _writes_cells(scop: Scop, statement: Statement) -> bool:
    return any(access.is_write and scop.arrays[access.array].rank for access in statement.accesses)


def _is_own(scop: Scop, loop: For, cut: set[str]) -> bool:
    """Whether compilers make no vectors of the loop that a vector loop was.

    cut: the statements of which single iterations stand apart: compilers don't cut a loop where dependences ask for it.
    Pointers are tested in front of loops, not in the straight code that compilers make of short ones.
    """
    calls = [call for _, call in calls_with_loops(loop.body, ())]
    names_inside = {call.statement for call in calls}
    inside = [one for one in scop.statements if one.name in names_inside]
    if any(one.name in cut or _evaluates_sometimes(one.body) or divides(scop, one) for one in inside):
        return True
    if any(_has_first_apart(scop, one) for one in inside):
        return True
    length = subtract(loop.upper, loop.lower)
    short = isinstance(length, Const) and length.value < _UNROLLED
    return short and scop.guard is not None and any(_writes_cells(scop, one) for one in inside)


def _has_first_apart(scop: Scop, one: Statement) -> bool:
    """Whether the first iteration of a statement's innermost loop is another one's, `if (i == 0) … else …`: compilers
    see no vectors in such a loop (gcc: of two parts, clang: of three, the last iteration being another one, too)."""
    loops, depth = source_loops(scop), len(one.iterators) - 1
    if depth < 0 or not _writes_cells(scop, one):
        return False
    return any(
        loops[other.name] == loops[one.name]
        and _writes_cells(scop, other)
        and _comes_first(other.domain, one.domain, depth)
        for other in scop.statements
        if other is not one and len(other.iterators) == len(one.iterators)
    )


def _comes_first(first: isl.Set, rest: isl.Set, depth: int) -> bool:
    """Whether one set has a single point, at most, along a dimension, the last one, and those of another set, of the
    same iterations around, come behind it."""

    def beside(other: isl.Set) -> isl.Map:
        pairs = isl.Map.from_domain_and_range(first, other)
        for outer in range(depth):
            pairs = pairs.equate(isl.dim_type.in_, outer, isl.dim_type.out, outer)
        return pairs

    dimensions = (isl.dim_type.in_, depth, isl.dim_type.out, depth)
    if not beside(first).order_lt(*dimensions).is_empty():
        return False
    return bool(beside(rest).order_ge(*dimensions).is_empty())


def _evaluates_sometimes(body: ir.Node) -> bool:
    """Whether cells are read on the right of `&&` or `||`."""
    return any(
        isinstance(node, ir.BinaryOp)
        and node.op in ("&&", "||")
        and any(isinstance(one, ir.ArrayRef) for one in walk(node.right))
        for node in walk(body)
    )
