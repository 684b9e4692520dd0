"""What is told of an exploration, as numbers: the best so far, its geometric mean over kernels, and where a walk
crosses a reference.

The samples of one walk stand in the order in which they were drawn. All speedups are over the original at -O3 on the
same machine, by the fastest run of each. Nothing here reads a file or draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from scopt.polybench.bench_results import geomean

# A run is ended at ten times the original's time (PolyGym, section V-A), and such a sample is as good as one that
# reaches the limit: as long as a kernel has no better one, it counts with this speedup.
FLOOR = 0.1
BASELINE = "-O3"


class Sample(Struct, frozen=True):
    """One sample of a walk. number: as it was drawn. duplicate: its tree or its C text is that of an earlier one, whose
    time it has.

    seconds: its fastest run. speedup: over the original. Both are None if it has no valid time; status says why.
    """

    number: int
    status: str
    duplicate: bool = False
    seconds: float | None = None
    speedup: float | None = None


class Series(Struct, frozen=True):
    """The samples of one walk and search, by kernel, each in the order in which they were drawn."""

    walk: str
    search: str
    samples: Mapping[str, tuple[Sample, ...]]

    @property
    def label(self) -> str:
        return self.walk if self.search == "random" else f"{self.search}, {self.walk}"

    @property
    def count(self) -> int:
        """Samples of all kernels."""
        return sum(map(len, self.samples.values()))

    def best(self, kernel: str) -> Sample | None:
        """The fastest sample of `kernel`, the first of several; None if it has no valid time."""
        timed = [sample for sample in self.samples.get(kernel, ()) if sample.speedup is not None]
        return max(timed, key=lambda sample: sample.speedup or 0.0, default=None)


class Reference(Struct, frozen=True):
    """A configuration beside the walk: its geometric mean over those of the kernels that it has a time for."""

    name: str
    kernels: tuple[str, ...]
    mean: float


class Crossing(Struct, frozen=True):
    """count: the number of samples from which on the walk is at least as fast as the reference, None if it never is.

    Both are means over `kernels`: those of the line that the reference has a time for.
    """

    kernels: tuple[str, ...]
    count: int | None


class Line(Struct, frozen=True):
    """The mean over the kernels of the best so far: values[n - 1] after n samples of each.
    crossings: by the reference's name."""

    label: str
    values: tuple[float, ...]
    crossings: Mapping[str, Crossing]


class Comparison(Struct, frozen=True):
    """Lines over the same kernels, and the references over these."""

    kernels: tuple[str, ...]
    lines: tuple[Line, ...]
    references: tuple[Reference, ...]


def best_so_far(speedups: Iterable[float | None], floor: float = FLOOR) -> tuple[float, ...]:
    """The largest speedup among the first n samples, for n = 1, 2, …; a sample without a time (None) brings nothing.

    As long as there is none with a time, it is `floor`. (It can fall below that once: a program of milliseconds may be
    slower than the time limit says, since no limit is so short.)
    """
    values: list[float] = []
    best: float | None = None
    for speedup in speedups:
        if speedup is not None:
            best = speedup if best is None else max(best, speedup)
        values.append(floor if best is None else best)
    return tuple(values)


def mean_curve(curves: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The geometric mean of the curves at each number of samples,
    up to the end of the shortest; nothing of no curves."""
    means = (geomean(values) for values in zip(*curves, strict=False))
    return tuple(mean for mean in means if mean is not None)


def crossing(curve: Iterable[float], reference: float) -> int | None:
    """The number of samples, from 1, at which `curve` reaches `reference`; None if it doesn't."""
    return next((count for count, value in enumerate(curve, 1) if value >= reference), None)


def series_curve(series: Series, kernels: Iterable[str]) -> tuple[float, ...]:
    """The mean over `kernels` of the best so far, as far as all of them have samples."""
    return mean_curve([best_so_far(sample.speedup for sample in series.samples[kernel]) for kernel in kernels])


def common_kernels(series: Sequence[Series]) -> tuple[str, ...]:
    """The kernels that every series has samples of, sorted."""
    if not series:
        return ()
    return tuple(
        sorted(set.intersection(*({kernel for kernel, samples in each.samples.items() if samples} for each in series)))
    )


def reference_over(name: str, speedups: Mapping[str, float], kernels: Iterable[str]) -> Reference | None:
    """The reference's mean over those of `kernels` that it has a speedup for; None if it has none."""
    known = tuple(kernel for kernel in kernels if kernel in speedups)
    mean = geomean(speedups[kernel] for kernel in known)
    return None if mean is None else Reference(name, known, mean)


def compare(
    series: Sequence[Series], kernels: tuple[str, ...], references: Mapping[str, Mapping[str, float]]
) -> Comparison:
    """The series over `kernels`, which all of them have. references: for each configuration its speedups by kernel."""
    found = [reference_over(name, speedups, kernels) for name, speedups in references.items()]
    known = tuple(reference for reference in found if reference is not None)
    lines = tuple(Line(each.label, series_curve(each, kernels), _crossings(each, known)) for each in series)
    return Comparison(kernels, lines, known)


def _crossings(series: Series, references: Sequence[Reference]) -> dict[str, Crossing]:
    return {
        each.name: Crossing(each.kernels, crossing(series_curve(series, each.kernels), each.mean))
        for each in references
    }


class Gain(Struct, frozen=True):
    """The best of a walk against one configuration: geometric mean over `kernels`, and on how many of them the walk's
    best is faster."""

    over: str
    kernels: tuple[str, ...]
    mean: float
    faster: int


def shortest(series: Series) -> int:
    """The number of samples that every kernel of the series has, 0 of none."""
    return min(map(len, series.samples.values()), default=0)


def best_of(series: Series, count: int) -> dict[str, float]:
    """For each kernel the largest speedup over the original among its
    first `count` samples, as `best_so_far` has it."""
    return {
        kernel: best_so_far(sample.speedup for sample in samples[:count])[-1]
        for kernel, samples in series.samples.items()
        if samples[:count]
    }


def gain(best: Mapping[str, float], over: str, speedups: Mapping[str, float] | None = None) -> Gain | None:
    """`best` (speedups over the original) against the configuration `over` with its own `speedups` over the original,
    or against the original itself without them; over the kernels that have both, None if there are none."""
    ratios = (
        best
        if speedups is None
        else {kernel: value / speedups[kernel] for kernel, value in best.items() if kernel in speedups}
    )
    mean = geomean(ratios.values())
    if mean is None:
        return None
    return Gain(over, tuple(ratios), mean, sum(ratio > 1 for ratio in ratios.values()))
