"""Learn to schedule on some PolyBench kernels, and try on others what was learned.

    pip install 'scopt[learn]'
    python examples/learn.py --steps 200000 --json learned.json

Every third kernel by name is held out. A policy (masked PPO with a small network that passes messages along the
dependences) is trained on the others with the simulated reward, a static cost of the schedule. Then it schedules all
kernels, beside random agents and, under the same cost, scopt's schedulers isl and pluto. Figures are speedups over the
original order. See docs/environments.md for what was found.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import islpy as isl
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

from scopt.diagnostics import ScoptError
from scopt.gym.env_programs import kernel_program
from scopt.gym.environment import ScheduleEnv
from scopt.options import Options
from scopt.polybench.catalog import load_suite, own_suite, select
from scopt.scheduler import get_scheduler

SCHEDULERS = ("isl", "pluto")
# Weights of next_dim, next_dep, select_dep, coeff_0, coeff_pos1, coeff_pos2 of the random agents: the paper's walks.
WALKS = {"uniform": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0), "bias_coeff_0": (1.0, 1.0, 1.0, 1.0, 0.15, 0.15)}

# Environments that the policy acts in at once, the kernels distributed among them; steps between two updates.
ENVIRONMENTS, ROLLOUT = 10, 8192

Agent = Callable[[Any, "np.ndarray[Any, Any]"], int]


@dataclass(frozen=True)
class Settings:
    """What the environments of training and trying have in common. nodes, edges: sizes of the padded observations."""

    size: str
    max_coefficients: int
    max_steps: int
    nodes: int
    edges: int

    def environment(self, kernels: Sequence[str]) -> ScheduleEnv:
        return ScheduleEnv(
            kernel=tuple(kernels),
            size=self.size,
            max_nodes=self.nodes,
            max_edges=self.edges,
            max_coefficients=self.max_coefficients,
            max_steps=self.max_steps,
        )


# --- the learning agent -----------------------------------------------------------------------------------------------


class LogSpeedup(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The logarithm of the speedup, compared with what the same kernel's episodes have had so far: what is easy for a
    kernel teaches nothing.

    values: where the logarithms go, of all environments.
    """

    def __init__(self, env: ScheduleEnv, values: list[float]) -> None:
        super().__init__(env)
        self.means: dict[str, float] = {}
        self.values = values

    def action_masks(self) -> Any:
        return self.unwrapped.action_masks()  # type: ignore[attr-defined]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not terminated:
            return observation, -1.0 if truncated else 0.0, terminated, truncated, info
        value = math.log2(max(float(reward), 0.1))
        before = self.means.get(info["program"], value)
        self.means[info["program"]] = before + 0.05 * (value - before)
        self.values.append(value)
        return observation, value - before, terminated, truncated, info


class GraphExtractor(BaseFeaturesExtractor):
    """Statements send messages along dependences, both ways, some rounds; then means and maxima over statements and
    dependences, and the features of the state as a whole. Padding takes no part."""

    def __init__(self, observation_space: gymnasium.spaces.Dict, width: int = 48, rounds: int = 2) -> None:
        size = {name: space.shape[-1] for name, space in observation_space.spaces.items()}
        super().__init__(observation_space, features_dim=4 * width + size["global_features"])
        self.width = width
        self.node = nn.Sequential(nn.Linear(size["node_features"], width), nn.ReLU())
        self.edge = nn.Sequential(nn.Linear(size["edge_features"], width), nn.ReLU())
        self.message = nn.ModuleList(nn.Sequential(nn.Linear(3 * width, width), nn.ReLU()) for _ in range(rounds))
        self.update = nn.ModuleList(nn.Sequential(nn.Linear(3 * width, width), nn.ReLU()) for _ in range(rounds))

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        batch, nodes = observations["node_mask"].shape
        node_at, edge_at = (observations[name].bool().flatten().nonzero()[:, 0] for name in ("node_mask", "edge_mask"))
        edges = observations["edge_mask"].shape[1]
        place = torch.full((batch * nodes,), 0, dtype=torch.long, device=node_at.device)
        place[node_at] = torch.arange(len(node_at), device=node_at.device)
        owner = torch.div(edge_at, edges, rounding_mode="floor")
        ends = observations["edge_index"].long().permute(0, 2, 1).reshape(-1, 2)[edge_at] + (owner * nodes)[:, None]
        source, sink = place[ends[:, 0]], place[ends[:, 1]]
        state = self.node(observations["node_features"].reshape(batch * nodes, -1)[node_at])
        link = self.edge(observations["edge_features"].reshape(batch * edges, -1)[edge_at])
        for message, update in zip(self.message, self.update, strict=True):
            link = link + message(torch.cat([link, state[source], state[sink]], dim=1))
            incoming, outgoing = pooled(link, sink, len(state))[0], pooled(link, source, len(state))[0]
            state = state + update(torch.cat([state, incoming, outgoing], dim=1))
        of_nodes = pooled(state, torch.div(node_at, nodes, rounding_mode="floor"), batch)
        of_edges = pooled(link, owner, batch)
        return torch.cat([*of_nodes, *of_edges, observations["global_features"]], dim=1)


