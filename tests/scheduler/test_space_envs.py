"""The environments of the schedule space, their observations and rewards,
and the static cost behind the simulated one."""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import islpy as isl
import numpy as np
import pytest

from scopt.diagnostics import InputError
from scopt.gym import ENVIRONMENTS
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.simulation.static_cost import CostModel
from tests.sources import scop_of

gymnasium = pytest.importorskip("gymnasium")

SCHEDULE, CONSTRUCTION, EXPLORATION = ENVIRONMENTS
MATVEC = """
void f(int n, double A[500][500], double *restrict x, double *restrict y) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) {
    y[i] = 0;
    for (j = 0; j < n; j++)
      y[i] += A[i][j] * x[j];
  }
#pragma endscop
}
"""
# The paper's two nests with a main, for measuring: short, but not too short for the clock.
PROGRAM = """
double A[400][400], x[400], y[400];
void f(int n) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      y[i] += A[j][i] * x[j];
#pragma endscop
}
int main(void) { for (int k = 0; k < 20; k++) f(400); return y[7] != 0; }
"""


@pytest.fixture
def matvec(tmp_path: Path) -> Path:
    path = tmp_path / "matvec.c"
    path.write_text(MATVEC)
    return path


def episode(env: Any, seed: int, choose: Any) -> list[tuple[Any, int, float]]:
    """The (mask, action, reward) of an episode; choose(rng, mask) is the agent."""
    rng = random.Random(seed)
    _, info = env.reset(seed=seed)
    steps = []
    while True:
        mask = info["action_mask"]
        action = choose(rng, mask)
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation)
        steps.append((tuple(mask), action, reward))
        if terminated or truncated:
            return [*steps, (info["status"], -1, 0.0)]


def masked(rng: random.Random, mask: Any) -> int:
    return rng.choice([k for k, allowed in enumerate(mask) if allowed])


def sparse(rng: random.Random, mask: Any) -> int:
    """Mostly what comes first of the coefficients, so that schedules stay simple."""
    allowed = [k for k, flag in enumerate(mask) if flag]
    return allowed[0] if allowed[0] >= 3 and rng.random() < 0.8 else rng.choice(allowed)


# --- gymnasium --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["dict", "graph"])
@pytest.mark.parametrize("name", list(ENVIRONMENTS))
@pytest.mark.filterwarnings("ignore:.*The environment is being initialised.*")
def test_gymnasiums_checker_passes(name: str, observation: str, matvec: Path) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make(name, source=matvec, observation=observation).unwrapped)


@pytest.mark.parametrize("name", list(ENVIRONMENTS))
def test_masked_actions_never_end_in_an_invalid_state(name: str, matvec: Path) -> None:
    env = gymnasium.make(name, source=matvec, reward=lambda tree: 2.0).unwrapped
    for seed in range(30):
        *steps, (status, _, _) = episode(env, seed, masked)
        assert status == "complete"
        assert all(any(mask) for mask, _, _ in steps)
        assert [reward for _, _, reward in steps] == [0.0] * (len(steps) - 1) + [2.0]


def test_masks_hold_where_polytopes_have_several_vertices() -> None:
    env = gymnasium.make(SCHEDULE, kernel="durbin", reward=lambda tree: 1.0).unwrapped
    *steps, (status, _, _) = episode(env, 2, masked)
    assert status == "complete"
    assert (0, 1, 1) in [mask[3:] for mask, _, _ in steps]  # 0 was forbidden for the last vertex of a group


@pytest.mark.parametrize("name", list(ENVIRONMENTS))
def test_unmasked_actions_end_well_or_with_a_penalty(name: str, matvec: Path) -> None:
    env = gymnasium.make(name, source=matvec, reward=lambda tree: 2.0, max_steps=200).unwrapped
    ends = []
    for seed in range(30):
        *steps, (status, _, _) = episode(env, seed, lambda rng, mask: rng.randrange(len(mask)))
        ends.append(status)
        assert steps[-1][2] == {"complete": 2.0, "invalid": -1.0, "running": 0.0}[status]
        if status == "complete" and name == EXPLORATION:
            assert all(mask[action] for mask, action, _ in steps)
    assert ("invalid" in ends) == (name != EXPLORATION)  # each of these spaces' groups has one vertex


def test_a_seed_reproduces_an_episode(matvec: Path) -> None:
    for name in ENVIRONMENTS:
        runs = [episode(gymnasium.make(name, source=matvec).unwrapped, 7, masked) for _ in range(2)]
        assert runs[0] == runs[1]


def test_seeds_give_different_spaces(matvec: Path) -> None:
    env = gymnasium.make(EXPLORATION, source=matvec).unwrapped
    carried = set()
    for seed in range(8):
        _, info = env.reset(seed=seed)
        while info["status"] == "running":
            _, _, _, _, info = env.step(0 if info["action_mask"][0] else 1)
        carried.add(info["carried"])
    assert len(carried) > 1


