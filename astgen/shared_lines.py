"""Lines that the original reads anew for each row, and a strip of rows once for all of them.

In ``for i: for v: for u: s[i][v] += c[u][i] * e[u][v][0]`` each step takes another line of `e`, the same ones for each
`i`, and more of them than the first cache keeps from one row to the next. A strip over `i` is worth its buffers for few
rows then, whether or not compilers make vectors of them.
"""

from __future__ import annotations

from scopt import ir
from scopt.astgen.lower.strip_lowering import lane_of
from scopt.ir.marked_schedule import Strips
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import used_names, walk
from scopt.machine import Machine
from scopt.poly.linear import subscript_rows

# Rows from which on that pays (measured by gcc and clang: two rows take a third to half of the time, four a fifth to a
# third; of neighbouring cells instead, rows that fill no vectors take up to twice as long).
SHARED_ROWS = 4


def share_far_lines(source: Scop, strips: Strips, machine: Machine) -> bool:
    """Whether the rows of strips do that where they have most to do: two loops inside of theirs, at least, move what
    they all read, and the innermost one goes from line to line."""
    inside = [one for one in source.statements if one.name in strips.statements]
    most = max((len(one.iterators) for one in inside), default=0)
    return any(
        _is_shared(source, statement, access, lane_of(strips, statement.domain)[0], machine)
        for statement in inside
        if len(statement.iterators) == most
        for access in statement.accesses
        if not access.is_write and source.arrays[access.array].rank
    )


def _is_shared(source: Scop, statement: Statement, access: Access, row: int, machine: Machine) -> bool:
    inner = len(statement.iterators) - 1
    rows = subscript_rows(access.relation)
    if rows is None:
        moving, far = _by_name(source, statement, access, inner)
    else:
        moving = frozenset(k for one in rows for k, step in enumerate(one) if step)
        step = abs(rows[-1][inner]) * source.arrays[access.array].type.bytes
        far = any(one[inner] for one in rows[:-1]) or step >= machine.cache(1).line
    return far and row not in moving and sum(k > row for k in moving) > 1


def _by_name(source: Scop, statement: Statement, access: Access, inner: int) -> tuple[frozenset[int], bool]:
    """The iterators that a subscript that isn't affine mentions, where no data are in it, and whether it multiplies by
    a parameter what the innermost one moves."""
    match access.node:
        case ir.ArrayRef(name=ir.ID(), subscript=subscript) if not _asks_data(source, statement, subscript):
            pass
        case _:
            return frozenset(), False
    iterator, iterators = statement.iterators[inner], frozenset(statement.iterators)
    far = any(
        iterator in used_names(one) and iterators.isdisjoint(names := frozenset(used_names(other))) and bool(names)
        for node in walk(subscript)
        if isinstance(node, ir.BinaryOp) and node.op == "*"
        for one, other in ((node.left, node.right), (node.right, node.left))
    )
    names = frozenset(used_names(subscript))
    return frozenset(k for k, name in enumerate(statement.iterators) if name in names), far


def _asks_data(source: Scop, statement: Statement, subscript: ir.Node) -> bool:
    """Whether a subscript has cells, or scalars that the region sets."""
    written = {access.array for one in source.statements for access in one.accesses if access.is_write}
    data = {id(one.node) for one in statement.accesses if one.array in written}
    return any(isinstance(node, ir.ArrayRef) or id(node) in data for node in walk(subscript))
