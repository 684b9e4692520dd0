"""The roofline's formula, fractions of it, and how they are told."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from scopt.polybench.bench_results import Cell, Failure, Results
from scopt.polybench.limits.ceilings import Machine, Peak
from scopt.polybench.limits.kernel_work import Operations, Work
from scopt.polybench.limits.roofline import Limits, Roofline, fraction, in_cache, limits_as_json, limits_table, roofline

MACHINE = Machine({"double": Peak(100e9, 5e9)}, 20e9, 32 << 20)
WORK = Work(
    "double",
    64,
    True,
    Operations(flops=6 * 10**9),
    Operations(flops=4 * 10**9, divisions=10**8),
    10**8,
    10**8,
    15 * 10**7,
)


@pytest.fixture
def results() -> Results:
    rows = {
        "gemm": {"gcc": Cell((0.4, 0.5)), "scopt": Cell((0.05,)), "openblas": Cell((0.06, 0.04))},
        "mvt": {"gcc": Cell((0.4,)), "scopt": Cell(failure=Failure("run", "timeout"))},
        "odd": {"gcc": Cell((1.0,))},
    }
    return Results({}, ("gcc", "scopt"), rows)


@pytest.fixture
def limits() -> Limits:
    small = replace(WORK, needed=Operations(flops=10**6), read=4 * 10**6, stored=0, footprint=4 * 10**6)
    return Limits(MACHINE, {"gemm": WORK, "mvt": small, "odd": "the sizes aren't constants: n"})


def test_the_longest_counts() -> None:
    found = roofline(WORK, MACHINE)
    assert found.seconds == {
        "flops": pytest.approx(0.04),
        "divisions": pytest.approx(0.02),
        "bandwidth": pytest.approx(0.01),
    }
    assert (found.bound, found.least) == ("flops", pytest.approx(0.04))
    assert roofline(replace(WORK, read=10**9), MACHINE).bound == "bandwidth"
    rooted = replace(WORK, needed=replace(WORK.needed, roots=9 * 10**8))
    assert (roofline(rooted, MACHINE).bound, roofline(rooted, MACHINE).least) == ("divisions", pytest.approx(0.2))


def test_what_was_not_measured_bounds_nothing() -> None:
    assert roofline(WORK, Machine()) == Roofline({})
    assert (Roofline({}).bound, Roofline({}).least) == (None, None)
    assert set(roofline(replace(WORK, bits=32), MACHINE).seconds) == {"bandwidth"}
    assert set(roofline(WORK, Machine({"double": Peak(1e9, 0.0)})).seconds) == {"flops"}


def test_fraction(results: Results) -> None:
    assert fraction(0.04, results.rows["gemm"], "gcc") == pytest.approx(0.1)
    assert fraction(0.04, results.rows["mvt"], "scopt") is None
    assert fraction(0.04, results.rows["mvt"], "polly") is None
    assert fraction(None, results.rows["gemm"], "gcc") is None
    assert fraction(1e-7, {"gcc": Cell((0.0,))}, "gcc") == pytest.approx(0.1)


def test_in_cache() -> None:
    assert not in_cache(WORK, MACHINE)
    assert in_cache(replace(WORK, footprint=32 << 20), MACHINE)
    assert not in_cache(WORK, Machine())


def test_table(results: Results, limits: Limits) -> None:
    lines = limits_table(results, limits).splitlines()
    assert lines[0] == (
        "Limits of this machine: peak of double: 100 Gflop/s and 5 Gdiv/s;"
        " triad bandwidth: 20 GB/s; last cache: 32 MiB."
    )
    assert lines[2].split()[:3] == ["kernel", "Gflop", "needed"]
    assert lines[4].split() == "gemm 6 4 0.1 200 150 flops 0.0400 10.0 80.0 100.0 0.0400".split()
    assert lines[5].split() == ["mvt", "6", "0.001", "0", "4", "4*", "bandwidth", "0.000200", "0.1", "-", "-", "-"]
    assert lines[6].split() == ["odd", *["-"] * 11]
    assert len({len(line) for line in lines[2:7]}) == 1
    assert lines[-1] == "odd: not counted: the sizes aren't constants: n"


def test_table_without_a_machine(results: Results, limits: Limits) -> None:
    lines = limits_table(results, replace(limits, machine=Machine(failures=("bandwidth: triad.c: no",)))).splitlines()
    assert lines[0] == "Limits of this machine: not measured."
    assert lines[4].split()[6:10] == ["-", "-", "-", "-"]
    assert "not measured: bandwidth: triad.c: no" in lines


def test_json(results: Results, limits: Limits) -> None:
    data = json.loads(json.dumps(limits_as_json(results, limits)))
    assert data["machine"]["peaks"]["double"] == {"flops": 100e9, "divisions": 5e9}
    gemm = data["kernels"]["gemm"]
    assert gemm["roofline"]["bound"] == "flops"
    assert gemm["needed"]["flops"] == 4 * 10**9
    assert gemm["fractions"] == {"gcc": pytest.approx(0.1), "scopt": pytest.approx(0.8), "openblas": pytest.approx(1.0)}
    assert data["kernels"]["odd"] == {"failure": "the sizes aren't constants: n"}
    assert data["openblas"] is None
