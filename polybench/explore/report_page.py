"""The report as one HTML page that needs nothing beside it: figures, and tables of all numbers."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from scopt.polybench.explore.curves import BASELINE, Comparison, Crossing, Series
from scopt.polybench.explore.figures import STYLE, Figure, kernels_text
from scopt.polybench.explore.findings import Exploration, Findings, statuses

PAGE_STYLE = """\
:root { color-scheme: light dark; --ink: #1b1b1d; --paper: #fdfdfc; --faint: #5f5f66; --line: #d5d5d8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e9ec; --paper: #17181b; --faint: #a5a5ad; --line: #3a3b40; } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif;
  max-width: 75rem; margin: 0 auto; padding: 1.5rem; }
h1, h2 { line-height: 1.25; text-wrap: balance; }
figure { margin: 2rem 0; }
.wide { overflow-x: auto; }
.wide > svg { min-width: 44rem; }
figcaption, .note { color: var(--faint); max-width: 60rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { text-align: right; padding: 0.2rem 0.8rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
tbody th { font-weight: normal; }
a:focus-visible, summary:focus-visible, .wide:focus-visible { outline: 3px solid #2f7fd1; outline-offset: 2px; }
"""


def page(found: Findings, figures: Sequence[Figure]) -> str:
    """The text of the page."""
    title = "Exploration of the schedule space"
    parts = [
        f"<h1>{title}</h1>",
        f"<p>{html.escape(_summary(found))}</p>",
        _gains(found),
        *(_figure(number, figure) for number, figure in enumerate(figures, 8)),
        _crossings("Where the walks reach the references, all kernels of the main walk", found.whole),
        *(
            [
                _crossings(
                    f"The same for all walks on the {kernels_text(found.common.kernels)} that they share", found.common
                )
            ]
            if found.common
            else []
        ),
        _counts(found.exploration.series),
        _kernels(found),
        _setting(found.exploration),
        *(f'<p class="note">{html.escape(note)}</p>' for note in found.exploration.notes),
        '<p class="note">Everything drawn: <a href="data.csv">data.csv</a>, <a href="data.json">data.json</a>.</p>',
    ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n'
        '<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>\n{PAGE_STYLE}{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _summary(found: Findings) -> str:
    over = {each.over: each for each in found.gains}
    what = f"Best of {samples_text(found.count)} of {found.main.label} on {kernels_text(tuple(found.best))}"
    text = f"{what}: geomean {over[BASELINE].mean:.2f}× over {BASELINE}"
    others = [f"{each.mean:.2f}× over {each.over}" for each in found.gains if each.over != BASELINE]
    line = found.whole.lines[0]
    reached = line.crossings.get("isl")
    walk = "" if reached is None else f" The walk {_crossing_text(reached, len(line.values))}."
    return f"{', '.join([text, *others])}.{walk}"


def _crossing_text(reached: Crossing, last: int) -> str:
    return (
        f"reaches isl at {samples_text(reached.count)}"
        if reached.count
        else f"doesn't reach isl within {samples_text(last)}"
    )


def _gains(found: Findings) -> str:
    means = {each.name: each.mean for each in found.references_mean}
    rows = [
        (
            each.over,
            f"{each.mean:.2f}×",
            f"{each.faster} of {len(each.kernels)}",
            _factor(1.0 if each.over == BASELINE else means.get(each.over)),
        )
        for each in found.gains
    ]
    head = ("over", "geomean", "kernels where it is faster", f"its own geomean over {BASELINE}")
    return _table(f"Best of {samples_text(found.count)} ({found.main.label})", head, rows)


def _figure(number: int, figure: Figure) -> str:
    """The figure as part of the page: the page has the style already,
    and the drawing's XML head has no place in HTML."""
    svg = re.sub(r"<style>\n.*?</style>\n", "", figure.svg[figure.svg.index("<svg") :], count=1, flags=re.DOTALL)
    name = html.escape(figure.title)
    return (
        f"<figure>\n<h2>Figure {number}: {name}</h2>\n"
        f'<div class="wide" tabindex="0" role="group" aria-label="{name}">\n{svg}</div>\n'
        f"<figcaption>{html.escape(figure.caption)} "
        f'<a href="{figure.name}.svg">{figure.name}.svg</a></figcaption>\n</figure>'
    )


def _crossings(caption: str, comparison: Comparison) -> str:
    names = [reference.name for reference in comparison.references]
    rows = []
    for line in comparison.lines:
        last = f"{line.values[-1]:.2f}× at {len(line.values)}" if line.values else "–"
        rows.append((line.label, last, *(_count_text(line.crossings[name]) for name in names)))
    head = (
        "walk",
        f"geomean over {BASELINE}",
        *(
            f"samples to reach {each.name} ({each.mean:.2f}×, {kernels_text(each.kernels)})"
            for each in comparison.references
        ),
    )
    listed = f'<p class="note">Kernels: {html.escape(", ".join(comparison.kernels))}.</p>'
    return _table(caption, head, rows) + listed


def _count_text(reached: Crossing) -> str:
    return str(reached.count) if reached.count else "not reached"


def _counts(series: Iterable[Series]) -> str:
    rows = []
    for each in series:
        counts = statuses(each)
        named = ("ok", "timeout", "duplicates")
        failures = (
            ", ".join(f"{count} {status}" for status, count in sorted(counts.items()) if status not in named) or "0"
        )
        rows.append(
            (
                each.label,
                str(len(each.samples)),
                str(each.count),
                *(str(counts.get(name, 0)) for name in named),
                failures,
            )
        )
    return _table(
        "Samples", ("walk", "kernels", "samples", "ok", "timeouts", "duplicates among them", "failures"), rows
    )


def _kernels(found: Findings) -> str:
    exploration, main = found.exploration, found.main
    rows = []
    for kernel in sorted(main.samples):
        best = main.best(kernel)
        samples = main.samples[kernel]
        rows.append(
            (
                kernel,
                f"{exploration.originals[kernel]:.4g}",
                *(_factor(speedups.get(kernel)) for speedups in exploration.references.values()),
                _factor(found.best[kernel]),
                "–" if best is None else f"{_factor(best.speedup)} after {samples_text(best.number)}",
                str(len(samples)),
                str(sum(sample.status == "timeout" for sample in samples)),
                str(sum(sample.duplicate for sample in samples)),
            )
        )
    head = (
        "kernel",
        f"{BASELINE} (s)",
        *exploration.references,
        f"best of {found.count}",
        "best of all",
        "samples",
        "timeouts",
        "duplicates",
    )
    table = _table(f"Each kernel ({main.label}): speedups over {BASELINE}", head, rows)
    scrolled = f'<div class="wide" tabindex="0" role="group" aria-label="Numbers of each kernel">{table}</div>'
    return f"<details open>\n<summary>Numbers of each kernel</summary>\n{scrolled}\n</details>"


def _setting(exploration: Exploration) -> str:
    setting = exploration.setting
    rows = [
        ("machine", setting.machine),
        ("compiler", setting.compiler),
        ("size of the timed runs", setting.size),
        ("size of the check", exploration.check_size),
        ("threads", str(setting.threads)),
    ]
    return _table("How it was measured", ("what", "value"), rows)


def samples_text(count: int) -> str:
    return "1 sample" if count == 1 else f"{count} samples"


def _factor(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}×"


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{html.escape(first)}</th>{cells}</tr>')
    text = "\n".join(lines)
    return (
        f"<table>\n<caption>{html.escape(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{text}\n</tbody>\n</table>\n"
    )
