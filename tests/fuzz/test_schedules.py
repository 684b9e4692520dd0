"""Schedules sampled from schedule spaces, checked, and some of them compiled; as many as you like with
`python -m tests.fuzz.schedules`."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.polybench.explore.analysis import analysed
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.walk import random_sample
from tests.fuzz import schedules
from tests.fuzz.schedules import Drawer, Job, checked_tree, jobs, main, soak

KERNELS = ("trisolv", "gemm", "jacobi-1d", "lu")


def job(name: str, folder: Path, wanted: int = 4, compiled: int = 1) -> Job:
    (found,) = jobs([name], wanted, compiled, 1, 60.0, 30.0, folder)
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_schedules_are_legal_and_results_the_same(name: str, tmp_path: Path) -> None:
    found = soak(job(name, tmp_path, compiled=int(name != "lu")))
    assert not found.failures, [failure.reason for failure in found.failures]
    assert found.counts["checked"] == 4
    assert [found.counts[f"by {walk}"] for walk in ("uniform", "bias_select_dep", "bias_coeff_0")] == [2, 1, 1]
    assert found.counts["identical, tiled"] + found.counts["identical, not tiled"] == int(name != "lu")


def test_shares() -> None:
    found = jobs(["gemm", "lu", "trisolv"], 10, 4, 1, 60.0, 10.0, Path("keep"))
    assert sorted((each.wanted, each.compiled) for each in found) == [(3, 1), (3, 1), (4, 2)]
    with pytest.raises(InputError, match="unknown kernel"):
        jobs(["gem"], 10, 4, 1, 60.0, 10.0, Path("keep"))


def test_slow_walks_share_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = job("trisolv", tmp_path)
    (region,) = analysed(made.program, made.compiler.path).regions
    assert region is not None

    def endless(*arguments: object) -> None:
        while True:
            pass

    monkeypatch.setattr(schedules, "random_sample", endless)
    monkeypatch.setattr(schedules, "WALK_SECONDS", 0.05)
    monkeypatch.setattr(schedules, "PER_SPACE", 3)
    drawer = Drawer(region, "trisolv", 1)
    drawn = [drawer.draw(number) for number in range(3)]
    assert [each.how for each in drawn] == [
        f"{walk} in a shared space" for walk in ("uniform", "bias_select_dep", "bias_coeff_0")
    ]
    assert len({each.rows for each in drawn}) > 1
    assert all(not illegal for _, illegal in (checked_tree(region, each.rows) for each in drawn))
    monkeypatch.setattr(schedules, "random_sample", random_sample)
    monkeypatch.setattr(schedules, "WALK_SECONDS", 60.0)
    assert drawer.draw(3).how == "uniform"


# --- its own checks ---------------------------------------------------------------------------------------------------


def test_an_illegal_schedule_is_found_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A space that knows of no dependence: the matrix is fine for it, the tree runs some instances too early."""
    real = schedules.analysed

    def careless(program: object, cc: str) -> object:
        from msgspec.structs import replace

        found = real(program, cc)  # type: ignore[arg-type]
        (region,) = found.regions
        assert region is not None
        problem = replace(region.polytopes.problem, dependences=())
        return replace(found, regions=(replace(region, polytopes=Polytopes(problem)),))

    monkeypatch.setattr(schedules, "analysed", careless)
    found = soak(job("trisolv", tmp_path))
    assert found.failures
    assert found.counts["checked"] == 4
    failure = found.failures[0]
    assert "is not executed in order" in failure.reason
    report = (failure.folder / "report.txt").read_text()
    assert failure.reason in report
    assert "--schedule schedule.yaml" in report
    assert (failure.folder / "schedule.yaml").read_text().startswith("# trisolv.c:")


def test_a_wrong_result_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = schedules.transformed

    def broken(*arguments: object, tile: bool) -> object:
        from msgspec.structs import replace

        result = real(*arguments, tile=tile)  # type: ignore[arg-type]
        return replace(result, text=re.sub(rb"x\[(\w+)\] = ", rb"x[\1] = 1 + ", result.text))

    monkeypatch.setattr(schedules, "transformed", broken)
    found = soak(job("trisolv", tmp_path, wanted=1))
    assert [failure.reason.partition(";")[0].split("[")[0] for failure in found.failures] == ["wrong result: x"]
    assert found.counts["wrong"] == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["--count", "3", "--compile", "0", "--workers", "1", "--kernels", "trisolv", "--keep", str(tmp_path)]) == 0
    )
    printed = capsys.readouterr()
    assert "3 checked" in printed.out
    assert printed.out.endswith("all schedules legal, all results identical\n")
    assert "[ 1/1] trisolv: " in printed.err


def test_draws_depend_on_kernel_seed_and_number_alone(tmp_path: Path) -> None:
    made = job("gemm", tmp_path)
    (region,) = analysed(made.program, made.compiler.path).regions
    assert region is not None
    in_order = [Drawer(region, "gemm", 1).draw(number).rows for number in range(3)]
    one = Drawer(region, "gemm", 1)
    assert [one.draw(number).rows for number in (2, 0, 1)] == [in_order[2], in_order[0], in_order[1]]
    assert random_sample(region.polytopes, "uniform", random.Random("gemm 1 0")).rows == in_order[0]
