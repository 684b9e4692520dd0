"""What compilers are told of loops besides OpenMP's directives: it changes nothing that they compute.

A loop that hands an integer on from iteration to iteration takes a cycle or two for each; jumping back takes as long on
some processors. clang unrolls such loops, gcc has to be asked (measured: prefix sums twice as fast).
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set as AbstractSet

from scopt import ir
from scopt.astgen.emit.math_functions import calls_roots
from scopt.ir.nest import Block, Call, Const, For
from scopt.ir.nest_walks import calls
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.machine.costs import arithmetic
from scopt.machine.targets import SHUFFLES
from scopt.poly.lookups import narrow_lookups

# What keeps clang from unrolling. The lines stand between the directive of OpenMP and its loop.
NOT_UNROLLED = ("#ifdef __clang__", "#pragma clang loop unroll(disable)", "#endif")
# The same of a loop of one or two vectors, which are taken at once, so that nothing is left of it, whatever vectors the
# target has: what all turns of a loop around it read stays in registers then (measured for sixteen options on a
# lattice: 0.42 of the time; for sums over points of eight coordinates, half of it).
_AT_ONCE = {
    (width, vectors): f"#pragma clang loop unroll(disable) vectorize_width({width}) interleave_count({vectors})"
    for width in (8, 16, 32, 64)
    for vectors in (1, 2)
}
# Bytes of a vector; where these are shorter, so many are several.
_VECTOR = 64
# For whom the directive of a vector loop has no length of vectors: clang, and targets whose vectors are shorter. What
# gcc can't have makes it forget the vectors of half the length, for what is left of a row (measured, medians of rows
# of a thousand bytes by AVX2: 1.2 times as long).
_SHORTER = "#if defined(__clang__) || !defined({})"
_OTHERS = (NOT_UNROLLED[0], *map(_SHORTER.format, SHUFFLES.values()))
# The directive of a vector loop, with the length of vectors for others.
_FOR_BOTH = re.compile(
    rf"^ *(?:{'|'.join(map(re.escape, _OTHERS))})\n *#pragma (omp (?:parallel for )?simd)(|  *[^\n]*)\n"
    r" *#else\n *#pragma \1 simdlen\((\d+)\)\2\n *#endif\n",
    re.MULTILINE,
)
# How often gcc repeats a short body.
UNROLLED = "#pragma GCC unroll 4"
# How often it repeats that of rows beside each other: as many as there are.
BESIDE = "#pragma GCC unroll 16"
# What keeps gcc from writing the iterations of a small loop out, before it looks for vectors. (clang makes these first,
# and is to write out what is left: half the time, for 16 bytes.)
KEPT = ("#ifndef __clang__", "#pragma GCC unroll 1", "#endif")
# The same lines in a text, with what they are about behind them.
HINT = re.compile(
    rf"^ *{re.escape(NOT_UNROLLED[0])}\n"
    rf"^ *(?:{'|'.join(map(re.escape, (NOT_UNROLLED[1], *_AT_ONCE.values())))})\n"
    rf"^ *{re.escape(NOT_UNROLLED[2])}\n"
    "|"
    + "".join(rf"^ *{re.escape(line)}\n" for line in KEPT)
    + r"(?= *for \()"
    + rf"|^ *(?:{re.escape(UNROLLED)}|{re.escape(BESIDE)})\n(?= *for \()",
    re.MULTILINE,
)
# Operations of a body that is short, and iterations of a loop that compilers write out anyway.
_SHORT, _FEW = 12, 16


def for_both(directive: str, lanes: int, size: int) -> tuple[str, ...]:
    """The lines of a vector loop's directive, which asks other compilers than clang for vectors of so many elements,
    where the target has vectors of so many bytes."""
    start, middle, rest = directive.partition("simd")
    wide = f"{start}{middle} simdlen({lanes}){rest}"
    others = _SHORTER.format(SHUFFLES[size]) if size in SHUFFLES else NOT_UNROLLED[0]
    return (others, f"#pragma {directive}", "#else", f"#pragma {wide}", "#endif")


def narrowest(scop: Scop, loop: For) -> int:
    """Bits of the narrowest cells of arrays that a loop's statements access; 0 if none are listed."""
    found = {one.array for call in calls(loop.body) for one in scop.statement(call.statement).accesses}
    return min((scop.arrays[name].type.bits for name in found if scop.arrays[name].rank), default=0)


def is_for_both(lines: Sequence[str]) -> bool:
    """Whether lines are such a directive."""
    return _FOR_BOTH.fullmatch("".join(f"{line}\n" for line in lines)) is not None


def without_hints(text: str) -> str:
    """A text with one line for a directive, and without what one compiler alone is told."""
    return HINT.sub("", _FOR_BOTH.sub(r"#pragma \1 simdlen(\3)\2\n", text))


