"""Variables and pointers that loops step besides their iterators, run with threads:
every bit as in the original, last values too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunC
from tests.differential.control import Case, same_output, same_output_among

BEFORE = """double *d = x, *s = y, *flat = &A[0][0], *other = &B[0][0], *end;
unsigned u = 2; long w = 3; struct pair { int a, b; } *t = (struct pair *)q;"""
SHOW = "left = 1000000 * w + 10000 * u + 100 * j + k;"
CASES = {
    "index": "k = 0; for (i = 0; i < n; i++) { x[k] = y[i]; k++; }",
    "index from its value": "for (i = 0; i < n; i++) { x[k] = y[i] + k; k++; }",
    "by two": "k = 1; for (i = 0; i < n; i++) { x[i] = y[k] * y[k - 1]; k += 2; }",
    "by minus three": "k = 150; for (i = 0; i < n; i++) { x[k] = y[i]; k -= 3; z[k] = y[i]; }",
    "in a subscript": "k = 0; for (i = 0; i < n; i++) x[k++] = 2 * y[i];",
    "before its use": "k = 0; for (i = 0; i < n; i++) x[++k] = 2 * y[i];",
    "twice an iteration": "k = 0; for (i = 0; i < n; i++) { x[k++] = y[i]; x[k++] = -y[i]; }",
    "back and forth": "for (i = 0; i < n; i++) { x[i] = y[k]; k++; z[i] = y[k]; k--; }",
    "by a variable": "k = 0; for (i = 0; i < n; i++) { x[i] = other[k]; k += m - 1; }",
    "by a quotient": "k = 0; for (i = 0; i < n; i++) { x[i] = y[k]; k += m / 4; }",
    "by a sum": "j = 0; k = 0; for (i = 0; i < n; i++) { flat[k] = y[i]; k += m + 1; }",
    "in steps of two": "k = 0; for (i = 0; i < n; i += 2) { x[k] = y[i]; k += 4; }",
    "downwards": "k = 0; for (i = n - 1; i >= 0; i--) { x[k] = y[i] * k; ++k; }",
    "from a variable": "k = 2; for (i = m; i < n; i++) { x[k] = y[i]; k += 2; }",
    "unsigned": "u = 0; for (i = 0; i < n; i++) { x[u] = y[i]; u += 3; }",
    "unsigned and down": "u = 200; for (i = 0; i < n; i++) { u -= 2; x[u] = y[i] + u; }",
    "unsigned of a long": "w = 0; for (u = 1; u < 30; u++) { x[w] = y[u]; w += 2; }",
    "long": "for (i = 0; i < n; i++) { x[w] = y[i]; w += 3; }",
    "two of them": "j = 5; k = 0; for (i = 0; i < n; i++) { x[j++] = y[k]; k += 2; }",
    "in the head": "for (i = 0, j = n + m; i < n; i++, j--) x[i] = y[j];",
    "in the head, towards each other": (
        "for (i = 0, j = n - 1; i < j; i++, j--) { double v = x[i]; x[i] = x[j]; x[j] = v; }"
    ),
    "in the head, towards each other by two": "for (int i = 0, l = n + m; l > i; i += 2, l -= 4) x[i] = y[l];",
    "in the head, of its own": "for (int i = 0, l = 0; i < n; i++, l += 2) x[i] = y[l] + l;",
    "in the head, unused": "for (int i = 0, l = 3; i < n; i++, l += 2) x[i] = *s++;",
    "in the head, constant": "for (int i = 0, last = n; i < last; i++) x[i] = y[last - i];",
    "in the head, constant, and last value": "k = 0; for (int i = 0, last = n; i < last; i++) x[k++] = y[last - i];",
    "in the head, of a product": "for (int i = 0, last = n * m; i < last; i++) flat[i] *= 2;",
    "of nested loops": "k = 0; for (i = 0; i < n; i++) for (j = 0; j < m; j++) { flat[k] = 2 * other[k]; k++; }",
    "of nested loops, used outside": (
        "k = 0; for (i = 0; i < n; i++) { z[i] = y[k % 7]; for (j = 0; j < m; j++) flat[k++] = 2 * other[i]; }"
    ),
    "around nested loops": (
        "k = 0; for (i = 0; i < n; i++) { for (j = 0; j < m; j++) flat[k + j] = B[i][j]; k += m + 3; }"
    ),
    "set in a loop": "for (i = 0; i < n; i++) { k = i; for (j = 0; j < 8; j++) { A[j][k] = B[i][j]; k++; } }",
    "of a growing triangle": "i = 0; k = 0; while (i < n) { i++; for (j = 0; j < i; j++) flat[k++] = B[i][j]; }",
    "of loops up to a constant": (
        "k = 0; for (int l = 0, last = m; l < n; l++) for (j = 0; j < last; j++) flat[k++] = B[l][j];"
    ),
    "of loops up to a variable": (
        "j = 1; k = 0; for (i = 0; i < n; i++) { for (int l = 0; l < j; l++) flat[k++] = B[i][l]; j++; }"
    ),
    "of a triangle": "k = 0; for (i = 0; i < n; i++) for (j = 0; j < i; j++) flat[k++] = B[i][j];",
    "two loops": "k = 0; for (i = 0; i < n; i++) x[k++] = y[i]; for (i = 0; i < m; i++) x[k++] = -y[i];",
    "with continue": "k = 0; for (i = 0; i < n; i++, k += 2) { if (y[i] < 0) continue; x[k] = y[i]; }",
    "pointer": "for (i = 0; i < n; i++) *d++ = 2 * *s++;",
    "pointer of its own": "for (i = 0; i < n; i++) { double *o = x + 3; for (j = 0; j < m; j++) *o++ += B[i][j]; }",
    "pointer down": "d = x + 200; for (i = 0; i < n; i++) *--d = s[i];",
    "pointer of rows": (
        "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) *flat++ = 2 * *other++; flat += 50 - m; other += 60 - m; }"
    ),
    "pointer, back by an unsigned": "d = x + 300; for (i = 0; i < n; i++) { *d = s[i]; d -= u; }",
    "pointer by a sum": "for (i = 0; i < n; i++) { *flat = s[i]; flat += m + 1; }",
    "pointer and index": "for (i = 0; i < n; i++) { d[0] = s[1]; d[1] = s[0]; d += 2; s += 2; }",
    "pointer loop": "end = x + n; for (d = x; d < end; d++) *d *= 2;",
    "pointer loop, of its own": "for (double *o = x; o != x + n; ++o) *o = *o * 2 + 1;",
    "pointer loop, two": "for (double *o = x, *v = y; o < x + n; o++, v++) *o = *v;",
    "pointer loop, down": "for (d = x + n - 1; d >= x; d--) *d *= 2;",
    "pointer while": "end = x + n; while (d < end) *d++ = *s++ - 1;",
    "pointer while, from its value": "end = d + n; while (d != end) { *d = *d + s[2]; s++; d++; }",
    "count down": "i = n; while (i--) *d++ = *s++;",
    "members": "for (i = 0; i < n; i++, t++) { t->a = i; t->b = p[i]; }",
    "difference of signs": "k = 60; for (i = -n; i < 0; i++) { x[k + i] = y[k]; k += 2; }",
}


UNKNOWN = "in the head, towards each other"  # where they meet isn't known
ALL = {name: Case(body, BEFORE, "" if name == UNKNOWN else SHOW) for name, body in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_every_bit_is_the_same(name: str, run_c: RunC, tmp_path: Path) -> None:
    same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)


# A step that isn't a sum; a last value that isn't known; short loops; loops whose lengths differ from iteration to
# iteration, or that others follow.
ALONE = (
    "by a quotient",
    "in steps of two",
    "unsigned of a long",
    "set in a loop",
    "of a triangle",
    "of a growing triangle",
    "of loops up to a constant",
    "of loops up to a variable",
    "of nested loops, used outside",
    "two loops",
)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ALONE])
def test_loops_run_in_parallel(name: str, run_c: RunC, tmp_path: Path) -> None:
    assert "omp parallel for" in same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)


def test_a_last_value_that_nobody_sees(run_c: RunC, tmp_path: Path) -> None:
    assert "omp parallel for" in same_output(CASES["in steps of two"], run_c, tmp_path, before=BEFORE)
