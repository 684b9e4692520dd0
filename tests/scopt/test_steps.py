"""`--print-passes` and `--print-after`."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import optimize
from scopt.cli import main
from scopt.options import Options
from scopt.steps import STEPS

SOURCE = """
void f(int n, double a[n][n], double b[n][n], double c[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


PLAIN = """
void f(int n, double a[n], double b[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = b[i];
#pragma endscop
}
"""


def after(step: str, source: str = SOURCE) -> str:
    (region,) = optimize(source, Options(print_after=step)).regions
    assert region.transformed
    return region.explanation


def test_the_steps_are_listed_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [name for name, _ in STEPS]


@pytest.mark.parametrize("step", [name for name, _ in STEPS])
def test_each_step_can_be_looked_at(step: str) -> None:
    assert f"after {step}:" in after(step, PLAIN)


def test_a_nest_changes_from_step_to_step() -> None:
    loops, calls = after("loops"), after("kernel-calls")
    assert "scopt_tile" not in loops
    assert "scopt_tile" in calls


def test_the_text_that_is_written_is_the_same() -> None:
    assert optimize(SOURCE, Options(print_after="loops")).text == optimize(SOURCE).text


def test_unknown_steps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(SOURCE)
    with pytest.raises(SystemExit):
        main(["--print-after", "nowhere", str(file)])
    assert "--print-passes lists them" in capsys.readouterr().err
