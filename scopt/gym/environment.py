"""The environments: construction of a schedule space, its exploration, and both as one (polygym paper, section IV)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

from scopt.diagnostics import InputError
from scopt.gym.env_programs import Program, kernel_program, source_program
from scopt.gym.episode import FIRST_COEFFICIENT, Episode, Status
from scopt.gym.observation import Static
from scopt.gym.observation_spaces import ObservationKind, encoder
from scopt.gym.rewards import MeasuredReward, Measuring, Reward, Rewarded, RewardFunction, RewardName, reward_of
from scopt.options import Options
from scopt.scheduler.space.construction import ConstructionAction, random_construction
from scopt.scheduler.space.matrix import schedule_of_rows

# The reward of an invalid state and of an action of probability 0.
PENALTY = -1.0
MAX_STEPS = 20_000
# Of a random construction: how likely a dependence is carried by a
# dimension that has room for it (Ganser et al., 2017).
CARRYING_PROBABILITY = 0.4

Info = dict[str, Any]


class _SpaceEnv(gymnasium.Env[Any, Any]):
    """What the three have in common. The transitions are deterministic: a seed decides which of several programs an
    episode has and, in `ScheduleExplorationEnv`, its space.

    kernel: a kernel of PolyBench, or several, one of which is drawn for each episode (or chosen by
      ``reset(options={"kernel": name})``).
    source: a C file, in place of a kernel; region: which of its marked regions, from 0. size: of the kernels' data set.
      suite: of other kernels, by its name or the root of its tree.
    options: of scopt, for the preprocessor and the band passes. n: the largest coefficient.
    observation: see `spaces`; max_nodes, max_edges: of padded observations (default: what the programs need).
    reward: "simulated" (a static cost), "measured", or a function of the schedule tree. measuring: how "measured"
      measures.
    max_steps: an episode is truncated after so many. max_coefficients: see `Episode`. penalty: the (negative) reward of
      invalid states.
    Raises InputError for programs and settings that can't be used.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - gymnasium declares it so
    # Which actions there are: of all 3 + N + 1, those from the first to before the last (None: the end).
    first_action = 0
    end_action: int | None = None

    def __init__(
        self,
        kernel: str | Sequence[str] | None = None,
        source: str | Path | None = None,
        *,
        region: int = 0,
        size: str = "LARGE",
        suite: str | Path | None = None,
        options: Options | None = None,
        n: int = 2,
        observation: ObservationKind = "dict",
        max_nodes: int | None = None,
        max_edges: int | None = None,
        reward: RewardName | RewardFunction = "simulated",
        measuring: Measuring | None = None,
        max_steps: int = MAX_STEPS,
        max_coefficients: int | None = None,
        penalty: float = PENALTY,
        render_mode: str | None = None,
    ) -> None:
        if (kernel is None) == (source is None):
            raise InputError("scopt: error: an environment needs a kernel or a source, and not both")
        if n < 1 or max_steps < 1 or penalty >= 0 or (max_coefficients is not None and max_coefficients < 1):
            raise InputError("scopt: error: n, max_steps and max_coefficients are positive, penalty is negative")
        self._kernels = (kernel,) if isinstance(kernel, str) else tuple(kernel or ())
        self._source, self._region, self._size, self._suite = source, region, size, suite
        self._options, self._reward_kind, self._measuring = options or Options(), reward, measuring or Measuring()
        self.n, self.max_steps, self.max_coefficients, self.penalty, self.render_mode = (
            n,
            max_steps,
            max_coefficients,
            penalty,
            render_mode,
        )
        self._programs: dict[str, Program] = {}
        self._statics: dict[str, Static] = {}
        self._rewards: dict[str, Reward] = {}
        self._rewarded: dict[tuple[str, tuple[tuple[int, ...], ...]], Rewarded] = {}
        sizes_known = observation == "graph" or (max_nodes and max_edges)
        self._encoder = encoder(
            observation,
            max_nodes,
            max_edges,
            [] if sizes_known else [self.program(name).problem for name in self.names],
        )
        self.observation_space = self._encoder.space
        self.action_space = Discrete(len(self._actions((True,) * (FIRST_COEFFICIENT + n + 1))))
        self._episode: Episode | None = None

    # --- programs -----------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The programs that episodes may have."""
        return self._kernels or (str(self._source),)

    def program(self, name: str) -> Program:
        """A program by name; each is analysed once."""
        if name not in self._programs:
            if self._kernels:
                self._programs[name] = kernel_program(name, self._size, self._options, self._suite)
            else:
                self._programs[name] = source_program(name, self._region, self._options)
        return self._programs[name]

    def reward(self, name: str) -> Reward:
        """How schedules of a program are rewarded."""
        if name not in self._rewards:
            self._rewards[name] = reward_of(self.program(name), self._reward_kind, self._measuring)
        return self._rewards[name]

    # --- gymnasium's methods ------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin an episode. options: {"kernel": name} chooses the program;
        {"carried": (…)} the space, in `ScheduleExplorationEnv`."""
        super().reset(seed=seed)
        chosen = (options or {}).get("kernel")
        if chosen is not None and chosen not in self.names:
            raise InputError(f"scopt: error: this environment has no kernel '{chosen}'; it has {', '.join(self.names)}")
        name = chosen or (
            self.names[int(self.np_random.integers(len(self.names)))] if len(self.names) > 1 else self.names[0]
        )
        self._name = name
        if name not in self._statics:
            program = self.program(name)
            self._statics[name] = Static(program.scop, program.deps, program.problem)
        self._episode = self._begin(self.program(name), options or {})
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, Info]:
        """One action. The reward is 0 before the end; the schedule's at the end;
        negative, and the end, after an invalid action."""
        episode = self._running()
        if not self.action_space.contains(action):
            raise InputError(f"scopt: error: action {action!r} is not in {self.action_space}")
        if episode.status is Status.RUNNING:
            episode.take(int(action) + self.first_action)
            self._after(episode)
        info = self._info()
        terminated, truncated, value = episode.status is not Status.RUNNING, False, 0.0
        if episode.status is Status.INVALID:
            value = self.penalty
        elif episode.status is Status.COMPLETE:
            rewarded = self._rewards_of(episode)
            value = rewarded.value if rewarded.valid else self.penalty
            info |= {"carried": episode.state.carried, "rows": episode.rows, **rewarded.info}
        else:
            truncated = episode.steps >= self.max_steps
        return self._observation(), value, terminated, truncated, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are allowed, as sb3-contrib's algorithms ask for it. At least one is; all are after the end."""
        return np.array(self._actions(self._running().allowed()), dtype=np.bool_)

    def render(self) -> str:
        """The state in a line."""
        episode = self._running()
        if episode.constructing:
            state = episode.state
            numbers = ", ".join(map(str, (state.dim, state.dep, *state.carried)))
            return f"{self._name}: construction ({numbers}) {episode.status.value}"
        view = episode.view()
        if episode.status is not Status.RUNNING:
            return f"{self._name}: exploration, {len(episode.rows)} of {view.dims} dimensions {episode.status.value}"
        return (
            f"{self._name}: exploration, dimension {view.dim} of {view.dims}, coefficient "
            f"{view.place + 1} of {view.slots} {episode.status.value}"
        )

    def close(self) -> None:
        """Remove what measuring has built."""
        for reward in self._rewards.values():
            if isinstance(reward, MeasuredReward):
                reward.close()
        self._rewards.clear()

    # --- what differs -------------------------------------------------------------------------------------------------

    def _begin(self, program: Program, options: dict[str, Any]) -> Episode:
        return Episode(program, self.n, self.max_coefficients)

    def _after(self, episode: Episode) -> None:
        """After each action."""

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _running(self) -> Episode:
        if self._episode is None:
            raise InputError("scopt: error: reset() begins an episode; there is none yet")
        return self._episode

    def _actions(self, flags: Sequence[bool]) -> Sequence[bool]:
        return flags[self.first_action : self.end_action]

    def _rewards_of(self, episode: Episode) -> Rewarded:
        """Each schedule is rewarded once."""
        key = (self._name, episode.rows)
        if key not in self._rewarded:
            self._rewarded[key] = self.reward(self._name)(schedule_of_rows(episode.program.problem, episode.rows))
        return self._rewarded[key]

    def _observation(self) -> Any:
        return self._encoder.encode(self._statics[self._name].features(self._running().view()))

    def _info(self) -> Info:
        episode = self._running()
        phase = "construction" if episode.constructing else "exploration"
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "program": self._name,
            "phase": phase,
            "status": episode.status.value,
        }


