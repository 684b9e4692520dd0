"""Writes `cases.txt`: cases of tests that everyday's runs leave out, since no way through scopt's code is theirs alone.

``python -m tests.seldom.run`` runs all tests, in one process, notes which arcs (lines that follow each other) each case
goes through and how long it takes, and leaves out the most expensive ones first, as long as others go through all of
their arcs. Kept whatever they go through: the last case of a test, cases that take next to no time, and those that
start scopt, or Python, as a program, which is not looked into.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.seldom.listed import CASES

FOLDERS = ("astgen", "frontend", "scheduler", "scopt")
Arc = tuple[str, int, int]
# Seconds of processor time below which a case isn't worth to be left out.
WORTH = 0.2
# Others that have to go through an arc; more in folders whose tests are about faults, which are found or not wherever
# the code goes.
OTHERS = 1
OTHERS_FOR_FAULTS, FAULTS = 3, ("tests/check/",)
# Folders of which nothing is left out: their tests are about texts and programs as a whole, whatever the way to them.
WHOLE = ("tests/golden/", "tests/mutate/", "tests/fuzz/", "tests/polybench/test_general.py")


class Costs:
    """A plugin of pytest: seconds of processor time of each case, its children's too, and which start scopt."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self.cover, self.seconds, self.programs, self.case = cover, dict[str, float](), set[str](), ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begun, self.case = sum(os.times()[:4]), item.nodeid
        self.cover.switch_context(item.nodeid)
        result = yield
        self.seconds[item.nodeid] = sum(os.times()[:4]) - begun
        return result

    def noted(self, start: Callable[..., Any]) -> Callable[..., Any]:
        """A function that starts a program, and notes whether that is scopt."""

        def started(process: Any, args: Any, *more: Any, **named: Any) -> Any:
            words = args if isinstance(args, (str, bytes)) else " ".join(map(str, args))
            if "scopt" in str(words) or "python" in str(words):
                self.programs.add(self.case)
            return start(process, args, *more, **named)

        return started


def arcs_of(data: coverage.CoverageData, root: Path) -> Mapping[str, set[Arc]]:
    """The arcs that each case goes through."""
    found: dict[str, set[Arc]] = {case: set() for case in data.measured_contexts() if case}
    for case, arcs in found.items():
        data.set_query_context(case)
        for file in data.measured_files():
            name = str(Path(file).relative_to(root))
            arcs.update((name, first, second) for first, second in data.arcs(file) or ())
    return found


def left_out(arcs: Mapping[str, set[Arc]], seconds: Mapping[str, float], kept: set[str]) -> list[str]:
    """The cases that can be left out, the most expensive ones first."""
    times = Counter(arc for case in arcs.values() for arc in case)
    alike = Counter(case.partition("[")[0] for case in seconds)
    found = []
    for case in sorted(arcs, key=lambda one: -seconds.get(one, 0)):
        others = OTHERS_FOR_FAULTS if case.startswith(FAULTS) else OTHERS
        test = case.partition("[")[0]
        if seconds.get(case, 0) < WORTH or case in kept or case.startswith(WHOLE) or alike[test] < 2:
            continue
        if any(times[arc] <= others for arc in arcs[case]):
            continue
        times.subtract(arcs[case])
        alike[test] -= 1
        found.append(case)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=["tests"], help="of which tests; other cases stay in the list")
    options = parser.parse_args(arguments)
    root = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        include = [f"{root / name}/*" for name in FOLDERS]
        cover = coverage.Coverage(f"{folder}/arcs", branch=True, include=include, config_file=False)
        costs = Costs(cover)
        subprocess.Popen.__init__ = costs.noted(subprocess.Popen.__init__)  # type: ignore[method-assign]
        os.environ["SCOPT_TEST_ALL"] = ""
        os.environ["SCOPT_TEST_SELDOM"] = "1"
        cover.start()
        status = pytest.main(["-q", "-p", "no:cacheprovider", *options.tests], plugins=[costs])
        cover.stop()
        if status != 0:
            print("some tests fail: the list stays as it was")
            return int(status)
        found = left_out(arcs_of(cover.get_data(), root), costs.seconds, costs.programs)
    found = [case for case in found if str(root) not in case]  # has another name elsewhere
    others = [case for case in CASES.read_text().splitlines() if case not in costs.seconds]
    CASES.write_text("".join(f"{case}\n" for case in sorted({*others, *found})))
    print(
        f"{len(found)} of {len(costs.seconds)} cases, {sum(map(costs.seconds.__getitem__, found)):.0f} s, are left out"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
