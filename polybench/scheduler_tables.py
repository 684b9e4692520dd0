"""The times of schedulers as a table, as JSON, and as a drawing."""

from __future__ import annotations

import importlib
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from scopt.polybench.plot import drawing
from scopt.polybench.scheduler_times import Measured, Plan


def fastest(results: Mapping[str, Measured], scheduler: str, kind: str) -> dict[str, float]:
    """The least time of each file that has one. kind: 'schedule' or 'whole'."""
    runs = {name: getattr(measured.times[scheduler], kind) for name, measured in results.items()}
    return {name: min(times) for name, times in runs.items() if times}


def columns(plan: Plan) -> tuple[tuple[str, str], ...]:
    """(scheduler, kind) of the table's columns."""
    kinds = ("schedule", "whole") if plan.whole else ("schedule",)
    return tuple((name, kind) for name in plan.schedulers for kind in kinds)


def lines(results: Mapping[str, Measured], plan: Plan) -> list[list[str]]:
    """A line of the table for each file."""
    times = {column: fastest(results, *column) for column in columns(plan)}
    found = []
    for name, measured in results.items():
        cells = [f"{times[column][name]:.3f}" if name in times[column] else "failed" for column in times]
        found.append([name, str(measured.statements), str(measured.dependences), *cells])
    return found


def summaries(results: Mapping[str, Measured], plan: Plan) -> list[list[str]]:
    """The lines below: median and maximum of each column, empty where nothing was measured."""
    times = [list(fastest(results, *column).values()) for column in columns(plan)]
    kinds: tuple[tuple[str, Callable[[Iterable[float]], float]], ...] = (("median", statistics.median), ("max", max))
    return [
        [title, "", "", *(f"{summary(column):.3f}" if column else "" for column in times)] for title, summary in kinds
    ]


def as_json(results: Mapping[str, Measured], settings: Mapping[str, object]) -> str:
    """The results as a JSON object: settings, and the files with all their runs."""
    files = {name: to_builtins(measured) for name, measured in results.items()}
    return json.dumps({"format": 1, "settings": dict(settings), "files": files}, indent=1)


def print_table(results: Mapping[str, Measured], plan: Plan, *, summarized: bool) -> None:
    """With rich, to stdout; the failures below it. summarized: with median and maximum."""
    table_module: Any = importlib.import_module("rich.table")
    console_module: Any = importlib.import_module("rich.console")
    table = table_module.Table(caption=f"Seconds, the fastest of {plan.runs} runs.")
    table.add_column("", overflow="fold")
    for title in ("statements", "dependences", *("\n".join(column) for column in columns(plan))):
        table.add_column(title, justify="right", overflow="fold")
    for row in lines(results, plan):
        table.add_row(*row)
    table.add_section()
    for row in summaries(results, plan) if summarized else ():
        table.add_row(*row)
    # A table that goes into a file isn't fitted into the 80 columns of a terminal that isn't there.
    width = None if sys.stdout.isatty() else 200
    console_module.Console(width=width, markup=False, highlight=False).print(table)
    for name, measured in results.items():
        for scheduler, times in measured.times.items():
            if times.failure:
                print(f"{name}, {scheduler}: {times.failure}")


def draw_growth(results: Mapping[str, Measured], plan: Plan, path: Path) -> None:
    """Draw seconds over statements into `path`, a line for each scheduler, on logarithmic axes."""
    with drawing(path, 6.0, 4.5) as axes:
        for scheduler in plan.schedulers:
            times = fastest(results, scheduler, "schedule")
            axes.plot([results[name].statements for name in times], list(times.values()), marker="o", label=scheduler)
        sizes = [measured.statements for measured in results.values()]
        axes.plot(
            sizes,
            [measured.analysis for measured in results.values()],
            color="gray",
            linestyle=":",
            label="extraction and dependences",
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("statements")
        axes.set_ylabel("seconds")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
