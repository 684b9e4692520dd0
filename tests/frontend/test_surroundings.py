"""Whether anything else runs between two runs of a region."""

from __future__ import annotations

import pytest

from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.frontend.region.surroundings import runs_alone
from scopt.options import Options

LOOP = "for (int i = 0; i < n; i++) a[i] = b[i];"


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        (LOOP, False),
        (f"while (n--) {{ {LOOP} double *t = a; a = b; b = t; }}", True),
        (f"while (n--) {{ {LOOP} f(a); }}", False),
        (f"while (n--) {{ {LOOP} do n--; while (n > 9); }}", False),
        (f"while (f(a)) {{ {LOOP} }}", False),
    ],
)
def test_between_runs(body: str, alone: bool) -> None:
    source = f"int f(double *a);\nvoid g(int n, double *a, double *b) {{ {body} }}"
    tu = parse(source.encode(), "x.c", Options())
    (region,) = (one for one in detect(tu).regions if "a[i]" in source[one.start : one.end])
    assert runs_alone(region) is alone
