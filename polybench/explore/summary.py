"""What an exploration has come to: a line for each program, and the best schedules as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from scopt.diagnostics import InputError
from scopt.files import write_atomically
from scopt.polybench.bench_results import geomean
from scopt.polybench.explore.database import Database
from scopt.polybench.explore.records import ORIGINAL, STATUSES, Baseline, Series, StoredSample
from scopt.polybench.explore.rounds import RESOLUTION, speedups


class Summary(Struct, frozen=True):
    """A program's samples in one series.

    distinct: how many were built, that is, were no duplicates. best: the fastest, None if no sample has a time.
      baselines: by configuration.
    counts: of each status that occurs.
    """

    name: str
    samples: int
    distinct: int
    best: StoredSample | None
    baselines: dict[str, Baseline]
    counts: dict[str, int]

    def speedup(self, configuration: str = ORIGINAL) -> float | None:
        """Of the best over a baseline, by the fastest run of each."""
        baseline = self.baselines.get(configuration)
        if baseline is None or baseline.minimum is None or self.best is None or self.best.sample.minimum is None:
            return None
        return max(baseline.minimum, RESOLUTION) / max(self.best.sample.minimum, RESOLUTION)


def summary(database: Database, name: str, series: Series, machine: int | None, count: int | None) -> Summary:
    """Of the first `count` samples of a series, None: of all. machine: None for the samples of all machines; the
    fastest is then the one with the largest speedup over the original on its own machine, whose baselines it is
    compared with."""
    samples = [stored for stored in database.samples(series, machine) if count is None or stored.sample.number < count]
    counts = {status: sum(stored.sample.status == status for stored in samples) for status in STATUSES}
    distinct = sum(stored.sample.duplicate_of is None for stored in samples)
    best = fastest(database, samples)
    where = best.machine if best else samples[0].machine if samples else machine
    baselines = database.baselines(series.program, where, series.compiler) if where is not None else {}
    return Summary(name, len(samples), distinct, best, baselines, {status: n for status, n in counts.items() if n})


def fastest(database: Database, samples: Sequence[StoredSample]) -> StoredSample | None:
    """The sample with the largest speedup over the original on its machine,
    the first of several; None if none has a time."""
    found = speedups(database, samples)
    return max((stored for stored in samples if stored.id in found), key=lambda stored: found[stored.id], default=None)


def table(summaries: Sequence[Summary], configurations: Sequence[str]) -> str:
    """For people: programs, samples, and the best's speedups over the original and the other baselines;
    the geometric means below."""
    shown = [name for name in configurations if any(each.baselines.get(name) for each in summaries)]
    header = [
        "program",
        "samples",
        "distinct",
        "original",
        "best",
        "at sample",
        *(f"over {name}" for name in (ORIGINAL, *shown)),
    ]
    lines = [_line(each, shown) for each in summaries]
    if len(summaries) > 1:
        means = [_mean(summaries, name) for name in (ORIGINAL, *shown)]
        lines.append(["geomean", "", "", "", "", "", *means])
    widths = [max(len(line[column]) for line in [header, *lines]) for column in range(len(header))]
    rows = [header, ["-" * width for width in widths], *lines]
    text = [
        "  ".join(
            [row[0].ljust(widths[0]), *(word.rjust(width) for word, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    notes = [f"{each.name}: {note}" for each in summaries for note in _notes(each)]
    return "\n".join([*text, "", "Seconds and speedups: the fastest of all runs.", *notes])


def best_schedules(
    database: Database, names: Sequence[str], all_series: Sequence[Series], machine: int | None
) -> dict[str, str]:
    """For each program the schedule file of its fastest sample, by any search; programs without one are left out.
    machine: as in `summary`."""
    found = {}
    for name, series in zip(names, all_series, strict=True):
        same = [
            s
            for s in database.samples(machine=machine)
            if (s.series.program, s.series.compiler) == (series.program, series.compiler)
        ]
        best = fastest(database, same)
        if best is not None:
            found[name] = best.sample.schedule
    return found


def save_schedules(path: Path, schedules: dict[str, str]) -> list[Path]:
    """Write the one schedule into the file `path`, or, if `path` is no YAML file's name, all into a folder.
    Raises InputError."""
    single = is_file(path) and len(schedules) == 1
    files = {path if single else path / f"{name}.yaml": text for name, text in schedules.items()}
    try:
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, text.encode())
    except OSError as error:
        raise InputError(f"--save {path}: {error.strerror}") from error
    return list(files)


def is_file(path: Path) -> bool:
    """Whether --save names a file, as opposed to a folder."""
    return path.suffix in (".yaml", ".yml")


def _line(each: Summary, configurations: Sequence[str]) -> list[str]:
    original, best = each.baselines.get(ORIGINAL), each.best
    cells = [each.name, str(each.samples), str(each.distinct), _seconds(original.minimum if original else None)]
    cells += [_seconds(best.sample.minimum), str(best.sample.number)] if best else ["-", "-"]
    return [*cells, *(_factor(each.speedup(name)) for name in (ORIGINAL, *configurations))]


def _mean(summaries: Sequence[Summary], configuration: str) -> str:
    values = [value for each in summaries if (value := each.speedup(configuration)) is not None]
    text = _factor(geomean(values))
    return text if len(values) in (0, len(summaries)) else f"{len(values)} of {len(summaries)}: {text}"


def _notes(each: Summary) -> list[str]:
    others = [f"{count} {status}" for status, count in each.counts.items() if status != "ok"]
    failed = [f"{name}: {baseline.failure}" for name, baseline in each.baselines.items() if baseline.failure]
    return ([f"samples without a time: {', '.join(others)}"] if others else []) + failed


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}" if value < 0.01 else f"{value:.4f}" if value < 1 else f"{value:.3f}"


def _factor(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"
