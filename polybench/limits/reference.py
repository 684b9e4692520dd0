"""OpenBLAS on what some kernels of PolyBench do: built from the kernel's own source, for its sizes and data type, and
timed like the others."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from scopt.polybench.bench_results import Failure
from scopt.polybench.builds import TIMED_FLAGS, BuildError, Built, build
from scopt.polybench.catalog import Kernel
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Compiler, Configuration

NAME = "openblas"
LIBRARIES = ("-lopenblas",)

# By the suite's own names: the routines that do the same operation.
ROUTINES = {
    "gemm": "gemm",
    "2mm": "2 × gemm",
    "3mm": "3 × gemm",
    "syrk": "syrk",
    "syr2k": "syr2k",
    "trmm": "trmm",
    "symm": "symm",
    "cholesky": "potrf",
    "lu": "getrf, which looks for pivots as the kernel doesn't: a reference for the rate only",
}

_PROBE = """\
double cblas_ddot(int, const double *, int, const double *, int);
int main(void)
{
    double x = 2;
    return cblas_ddot(1, &x, 1, &x, 1) != 4;
}
"""


def missing_openblas(compiler: Compiler) -> str:
    """Why OpenBLAS can't be used with this compiler, in one line; "" if it can."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(_PROBE, encoding="utf-8")
        built = run([compiler.path, "-w", source, "-o", program, *LIBRARIES], timeout=60)
        done = run([program], timeout=60) if built.ok else built
    return (
        ""
        if done.ok
        else f"OpenBLAS can't be used: {done.reason()} (on Debian and Ubuntu: apt install libopenblas-dev)"
    )


def build_reference(
    kernel: Kernel, compiler: Compiler, defines: Sequence[str], folder: Path, timeout: float
) -> Built | Failure | None:
    """The program that does with OpenBLAS what `kernel` does; None if no routine does the same.

    defines, timeout: as in `build`. folder: for the program.
    """
    if kernel.name not in ROUTINES:
        return None
    harness = Kernel(NAME, Path(__file__).with_name("blas.c"), kernel.includes, kernel.harness)
    chosen = (*defines, f"-DREFERENCE_{kernel.name}", f'-DKERNEL_SOURCE="{kernel.source}"')
    try:
        return build(harness, Configuration(NAME, compiler, LIBRARIES), chosen, TIMED_FLAGS, folder, timeout)
    except BuildError as error:
        return error.failure
