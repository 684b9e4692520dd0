"""Worker processes: values in order, a job that kills its process, and none of them left behind."""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest

from scopt.polybench.explore.pool import workers


def test_values_in_order_and_a_job_that_kills_its_process() -> None:
    with workers(2) as pool:
        jobs = ["1 + 1", "__import__('os')._exit(1)", "2 + 2", "3 + 3"]
        assert list(pool.each(eval, jobs, lambda job: f"died: {job[:12]}")) == [2, "died: __import__('", 4, 6]
        assert list(pool.each(abs, [-1, 2], abs)) == [1, 2]
        with pytest.raises(ZeroDivisionError):
            list(pool.each(eval, ["1 // 0"], abs))


def test_workers_end_at_once() -> None:
    with workers(2) as pool:
        pids = set(pool.each(eval, ["__import__('os').getpid()"] * 4, str))
        started = time.monotonic()
        ahead = pool.each(eval, ["0", "__import__('time').sleep(60)"], str)
        assert next(ahead) == 0
    assert time.monotonic() - started < 15
    # a pool that was shut down without waiting for it may still be about to collect them
    while pids & {child.pid for child in multiprocessing.active_children()} and time.monotonic() - started < 30:
        time.sleep(0.01)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
