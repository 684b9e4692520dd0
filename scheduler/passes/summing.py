"""Sums along several loops: the innermost of these loops, and those that walk through the cells, become a band.

In ``for i: for j: for p: for q: for k: C[i][j] += A[i + p][q][k] * B[p][q][j][k]`` each cell is a sum over p, q and k,
which keep their order: no band holds them all. The loops over i and j carry nothing, though, and may go inside: ``for
p: for q`` around a matrix product over i, j and k, whose cells are loaded and stored once for all of its steps.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active
from scopt.poly.isl_utils import joined, sets_of
from scopt.scheduler.decisions.contractions import contraction_of, shape_of, sums_of
from scopt.scheduler.locality.strides import linear_schedule

_BAND = isl.schedule_node_type.band
# Of what the bands cost as they are, what a product has to cost inside of them (measured: at a fifth it lost, with
# some ten rows, columns and steps: the model is about large ones).
_WORTH = 1 / 8


def products_below_sums(
    scop: Scop, dependences: Ordered, tree: isl.Schedule, cycles: Callable[[isl.ScheduleNode], float]
) -> isl.Schedule:
    """The tree with such bands inside of the other loops, wherever that is legal and costs less. Flags of the result
    have to be recomputed; without any, it is the tree itself.

    cycles: of bands right inside of each other, from the outermost one on.
    """

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _BAND and (chain := bands_down(node)) is not None:
            made = _product(scop, dependences, node, chain)
            return made if made is not None and cycles(made) < _WORTH * cycles(node) else node
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    made = descend(tree.get_root()).get_schedule()
    return tree if made.plain_is_equal(tree) else made


def bands_down(node: isl.ScheduleNode) -> list[isl.ScheduleNode] | None:
    """Bands right inside of each other, from a node down to a leaf; None if there is something else."""
    found = []
    while node.get_type() == _BAND:
        found.append(node)
        node = node.child(0)
    return found if node.get_type() == isl.schedule_node_type.leaf else None


def _product(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, chain: list[isl.ScheduleNode]
) -> isl.ScheduleNode | None:
    """The bands of one statement with the product's three loops innermost; None where it has none, has them already, or
    where they carry something."""
    names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
    statement = scop.statement(names[0]) if len(names) == 1 else None
    roles = shape_of(scop, statement) if statement is not None and sums_of(statement) > 1 else None
    if roles is None or contraction_of(scop, chain[-1]) is not None:
        return None
    tables = (dependences.ranges, dependences.reuse)
    if any(not active(pairs, node).is_empty() for table in tables for pairs in table.values()):
        return None  # iterations that need private copies would be mixed
    places = _places(scop, chain, names[0])
    row, column, step = (places.get(k) for k in roles)
    last = {(len(chain) - 1, k) for k in range(int(chain[-1].band_n_member()))}
    if row is None or column is None or step not in last or not last <= {row, column, step}:
        return None
    if not all(chain[number].band_member_get_coincident(member) for number, member in (row, column)):
        return None
    return _rebuilt(node, chain, (row, column, step))


def _places(scop: Scop, chain: list[isl.ScheduleNode], name: str) -> dict[int, tuple[int, int]]:
    """Band and member that follow an iterator of a statement step by step, by iterator."""
    places: dict[int, tuple[int, int]] = {}
    for number, band in enumerate(chain):
        for member, moves in enumerate(linear_schedule(scop, band).members.get(name, ())):
            moving = [k for k, value in enumerate(moves) if value]
            if len(moving) == 1 and abs(moves[moving[0]]) == 1:
                places.setdefault(moving[0], (number, member))
    return places


def _rebuilt(
    node: isl.ScheduleNode, chain: list[isl.ScheduleNode], inner: tuple[tuple[int, int], ...]
) -> isl.ScheduleNode:
    """The bands without some members, of which a permutable band is made inside of all others."""
    functions = [
        [band.band_get_partial_schedule().get_at(k) for k in range(int(band.band_n_member()))] for band in chain
    ]
    permutable = [int(bool(band.band_get_permutable())) for band in chain]
    node = node.cut().insert_partial_schedule(joined([functions[number][k] for number, k in inner]))
    node = node.band_set_permutable(1)
    for number in reversed(range(len(chain))):
        rest = [one for k, one in enumerate(functions[number]) if (number, k) not in inner]
        if rest:
            node = node.insert_partial_schedule(joined(rest)).band_set_permutable(permutable[number])
    return node
