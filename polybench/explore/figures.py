"""Figures 8 to 10 of PolyGym, drawn as SVG of what `curves` has computed.

The texts stay text, all shapes differ in more than their colour, the colours stand out from white as from black, and
paper and ink change with the viewer's light or dark scheme, in a page as well as alone.
"""

from __future__ import annotations

import html
import importlib
import importlib.util
import io
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from scopt.diagnostics import InputError
from scopt.polybench.bench_results import geomean
from scopt.polybench.explore.curves import BASELINE, Comparison, Series

INK, PAPER, FAINT = "#1b1b1d", "#fdfdfc", "#8a8a8e"
# Of middle lightness: at least 3:1 against paper, white or black (WCAG 1.4.11).
COLORS = ("#2f7fd1", "#d2691e", "#1f9469", "#b0569b", "#8a6fd8", "#a8852a")
MARKERS = ("D", "^", "s", "v", "P", "X")
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))
LEAST = 8.0  # inches: a figure's width that the legend has room in
STYLE = f"""\
svg.scopt-figure {{ max-width: 100%; height: auto; }}
@media (prefers-color-scheme: dark) {{
svg.scopt-figure [style*="fill: {INK}"] {{ fill: #e9e9ec !important; }}
svg.scopt-figure [style*="stroke: {INK}"] {{ stroke: #e9e9ec !important; }}
svg.scopt-figure [style*="fill: {PAPER}"] {{ fill: #17181b !important; }}
svg.scopt-figure [style*="stroke: {PAPER}"] {{ stroke: #17181b !important; }}
}}
"""


class Figure(Struct, frozen=True):
    """A drawing. name: of its file, without suffix. caption: what there is to see and to know about it, in sentences.
    svg: the file's text."""

    name: str
    title: str
    caption: str
    svg: str


def require_drawing() -> None:
    """Raise InputError if there is no matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("a report needs matplotlib; install it with: pip install 'scopt[bench]'")


def violins(series: Series, references: Mapping[str, Mapping[str, float]]) -> Figure:
    """Figure 8: for each kernel how the speedups of its samples are distributed,
    and each reference's speedup as a marker."""
    kernels = sorted(series.samples)
    with _axes("figure8", max(LEAST, 2.2 + 0.38 * len(kernels)), 5.0) as (axes, finish):
        for place, kernel in enumerate(kernels):
            values = [math.log10(sample.speedup) for sample in series.samples[kernel] if sample.speedup]
            if values:
                _violin(axes, place, values)
        for number, (name, speedups) in enumerate(references.items()):
            known = [
                (place, math.log10(speedups[kernel])) for place, kernel in enumerate(kernels) if kernel in speedups
            ]
            label = f"{name} (geomean {_times(geomean(speedups[kernel] for kernel in kernels if kernel in speedups))})"
            color = COLORS[(number + 1) % len(COLORS)]
            places, heights = [place for place, _ in known], [height for _, height in known]
            edge = {"edgecolors": PAPER, "linewidths": 0.7}
            axes.scatter(
                places, heights, 34, color, marker=MARKERS[number % len(MARKERS)], zorder=5, label=label, **edge
            )
        axes.axhline(0, color=INK, linewidth=1, label=f"{BASELINE} (1×)", zorder=1)
        axes.set_xticks(range(len(kernels)), kernels, rotation=90)
        axes.set_xlim(-0.7, max(len(kernels), 1) - 0.3)
        _logarithmic_ticks(axes)
        axes.set_ylabel(f"speedup over {BASELINE} (logarithmic)")
        _legend(axes)
        title = f"Distribution of the speedups by kernel ({series.label})"
        caption = (
            f"How the speedups over {BASELINE} of the samples of {series.label} are distributed, by kernel: "
            "the width of a violin is the density (on the logarithm), its line goes from the slowest to the "
            "fastest sample, the bar is the median. A duplicate counts with its original's time. Samples "
            "without a time (timeouts, failures) are not in the violins; the table counts them."
        )
        return finish(title, caption)


