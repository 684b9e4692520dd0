"""Every kernel of polybench/, small, tiled and not, by several schedulers, and larger with what users get: transformed,
compiled, run, compared bit by bit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.fuzz.harness import without_thresholds

POLYBENCH = Path(pipeline.__file__).parent.parent / "polybench"
KERNELS = sorted((POLYBENCH / "kernels").glob("*.c"))
INCLUDES = (f"-I{POLYBENCH}", f"-I{POLYBENCH / 'kernels'}")
# exact.h makes the dumps print every bit.
FLAGS = ("-O1", "-ffp-contract=off", "-w", *INCLUDES, "-include", str(POLYBENCH / "exact.h"), "-DPOLYBENCH_DUMP_ARRAYS")
# At SMALL, what users get, of every third kernel, or with SCOPT_TEST_ALL=1 in the environment all; at MINI, tiles so
# small that there is more than one along a dimension, by one scheduler or another: which schedules they make of all
# kernels is tested where they are.
MINI_TILES = (4, 8, 3)
USUAL = ("SMALL", "pluto", "tiled")
SHARE = 1 if os.environ.get("SCOPT_TEST_ALL") else 3
SCHEDULERS = (("isl", "tiled"), ("pluto", "tiled"), ("feautrier", "tiled"), ("identity", "tiled"), ("pluto", "untiled"))
CASES = [
    pytest.param(kernel, *way, id="-".join((kernel.stem, *way)))
    for number, kernel in enumerate(KERNELS)
    for way in (("MINI", *SCHEDULERS[number % len(SCHEDULERS)]), *([] if number % SHARE else [USUAL]))
]

Dump = Callable[[str, str], bytes]


@pytest.fixture(scope="session")
def dump(tmp_path_factory: pytest.TempPathFactory, cc: str) -> Dump:
    """dump(text, size): compile with OpenMP, run with two threads, return what the kernel dumps; a text that comes
    again isn't run again."""
    folder = tmp_path_factory.mktemp("kernels")
    source, executable, harness = (folder / name for name in ("kernel.c", "program", "polybench.o"))

    def compiled(*words: str) -> None:
        done = subprocess.run(
            [cc, *FLAGS, "-fopenmp", *words], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stderr}"

    @lru_cache(16)
    def build_and_run(text: str, size: str) -> bytes:
        source.write_text(text)
        compiled(f"-D{size}_DATASET", str(source), str(harness), "-lm", "-o", str(executable))
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        ran = subprocess.run([str(executable)], capture_output=True, timeout=120, check=False, env=environment)
        assert ran.returncode == 0, f"exits with {ran.returncode}: {ran.stderr[:500]!r}"
        return ran.stderr

    compiled("-c", str(POLYBENCH / "polybench.c"), "-o", str(harness))
    return build_and_run


def test_there_are_thirty_kernels() -> None:
    assert len(KERNELS) == 30


@pytest.mark.parametrize(("kernel", "size", "scheduler", "tiling"), CASES)
def test_dumps_are_identical(kernel: Path, size: str, scheduler: str, tiling: str, dump: Dump) -> None:
    options = Options(
        cpp_flags=(*INCLUDES, f"-D{size}_DATASET"),
        scheduler=scheduler,
        tile=tiling == "tiled",
        tile_sizes=MINI_TILES if (size, tiling) == ("MINI", "tiled") else (),
        budget=120,
        eager=size == "MINI",
    )
    result = pipeline.optimize(kernel.read_bytes(), options, file=str(kernel))
    assert [remark.text() for remark in result.remarks if remark.kind == "missed"] == []
    assert len(result.regions) == 1
    assert result.regions[0].transformed
    # MINI is too small for threads to be worth it: there they are started all the same.
    text = without_thresholds(result.text.decode()) if size == "MINI" else result.text.decode()
    want = dump(kernel.read_text(), size)
    assert want.count(b"begin dump") >= 1
    assert dump(text, size) == want
