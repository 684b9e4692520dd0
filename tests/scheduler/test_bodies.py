"""What hands on scalars in an iteration is scheduled as one statement."""

from __future__ import annotations

import islpy as isl

from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import walk
from scopt.poly.legality import check_order
from scopt.poly.strip_loops import without_strips
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.scheduler.passes.bodies import with_bodies
from tests.sources import scop_of

# S0, S1 and S3 use s; S2 stands between, and has what one of them needs. S4 has nothing to do with these.
BODY = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  s = A[i][j] * 2; B[i][j] = s + x[j]; y[j] = B[i][j]; A[i][j] = s * y[j]; x[j] = i; }"""
# Columns of a grid: what is handed down them keeps the order of k, forwards and backwards, and of steps.
PARAMS = "int n, int m, int o, double a[99][70][80], double b[99][70][80], double c[70][80]"
COLUMNS = """for (t = 0; t < o; t++) {
  for (j = 0; j < m; j++) for (i = 0; i < n; i++) a[0][j][i] += c[j][i];
  for (k = 1; k < 99; k++) for (j = 0; j < m; j++) for (i = 0; i < n; i++) {
    double p = a[k][j][i] * 0.5, q = p + a[k - 1][j][i];
    b[k][j][i] = p / q; a[k][j][i] = q * b[k - 1][j][i]; }
  for (k = 97; k >= 0; k--) for (j = 0; j < m; j++) for (i = 0; i < n; i++)
    a[k][j][i] += b[k][j][i] * a[k + 1][j][i]; }"""


def test_what_shares_scalars_is_one_statement_with_what_stands_between() -> None:
    scop = scop_of(BODY)
    grouping = with_bodies(scop, dependences(scop))
    assert grouping is not None
    assert [sorted(one.statements) for one in grouping.compounds] == [["S0", "S1", "S2", "S3"]]
    assert [one.name for one in grouping.scop.statements] == ["M0", "S4"]


def test_nothing_is_grouped_where_arrays_hand_on() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { x[i] = A[0][i]; y[i] = x[i]; }")
    assert with_bodies(scop, dependences(scop)) is None


def test_strips_that_statements_do_not_know_are_no_dimension() -> None:
    body = "for (t = 0; t < n; t += 16) for (i = t; i < t + 16 && i < n; i++) { s = x[i] * 2; y[i] = s * s; }"
    scop = without_strips(scop_of(body))
    assert scop is not None
    deps = dependences(scop)
    grouping = with_bodies(scop, deps)
    assert grouping is not None
    (statement,) = grouping.scop.statements
    assert statement.iterators == ("i",)
    assert statement.domain.is_equal(isl.Set("[n] -> { M0[i] : 0 <= i < n }"))
    tree = grouping.expanded(get_scheduler("pluto").schedule(grouping.scop, grouping.deps, Options()).tree)
    assert tree is not None
    check_order(scop, deps, tree.get_map())


def test_columns_are_outside_of_steps_and_along_lines_inside() -> None:
    """The scheduler's band is columns, then steps; of the columns' two loops the one along lines is sunk below all
    others."""
    scop, options = scop_of(COLUMNS, PARAMS), Options(tile=False)
    deps = dependences(scop)
    grouping = with_bodies(scop, deps)
    assert grouping is not None
    tree = grouping.expanded(get_scheduler("pluto").schedule(grouping.scop, grouping.deps, options).tree)
    assert tree is not None
    check_order(scop, deps, tree.get_map())
    made = apply_passes(scop, deps, tree, options)
    check_order(scop, deps, made.tree.get_map())
    (outer, _), *inside = [
        (made.loop(node), str(node.child(0).band_get_partial_schedule()))
        for node in walk(made.tree.get_root())
        if node.get_type() == isl.schedule_node_type.mark
    ]
    assert outer.parallel
    assert all(mark.simd and "[(i)]" in function for mark, function in inside)
