"""Ints that a loop chooses, and then makes floating-point numbers of: which statements choose them.

``if (k < 0) k = 0; if (k > 255) k = 255; w = p - k;`` is ``w = k > 255 ? p - 255.0f : …`` to gcc, which computes what a
constant becomes before it is chosen (`scopt.astgen.passes.folded_choices`), and then has operations on floating-point
numbers behind branches, of which it makes no vectors.
"""

from __future__ import annotations

from scopt import ir
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk


def choosing_converted_ints(scop: Scop, nest: LoopNest) -> frozenset[str]:
    """The names of statements, of loops whose places are computed ahead, that choose such ints."""
    found = set[str]()
    for loop in items(nest.body):
        if isinstance(loop, For) and loop.mark.placed:
            inside = [scop.statement(name) for name in dict.fromkeys(call.statement for call in calls(loop.body))]
            converted = {name for one in inside for name in _converted(scop, one)}
            found |= {one.name for one in inside if _chooses(one) and converted & _written(one)}
    return frozenset(found)


def _converted(scop: Scop, one: Statement) -> set[str]:
    """The variables of integers that a statement computes with beside floating-point numbers, not in subscripts."""
    types = {id(access.node): scop.arrays[access.array] for access in one.accesses}
    places = {id(node) for each in walk(one.body) if isinstance(each, ir.ArrayRef) for node in walk(each.subscript)}
    known = [types[id(node)] for node in walk(one.body) if id(node) in types and id(node) not in places]
    if not any(array.type.floating for array in known):
        return set()
    return {array.name for array in known if array.type.integer and not array.rank}


def _chooses(one: Statement) -> bool:
    return any(isinstance(node, ir.If | ir.TernaryOp) for node in walk(one.body))


def _written(one: Statement) -> set[str]:
    return {access.array for access in one.accesses if access.is_write}
