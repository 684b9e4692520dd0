"""Faults in what scopt's steps make are refused: a sample here, as many as you like with `make mutate`."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import EVERYTHING
from tests.mutate import harness
from tests.mutate.harness import Places, Planted, judged, places_of, plant
from tests.mutate.judge import Judge, forced
from tests.mutate.mutations import STEPS
from tests.mutate.races import told
from tests.mutate.run import drawn_jobs, table
from tests.mutate.source import Source
from tests.mutate.sources import SOURCES

# A few that are quickly made, and take all steps together.
SAMPLE = tuple(
    one
    for one in SOURCES
    if one.name
    in (
        "cholesky",
        "jacobi",
        "layers",
        "sweep",
        "records",
        "rounds",
        "polynomial",
        "histogram",
        "work",
        "candidates",
        "rows",
        "shifted",
        "chosen",
        "stepped",
        "handed",
        "conditions",
        "search",
        "peaks",
        "nearest",
        "correlation",
        "distances",
        "lanes",
        "deviations",
        "windows",
        "narrow",
        "ending",
        "divided",
        "fetched",
        "placed",
        "blocks",
        "picked",
        "alignment",
        "bytes",
        "escapes",
    )
)
BY_NAME = {one.name: one for one in SOURCES}


@pytest.fixture(scope="module")
def histogram() -> Places:
    return places_of(BY_NAME["histogram"])


def test_a_sample_over_all_steps(tmp_path: Path) -> None:
    """In one test, since most of the time goes into the places, of which every step has to have some."""
    places = [places_of(one) for one in SAMPLE]
    assert {step for one in places for step, kinds in one.kinds.items() if kinds} >= {*STEPS}
    found: list[Planted] = []
    for job in drawn_jobs(SAMPLE, places, STEPS, 10, 8 if EVERYTHING else 4):
        found += plant(job.source, job.attempt, job.plan, tmp_path)
    survivors = [one for one in found if one.verdict == "survived"]
    assert not survivors, "\n".join(f"{one.name}: {one.kind}, {one.place}: {one.why}" for one in survivors)
    # the others change nothing: how many of a few there are is chance
    assert Counter(one.verdict for one in found)["refused"] >= len(found) / 3, table(found)


def test_the_same_faults_each_time(histogram: Places) -> None:
    again = places_of(BY_NAME["histogram"])
    assert again == histogram
    assert again.drawn("print", 9, random.Random(1)) == histogram.drawn("print", 9, random.Random(1))


@pytest.mark.parametrize("name", ["filter", "histogram"])
def test_results_without_faults_are_right(name: str, tmp_path: Path) -> None:
    assert judged(BY_NAME[name], tmp_path) == ""


def test_without_the_proof_faults_survive(monkeypatch: pytest.MonkeyPatch, histogram: Places, tmp_path: Path) -> None:
    """The harness's own check."""
    monkeypatch.setattr(harness.attempts, "check_program", lambda *arguments: None)
    source = BY_NAME["histogram"]
    kinds = histogram.kinds["loops"]
    wanted = (("upper bound: - 1", 0), ("reduction dropped", 0), ("item doubled", -1))  # clearing twice is harmless
    numbers = tuple([k for k, (kind, _) in enumerate(kinds) if kind == one][which] for one, which in wanted)
    found = plant(source, 1, {"loops": numbers}, tmp_path)
    assert [one.verdict for one in found] == ["survived"] * 3


SHARED = Source(
    "shared",
    """
void kernel(int n, int m, double *a, double *b)
{
  double t;
  #pragma omp parallel for %s
  for (long i = 0; i < n; i++) {
    t = a[i] * 2.0;
    b[%s] = t;
  }
}
""",
    "MADE(double, a, n, i) MADE(double, b, n, 0) kernel(n, m, a, b); DONE(a, n) DONE(b, n)",
    ((9, 1),),
)


@pytest.mark.parametrize(
    ("clause", "subscript", "race"),
    [("private(t)", "i", False), ("private(t)", "i / 2", True), ("schedule(static)", "i / 2", True)],
)
def test_races_are_found_one_iteration_after_the_other(clause: str, subscript: str, race: bool, tmp_path: Path) -> None:
    text = SHARED.text % (clause, subscript)
    plain = Source("plain", text.replace("#pragma omp", "// "), SHARED.body, SHARED.sizes)
    assert (Judge(plain, tmp_path).races(text) == "a data race") == race


def test_loops_are_told_apart_by_their_indentation() -> None:
    text = "#pragma omp simd\nfor (long i = 0; i < n; i++)\n  a[i] = 0;\nb = 1;\n"
    assert told(text).splitlines()[-4:] == ["  a[i] = 0;", "}", "race_end(); }", "b = 1;"]


def test_parallel_loops_run_however_small_they_are() -> None:
    text = (
        "if (n > 50000) {\n  #pragma omp parallel for reduction(+: h)\n  for (;;)\n    "
        "h[i]++;\n} else {\n  for (;;)\n    h[i] += 2;\n}\n"
    )
    assert forced(text).startswith("if (1) {")
    assert forced("#pragma omp parallel for if(parallel: n > (3)) private(t)") == "#pragma omp parallel for private(t)"
