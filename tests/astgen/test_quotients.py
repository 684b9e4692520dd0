"""Schedules whose wavefronts add up tiles' numbers."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.astgen.loops.quotients import with_quotients
from scopt.poly.isl_utils import operation_limit

DOMAIN = "[n] -> { S[t, i] : 0 <= t, i < n; T[t] : 0 <= t < n }"


def _tree(wavefront: str, tile: str) -> isl.Schedule:
    return isl.Schedule(
        f'{{ domain: "{DOMAIN}", child: {{ schedule: "[n] -> [{{ S[t, i] -> [({wavefront})]; T[t] -> [(t)] }},'
        f" {{ S[t, i] -> [({tile})]; T[t] -> [(0)] }}, {{ S[t, i] -> [(t)]; T[t] -> [(0)] }},"
        f' {{ S[t, i] -> [(i)]; T[t] -> [(0)] }}]", options: "{{ atomic[x] }}" }} }}'
    )


SUM = "floor((2t - i)/224) + floor((2t + i + 1)/224)"


def test_they_are_dimensions_in_front_of_the_iterators() -> None:
    tree, counts = with_quotients(_tree(SUM, "floor((2t - i)/224)"))
    assert counts == {"S": 2}
    expected = isl.UnionSet(
        "[n] -> { S[p, q, t, i] : 0 <= t, i < n and 224p <= 2t - i <= 224p + 223 and 224q <= 2t + i + 1 <= 224q + 223;"
        " T[t] : 0 <= t < n }"
    )
    found = tree.get_domain()
    swapped = isl.UnionMap("{ S[p, q, t, i] -> S[q, p, t, i]; T[t] -> T[t] }")
    assert found.is_equal(expected) or found.apply(swapped).is_equal(expected)


def test_the_order_stays() -> None:
    given = _tree(SUM, "floor((2t - i)/224)")
    tree, _ = with_quotients(given)
    own = isl.UnionMap("{ S[p, q, t, i] -> S[t, i]; T[t] -> T[t] }").intersect_domain(tree.get_domain())
    before = given.get_map().intersect_domain(given.get_domain())
    after = own.reverse().apply_range(tree.get_map())
    assert after.is_equal(before)


@pytest.mark.parametrize("wavefront", ["floor((2t - i)/224)", "t + i", "floor((2t - i)/224) + 3i"])
def test_what_adds_up_no_two_quotients_stays(wavefront: str) -> None:
    given = _tree(wavefront, "floor((2t - i)/224)")
    tree, counts = with_quotients(given)
    assert not counts
    assert tree.plain_is_equal(given)


def test_loops_are_found_at_once() -> None:
    inside = "0 <= t < m and 0 < i < n - 1"
    tiles = "S0[t, i] -> [(floor((2t - i - 1)/224))]; S1[t, i] -> [(floor((2t - i)/224))]"
    wavefronts = (
        "S0[t, i] -> [(floor((2t - i - 1)/224) + floor((2t + i)/224))];"
        "S1[t, i] -> [(floor((2t - i)/224) + floor((2t + i + 1)/224))]"
    )
    point = "S0[t, i] -> [(t)]; S1[t, i] -> [(t)]"
    given = isl.Schedule(
        f'{{ domain: "[m, n] -> {{ S0[t, i] : {inside}; S1[t, i] : {inside} }}", child: {{'
        f' schedule: "[m, n] -> [{{ {wavefronts} }}]", options: "{{ atomic[0] }}", child: {{'
        f' schedule: "[m, n] -> [{{ {tiles} }}]", options: "{{ atomic[0] }}", child: {{'
        f' schedule: "[m, n] -> [{{ {point} }}]" }} }} }} }}'
    )
    tree, _ = with_quotients(given)
    with operation_limit(80_000):
        isl.AstBuild.from_context(isl.Set("{ : }")).node_from_schedule(tree)
    with operation_limit(320_000), pytest.raises(isl.Error):
        isl.AstBuild.from_context(isl.Set("{ : }")).node_from_schedule(given)
