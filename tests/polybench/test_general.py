"""The suite of general kernels: each is transformed and run, and its dump is that of the original, bit by bit, which is
clean under the sanitizers."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from scopt.polybench.catalog import load_suite, named_suite, own_suite
from tests.fuzz.harness import without_thresholds

GENERAL = named_suite("general")
KERNELS = {kernel.name: kernel for kernel in load_suite(GENERAL)}
INCLUDE = f"-I{GENERAL}"
FLAGS = ("-O1", "-ffp-contract=off", "-w", "-include", str(own_suite() / "exact.h"), INCLUDE, "-DPOLYBENCH_DUMP_ARRAYS")
SANITIZE = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
OPTIONS = (
    ("-DPOLYBENCH_USE_C99_PROTO", "-DPOLYBENCH_USE_RESTRICT"),
    ("-DPOLYBENCH_STACK_ARRAYS", "-DPOLYBENCH_USE_SCALAR_LB"),
    ("-DPOLYBENCH_PADDING_FACTOR=3", "-DPOLYBENCH_INTER_ARRAY_PADDING_FACTOR=64"),
)
# Seconds for a region; of the kernels that take far longer, to be left as they were or transformed in a simpler way.
BUDGET = 20
BUDGETS = dict.fromkeys(("fdtd-3d", "life", "multigrid-restrict", "sort8", "lattice-boltzmann"), 2)
# Of the kernels that are run: every eighth one, or with SCOPT_TEST_ALL=1 in the environment all.
SHARE = 1 if os.environ.get("SCOPT_TEST_ALL") else 8

Dump = Callable[..., str]


@pytest.fixture(scope="session")
def dump(tmp_path_factory: pytest.TempPathFactory, cc: str) -> Dump:
    """dump(source, *flags): compile at MINI, run with two threads, return what the kernel dumps."""
    folder = tmp_path_factory.mktemp("general")
    program, harness = folder / "program", folder / "polybench.o"

    def compiled(*words: str) -> None:
        done = subprocess.run([cc, *FLAGS, *words], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stderr}"

    def run(source: Path, *flags: str) -> str:
        own = str(GENERAL / "polybench.c") if any("PADDING" in flag for flag in flags) else str(harness)
        compiled("-DMINI_DATASET", *flags, str(source), own, "-lm", "-o", str(program))
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=False, env=environment)
        assert ran.returncode == 0, f"exits with {ran.returncode}: {ran.stderr[-500:]}"
        return ran.stderr

    compiled("-c", str(GENERAL / "polybench.c"), "-o", str(harness))
    return run


def test_there_are_many_and_no_name_is_taken_twice() -> None:
    assert len(KERNELS) >= 60
    assert not set(KERNELS) & {kernel.name for kernel in load_suite(own_suite())}


def test_the_page_about_the_bench_lists_them() -> None:
    page = (Path(__file__).parents[2] / "docs/bench.md").read_text(encoding="utf-8")
    assert {name for name in re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) if name in KERNELS} == set(KERNELS)


@pytest.mark.parametrize("name", sorted(KERNELS)[::SHARE])
def test_dumps_are_identical(name: str, tmp_path: Path, dump: Dump) -> None:
    source = KERNELS[name].source
    want = dump(source, *SANITIZE)
    values = {
        word for line in want.splitlines() if not line.startswith(("begin", "end", "==")) for word in line.split()
    }
    assert len(values) > 1
    assert not {"nan", "-nan", "inf", "-inf"} & values
    options = Options(cpp_flags=(INCLUDE, "-DMINI_DATASET"), budget=BUDGETS.get(name, BUDGET), eager=True)
    result = pipeline.optimize(source.read_bytes(), options, file=str(source))
    assert len(result.regions) == 1
    assert [remark.text() for remark in result.remarks if remark.id.startswith("internal.")] == []
    # MINI is too small for threads to be worth it: there they are started all the same.
    text = without_thresholds(result.text.decode())
    if text == source.read_text():
        return
    emitted = tmp_path / f"{name}.c"
    emitted.write_text(text)
    assert dump(emitted, "-fopenmp") == want


@pytest.mark.parametrize("flags", OPTIONS, ids=lambda flags: " ".join(flags))
@pytest.mark.parametrize("name", ["attention", "rgb-to-gray", "life"])
def test_options_change_no_result(name: str, flags: tuple[str, ...], dump: Dump) -> None:
    source = KERNELS[name].source
    assert dump(source, *flags) == dump(source)
