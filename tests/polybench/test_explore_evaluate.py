"""Evaluating a candidate: originals, checks, time limits, what is timed; and programs as bundles of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt.diagnostics import InputError
from scopt.polybench.catalog import load_suite, own_suite, select
from scopt.polybench.explore.analysis import analysed, checkable
from scopt.polybench.explore.evaluate import (
    BuildJob,
    MeasureJob,
    evaluate_build,
    evaluate_measure,
    evaluate_original,
    time_limit,
)
from scopt.polybench.explore.outputs import Output, difference, output_of
from scopt.polybench.explore.programs import Program, file_program, kernel_program, unpack
from scopt.polybench.processes import Finished
from scopt.polybench.toolchains import Compiler, find_compiler
from tests.polybench.explored import write_matvec


@pytest.fixture
def compiler(cc: str) -> Compiler:
    return find_compiler(cc)


def matvec(folder: Path, compiler: Compiler, more: str = "") -> Program:
    return file_program(write_matvec(folder, more), (f"-I{folder / 'include'}",), compiler)


def test_a_program_can_be_unpacked_anywhere(tmp_path: Path, compiler: Compiler) -> None:
    program = matvec(tmp_path, compiler)
    assert [name for name, _ in program.files] == ["in.c", "include/size.h"]
    assert (program.includes, program.flags) == (("include",), ())
    there = unpack(program, tmp_path / "there")
    assert there.read_bytes() == (tmp_path / "in.c").read_bytes()
    assert (tmp_path / "there" / "include" / "size.h").is_file()
    changed = replace(program, files=(program.files[0], ("include/size.h", b"#define N 17\n")))
    assert program.record(1).source_hash != changed.record(1).source_hash


def test_a_plain_file(tmp_path: Path, compiler: Compiler) -> None:
    program = matvec(tmp_path, compiler)
    original = evaluate_original(program, compiler, str(tmp_path / "original"), 1)
    assert (original.expected.code, original.prints_time, len(original.expected.text.splitlines())) == (3, False, 16)
    built = evaluate_build(BuildJob(program, compiler, original, str(tmp_path / "isl"), 1, scheduler="isl"))
    assert (built.status, built.reason) == ("ok", "")
    measured = evaluate_measure(MeasureJob(built.program, 2, 1, 10.0, original.prints_time, original.expected.code))
    assert (measured.status, len(measured.seconds)) == ("ok", 2)
    assert max(measured.seconds) == measured.process_seconds > 0


def test_a_kernel(tmp_path: Path, compiler: Compiler) -> None:
    (kernel,) = select(load_suite(own_suite()), ["trisolv"])
    program = checkable(kernel_program(kernel, "SMALL", "MINI", compiler), compiler.path)
    assert program.check_size == "MINI"
    original = evaluate_original(program, compiler, str(tmp_path / "original"), 1)
    assert original.prints_time
    assert "begin dump: x" in original.expected.text
    built = evaluate_build(BuildJob(program, compiler, original, str(tmp_path / "identity"), 1, scheduler="identity"))
    measured = evaluate_measure(MeasureJob(built.program, 1, 1, 10.0, True))
    assert (built.status, measured.status) == ("ok", "ok")
    assert measured.seconds[0] < measured.process_seconds


def test_a_program_that_prints_its_time(tmp_path: Path, compiler: Compiler) -> None:
    program = matvec(tmp_path, compiler, '\n#ifdef POLYBENCH_TIME\nprintf("%f\\n", 0.125);\n#endif\n')
    original = evaluate_original(program, compiler, str(tmp_path / "original"), 1)
    assert original.prints_time
    assert evaluate_measure(MeasureJob(original.program, 1, 1, 10.0, True, 3)).seconds == (0.125,)


def test_a_wrong_result_is_a_mismatch(tmp_path: Path, compiler: Compiler) -> None:
    # Only the transformed program is built with OpenMP.
    program = matvec(tmp_path, compiler, '\n#ifdef _OPENMP\nprintf("1\\n");\n#endif\n')
    original = evaluate_original(program, compiler, str(tmp_path / "original"), 1)
    built = evaluate_build(BuildJob(program, compiler, original, str(tmp_path / "sample"), 1, scheduler="identity"))
    assert (built.status, built.program) == ("mismatch", "")
    assert built.reason == "wrong result: line 17 of the output is '1' instead of ''"


def test_an_illegal_schedule_is_a_mismatch(tmp_path: Path, compiler: Compiler) -> None:
    program = matvec(tmp_path, compiler)
    original = evaluate_original(program, compiler, str(tmp_path / "original"), 1)
    backwards = """
