"""What pays: regions whose work nobody knows are no error."""

from __future__ import annotations

from scopt.astgen.worth import most_work
from scopt.options import Options
from tests.sources import scop_of


def test_how_often_a_loop_runs_that_only_its_outer_one_bounds() -> None:
    machine = Options().machine
    assert most_work(scop_of("for (i = 2; i <= n; i++) for (j = n; j > i; j--) x[j - 2] -= x[j];"), machine) is None
    work = most_work(scop_of("for (i = 2; i <= 50; i++) for (j = 50; j > i; j--) x[j - 2] -= x[j];"), machine)
    assert work is not None
    assert work > 1000
