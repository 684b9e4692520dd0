"""How far an exploration is: the best so far of each program,
as a live display where there is a terminal and rich, as lines otherwise."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from scopt.polybench.explore.records import ORIGINAL, Sample
from scopt.polybench.progress import LiveProgress, Progress


class BestSoFar(Progress):
    """A line each time that a program gets faster. `stored` is called with every sample."""

    def __init__(self, total: int, *rest: Any) -> None:
        super().__init__(total, ORIGINAL, *rest)
        self._best: dict[str, float] = {}

    def known(self, program: str, speedup: float | None) -> None:
        """The best of an earlier run, None if there is none."""
        if speedup is not None:
            self._best[program] = speedup

    def stored(self, program: str, sample: Sample, original: float) -> None:
        """A sample is in the database. original: the original's fastest time, in seconds."""
        self._done += 1
        self._advance()
        if sample.minimum is None:
            return
        speedup = original / max(sample.minimum, 1e-6)
        if speedup > self._best.get(program, 0.0):
            self._best[program] = speedup
            count = f"{self._done:{len(str(self._total))}}/{self._total}"
            self._line(f"[{count}] {program}: sample {sample.number}: {speedup:.2f}x, {sample.minimum:.4g} s")

    def best(self, program: str) -> str:
        """The best so far, in words."""
        return f" (best so far {self._best[program]:.2f}x)" if program in self._best else ""

    def _advance(self) -> None:
        """Another sample is done."""


class LiveBestSoFar(BestSoFar, LiveProgress):
    """The lines, and below them a bar with what is being done now."""

    def activity(self, program: str, text: str) -> None:
        super().activity(program, f"{text}{self.best(program)}")

    def _advance(self) -> None:
        self._bar.advance(self._task)


def observer(total: int) -> BestSoFar:
    """The live display if stderr is a terminal and rich is installed, else the plain lines.
    total: samples of all programs."""
    if sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
        return LiveBestSoFar(total, importlib.import_module("rich.progress"))
    return BestSoFar(total)
