"""Work in a process of its own: results come back, time limits hold, crashes stay there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial

from scopt.isolation import Attempt, Failed, Finished, Task, run_isolated, run_tasks
from scopt.stage_clock import Clock


def test_value_comes_back() -> None:
    assert run_isolated(lambda: (1, "x"), 10) == Finished((1, "x"))


def test_limit_holds() -> None:
    start = time.monotonic()
    outcome = run_isolated(lambda: time.sleep(60), 0.1)
    assert isinstance(outcome, Failed)
    assert outcome.timed_out
    assert time.monotonic() - start < 30


def test_the_limit_is_one_of_processor_time() -> None:
    assert run_isolated(lambda: time.sleep(1), 0.5) == Finished(None)
    outcome = run_isolated(_busy, 0.5)
    assert isinstance(outcome, Failed)
    assert outcome.timed_out
    assert outcome.message == "not finished after 0.5 s"


def test_what_is_ended_has_told_where_it_was() -> None:
    clock = Clock()

    def work() -> None:
        with clock("extract"):
            pass
        with clock("dependences"):
            _busy()

    outcome = run_isolated(work, 0.2)
    assert isinstance(outcome, Failed)
    assert outcome.stage == "dependences"


def test_what_has_come_to_a_late_stage_has_more_time() -> None:
    clock = Clock()

    def work(stages: str) -> None:
        for stage in stages.split():
            with clock(stage):
                end = time.process_time() + 0.2
                while time.process_time() < end:
                    pass

    cases = (("first late", 0, False), ("first late" + 5 * " last", 1.2, True), (4 * "first ", 0.6, False))
    for stages, limit, longer in cases:
        (outcome,) = run_tasks([_once(partial(work, stages))], 1)
        assert (outcome == Finished(None)) == (not limit)
        if isinstance(outcome, Failed):
            assert (outcome.late > 0) == longer
            assert outcome.message == f"not finished after {limit} s"


def _once(work: Callable[[], None]) -> Task[None, Finished[None] | Failed]:
    return (yield Attempt(work, 0.6, more=0.6, late=frozenset({"late", "last"})))


def _busy() -> None:
    while True:
        pass


def test_exception_is_a_failure() -> None:
    outcome = run_isolated(lambda: 1 // 0, 10)
    assert isinstance(outcome, Failed)
    assert "ZeroDivisionError" in outcome.message


def test_crash_is_a_failure() -> None:
    outcome = run_isolated(lambda: os.kill(os.getpid(), signal.SIGKILL), 10)
    assert isinstance(outcome, Failed)
    assert not outcome.timed_out
