"""What could be vectors, and stands beside a chain in an innermost loop: whether the chain hides it as it is.

In ``for k: { w[k] += t * a[k]; s += a[k] * v[k]; }`` the sum waits for itself, some cycles an iteration, in which the
units do the rest as well. In a vector loop of its own that takes time of its own, and both loops read what one read:
the two are slower than the one that the source has. What has more to do than fits beside the chain pays in lanes.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

import islpy as isl

from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.machine.costs import LOADS, STORES
from scopt.poly.isl_utils import sets_of
from scopt.poly.source_loops import source_loops
from scopt.scheduler.decisions.band_costs import Instance, Work
from scopt.scheduler.decisions.latencies import places_of, waiting
from scopt.scheduler.decisions.leaf_facts import Grouping, Hidden

# Of what loops of their own take by the model, what one loop may take in their place: what differs by less comes out
# either way.
_CLOSE = 1.1


def hidden_vectors(
    scop: Scop, machine: Machine, node: isl.ScheduleNode, member: int, grouping: Grouping
) -> Hidden | None:
    """The statements that could be vectors in an innermost loop over a band's member, if all of its groups take no
    longer in one loop, which the source has for them, one instance after the other, than with vector loops for those;
    None else."""
    free = [one or ahead for one, ahead in zip(grouping.free, grouping.ahead, strict=True)]
    if all(free) or not any(grouping.vectors):
        return None
    loops = source_loops(scop)
    if len({loops[str(part.get_tuple_name())] for part in sets_of(node.get_domain())}) > 1:
        return None  # other loops, of other lengths perhaps
    order = _names(grouping, [not one for one in free])
    chain = max(_chain(scop, machine, name) for name in order)
    if not chain:
        return None
    work = Work.of(scop, machine, node)
    kept = {member: inf}
    waits = max(work.statements[name].count for name in order) * chain
    own = max(_busy(work, order, kept), waits)
    together = max(_busy(work, work.statements.keys(), kept), own)
    others = frozenset(work.statements) - order
    hides = together <= _CLOSE * (own + work.vector(others, kept, member))
    return Hidden(others, together, max(waits - work.scalar(order, kept), 0.0)) if hides else None


def _names(grouping: Grouping, chosen: Collection[bool]) -> set[str]:
    groups = (group for group, one in zip(grouping.groups, chosen, strict=True) if one)
    return {str(part.get_tuple_name()) for group in groups for some in group for part in sets_of(some)}


def _chain(scop: Scop, machine: Machine, name: str) -> int:
    """Cycles that an instance of a statement waits for the one before: for what it writes itself."""
    statement = scop.statement(name)
    return waiting(scop, statement, places_of(one for one in statement.accesses if one.is_write), machine)


def _busy(work: Work, names: Collection[str], kept: dict[int, float]) -> float:
    """Cycles that the busiest unit takes for all instances of some statements, one by one."""
    some = [one for name, one in work.statements.items() if name in names]

    def total(unit: str) -> float:
        return sum(one.count * _units(one, kept)[unit] for one in some)

    return max(map(total, ("arithmetic", "loads", "stores", "divided")))


def _units(one: Instance, kept: dict[int, float]) -> dict[str, float]:
    uses = one.left(kept)
    return {
        "arithmetic": one.arithmetic,
        "loads": uses.loads / LOADS,
        "stores": uses.stores / STORES,
        "divided": one.divided,
    }
