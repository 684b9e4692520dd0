"""Every kernel of polybench/ × size × scheduler × tiling: transformed, compiled, run, and compared with the original bit by bit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
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
# At MINI, tiles so small that there is more than one along a dimension; at SMALL, what users get.
MINI_TILES = (4, 8, 3)

Build = Callable[[Path, str], bytes]


@pytest.fixture(scope="session")
def dump(tmp_path_factory: pytest.TempPathFactory, cc: str) -> Build:
    """dump(source, size): compile with OpenMP, run with two threads, return what the kernel dumps."""
    folder = tmp_path_factory.mktemp("kernels")

    def build_and_run(source: Path, size: str) -> bytes:
        executable = folder / "program"
        command = [cc, *FLAGS, f"-D{size}_DATASET", "-fopenmp", str(source), str(POLYBENCH / "polybench.c"), "-lm", "-o", str(executable)]
        compiled = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert compiled.returncode == 0, f"{' '.join(command)}\n{compiled.stderr}"
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        ran = subprocess.run([str(executable)], capture_output=True, timeout=120, check=False, env=environment)
        assert ran.returncode == 0, f"exits with {ran.returncode}: {ran.stderr[:500]!r}"
        return ran.stderr

    return build_and_run


@pytest.fixture(scope="session")
def expected(dump: Build) -> Build:
    """What the original dumps, found out once."""
    return cache(dump)


def test_there_are_thirty_kernels() -> None:
    assert len(KERNELS) == 30


@pytest.mark.parametrize("tiling", ["untiled", "tiled"])
@pytest.mark.parametrize("scheduler", ["isl", "pluto", "feautrier", "identity"])
@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.stem)
def test_dumps_are_identical(kernel: Path, size: str, scheduler: str, tiling: str, dump: Build, expected: Build, tmp_path: Path) -> None:
    options = Options(
        cpp_flags=(*INCLUDES, f"-D{size}_DATASET"),
        scheduler=scheduler,
        tile=tiling == "tiled",
        tile_sizes=MINI_TILES if (size, tiling) == ("MINI", "tiled") else (),
        budget=120,
    )
    result = pipeline.optimize(kernel.read_bytes(), options, file=str(kernel))
    assert [remark.text() for remark in result.remarks if remark.kind == "missed"] == []
    assert len(result.regions) == 1
    assert result.regions[0].transformed
    # MINI is too small for threads to be worth it: there they are started all the same.
    text = without_thresholds(result.text.decode()) if size == "MINI" else result.text.decode()
    output = tmp_path / kernel.name
    output.write_text(text)
    want = expected(kernel, size)
    assert want.count(b"begin dump") >= 1
    assert dump(output, size) == want