@pytest.mark.parametrize(
    ("before", "name"), [("", "scopt.gym:scopt/Schedule-v0"), ("import scopt.gym", "scopt/Schedule-v0")]
)
def test_an_import_registers_the_environments(before: str, name: str) -> None:
    code = f"import gymnasium\n{before}\nprint(gymnasium.make({name!r}, kernel='gemm').action_space)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Discrete(6)"


def test_the_masks_of_both_conventions_agree(matvec: Path) -> None:
    env = gymnasium.make(SCHEDULE, source=matvec).unwrapped
    _, info = env.reset(seed=0)
    assert env.action_space.n == 6
    assert env.action_masks().dtype == np.bool_
    assert info["action_mask"].dtype == np.int8
    assert list(env.action_masks()) == list(info["action_mask"].astype(bool))
    assert list(env.action_masks()[3:]) == [False] * 3  # no coefficient before the space is there


@pytest.mark.parametrize(("n", "count"), [(1, 5), (2, 6), (4, 8)])
def test_the_largest_coefficient_makes_the_action_space(n: int, count: int, matvec: Path) -> None:
    assert gymnasium.make(SCHEDULE, source=matvec, n=n).action_space.n == count
    assert gymnasium.make(EXPLORATION, source=matvec, n=n).action_space.n == n + 1
    assert gymnasium.make(CONSTRUCTION, source=matvec, n=n).action_space.n == 3


def test_an_action_of_probability_0_is_punished(matvec: Path) -> None:
    env = gymnasium.make(SCHEDULE, source=matvec, penalty=-3.0).unwrapped
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(3)
    assert (reward, terminated, truncated, info["status"]) == (-3.0, True, False, "invalid")


def test_an_episode_is_truncated(matvec: Path) -> None:
    env = gymnasium.make(SCHEDULE, source=matvec, max_steps=5).unwrapped
    env.reset(seed=0)
    ends = [env.step(1)[1:4] for _ in range(5)]
    assert ends == [(0.0, False, False)] * 4 + [(0.0, False, True)]


def test_a_step_needs_an_episode_and_a_known_action(matvec: Path) -> None:
    env = gymnasium.make(SCHEDULE, source=matvec).unwrapped
    with pytest.raises(InputError, match="reset"):
        env.step(0)
    env.reset()
    with pytest.raises(InputError, match="action 6"):
        env.step(6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "needs a kernel or a source"),
        ({"kernel": "gemm", "source": "in.c"}, "not both"),
        ({"kernel": "gem"}, "unknown kernel"),
        ({"source": "nowhere.c"}, "nowhere.c: No such file"),
        ({"kernel": "atax", "reward": "best"}, "reward 'best'"),
        ({"kernel": "atax", "observation": "text"}, "observation 'text'"),
        ({"kernel": "atax", "n": 0}, "n, max_steps"),
        ({"kernel": "atax", "max_nodes": 1, "max_edges": 1}, "larger max_nodes"),
    ],
)
def test_wrong_settings_are_input_errors(settings: dict[str, Any], message: str) -> None:
    from scopt.gym.environment import ScheduleConstructionEnv

    with pytest.raises(InputError, match=message):
        episode(ScheduleConstructionEnv(**settings), 0, masked)


def test_a_given_space_is_explored(matvec: Path) -> None:
    env = gymnasium.make(EXPLORATION, source=matvec).unwrapped
    for carried in ((1, 0), (1,), (1, 2, 3, 4, 5, 6)):
        with pytest.raises(InputError, match="carried="):
            env.reset(options={"carried": carried})


def test_the_state_is_rendered_in_a_line(matvec: Path) -> None:
    env = gymnasium.make(SCHEDULE, source=matvec, reward=lambda tree: 1.0, render_mode="ansi").unwrapped
    env.reset(seed=0)
    assert "construction (1, 1, 0, 0)" in env.render()
    env.step(2)
    env.step(1)
    env.step(2)
    assert "exploration, dimension 1 of 1, coefficient 1 of " in env.render()


# --- the paper's example ----------------------------------------------------------------------------------------------


def test_the_construction_of_figure_5(matvec: Path) -> None:
    """next_dim, next_dep, next_dim, next_dep, next_dep, select_dep, next_dim,
    next_dep, select_dep leads to (4, 1, 4, 3)."""
    env = gymnasium.make(CONSTRUCTION, source=matvec).unwrapped
    env.reset(seed=0)
    for action in (0, 1, 0, 1, 1, 2, 0, 1):
        assert env.step(action)[1:3] == (0.0, False)
    _, reward, terminated, _, info = env.step(2)
    assert terminated
    assert reward > 0
    assert info["carried"] == (4, 3)
    assert len(info["rows"]) == 4


