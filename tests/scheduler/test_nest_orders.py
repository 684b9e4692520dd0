"""Nests that have register tiles by the scheduler's order keep it where those beside them get the source's back."""

from __future__ import annotations

import islpy as isl

from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.scheduler.passes.nest_orders import order_by_nests
from scopt.scheduler.passes.vector_share import in_vectors, share_of
from tests.sources import scop_of

PARAMS = """int n, double X[99][99][9], double W[3][3][9], double G[99][99][9], double A[99][99], double B[99][99],
double C[99][99], double *z"""
# The sum of all results keeps the loops over rows together in the order of the source.
PRODUCT = """for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) C[i][j] = A[i][j];
  for (k = 0; k < n; k++) for (j = 0; j < n; j++) C[i][j] += A[i][k] * B[k][j];
  for (j = 0; j < n; j++) z[0] += C[i][j]; }"""
# Schedulers skew these.
WINDOWS = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (int r = 0; r < 3; r++) for (int q = 0; q < 3; q++)
  for (k = 0; k < 9; k++) G[i + r][j + q][k] += X[i][j][k] * W[r][q][k];"""


def test_each_nest_has_the_order_that_is_better_for_it() -> None:
    scop = scop_of(PRODUCT + WINDOWS, PARAMS)
    deps, options = dependences(scop), Options()
    proposed = get_scheduler("pluto").schedule(scop, deps.strict(), options).tree
    marked, original = (apply_passes(scop, deps, tree, options) for tree in (proposed, scop.schedule))
    made = order_by_nests(scop, proposed, marked, original)
    assert made is not None
    windows = isl.UnionSet.from_set(scop.statement("S3").domain)
    last = made.get_map().intersect_domain(windows)
    assert not last.is_equal(proposed.get_map().intersect_domain(windows))
    root = made.get_root().child(0)
    assert root.get_type() == isl.schedule_node_type.sequence
    assert root.n_children() == len(scop.statements)
    assert order_by_nests(scop, proposed, original, original) is None
    found = in_vectors(apply_passes(scop, deps, made, options))
    assert {"S1", "S3"} <= found


def test_what_is_asked_of_some_statements_is_a_share_of_theirs() -> None:
    scop = scop_of(PRODUCT + WINDOWS, PARAMS)
    original = apply_passes(scop, dependences(scop), scop.schedule, Options())
    assert share_of(scop, {"S2"}, original) == 0.0
    assert share_of(scop, {"S1", "S2"}, original) == 1.0
