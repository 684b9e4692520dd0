"""What is shipped: the sdist and the wheel built from it hold all of the project, and work away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that is built from it, made in a copy: the checkout stays clean."""
    folder = tmp_path_factory.mktemp("packaging")
    shutil.copytree(ROOT, folder / "source", ignore=IGNORED)
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(folder / "source"))
    return folder / "dist"


@pytest.fixture(scope="module")
def installed(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed, without its dependencies: those are there already."""
    target = tmp_path_factory.mktemp("installed")
    (wheel,) = distributions.glob("*.whl")
    _run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    )
    return target


def test_the_sdist_holds_the_sources_tests_and_documents(distributions: Path) -> None:
    (archive,) = distributions.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    for name in (
        "setup.py",
        "Makefile",
        "LICENSE",
        "README.md",
        "examples/gemm.c",
        "examples/demo.sh",
        ".ci/run",
        "tests/fuzz/support.c",
    ):
        assert name in names
    assert _modules(ROOT) <= names


def test_the_wheel_holds_every_module_under_one_name(installed: Path) -> None:
    assert {path.name for path in installed.iterdir()} == {
        "bin",
        "scopt",
        next(installed.glob("scopt-*.dist-info")).name,
    }
    expected = {name if name.startswith("scopt/") else f"scopt/{name}" for name in _modules(ROOT)}
    found = {str(path.relative_to(installed)) for path in (installed / "scopt").rglob("*.py")}
    assert found == expected
    for name in (
        "py.typed",
        "polybench/polybench.h",
        "polybench/polybench.c",
        "polybench/exact.h",
        "polybench/kernels/gemm.c",
        "polybench/general/polybench.c",
        "polybench/general/general.h",
        "polybench/limits/blas.c",
    ):
        assert (installed / "scopt" / name).is_file()
    assert len(list((installed / "scopt/polybench/kernels").glob("*.c"))) == 30
    assert len(list((installed / "scopt/polybench/general").glob("*.c"))) > 60


def test_the_commands_work_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    assert _run(str(installed / "bin/scopt"), "--version", path=installed, cwd=tmp_path).startswith("scopt ")
    where = _run(
        sys.executable,
        "-c",
        "import scopt.frontend.syntax.file_parser as p; print(p.__file__)",
        path=installed,
        cwd=tmp_path,
    )
    assert where.startswith(str(installed))
    _run(
        str(installed / "bin/scopt"),
        str(ROOT / "examples/gemm.c"),
        "-o",
        "gemm.c",
        "--strict",
        path=installed,
        cwd=tmp_path,
    )
    assert "#pragma omp parallel for" in (tmp_path / "gemm.c").read_text()
    assert "gemm" in _run(str(installed / "bin/scopt-bench"), "--list", path=installed, cwd=tmp_path)


def _modules(root: Path) -> set[str]:
    """All Python modules of the five folders, relative to the root."""
    return {str(path.relative_to(root)) for init in root.glob("*/__init__.py") for path in init.parent.rglob("*.py")}


def _run(*command: str, path: Path | None = None, cwd: Path | None = None) -> str:
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False, timeout=300)
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    return ran.stdout
