from __future__ import annotations

from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.polybench.catalog import load_suite, named_suite, own_suite, select

SCOP = "void f(void) {\n#pragma scop\n#pragma endscop\n}\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A tree laid out like PolyBench/C."""
    files = {
        "utilities/polybench.c": "#pragma scop",
        "utilities/template-for-new-benchmark.c": SCOP,
        "blas/gemm/gemm.c": SCOP,
        "medley/nussinov/nussinov.c": SCOP,
        "medley/nussinov/Nussinov.orig.c": SCOP,
        "medley/notes.c": "int x;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_own_kernels_share_includes_and_harness() -> None:
    kernels = load_suite(own_suite())
    assert [kernel.name for kernel in kernels] == sorted(kernel.name for kernel in kernels)
    assert {kernel.harness for kernel in kernels} == {own_suite() / "polybench.c"}
    assert {kernel.includes for kernel in kernels} == {(own_suite(), own_suite() / "kernels")}


def test_foreign_tree(suite: Path) -> None:
    gemm, nussinov = load_suite(suite)
    assert (gemm.name, nussinov.name) == ("gemm", "nussinov")
    assert gemm.includes == (suite / "utilities", suite / "blas/gemm")


def test_suites_by_name(tmp_path: Path) -> None:
    assert named_suite("polybench").resolve() == own_suite()
    general = load_suite(named_suite("general"))
    assert {kernel.harness for kernel in general} == {own_suite() / "general/polybench.c"}
    assert {kernel.includes for kernel in general} == {(own_suite() / "general",)}
    assert named_suite(str(tmp_path)) == tmp_path


def test_a_suite_below_another_is_none_of_its_kernels(suite: Path) -> None:
    for name in ("polybench.c", "inner/polybench.c"):
        (suite / name).parent.mkdir(exist_ok=True)
        (suite / name).touch()
    (suite / "inner/gemm.c").write_text(SCOP)
    assert {kernel.harness for kernel in load_suite(suite)} == {suite / "polybench.c"}
    assert [kernel.source for kernel in load_suite(suite / "inner")] == [suite / "inner/gemm.c"]


def test_bytes_that_are_no_utf8(suite: Path) -> None:
    (suite / "blas/gemm/gemm.c").write_bytes(b"/* \xe9 */\n" + SCOP.encode())
    assert len(load_suite(suite)) == 2


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_suite(tmp_path / "missing")


def test_no_harness(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no polybench\.c in it"):
        load_suite(tmp_path)


def test_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "polybench.c").touch()
    with pytest.raises(InputError, match="no C file in it has"):
        load_suite(tmp_path)


def test_two_of_one_name(suite: Path) -> None:
    (suite / "medley/gemm.c").write_text(SCOP)
    with pytest.raises(InputError, match="two kernels are called gemm"):
        load_suite(suite)


def test_select_keeps_the_order_asked_for() -> None:
    kernels = load_suite(own_suite())
    assert [kernel.name for kernel in select(kernels, ["lu", "atax", "lu"])] == ["lu", "atax"]
    assert select(kernels, []) == kernels


def test_select_suggests_a_name() -> None:
    with pytest.raises(InputError, match=r"unknown kernel 'jacobi2d'; did you mean jacobi-2d"):
        select(load_suite(own_suite()), ["jacobi2d"])


def test_select_lists_the_names(suite: Path) -> None:
    with pytest.raises(InputError, match="the suite has gemm, nussinov"):
        select(load_suite(suite), ["zzz"])
