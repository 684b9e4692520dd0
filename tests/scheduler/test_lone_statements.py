"""Statements that a scheduler puts into one iteration of a loop."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.options import Options
from scopt.poly.bands import ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import sets_of
from scopt.poly.legality import check_order
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.lone_statements import lone_apart
from tests.sources import scop_of


def apart(body: str) -> tuple[isl.Schedule, isl.Schedule]:
    """Pluto's tree, and what it becomes; checked to be legal."""
    scop = scop_of(body)
    deps = dependences(scop)
    own = ordered(scop, deps)
    tree = with_properties(scop, own, get_scheduler("pluto").schedule(scop, deps, Options()).tree)
    found = lone_apart(scop, own, tree)
    check_order(scop, deps, found.get_map())
    assert found.get_map().domain().is_equal(tree.get_map().domain())
    return tree, found


def members(tree: isl.Schedule) -> list[str]:
    """By child of the outermost sequence, which loops of its band carry nothing."""
    sequence = tree.get_root().child(0)
    bands = [sequence.child(k).child(0) for k in range(sequence.n_children())]
    return [
        "".join(str(int(one.band_member_get_coincident(k))) for k in range(one.band_n_member()))
        if one.get_type() == isl.schedule_node_type.band
        else ""
        for one in bands
    ]


ROWS = "for (i = 0; i < n; i++) { y[i] = 0; for (j = 1; j < m; j++) y[i] = x[j] / (y[i] - s); }"


def test_what_sets_a_scalar_runs_in_front() -> None:
    before, after = apart("s = x[0] + 1; " + ROWS)
    assert members(before) == ["1", "00"]
    assert members(after)[0] == "1"  # the rows' first cells
    sequence = after.get_root().child(0).child(1).child(0)
    assert [sequence.child(k).child(0).get_type() for k in range(2)] == [
        isl.schedule_node_type.leaf,
        isl.schedule_node_type.band,
    ]
    assert sequence.child(1).child(0).band_member_get_coincident(1)


@pytest.mark.parametrize(
    "body",
    [
        "s = x[0] + 1; for (i = 0; i < n; i++) for (j = 1; j < m; j++) y[i] = y[i] * y[j] - s;",  # both loops carry
        "for (i = 0; i < n; i++) { if (i == 2) s = y[i] + t; y[i] = y[i] * s; t = y[i]; }",  # nowhere else
    ],
)
def test_what_gains_nothing_stays(body: str) -> None:
    before, after = apart(body)
    assert after is before


def test_a_nest_in_one_iteration_of_a_loop_in_order_stands_in_front() -> None:
    body = """for (i = 0; i < n; i++) {
        s = 0; for (j = 0; j < m; j++) B[0][j] = A[i][j] + 1;
        for (k = 0; k < 5; k++) { t = 0; for (j = 0; j < m; j++) t += B[0][j] * k; if (t > s) s = t; }
        x[i] = s; }"""
    _, after = apart(body)
    rows = after.get_root().child(0).child(0)
    parts = [
        sorted(str(one.get_tuple_name()) for one in sets_of(rows.child(k).child(0).get_domain()))
        for k in range(rows.n_children())
    ]
    assert parts == [["S0"], ["S1"], ["S2", "S3", "S4"], ["S5"]]


def test_the_order_of_the_source_stays() -> None:
    body = """for (int i = 0; i < n; i++) {
      double a = x[i], b = a * 2, c = a + b, d = b - c, e = a * c, f, g;
      if (i % 2) { f = a; g = d; } else { f = e; g = b; }
      for (int j = 0; j < 3; j++) A[i][j] = f * y[j] + g;
    }"""
    order = [str(one.get_tuple_name()) for one in _leaves(apart(body)[1].get_root())]
    assert order == sorted(order, key=lambda name: int(name[1:]))
    assert len(order) > 9


def _leaves(node: isl.ScheduleNode) -> list[isl.Set]:
    """The instances below each leaf of a tree, in their order."""
    if node.get_type() == isl.schedule_node_type.leaf:
        return sets_of(node.get_domain())
    return [one for k in range(node.n_children()) for one in _leaves(node.child(k))]
