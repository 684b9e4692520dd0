"""Ordered tails: of a loop that does much in each iteration, and has to keep its order for little, the little stands
behind the loop.

In ``for i { x = …; for s { x = f(x); } sum += x; }`` iterations have nothing to do with each other but for the sum,
whose order stays (loop distribution: Kennedy and McKinley, "Loop distribution with arbitrary control flow", 1990).
With ``x_all[i]`` in place of ``x``, threads share the loop, and the sum has one of its own behind it. That holds for
paths of a simulation and what they are averaged to, for particles and their energy, for items and the list that they go
to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from math import prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.nest import Expr
from scopt.ir.scop import Access, Array, Dependences, Scop
from scopt.machine import Machine
from scopt.machine.costs import handed_cost, instance_cost, shared_work
from scopt.poly import trees
from scopt.poly.array_extents import extents
from scopt.poly.isl_utils import SET, constant_pw_aff, sets_of, union_of_sets
from scopt.poly.loop_lengths import at_estimates
from scopt.poly.loop_order import statements_in_order
from scopt.poly.row_extents import only_for
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.decisions.loop_values import iterations
from scopt.scheduler.passes.expansion import Expansion, common_depth, new_name, with_cells
from scopt.scheduler.passes.line_work import Lines
from scopt.scheduler.passes.row_results import Row, split_rows

# Of what an iteration takes, what handing values on may take at most: two threads gain an eighth then.
_HANDED = Fraction(3, 8)
# The same where one thread has to do it, too, which has nothing for it (chosen).
_HANDED_ALONE = Fraction(1, 16)
# Of what an iteration takes, what keeps its order may take at most: two threads gain a quarter then.
_TAIL = Fraction(1, 2)
# Bytes that handed values take at most (chosen: several times what caches hold; more may be more than there is).
_MEMORY = 1 << 28
# Of what such iterations take, what else a region does may take at most, where one thread has the original (chosen).
_REST = Fraction(1, 8)


class Tails(Struct, frozen=True, eq=False):
    """A SCoP with cells for what is handed to tails; its schedule is the source's order, but that tails stand behind
    their loops. free: the statements that stay in these, for threads; most: they do nearly all of the work."""

    expansion: Expansion
    free: frozenset[str]
    most: bool


def tails_apart(scop: Scop, deps: Dependences, machine: Machine) -> Tails | None:
    """The SCoP with tails behind the outermost loops that gain by it; None if none does. deps: with reductions in any
    order as far as that is allowed."""
    found = _tails(scop, deps, machine, _HANDED)
    return found if found is None or found.most else _tails(scop, deps, machine, _HANDED_ALONE)


def _tails(scop: Scop, deps: Dependences, machine: Machine, share: Fraction) -> Tails | None:
    """share: of what an iteration takes, what handing values on may take at most."""
    made, sizes, rows = scop, dict[str, tuple[Expr, ...]](), list[Row]()
    loops, done = source_loops(scop), set[Loops]()
    for own in sorted({around[:depth] for around in loops.values() for depth in range(1, len(around) + 1)}):
        if any(own[: len(one)] == one for one in done):
            continue
        inside = {one.name: one for one in scop.statements if loops[one.name][: len(own)] == own}
        lines = Lines(scop, own, inside)
        tail = statements_in_order(scop, deps, own)
        if not tail:
            done.add(own)  # threads share it as it is
            continue
        found = _with_handed(made, deps, lines, tail, machine, share)
        if found is not None:
            made, own_sizes = found
            sizes.update(own_sizes)
            rows.append(Row(inside, len(own), tail))
            done.add(own)
    if not rows:
        return None
    tree = trees.read(scop.schedule.get_root())
    for row in rows:
        tree = split_rows(tree, row)
    free = frozenset(name for row in rows for name in row.statements.keys() - row.tail)
    others = (one.name for one in scop.statements if not any(one.name in row.statements for row in rows))
    most = _time(scop, others, 0, machine) <= _REST * _time(scop, free, 0, machine)
    return Tails(Expansion(replace(made, schedule=trees.build(tree)), sizes), free, most)


def _with_handed(
    made: Scop, deps: Dependences, lines: Lines, tail: frozenset[str], machine: Machine, share: Fraction
) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    """The SCoP with cells for what a loop hands to its tail, and their sizes; None where that gains nothing, or can't
    be done. made: what others have become of it."""
    scop, depth = lines.scop, len(lines.loops)
    free = lines.statements.keys() - tail
    handed = _handed(deps, lines, tail)
    mine, others = (_time(scop, some, depth, machine) for some in (free, tail))
    moved = sum((handed_cost(machine, size) for size in _sizes(lines, tail, free)), Fraction(0))
    if others + 2 * moved > _TAIL * mine or 2 * moved > share * mine:
        return None
    if not _is_forked_once(deps, lines) or _is_shared_inside(deps, lines, free, machine):
        return None
    sizes: dict[str, tuple[Expr, ...]] = {}
    for array in handed:
        found = _with_cells(made, deps, lines, array)
        if found is None:
            return None
        made, own = found
        sizes.update(own)
    return made, sizes


def _time(scop: Scop, names: Iterable[str], depth: int, machine: Machine) -> Fraction:
    """Nanoseconds that some statements take in one iteration of the loops around, so many of them, on one core."""
    counts, total = iterations(scop), Fraction(0)
    for name in names:
        total += instance_cost(scop.statement(name).body, machine) * prod(counts[name][depth:], start=1)
    return total


def _handed(deps: Dependences, lines: Lines, tail: frozenset[str]) -> list[Array]:
    """The private arrays whose values the tail takes from the rest of an iteration."""
    flows = (one for one in deps.strict().select("flow") if one.sink in tail and one.source in lines.statements)
    names = dict.fromkeys(one.array for one in flows if one.source not in tail)
    return [lines.scop.arrays[name] for name in names if lines.scop.arrays[name].private]


def _with_cells(
    made: Scop, deps: Dependences, lines: Lines, array: Array
) -> tuple[Scop, dict[str, tuple[Expr, ...]]] | None:
    """The SCoP with cells for each iteration of a loop, and of those inside of it that compute the values anew, in the
    place of a private array's, and their sizes; None where that can't be."""
    inside = lines.statements.keys()
    ends = [
        (one.source in inside, one.sink in inside) for one in deps.strict().select("flow") if one.array == array.name
    ]
    within = Dependences(tuple(one for one in deps.strict().all if {one.source, one.sink} <= inside))
    own = replace(lines.scop, statements=tuple(lines.statements.values()))
    levels = common_depth(own, within, array) if all(a == b for a, b in ends) and not array.pointer else 0
    if levels < len(lines.loops):
        return None
    name = new_name(made, array)
    iterators = range(lines.row, levels)
    users = [one for one in made.statements if any(access.array == array.name for access in one.accesses)]
    cells = {one.name: with_cells(one, array, name, iterators) for one in users if one.name in inside}
    relations = [a.relation for one in cells.values() for a in one.accesses if a.array == name]
    sizes = extents(made, relations)
    fitting = _fitting(union_of_sets(one.range() for one in relations), array)
    made = only_for(made, fitting)
    about = {one.name: one.estimate for one in made.parameters if one.estimate is not None}
    if sizes is None or at_estimates(made.context, about).is_empty():
        return None
    unknown = (None,) * len(sizes)
    arrays = {**made.arrays, name: Array(name, name, array.type, unknown, unknown)}
    kills = made.kills
    if len(cells) == len(users):  # nothing else uses it
        del arrays[array.name]
        kills = tuple(one for one in kills if all(access.array != array.name for access in one.accesses))
    statements = tuple(cells.get(one.name, one) for one in made.statements)
    return replace(made, statements=statements, arrays=arrays, kills=kills), {name: sizes}


def _fitting(cells: isl.UnionSet, array: Array) -> isl.Set:
    """The parameters with which cells take no more memory than anybody may want to spend on them."""
    (whole,) = sets_of(cells)
    left, lengths = _MEMORY // _bytes(array), list[isl.PwAff]()
    for k in range(whole.dim(SET)):
        size = whole.dim_max(k).add(constant_pw_aff(1))
        if size.is_cst() and size.n_piece() == 1:
            left //= max(int(size.max_val().to_python()), 1)
        else:
            lengths.append(size)
    params = whole.params() if left else isl.Set.empty(whole.params().get_space())
    for size in lengths:
        each = constant_pw_aff(int(left ** (1 / len(lengths))))
        params = params.intersect(each.sub(size).nonneg_set())
    return params


def _bytes(array: Array) -> int:
    return max((array.type.bits or 64) // 8, 1)


def _sizes(lines: Lines, tail: frozenset[str], free: Iterable[str]) -> Iterator[int]:
    """Bytes that an iteration hands to its tail, array by array: cells that both access."""
    counts, written = iterations(lines.scop), dict[str, int]()
    for name in free:
        times = prod(counts[name][len(lines.loops) :], start=1)
        for access in lines.scop.statement(name).accesses:
            if access.is_write:
                written[access.array] = max(written.get(access.array, 0), times)
    read = {access.array: lines.scop.arrays[access.array] for name in sorted(tail) for access in _reads(lines, name)}
    for name, array in read.items():
        if name in written:
            yield written[name] * _bytes(array)


def _reads(lines: Lines, name: str) -> Iterator[Access]:
    return (access for access in lines.scop.statement(name).accesses if access.kind == "read")


def _is_shared_inside(deps: Dependences, lines: Lines, free: Collection[str], machine: Machine) -> bool:
    """Whether threads can share loops inside of an iteration that do most of its work, and enough to be forked for."""
    scop, depth, loops = lines.scop, len(lines.loops), source_loops(lines.scop)
    inner = {loops[name][:deep] for name in free for deep in range(depth + 1, len(loops[name]) + 1)}
    shared = set[str]()
    for around in sorted(inner, key=len):
        inside = {name for name in free if loops[name][: len(around)] == around} - shared
        own = _time(scop, inside, len(around) - 1, machine)
        if inside and own > shared_work(machine) and not inside & statements_in_order(scop, deps, around):
            shared |= inside
    return 2 * _time(scop, shared, depth, machine) > _time(scop, free, depth, machine)


def _is_forked_once(deps: Dependences, lines: Lines) -> bool:
    """Whether each loop around keeps its order anyway: threads would share that one else."""
    around = (lines.loops[:depth] for depth in range(1, len(lines.loops)))
    return all(statements_in_order(lines.scop, deps, one) for one in around)
