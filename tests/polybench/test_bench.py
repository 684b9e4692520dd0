"""The command: its arguments, its exit codes, and that an interruption keeps what there is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scopt.polybench.argument_types import joined_values
from scopt.polybench.bench import main
from scopt.polybench.bench_arguments import make_parser
from scopt.polybench.bench_results import Cell, Failure
from scopt.polybench.progress import summary

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["--size", "mini", "--check-size", "MINI", "--runs", "1"]


@pytest.fixture
def fake(tmp_path: Path) -> str:
    """A scopt that copies its input; at durbin it fails, at mvt it hangs."""
    file = tmp_path / "scopt.sh"
    file.write_text(
        '#!/bin/sh\ncase "$1" in *durbin*) echo error: boom >&2; exit 1;; *mvt*) sleep 60;; esac\ncp "$1" "$3"\n'
    )
    file.chmod(0o755)
    return str(file)


def test_a_table_and_json(cc: str, fake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main(["gemm,atax", *QUICK, "--cc", cc, "--scopt-command", fake, "--json", str(out), "--threads", "1"]) == 0
    printed = capsys.readouterr()
    assert [line.split()[0] for line in printed.out.splitlines()[:6:2]] == ["kernel", "gemm", "-------"]
    assert printed.err.startswith(f"[ 1/2] gemm: {cc} ")
    data = json.loads(out.read_text())
    assert list(data["kernels"]) == ["gemm", "atax"]
    assert data["settings"]["threads"] == 1
    assert data["kernels"]["gemm"]["scopt"]["failure"] is None


def test_a_failure_is_a_row(cc: str, fake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["durbin", "atax", *QUICK, "--cc", cc, "--scopt-command", fake]) == 1
    printed = capsys.readouterr().out
    assert "durbin, scopt: transform failed: error: boom" in printed
    assert printed.count("left unchanged") == 1


def test_interruption_keeps_what_there_is(cc: str, fake: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = [
        sys.executable,
        "-m",
        "scopt.polybench.bench",
        "atax",
        "mvt",
        *QUICK,
        "--cc",
        cc,
        "--scopt-command",
        fake,
        "--json",
        str(out),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("[ 1/2] atax")
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert printed.splitlines()[2].startswith("atax")
    assert json.loads(out.read_text())["kernels"]["atax"]["scopt"]["min"] is not None


def test_limits(
    cc: str, fake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scopt.polybench.limits.ceilings._array_bytes", lambda cache: 1 << 22)
    monkeypatch.setattr(
        "scopt.polybench.limits.survey.missing_openblas", lambda compiler: "OpenBLAS can't be used: none here"
    )
    out = tmp_path / "out.json"
    assert (
        main(["gemm", *QUICK, "--cc", cc, "--scopt-command", fake, "--limits", "--threads", "1", "--json", str(out)])
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    start = next(
        number for number, line in enumerate(lines) if line.startswith("Limits of this machine: peak of double: ")
    )
    header, row = lines[start + 2].split(), lines[start + 4].split()
    assert header[:4] + header[-4:] == ["kernel", "Gflop", "needed", "Gdiv", cc, "%", "scopt", "%"]
    assert row[0] == "gemm"
    assert "OpenBLAS can't be used: none here" in lines
    data = json.loads(out.read_text())
    assert data["limits"]["kernels"]["gemm"]["written"]["flops"] == 3 * 20 * 25 * 30 + 20 * 25
    assert data["limits"]["kernels"]["gemm"]["fractions"]["scopt"] > 0
    assert "openblas" not in data["kernels"]["gemm"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gem"], "unknown kernel 'gem'; did you mean gemm"),
        (["--suite", "/no/such/tree"], "no such folder"),
        (["--cc", "no-such-cc"], "compiler 'no-such-cc' is not on the PATH"),
        (["--json", "/no/such/folder/out.json"], "--json /no/such/folder/out.json: No such file or directory"),
        (["--plot", "speedups.txt"], "has to end in .svg"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scopt-command", "true", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "HUGE"], "unknown size 'HUGE'"),
        (["--against", "icc"], "unknown peer 'icc'"),
        (["--defs", "N=5"], "'N=5' is not of the form -DNAME=VALUE"),
        (["--runs", "0"], "'0' is not a positive whole number"),
        (["--timeout", "-3"], "'-3' is not a number of seconds"),
        (["--cc", ","], "a list of names"),
        (["--scopt-flags", "'x"], "No closing quotation"),
    ],
)
def test_bad_words(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_a_value_may_start_with_a_dash() -> None:
    words = ["--defs", "-DN=5", "--scopt-flags", "--tile-size 16", "lu"]
    options = make_parser().parse_args(joined_values(words, ("--defs", "--scopt-flags")))
    assert (options.defs, options.scopt_flags, options.kernels) == (("-DN=5",), ("--tile-size", "16"), ["lu"])


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "lu", "atax"]) == 0
    assert capsys.readouterr().out == "lu\natax\n"


def test_a_missing_peer_is_a_warning(
    cc: str, fake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = __import__("shutil").which
    monkeypatch.setattr("shutil.which", lambda name: None if name == "polycc" else find(name))
    assert main(["atax", *QUICK, "--cc", cc, "--scopt-command", fake, "--against", "pluto"]) == 0
    assert "warning: left out pluto: polycc is not on the PATH" in capsys.readouterr().err


def test_help_names_the_exit_codes() -> None:
    text = make_parser().format_help()
    assert all(word in text for word in ("exit status:", "130  interrupted", "examples:", "--against", "--check-size"))


def test_summary() -> None:
    row = {"gcc": Cell((2.0,)), "scopt": Cell((0.5,)), "polly": Cell(failure=Failure("run", "timeout"))}
    assert summary("gemm", row, "gcc") == "gemm: gcc 2 s, scopt 4.00x, polly run failed"
    assert summary("lu", {}, "gcc") == "lu: nothing measured"
