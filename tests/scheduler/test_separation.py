"""Cuts between strongly connected components: the graph algorithms, and each fusion policy's groups."""

from __future__ import annotations

from collections.abc import Collection

import islpy as isl
import pytest
from hypothesis import given, settings, strategies as st

from scopt.ir.scop import Dependence
from scopt.scheduler.constraints.scheduling_problem import Edge, StatementSpace
from scopt.scheduler.construct.separation import (
    FusionPolicy,
    Part,
    Trial,
    at_start,
    components,
    strongly_connected,
    when_stuck,
)

NAMES = ("S0", "S1", "S2", "S3", "S4")


def edge(source: str, sink: str) -> Edge:
    return Edge(0, Dependence("flow", "A", source, sink, isl.Map(f"{{ {source}[] -> {sink}[] }}")), ())


def edges(*pairs: tuple[int, int]) -> tuple[Edge, ...]:
    return tuple(edge(NAMES[a], NAMES[b]) for a, b in pairs)


def spaces(*depths: int) -> dict[str, StatementSpace]:
    return {
        name: StatementSpace(name, tuple("ijk"[:depth]), (), (), ()) for name, depth in zip(NAMES, depths, strict=False)
    }


def untried(part: Part) -> bool:
    raise AssertionError(f"nothing was to be tried, but {part} was")


NEVER = Trial(untried, untried)


def trials(parallel: set[str], impossible: Collection[Part] = ()) -> Trial:
    """Loops are parallel around statements that all are; groups with an impossible one inside have no loop."""

    def possible(part: Part) -> bool:
        return not any(set(group) <= set(part) for group in impossible)

    return Trial(possible, lambda part: possible(part) and set(part) <= parallel)


# --- graphs -----------------------------------------------------------------------------------------------------------


def test_components_are_in_textual_order() -> None:
    assert components(NAMES, edges((0, 3), (4, 1))) == [("S0", "S3"), ("S1", "S4"), ("S2",)]


def test_tied_statements_are_one_component() -> None:
    assert components(NAMES, edges((0, 3)), [{"S3", "S1"}]) == [("S0", "S1", "S3"), ("S2",), ("S4",)]


def test_cycles_are_components_and_come_in_topological_order() -> None:
    assert strongly_connected(NAMES, edges((3, 1), (1, 3), (3, 0), (2, 4))) == [("S1", "S3"), ("S0",), ("S2",), ("S4",)]


def test_text_decides_where_dependences_do_not() -> None:
    assert strongly_connected(NAMES, edges((4, 2))) == [("S0",), ("S1",), ("S3",), ("S4",), ("S2",)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9))
def test_strongly_connected_components_are_the_mutually_reachable(pairs: list[tuple[int, int]]) -> None:
    parts = strongly_connected(NAMES, edges(*pairs))
    reach = {(a, a) for a in range(5)} | set(pairs)
    for middle in range(5):
        reach |= {(a, b) for a in range(5) for b in range(5) if (a, middle) in reach and (middle, b) in reach}
    place = {name: k for k, part in enumerate(parts) for name in part}
    assert sorted(name for part in parts for name in part) == list(NAMES)
    for a in range(5):
        for b in range(5):
            assert (place[NAMES[a]] == place[NAMES[b]]) == ((a, b) in reach and (b, a) in reach)
            assert (a, b) not in reach or place[NAMES[a]] <= place[NAMES[b]]


# --- policies at the start of a band ----------------------------------------------------------------------------------

PARTS = [("S0",), ("S1",), ("S2",)]
CHAIN = edges((0, 1), (1, 2))


def test_max_keeps_everything_together() -> None:
    assert at_start("max", PARTS, CHAIN, spaces(1, 2, 3), NEVER) == [("S0", "S1", "S2")]


def test_no_cuts_everything_apart() -> None:
    assert at_start("no", PARTS, CHAIN, spaces(2, 2, 2), NEVER) == PARTS


def test_smart_keeps_neighbours_of_one_depth_together() -> None:
    assert at_start("smart", PARTS, CHAIN, spaces(2, 2, 1), NEVER) == [("S0", "S1"), ("S2",)]
    assert at_start("smart", PARTS, CHAIN, spaces(2, 1, 2), NEVER) == PARTS
    # The deepest statement of a component counts.
    assert at_start("smart", [("S0", "S1"), ("S2",)], CHAIN, spaces(1, 2, 2), NEVER) == [("S0", "S1", "S2")]


def test_typed_keeps_neighbours_of_one_type_together() -> None:
    assert at_start("typed", PARTS, CHAIN, spaces(2, 2, 2), trials({"S0", "S1"})) == [("S0", "S1"), ("S2",)]
    assert at_start("typed", PARTS, CHAIN, spaces(2, 2, 2), trials(set())) == [("S0", "S1", "S2")]
    assert at_start("typed", PARTS, CHAIN, spaces(2, 2, 2), trials({"S0", "S2"})) == PARTS


def test_typed_never_makes_parallel_loops_sequential() -> None:
    alone = Trial(lambda part: True, lambda part: len(part) == 1)
    assert at_start("typed", PARTS, CHAIN, spaces(2, 2, 2), alone) == PARTS


def test_typed_leaves_apart_what_has_nothing_in_common() -> None:
    assert at_start("typed", PARTS, edges((1, 2)), spaces(2, 2, 2), trials({"S0", "S1", "S2"})) == [
        ("S0",),
        ("S1", "S2"),
    ]


@pytest.mark.parametrize("policy", ["max", "smart", "no", "typed"])
def test_one_component_is_never_cut(policy: FusionPolicy) -> None:
    assert at_start(policy, [("S0", "S1")], CHAIN, spaces(2, 1), NEVER) == [("S0", "S1")]


# --- policies where a band is stuck -----------------------------------------------------------------------------------


def test_max_cuts_where_no_common_loop_is_left() -> None:
    attempt = trials(set(), {("S1", "S2")})
    assert when_stuck("max", PARTS, spaces(2, 2, 2), attempt) == [("S0", "S1"), ("S2",)]
    assert when_stuck("max", PARTS, spaces(2, 2, 2), trials(set(), {("S0", "S1")})) == [("S0",), ("S1", "S2")]


def test_max_makes_progress_even_if_every_group_has_a_loop() -> None:
    assert when_stuck("max", PARTS, spaces(2, 2, 2), trials(set())) == PARTS


def test_max_goes_on_after_a_cut() -> None:
    parts = [(name,) for name in NAMES]
    attempt = trials(set(), [("S1", "S2"), ("S2", "S4")])
    assert when_stuck("max", parts, spaces(2, 2, 2, 2, 2), attempt) == [("S0", "S1"), ("S2", "S3"), ("S4",)]


def test_smart_cuts_by_depth_if_that_cuts_at_all() -> None:
    assert when_stuck("smart", PARTS, spaces(2, 2, 1), NEVER) == [("S0", "S1"), ("S2",)]
    assert when_stuck("smart", PARTS, spaces(2, 2, 2), NEVER) == PARTS


@pytest.mark.parametrize("policy", ["no", "typed"])
def test_others_cut_everything_apart(policy: FusionPolicy) -> None:
    assert when_stuck(policy, PARTS, spaces(2, 2, 1), NEVER) == PARTS
