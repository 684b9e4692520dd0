"""Chains that run beside each other in the source: a loop over them isn't taken outside."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import union_of_sets
from scopt.scheduler.passes.overlapping import parts_chains
from tests.sources import scop_of

DIFFUSED = "e[i][j + 1][k] += (e[i][j][k] + v[i][j][k]) / 7;"


@pytest.mark.parametrize(
    ("count", "step", "order", "parts"),
    [
        (3, DIFFUSED, "kij", True),
        (3, DIFFUSED, "ikj", True),
        (3, DIFFUSED, "ijk", False),  # as in the source
        (30, DIFFUSED, "kij", False),  # not written out
        (8, "e[i][j + 1][k] += e[i][j][k] + 16 * v[i][j][k];", "kij", False),  # a chain of one cycle
        (3, "v[i][j][k] = e[i][j][k] / 7;", "kij", False),  # none
    ],
)
def test_small_loops_hide_what_their_chains_wait_for(count: int, step: str, order: str, parts: bool) -> None:
    loops = f"for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < {count}; k++)"
    scop = scop_of(f"{loops} {{ {step} }}", "int n, int m, int e[101][102][32], unsigned char v[100][100][32]")
    deps, options = dependences(scop), Options()
    node = isl.Schedule.from_domain(union_of_sets(one.domain for one in scop.statements)).get_root().child(0)
    for iterator in reversed(order):
        node = node.insert_partial_schedule(isl.MultiUnionPwAff(f"[{{ S0[i, j, k] -> [({iterator})] }}]"))
    assert parts_chains(scop, deps, options, MarkedSchedule(node.get_schedule(), {})) is parts