# --- observations -----------------------------------------------------------------------------------------------------


def test_the_width_of_features_does_not_depend_on_the_scop(matvec: Path) -> None:
    small = gymnasium.make(SCHEDULE, source=matvec, max_nodes=8, max_edges=64)
    large = gymnasium.make(SCHEDULE, kernel="doitgen", max_nodes=8, max_edges=64)
    assert small.observation_space == large.observation_space
    graphs = [
        gymnasium.make(SCHEDULE, observation="graph", **program)
        for program in ({"source": matvec}, {"kernel": "doitgen"})
    ]
    assert graphs[0].observation_space == graphs[1].observation_space


def test_both_observations_show_the_same(matvec: Path) -> None:
    padded, graph = (gymnasium.make(SCHEDULE, source=matvec, observation=kind).unwrapped for kind in ("dict", "graph"))
    for _ in range(2):
        a, b = padded.reset(seed=0)[0], graph.reset(seed=0)[0]
        for action in (2, 0, 2, 4, 3):
            nodes, edges = int(a["node_mask"].sum()), int(a["edge_mask"].sum())
            assert np.array_equal(a["edge_index"][:, :edges].T, b.edge_links)
            assert np.array_equal(a["edge_features"][:edges], b.edges)
            assert np.array_equal(a["node_features"][:nodes], b.nodes[:, : a["node_features"].shape[1]])
            assert not a["node_features"][nodes:].any()
            assert not a["edge_features"][edges:].any()
            allowed = padded.action_masks()
            action = action if allowed[action] else int(np.argmax(allowed))
            a, b = padded.step(action)[0], graph.step(action)[0]


def test_the_current_dependence_and_generator_are_visible(matvec: Path) -> None:
    from scopt.gym.observation import STATE_EDGE_FEATURES, STATIC_EDGE_FEATURES, STATIC_NODE_FEATURES

    env = gymnasium.make(SCHEDULE, source=matvec).unwrapped
    observation, _ = env.reset(seed=0)
    current = len(STATIC_EDGE_FEATURES) + STATE_EDGE_FEATURES.index("current")
    assert list(observation["edge_features"][:2, current]) == [1, 0]
    observation, *_ = env.step(1)
    assert list(observation["edge_features"][:2, current]) == [0, 1]
    # y[i] += A[i][j] * x[j]: along j, y stays, A and x move to the next element.
    unit = STATIC_NODE_FEATURES.index("unit stride 1")
    assert observation["node_features"][1, unit] == pytest.approx(0.5)
    assert observation["node_features"][0, unit] == 0


# --- rewards ----------------------------------------------------------------------------------------------------------


