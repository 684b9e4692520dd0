"""OpenBLAS does what the kernels do; without it, a line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.polybench.bench_results import Failure, Results
from scopt.polybench.builds import Built
from scopt.polybench.catalog import load_suite, own_suite
from scopt.polybench.limits.ceilings import Machine
from scopt.polybench.limits.reference import ROUTINES, build_reference, missing_openblas
from scopt.polybench.limits.roofline import Limits, limits_table
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Compiler, find_compiler

KERNELS = {kernel.name: kernel for kernel in load_suite(own_suite())}


@pytest.fixture(scope="module")
def compiler(cc: str) -> Compiler:
    return find_compiler(cc)


@pytest.fixture(scope="module")
def with_openblas(compiler: Compiler) -> Compiler:
    if missing_openblas(compiler):
        pytest.skip("there is no OpenBLAS")
    return compiler


def without_openblas(folder: Path, compiler: Compiler) -> Compiler:
    """A compiler whose linker finds no OpenBLAS."""
    file = folder / "cc.sh"
    refusal = 'for word; do [ "$word" = -lopenblas ] && { echo "error: cannot find -lopenblas" >&2; exit 1; }; done'
    file.write_text(f'#!/bin/sh\n{refusal}\nexec {compiler.path} "$@"\n')
    file.chmod(0o755)
    return Compiler("cc", str(file), False, "")


@pytest.mark.parametrize("flags", [(), ("-DDATA_TYPE_IS_FLOAT",)], ids=["double", "float"])
@pytest.mark.parametrize("name", sorted(ROUTINES))
def test_the_same_operation(with_openblas: Compiler, tmp_path: Path, name: str, flags: tuple[str, ...]) -> None:
    built = build_reference(KERNELS[name], with_openblas, ("-DMINI_DATASET", "-DREFERENCE_CHECK", *flags), tmp_path, 60)
    assert isinstance(built, Built)
    difference = float(run([built.program], 60).output)
    assert 0 <= difference < (1e-5 if flags else 1e-13)


def test_sizes_of_the_command_line(with_openblas: Compiler, tmp_path: Path) -> None:
    built = build_reference(KERNELS["lu"], with_openblas, ("-DN=37",), tmp_path, 60)
    assert isinstance(built, Built)
    assert float(run([built.program], 60).output) >= 0


def test_a_kernel_that_is_no_routine(compiler: Compiler, tmp_path: Path) -> None:
    assert build_reference(KERNELS["atax"], compiler, ("-DMINI_DATASET",), tmp_path, 60) is None


def test_no_openblas(compiler: Compiler, tmp_path: Path) -> None:
    missing = missing_openblas(without_openblas(tmp_path, compiler))
    assert missing.startswith("OpenBLAS can't be used: error: cannot find -lopenblas")
    assert missing in limits_table(Results({}, ("gcc",), {}), Limits(Machine(), {}, missing)).splitlines()


def test_a_program_that_cannot_be_built(compiler: Compiler, tmp_path: Path) -> None:
    failure = build_reference(
        KERNELS["gemm"], without_openblas(tmp_path, compiler), ("-DMINI_DATASET",), tmp_path / "gemm", 60
    )
    assert failure == Failure("compile", "error: cannot find -lopenblas")
