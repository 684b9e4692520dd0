from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.polybench.argument_types import names_among
from scopt.polybench.bench_arguments import make_parser
from scopt.polybench.suite_command import exit_status, kernels_of, save
from scopt.polybench.toolchains import PEERS


def test_kernels_by_words() -> None:
    assert [kernel.name for kernel in kernels_of(None, ["lu,gemm", "atax", ","])] == ["lu", "gemm", "atax"]
    assert len(kernels_of(None, [])) == 30
    with pytest.raises(InputError, match="did you mean gemm"):
        kernels_of(None, ["lu,gem"])


def test_results_are_saved_where_asked_for(tmp_path: Path) -> None:
    save(None, "{}")
    save(tmp_path / "out.json", "{}")
    assert (tmp_path / "out.json").read_text() == "{}\n"
    with pytest.raises(InputError, match=r"--json .*missing/out\.json: No such file"):
        save(tmp_path / "missing" / "out.json", "{}")


def test_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> int:
        raise InputError("no such suite")

    def interrupted() -> int:
        raise KeyboardInterrupt

    assert [exit_status("bench", command) for command in (lambda: 1, fails, interrupted)] == [1, 2, 130]
    assert capsys.readouterr().err == "bench: error: no such suite\n"


def test_names_among() -> None:
    assert names_among("b, a,b", "letter", ("a", "b")) == ("b", "a")
    with pytest.raises(argparse.ArgumentTypeError, match=r"unknown letter 'c' \(known: a, b\)"):
        names_among("a,c", "letter", ("a", "b"))


def test_all_peers() -> None:
    assert make_parser().parse_args(["--against", "all"]).against == PEERS
    assert make_parser().parse_args(["--against", "pluto,polly"]).against == ("pluto", "polly")
