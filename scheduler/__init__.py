"""Schedulers by name. They are imported when asked for."""

from __future__ import annotations

from importlib import import_module

from scopt.scheduler.base import Scheduler

# name, one of `scopt.options.SCHEDULERS` → module and class.
REGISTRY: dict[str, tuple[str, str]] = {
    "isl": ("scopt.scheduler.construct.isl_default", "IslScheduler"),
    "pluto": ("scopt.scheduler.construct.pluto_scheduler", "PlutoScheduler"),
    "feautrier": ("scopt.scheduler.construct.feautrier", "FeautrierScheduler"),
    "identity": ("scopt.scheduler.construct.identity", "IdentityScheduler"),
    "sample": ("scopt.scheduler.space.sample", "SampleScheduler"),
}


def get_scheduler(name: str) -> Scheduler:
    """The scheduler of that name. Raises KeyError."""
    module, attribute = REGISTRY[name]
    scheduler: Scheduler = getattr(import_module(module), attribute)()
    return scheduler


def takes_influence(name: str) -> bool:
    """Whether a scheduler follows influence constraint trees."""
    return name in ("pluto", "feautrier")
