"""Small projects, built with the compiler and with scoptcc by make and CMake: the same program, dependencies, and work
after a change."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.compiler.conftest import ROOT, Run, has_threads

EXPECTED = "a 1 10 3 1000\n"


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A copy of the projects, to be changed."""
    return Path(shutil.copytree(ROOT / "tests/projects", tmp_path / "projects"))


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make(run: Run, projects: Path, scoptcc: Path, cc: str) -> None:
    for name, compiler in (("theirs", cc), ("ours", str(scoptcc))):
        shutil.copytree(projects / "make", projects / name)
        done = run("make", "-j8", f"CC={compiler}", cwd=projects / name)
        assert (done.returncode, done.stderr) == (0, "")
        assert run("./program", cwd=projects / name).stdout == EXPECTED
    for file in ("fill.d", "main.d", "name.d"):
        assert (projects / "ours" / file).read_text() == (projects / "theirs" / file).read_text()
    assert has_threads(projects / "ours/fill.o")
    assert not has_threads(projects / "ours/main.o")
    # A header that changed: what includes it is made again, and nothing else.
    header = projects / "sources/sizes.h"
    header.write_text("#define SIZE 1100\n")
    for name, compiler in (("theirs", cc), ("ours", str(scoptcc))):
        again = run("make", "-j8", f"CC={compiler}", cwd=projects / name)
        assert again.returncode == 0
        assert sorted(re.findall(r"-c \S+/(\w+)\.c", again.stdout)) == ["fill", "main"]
        assert run("./program", cwd=projects / name).stdout == EXPECTED.replace("1000", "1100")
        assert "up to date" in run("make", f"CC={compiler}", cwd=projects / name).stdout


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
@pytest.mark.parametrize("way", ["compiler", "launcher", "target"])
def test_cmake(run: Run, projects: Path, scoptcc: Path, cc: str, way: str) -> None:
    generator = "Ninja" if way != "compiler" and shutil.which("ninja") else "Unix Makefiles"
    words = {
        "compiler": (f"-DCMAKE_C_COMPILER={scoptcc}",),
        "launcher": (f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_C_COMPILER_LAUNCHER={scoptcc}", "-DCMAKE_C_FLAGS=-fopenmp"),
        "target": (
            f"-DCMAKE_C_COMPILER={cc}",
            "-DFOR_TARGET=ON",
            f"-Dscopt_DIR={ROOT}/scopt/cmake",
            f"-Dscopt_COMPILER={scoptcc}",
        ),
    }[way]
    made = run(
        "cmake", "-G", generator, "-S", "cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", *words, cwd=projects
    )
    assert made.returncode == 0, made.stdout + made.stderr
    build = run("cmake", "--build", "build", "-j8", cwd=projects)
    assert build.returncode == 0, build.stdout + build.stderr
    assert "warning" not in build.stdout + build.stderr
    assert run("build/program", cwd=projects).stdout == EXPECTED
    assert has_threads(projects / "build/libfill.a")
    header = projects / "sources/sizes.h"
    header.write_text("#define SIZE 1100\n")
    again = run("cmake", "--build", "build", "-j8", "-v", cwd=projects)
    assert sorted(set(re.findall(r"(\w+)\.c\.o -c", again.stdout))) == ["fill", "main"]
    assert run("build/program", cwd=projects).stdout == EXPECTED.replace("1000", "1100")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_the_package_for_cmake_has_scopts_version() -> None:
    import scopt

    assert f'"{scopt.__version__}"' in (ROOT / "scopt/cmake/scoptConfigVersion.cmake").read_text()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_one_file_with_the_flags_of_its_build(run: Run, projects: Path, cc: str) -> None:
    from scopt.compiler.compile_commands import flags_of

    words = (f"-DCMAKE_C_COMPILER={cc}", "-DCMAKE_C_FLAGS=-DVALUE=3 -I../sources")
    assert run("cmake", "-G", "Unix Makefiles", "-S", "cmake", "-B", "build", *words, cwd=projects).returncode == 0
    assert json.loads((projects / "build/compile_commands.json").read_text())
    flags = flags_of(str(projects / "build"), str(projects / "sources/fill.c"))
    assert flags == ("-DVALUE=3", "-I", str(projects / "build/../sources"))