def bars(best: Mapping[str, float], label: str, count: int, references: Mapping[str, Mapping[str, float]]) -> Figure:
    """Figure 9: for each kernel, and as the geomean, the best speedup among `count`
    samples of the walk `label` beside the references'."""
    kernels = sorted(best)
    groups = {f"best of {count}, {label}": best, **references}
    width = 0.82 / len(groups)
    with _axes("figure9", max(LEAST, 2.4 + 0.12 * (len(kernels) + 1) * (len(groups) + 1)), 5.2) as (axes, finish):
        for number, (name, speedups) in enumerate(groups.items()):
            values = [(float(place), speedups[kernel]) for place, kernel in enumerate(kernels) if kernel in speedups]
            mean = geomean(value for _, value in values)
            values += [] if mean is None else [(len(kernels) + 0.4, mean)]
            places = [place + (number - (len(groups) - 1) / 2) * width for place, _ in values]
            heights = [math.log10(value) for _, value in values]
            color = COLORS[number % len(COLORS)]  # and the order within a group is that of the legend
            axes.bar(places, heights, width, color=color, label=f"{name} (geomean {_times(mean)})", zorder=2)
        axes.axhline(0, color=INK, linewidth=1, label=f"{BASELINE} (1×)", zorder=3)
        axes.axvline(len(kernels) - 0.3, color=FAINT, linewidth=0.8, linestyle=":")
        axes.set_xticks([*range(len(kernels)), len(kernels) + 0.4], [*kernels, "geomean"], rotation=90)
        axes.set_xlim(-0.7, len(kernels) + 1)
        _logarithmic_ticks(axes)
        axes.set_ylabel(f"speedup over {BASELINE} (logarithmic)")
        _legend(axes)
        caption = (
            f"For each kernel the largest speedup over {BASELINE} among the first {count} samples of {label}, beside "
            "the references; a kernel that a reference has no time for has no bar of it, and its geomean leaves it out."
        )
        return finish(f"Best speedup of each kernel ({label}, {count} samples)", caption)


def progress(panels: Sequence[tuple[str, Comparison]]) -> Figure:
    """Figure 10: the geomean of the best so far against the number of samples.
    panels: the head of each, and what it compares."""
    with _axes("figure10", max(7.0, 5.6 * len(panels)), 4.8, len(panels)) as (axes, finish):
        for one, (head, comparison) in zip(axes if len(panels) > 1 else (axes,), panels, strict=True):
            _progress_panel(one, head, comparison)
        caption = (
            "The geometric mean over the kernels of the best speedup so far against the number of "
            "samples of each kernel, a line for each walk; timeouts and failures count as samples that "
            "bring nothing, duplicates with their original's time. A kernel without a valid sample "
            f"counts as {FLOOR_TEXT}. Horizontal lines: the references over the same kernels, where "
            "they have a time for them. A vertical line and a ring mark where a walk reaches isl."
        )
        return finish("Best so far against the number of samples", caption)


FLOOR_TEXT = "0.1×, the speedup at the time limit"


def _progress_panel(axes: Any, head: str, comparison: Comparison) -> None:
    """One panel of Figure 10, its lines as decimal logarithms."""
    for number, line in enumerate(comparison.lines):
        heights = [math.log10(value) for value in line.values]
        color, dash = COLORS[number % len(COLORS)], DASHES[number % len(DASHES)]
        crossing = line.crossings.get("isl")
        note = (
            ""
            if crossing is None
            else f", reaches isl at {crossing.count}"
            if crossing.count
            else ", doesn't reach isl"
        )
        # half a step more, so that the last sample's step can be seen
        counts = [*range(1, len(heights) + 1), len(heights) + 0.5]
        axes.step(
            counts,
            [*heights, *heights[-1:]],
            where="post",
            color=color,
            linestyle=dash,
            linewidth=2,
            zorder=4,
            label=f"{line.label}{note}",
        )
        if crossing is not None and crossing.count is not None and crossing.count <= len(heights):
            ring = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": color, "markeredgewidth": 1.8}
            axes.plot([crossing.count], [heights[crossing.count - 1]], "o", zorder=6, **ring)
            axes.axvline(crossing.count, color=color, linewidth=0.8, linestyle=dash, alpha=0.6, zorder=1)
    for number, reference in enumerate(comparison.references):
        axes.axhline(
            math.log10(reference.mean),
            color=INK,
            linewidth=1,
            linestyle=DASHES[(number + 1) % len(DASHES)],
            alpha=0.7,
            zorder=2,
        )
    axes.axhline(0, color=INK, linewidth=1, zorder=1)
    axes.set_xlim(1, max([2, *(len(line.values) for line in comparison.lines)]) + 0.5)
    axes.locator_params(axis="x", integer=True)
    _logarithmic_ticks(axes, (1, 1.5, 2, 3, 5, 7))
    _reference_labels(axes, comparison)
    axes.set_xlabel("samples of each kernel")
    axes.set_ylabel(f"geomean of the best speedup over {BASELINE}")
    axes.set_title(head, fontsize=10)
    axes.grid(axis="x", alpha=0.25)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=9)


