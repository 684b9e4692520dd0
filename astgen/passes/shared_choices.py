"""Choices of a vector loop that ask the same, of which gcc would make one branch.

``r[x] = x % 2 == 0 ? a : b; g[x] = x % 2 == 0 ? c : d;`` ask once for gcc: whoever knows the first answer knows the
second one, too (jump threading). What only one of the answers needs, as `b`, is computed behind that branch (sinking),
where the stores are as well, and processors without masks for bytes have no vector loop of it. Chosen by masks of bits,
there is no branch to be found (measured for a demosaiced image: a third of the time). Where both answers need
everything, nothing is behind a branch, and choices take fewer instructions than masks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from scopt import ir
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree, used_names, walk

# Bits of a cell up to which stores have no masks everywhere: AVX2 has some for ints.
_UNMASKED = 16


class _Group(Struct):
    """Choices of a loop that ask the same: the statements that they stand in, by name, and what each answer gives."""

    condition: ir.Node
    statements: set[str]
    sides: tuple[list[ir.Node], list[ir.Node]]


def shared_conditions(scop: Scop, nest: LoopNest) -> Mapping[str, tuple[ir.Node, ...]]:
    """By the names of statements of vector loops that store narrow cells, the conditions of their choices that others
    of the same loop ask, too, so that gcc makes branches of them."""
    found = dict[str, tuple[ir.Node, ...]]()
    for loop in items(nest.body):
        if isinstance(loop, For) and loop.mark.simd:
            inside = [scop.statement(name) for name in dict.fromkeys(one.statement for one in calls(loop.body))]
            written = {one.array for each in inside for one in each.accesses if one.is_write}
            computed = {name for name in written if not scop.arrays[name].rank}
            for group in _groups(one for one in inside if _stores_narrow(scop, one)):
                if len(group.statements) > 1 and _sinks(group, inside, computed):
                    for name in group.statements:
                        found[name] = (*found.get(name, ()), group.condition)
    return found


def asks(condition: ir.Node, others: Iterable[ir.Node]) -> bool:
    """Whether some of the conditions ask what this one does."""
    return any(same_tree(condition, one) for one in others)


def is_extreme(choice: ir.TernaryOp) -> bool:
    """Whether it gives one of two values that it compares, as extrema and magnitudes do: compilers have operations for
    these, which no branch is made of."""
    match choice.cond:
        case ir.BinaryOp(op="<" | ">" | "<=" | ">=", left=left, right=right):
            sides = (choice.iftrue, choice.iffalse)
            return all(any(same_tree(_size(side), one) for one in (left, right)) for side in sides)
    return False


def _size(side: ir.Node) -> ir.Node:
    return side.expr if isinstance(side, ir.UnaryOp) and side.op == "-" else side


def _groups(statements: Iterable[Statement]) -> list[_Group]:
    groups: list[_Group] = []
    for statement in statements:
        for choice in _choices(statement.body):
            group = next((one for one in groups if same_tree(one.condition, choice.cond)), None)
            if group is None:
                groups.append(group := _Group(choice.cond, set(), ([], [])))
            group.statements.add(statement.name)
            group.sides[0].append(choice.iftrue)
            group.sides[1].append(choice.iffalse)
    return groups


def _choices(node: ir.Node) -> Iterator[ir.TernaryOp]:
    """Those in what a statement assigns, those in others left out."""
    if isinstance(node, ir.TernaryOp):
        if not is_extreme(node):
            yield node
    elif not isinstance(node, ir.ArrayRef | ir.If):
        for part in node.parts:
            yield from _choices(part)


def _sinks(group: _Group, inside: Sequence[Statement], computed: set[str]) -> bool:
    """Whether there is something to compute for one answer alone: in place, or in a variable. computed: variables that
    the loop writes."""
    if any(isinstance(node, ir.BinaryOp) for side in group.sides for part in side for node in _outside(part)):
        return True
    read = Counter(name for one in inside for name in _read(one.body))
    return any(
        name in computed and count == read[name]
        for side in group.sides
        for name, count in Counter(used_names(*side)).items()
    )


def _outside(node: ir.Node) -> Iterator[ir.Node]:
    """The operations of a value, without those of subscripts."""
    yield node
    if not isinstance(node, ir.ArrayRef):
        for part in node.parts:
            yield from _outside(part)


def _read(body: ir.Node) -> Iterator[str]:
    """The names that a statement uses, without variables that it assigns."""
    assigned = {id(node.lvalue) for node in walk(body) if isinstance(node, ir.Assignment)}
    return (node.name for node in walk(body) if isinstance(node, ir.ID) and id(node) not in assigned)


def _stores_narrow(scop: Scop, statement: Statement) -> bool:
    written = [scop.arrays[access.array] for access in statement.accesses if access.is_write]
    return any(array.rank and array.type.integer and 0 < array.type.bits <= _UNMASKED for array in written)
