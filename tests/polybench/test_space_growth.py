"""`scopt-schedule-bench --spaces`: what it measures, its table and JSON, its arguments."""

from __future__ import annotations

import json
import re
import time
from functools import partial
from pathlib import Path

import pytest

from scopt.diagnostics import Location, Refusal
from scopt.ir.scop import Dependences, Scop
from scopt.poly.dependences import dependences
from scopt.polybench import space_growth as spaces
from scopt.polybench.scheduling import main
from scopt.polybench.space_growth import (
    Episode,
    Generated,
    MeasuredSpaces,
    SpacePlan,
    measure_spaces,
    overall,
    space_lines,
    spaces_as_json,
)
from tests.sources import scop_of

STENCIL = "for (i = 1; i < n; i++) { x[i] = x[i - 1] + 1; y[i] = x[i] + y[i - 1]; }"
COPY = "for (i = 0; i < n; i++) x[i] = i;"


def regions(*bodies: str) -> list[tuple[Scop, Dependences]]:
    return [(scop, dependences(scop)) for scop in map(scop_of, bodies)]


# --- measuring --------------------------------------------------------------------------------------------------------


def test_all_regions_are_measured() -> None:
    found = measure_spaces("two", partial(regions, STENCIL, COPY), SpacePlan(episodes=4))
    assert (found.statements, found.dependences, len(found.episodes), found.failure) == (3, 3, 4, "")
    # An iterator, the parameter n and a constant for every statement.
    assert found.columns == 9
    # The second region has nothing to carry: one dimension of unconstrained statements.
    assert all(len(episode.polyhedra) >= 2 for episode in found.episodes)
    assert all(one.seconds > 0 and one.vertices >= 1 and one.rays >= 1 and not one.partial for one in found.polyhedra)


def test_choices_depend_on_the_name_alone() -> None:
    first, again, other = (
        measure_spaces(name, partial(regions, STENCIL), SpacePlan(episodes=6)) for name in ("a", "a", "b")
    )
    shapes = [
        [[(one.vertices, one.rays) for one in episode.polyhedra] for episode in found.episodes]
        for found in (first, again, other)
    ]
    assert shapes[0] == shapes[1] != shapes[2]


def test_a_certain_choice_takes_the_least_dimensions() -> None:
    found = measure_spaces("a", partial(regions, STENCIL), SpacePlan(episodes=2, probability=1.0))
    assert [len(episode.polyhedra) for episode in found.episodes] == [1, 1]


def test_the_limit_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*arguments: object) -> Generated:
        time.sleep(0.2)
        return Generated(0.2, 1, 1, 1, False)

    monkeypatch.setattr(spaces, "_generated", slow)
    found = measure_spaces("a", partial(regions, STENCIL), SpacePlan(episodes=20, probability=1.0, limit=0.9))
    assert 1 <= len(found.episodes) < 20  # an alarm may come late
    assert found.failure == f"episode {len(found.episodes) + 1} of 20: not finished after 0.9 s"


def test_what_cant_be_analysed_is_a_failure() -> None:
    def refused() -> list[tuple[Scop, Dependences]]:
        raise Refusal("loop.shape", "not a loop", Location("in.c", 3, 1), "write one")

    found = measure_spaces("odd", refused, SpacePlan())
    assert found == MeasuredSpaces(failure="in.c:3:1: not a loop")


# --- figures ----------------------------------------------------------------------------------------------------------

RESULTS = {
    "a": MeasuredSpaces(
        2,
        6,
        3,
        0.5,
        (
            Episode(0.25, (Generated(0.5, 1, 10, 1, False), Generated(0.25, 3, 11, 2, False))),
            Episode(0.25, (Generated(2.0, 1, 12, 1, True),)),
        ),
    ),
    "b": MeasuredSpaces(4, 9, 5, 0.5, (), "episode 1 of 2: not finished after 1 s"),
}


def test_lines() -> None:
    cells = ["3", "0.5000", "2.000", "1, 3", "11, 12", "1", "1"]
    failed = ["b", "4", "9", "5", "failed", *[""] * 7]
    assert space_lines(RESULTS) == [["a", "2", "6", "3", "1–2", *cells], failed]
    assert overall(RESULTS) == ["all", "", "", "", "", *cells]
    assert overall({}) == ["all", *[""] * 11]


def test_json() -> None:
    data = json.loads(spaces_as_json(RESULTS, SpacePlan(episodes=2)))
    assert data["settings"]["episodes"] == 2
    assert data["files"]["a"]["episodes"][0]["polyhedra"][1] == {
        "seconds": 0.25,
        "vertices": 3,
        "rays": 11,
        "groups": 2,
        "partial": False,
    }
    assert data["files"]["b"]["failure"]


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    out = tmp_path / "out.json"
    assert main(["trisolv", "--spaces", "2", "--select-probability", "0.9", "--json", str(out)]) == 0
    printed = capsys.readouterr()
    assert all(word in printed.out for word in ("trisolv", "polyhedra", "2 constructions each, with probability 0.9"))
    assert printed.err == "[ 1/1] trisolv\n"
    data = json.loads(out.read_text())
    assert (data["settings"]["limit"], data["settings"]["probability"]) == (600.0, 0.9)
    assert len(data["files"]["trisolv"]["episodes"]) == 2


def test_a_failure_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    assert main(["trisolv", "--spaces", "2", "--timeout", "0.0001"]) == 1
    # A process is ended at the next tick of the system's clock:
    # the first episode may be done by then, the second isn't begun.
    assert re.search("trisolv: episode [12] of 2: not finished after 0.0001 s", capsys.readouterr().out)


def test_growing_sources_have_spaces_too(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    assert main(["--growth", "5", "--spaces", "1"]) == 0
    assert "5 statements" in capsys.readouterr().out


def test_bad_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--growth", "5", "--spaces", "--plot", "a.svg"]) == 2
    assert "not --spaces" in capsys.readouterr().err
    for arguments in (
        ["--spaces", "0"],
        ["--spaces", "--select-probability", "1.5"],
        ["--spaces", "--select-probability", "0"],
    ):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
