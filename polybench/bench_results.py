"""What a benchmark run found out, and the figures and tables made of it. Nothing here starts a process."""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, to_builtins

Stage = Literal["transform", "compile", "check", "run"]


class Failure(Struct, frozen=True):
    """Why a configuration has no time for a kernel: the stage that failed, and the reason in one line."""

    stage: Stage
    reason: str


class Cell(Struct, frozen=True):
    """One kernel in one configuration.

    seconds: what each run printed. transform_seconds, compile_seconds: of the timed program; None if it didn't get
    there, or nothing is transformed. note: something to know although it worked. failure: set if it has no valid time.
    """

    seconds: tuple[float, ...] = ()
    transform_seconds: float | None = None
    compile_seconds: float | None = None
    note: str = ""
    failure: Failure | None = None

    @property
    def minimum(self) -> float | None:
        return None if self.failure or not self.seconds else min(self.seconds)

    @property
    def median(self) -> float | None:
        return None if self.failure or not self.seconds else statistics.median(self.seconds)


Row = Mapping[str, Cell]


class Results(Struct, frozen=True):
    """A benchmark run, complete or not.

    settings: how it was run, as JSON values. configurations: names of the columns, the baseline first.
    rows: for each kernel the cells by configuration; a cell that isn't there wasn't reached. One that is no column is a
      reference.
    """

    settings: Mapping[str, object]
    configurations: tuple[str, ...]
    rows: Mapping[str, Row]

    @property
    def baseline(self) -> str:
        return self.configurations[0]


def geomean(values: Iterable[float]) -> float | None:
    """The geometric mean of positive numbers, None of none."""
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def speedup(row: Row, configuration: str, baseline: str) -> float | None:
    """How many times faster `configuration` is than `baseline`, by the fastest run of each; None if either has no time.

    A time of zero (too short for the timer) counts as a microsecond, the timer's resolution.
    """
    times = [row[name].minimum if name in row else None for name in (baseline, configuration)]
    if times[0] is None or times[1] is None:
        return None
    return max(times[0], 1e-6) / max(times[1], 1e-6)


def speedups(results: Results, configuration: str) -> dict[str, float]:
    """The speedup over the baseline of each kernel that has one."""
    found = {kernel: speedup(row, configuration, results.baseline) for kernel, row in results.rows.items()}
    return {kernel: value for kernel, value in found.items() if value is not None}


def table(results: Results) -> str:
    """The results as aligned text: a line for each kernel, the geomeans, and below them every failure and note."""
    header = ["kernel", *results.configurations]
    lines = [
        [kernel, *(_entry(results, row, name) for name in results.configurations)]
        for kernel, row in results.rows.items()
    ]
    means = ["geomean", *(_mean_entry(results, name) for name in results.configurations)]
    legend = f"Seconds: fastest run (median), speedup of the fastest over {results.baseline}."
    return "\n".join([*aligned(header, lines, means), "", legend, *_remarks(results)])


def as_json(results: Results, more: Mapping[str, object] | None = None) -> str:
    """The results as a JSON object: settings, configurations, kernels with their cells, geomeans over the baseline; and
    `more` of its members."""
    return json.dumps(
        {
            "format": 1,
            "settings": dict(results.settings),
            "configurations": list(results.configurations),
            "kernels": {
                kernel: {name: _cell_as_json(cell) for name, cell in row.items()}
                for kernel, row in results.rows.items()
            },
            "geomeans": {name: geomean(speedups(results, name).values()) for name in results.configurations},
            **(more or {}),
        },
        indent=1,
    )


def write_atomically(path: Path, text: str) -> None:
    """Put `text` into `path` so that a reader sees the old contents or the new, never a part. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def printed_seconds(value: float) -> str:
    """Seconds with the digits that matter."""
    return f"{value:.6f}" if value < 0.01 else f"{value:.4f}" if value < 1 else f"{value:.3f}"


def aligned(header: Sequence[str], lines: Sequence[Sequence[str]], last: Sequence[str] = ()) -> list[str]:
    """A table as lines of text: the first column to the left, the others to the right;
    `last`, if there is one, below a rule."""
    rows = [header, *lines, *([last] if last else [])]
    widths = [max(len(line[column]) for line in rows) for column in range(len(header))]
    rule = "  ".join("-" * width for width in widths)

    def join(line: Sequence[str]) -> str:
        first, *rest = line
        return "  ".join(
            [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))]
        )

    return [join(header), rule, *(join(line) for line in lines), *([rule, join(last)] if last else [])]


def _entry(results: Results, row: Row, name: str) -> str:
    cell = row.get(name)
    if cell is None:
        return "-"
    if cell.failure:
        return f"{cell.failure.stage} failed"
    if cell.minimum is None or cell.median is None:
        return "-"
    text = f"{printed_seconds(cell.minimum)} ({printed_seconds(cell.median)})"
    factor = speedup(row, name, results.baseline)
    return text if name == results.baseline or factor is None else f"{text} {factor:6.2f}x"


def _mean_entry(results: Results, name: str) -> str:
    values = speedups(results, name)
    mean = geomean(values.values())
    if name == results.baseline or mean is None:
        return ""
    count = "" if len(values) == len(results.rows) else f"{len(values)} of {len(results.rows)}: "
    return f"{count}{mean:6.2f}x"


def _remarks(results: Results) -> list[str]:
    found = []
    for kernel, row in results.rows.items():
        for name, cell in row.items():
            if cell.failure:
                found.append(f"{kernel}, {name}: {cell.failure.stage} failed: {cell.failure.reason}")
            elif cell.note and name in results.configurations:
                found.append(f"{kernel}, {name}: {cell.note}")
    return ["", *found] if found else []


def _cell_as_json(cell: Cell) -> dict[str, object]:
    return {**to_builtins(cell), "min": cell.minimum, "median": cell.median}
