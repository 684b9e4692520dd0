"""How long results wait for their operands."""

from __future__ import annotations

from scopt.scheduler.decisions.latencies import longest_circuit


def test_the_longest_way_through_an_iteration_counts() -> None:
    inside = {("a", "b"): 4, ("b", "c"): 3, ("a", "c"): 5}
    assert longest_circuit(inside, {("c", "a"): 2}) == 9
    assert longest_circuit(inside, {("b", "b"): 1, ("a", "b"): 1}) == 1


def test_circuits_of_inner_loops_have_an_end() -> None:
    inside = {("a", "b"): 4, ("b", "a"): 4, ("b", "c"): 3, ("a", "a"): 1}
    assert longest_circuit(inside, {("c", "b"): 2}) == 5
    assert longest_circuit(inside, {("c", "d"): 2}) == 0
