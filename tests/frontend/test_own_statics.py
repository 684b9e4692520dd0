"""Static variables that nobody but a region works with."""

from __future__ import annotations

import pytest

from tests.sources import scop_of

BODY = "for (i = 0; i < n; i++) { for (j = 0; j < 9; j++) w[j] = x[i] * j; for (j = 0; j < 9; j++) y[i] += w[j]; }"


@pytest.mark.parametrize(
    ("before", "after", "private"),
    [
        ("static double w[40]; /* w */", "", True),
        ("static double v[3], w[40];", "i = sizeof(v); // w", True),
        ("double w[40];", "", False),
        ("static double w[40]; double first(void) { return w[0]; }", "", False),
        ("static double w[40];\n#define FIRST w[0]", "", False),
        ("static double w[40];\n#ifdef DUMP\ndouble first(void) { return w[0]; }\n#endif", "", False),
        ("static double w[40];\n#define PASTE(a, b) a##b\n#define V PASTE(, w)", "s = V[0];", False),
        ("static double w[40];", "s = w[0];", False),
        ("static double w[40]; static double *p = w;", "", False),
    ],
)
def test_work_arrays_at_file_scope(before: str, after: str, private: bool) -> None:
    assert scop_of(BODY, before=before, after=after).arrays["w"].private == private


def test_what_an_earlier_run_left_is_no_work() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { y[i] = w[0]; w[0] = x[i]; }", before="static double w[40];")
    assert not scop.arrays["w"].private
