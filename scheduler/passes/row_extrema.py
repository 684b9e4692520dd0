"""Extrema of rows: the least or greatest floating-point number of a nest is that of its rows' ones, in their order.

In ``for j for i { v[j][i] = f(u, j, i); d = fabs(v[j][i] - u[j][i]); if (d > most) most = d; }`` each iteration looks
at what the one before has found. Threads and lanes may not compare in any order, since there are two zeros; but a
comparison that only lets through what is better may be made with the best one of some iterations that follow each other
in place of each of these: the first of the best ones is the same, and what is no number is never taken. So each row
begins anew, and what rows have found is compared behind them (`scopt.scheduler.passes.row_results`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from scopt.ir.scop import Dependences, Scop, Statement
from scopt.poly import trees
from scopt.poly.dependences import dependences
from scopt.poly.first_best import is_first_best
from scopt.poly.isl_utils import IN, sets_of, union_of_sets
from scopt.poly.reductions import BETTER, Update, update_of
from scopt.poly.reordering import is_best_in_any_order
from scopt.poly.source_iterations import in_one_iteration, is_carried
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.passes.private_tables import Counted, with_table
from scopt.scheduler.passes.totals import total_around

_FLOATS = (32, 64)


def with_row_extrema(scop: Scop, deps: Dependences) -> Scop | None:
    """The SCoP with an extremum for each row of what rows find that nothing else keeps in order; None without any.
    deps: with reductions in any order as far as that is allowed."""
    made, names, numbers = scop, set[str](), frozenset(_numbers(scop))
    for name in sorted(numbers):
        found = _found(made, name, deps, numbers)
        if found is not None:
            made, own = with_table(made, found)
            made = replace(made, arrays={**made.arrays, own: replace(made.arrays[own], private=True)})
            names |= {one.name for one in found.statements}
    if not names:
        return None
    # what is found in any order is found where it is computed
    names = {name for name in names if not is_best_in_any_order(made, made.statement(name))}
    return replace(made, schedule=trees.build(_apart(made, names, trees.read(made.schedule.get_root()))))


def _numbers(scop: Scop) -> Iterator[str]:
    """The variables, and arrays some cell of which is one, that are extrema."""
    best = [one for one in scop.statements if is_first_best(scop, one)]
    for name in {access.array for one in best for access in one.accesses if access.is_write}:
        array, kind = scop.arrays[name], scop.arrays[name].type
        led = array.pointer and not array.rank
        if not (array.within or array.flat or led or kind.volatile or kind.atomic) and kind.bits in _FLOATS:
            yield name


def _found(scop: Scop, name: str, deps: Dependences, numbers: Collection[str]) -> Counted | None:
    """numbers: those that keep no rows in order, as they get extrema of rows."""
    loops = source_loops(scop)
    users = [one for one in scop.statements if any(access.array == name for access in one.accesses)]
    updates: Mapping[str, Update | None] = {one.name: update_of(scop, one) for one in users}
    for first in users:
        update = updates[first.name]
        if update is None or update.array != name or update.operator not in BETTER:
            continue
        for depth in range(1, len(loops[first.name])):
            if _in_order(scop, deps, loops, first, numbers, depth):
                continue
            found = total_around(scop, loops, first, updates, depth)
            if found is not None and all(is_first_best(scop, one) for one in found.statements):
                return found
    return None


def _in_order(
    scop: Scop, deps: Dependences, loops: Mapping[str, Loops], first: Statement, numbers: Collection[str], depth: int
) -> bool:
    """Whether something else keeps the iterations of a loop in order, the last one of so many around a statement."""
    inside = {one for one, own in loops.items() if own[:depth] == loops[first.name][:depth]}
    for one in deps.select("flow", "anti", "output"):
        if one.array in numbers or not {one.source, one.sink} <= inside:
            continue
        if one.kind != "flow" and scop.arrays[one.array].private:
            continue
        if is_carried(one.relation, depth - 1):
            return True
    return False


# --- loops of their own -----------------------------------------------------------------------------------------------


def _apart(scop: Scop, names: Collection[str], tree: trees.Tree) -> trees.Tree:
    """The tree with what is compared in loops of its own behind innermost ones that carry nothing else, or in front of
    them: these are vector loops then."""
    match tree:
        case trees.Sequence(parts):
            return trees.Sequence(tuple(_apart(scop, names, part) for part in parts))
        case trees.Band(partial, body) if trees.has_bands(body):
            return trees.Band(partial, _apart(scop, names, body))
        case trees.Band(partial, body):
            inside = {str(one.get_tuple_name()): one for one in sets_of(trees.domain_of(tree))}
            taken = _computing(scop, names, inside.keys())
            rest = inside.keys() - taken
            order = next((one for one in ((rest, taken), (taken, rest)) if _may_stand(scop, *one, rest)), ())
            if not taken or not rest or not order:
                return tree
            found = []
            for some in order:
                domain = union_of_sets(inside[name] for name in sorted(some))
                part = trees.restricted(body, domain)
                assert part is not None
                found.append(trees.Band(partial.intersect_domain(domain), part))
            return trees.Sequence(tuple(found))
    return tree


def _computing(scop: Scop, names: Collection[str], inside: Collection[str]) -> set[str]:
    """The statements that compare, with those that only compute for them."""
    taken = {*names} & {*inside}
    size = 0
    while taken and size != len(taken):
        size = len(taken)
        for one in scop.statements:
            written = {access.array for access in one.accesses if access.is_write}
            own = all(scop.arrays[name].private and not scop.arrays[name].rank for name in written)
            if one.name not in inside or one.name in taken or not own:
                continue
            users = {s.name for s in scop.statements if any(a.array in written for a in s.accesses)} - {one.name}
            if users <= taken:
                taken.add(one.name)
    return taken


def _may_stand(scop: Scop, first: Collection[str], second: Collection[str], plain: Collection[str]) -> bool:
    """Whether all instances of one row of some statements may run before those of others. plain: those of them that are
    to carry nothing then."""
    for one in dependences(scop).strict().select("flow", "anti", "output"):
        back = one.source in second and one.sink in first
        if not (back or (one.source in plain and one.sink in plain)):
            continue
        depth = one.relation.dim(IN) - 1
        if one.source in plain and scop.arrays[one.array].private and one.kind != "flow":
            continue
        if is_carried(one.relation, depth) or (back and not in_one_iteration(one.relation, depth).is_empty()):
            return False
    return True
