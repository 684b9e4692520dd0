"""scoptcc beside the compiler: the same programs, messages, dependencies and names, only faster."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scopt.compiler import optimized
from scopt.compiler.optimized import has_loops
from tests.compiler.conftest import PROGRAM, ROOT, Run, has_threads

FLAGS = ("-O1", "-Wall", "-Wextra")
# In scopt's process this ends it; scoptcc itself isn't started with -P.
CRASH = "import os, signal, sys\nif '-P' in sys.orig_argv: os.kill(os.getpid(), signal.SIGSEGV)\n"


def outputs(run: Run, *programs: str) -> list[str]:
    return [run(f"./{program}").stdout for program in programs]


def test_compile_and_link(run: Run, project: Path) -> None:
    theirs = run("cc", *FLAGS, "-MMD", "-c", "src/program.c", "-o", "theirs.o")
    ours = run("scoptcc", *FLAGS, "-MMD", "-c", "src/program.c", "-o", "ours.o")
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, "", theirs.stderr)
    assert "-Wunused-variable" in ours.stderr
    assert has_threads(project / "ours.o")
    assert (project / "ours.d").read_text() == (project / "theirs.d").read_text().replace("theirs", "ours")
    assert run("cc", "theirs.o", "-o", "theirs").returncode == run("scoptcc", "ours.o", "-o", "ours").returncode == 0
    first, second = outputs(run, "theirs", "ours")
    assert first == second == "src/program.c src/sizes.h 9 17 1\n"


def test_sources_in_one_command(run: Run, project: Path) -> None:
    (project / "other.c").write_text("int other(void)\n{\n  return __LINE__;\n}\n")
    (project / "third.c").write_text('int fill(int);\nint third(void) { return fill(2); }\n#warning "told"\n')
    run("cc", "-c", "other.c")
    words = (*FLAGS, "-MD", "src/program.c", "third.c", "other.o", "-lm")
    theirs, ours = run("cc", *words, "-o", "theirs"), run("scoptcc", *words, "-o", "ours")
    assert (ours.returncode, ours.stderr) == (0, theirs.stderr)
    assert ours.stderr.count("told") == theirs.stderr.count("told")
    assert has_threads(project / "ours")
    first, second = outputs(run, "theirs", "ours")
    assert first == second
    names = sorted(path.name.replace("theirs", "ours") for path in project.glob("theirs*.d"))
    assert names == sorted(path.name for path in project.glob("ours*.d"))
    assert run("scoptcc", "-w", "-c", "src/program.c", "third.c").returncode == 0
    assert has_threads(project / "program.o")
    assert (project / "third.o").is_file()


@pytest.mark.parametrize(
    ("words", "stdin", "made"),
    [
        (("-c", "src/program.c"), "", "program.o"),
        (("-S", "src/program.c", "-o", "x.s"), "", "x.s"),
        (("-S", "src/program.c"), "", "program.s"),
        (("-c", "@words"), "", "x.o"),
        (("-c", "-x", "c", "src/program.text", "-o", "x.o"), "", "x.o"),
        (("-c", "-x", "c", "-Isrc", "-", "-o", "x.o"), PROGRAM, "x.o"),
        (("-c", "-g3", "-std=c89", "-pedantic-errors", "src/program.c"), "", "program.o"),
        (("-c", "-save-temps", "src/program.c"), "", "program.o"),
        (("-c", "-Wp,-MD,deps", "-Wp,-DX", "-Werror=format", "src/program.c"), "", "deps"),
    ],
)
def test_ways_to_say_it(run: Run, project: Path, words: tuple[str, ...], stdin: str, made: str) -> None:
    (project / "words").write_text("'src/program.c' -o\n x.o")
    shutil.copy(project / "src/program.c", project / "src/program.text")
    theirs = run("cc", "-O1", "-w", *words, stdin=stdin)
    made_by_theirs = {path.name for path in project.iterdir()}
    (project / made).unlink()
    ours = run("scoptcc", "-O1", "-w", *words, stdin=stdin)
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr) == (0, "")
    assert {path.name for path in project.iterdir()} == made_by_theirs
    assert has_threads(next(path for path in (project / made, project / "program.o") if path.suffix != ""))


def test_output_on_stdout(run: Run, project: Path) -> None:
    assert re.search("GOMP_parallel|__kmpc_fork", run("scoptcc", "-w", "-O1", "-S", "-o", "-", "src/program.c").stdout)


def test_errors_are_the_compilers(run: Run, project: Path) -> None:
    wrong = project / "src/wrong.c"
    wrong.write_text(PROGRAM.replace("int main", "int g = undeclared;\nint main"))
    theirs, ours = run("cc", *FLAGS, "-c", "src/wrong.c"), run("scoptcc", *FLAGS, "-c", "src/wrong.c")
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr)
    assert "src/wrong.c:11:9: error" in ours.stderr
    werror = [run(program, *FLAGS, "-Werror", "-c", "src/program.c") for program in ("cc", "scoptcc")]
    assert werror[0].returncode == werror[1].returncode != 0
    assert werror[0].stderr == werror[1].stderr
    missing = [run(program, "-c", "missing.c") for program in ("cc", "scoptcc")]
    assert missing[0].stderr == missing[1].stderr


@pytest.mark.skipif(shutil.which("readelf") is None, reason="needs readelf")
def test_debug_lines_are_those_of_the_users_file(run: Run, project: Path) -> None:
    for program in ("cc", "scoptcc"):
        assert run(program, "-w", "-O1", "-g", "-c", "src/program.c", "-o", f"{program}.o").returncode == 0
    files, names, numbers = [], [], []
    for program in ("cc", "scoptcc"):
        lines = run("readelf", "--debug-dump=decodedline", f"{program}.o").stdout
        rows = re.findall(r"^(\S+)\s+(\d+)\s+0x", lines, re.MULTILINE)
        files.append({name for name, _ in rows})
        numbers.append({int(number) for name, number in rows if name == "program.c"})
        information = run("readelf", "--debug-dump=info", f"{program}.o").stdout
        names.append(
            [
                line.rpartition(": ")[2]
                for line in information.splitlines()
                if re.search(r"DW_AT_(name|comp_dir)", line)
            ][:2]
        )
    assert {number for number in numbers[0] if number > 8} <= numbers[1] <= {*range(3, 20)}
    assert files[0] == files[1]
    assert names[0] == names[1]


@pytest.mark.parametrize("how", ["crash", "timeout", "refused", "wrong option"])
def test_whatever_goes_wrong_with_scopt_the_original_is_compiled(
    run: Run, project: Path, tmp_path: Path, how: str
) -> None:
    (project / "site").mkdir()
    (project / "site/sitecustomize.py").write_text(CRASH)
    environment = {
        "crash": {"PYTHONPATH": str(project / "site"), "SCOPT_CACHE_DIR": ""},
        "timeout": {"SCOPT_TIMEOUT": "0.01", "SCOPT_CACHE_DIR": ""},
        "refused": {"SCOPT_FLAGS": "--emit=schedule"},
        "wrong option": {"SCOPT_FLAGS": "--no-such-option"},
    }[how]
    ours = run("scoptcc", "-O1", "src/program.c", "-Wall", "-o", "ours", **environment)
    theirs = run("cc", "-O1", "src/program.c", "-Wall", "-o", "theirs")
    assert ours.returncode == 0
    told = [line for line in ours.stderr.splitlines() if line.startswith("scoptcc: ")]
    assert len(told) == 1
    assert told[0].startswith("scoptcc: warning: src/program.c: compiled ")
    assert ours.stderr.replace(told[0] + "\n", "") == theirs.stderr
    first, second = outputs(run, "theirs", "ours")
    assert first == second
    # Where the original is wrong too, nobody else says a word.
    (project / "src/sizes.h").write_text("#define SIZE none\n")
    theirs, ours = run("cc", "-c", "src/program.c"), run("scoptcc", "-c", "src/program.c", **environment)
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr)


def test_the_second_time_scopt_is_not_run(run: Run, project: Path) -> None:
    (project / "site").mkdir()
    (project / "site/sitecustomize.py").write_text(CRASH)
    words = ("scoptcc", "-w", "-O1", "-c", "src/program.c")
    folder = str(project / "own")
    beside = {"PYTHONPATH": str(project / "site"), "MAKEFLAGS": " -j2 --jobserver-auth=3,4"}
    for environment in ({}, beside):  # how many processes there are has no part in what comes out
        done = run(*words, SCOPT_CACHE_DIR=folder, SCOPT_REMARKS="remarks", **environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert has_threads(project / "program.o")
    remarks = (project / "remarks").read_text().splitlines()
    assert len(remarks) == 2
    assert remarks[0] == remarks[1]
    assert remarks[0].startswith("src/program.c:6:3: remark: transformed")
    # A header that changes makes it another text.
    (project / "src/sizes.h").write_text((project / "src/sizes.h").read_text().replace("1000", "1100"))
    changed = run(*words, SCOPT_CACHE_DIR=folder, PYTHONPATH=str(project / "site"))
    assert "scoptcc: warning" in changed.stderr


@pytest.mark.parametrize(
    ("flags", "alone"),
    [
        ("", False),
        ("k", False),
        (" -- NAME=value", False),
        (" -j4 --jobserver-auth=3,4", True),
        ("kj --jobserver-fds=3,4", True),
        (" -j", True),
    ],
)
def test_flags_of_a_make_that_runs_several_commands(flags: str, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", flags)
    assert optimized._jobs() == (["--jobs=1"] if alone else [])


@pytest.mark.parametrize(("flags", "alone"), [("k", False), (" -j4 --jobserver-auth=3,4", True)])
def test_one_process_where_make_runs_several_commands(run: Run, project: Path, flags: str, alone: bool) -> None:
    (project / "site").mkdir()
    noted = project / "words"
    (project / "site/sitecustomize.py").write_text(
        f"import sys\nopen({str(noted)!r}, 'a').write(' '.join(sys.orig_argv))"
    )
    environment = {"PYTHONPATH": str(project / "site"), "MAKEFLAGS": flags, "SCOPT_CACHE_DIR": ""}
    assert run("scoptcc", "-w", "-c", "src/program.c", **environment).returncode == 0
    assert ("--jobs=1" in noted.read_text()) == alone


def test_an_edited_file_of_an_option_is_read(run: Run, project: Path) -> None:
    words = ("scoptcc", "-w", "-O1", "-c", "src/program.c")
    machine = project / "machine.toml"
    for text, status in (
        ("cores = 2\n", ""),
        ("cores = none\n", "scoptcc: warning: src/program.c: compiled as it is: "),
    ):
        machine.write_text(text)
        done = run(*words, SCOPT_CACHE_DIR=str(project / "own"), SCOPT_FLAGS="--machine=machine.toml")
        assert done.returncode == 0
        assert done.stderr.startswith(status)
        assert bool(done.stderr) == bool(status)


@pytest.mark.parametrize(
    "dependencies",
    [(), ("-MD",), ("-MMD", "-MF", "d/x.d"), ("-MD", "-MT", "a b", "-MP", "-MFd/x.d"), ("-Wp,-MD,d/x.d",)],
)
def test_the_second_time_the_compiler_runs_twice(
    run: Run, project: Path, cc: str, dependencies: tuple[str, ...]
) -> None:
    counting = project / "counting"
    counting.write_text(f'#!/bin/sh\necho "$@" >> {project}/runs\nexec {cc} "$@"\n')
    counting.chmod(0o755)
    (project / "d").mkdir()
    words = ("-O1", *dependencies, "-c", "src/program.c", "-o", "d/program.o")
    counts, written = [], []
    for program in ("cc", "scoptcc", "scoptcc"):
        (project / "runs").write_text("")
        for old in (project / "d").iterdir():
            old.unlink()
        done = run(program, *words, SCOPT_CC=str(counting), SCOPT_CACHE_DIR=str(project / "own"))
        assert (done.returncode, done.stderr) == (0, "")
        written.append({path.name: path.read_text() for path in (project / "d").glob("*.d")})
        counts.append(len((project / "runs").read_text().splitlines()))
    assert has_threads(project / "d/program.o")
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == bool(dependencies)
    assert counts[2] == (3 if "-Wp,-MD,d/x.d" in dependencies else 2) < counts[1]


def test_warnings_of_the_optimizer_are_given(run: Run, project: Path) -> None:
    end = "int main(int q, char **v) { int u; if (q > 2) u = 3; if (v[0][0]) return fill(u); return 0; }\n"
    (project / "src/late.c").write_text(PROGRAM[: PROGRAM.index("int main")] + end)
    words = ("-O2", "-Wmaybe-uninitialized", "-c", "src/late.c", "-o", "late.o")
    theirs, first, second = (
        run(program, *words, SCOPT_CACHE_DIR=str(project / "own")) for program in ("cc", "scoptcc", "scoptcc")
    )
    assert has_threads(project / "late.o")
    assert theirs.stderr == first.stderr == second.stderr
    assert sorted(path.name for path in project.iterdir()) == ["late.o", "own", "src"]


def test_warnings_are_given_every_time(run: Run, project: Path) -> None:
    first, second, third = (
        run("scoptcc", *FLAGS, "-c", "src/program.c", SCOPT_CACHE_DIR=str(project / "own")) for _ in range(3)
    )
    assert "-Wunused-variable" in first.stderr
    assert first.stderr == second.stderr == third.stderr
    assert run("scoptcc", "-O1", "-c", "src/program.c", SCOPT_CACHE_DIR=str(project / "own")).stderr == ""
    assert run("scoptcc", *FLAGS, "-c", "src/program.c", SCOPT_CACHE_DIR=str(project / "own")).stderr == first.stderr


def test_many_at_a_time(run: Run, project: Path) -> None:
    def compile_one(number: int) -> int:
        return run(
            "scoptcc", "-w", "-O1", "-c", "src/program.c", "-o", f"p{number}.o", SCOPT_CACHE_DIR=str(project / "own")
        ).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(compile_one, range(4))) == [0] * 4
    assert len({(project / f"p{number}.o").read_bytes() for number in range(4)}) == 1
    assert not list((project / "own").rglob("*.tmp"))


def test_pragmas_that_the_user_has_off_stay_off(run: Run, project: Path) -> None:
    own = project / "src/own.c"
    for pragma, threads in (("#pragma omp declare simd", True), ('_Pragma("omp declare simd")', False)):
        own.write_text(PROGRAM.replace("int main", f"{pragma}\nint main"))
        assert run("scoptcc", "-w", "-O1", "-c", "src/own.c", "-o", "off.o").returncode == 0
        assert has_threads(project / "off.o") is threads
    assert run("scoptcc", "-w", "-O1", "-fopenmp", "src/own.c", "-o", "on").returncode == 0
    assert outputs(run, "on")[0].startswith("OpenMP\n")


def test_as_a_launcher_threads_are_the_users_choice(run: Run, project: Path, cc: str) -> None:
    words = ("-w", "-O1", "-c", "src/program.c", "-o", "x.o")
    for more, environment, expected in (((), {}, False), (("-fopenmp",), {}, True), ((), {"SCOPT_OPENMP": "1"}, True)):
        assert run("scoptcc", cc, *words, *more, SCOPT_CC="/nowhere", **environment).returncode == 0
        assert has_threads(project / "x.o") is expected
    assert run("scoptcc", *words, SCOPT_OPENMP="0").returncode == 0
    assert not has_threads(project / "x.o")


@pytest.mark.parametrize(
    "words",
    [
        ("-E", "src/program.c"),
        ("-MM", "src/program.c"),
        ("--version",),
        ("-print-file-name=libc.a",),
        ("-dM", "-E", "-x", "c", "-"),
        (),
    ],
)
def test_straight_through(run: Run, project: Path, words: tuple[str, ...]) -> None:
    theirs, ours = run("cc", *words), run("scoptcc", *words)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_coverage_sees_the_users_text(run: Run, project: Path) -> None:
    assert run("scoptcc", "-w", "--coverage", "-c", "src/program.c").returncode == 0
    assert not has_threads(project / "program.o")


def test_nothing_heavy_is_imported_for_a_file_without_loops(project: Path) -> None:
    (project / "empty.c").write_text("int x;\n")
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['scoptcc', '-c', 'empty.c']\n"
        "import os\nfrom scopt.compiler.main import main\n"
        "os.execv = lambda *words: print(*sorted(sys.modules)) or sys.exit(0)\nmain()"
    )
    # Without site: an editable installation imports things of its own.
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=project, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "scopt.compiler.main" in loaded
    assert not {"islpy", "numpy", "dataclasses", "argparse", "tempfile", "hashlib", "subprocess"} & {*loaded}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (b"/* for you, it's */ int a; // while \\\n for\n", False),
        (b'char *s = "for", c = \'"\'; int fortran;', False),
        (b"char c = '\"'; void f(void) { for (;;) ; } char d = '\"';", True),
        (b"#error can't\nvoid f(void) { while (1) ; }", True),
    ],
)
def test_loops_are_looked_for_in_code(text: bytes, there: bool) -> None:
    assert has_loops(text) == there