def _reference_labels(axes: Any, comparison: Comparison) -> None:
    """The references' names right of their lines, apart from each other."""
    low, high = axes.get_ylim()
    whole = len(comparison.kernels)
    labels = [
        (
            math.log10(each.mean),
            f"{each.name} {_times(each.mean)}"
            + ("" if len(each.kernels) == whole else f"\n({kernels_text(each.kernels)})"),
        )
        for each in comparison.references
    ]
    labels = sorted([*labels, (0.0, BASELINE)])
    heights = spread([height for height, _ in labels], 0.065 * (high - low))
    for (place, text), height in zip(labels, heights, strict=True):
        arrow = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.7}
        axes.annotate(
            text,
            (1, place),
            (1.03, height),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            ha="left",
            va="center",
            color=INK,
            fontsize=8,
            arrowprops=arrow,
        )


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Ascending places moved apart so that neighbours are at least `gap` from each other; those that touch stay centred
    on where they were."""
    groups: list[tuple[float, int]] = []  # sum of the places, number of them
    for place in places:
        groups.append((place, 1))
        while len(groups) > 1 and _bottom(groups[-1], gap) - _top(groups[-2], gap) < gap * (1 - 1e-9):
            (total, count), (more, others) = groups[-2:]
            groups[-2:] = [(total + more, count + others)]
    return [_bottom(group, gap) + number * gap for group in groups for number in range(group[1])]


def _bottom(group: tuple[float, int], gap: float) -> float:
    return group[0] / group[1] - gap * (group[1] - 1) / 2


def _top(group: tuple[float, int], gap: float) -> float:
    return _bottom(group, gap) + gap * (group[1] - 1)


def _violin(axes: Any, place: int, values: Sequence[float]) -> None:
    """One violin over `place`; a point's width where all values are the same."""
    color = COLORS[0]
    if max(values) - min(values) > 1e-9:
        parts = axes.violinplot([values], [place], widths=0.85, showextrema=False)
        for body in parts["bodies"]:
            body.set(facecolor=color, edgecolor=color, alpha=0.55, linewidth=0.8, zorder=2)
    axes.vlines(place, min(values), max(values), color=color, linewidth=1.1, zorder=3)
    middle = statistics.median(values)
    axes.hlines(middle, place - 0.18, place + 0.18, color=color, linewidth=2.4, zorder=4)


def _logarithmic_ticks(axes: Any, digits: Sequence[float] = (1, 2, 5)) -> None:
    """Label an axis of decimal logarithms by the numbers, at `digits` of each decade in sight."""
    low, high = axes.get_ylim()
    low, high = min(low, -0.05), max(high, 0.05)
    ticks = [(exponent, digit) for exponent in range(math.floor(low), math.ceil(high) + 1) for digit in digits]
    shown = [(exponent + math.log10(digit), f"{digit * 10.0**exponent:g}×") for exponent, digit in ticks]
    shown = [(height, label) for height, label in shown if low <= height <= high]
    axes.set_yticks([height for height, _ in shown], [label for _, label in shown])
    axes.set_ylim(low, high)
    axes.grid(axis="y", alpha=0.25, zorder=0)


def _legend(axes: Any) -> None:
    axes.legend(ncols=5, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=9)


def kernels_text(kernels: Sequence[str]) -> str:
    return "1 kernel" if len(kernels) == 1 else f"{len(kernels)} kernels"


def _times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}×"


@contextmanager
def _axes(
    name: str, width: float, height: float, columns: int = 1
) -> Iterator[tuple[Any, Callable[[str, str], Figure]]]:
    """matplotlib's axes of a drawing of that size (inches), or a row of `columns` of them, and what makes the
    `Figure` of it in the end from its title and caption.

    The same drawing gives the same text.
    """
    matplotlib: Any = importlib.import_module("matplotlib")
    module: Any = importlib.import_module("matplotlib.figure")
    ink = dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    look = {"axes.facecolor": PAPER, "figure.facecolor": PAPER, "axes.spines.top": False, "axes.spines.right": False}
    fixed = {"svg.hashsalt": f"scopt-{name}", "svg.fonttype": "none", "font.family": "sans-serif"}
    with matplotlib.rc_context({**ink, **look, **fixed}):
        drawing = module.Figure(figsize=(width, height), layout="constrained")

        def finish(title: str, caption: str) -> Figure:
            text = io.StringIO()
            drawing.savefig(text, format="svg", metadata={"Date": None})
            return Figure(name, title, caption, _accessible(text.getvalue(), name, title, caption))

        yield drawing.subplots(1, columns), finish


def _accessible(svg: str, name: str, title: str, caption: str) -> str:
    """matplotlib's SVG with a title, a description and the style of both schemes,
    its ids made unique in a page of several figures."""
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\g<1>#{name}-", svg)
    words = f'class="scopt-figure" role="img" aria-labelledby="{name}-title {name}-description"'
    head = (
        f'<title id="{name}-title">{html.escape(title)}</title>\n'
        f'<desc id="{name}-description">{html.escape(caption)}</desc>\n<style>\n{STYLE}</style>\n'
    )
    return re.sub(r"<svg ([^>]*)>", lambda match: f"<svg {words} {match[1]}>\n{head}", svg, count=1)
