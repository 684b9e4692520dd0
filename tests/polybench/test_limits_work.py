"""What kernels have to do: against their loops executed one by one, and against formulas."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.options import Options
from scopt.polybench.catalog import load_suite, own_suite
from scopt.polybench.limits.kernel_work import FIXED_SIZES, Work, work_of, work_of_kernel
from scopt.polybench.limits.points import NotCounted
from tests.conftest import everyday
from tests.polybench.executed import execute
from tests.sources import scop_of

KERNELS = {kernel.name: kernel for kernel in load_suite(own_suite())}
# Smaller than MINI where that takes long.
SMALLER = {
    "floyd-warshall": ("-DN=14",),
    "nussinov": ("-DN=25",),
    "heat-3d": ("-DTSTEPS=4",),
    "adi": ("-DTSTEPS=3",),
    "seidel-2d": ("-DTSTEPS=3",),
}


@pytest.mark.parametrize("name", everyday(sorted(KERNELS)))
def test_counts_are_those_of_the_executed_loops(cc: str, name: str) -> None:
    kernel, defines = KERNELS[name], ("-DMINI_DATASET", *SMALLER.get(name, ()))
    flags = (*(f"-I{include}" for include in kernel.includes), *defines, FIXED_SIZES)
    unit = parse(kernel.source.read_bytes(), str(kernel.source), Options(cc=cc, cpp_flags=flags), symbolic=False)
    scop = extract(unit, unit.regions[0], name)
    trace = execute(unit.regions[0].items, frozenset(scop.arrays))
    work = work_of(scop)
    written, needed = trace.operations()
    zero = dict.fromkeys(to_builtins(work.written), 0)
    assert to_builtins(work.written) == zero | written
    assert to_builtins(work.needed) == zero | needed
    size = {array: scop.arrays[array].type.bits // 8 for array in scop.arrays}
    assert work.read == sum(size[array] for array, _ in trace.exposed if not scop.arrays[array].local)
    assert work.stored == sum(
        size[array] for array, _ in trace.written if not (scop.arrays[array].local or scop.arrays[array].private)
    )
    assert work.footprint == sum(size[array] for array, _ in trace.touched)


def large(cc: str, name: str, *defines: str) -> Work:
    return work_of_kernel(KERNELS[name], defines or ("-DEXTRALARGE_DATASET",), cc)


def test_gemm(cc: str) -> None:
    work, (rows, columns, depth) = large(cc, "gemm"), (2000, 2300, 2600)
    assert work.written.flops == 3 * rows * columns * depth + rows * columns
    assert (
        work.needed.flops == 2 * rows * columns * depth + rows * depth + rows * columns
    )  # alpha * A[i][k] once for each i and k
    assert work.compulsory == 8 * (rows * depth + depth * columns + 2 * rows * columns + 2)
    assert work.footprint == work.compulsory - 8 * rows * columns
    assert (work.element, work.bits, work.floating) == ("double", 64, True)


def test_cholesky(cc: str) -> None:
    work, n = large(cc, "cholesky"), 4000
    assert work.needed.flops == 2 * (n * (n - 1) * (n - 2) // 6 + n * (n - 1) // 2)
    assert (work.needed.divisions, work.needed.roots) == (n * (n - 1) // 2, n)
    assert work.read == work.stored == work.footprint == 8 * n * (n + 1) // 2


def test_nussinov_is_integer(cc: str) -> None:
    work, n = large(cc, "nussinov"), 5500
    assert (work.bits, work.floating) == (32, False)
    assert work.written.flops > 2 * n * (n - 1) * (n - 2) // 6


def test_data_types(cc: str) -> None:
    single, double = (large(cc, "gemm", "-DMINI_DATASET", *flags) for flags in (("-DDATA_TYPE_IS_FLOAT",), ()))
    assert (single.bits, single.footprint * 2, single.needed) == (32, double.footprint, double.needed)


def flops(body: str) -> tuple[int, int]:
    work = work_of(scop_of(body))
    return work.written.flops, work.needed.flops


def test_an_expression_counts_once_in_a_statement() -> None:
    assert flops("for (i = 0; i < 10; i++) x[i] = x[i] > y[i] + 1.0 ? x[i] : y[i] + 1.0;") == (20, 20)


def test_what_depends_on_a_condition_is_not_needed() -> None:
    assert flops("for (i = 0; i < 10; i++) x[i] = x[i] > 0.0 ? x[i] * y[i] : 0.0;") == (20, 10)


def test_what_still_changes_is_not_shared() -> None:
    assert flops("for (i = 0; i < 10; i++) for (j = 0; j < 10; j++) x[j] = y[j] + s * x[9];") == (200, 200)
    assert flops("for (i = 0; i < 10; i++) for (j = 0; j < 10; j++) A[i][j] = y[j] + s * x[i];") == (200, 110)


def test_written_before_it_is_used() -> None:
    body = "s = x[0];\nfor (i = 0; i < 10; i++) for (j = 0; j < 10; j++) A[i][j] = A[i][j] * (s * y[j] + 1.0);"
    assert flops(body) == (300, 100 + 2 * 10)


def test_index_arithmetic_is_no_operation() -> None:
    assert flops("for (i = 0; i < 10; i++) x[2 * i + 1] = y[3 * i];") == (0, 0)
    assert flops("for (i = 0; i < 10; i++) x[i] = (double)i / 10;") == (0, 0)
    assert work_of(scop_of("for (i = 0; i < 10; i++) x[i] = (double)i / 10;")).needed.divisions == 10


def test_roots_calls_and_signs() -> None:
    before = "double sqrt(double); double fabs(double); double exp(double); double fmax(double, double);"
    scop = scop_of("for (i = 0; i < 10; i++) x[i] = sqrt(fabs(-y[i])) + fmax(exp(y[i]), 0.0);", before=before)
    counts = work_of(scop).written
    assert (counts.flops, counts.roots, counts.calls, counts.divisions) == (20, 10, 10, 0)


def test_a_region_local_array_needs_no_memory() -> None:
    work = work_of(scop_of("for (i = 0; i < 10; i++) { double b = x[i]; y[i] = b; }"))
    assert (work.read, work.stored, work.footprint) == (80, 80, 168)


def test_parameters_are_refused() -> None:
    with pytest.raises(NotCounted, match="the sizes aren't constants: n"):
        work_of(scop_of("for (i = 0; i < n; i++) x[i] = 0;"))


def test_what_data_decide_is_not_needed() -> None:
    """Tests are made for all data; what they guard, and cells that data name, are for some."""
    work = work_of(scop_of("for (i = 0; i < 10; i++) if (x[i] > 0) { double b = x[i] * 2; y[i] = b + 1; }"))
    assert (work.needed.flops, work.written.flops) == (10, 30)
    assert (work.read, work.stored, work.footprint) == (80, 0, 160)
    params = "double x[10], double y[10], double w[10]"
    either = work_of(scop_of("for (i = 0; i < 10; i++) if (x[i] > 0) y[i] = x[i]; else y[i] = w[i];", params))
    assert (either.needed.flops, either.read, either.stored) == (10, 80, 80)


def test_cells_that_data_name() -> None:
    params = "int at[10], double x[100], double y[10]"
    work = work_of(scop_of("for (i = 0; i < 10; i++) y[i] = 2 * x[at[i]];", params))
    assert (work.needed.flops, work.read, work.stored) == (10, 40, 80)


def test_what_cannot_be_extracted_is_told(cc: str, tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text(
        "void f(int n, double *x) {\n#pragma scop\nfor (int i = 0; i < 5; i++) goto out;\nout:;\n#pragma endscop\n}\n"
    )
    with pytest.raises(NotCounted, match=r"bad\.c:3:"):
        work_of_kernel(replace(KERNELS["gemm"], source=source), (), cc)
