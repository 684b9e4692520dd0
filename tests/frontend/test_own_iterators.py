"""Variables that loops step, and that are used for something else, too."""

from __future__ import annotations

import pytest

from tests.sources import scop_of

USED = "for (i = 0; i < n; i++) { t = (int)x[i]; if (t < n) y[t] += 1; }"


@pytest.mark.parametrize(
    "body",
    [
        f"for (t = 0; t < n; t++) y[t] = 0; {USED}",
        f"{USED} for (t = n; t > 0; t--) y[t] = 0;",
        "for (i = 0; i < n; i++) { for (t = 0; t < m; t++) A[i][t] = 0; t = (int)x[i]; y[t] = 1; }",
    ],
)
def test_loops_get_iterators_of_their_own(body: str) -> None:
    scop = scop_of(body)
    assert "t" in scop.arrays
    stepping = [s for s in scop.statements if "t_2" in s.iterators]
    assert len(stepping) == 1
    assert not any(access.array == "t" for access in stepping[0].accesses)


def test_a_value_that_is_read_behind_the_loop_is_left_there() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { for (t = 0; t < m; t++) A[i][t] = 0; if (x[i] > 0) t = 3; y[t] = 1; }")
    assert sum(access.array == "t" and access.is_write for s in scop.statements for access in s.accesses) == 2