domain: "[N] -> { S0[i] : 0 <= i < N; S1[i, j] : 0 <= i < N and 0 <= j < N }"
child:
  schedule: "[N] -> [{ S0[i] -> [(i)]; S1[i, j] -> [(i)] }, { S0[i] -> [(N)]; S1[i, j] -> [(j)] }]"
"""
    built = evaluate_build(BuildJob(program, compiler, original, str(tmp_path / "sample"), 1, backwards))
    assert built.status == "mismatch"
    assert built.reason.startswith("schedule.yaml:")


def test_a_program_whose_output_changes_cant_be_checked(tmp_path: Path, compiler: Compiler) -> None:
    more = '{ FILE *f = fopen("/proc/self/stat", "r"); int pid = 0; fscanf(f, "%d", &pid); printf("%d\\n", pid); }'
    with pytest.raises(InputError, match="differs from run to run: line 17"):
        evaluate_original(matvec(tmp_path, compiler, more), compiler, str(tmp_path / "original"), 1)


@pytest.mark.parametrize(
    ("more", "message"),
    [("abort();", "its check fails: killed by SIGABRT"), ("no_such = 1;", "can't compile it: .*no_such")],
)
def test_originals_that_fail(more: str, message: str, tmp_path: Path, compiler: Compiler) -> None:
    program = matvec(tmp_path, compiler, "extern void abort(void); " + more)
    with pytest.raises(InputError, match=message):
        evaluate_original(program, compiler, str(tmp_path / "original"), 1)


def test_a_run_has_a_limit(tmp_path: Path, compiler: Compiler) -> None:
    file = tmp_path / "slow.sh"
    file.write_text("#!/bin/sh\nsleep 20\n")
    file.chmod(0o755)
    measured = evaluate_measure(MeasureJob(str(file), 4, 1, 0.2, False))
    assert (measured.status, measured.seconds) == ("timeout", ())
    assert time_limit((0.5, 0.75), 2.0, 10.0) == pytest.approx(6.5)
    assert time_limit((0.001,), 0.001, 10.0) == pytest.approx(1.0)


def test_a_size_that_goes_into_the_text_is_checked_itself(tmp_path: Path, compiler: Compiler) -> None:
    """i * N is no affine expression of i and N: the region is transformed for the value that N has."""
    text = (
        write_matvec(tmp_path)
        .read_text()
        .replace('#include "size.h"', "")
        .replace("a[i][j] * x[j]", "((double *)a)[0] + x[i * N % N]")
    )
    files = (("in.c", text.replace("y[i] = 0;", "y[i * N / N] = 0;").encode()),)
    program = Program(
        "in", "in.c", files, "in.c", size="L", check_size="S", defines=("-DN=16",), check_defines=("-DN=8",)
    )
    assert checkable(program, compiler.path).check_defines == ("-DN=16",)
    assert analysed(program, compiler.path).baked[0]["N"] == 16


def test_differences() -> None:
    def printed(text: str, code: int = 0) -> Output:
        return output_of(Finished(code, text, "", 0.0), is_kernel=False)

    assert difference(printed("a\nb\n"), printed("a\nb\n"), is_kernel=False) is None
    assert difference(printed("a"), printed("a", 1), is_kernel=False) == "exit status 1 instead of 0"
    assert (
        difference(printed("a\nb\n"), printed("a\nc\n"), is_kernel=False)
        == "line 2 of the output is 'c' instead of 'b'"
    )
    assert difference(printed("a\nb"), printed("a"), is_kernel=False) == "the output has 1 lines instead of 2"
