"""The 30 kernels: their dumps are those of PolyBench/C 4.2.1, under every option of polybench.h, and they are clean
under the sanitizers."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from scopt.polybench.catalog import load_suite, own_suite
from tests.conftest import everyday

KERNELS = {kernel.name: kernel for kernel in load_suite(own_suite())}
# SHA-256 of what PolyBench/C 4.2.1 itself dumps, compiled with gcc -O2 -ffp-contract=off; the sign of NaNs left out.
GOLDEN = json.loads(Path(__file__).with_name("golden_dumps.json").read_text(encoding="utf-8"))
OPTIONS = (
    ("-DPOLYBENCH_USE_C99_PROTO", "-DPOLYBENCH_USE_RESTRICT"),
    ("-DPOLYBENCH_STACK_ARRAYS", "-DPOLYBENCH_USE_SCALAR_LB"),
    ("-DPOLYBENCH_PADDING_FACTOR=3", "-DPOLYBENCH_INTER_ARRAY_PADDING_FACTOR=20"),
    ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)


def dump(cc: str, folder: Path, name: str, *flags: str) -> str:
    """What the kernel prints on stderr."""
    kernel, program = KERNELS[name], folder / "program"
    includes = [f"-I{include}" for include in kernel.includes]
    command = [
        cc,
        "-O1",
        "-ffp-contract=off",
        "-DPOLYBENCH_DUMP_ARRAYS",
        *flags,
        *includes,
        str(kernel.source),
        str(kernel.harness),
    ]
    compiled = subprocess.run(
        [*command, "-o", str(program), "-lm"], capture_output=True, text=True, timeout=120, check=False
    )
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr


def digest(text: str) -> str:
    return hashlib.sha256(text.replace("-nan", "nan").encode()).hexdigest()


def test_all_thirty_are_there() -> None:
    assert len(KERNELS) == 30
    assert set(KERNELS) == set(GOLDEN)


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, "MINI") for name in sorted(GOLDEN)), *((name, "SMALL") for name in everyday(sorted(GOLDEN)))],
)
def test_dump_is_that_of_polybench(cc: str, tmp_path: Path, name: str, size: str) -> None:
    assert digest(dump(cc, tmp_path, name, f"-D{size}_DATASET")) == GOLDEN[name][size]


@pytest.mark.parametrize("flags", OPTIONS, ids=lambda flags: " ".join(flags))
@pytest.mark.parametrize("name", ["gemm", "durbin", "heat-3d", "ludcmp", "nussinov"])
def test_options_change_no_result(cc: str, tmp_path: Path, name: str, flags: tuple[str, ...]) -> None:
    assert digest(dump(cc, tmp_path, name, "-DMINI_DATASET", *flags)) == GOLDEN[name]["MINI"]


def test_single_sizes_can_be_chosen(cc: str, tmp_path: Path) -> None:
    values = dump(cc, tmp_path, "atax", "-DMINI_DATASET", "-DN=7").split("begin dump: y")[1].split("\nend")[0]
    assert len(values.split()) == 7


def test_large_is_the_default(cc: str, tmp_path: Path) -> None:
    text = dump(cc, tmp_path, "jacobi-1d", "-DTSTEPS=1")
    assert len(text.split("begin dump: A")[1].split("\nend")[0].split()) == 2000


def test_data_types(cc: str, tmp_path: Path) -> None:
    exact = ("-DMINI_DATASET", "-include", str(own_suite() / "exact.h"))
    single, double = (dump(cc, tmp_path, "deriche", *exact, *flags) for flags in ((), ("-DDATA_TYPE_IS_DOUBLE",)))
    assert single != double
    assert "0x1." in single
    assert "0x" not in dump(cc, tmp_path, "nussinov", *exact)
    assert "0.00 " in dump(cc, tmp_path, "nussinov", "-DMINI_DATASET", "-DDATA_TYPE_IS_FLOAT")


def test_time_is_printed_without_a_dump(cc: str, tmp_path: Path) -> None:
    kernel, program = KERNELS["gemm"], tmp_path / "program"
    includes = [f"-I{include}" for include in kernel.includes]
    flags = ["-O1", "-DPOLYBENCH_TIME", "-DMINI_DATASET", "-fopenmp"]
    subprocess.run(
        [cc, *flags, *includes, str(kernel.source), str(kernel.harness), "-o", str(program), "-lm"],
        check=True,
        timeout=120,
    )
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=True)
    assert 0 <= float(ran.stdout) < 1
    assert ran.stderr == ""
