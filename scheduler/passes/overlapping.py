"""Chains of operations that run beside each other in the source: loops that a scheduler has taken that from.

``for x: for c < 3: { v = f(in[x][c], e[x][c]); e[x + 1][c] = g(v); }`` waits in each of three chains for the step
before, and a processor goes on with the other two meanwhile, as compilers write the small loop out. With the loop over
`c` outside, for threads or to have a permutable band, each chain waits alone: two threads take twice as long as one
has taken for all three (error diffusion of three colours).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule, loop_of
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.bands import band_nodes, ordered
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.loop_values import spans
from scopt.scheduler.decisions.strip_chains import Chains
from scopt.scheduler.locality.strides import shape_rows
from scopt.scheduler.passes.vector_share import in_vectors

# Iterations of a loop that compilers write out, with a body of some statements.
_MOST = 8
# Threads that have to gain: whatever the machine has, a text is run with fewer, too, and with one thread chains that
# wait alone take as many times as long as there are.
_THREADS = 2
# Of the time that chains take beside each other, what threads may take at most for one or a few of them each (the model
# is wrong by as much, either way).
_ALIKE = 0.9
_TYPE = isl.schedule_node_type


def parts_chains(scop: Scop, deps: Dependences, options: Options, schedule: MarkedSchedule) -> bool:
    """Whether chains wait alone in some loops of a schedule for longer than they would in the order of the source,
    where a small loop has them beside each other; nothing but that loop is shared by threads."""
    small = {one.name: spans(one)[-1] or 0 for one in scop.statements if len(one.iterators) > 1}
    small = {name: count for name, count in small.items() if 1 < count <= _MOST}
    if not small:
        return False
    chains, vectors = Chains(scop, deps.strict(), ordered(scop, deps), options), in_vectors(schedule)
    beside = [node for node in _leaves(scop.schedule) if _names(node) <= small.keys()]
    for node in _leaves(schedule.tree):
        names = _names(node)
        if not names <= small.keys() or names & vectors or not _stands_outside(scop, schedule, node):
            continue
        own = [one for one in beside if names <= _names(one)]
        if own and not chains.circuit(own[0], int(own[0].band_n_member()) - 1):
            counts = {small[name] for name in names}
            if len(counts) == 1 and _waits(chains, node, counts.pop()):
                return True
    return False


def _waits(chains: Chains, node: isl.ScheduleNode, count: int) -> bool:
    """Whether the steps of so many chains, one after the other or shared by threads, take as long as all of them beside
    each other."""
    machine = chains.options.machine
    work = Work.of(chains.scop, machine, node)
    steps = max(one.count for one in work.statements.values())
    busy = work.waiting_in(()).scalar(None, {}) / steps
    chain = chains.circuit(node, int(node.band_n_member()) - 1)
    return max(chain, busy) * ceil(count / _THREADS) >= _ALIKE * max(chain, busy * count)


def _leaves(tree: isl.Schedule) -> Iterator[isl.ScheduleNode]:
    return (node for node in band_nodes(tree) if not has_inner_bands(node))


def _names(node: isl.ScheduleNode) -> frozenset[str]:
    return frozenset(str(part.get_tuple_name()) for part in sets_of(node.get_domain()))


def _stands_outside(scop: Scop, schedule: MarkedSchedule, node: isl.ScheduleNode) -> bool:
    """Whether the statements' last iterator is the one of a loop around an innermost loop, which alone may be shared by
    threads."""
    names = sorted(_names(node))
    last = [len(scop.statement(name).iterators) - 1 for name in names]

    def moving(functions: isl.MultiUnionPwAff) -> Sequence[Sequence[tuple[int, ...]]]:
        return [
            [tuple(k for k in range(at + 1) if row[k]) for row in shape_rows(scop, functions, name)]
            for name, at in zip(names, last, strict=True)
        ]

    if any(not rows or at in rows[-1] for rows, at in zip(moving(node.band_get_partial_schedule()), last, strict=True)):
        return False
    outside, child = False, node
    while child.has_parent():
        child, below = child.parent(), child
        if child.get_type() == _TYPE.band:
            found = moving(child.band_get_partial_schedule())
            outside |= all((at,) in rows for rows, at in zip(found, last, strict=True))
        elif child.get_type() == _TYPE.mark and loop_of(schedule.mark(child)).parallel:
            shared = moving(below.band_get_partial_schedule()) if below.get_type() == _TYPE.band else []
            if not shared or any(rows[:1] != [(at,)] for rows, at in zip(shared, last, strict=True)):
                return False
    if not outside:  # in the innermost band itself
        found = moving(node.band_get_partial_schedule())
        outside = all((at,) in rows for rows, at in zip(found, last, strict=True))
    return outside
