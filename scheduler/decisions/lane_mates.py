"""Short loops that would be a worse vector loop together: one of them has what keeps the other one's lanes few.

Compilers take vectors of as many elements for all cells of a loop, as many as the narrowest ones have lanes. In a loop
of eight iterations that stores bytes, single-precision numbers are computed two at a time: by itself, a loop over them
has vectors of eight. What no vector instruction computes leaves no vectors at all.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from scopt import ir
from scopt.ir.scop import Statement
from scopt.ir.walks import walk
from scopt.machine.costs import ELEMENT
from scopt.machine.vector_forms import takes_vectors
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.small_loops import is_short_always

# What gcc makes calls, or scalar instructions, of: their vector instructions don't raise what the functions may raise.
_ROUNDED = frozenset(name + kind for name in ("ceil", "floor", "round", "trunc") for kind in ("", "f"))


def spoils_lanes(setting: Setting, first: isl.ScheduleNode, second: isl.ScheduleNode) -> bool:
    """Whether what two nests come to in common loops is a worse vector loop than one of them has by itself. Only nests
    whose cells stay in the first cache from one to the next: others would bring lines from memory twice."""
    sides = [_statements(setting, node) for node in (first, second)]
    calling = [not all(_has_vectors(setting, one) for one in side) for side in sides]
    narrow = [min(_widths(setting, side), default=ELEMENT) for side in sides]
    machine = setting.options.machine
    if calling[0] != calling[1]:
        worse, most = int(calling[1]), machine.cache(1).share // (ELEMENT * _arrays(setting, [*sides[0], *sides[1]]))
    elif narrow[0] != narrow[1]:
        worse = int(narrow[1] < narrow[0])
        most = machine.vector_bytes // narrow[worse]
    else:
        return False
    return _is_short_inside((first, second)[worse], most)


def _is_short_inside(node: isl.ScheduleNode, most: int) -> bool:
    """Whether bands right inside of each other have at most so many iterations in their innermost loop, and in each of
    the others."""
    while True:
        if not all(is_short_always(node, member, most) for member in range(int(node.band_n_member()))):
            return False
        if not has_inner_bands(node):
            return True
        node = node.child(0)
        if node.get_type() != isl.schedule_node_type.band:
            return False


def _statements(setting: Setting, node: isl.ScheduleNode) -> list[Statement]:
    names = {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
    return [one for one in setting.scop.statements if one.name in names]


def _has_vectors(setting: Setting, statement: Statement) -> bool:
    called = (node.name for node in walk(statement.body) if isinstance(node, ir.FuncCall))
    rounded = any(isinstance(name, ir.ID) and name.name in _ROUNDED for name in called)
    return takes_vectors(setting.scop, statement) and not rounded


def _widths(setting: Setting, statements: Iterable[Statement]) -> set[int]:
    """Bytes of the cells that are accessed, structures apart."""
    arrays = (setting.scop.arrays[access.array] for one in statements for access in one.accesses)
    return {array.type.bytes for array in arrays if array.rank and array.type.bits}


def _arrays(setting: Setting, statements: Iterable[Statement]) -> int:
    return len({access.array for one in statements for access in one.accesses}) or 1