def test_a_function_is_the_reward(matvec: Path) -> None:
    trees: list[isl.Schedule] = []

    def reward(tree: isl.Schedule) -> float:
        trees.append(tree)
        return 42.0

    env = gymnasium.make(SCHEDULE, source=matvec, reward=reward).unwrapped
    for _ in range(2):
        *steps, _ = episode(env, 3, masked)
        assert steps[-1][2] == 42.0
    assert len(trees) == 1  # the same schedule again
    assert isinstance(trees[0], isl.Schedule)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_measured_reward_is_a_speedup(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    env = gymnasium.make(SCHEDULE, source=path, reward="measured").unwrapped
    *steps, (status, _, _) = episode(env, 1, sparse)
    assert status == "complete"
    assert 0.1 <= steps[-1][2] < 100
    env.close()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_kernel_is_measured_and_too_slow_a_schedule_gets_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from scopt.gym import rewards
    from scopt.gym.env_programs import kernel_program

    program = kernel_program("trisolv", "MINI", Options())
    measured = rewards.MeasuredReward(program, rewards.Measuring(runs=1))
    found = measured(program.scop.schedule)
    assert found.valid
    assert set(found.info) == {"original_seconds", "seconds"}
    monkeypatch.setattr(measured, "_original", (1e-9, 1e-6))
    assert measured(program.scop.schedule).value == rewards.SLOWEST
    measured.close()


# --- the example that learns ------------------------------------------------------------------------------------------


@pytest.fixture
def learn() -> Any:
    """The script, as a module."""
    pytest.importorskip("sb3_contrib")
    path = Path(__file__).parents[2] / "examples" / "learn.py"
    spec = importlib.util.spec_from_file_location("scopt_learn_example", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_padding_and_the_order_of_statements_do_not_change_what_the_policy_sees(learn: Any, matvec: Path) -> None:
    import torch

    views = []
    extractor = None
    for nodes, edges in ((2, 4), (16, 64)):
        env = gymnasium.make(SCHEDULE, source=matvec, max_nodes=nodes, max_edges=edges).unwrapped
        observation, _ = env.reset(seed=0)
        if extractor is None:
            extractor = learn.GraphExtractor(env.observation_space)
        views.append({name: torch.as_tensor(value)[None].float() for name, value in observation.items()})
    swapped = {name: value.clone() for name, value in views[0].items()}
    swapped["node_features"] = swapped["node_features"].flip(1)
    swapped["edge_index"] = 1 - swapped["edge_index"]
    first, padded, other = (extractor(view) for view in (*views, swapped))
    assert torch.allclose(first, padded, atol=1e-6)
    assert torch.allclose(first, other, atol=1e-6)


def test_the_example_trains_and_tries(
    learn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    monkeypatch.setattr(learn, "ROLLOUT", 128)
    report = tmp_path / "learned.json"
    words = ["learn.py", "--kernels", "atax,gemm,mvt", "--steps", "256", "--episodes", "2", "--max-coefficients", "4"]
    monkeypatch.setattr(sys, "argv", [*words, "--json", str(report)])
    learn.main()
    found = json.loads(report.read_text())
    assert set(found["kernels"]["held out"]) == {"mvt"}
    assert set(found["kernels"]["trained on"]) == {"atax", "gemm"}
    assert all(value >= 0.1 for value in found["geometric means"]["held out"].values())
    assert "held out" in capsys.readouterr().out


# --- the static cost --------------------------------------------------------------------------------------------------

MATRICES = (
    "int n, double A[1000][1000], double B[1000][1000], double C[1000][1000], double *restrict x, double *restrict y"
)


def cost(body: str, *, tile: bool = False, parallel: bool = False) -> tuple[float, float]:
    """(the original order's, after the passes), in nanoseconds."""
    scop = scop_of(body, MATRICES)
    model = CostModel(scop, dependences(scop), Options(tile=tile, parallel=parallel))
    return model.original, model.estimate(scop.schedule).nanoseconds


def nest(order: str, statement: str) -> str:
    return "".join(f"for ({k} = 0; {k} < n; {k}++) " for k in order) + statement


def test_rows_are_cheaper_than_columns() -> None:
    product = "C[i][j] += A[i][k] * B[k][j];"
    ikj, ijk, jki = (cost(nest(order, product))[0] for order in ("ikj", "ijk", "jki"))
    assert 3 * ikj < ijk
    assert 3 * ikj < jki


def test_a_parallel_outer_loop_is_cheaper() -> None:
    product = nest("ikj", "C[i][j] += A[i][k] * B[k][j];")
    assert 2 * cost(product, parallel=True)[1] < cost(product)[1]


def test_a_parallel_inner_loop_costs_its_forks() -> None:
    sweep = "for (t = 0; t < 100; t++) for (i = 1; i < 300; i++) A[0][i] = A[0][i] * 0.5;"
    assert cost(sweep, parallel=True)[1] == pytest.approx(cost(sweep)[1])


def test_a_reduction_is_dearer_than_a_vector_loop() -> None:
    assert 1.5 * cost(nest("ij", "x[j] += A[i][j];"))[0] < cost(nest("ij", "x[i] += A[i][j];"))[0]


def test_tiles_pay_where_columns_are_walked() -> None:
    scop = scop_of(nest("ij", "C[i][j] += A[j][i];"), MATRICES)
    deps = dependences(scop)
    tree = get_scheduler("isl").schedule(scop, deps, Options()).tree
    tiled, untiled = (
        CostModel(scop, deps, Options(tile=tile, parallel=False)).estimate(tree).nanoseconds for tile in (True, False)
    )
    assert 1.1 * tiled < untiled


def test_parameters_are_assumed_from_extents() -> None:
    scop = scop_of(
        "for (t = 0; t < m; t++) for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j - 1];",
        MATRICES + ", int m",
    )
    model = CostModel(scop, dependences(scop))
    assert model.parameters["n"] == 1000
    assert CostModel(scop, dependences(scop), parameters={"n": 10}).original < model.original / 1000


def test_sampled_counts_are_those_of_the_loops() -> None:
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < i; j++) A[i][j] = 0;", MATRICES)
    counts = CostModel(scop, dependences(scop), parameters={"n": 1000}).counts
    assert counts["S0"] == pytest.approx(1000 * 999 / 2, rel=0.05)


def test_what_isl_can_not_finish_is_estimated_in_a_simpler_form(monkeypatch: pytest.MonkeyPatch) -> None:
    from scopt.simulation import static_cost

    scop = scop_of(nest("ij", "A[i][j] = B[j][i];"), MATRICES)
    model = CostModel(scop, dependences(scop))
    monkeypatch.setattr(static_cost, "PASS_OPERATIONS", 10)
    estimate = model.estimate(scop.schedule)
    assert "tiled" in estimate.fallback
    assert "untiled" in estimate.fallback
    assert estimate.nanoseconds > 0
