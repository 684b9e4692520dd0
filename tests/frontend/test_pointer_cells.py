"""Pointers in arrays, at constant places: which get names before the region."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options

BEFORE = """
enum { OLD, NOW, NEW };
typedef struct { int n; float *re[2]; double **w[4]; } state;
extern double *u[3], *more[]; extern unsigned char *mask[2]; extern volatile int flags[3];
"""
STEP = "for (int i = 1; i < n; i++) u[NEW][i] = u[NOW][i - 1] + u[OLD][i];"


def scop_of(parameters: str, body: str, *flags: str) -> Scop:
    tu = parse(f"{BEFORE}void f({parameters}) {{\n{body}\n}}\n".encode(), "in.c", Options(cpp_flags=flags))
    found = detect(tu)
    if not found.regions:
        raise Refusal(found.remarks[0].id, found.remarks[0].message, found.remarks[0].location)
    return extract(tu, found.regions[0], "scop0")


def test_elements_of_an_array_are_loaded_at_once() -> None:
    scop = scop_of("int n", STEP)
    assert scop.prologue == (
        "__typeof__(u[2]) u_2 = u[2];",
        "__typeof__(u[1]) u_1 = u[1];",
        "__typeof__(u[0]) u_0 = u[0];",
    )
    assert scop.guard is not None
    assert len(scop.guard.apart) == 2  # the new field against the others; types keep pointers apart


def test_those_of_a_structure_that_may_not_be_there_where_loops_are_entered() -> None:
    scop = scop_of("int n, state *s", "for (int i = 0; i < n; i++) s->re[0][i] = s->re[1][i];")
    assert scop.prologue[1] == "__typeof__(s_re[0]) s_re_0 = 0 < n ? s_re[0] : 0;"


def test_arrays_without_an_end_are_read_where_the_region_does() -> None:
    scop = scop_of("int n", "for (int i = 0; i < n; i++) more[0][i] = 1;")
    assert scop.prologue[0] == "__typeof__(more[0]) more_0 = 0 < n ? more[0] : 0;"
    with pytest.raises(Refusal):
        scop_of("int n", "for (int i = 0; i < n; i++) { u[0][i] = 1; if (u[1][i] > 3) more[1][i] = 2; }")


@pytest.mark.parametrize("parameter", ["unsigned char *plane[3]", "unsigned char **plane"])
def test_planes_at_constant_places_are_arrays_of_their_own(parameter: str) -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = plane[0][i * m + j] + plane[2][j];"
    scop = scop_of(f"int n, int m, unsigned char *y, {parameter}", body)
    assert scop.prologue[0] == "__typeof__(plane[0]) plane_0 = 0 < n && 0 < m ? plane[0] : 0;"
    assert not scop.arrays["plane_2"].rows
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = plane[0][j] + plane[i][j];"
    assert scop_of(f"int n, int m, unsigned char *y, {parameter}", body).arrays["plane"].rows


def test_rows_of_rows_keep_their_test() -> None:
    scop = scop_of("int n, state s", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s.w[3][i][j] = 0.5 * j;")
    assert scop.arrays["s_w_3"].rows
    assert scop.guard is not None
    assert scop.guard.tests


def test_what_could_write_pointers_is_tested() -> None:
    scop = scop_of("int n", "for (int i = 0; i < n; i++) mask[0][i] = mask[1][i] & 1;")
    assert scop.guard is not None
    pairs = {(one.base, other.base) for one, other in scop.guard.apart}
    assert any("&mask[1]" in pair for pair in pairs)
    scop = scop_of("int n", STEP, "-fno-strict-aliasing")
    assert scop.guard is not None
    assert any("&u[1]" in (one.base, other.base) for one, other in scop.guard.apart)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { u[0][i] = 1; u[0] = u[1]; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) u[i][j] = 1;",
        "for (int i = 0; i < n; i++) u[3][i] = 1;",
        "for (int i = 0; i < n; i++) { double **p = u; p[0] = 0; u[0][i] = 1; }",
    ],
)
def test_pointers_that_may_change_or_have_no_constant_place(body: str) -> None:
    with pytest.raises(Refusal):
        scop_of("int n", body)


def test_arrays_that_begin_in_a_region_are_no_rows() -> None:
    body = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
      double l[2]; l[0] = s.w[1][i][j]; l[1] = l[0] * j; s.w[0][i][j] = l[1]; }"""
    scop = scop_of("int n, state s", body)
    assert scop.guard is not None
    (test,) = scop.guard.tests
    assert "l" not in test.call.replace("(", " ").replace(",", " ").split()
