from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt.polybench.builds import CHECK_FLAGS, TIMED_FLAGS, BuildError, build, compile_command, transform_command
from scopt.polybench.catalog import Kernel, load_suite, own_suite, select
from scopt.polybench.toolchains import Compiler, Configuration, find_compiler

GCC = Compiler("gcc", "/usr/bin/gcc", False, "")


@pytest.fixture
def kernel() -> Kernel:
    return select(load_suite(own_suite()), ["jacobi-1d"])[0]


def script(folder: Path, text: str) -> str:
    """A source-to-source command: $1 is the source and $3 the output."""
    file = folder / "transform.sh"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def test_flags_are_filled_in() -> None:
    configuration = Configuration(
        "scopt", GCC, (), ("scopt", "{source}", "-o", "{output}", "--cc", "{cc}", "{flags}", "-x")
    )
    command = transform_command(configuration, Path("a b.c"), Path("out.c"), ["-Ii", "-DN=3"])
    assert command == ("scopt", "a b.c", "-o", "out.c", "--cc", "/usr/bin/gcc", "-Ii", "-DN=3", "-x")


def test_libraries_come_last(kernel: Kernel) -> None:
    command = compile_command(kernel, Configuration("polly", GCC, ("-lgomp",)), kernel.source, ["-O3"], Path("p"))
    assert command[-4:] == ("-o", "p", "-lgomp", "-lm")
    assert command.index("-O3") < command.index(str(kernel.source)) < command.index(str(kernel.harness))


def test_original(cc: str, tmp_path: Path, kernel: Kernel) -> None:
    built = build(
        kernel, Configuration("gcc", find_compiler(cc)), ["-DMINI_DATASET"], TIMED_FLAGS, tmp_path / "a/b", 120
    )
    assert built.program.is_file()
    assert (built.transform_seconds, built.unchanged) == (None, False)


def test_a_source_without_marks(cc: str, tmp_path: Path, kernel: Kernel) -> None:
    command = script(tmp_path, 'cat "$1" > "$3"')
    configuration = Configuration("scopt", find_compiler(cc), transform=(command, "{source}", "-o", "{output}"))
    for _ in range(2):
        built = build(
            kernel, replace(configuration, unmarked=True), ["-DMINI_DATASET"], CHECK_FLAGS, tmp_path / "work", 120
        )
        assert built.unchanged
    given, original = (tmp_path / "work/jacobi-1d.c").read_text(), kernel.source.read_text()
    assert [line for line in original.splitlines() if "scop" in line] == ["#pragma scop", "#pragma endscop"]
    assert "scop" not in given
    assert given.splitlines() == ["" if "scop" in line else line for line in original.splitlines()]


def test_transformed(cc: str, tmp_path: Path, kernel: Kernel) -> None:
    command = script(tmp_path, 'echo "$1:1: remark: no [x.y]" >&2; echo "/* $* */" > "$3"; cat "$1" >> "$3"')
    configuration = Configuration(
        "scopt", find_compiler(cc), ("-fopenmp",), (command, "{source}", "-o", "{output}", "{flags}")
    )
    built = build(kernel, configuration, ["-DMINI_DATASET"], CHECK_FLAGS, tmp_path / "work", 120)
    assert built.transform_seconds is not None
    assert not built.unchanged
    assert "remark: no [x.y]" in built.messages
    assert "-DMINI_DATASET" in (tmp_path / "work/jacobi-1d.c").read_text().splitlines()[0]


def test_a_command_without_flags_gets_cpath(cc: str, tmp_path: Path, kernel: Kernel) -> None:
    command = script(tmp_path, 'echo "$CPATH" > cpath; cp "$1" "$3"')
    configuration = Configuration("pluto", find_compiler(cc), (), (command, "{source}", "-o", "{output}"))
    assert build(kernel, configuration, ["-DMINI_DATASET"], CHECK_FLAGS, tmp_path / "work", 120).unchanged
    assert (tmp_path / "work/cpath").read_text().strip() == ":".join(map(str, kernel.includes))


@pytest.mark.parametrize(
    ("text", "stage", "reason"),
    [
        ("echo 'a.c:1:2: error: no' >&2; exit 2", "transform", "a.c:1:2: error: no"),
        ("exit 0", "transform", "wrote no output"),
        ("sleep 30", "transform", "timeout"),
        ('echo "int main(" > "$3"', "compile", "error"),
    ],
)
def test_failures(cc: str, tmp_path: Path, kernel: Kernel, text: str, stage: str, reason: str) -> None:
    configuration = Configuration(
        "scopt", find_compiler(cc), (), (script(tmp_path, text), "{source}", "-o", "{output}", "{flags}")
    )
    with pytest.raises(BuildError) as caught:
        build(
            kernel,
            configuration,
            ["-DMINI_DATASET"],
            CHECK_FLAGS,
            tmp_path / "work",
            0.5 if reason == "timeout" else 120,
        )
    assert caught.value.failure.stage == stage
    assert reason in caught.value.failure.reason


def test_an_old_output_is_not_taken_for_a_new_one(cc: str, tmp_path: Path, kernel: Kernel) -> None:
    (tmp_path / "jacobi-1d.c").write_text(kernel.source.read_text())
    configuration = Configuration(
        "scopt", find_compiler(cc), (), (script(tmp_path, "exit 0"), "{source}", "-o", "{output}")
    )
    with pytest.raises(BuildError, match="wrote no output"):
        build(kernel, configuration, ["-DMINI_DATASET"], CHECK_FLAGS, tmp_path, 120)
