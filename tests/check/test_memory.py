"""Declarations of buffers: real ones mean what they should; with a fault planted they are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.allocation import Allocation, allocations
from scopt.astgen.lower.strip_statements import Names
from scopt.check.memory import Allocated, read_allocation, read_allocations
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import Panel, PanelDimension, RowBuffer
from scopt.ir.nest import Const, Expr, Max, Name, Sum
from scopt.ir.scop import Array, Scop
from scopt.machine import Machine
from tests.sources import scop_of

BODY = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = A[i][j] + 1.0;\n"
POSITIVE = Max((Name("n"), Const(1)))
SHORTER = Max((Const(1), Sum(((1, Name("n")),), -1)))


def scop() -> Scop:
    return scop_of(BODY, "int n, int m, double A[n][m]")


def expanded() -> tuple[Scop, Allocation]:
    """An array with a cell for each iteration."""
    base = scop()
    array = Array("A_all", "A_all", base.arrays["A"].type, (None,) * 3, (None,) * 3)
    base = replace(base, arrays={**base.arrays, "A_all": array})
    return base, allocations(base, {"A_all": (Name("n"), Sum(((1, Name("n")),), -1), Const(32))})[0]


def buffers(*, parallel: bool) -> tuple[Scop, tuple[Allocation, ...]]:
    """Memory of strips: rows of an array, and a panel of it."""
    names = Names(scop(), Machine())
    names.buffer(RowBuffer("A", 0, 0, 2, (Name("m"), Sum(((1, Name("n")),), -1))), 8, parallel=parallel)
    names.panel(
        Panel("A", (PanelDimension(((0, 1),), None, 0, Name("n")), PanelDimension(((1, 1),), 0, 0, Const(16)))),
        parallel=parallel,
    )
    return replace(names.scop, arrays={**names.scop.arrays, **names.arrays}), names.allocations()


def test_an_expanded_array() -> None:
    base, one = expanded()
    extents: tuple[Expr, ...] = (POSITIVE, SHORTER, Const(32))
    assert read_allocation(base, one) == Allocated("A_all", "double", extents)


def test_buffers() -> None:
    base, made = buffers(parallel=False)
    assert read_allocations(base, made) == (
        Allocated("A_rows", "double", (SHORTER, Const(10))),
        Allocated("A_panel", "double", (POSITIVE, Const(16))),
    )


def test_buffers_for_each_thread() -> None:
    base, made = buffers(parallel=True)
    assert read_allocations(base, made) == (
        Allocated("A_rows", "double", (None, SHORTER, Const(10)), threaded=True),
        Allocated("A_panels", "double", (None, POSITIVE, Const(16)), threaded=True),
    )
    assert made[0].declaration.startswith("const int scopt_threads_0 = scopt_threads_0_most();\n")
    with pytest.raises(InternalError):
        read_allocations(base, made[1:])
    with pytest.raises(InternalError):
        read_allocations(base, (made[0], made[0]))
    with pytest.raises(InternalError):
        read_allocations(base, tuple(reversed(made)))


FAULTS: list[Callable[[str], str]] = [
    lambda text: text.replace("[32])", "[31])"),
    lambda text: text.replace("[32])", "[33])"),
    lambda text: text.replace("[32])", ")"),
    lambda text: text.replace("[32] =", "[31] ="),
    lambda text: text.replace("[32] =", " ="),
    lambda text: text.replace("[32]", "[0]"),
    lambda text: text.replace("[32]", "[n]"),
    lambda text: text.replace("[32]", "[n - 1L]"),
    lambda text: text.replace("[32]", ""),
    lambda text: text.replace("sizeof(double[scopt_max(n, 1)]", "sizeof(double"),
    lambda text: text.replace("n - 1L", "n - 2L", 1),
    lambda text: text.replace("n - 1L", "n", 1),
    lambda text: text.replace("(1, n - 1L)", "(0, n - 1L)"),
    lambda text: text.replace("n - 1L", "n - 1"),
    lambda text: text.replace("n - 1L", "k - 1L"),
    lambda text: text.replace("sizeof(double", "sizeof(float"),
    lambda text: text.replace("double", "float"),
    lambda text: text.replace("__builtin_malloc(", "__builtin_malloc(2 * "),
    lambda text: text.replace("__builtin_malloc(", "__builtin_malloc(scopt_threads_0 * "),
    lambda text: text.replace("__builtin_malloc(", "alloca("),
    lambda text: text.replace("__builtin_malloc(", "malloc("),
    lambda text: text.replace("__builtin_malloc(", "__builtin_malloc(1 + "),
    lambda text: text.replace("A_all", "A"),
    lambda text: text.replace("A_all", "A_al"),
    lambda text: text.replace("(*A_all)", "*A_all"),
    lambda text: text.replace("(*A_all)", "A_all"),
    lambda text: f"static {text}",
    lambda text: f"{text} n = 0;",
    lambda text: f"{text} double *B = __builtin_malloc(8);",
    lambda text: f"int k = 0;\n{text}",
    lambda text: text.removesuffix(";"),
    lambda text: text[: text.index(" =")] + ";",
]


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_faults_are_refused(number: int) -> None:
    base, one = expanded()
    text = FAULTS[number](one.declaration)
    assert text != one.declaration
    with pytest.raises(InternalError):
        read_allocation(base, replace(one, declaration=text))


THREADED: list[Callable[[str], str]] = [
    lambda text: text.replace("scopt_threads_0 * ", ""),
    lambda text: text.replace("scopt_threads_0 * ", "2 * "),
    lambda text: text.replace("scopt_threads_0 * ", "scopt_threads_1 * "),
    lambda text: text.replace("scopt_threads_0 * ", "scopt_threads_0 + "),
    lambda text: text.replace("scopt_rows_0(", "__builtin_malloc("),
    lambda text: text.replace("scopt_rows_0(", "scopt_rows_1("),
    lambda text: text.replace("[scopt_max(1, n - 1L)]", "", 1),
    lambda text: text.replace("[10]", "[9]", 1),
    lambda text: text.replace("_most()", "_most() - 1"),
    lambda text: text.replace("_most()", "_least()"),
    lambda text: text.replace("const int", "int"),
    lambda text: text.replace("const int", "const char"),
    lambda text: text.replace("const int scopt_threads_0 = scopt_threads_0_most();\n", ""),
]


@pytest.mark.parametrize("number", range(len(THREADED)))
def test_faults_in_memory_for_threads_are_refused(number: int) -> None:
    base, made = buffers(parallel=True)
    text = THREADED[number](made[0].declaration)
    assert text != made[0].declaration
    with pytest.raises(InternalError):
        read_allocations(base, (replace(made[0], declaration=text), *made[1:]))


def test_helpers_have_to_be_defined() -> None:
    base, one = expanded()
    with pytest.raises(InternalError):
        read_allocation(base, replace(one, helpers=()))


def test_the_array_has_so_many_dimensions() -> None:
    base, one = expanded()
    flat = replace(base.arrays["A_all"], extents=(None, None))
    with pytest.raises(InternalError):
        read_allocation(replace(base, arrays={**base.arrays, "A_all": flat}), one)
    with pytest.raises(InternalError):
        read_allocation(replace(base, reserved=base.reserved | {"A_all"}), one)