def not_unrolled(scop: Scop, loop: For, length: float) -> tuple[str, ...]:
    """The lines that keep clang from unrolling a loop with so many iterations before it looks for vectors."""
    inside = [scop.statement(one.statement) for one in calls(loop.body)]
    named = {node.name for one in inside for node in walk(one.body) if isinstance(node, ir.ID)}  # buffers, too
    named |= {access.array for one in inside for access in one.accesses}
    widest = max((scop.arrays[name].type.bits or 0 for name in named & scop.arrays.keys()), default=0) // 8
    width = _VECTOR // widest if widest else 0
    whole = next((line for (one, vectors), line in _AT_ONCE.items() if one == width and length == one * vectors), None)
    if whole is None or len(inside) < len(loop.body.items):
        return NOT_UNROLLED
    return NOT_UNROLLED[0], whole, NOT_UNROLLED[2]


def plain_hints(scop: Scop, loop: For, length: float, *, divided: bool) -> tuple[str, ...]:
    """The lines in front of a loop without a directive of OpenMP. length: how many iterations it may have. divided:
    each has a divisor of its own."""
    if divided or takes_turns(scop, loop):
        return (UNROLLED,)
    if loop.mark.scalar and length < loop.mark.most:
        return (BESIDE,)
    if loop.mark.most and length == loop.mark.most - 1 and not loop.mark.jammed:
        return NOT_UNROLLED  # of rows' addresses, written out, clang stores most on the stack
    return KEPT if loop.mark.kept else ()


def is_not_unrolled(lines: Sequence[str]) -> bool:
    """Whether lines say that."""
    return (
        len(lines) == len(NOT_UNROLLED)
        and (lines[0], lines[2]) == (NOT_UNROLLED[0], NOT_UNROLLED[2])
        and (lines[1] == NOT_UNROLLED[1] or lines[1] in _AT_ONCE.values())
    )


def leaves_roots(scop: Scop, loop: For) -> bool:
    """Whether a vector loop puts square roots where they belong, as at the end of a strip: of what clang unrolls around
    it, it may find no more vectors, and each root by itself takes as long as a vector of them."""
    if not loop.mark.simd or loop.mark.parallel or not calls_roots(scop, loop.body):
        return False
    accesses = (one for call in calls(loop.body) for one in scop.statement(call.statement).accesses)
    written = [scop.arrays[one.array] for one in accesses if one.is_write]
    return all(array.rank and not (array.local or array.memory) for array in written)


def takes_turns(scop: Scop, loop: For) -> bool:
    """Whether a loop does nothing but hand integers on, or look narrow ones up, in a few operations and without
    branches. One of a few iterations is written out by compilers, which may make vectors of the loop around then,
    unless it is unrolled in part."""
    if loop.mark.simd or loop.mark.parallel or loop.mark.jammed or loop.mark.scalar or _is_written_out(loop):
        return False
    match loop.body:
        case Block(items=[*items]) if all(isinstance(one, Call) for one in items):
            statements = [scop.statement(one.statement) for one in items if isinstance(one, Call)]
        case _:
            return False
    written = {access.array for one in statements for access in one.accesses if access.is_write}
    integers = all(scop.arrays[name].type.integer for name in written)
    short = sum(1 + arithmetic(one.body) for one in statements) <= _SHORT
    if not integers or not short or not all(map(is_straight, statements)):
        return False
    return any(narrow_lookups(scop, one) for one in statements) or _hands_on(scop, statements, written)


def _is_written_out(loop: For) -> bool:
    match loop:
        case For(lower=Const(value=first), upper=Const(value=last)):
            return last - first < _FEW * loop.step
    return False


def _hands_on(scop: Scop, statements: Sequence[Statement], written: AbstractSet[str]) -> bool:
    """Whether a body reads other cells of an array than those that it writes, or a variable before it gives it a value,
    which some other statement takes: sums that only the end of a loop takes have vectors."""
    given, early = set[str](), dict[str, str]()
    for statement in statements:
        writes = [access for access in statement.accesses if access.is_write]
        for access in (one for one in statement.accesses if not one.is_write and one.array in written):
            own = [one.relation for one in writes if one.array == access.array]
            if not scop.arrays[access.array].rank:
                if access.array not in given:
                    early.setdefault(access.array, statement.name)
                if early.get(access.array, statement.name) != statement.name:
                    return True
            elif access.array not in given and not any(access.relation.is_equal(one) for one in own):
                return True
        given |= {one.array for one in writes}
    return False


def is_straight(statement: Statement) -> bool:
    """Whether a statement is an assignment without branches and calls."""
    if not isinstance(statement.body, ir.Assignment):
        return False
    return not any(
        isinstance(node, ir.FuncCall) or (isinstance(node, ir.BinaryOp) and node.op in ("&&", "||"))
        for node in walk(statement.body)
    )
