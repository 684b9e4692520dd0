"""The speedups as grouped bars."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scopt.diagnostics import InputError
from scopt.polybench.bench_results import Results, geomean, speedups

FORMATS = (".svg", ".pdf", ".png")


def require_plotting(path: Path) -> None:
    """Raise InputError if `path` couldn't be drawn: a wrong suffix, no such folder, or no matplotlib."""
    if path.suffix not in FORMATS:
        raise InputError(f"--plot {path}: the name has to end in {', '.join(FORMATS)}")
    if not path.resolve().parent.is_dir():
        raise InputError(f"--plot {path}: there is no folder {path.parent}")
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--plot needs matplotlib; install it with: pip install 'scopt[bench]'")


def groups(results: Results) -> tuple[tuple[str, ...], dict[str, tuple[float | None, ...]]]:
    """Labels of the groups (kernels, then the geomean),
    and for each configuration but the baseline the height of its bars."""
    kernels = tuple(results.rows)
    bars: dict[str, tuple[float | None, ...]] = {}
    for name in results.configurations[1:]:
        found = speedups(results, name)
        bars[name] = (*(found.get(kernel) for kernel in kernels), geomean(found.values()))
    return (*kernels, "geomean"), bars


@contextmanager
def drawing(path: Path, width: float, height: float) -> Iterator[Any]:
    """matplotlib's axes of a figure of that size (inches), which is written to `path` in the end. The same drawing
    gives the same bytes."""
    matplotlib: Any = importlib.import_module("matplotlib")
    figure_module: Any = importlib.import_module("matplotlib.figure")
    with matplotlib.rc_context({"svg.hashsalt": "scopt", "svg.fonttype": "none"}):
        figure = figure_module.Figure(figsize=(width, height), layout="constrained")
        yield figure.add_subplot()
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw(results: Results, path: Path) -> None:
    """Draw the speedups over the baseline into `path`, on a logarithmic axis with the baseline at 1."""
    labels, bars = groups(results)
    width = 0.8 / max(len(bars), 1)
    with drawing(path, max(6.0, 1.5 + 0.13 * len(labels) * (len(bars) + 1)), 4.5) as axes:
        for number, (name, heights) in enumerate(bars.items()):
            # a bar stands on the line at 1: faster goes up, slower goes down
            places = [
                (group + (number - (len(bars) - 1) / 2) * width, height)
                for group, height in enumerate(heights)
                if height
            ]
            tops = [height - 1 for _, height in places]
            axes.bar([place for place, _ in places], tops, width, bottom=1, label=name, zorder=2)
        axes.axhline(1, color="black", linewidth=0.8, zorder=3)
        axes.axvline(len(labels) - 1.5, color="gray", linewidth=0.8, linestyle=":")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}x")
        axes.set_ylabel(f"speedup over {results.baseline}")
        axes.set_xticks(range(len(labels)), labels, rotation=90)
        axes.set_xlim(-0.6, len(labels) - 0.4)
        axes.grid(axis="y", which="both", alpha=0.3, zorder=0)
        if bars:
            axes.legend(ncols=len(bars), loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
