"""The report of an exploration: its database read, Figures 8 to 10 as SVG, one HTML page with all numbers, and the data
of what is drawn."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

from scopt.diagnostics import InputError
from scopt.polybench.bench_results import write_atomically
from scopt.polybench.explore import curves
from scopt.polybench.explore.curves import Comparison, best_so_far
from scopt.polybench.explore.database import Database, open_database
from scopt.polybench.explore.figures import Figure, bars, kernels_text, progress, require_drawing, violins
from scopt.polybench.explore.findings import Exploration, Findings, Setting, findings, ordered_references
from scopt.polybench.explore.records import ORIGINAL, Baseline, ProgramRecord, StoredSample
from scopt.polybench.explore.report_page import page, samples_text

# A time of zero (too short for the timer) counts as the timer's resolution.
RESOLUTION = 1e-6

OWN_SIZE = "the program's own"


class _Key(Struct, frozen=True, order=True):
    """What times depend on, machine and compiler by their ids in the database."""

    machine: int
    compiler: int
    size: str
    threads: int


def write_report(
    database: Path, folder: Path, *, programs: Iterable[str] | None = None, machine: int | None = None
) -> Findings:
    """Write report.html, figure8.svg, figure9.svg, figure10.svg, data.csv and data.json into `folder`, which is made if
    it isn't there.

    programs: names of those to report, None for all. machine: its id in the database. Times are compared within one
    machine, compiler, size and number of threads only: the setting with the most samples is reported, the page says
    what else there is. Returns the numbers.
    Raises InputError if there is no such database or sample, no matplotlib, or the folder can't be written.
    """
    require_drawing()
    with open_database(database, create=False) as opened:
        found = findings(read_exploration(opened, programs, machine))
    figures = draw(found)
    texts = {f"{figure.name}.svg": figure.svg for figure in figures}
    texts |= {"report.html": page(found, figures), "data.json": as_json(found), "data.csv": as_csv(found)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_atomically(folder / name, text)
    except OSError as error:
        raise InputError(f"--report {folder}: {error.strerror}") from error
    return found


def read_exploration(
    database: Database, programs: Iterable[str] | None = None, machine: int | None = None
) -> Exploration:
    """The measurements of the setting with the most samples. Raises InputError if there are none."""
    records, wanted = database.programs(), None if programs is None else set(programs)
    groups: dict[_Key, list[StoredSample]] = defaultdict(list)
    for stored in database.samples():
        record = records[stored.series.program]
        if (machine is None or stored.machine == machine) and (wanted is None or record.name in wanted):
            groups[_Key(stored.machine, stored.series.compiler, record.size, record.threads)].append(stored)
    if not groups:
        raise InputError(f"{database.path}: there are no samples to report")
    key = max(groups, key=lambda key: (len(groups[key]), key))
    others = {other: samples_text(len(group)) for other, group in groups.items() if other != key}
    notes = [f"Not shown: {count} of another setting ({_words(database, other)})." for other, count in others.items()]
    return _exploration(database, key, groups[key], notes)


def _exploration(database: Database, key: _Key, stored: Sequence[StoredSample], notes: list[str]) -> Exploration:
    records = database.programs()
    names = _names({sample.series.program: records[sample.series.program] for sample in stored})
    originals: dict[str, float] = {}
    references: dict[str, dict[str, float]] = defaultdict(dict)
    for program, name in names.items():
        baselines = database.baselines(program, key.machine, key.compiler)
        original = baselines.get(ORIGINAL, Baseline(ORIGINAL)).minimum
        if original is None:
            notes.append(f"{name} is left out: its original has no time.")
            continue
        originals[name] = max(original, RESOLUTION)
        for configuration, baseline in baselines.items():
            if configuration == ORIGINAL:
                continue
            if baseline.minimum is None:
                notes.append(f"{name} has no time of {configuration}: {baseline.failure or 'not measured'}.")
            else:
                references[configuration][name] = originals[name] / max(baseline.minimum, RESOLUTION)
    kept = [sample for sample in stored if names[sample.series.program] in originals]
    ordered = {name: references[name] for name in ordered_references(list(references))}
    check_size = _check_sizes(records[program] for program in names)
    return Exploration(
        _setting(database, key), check_size, originals, ordered, _series(kept, names, originals), tuple(notes)
    )


def _series(
    stored: Iterable[StoredSample], names: Mapping[int, str], originals: Mapping[str, float]
) -> tuple[curves.Series, ...]:
    """By walk and search; the samples of several seeds follow each other."""
    found: dict[tuple[str, str], dict[str, list[curves.Sample]]] = defaultdict(lambda: defaultdict(list))
    for each in sorted(stored, key=lambda each: (each.series.seed, each.sample.number)):
        kernel, sample = names[each.series.program], each.sample
        minimum = sample.minimum
        speedup = None if minimum is None else originals[kernel] / max(minimum, RESOLUTION)
        samples = found[each.series.walk, each.series.search][kernel]
        samples.append(
            curves.Sample(len(samples) + 1, sample.status, sample.duplicate_of is not None, minimum, speedup)
        )
    return tuple(
        curves.Series(walk, search, {kernel: tuple(samples) for kernel, samples in sorted(kernels.items())})
        for (walk, search), kernels in sorted(found.items())
    )


def _names(records: Mapping[int, ProgramRecord]) -> dict[int, str]:
    """The name of each program; with the source's hash where several programs have one name."""
    counts = Counter(record.name for record in records.values())
    return {
        key: record.name if counts[record.name] == 1 else f"{record.name}@{record.source_hash[:6]}"
        for key, record in records.items()
    }


