"""Answers by classes of pairs are those for each pair of statements, and are asked for once a class."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active, agreeing_at, distances, nonnegative, ordered, zero
from scopt.poly.date_classes import DateClasses
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import IN, OUT, maps_of, walk
from scopt.poly.pair_classes import Classes
from tests.sources import scop_of

SCALARS = 40
CHAIN = " ".join(
    ["double t0 = A[i][j];"]
    + [f"double t{k} = t{k - 1} * t{k - 1} + 1.0;" for k in range(1, SCALARS)]
    + [f"B[i][j] = t{SCALARS - 1};"]
)
STRAIGHT = f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ {CHAIN} }}"
MIXED = """
  for (i = 1; i < n - 1; i++) {
    double s = 0.0;
    for (j = 1; j < n; j++) { double u = A[i - 1][j], v = A[i][j - 1]; s += u * v; A[i][j] = u + v; }
    B[i][0] = s; B[i][1] = B[i - 1][1] + s;
  }
  for (i = 0; i < n; i++) for (j = n - 1; j >= 1; j--) B[i][j] = B[i][j - 1] + A[i][j];
"""


@pytest.mark.parametrize("source", [STRAIGHT.replace(CHAIN, "double t = A[i][j]; B[i][j] = t;"), MIXED])
def test_answers_are_those_of_the_pairs_themselves(source: str) -> None:
    scop = scop_of(source)
    for node, member, found in _places(scop):
        place = agreeing_at(node, found)
        domain = node.get_domain()
        for pairs in (found.must, found.shared, *found.ranges.values(), *found.reuse.values()):
            direct, moves = distances(active(pairs, node), member), place.moves(pairs, member)
            assert (moves.empty, moves.zero, moves.forward) == (direct is None, zero(direct), nonnegative(direct))
            each = {_ends(one): distances(isl.UnionMap.from_map(one), member) for one in maps_of(active(pairs, node))}
            assert set(place.moving(pairs, member)) == {ends for ends, way in each.items() if not zero(way)}
            entering = pairs.intersect_range(domain).subtract_domain(domain)
            leaving = pairs.intersect_domain(domain).subtract_range(domain)
            stays = entering.is_empty() and leaving.is_empty()
            assert place.stays_inside(pairs) == stays
            assert place.is_entered(pairs) != pairs.intersect_range(domain).is_empty()
            assert place.is_left(pairs) != pairs.intersect_domain(domain).is_empty()
            touched = pairs.intersect_domain(domain).union(pairs.intersect_range(domain))
            assert place.keeps(pairs) == touched.is_subset(active(pairs, node))


def test_straight_code_is_asked_about_once() -> None:
    scop = scop_of(STRAIGHT)
    for node, member, found in _places(scop):
        place = agreeing_at(node, found)
        assert all(place.moves(pairs, member).zero for pairs in found.ranges.values())
        assert len(found.ranges) == SCALARS
        assert len(found.classes.moves) < 10


def _places(scop: Scop) -> list[tuple[isl.ScheduleNode, isl.UnionPwAff, Ordered]]:
    """Each member of each band of the source's order, with the dependences."""
    found = ordered(scop, dependences(scop))
    nodes = [node for node in walk(scop.schedule.get_root()) if node.get_type() == isl.schedule_node_type.band]
    return [
        (node, node.band_get_partial_schedule().get_at(k), found) for node in nodes for k in range(node.band_n_member())
    ]


def test_dates_are_alike_up_to_names_and_places_in_a_block() -> None:
    dates = isl.UnionMap("{ S[i] -> [0, i, 0]; T[i] -> [0, i, 1]; U[i] -> [0, i, 5]; V[i] -> [1, i, 0] }")
    own = DateClasses.of(Classes(), dates)
    assert own.between("S", "T") == own.between("T", "U") == own.between("S", "U")
    assert own.between("S", "T") != own.between("T", "S")
    assert own.between("S", "V") != own.between("S", "T")
    assert own.between("S", "S") != own.between("S", "T")
    assert own.between("S", "W") is None


def _ends(pairs: isl.Map) -> tuple[str, str]:
    return str(pairs.get_tuple_name(IN)), str(pairs.get_tuple_name(OUT))
