"""What bands need of each resource, as `--explain` tells it."""

import re

import pytest

from scopt.machine import DEFAULT
from scopt.options import Options
from tests.sources import optimize, source_of

PARAMS = "int n, double a[restrict 100000], double b[restrict 100000], double c[restrict 100000]"

POLYNOMIAL = "(" * 100 + "b[i]" + " * 0.5 - 1)" * 100


def needs_of(body: str) -> dict[str, float]:
    (region,) = optimize(source_of(body, PARAMS), Options(explain=True)).regions
    told = next(line for line in region.explanation.splitlines() if "by resource: " in line)
    return {name: float(cycles) for name, cycles in re.findall(r"(\w+) ([\d.e]+)", told.partition(": ")[2])}


@pytest.mark.parametrize(
    ("body", "first", "lacking"),
    [
        ("for (int i = 0; i < 100000; i++) a[i] = b[i] + c[i];", "memory", {"chains", "divisions"}),
        ("for (int i = 1; i < 100000; i++) a[i] = a[i - 1] * 0.5 + b[i];", "chains", {"divisions"}),
        # one after the other in any vector
        ("for (int i = 0; i < 100000; i++) a[i] = b[i] * c[i % n];", "divisions", {"chains"}),
        (f"for (int i = 0; i < 100000; i++) a[i] = {POLYNOMIAL};", "arithmetic", {"chains", "divisions"}),
    ],
)
def test_the_largest_need_comes_first(body: str, first: str, lacking: set[str]) -> None:
    needs = needs_of(body)
    assert next(iter(needs)) == first
    assert list(needs.values()) == sorted(needs.values(), reverse=True)
    assert not lacking & needs.keys()


def test_lines_come_at_the_bandwidth_of_memory() -> None:
    """Three streams of doubles, two loads and a store a cycle for each vector."""
    needs = needs_of("for (int i = 0; i < 100000; i++) a[i] = b[i] + c[i];")
    assert needs["memory"] == pytest.approx(3 * 8e5 * DEFAULT.gigahertz / DEFAULT.bandwidth, rel=0.05)
    assert needs["loads"] == pytest.approx(2e5 / DEFAULT.lanes(8) / 2, rel=0.05)
    assert needs["stores"] == pytest.approx(1e5 / DEFAULT.lanes(8), rel=0.05)


def test_nothing_is_told_of_loads_that_tiles_save() -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    needs = needs_of(f"{body} c[1000 * i + j] += a[1000 * i + k] * b[1000 * k + j];")
    assert needs.keys() <= {"memory", "arithmetic", "divisions"}