def _setting(database: Database, key: _Key) -> Setting:
    machine, compiler = database.machines()[key.machine], database.compilers()[key.compiler]
    words = f"{machine.processor}, {machine.cores} cores, {machine.system}"
    return Setting(words, f"{compiler.version}, {compiler.flags}", key.size or OWN_SIZE, key.threads)


def _check_sizes(records: Iterable[ProgramRecord]) -> str:
    """The check size of most programs, and of the others each with its own."""
    sizes: dict[str, list[str]] = defaultdict(list)
    for record in records:
        sizes[record.check_size or OWN_SIZE].append(record.name)
    (most, _), *others = sorted(sizes.items(), key=lambda item: (-len(item[1]), item[0]))
    return ", ".join([most, *(f"{size} for {' and '.join(sorted(names))}" for size, names in others)])


def _words(database: Database, key: _Key) -> str:
    setting = _setting(database, key)
    return (
        f"machine {key.machine}: {setting.machine}; {setting.compiler}; size {setting.size}, {setting.threads} threads"
    )


def draw(found: Findings) -> tuple[Figure, ...]:
    """Figures 8, 9 and 10. The last has a panel for the walks on the kernels that all of them have, if that isn't all
    there is to see."""
    references = found.exploration.references
    panels: list[tuple[str, Comparison]] = []
    if found.common is not None:
        panels.append((f"all walks on the {kernels_text(found.common.kernels)} that they share", found.common))
    if found.common is None or found.common.kernels != found.whole.kernels:
        panels.append((f"{found.main.label} on all its {kernels_text(found.whole.kernels)}", found.whole))
    return (
        violins(found.main, references),
        bars(found.best, found.main.label, found.count, references),
        progress(panels),
    )


def as_json(found: Findings) -> str:
    """Everything that is drawn or stated, as a JSON object."""
    exploration = found.exploration
    content = {
        "format": 1,
        "setting": to_builtins(exploration.setting),
        "check_size": exploration.check_size,
        "notes": list(exploration.notes),
        "main": found.main.label,
        "best_of": found.count,
        "best": dict(found.best),
        "gains": [to_builtins(each) for each in found.gains],
        "originals": dict(exploration.originals),
        "references": {name: dict(speedups) for name, speedups in exploration.references.items()},
        "whole": _comparison(found.whole),
        "common": None if found.common is None else _comparison(found.common),
        "series": [
            {
                "walk": each.walk,
                "search": each.search,
                "samples": {
                    kernel: [to_builtins(sample) for sample in samples] for kernel, samples in each.samples.items()
                },
            }
            for each in exploration.series
        ],
    }
    return json.dumps(content, indent=1) + "\n"


def _comparison(comparison: Comparison) -> dict[str, object]:
    return {
        "kernels": list(comparison.kernels),
        "references": [to_builtins(reference) for reference in comparison.references],
        "lines": [
            {
                "label": line.label,
                "values": list(line.values),
                "crossings": {name: to_builtins(each) for name, each in line.crossings.items()},
            }
            for line in comparison.lines
        ],
    }


def as_csv(found: Findings) -> str:
    """Everything that is drawn as one table.

    what: ``original``, ``reference`` and ``sample`` are single measurements; ``whole`` and ``common`` the lines of
    Figure 10 (geometric means of the best so far over the main walk's kernels, over those that all walks have), with
    the number of samples in `number`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("what", "kernel", "name", "number", "status", "duplicate", "seconds", "speedup", "best_so_far"))
    exploration = found.exploration
    writer.writerows(
        ("original", kernel, ORIGINAL, "", "ok", "", seconds, 1.0, "")
        for kernel, seconds in exploration.originals.items()
    )
    for name, speedups in exploration.references.items():
        for kernel, speedup in speedups.items():
            writer.writerow(
                ("reference", kernel, name, "", "ok", "", exploration.originals[kernel] / speedup, speedup, "")
            )
    for series in exploration.series:
        for kernel, samples in series.samples.items():
            best = best_so_far(sample.speedup for sample in samples)
            for sample, value in zip(samples, best, strict=True):
                duplicate = int(sample.duplicate)
                row = (sample.number, sample.status, duplicate, _cell(sample.seconds), _cell(sample.speedup), value)
                writer.writerow(("sample", kernel, series.label, *row))
    for what, comparison in (("whole", found.whole), ("common", found.common)):
        for line in comparison.lines if comparison else ():
            writer.writerows(
                (what, "", line.label, count, "", "", "", "", value) for count, value in enumerate(line.values, 1)
            )
    return text.getvalue()


def _cell(value: float | None) -> float | str:
    return "" if value is None else value
