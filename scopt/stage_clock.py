"""How long the stages of a region take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct, field

# Who is told of each stage that begins: a process that is ended can't tell any more where it was.
LISTENERS: list[Callable[[str], None]] = []


class Clock(Struct):
    """Seconds by stage, added up over attempts. scheduling: of the processor, for schedules."""

    seconds: dict[str, float] = field(default_factory=dict)
    scheduling: float = 0.0

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        for tell in LISTENERS:
            tell(stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
