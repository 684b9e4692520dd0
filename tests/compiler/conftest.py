"""scoptcc as a program, with a cache of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., "subprocess.CompletedProcess[str]"]

HEADER = """#define SIZE 1000
static double A[SIZE][SIZE], B[SIZE][SIZE];
static const char *header(void) { return __FILE__; }
"""
# A loop that becomes parallel, with lines to be told before and after it.
PROGRAM = """#include "sizes.h"
#include <stdio.h>
int fill(int q)
{
  int i, j, unused;
  for (i = 0; i < SIZE; i++)
    for (j = 0; j < SIZE; j++)
      A[i][j] = 2 * B[j][i] + q;
  return __LINE__;
}
int main(void)
{
  int line = fill(1);
#ifdef _OPENMP
  puts("OpenMP");
#endif
  printf("%s %s %d %d %g\\n", __FILE__, header(), line, __LINE__, A[3][4]);
  return 0;
}
"""


@pytest.fixture(scope="session")
def scoptcc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, as an installation has it."""
    script = tmp_path_factory.mktemp("bin") / "scoptcc"
    lines = (
        f"#!{sys.executable}",
        "import sys",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from scopt.compiler.main import main",
        "sys.exit(main())",
    )
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o755)
    return script


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one test has had optimized, the next one needn't."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(scoptcc: Path, shared_cache: Path, cc: str, tmp_path: Path) -> Run:
    """run(*words, cwd=tmp_path, stdin="", **environment): a program in the test's folder; the word "scoptcc" is the
    command, "cc" its compiler."""

    def run_it(
        *words: str, cwd: Path = tmp_path, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        known = {"scoptcc": str(scoptcc), "cc": cc}
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SCOPT_")}
        settings = {
            "SCOPT_CC": cc,
            "SCOPT_CACHE_DIR": str(shared_cache),
            "LC_ALL": "C",
            "OMP_NUM_THREADS": "2",
            **environment,
        }
        command = [known.get(words[0], words[0]), *words[1:]]
        return subprocess.run(
            command,
            cwd=cwd,
            input=stdin,
            env={**clean, **settings},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run_it


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with src/program.c and its header."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/sizes.h").write_text(HEADER)
    (tmp_path / "src/program.c").write_text(PROGRAM)
    return tmp_path


def has_threads(file: Path) -> bool:
    """Whether an object calls OpenMP's run time, GNU's or LLVM's."""
    data = file.read_bytes()
    return b"GOMP_parallel" in data or b"__kmpc_fork" in data
