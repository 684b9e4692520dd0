"""The least time that a kernel can take on a machine, and what of it programs reach. Nothing here starts a process.

Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore architectures"
  (2009).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field, to_builtins

from scopt.polybench.bench_results import Results, Row, aligned, printed_seconds
from scopt.polybench.limits.ceilings import MEBIBYTE, Machine, element_of
from scopt.polybench.limits.kernel_work import Work
from scopt.polybench.limits.reference import NAME, ROUTINES

Resource = Literal["flops", "divisions", "bandwidth"]

LEGEND = """\
Gflop: additions, multiplications, comparisons as the statements stand; needed: without those that only repeat others.
Gdiv: divisions and roots, needed. MB: compulsory, each cell read before it is written once in, \
each written once out; foot MB: all that is touched.
Roofline: the longest of needed flops / peak, divisions / peak of divisions, MB / bandwidth. %: roofline / fastest run.
*: all data fit into the last cache, where the bandwidth of memory is no limit, so that more than 100 % is possible."""


class Roofline(Struct, frozen=True):
    """The least seconds that a kernel takes by each resource of a machine;
    a resource that wasn't measured isn't in there."""

    seconds: Mapping[Resource, float]

    @property
    def bound(self) -> Resource | None:
        """What takes longest."""
        return max(self.seconds, key=lambda resource: self.seconds[resource], default=None)

    @property
    def least(self) -> float | None:
        return max(self.seconds.values(), default=None)


class Limits(Struct, frozen=True):
    """What `--limits` has found out, complete or not.

    works: by kernel what it has to do, or why that can't be told. machine: what was measured of it. openblas: why it
      wasn't used; "" if it was.
    """

    machine: Machine = field(default_factory=Machine)
    works: Mapping[str, Work | str] = field(default_factory=dict)
    openblas: str = ""


def roofline(work: Work, machine: Machine) -> Roofline:
    """The least time of `work`: its needed operations at the peak of its data type, its compulsory bytes at the triad's
    bandwidth.

    Roots count as divisions, which are faster. Multiplications and additions are taken to be fused wherever that helps,
    and everything to overlap.
    """
    seconds: dict[Resource, float] = {}
    element = element_of(work)
    peak = machine.peaks.get(element.spelling) if element else None
    if peak and peak.flops:
        seconds["flops"] = work.needed.flops / peak.flops
    if peak and peak.divisions:
        seconds["divisions"] = (work.needed.divisions + work.needed.roots) / peak.divisions
    if machine.bandwidth:
        seconds["bandwidth"] = work.compulsory / machine.bandwidth
    return Roofline(seconds)


def fraction(least: float | None, row: Row, configuration: str) -> float | None:
    """What part of a configuration's fastest run the roofline time is; None if one of them isn't known. A run too short
    for the timer counts as a microsecond, the timer's resolution."""
    minimum = row[configuration].minimum if configuration in row else None
    return None if least is None or minimum is None else least / max(minimum, 1e-6)


def in_cache(work: Work, machine: Machine) -> bool:
    return work.footprint <= machine.last_cache


# --- the table --------------------------------------------------------------------------------------------------------


def limits_table(results: Results, limits: Limits) -> str:
    """The machine's figures, a line for each kernel of `results`, what the columns are, and what couldn't be told."""
    with_reference = any(NAME in row for row in results.rows.values())
    names = (*results.configurations, *((NAME,) if with_reference else ()))
    header = [
        "kernel",
        "Gflop",
        "needed",
        "Gdiv",
        "MB",
        "foot MB",
        "bound by",
        "roofline",
        *(f"{name} %" for name in names),
    ]
    header += [f"{NAME} s"] if with_reference else []
    lines = [_line(kernel, row, names, limits, with_reference) for kernel, row in results.rows.items()]
    remarks = [f"{kernel}: not counted: {work}" for kernel, work in limits.works.items() if isinstance(work, str)]
    remarks += [f"not measured: {failure}" for failure in limits.machine.failures]
    remarks += [limits.openblas] if limits.openblas else []
    remarks += [
        f"{NAME}, {kernel}: {ROUTINES[kernel]}"
        for kernel, row in results.rows.items()
        if NAME in row and kernel == "lu"
    ]
    return "\n".join(
        [_machine_line(limits.machine), "", *aligned(header, lines), "", LEGEND, *(["", *remarks] if remarks else [])]
    )


def _machine_line(machine: Machine) -> str:
    parts = [
        f"peak of {name}: {_giga(peak.flops)} Gflop/s" + _divisions(peak.divisions)
        for name, peak in machine.peaks.items()
    ]
    parts += [f"triad bandwidth: {_giga(machine.bandwidth)} GB/s"] if machine.bandwidth else []
    parts += [f"last cache: {machine.last_cache / MEBIBYTE:.4g} MiB"] if machine.last_cache else []
    return f"Limits of this machine: {'; '.join(parts) or 'not measured'}."


def _divisions(rate: float) -> str:
    return f" and {_giga(rate)} Gdiv/s" if rate else ""


def _line(kernel: str, row: Row, names: Sequence[str], limits: Limits, with_reference: bool) -> list[str]:
    work = limits.works.get(kernel)
    reference = row[NAME].minimum if NAME in row else None
    last = [printed_seconds(reference) if reference is not None else "-"] if with_reference else []
    if not isinstance(work, Work):
        return [kernel, *["-"] * (7 + len(names)), *last]
    found = roofline(work, limits.machine)
    divisions = work.needed.divisions + work.needed.roots
    mark = "*" if in_cache(work, limits.machine) else ""
    cells = [
        _giga(work.written.flops),
        _giga(work.needed.flops),
        _giga(divisions),
        _mega(work.compulsory),
        _mega(work.footprint) + mark,
    ]
    cells += [found.bound or "-", printed_seconds(found.least) if found.least is not None else "-"]
    shares = [fraction(found.least, row, name) for name in names]
    return [kernel, *cells, *("-" if share is None else f"{100 * share:.1f}" for share in shares), *last]


def _giga(value: float) -> str:
    return f"{value / 1e9:.4g}"


def _mega(value: float) -> str:
    return f"{value / 1e6:.4g}"


# --- JSON -------------------------------------------------------------------------------------------------------------


def limits_as_json(results: Results, limits: Limits) -> dict[str, object]:
    """The same as JSON values; fractions are parts of 1."""
    return {
        "machine": to_builtins(limits.machine),
        "openblas": limits.openblas or None,
        "kernels": {
            kernel: _kernel_as_json(work, limits.machine, results.rows.get(kernel, {}))
            for kernel, work in limits.works.items()
        },
    }


def _kernel_as_json(work: Work | str, machine: Machine, row: Row) -> dict[str, object]:
    if isinstance(work, str):
        return {"failure": work}
    found = roofline(work, machine)
    return {
        **to_builtins(work),
        "compulsory": work.compulsory,
        "in_last_cache": in_cache(work, machine),
        "roofline": {"seconds": found.least, "bound": found.bound, "by_resource": dict(found.seconds)},
        "fractions": {name: fraction(found.least, row, name) for name in row},
    }
