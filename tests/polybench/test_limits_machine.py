"""The machine's figures: measured, chosen among two measurements, and missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.machine import processor
from scopt.machine.machine_native import NativeMachine
from scopt.machine.processor import Cache
from scopt.polybench.limits import ceilings as machine
from scopt.polybench.limits.ceilings import Element, Machine, Peak, best_of, element_of, last_cache, measure_machine
from scopt.polybench.limits.kernel_work import Operations, Work
from scopt.polybench.measure import Plan
from scopt.polybench.toolchains import Compiler, find_compiler

PLAN = Plan((), (), 1, 1, 60)


def test_figures(cc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_array_bytes", lambda cache: 1 << 22)
    elements = frozenset({Element("double", False), Element("int", True)})
    found = measure_machine(elements, find_compiler(cc), PLAN, tmp_path / "new")
    assert found.failures == ()
    # Any machine is within these; a loop that the compiler has removed, or that counts wrongly, isn't.
    assert 1e8 < found.peaks["double"].flops < 1e12
    assert 1e7 < found.peaks["double"].divisions < found.peaks["double"].flops
    assert 1e8 < found.peaks["int"].flops < 1e12
    assert found.peaks["int"].divisions == 0
    assert 1e7 < found.bandwidth < 1e13


def test_a_compiler_that_fails(tmp_path: Path) -> None:
    found = measure_machine(
        frozenset({Element("double", False)}), Compiler("no", "/no/such/cc", False, ""), PLAN, tmp_path
    )
    assert (found.peaks, found.bandwidth) == ({}, 0.0)
    assert [line.split(":")[0] for line in found.failures] == ["peak of double", "bandwidth"]


def test_the_higher_figures_count() -> None:
    one = Machine({"double": Peak(5.0, 2.0)}, 7.0, 1, ("bandwidth: x",))
    other = Machine({"double": Peak(4.0, 3.0), "int": Peak(1.0, 0.0)}, 9.0, 1)
    assert best_of(one, other) == Machine({"double": Peak(5.0, 3.0), "int": Peak(1.0, 0.0)}, 9.0, 1, ())


def test_last_cache() -> None:
    caches = (Cache(32 << 10, 8), Cache(48 << 20, 12, shared=8))
    assert last_cache(NativeMachine(processor.Machine(caches=caches), ("caches",), ())) == 48 << 20
    assert last_cache(NativeMachine(processor.Machine(), (), ("caches",))) == 0


@pytest.mark.parametrize(
    ("bits", "floating", "spelling"), [(64, True, "double"), (32, True, "float"), (32, False, "int"), (128, True, None)]
)
def test_elements(bits: int, floating: bool, spelling: str | None) -> None:
    found = element_of(Work("some_type", bits, floating, Operations(), Operations(), 0, 0, 0))
    assert found == (None if spelling is None else Element(spelling, not floating))
