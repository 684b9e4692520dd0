"""Products that variables hold from in front of a region, in subscripts."""

from __future__ import annotations

import pytest

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options

COPY = "for (int t = 0; t < f; t++) for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)"
PLANES = f"{COPY} a[t * size + y * w + x] = b[(t + 1) * size + y * w + x];"


def scop(before: str, body: str = PLANES, after: str = "") -> Scop:
    source = f"""long bound;
void g(int *);
void k(int f, int h, int w, double *restrict a, double *restrict b) {{
{before}
#pragma scop
{body}
#pragma endscop
{after} }}"""
    tu = parse(source.encode(), "in.c", Options())
    return extract(tu, tu.regions[0], "scop0")


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("int size = h * w;", PLANES),
        ("int size = w * h;", f"{COPY} {{ int p = t * size + y * w + x; a[p] = b[p + size]; }}"),
        ("const long size = (long)h * w;", PLANES),
        ("int row = w, size = h * w;", PLANES),
        ("int size = h * w;", f"{COPY} a[(t * h + y) * w + x] = b[(t * h + y) * w + x + size];"),
    ],
)
def test_planes_are_planes_of_rows(before: str, body: str) -> None:
    assert scop(before, body).arrays["a"].rank == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int size = h * w; size++;", ""),
        ("int size = h * w; h = 3;", ""),
        ("int size = h * w;", "size = 2;"),  # in a loop around, perhaps
        ("int size = h * w; g(&size);", ""),
        ("int size = h * w; g(&w);", ""),
        ("long size = h * w;", ""),  # computed in another type
        ("static int size;", ""),
        ("int size = h * bound;", ""),
        ("int size = h + w;", ""),
        ("goto there; there:; int size = h * w;", ""),
    ],
)
def test_other_variables_stay(before: str, after: str) -> None:
    assert scop(before, after=after).arrays["a"].rank < 3


def test_what_loops_run_up_to_stays() -> None:
    body = "for (int t = 0; t < f; t++) for (int x = 0; x < size; x++) a[t * size + x] = b[t * size + x * 0 + w * 0];"
    made = scop("int size = h * w;", body)
    assert [str(one.name) for one in made.parameters if one.name == "size"] == ["size"]