class ScheduleEnv(_SpaceEnv):
    """Both processes, one after the other: Discrete(3 + N + 1)."""


class ScheduleConstructionEnv(_SpaceEnv):
    """The construction alone: Discrete(3). The space's default schedule is rewarded: all coefficients 0, which gives
    the vertices (of several vertices of a component, the last one)."""

    end_action = FIRST_COEFFICIENT

    def _begin(self, program: Program, options: dict[str, Any]) -> Episode:
        episode = super()._begin(program, options)
        self._after(episode)
        return episode

    def _after(self, episode: Episode) -> None:
        if not episode.constructing:
            episode.complete_by_default()


class ScheduleExplorationEnv(_SpaceEnv):
    """The exploration alone: Discrete(N + 1).

    carried: the dimension, from 1, that carries each dependence. None: a random construction with the environment's
      generator, for each episode.
    """

    first_action = FIRST_COEFFICIENT

    def __init__(
        self,
        kernel: str | Sequence[str] | None = None,
        source: str | Path | None = None,
        *,
        carried: Sequence[int] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(kernel, source, **settings)
        if carried is not None and len(self.names) > 1:
            raise InputError("scopt: error: carried= is of one program")
        self.carried = carried

    def _begin(self, program: Program, options: dict[str, Any]) -> Episode:
        carried = options.get("carried", self.carried)
        if carried is None:
            carried = random_construction(
                program.construction, CARRYING_PROBABILITY, iter(self.np_random.random, None)
            ).carried
        return Episode(program, self.n, self.max_coefficients, carried)


# For agents that name actions: of `ScheduleEnv` with N coefficients.
def action_names(n: int) -> tuple[str, ...]:
    """The names of all actions, in the paper's words."""
    construction = tuple(action.name.lower() for action in ConstructionAction)
    return (*construction, "coeff_0", *(f"coeff_pos{k}" for k in range(1, n + 1)))
