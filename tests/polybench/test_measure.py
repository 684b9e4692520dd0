"""One kernel through everything, with scripts in place of scopt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt.polybench.bench_results import Cell, Failure
from scopt.polybench.builds import Built
from scopt.polybench.catalog import Kernel, load_suite, own_suite, select
from scopt.polybench.measure import Plan, measure, parse_seconds
from scopt.polybench.toolchains import Compiler, Configuration, find_compiler

PLAN = Plan(("-DMINI_DATASET",), ("-DMINI_DATASET",), 2, 2, 60)


@pytest.fixture
def kernel() -> Kernel:
    return select(load_suite(own_suite()), ["jacobi-1d"])[0]


@pytest.fixture
def compiler(cc: str) -> Compiler:
    return find_compiler(cc)


def scripted(folder: Path, name: str, compiler: Compiler, text: str) -> Configuration:
    """A configuration that transforms with a shell script: $1 is the source and $3 the output."""
    file = folder / f"{name}.sh"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return Configuration(name, compiler, ("-fopenmp",), (str(file), "{source}", "-o", "{output}", "{flags}"))


def measured(
    kernel: Kernel, configurations: list[Configuration], folder: Path, plan: Plan = PLAN
) -> tuple[dict[str, Cell], list[str]]:
    activities: list[str] = []
    return dict(measure(kernel, configurations, plan, folder / "work", activities.append)), activities


def test_round_robin(tmp_path: Path, kernel: Kernel, compiler: Compiler) -> None:
    copy = scripted(tmp_path, "copy", compiler, 'echo "$1:1: remark: left alone [x.y]" >&2; cp "$1" "$3"')
    cells, activities = measured(kernel, [Configuration("gcc", compiler), copy], tmp_path)
    assert [text for text in activities if text.startswith("run")] == [
        "run 1 of 2: gcc",
        "run 1 of 2: copy",
        "run 2 of 2: gcc",
        "run 2 of 2: copy",
    ]
    assert [len(cell.seconds) for cell in cells.values()] == [2, 2]
    assert cells["gcc"].transform_seconds is None
    assert cells["copy"].transform_seconds is not None
    assert cells["copy"].note == f"left unchanged: {kernel.source}:1: remark: left alone [x.y]"


def test_references_run_with_the_others(tmp_path: Path, kernel: Kernel, compiler: Compiler) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 0.25\n")
    program.chmod(0o755)
    activities: list[str] = []
    others = {"blas": Built(program, 1.5), "broken": Failure("compile", "boom")}
    cells = dict(measure(kernel, [Configuration("gcc", compiler)], PLAN, tmp_path / "work", activities.append, others))
    assert [text for text in activities if text.startswith("run")] == [
        "run 1 of 2: gcc",
        "run 1 of 2: blas",
        "run 2 of 2: gcc",
        "run 2 of 2: blas",
    ]
    assert cells["blas"] == Cell((0.25, 0.25), compile_seconds=1.5)
    assert cells["broken"] == Cell(failure=Failure("compile", "boom"))


def test_a_wrong_result_is_not_timed(tmp_path: Path, kernel: Kernel, compiler: Compiler) -> None:
    # a difference that two decimals don't show
    wrong = scripted(tmp_path, "wrong", compiler, 'sed "s/0.33333 /0.333330000001 /" "$1" > "$3"')
    cells, _ = measured(kernel, [Configuration("gcc", compiler), wrong], tmp_path)
    failure = cells["wrong"].failure
    assert failure is not None
    assert failure.stage == "check"
    assert failure.reason.startswith("wrong result: A[1] is 0.")
    assert cells["wrong"].seconds == ()
    assert len(cells["gcc"].seconds) == 2


def test_to_a_tolerance(tmp_path: Path, kernel: Kernel, compiler: Compiler) -> None:
    slightly = scripted(tmp_path, "slightly", compiler, 'sed "s/0.33333 /0.333330000001 /" "$1" > "$3"')
    loose, tight = replace(slightly, name="loose", tolerance=1e-9), replace(slightly, name="tight", tolerance=1e-14)
    cells, _ = measured(kernel, [loose, tight], tmp_path)
    assert cells["loose"].failure is None
    assert re.fullmatch(r"largest relative difference \d\.\de-1[0-3]", cells["loose"].note)
    assert cells["tight"].failure is not None


def test_failures_stay_in_their_cell(tmp_path: Path, kernel: Kernel, compiler: Compiler) -> None:
    crash = scripted(tmp_path, "crash", compiler, 'sed "s/int t, i;/int t, i; abort();/" "$1" > "$3"')
    broken = scripted(tmp_path, "broken", compiler, "echo error: boom >&2; exit 1")
    cells, _ = measured(kernel, [Configuration("gcc", compiler), crash, broken], tmp_path)
    assert {name: cell.failure.stage for name, cell in cells.items() if cell.failure} == {
        "crash": "check",
        "broken": "transform",
    }
    assert cells["crash"].failure is not None
    assert cells["crash"].failure.reason == "killed by SIGABRT"
    assert len(cells["gcc"].seconds) == 2


def test_a_timed_run_that_hangs(tmp_path: Path, kernel: Kernel, compiler: Compiler) -> None:
    hanging = '{ echo "#include <unistd.h>"; sed "s/int t, i;/int t, i; for (;;) sleep(1);/" "$1"; } > "$3"'
    text = f'case "$*" in *-DN=31*) {hanging};; *) cp "$1" "$3";; esac'
    plan = Plan(("-DMINI_DATASET", "-DN=31"), ("-DMINI_DATASET",), 2, 1, 5)
    cells, activities = measured(
        kernel, [Configuration("gcc", compiler), scripted(tmp_path, "hang", compiler, text)], tmp_path, plan
    )
    assert cells["hang"].failure is not None
    assert cells["hang"].failure.stage == "run"
    assert cells["hang"].failure.reason.startswith("timeout")
    assert activities.count("run 2 of 2: hang") == 0
    assert len(cells["gcc"].seconds) == 2


def test_an_original_that_fails(tmp_path: Path, compiler: Compiler) -> None:
    source = tmp_path / "bad.c"
    source.write_text("#pragma scop\nint main(void) { return 5; }\n")
    kernel = Kernel("bad", source, (own_suite(),), own_suite() / "polybench.c")
    cells, _ = measured(
        kernel, [Configuration("gcc", compiler), scripted(tmp_path, "copy", compiler, 'cp "$1" "$3"')], tmp_path
    )
    assert cells["gcc"].failure is not None
    assert cells["gcc"].failure.reason == "exit code 5"
    assert cells["copy"].failure is not None
    assert cells["copy"].failure.reason == "the original fails: check: exit code 5"


def test_parse_seconds() -> None:
    assert parse_seconds("noise\n0.123456\n") == 0.123456
    assert parse_seconds("") is None
    assert parse_seconds("none") is None
