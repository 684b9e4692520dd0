"""Threads in what scoptcc compiles: macros in pragmas, what users' code sees of OpenMP, a buffer for each thread."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scopt.compiler import openmp
from scopt.compiler.command_line import read_command
from tests.compiler.conftest import ROOT, Run, has_threads
from tests.conftest import EVERYTHING

CLANG = next((name for name in ("clang", "clang-19") if shutil.which(name)), "")
# What the file and its header see of OpenMP and of threads, and a loop with a macro in its clauses.
SEEING = """#include <stdio.h>
#include "seen.h"
#ifdef _OPENMP
#define FILE_SEES _OPENMP
#define ADDED 1
#else
#define FILE_SEES 0
#define ADDED 0
#endif
static double A[SIZE][SIZE], B[SIZE][SIZE];
void fill(double value)
{
  int i, j;
  for (i = 0; i < SIZE; i++)
    for (j = 0; j < SIZE; j++)
      A[i][j] = value * B[j][i] + ADDED;
}
int main(void)
{
  fill(2);
  printf("%ld %ld %d %g\\n", (long)FILE_SEES, header(), THREADS, A[5][7]);
  return 0;
}
"""
SEEN = """#define SIZE 500
static long header(void)
{
#ifdef _OPENMP
  return _OPENMP;
#else
  return 0;
#endif
}
#ifdef _REENTRANT
#define THREADS 1
#else
#define THREADS 0
#endif
"""
# Tiles are kept in panels, of which each thread has its own.
ROWS = """#include <stdio.h>
#define N 300
#define M 400
static double A[N][M], B[N][M];
void filter(void)
{
  for (int i = 1; i < N; i++)
    for (int j = 1; j < M; j++)
      A[i][j] = A[i-1][j] * 0.25 + A[i][j-1] * 0.5 + A[i-1][j-1] * 0.125 + B[i][j];
}
int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) { A[i][j] = (i * 7 + j) % 11 / 8.0; B[i][j] = (i + j * 5) % 13 / 9.0; }
  for (int t = 0; t < 20; t++)
    filter();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) printf("%a\\n", A[i][j]);
  return 0;
}
"""
# Lines are apart from each other: what is about pragmas alone needs no panels, which take far longer to be made.
LINES = ROWS.replace("A[i-1][j] * 0.25 + A[i][j-1] * 0.5 + A[i-1][j-1] * 0.125 + B[i][j]", "B[i-1][j] * 0.25 + B[i][j]")


# What is said to clang in another way, or has another form there: the rest is asked of it with SCOPT_TEST_ALL=1.
OF_CLANG = (
    "test_a_product_whose_size_is_a_macro",
    "test_the_users_code_sees_what_its_flags_say",
    "test_threads_have_buffers_of_their_own",
    "test_macros_in_clauses_are_expanded",
)


@pytest.fixture(params=["first", pytest.param("clang", marks=pytest.mark.skipif(not CLANG, reason="needs clang"))])
def compiler(request: pytest.FixtureRequest, cc: str, tmp_path: Path) -> str:
    """The real compiler: the one of all tests, and clang, where it can link OpenMP."""
    if request.param == "first":
        return cc
    if not EVERYTHING and request.node.originalname not in OF_CLANG:
        pytest.skip("clang takes it in the same way")
    words = [CLANG, "-fopenmp", "-x", "c", "-", "-o", str(tmp_path / "tried")]
    if subprocess.run(words, input=openmp._PROGRAM, capture_output=True, check=False).returncode != 0:
        pytest.skip("clang can't link OpenMP")
    return CLANG


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_product_whose_size_is_a_macro(run: Run, tmp_path: Path, scoptcc: Path, compiler: str) -> None:
    folder = Path(shutil.copytree(ROOT / "tests/projects/product", tmp_path / "product"))
    settings = {"SCOPT_CC": compiler, "SCOPT_CACHE_DIR": str(tmp_path / "cache"), "OMP_NUM_THREADS": "4"}
    printed = []
    for command in (compiler, str(scoptcc), str(scoptcc)):  # the last one finds all in the cache
        assert run("make", "clean", cwd=folder).returncode == 0
        done = run("make", f"CC={command}", cwd=folder, **settings)
        assert (done.returncode, done.stderr) == (0, "")
        assert has_threads(folder / "product.o") is (command != compiler)
        printed.append(run("./program", cwd=folder, **settings).stdout)
    assert printed[0].count("\n") == 300
    assert printed[0] == printed[1] == printed[2]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("-std=c89",),
        ("-std=c99", "-g3"),
        ("-pthread",),
        ("-D_OPENMP=7",),
        ("-Wp,-D_OPENMP=7",),
        ("-fopenmp",),
        ("-fopenmp", "-U_OPENMP"),
    ],
)
def test_the_users_code_sees_what_its_flags_say(
    run: Run, tmp_path: Path, compiler: str, words: tuple[str, ...]
) -> None:
    if compiler == CLANG and "-fopenmp" not in words[:1] and words and not EVERYTHING:
        pytest.skip("gcc takes these flags in the same way")
    (tmp_path / "seeing.c").write_text(SEEING)
    (tmp_path / "seen.h").write_text(SEEN)
    printed = []
    for program in (compiler, "scoptcc"):
        done = run(program, "-O1", *words, "seeing.c", "-o", "program", SCOPT_CC=compiler)
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(run("./program").stdout)
    assert printed[0] == printed[1]
    assert has_threads(tmp_path / "program")


@pytest.mark.parametrize("words", [("-fopenmp", "-U_OPENMP"), ("-std=c89",)])
def test_threads_have_buffers_of_their_own(run: Run, tmp_path: Path, compiler: str, words: tuple[str, ...]) -> None:
    if compiler == CLANG and "-std=c89" in words and not EVERYTHING:
        pytest.skip("gcc takes this flag in the same way")
    text = ROWS if "-std=c89" not in words else ROWS.replace("for (int ", "for (").replace("{\n", "{\n  int i, j, t;\n")
    (tmp_path / "rows.c").write_text(text)
    flags = ("-O2", "-ffp-contract=off", "-w", *words)
    assert run(compiler, *flags, "rows.c", "-o", "theirs").returncode == 0
    done = run("scoptcc", *flags, "rows.c", "-o", "ours", SCOPT_CC=compiler)
    assert (done.returncode, done.stderr) == (0, "")
    assert b"omp_get_max_threads" in (tmp_path / "ours").read_bytes()  # how many buffers there are
    expected = run("./theirs").stdout
    assert expected
    for threads in ("1", "4", "4", "7"):
        assert run("./ours", OMP_NUM_THREADS=threads).stdout == expected


@pytest.mark.parametrize("words", [("-Dprivate=",), ("-Dprivate=static", "-O0"), ("-Dstatic=", "-O0")])
def test_macros_with_the_names_of_scopts_words(run: Run, tmp_path: Path, compiler: str, words: tuple[str, ...]) -> None:
    (tmp_path / "rows.c").write_text(ROWS)
    printed = []
    for program in (compiler, "scoptcc"):
        flags = ("-w", "-ffp-contract=off", *words)
        for step in ((*flags, "-c", "rows.c"), ("rows.o", "-o", "rows")):
            done = run(program, *step, SCOPT_CC=compiler)
            assert (done.returncode, done.stderr) == (0, "")
        printed.append(run("./rows", OMP_NUM_THREADS="4").stdout)
    assert printed[0] == printed[1]


@pytest.mark.parametrize("flag", ["-fopenmp", "-fopenmp-simd"])
@pytest.mark.parametrize("words", ["", "-std=c89", "-std=c17", "-undef"])
def test_macros_in_clauses_are_expanded(compiler: str, flag: str, words: str) -> None:
    text = "#define N 8\n#pragma omp simd safelen(N)\n_OPENMP SCOPT_THREADS _REENTRANT\n"
    flags = openmp.preprocessor_flags(read_command([]), [flag])
    command = [compiler, "-E", "-P", *flags, *words.split(), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    threads = "1" if flag == "-fopenmp" else "SCOPT_THREADS"
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    assert lines == ["#pragma omp simd safelen(8)", f"_OPENMP {threads} _REENTRANT"]
    assert done.stderr == ""


def test_what_is_saved_can_be_compiled(run: Run, tmp_path: Path, compiler: str) -> None:
    (tmp_path / "rows.c").write_text(ROWS)
    assert run("scoptcc", "-O1", "-save-temps", "-c", "rows.c", SCOPT_CC=compiler).returncode == 0
    saved = (tmp_path / "rows.i").read_text()
    assert re.search(r"> 20000 .*\n(.*\n){1,9} *#pragma omp parallel for", saved)  # as much work as threads need
    assert not re.search(r"\b[NM]\b", saved)
    os.rename(tmp_path / "rows.o", tmp_path / "first.o")
    assert run(compiler, "-O1", "-fopenmp", "-w", "-c", "rows.i").returncode == 0
    assert has_threads(tmp_path / "rows.o")
    assert has_threads(tmp_path / "first.o")


def test_pragmas_for_vectors_and_for_threads_are_kept_apart(run: Run, tmp_path: Path, compiler: str) -> None:
    (tmp_path / "rows.c").write_text(LINES)
    settings = {"SCOPT_CC": compiler, "SCOPT_CACHE_DIR": str(tmp_path / "cache")}
    for threads in ("1", "0", "1", "0"):
        done = run("scoptcc", "-O1", "-c", "rows.c", SCOPT_OPENMP=threads, **settings)
        assert (done.returncode, done.stderr) == (0, "")
        assert has_threads(tmp_path / "rows.o") is (threads == "1")


def test_a_flag_that_goes_past_the_driver(run: Run, tmp_path: Path, compiler: str) -> None:
    counting = '  int count = 0;\n#pragma omp parallel reduction(+: count)\n  count++;\n  printf("%d\\n", count);\n'
    (tmp_path / "rows.c").write_text(ROWS.replace("  return 0;\n", counting + "  return 0;\n"))
    printed = []
    for program in (compiler, "scoptcc"):
        words = ("-O1", "-w", "-ffp-contract=off", "-Xpreprocessor", "-fopenmp", "-c", "rows.c")
        done = run(program, *words, SCOPT_CC=compiler)
        assert (done.returncode, done.stderr) == (0, "")
        assert (b"omp_get_max_threads" in (tmp_path / "rows.o").read_bytes()) is (program == "scoptcc")
        assert run(compiler, "-fopenmp", "rows.o", "-o", "rows").returncode == 0
        printed.append(run("./rows", OMP_NUM_THREADS="3").stdout)
    assert printed[0] == printed[1]
    assert printed[0].endswith("\n3\n")


# A pragma that no loop of the program's may have: each thread would count.
RACING = """#include <stdio.h>
static double A[600][600], B[600][600];
static int count;
HEADER
int main(void)
{
  #pragma omp parallel for \\
      schedule(static)
  for (int i = 0; i < 600; i++)
    for (int j = 0; j < 600; j++)
      A[i][j] = 2 * B[j][i] + i;
  #pragma omp parallel num_threads(3)
  count++;
  printf("%d %d %g\\n", __LINE__, count, A[5][7]);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("flags", "header", "threads"),
    [
        ((), "", True),
        (("-fno-openmp",), "", False),
        (("-fopenmp-simd",), "", False),
        ((), '#include "racing.h"', True),
        ((), '#define TEAM _Pragma("omp parallel num_threads(3)")\nstatic void more(void) { TEAM count++; }', False),
    ],
)
def test_pragmas_that_are_not_turned_on(
    run: Run, tmp_path: Path, flags: tuple[str, ...], header: str, threads: bool
) -> None:
    pragmas = "static int own;\n#pragma omp threadprivate(own)\n", "#pragma omp parallel num_threads(3)\n"
    (tmp_path / "racing.h").write_text(f"{pragmas[0]}static void more(void) {{\n{pragmas[1]} count += own; }}\n")
    (tmp_path / "racing.c").write_text(RACING.replace("HEADER", header))
    printed = []
    for program in ("cc", "scoptcc"):
        done = run(program, "-O1", "-Wall", "-Wno-unused", *flags, "-c", "racing.c")
        assert done.returncode == 0
        printed.append(done.stderr)
        assert has_threads(tmp_path / "racing.o") is (threads and program == "scoptcc")
        assert run(program, "-O1", *flags, "racing.o", "-o", "racing").returncode == 0
        printed.append(run("./racing").stdout)
    assert printed[:2] == printed[2:]
    assert printed[1].split()[1] == "1"


def test_pragmas_that_are_turned_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "racing.c").write_text(RACING.replace("HEADER", "").replace("num_threads(3)", "reduction(+: count)"))
    printed = []
    for program in ("cc", "scoptcc"):
        done = run(program, "-O1", "-fopenmp", "racing.c", "-o", "racing")
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(run("./racing", OMP_NUM_THREADS="3").stdout)
    assert printed[0] == printed[1]
    assert printed[0].split()[1] == "3"
