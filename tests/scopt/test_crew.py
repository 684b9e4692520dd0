"""Checks side by side: all have held, or what one raised is raised."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scopt.crew import Crew
from scopt.diagnostics import InternalError, Location
from scopt.isolation import Failed, run_isolated


def nothing() -> None:
    pass


def refuse() -> None:
    raise InternalError(f"{Location('in.c', 3)}: a fault")


def together(jobs: int, *checks: Callable[[], None]) -> None:
    with Crew(jobs) as crew:
        for check in checks:
            crew.begin(check)


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("where", range(4))
def test_what_one_raises_is_raised(jobs: int, where: int) -> None:
    checks: list[Callable[[], None]] = [nothing] * 4
    checks[where] = refuse
    with pytest.raises(InternalError, match=r"in\.c:3: a fault"):
        together(jobs, *checks)


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_all_are_done(jobs: int, tmp_path: Path) -> None:
    with Crew(jobs) as crew:
        for number in range(6):
            crew.begin((tmp_path / str(number)).touch)
    assert sorted(one.name for one in tmp_path.iterdir()) == list("012345")


def test_work_goes_on_beside_this_process(tmp_path: Path) -> None:
    def note() -> None:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.3)

    with Crew(3) as crew:
        for _ in range(3):
            crew.begin(note)
    found = {int(one.name) for one in tmp_path.iterdir()}
    assert len(found) == 3
    assert os.getpid() in found


def test_errors_that_cannot_travel_are_told() -> None:
    class Own(Exception):
        pass

    def fail() -> None:
        raise Own("of a function")

    with pytest.raises(InternalError, match="Own: of a function"):
        together(2, fail)


def test_a_process_that_dies_is_no_proof() -> None:
    with pytest.raises(InternalError, match="died"):
        together(2, lambda: os._exit(3))
    with pytest.raises(InternalError, match="died"):
        together(2, lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_nobody_is_left_where_the_work_itself_fails() -> None:
    found: list[int] = []

    def work() -> None:
        with Crew(2) as crew:
            crew.begin(lambda: time.sleep(60))
            found.append(crew.members[0].pid)
            refuse()

    with pytest.raises(InternalError, match="a fault"):
        work()
    with pytest.raises(ChildProcessError):
        os.waitpid(found[0], 0)


def test_the_time_of_a_process_is_that_of_its_members() -> None:
    def busy() -> None:
        while True:
            pass

    def work() -> None:
        with Crew(2) as crew:
            crew.begin(busy)

    ended = run_isolated(work, 0.2)
    assert isinstance(ended, Failed)
    assert ended.timed_out
