"""What an exploration has found: the samples of one setting, and the numbers that the report states. Nothing here reads
a file or draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.polybench.explore.curves import (
    BASELINE,
    Comparison,
    Gain,
    Reference,
    Series,
    best_of,
    common_kernels,
    compare,
    gain,
    reference_over,
    shortest,
)

REFERENCES = ("isl", "pluto", "polly")


class Setting(Struct, frozen=True):
    """What times depend on: they are compared within one setting only. machine, compiler: in words."""

    machine: str
    compiler: str
    size: str
    threads: int


class Exploration(Struct, frozen=True):
    """The measurements of one setting.

    check_size: of the programs whose outputs are compared, in words. originals: seconds of each kernel's original, the
      fastest run.
    references: for each other configuration the speedups over the originals by kernel. series: every walk, the kernels
    without an original's time left out. notes: what isn't in it, in sentences.
    """

    setting: Setting
    check_size: str
    originals: Mapping[str, float]
    references: Mapping[str, Mapping[str, float]]
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()


class Findings(Struct, frozen=True):
    """The numbers of the report.

    main: the walk with the most samples, of Figures 8 and 9. count: the number of samples that each of its kernels has;
    best: of the first `count`. gains: of `best` over -O3 and the references. references_mean: over the kernels of the
    main walk. whole: the main walk on all of its kernels; common: all walks on the kernels that all of them have, None
    with one walk or no such kernel.
    """

    exploration: Exploration
    main: Series
    count: int
    best: Mapping[str, float]
    gains: tuple[Gain, ...]
    references_mean: tuple[Reference, ...]
    whole: Comparison
    common: Comparison | None


def findings(exploration: Exploration) -> Findings:
    """The numbers of an exploration that has a sample. Raises ValueError if it has none."""
    series = tuple(each for each in exploration.series if each.count)
    if not series:
        raise ValueError("there are no samples")
    main = max(series, key=lambda each: (len(each.samples), each.count, each.walk == "bias_coeff_0", each.label))
    kernels = tuple(sorted(main.samples))
    count = shortest(main)
    best = best_of(main, count)
    gains = [gain(best, BASELINE), *(gain(best, name, speedups) for name, speedups in exploration.references.items())]
    means = [reference_over(name, speedups, kernels) for name, speedups in exploration.references.items()]
    return Findings(
        replace(exploration, series=series),
        main,
        count,
        best,
        tuple(each for each in gains if each is not None),
        tuple(mean for mean in means if mean is not None),
        compare((main,), kernels, exploration.references),
        _common(main, series, exploration.references),
    )


def _common(main: Series, series: Sequence[Series], references: Mapping[str, Mapping[str, float]]) -> Comparison | None:
    kernels = common_kernels(series)
    if len(series) < 2 or not kernels:
        return None
    return compare((main, *(each for each in series if each is not main)), kernels, references)


def statuses(series: Series) -> dict[str, int]:
    """How many samples have each status; ``duplicates`` are counted beside it, whatever their status."""
    counts = Counter(sample.status for samples in series.samples.values() for sample in samples)
    counts["duplicates"] = sum(sample.duplicate for samples in series.samples.values() for sample in samples)
    return dict(counts)


def ordered_references(names: Sequence[str]) -> list[str]:
    """The configurations in the order in which they are shown: isl, pluto, polly, then others by name."""
    return sorted(names, key=lambda name: (REFERENCES.index(name) if name in REFERENCES else len(REFERENCES), name))
