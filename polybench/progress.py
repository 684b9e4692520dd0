"""How far a benchmark is: a live display on a terminal (with rich),
a line for each kernel otherwise. All of it on stderr."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import TracebackType
from typing import Any, Self

from scopt.polybench.bench_results import Row, speedup


class Progress:
    """Plain lines: one for each finished kernel. Use it as a context manager."""

    def __init__(self, total: int, baseline: str) -> None:
        self._total, self._baseline, self._done = total, baseline, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def activity(self, kernel: str, text: str) -> None:
        """What is being done now."""

    def finished(self, kernel: str, row: Row) -> None:
        """A kernel is through."""
        self._done += 1
        self._line(f"[{self._done:2}/{self._total}] {summary(kernel, row, self._baseline)}")

    def _line(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class LiveProgress(Progress):
    """The lines, and below them a bar with what is being done now."""

    def __init__(self, total: int, baseline: str, rich: Any) -> None:
        super().__init__(total, baseline)
        columns = [rich.SpinnerColumn(), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn()]
        # markup off: a kernel or configuration may have brackets in its name
        text = rich.TextColumn("{task.description}", markup=False)
        console = importlib.import_module("rich.console").Console(stderr=True, markup=False, highlight=False)
        self._bar = rich.Progress(*columns, text, console=console, transient=True)
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def activity(self, kernel: str, text: str) -> None:
        self._bar.update(self._task, description=f"{kernel}: {text}")

    def finished(self, kernel: str, row: Row) -> None:
        super().finished(kernel, row)
        self._bar.advance(self._task)

    def _line(self, text: str) -> None:
        self._bar.console.print(text, soft_wrap=True)


def make_progress(total: int, baseline: str) -> Progress:
    """The live display if stderr is a terminal and rich is installed, else the plain lines."""
    if sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
        return LiveProgress(total, baseline, importlib.import_module("rich.progress"))
    return Progress(total, baseline)


def summary(kernel: str, row: Row, baseline: str) -> str:
    """A kernel's row in one line: seconds of the baseline, speedups or failures of the others."""
    parts = []
    for name, cell in row.items():
        factor = speedup(row, name, baseline)
        if cell.failure:
            parts.append(f"{name} {cell.failure.stage} failed")
        elif name == baseline and cell.minimum is not None:
            parts.append(f"{name} {cell.minimum:.4g} s")
        elif factor is not None:
            parts.append(f"{name} {factor:.2f}x")
        elif cell.minimum is not None:
            parts.append(f"{name} {cell.minimum:.4g} s")
    return f"{kernel}: {', '.join(parts) or 'nothing measured'}"
