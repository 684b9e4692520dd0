"""Gymnasium environments over the Farkas schedule space of a SCoP: the two decision processes, and both as one.

To import this package is to register them, as gymnasium wants it since 1.0 (which looks at no entry points any more):
`gymnasium.make("scopt.gym:scopt/Schedule-v0", kernel="gemm")` does both. See docs/environments.md.
"""

from __future__ import annotations

from importlib.util import find_spec

_MODULE = "scopt.gym.environment"
# Environment id → class.
ENVIRONMENTS = {
    "scopt/Schedule-v0": f"{_MODULE}:ScheduleEnv",
    "scopt/ScheduleConstruction-v0": f"{_MODULE}:ScheduleConstructionEnv",
    "scopt/ScheduleExploration-v0": f"{_MODULE}:ScheduleExplorationEnv",
}


def register_envs() -> None:
    """Make the environments known to gymnasium; again does nothing. They end or truncate their episodes themselves."""
    from gymnasium.envs.registration import register, registry

    for name, entry_point in ENVIRONMENTS.items():
        if name not in registry:
            register(id=name, entry_point=entry_point)


if find_spec("gymnasium") is not None:
    register_envs()