def pooled(values: torch.Tensor, owners: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Means and maxima (of what is positive) of the rows of each owner; zero for an owner without any."""
    sums = values.new_zeros(count, values.shape[1]).index_add(0, owners, values)
    sizes = values.new_zeros(count).index_add(0, owners, values.new_ones(len(owners))).clamp(min=1)
    most = values.new_zeros(count, values.shape[1]).scatter_reduce(0, owners[:, None].expand_as(values), values, "amax")
    return sums / sizes[:, None], most


class Progress(BaseCallback):
    """A line after each rollout; ends the training at its time limit. curve: (steps, episodes, geometric mean of the
    last 200 speedups)."""

    def __init__(self, values: list[float], minutes: float) -> None:
        super().__init__()
        self.values, self.until, self.started = values, time.monotonic() + 60 * minutes, time.monotonic()
        self.curve: list[tuple[int, int, float]] = []

    def _on_rollout_end(self) -> None:
        recent = self.values[-200:]
        mean = statistics.fmean(recent) if recent else 0.0
        self.curve.append((self.num_timesteps, len(self.values), 2**mean))
        seconds = time.monotonic() - self.started
        line = (
            f"{seconds:6.0f} s {self.num_timesteps:8} steps {len(self.values):6} episodes, the last 200: {2**mean:.2f}×"
        )
        print(line, file=sys.stderr, flush=True)

    def _on_step(self) -> bool:
        return time.monotonic() < self.until


def trained(
    settings: Settings, kernels: Sequence[str], steps: int, minutes: float, seed: int
) -> tuple[MaskablePPO, list[tuple[int, int, float]]]:
    """The policy after so many steps or minutes on these kernels, and how it came there.
    It begins as the walk bias_coeff_0."""
    values: list[float] = []
    count = min(ENVIRONMENTS, len(kernels))
    env = DummyVecEnv([partial(LogSpeedup, settings.environment(kernels[k::count]), values) for k in range(count)])
    model = MaskablePPO(
        "MultiInputPolicy",
        env,
        n_steps=ROLLOUT // count,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.98,
        learning_rate=5e-4,
        ent_coef=0.01,
        seed=seed,
        policy_kwargs={"features_extractor_class": GraphExtractor, "net_arch": [64]},
    )
    with torch.no_grad():
        model.policy.action_net.bias += torch.log(torch.tensor(WALKS["bias_coeff_0"]))
    progress = Progress(values, minutes)
    model.learn(steps, callback=progress)
    return model, progress.curve


# --- trying agents ----------------------------------------------------------------------------------------------------


def random_agent(weights: Sequence[float], seed: int) -> Agent:
    """Chooses among what is allowed, by the weights."""
    rng = random.Random(seed)
    return lambda observation, mask: rng.choices(
        range(len(mask)), [weight * bool(flag) for weight, flag in zip(weights, mask, strict=True)]
    )[0]


def learnt_agent(model: MaskablePPO, *, deterministic: bool = False) -> Agent:
    """Draws from the policy, or takes its most probable action."""
    return lambda observation, mask: int(model.predict(observation, action_masks=mask, deterministic=deterministic)[0])


def speedups(env: ScheduleEnv, agent: Agent, episodes: int, seconds: float, seed: int) -> tuple[list[float], int]:
    """What the schedules of some episodes gain, 0.1 where there is none; and how many had no loops that isl could
    generate, or were truncated.

    No further episode begins after so many seconds.
    """
    found: list[float] = []
    failed = 0
    until = time.monotonic() + seconds
    for number in range(episodes):
        if found and time.monotonic() > until:
            break
        observation, _ = env.reset(seed=seed + number)
        while True:
            observation, reward, terminated, truncated, info = env.step(agent(observation, env.action_masks()))
            if terminated or truncated:
                found.append(max(float(reward), 0.1))
                failed += truncated or "failure" in info
                break
    return found, failed


def references(env: ScheduleEnv, kernel: str) -> dict[str, float]:
    """The speedups of scopt's own schedulers, under the same cost."""
    program, found = env.program(kernel), {}
    for name in SCHEDULERS:
        try:
            tree = get_scheduler(name).schedule(program.scop, program.deps, program.options).tree
            found[name] = env.reward(kernel)(tree).value
        except (isl.Error, ScoptError) as error:
            print(f"{kernel}: {name}: {error}", file=sys.stderr)
    return found


def tried(
    settings: Settings, kernels: Sequence[str], model: MaskablePPO, episodes: int, seconds: float, seed: int
) -> dict[str, dict[str, Any]]:
    """All agents and schedulers on each kernel: the geometric mean and the best of the agents' episodes."""
    results = {}
    for kernel in kernels:
        env = settings.environment([kernel])
        agents = {name: random_agent(weights, seed) for name, weights in WALKS.items()} | {
            "learnt": learnt_agent(model)
        }
        outcomes = {name: speedups(env, agent, episodes, seconds, seed) for name, agent in agents.items()}
        (greedy,), _ = speedups(env, learnt_agent(model, deterministic=True), 1, seconds, seed)
        runs = {name: values for name, (values, _) in outcomes.items()}
        failed = {name: number for name, (_, number) in outcomes.items()}
        results[kernel] = {
            "runs": runs,
            "failed": failed,
            "mean": {name: statistics.geometric_mean(values) for name, values in runs.items()},
            "best": {name: max(values) for name, values in runs.items()},
            "greedy": greedy,
            **references(env, kernel),
        }
        print(row(kernel, results[kernel]), flush=True)
    return results


COLUMNS = (
    "uniform",
    "bias_coeff_0",
    "learnt",
    "greedy",
    "best uniform",
    "best bias_coeff_0",
    "best learnt",
    *SCHEDULERS,
)


def cell(result: dict[str, Any], column: str) -> float | None:
    kind, _, name = column.partition(" ")
    return result["best"][name] if name else result["mean"].get(kind, result.get(kind))


def row(title: str, result: dict[str, Any]) -> str:
    values = [cell(result, column) for column in COLUMNS]
    return f"{title:16}" + "".join(
        f"{value:>{max(len(column), 6) + 2}.2f}" if value else " " * (max(len(column), 6) + 2)
        for column, value in zip(COLUMNS, values, strict=True)
    )


def geomeans(results: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The geometric mean over the kernels, of each column."""
    found = {}
    for column in COLUMNS:
        values = [value for result in results.values() if (value := cell(result, column))]
        if values:
            found[column] = statistics.geometric_mean(values)
    return found


def print_summary(title: str, results: dict[str, dict[str, Any]]) -> None:
    means = geomeans(results)
    print(f"{title:16}" + "".join(f"{means.get(column, 0):>{max(len(column), 6) + 2}.2f}" for column in COLUMNS))
    for agent in ("uniform", "bias_coeff_0", "learnt"):
        failed = sum(result["failed"][agent] for result in results.values())
        episodes = sum(len(result["runs"][agent]) for result in results.values())
        print(f"  {agent}: {failed} of {episodes} episodes had no loops or were truncated")


def parsed() -> argparse.Namespace:
    """The process's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200_000, metavar="N", help="steps of training (200000)")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="M", help="end the training after so long")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument(
        "--kernels", default="", metavar="NAME,...", help="which kernels (all); every third of them by name is held out"
    )
    parser.add_argument(
        "--episodes", type=int, default=20, metavar="N", help="episodes of each agent on each kernel (20)"
    )
    parser.add_argument(
        "--try-minutes",
        type=float,
        default=math.inf,
        metavar="M",
        help="fewer episodes of an agent on a kernel after so long",
    )
    parser.add_argument("--size", default="LARGE", help="data set that the cost assumes (LARGE)")
    parser.add_argument(
        "--max-coefficients",
        type=int,
        default=16,
        metavar="N",
        help="coefficients of a dimension that an agent chooses (16)",
    )
    parser.add_argument(
        "--max-steps", type=int, default=4000, metavar="N", help="steps after which an episode is truncated (4000)"
    )
    parser.add_argument("--json", type=Path, metavar="F", help="write all figures to F")
    parser.add_argument("--save", type=Path, metavar="F.zip", help="write the policy to F.zip")
    parser.add_argument("--load", type=Path, metavar="F.zip", help="try the policy in F.zip, without training")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    torch.set_num_threads(1)
    names = sorted(
        kernel.name for kernel in select(load_suite(own_suite()), [name for name in options.kernels.split(",") if name])
    )
    held_out = names[2::3]
    seen = [name for name in names if name not in held_out]
    problems = [kernel_program(name, options.size, Options()).problem for name in names]
    sizes = (
        max(len(problem.statements) for problem in problems),
        max(len(problem.dependences) for problem in problems),
    )
    settings = Settings(options.size, options.max_coefficients, options.max_steps, *sizes)
    started = time.monotonic()
    curve: list[tuple[int, int, float]] = []
    if options.load:
        model = MaskablePPO.load(options.load)
    else:
        model, curve = trained(settings, seen, options.steps, options.minutes, options.seed)
    training = time.monotonic() - started
    if options.save:
        model.save(options.save)
    print(f"{'speedup':16}" + "".join(f"{column:>{max(len(column), 6) + 2}}" for column in COLUMNS))
    results = {
        title: tried(settings, kernels, model, options.episodes, 60 * options.try_minutes, options.seed + 1000)
        for title, kernels in (("held out", held_out), ("trained on", seen))
    }
    for title, result in results.items():
        print_summary(title, result)
    if options.json:
        done = {"nodes": sizes[0], "edges": sizes[1], "steps done": model.num_timesteps}
        figures = {
            "settings": {**vars(options), "json": None, "save": None, **done},
            "training seconds": round(training, 1),
            "curve": curve,
            "geometric means": {title: geomeans(result) for title, result in results.items()},
            "kernels": results,
        }
        options.json.write_text(json.dumps(figures, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
