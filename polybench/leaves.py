"""Leaves of the space of decisions, drawn at random, beside the one that scopt takes by its model: how far that one is
from the best of them, and whether the model has them in the order in which the machine has them.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from scopt.polybench.bench_results import Results, Row, aligned, printed_seconds
from scopt.polybench.builds import BuildError, transform
from scopt.polybench.catalog import Kernel
from scopt.polybench.measure import Plan
from scopt.polybench.toolchains import Configuration

# Times this near to each other, relatively, are the same: the machine's noise is of that size.
SAME = 0.05
# Correlations of fewer leaves than these say nothing.
FEWEST = 4
# What the default may take, over the best leaf, to be called near it.
NEAR = 1.15
_CYCLES = re.compile(r": some ([0-9.e]+) cycles by the model")
LEGEND = f"""\
leaves: drawn at random, with different texts. default / best: fastest runs. place: the default's among all, by time.
rank correlation: Spearman's, of the model's cycles and the fastest runs of the default and the leaves, {FEWEST} at
least; within {SAME:.0%} is equal."""


class Leaf(Struct, frozen=True):
    """One leaf. seconds: of its fastest run. cycles: the model's; None where it has none."""

    name: str
    seconds: float
    cycles: float | None


class Leaves(Struct, frozen=True):
    """What the leaves of a kernel have shown.

    default, best: seconds, of what scopt takes and of the fastest leaf (the default is one of them), and that one's
    name. place: the default's among them, from 1 on; those that are as fast as the next one share its place.
    correlation: None of too few leaves, or where one side tells none apart. each: the fastest first.
    """

    count: int
    default: float
    best: float
    name: str
    place: int
    correlation: float | None
    each: tuple[Leaf, ...] = ()


def leaf_configurations(default: Configuration, number: int, seed: int) -> tuple[Configuration, ...]:
    """That many configurations beside `default`, which runs scopt: with decisions drawn from seeds from `seed` on."""
    return tuple(
        replace(
            default,
            name=f"leaf-{one}",
            transform=(*default.transform, "--decisions", "random", "--seed", str(one)),
            leaf=True,
        )
        for one in range(seed, seed + number)
    )


def predicted(kernel: Kernel, configuration: Configuration, plan: Plan, folder: Path) -> float | None:
    """The model's cycles of all regions with a configuration of scopt; None where it has none. folder: of the kernel's
    files."""
    asking = replace(configuration, transform=(*configuration.transform, "--emit=decisions"))
    options = (*(f"-I{include}" for include in kernel.includes), *plan.defines)
    decisions = folder / configuration.name / "decisions.yaml"
    try:
        transform(kernel, asking, options, (kernel.source, decisions), plan.timeout)
    except BuildError:
        return None
    found = [float(cycles) for cycles in _CYCLES.findall(decisions.read_text(encoding="utf-8"))]
    return sum(found) if found else None


def judged(row: Row, default: str, cycles: Mapping[str, float]) -> Leaves | None:
    """Of the cells of a kernel; cycles: by the model, of configurations. None without times of the default."""
    seconds = {name: cell.minimum for name, cell in row.items() if name == default or name.startswith("leaf-")}
    known = {name: value for name, value in seconds.items() if value is not None}
    if default not in known:
        return None
    best = min(known, key=lambda name: known[name])
    both = [name for name in known if name in cycles]
    found = rank_correlation([cycles[name] for name in both], [known[name] for name in both])
    place = 1 + sum(value * (1 + SAME) < known[default] for value in known.values())
    each = tuple(Leaf(name, known[name], cycles.get(name)) for name in sorted(known, key=lambda one: known[one]))
    return Leaves(len(known) - 1, known[default], known[best], best, place, found, each)


def rank_correlation(model: Sequence[float], machine: Sequence[float]) -> float | None:
    """Spearman's, between -1 and 1; None of fewer than `FEWEST` pairs, or if one of them is all the same."""
    if len(model) < FEWEST:
        return None
    try:
        found = statistics.correlation(_ranks(model), _ranks(machine))
    except statistics.StatisticsError:
        return None
    return found if isfinite(found) else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Of each value; neighbours that are the same share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda position: values[position])
    ranks = [0.0] * len(values)
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or values[order[end]] > values[order[start]] * (1 + SAME):
            for position in order[start:end]:
                ranks[position] = (start + end - 1) / 2
            start = end
    return ranks


def leaves_table(results: Results, found: Mapping[str, Leaves]) -> str:
    """A line for each kernel that has leaves, and what follows from all of them."""
    header = ["kernel", "leaves", "default", "best", "default / best", "best one", "place", "rank correlation"]
    lines = [_line(kernel, found[kernel]) for kernel in results.rows if kernel in found]
    return "\n".join([*aligned(header, lines), "", LEGEND, *_together(found.values())])


def _line(kernel: str, leaves: Leaves) -> list[str]:
    correlation = "-" if leaves.correlation is None else f"{leaves.correlation:.2f}"
    times = [printed_seconds(leaves.default), printed_seconds(leaves.best), f"{leaves.default / leaves.best:.2f}"]
    place = f"{leaves.place} of {leaves.count + 1}"
    return [kernel, str(leaves.count), *times, leaves.name, place, correlation]


def _together(found: Iterable[Leaves]) -> list[str]:
    leaves = list(found)
    correlations = [one.correlation for one in leaves if one.correlation is not None]
    near = sum(one.default <= NEAR * one.best for one in leaves)
    lines = [f"The default is within {NEAR - 1:.0%} of the best on {near} of {len(leaves)} kernels."] if leaves else []
    if correlations:
        lines.append(f"Rank correlation: {statistics.median(correlations):.2f} in the median of {len(correlations)}.")
    return lines
