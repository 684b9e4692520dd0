"""Whether anything else runs between two runs of a region, and what of it stays with one thread."""

from __future__ import annotations

import pytest

from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.frontend.region.surroundings import beside_one_thread, runs_alone, words_beside
from scopt.frontend.syntax.unit import Region
from scopt.options import Options

LOOP = "for (int i = 0; i < n; i++) a[i] = b[i];"
FILE = """
void *memcpy(void *, const void *, unsigned long); void halo(double *);
double *x, *y, *z; static int n;
static void step(void) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + j] = x[i * n + j] * 2; }
static void back(void) { for (int i = 0; i < n * n; i++) x[i] += y[i] * 3; }
static double total(void) { double s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += z[i * n + j];
  return s; }
"""


def _region(source: str, wanted: str) -> Region:
    tu = parse(source.encode(), "x.c", Options())
    (region,) = (one for one in detect(tu).regions if wanted in source[one.start : one.end])
    return region


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
    region = _region(f"int f(double *a);\nvoid g(int n, double *a, double *b) {{ {body} }}", "a[i]")
    assert runs_alone(region) is alone


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("step();", None),
        ("for (int t = 0; t < m; t++) { step(); back(); }", set()),
        ("for (int t = 0; t < m; t++) { step(); for (int k = 0; k < n; k++) n++; x[0] = total(); }", {"z"}),
        ("for (int t = 0; t < m; t++) { step(); memcpy(x, y, n); }", {"x", "y"}),
        ("for (int t = 0; t < m; t++) { step(); halo(x); }", None),
        ("for (int t = 0; t < m; t++) { step(); if (t % 9 == 0) total(); }", set()),
        ("for (int t = 0; t < m; t++) for (int c = 0; c < 2; c++) { step(); if (t) memcpy(x, y, n); } total();", set()),
        ("for (int t = 0; t < m; t++) { for (int c = 0; c < 2; c++) step(); total(); }", {"z"}),
    ],
)
def test_calls_in_a_time_loop_are_followed(body: str, words: set[str] | None) -> None:
    found = words_beside(_region(f"{FILE}void run(int m) {{ {body} }}", "y[i * n + j] ="))
    assert (found is None) is (words is None)
    assert found is None or found & {"x", "y", "z"} == (words or set())


def test_what_threads_do_not_share_after_all_is_beside() -> None:
    source = f"{FILE}void run(int m) {{ for (int t = 0; t < m; t++) {{ step(); back(); }} }}"
    tu = parse(source.encode(), "x.c", Options())
    both = {k: one for k, one in enumerate(detect(tu).regions) if one.function.decl.name in ("step", "back")}
    assert not beside_one_thread(tu, both)
    alone = {k: one for k, one in both.items() if one.function.decl.name == "step"}
    (found,) = beside_one_thread(tu, alone).values()
    assert (found.beside or set()) & {"x", "y", "z"} == {"x", "y"}
