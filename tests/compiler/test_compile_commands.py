"""scopt -p: the flags of a build for one file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scopt import cli
from scopt.compiler.compile_commands import flags_of
from scopt.diagnostics import InputError


def database(folder: Path, *entries: dict[str, object]) -> str:
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return str(folder)


@pytest.mark.parametrize("form", ["arguments", "command"])
def test_both_forms(tmp_path: Path, form: str) -> None:
    command = (
        "ccache gcc -I inc -I/abs -DX=1 -D Y=2 -UZ -std=gnu11 -include cfg.h -include "
        "other.h -isystem s -iquote q -O2 -Wall -fwrapv -m32 -MD -MF a -c -o a.o a.c"
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b/cfg.h").write_text("")
    value: object = command if form == "command" else command.split()
    b = f"{tmp_path}/b"
    folder = database(
        tmp_path, {"directory": str(tmp_path), "file": "x.c", form: value}, {"directory": b, "file": "a.c", form: value}
    )
    assert flags_of(folder, f"{b}/../b/a.c") == (
        "-I",
        f"{b}/inc",
        "-I",
        "/abs",
        "-DX=1",
        "-D",
        "Y=2",
        "-UZ",
        "-std=gnu11",
        "-include",
        f"{b}/cfg.h",
        "-include",
        "other.h",
        "-isystem",
        f"{b}/s",
        "-iquote",
        f"{b}/q",
        "-fwrapv",
        "-m32",
    )


def test_response_files_and_quotes(tmp_path: Path) -> None:
    (tmp_path / "words").write_text('"-DTEXT=\\"a b\\""')
    folder = database(tmp_path, {"directory": str(tmp_path), "file": "a.c", "command": "cc @words '-DOTHER=c d' a.c"})
    assert flags_of(folder, str(tmp_path / "a.c")) == ('-DTEXT="a b"', "-DOTHER=c d")


@pytest.mark.parametrize("text", ["", "{", "{}", "[1]", '[{"file": "a.c"}]', "[]"])
def test_what_is_no_database_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    with pytest.raises(InputError, match=r"compile_commands\.json: error"):
        flags_of(str(tmp_path), "a.c")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text("double A[N];\nvoid f(void)\n{\n  for (int i = 0; i < N; i++)\n    A[i] = 1;\n}\n")
    words = ["--autodetect", "--eager", str(tmp_path / "a.c"), "-o", str(tmp_path / "out.c")]
    assert cli.main(words) == 0
    assert "transformed" not in capsys.readouterr().err
    database(tmp_path, {"directory": str(tmp_path), "file": "a.c", "command": "cc -DN=100 -c a.c"})
    assert cli.main(["-p", str(tmp_path), *words]) == 0
    assert "[region.transformed]" in capsys.readouterr().err
    assert cli.main(["-p", str(tmp_path / "missing"), *words]) == 2


def test_where_the_files_for_cmake_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--cmake-dir"]) == 0
    assert (Path(capsys.readouterr().out.strip()) / "scoptConfig.cmake").is_file()
