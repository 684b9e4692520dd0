"""Integer variables that hold functions of iterators and parameters, in subscripts, bounds and conditions, run with
threads: every bit as in the original, last values too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunC
from tests.differential.control import Case, same_output_among

BEFORE = """double *flat = &A[0][0], *other = &B[0][0]; unsigned u = 2; long w = 3; unsigned char c = 9; _Bool odd = 0;
#define HALF(e) ((e) / 2)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
"""
SHOW = "left = 1000000 * w + 10000 * u + k + 7 * c + odd;"
CASES = {
    "planes in turn": (
        "for (int t = 0; t < n; t++) for (i = 1; i < 30; i++) { int old = t % 2, new = 1 - t % 2;"
        " A[new][i] = A[old][i - 1] + A[old][i + 1]; }"
    ),
    "planes in turn, by bits": (
        "for (int t = 0; t < n; t++) { int old = t & 1, new = old ^ 1;"
        " for (i = 1; i < 30; i++) A[new][i] = A[old][i - 1] + A[old][i + 1]; }"
    ),
    "planes in turn, by not": (
        "for (int t = 0; t < n; t++) { int old = t & 1; for (i = 1; i < 30; i++) A[!old][i] = A[old][i + 1]; }"
    ),
    "three planes": (
        "for (int t = 0; t < n; t++) { int now = t % 3, next = (t + 1) % 3, before = (t + 2) % 3;"
        " for (i = 1; i < 30; i++) A[next][i] = 2 * A[now][i] - A[before][i] + A[now][i - 1]; }"
    ),
    "bound and subscript": (
        "for (int l = 2; l <= n; l++) for (i = 0; i < n - l + 1; i++) { int e = i + l - 1; A[i][e] = 9e9;"
        " for (int s = i; s < e; s++) { double v = A[i][s] + A[s + 1][e]; if (v < A[i][e]) A[i][e] = v; } }"
    ),
    "halves": (
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int a = i / 2, b = j / 2;"
        " A[i][j] += B[a][b] + B[a + 1][b]; }"
    ),
    "halves, shifted": "for (i = 0; i < n; i++) { const int h = i >> 1, r = i & 1; x[i] = y[h] * (1 + r) + y[h + r]; }",
    "declared before": "for (i = 0; i < n; i++) { k = i + 1; x[k] = y[i] + y[k]; }",
    "declared before and seen after": "for (i = 0; i < n; i++) { k = i + 1; x[k] = y[i] + y[k]; } x[500] = k;",
    "redefined": (
        "for (i = 0; i < n; i++) { k = i; x[k] = y[k]; k = 2 * k + 1; z[k] = y[k]; k += 3; A[0][k % 64] = y[k]; }"
    ),
    "redefined by data": "for (i = 0; i < n; i++) { k = i + 1; x[k] = y[k]; k = p[i]; z[k] += y[i]; }",
    "stepped": "for (i = 0; i < n; i++) { k = 2 * i; x[k] = y[i]; k++; x[k] = -y[i]; }",
    "clamped by an if": (
        "for (i = 0; i < n; i++) { int l = i - 2, h = i + 2; if (l < 0) l = 0; if (h >= n) h = n - 1;"
        " double s = 0; for (int e = l; e <= h; e++) s += y[e]; x[i] = s; }"
    ),
    "clamped by a choice": (
        "for (i = 0; i < n; i++) { int l = i > 2 ? i - 2 : 0, h = MIN(i + 2, n - 1); x[i] = y[l] + y[h]; }"
    ),
    "one of two": "for (i = 0; i < n; i++) { int l; if (i < m) l = i; else l = i - m; x[i] = y[l]; }",
    "one of two by data": "for (i = 0; i < n; i++) { int l; if (y[i] < 0) l = i; else l = i + 1; x[i] = y[l]; }",
    "around the end": "for (i = 0; i < n; i++) { int e = i + 1; if (e == n) e = 0; A[1][i] = A[0][e] - A[0][i]; }",
    "rows": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int l = i * m + j; flat[l] = 2 * other[l]; }",
    "rows, from their start": (
        "for (i = 0; i < n; i++) { int row = i * m; for (j = 0; j < m; j++) flat[row + j] = 2 * other[row + j]; }"
    ),
    "rows, counted": "for (i = 0; i < n; i++) { int l = i * m; for (j = 0; j < m; j++) flat[l++] = 2 * other[i]; }",
    "size in front": "int h = n / 2; for (i = 0; i < h; i++) x[i] = y[2 * i] + y[2 * i + 1];",
    "size by a macro": "const int h = HALF(n); for (i = 0; i < h; i++) x[i] = y[i + h];",
    "size of both": "int all = n * m; for (i = 0; i < all; i++) flat[i] *= 2;",
    "narrow": "for (i = 0; i < n; i++) { unsigned char e = i; x[e] = y[i]; }",
    "narrow, wraps": "for (i = 0; i < n; i++) { unsigned char e = 8 * i; x[e] = y[i]; }",
    "narrow and signed, wraps": "for (i = 0; i < n; i++) { signed char e = 9 * i; x[e + 200] = y[i]; }",
    "unsigned": "for (i = 0; i < n; i++) { u = i + 1; x[u - 1] = y[u]; }",
    "unsigned, wraps": "for (i = 0; i < n; i++) { u = i - 1; if (u < 20) x[u] = y[i]; }",
    "unsigned, compared": "for (i = 0; i < n; i++) { u = i - 3; if (u < (unsigned)m) x[i] = y[u]; }",
    "long of int": "for (i = 0; i < n; i++) { w = i + 1; x[w] = y[w + 1]; } w = 0;",
    "truth": "for (i = 0; i < n; i++) { odd = i & 1; if (odd) x[i] = y[i]; else x[i] = -y[i]; }",
    "truth of a number": "for (i = 0; i < n; i++) { odd = i; x[i + odd] = y[i]; }",
    "in a condition": "for (i = 0; i < n; i++) { if ((k = i + 1) < m) x[k] = y[i]; }",
    "in the middle of an expression": "for (i = 0; i < n; i++) { x[k = i + 1] = y[i]; z[k] = 3; }",
    "of an outer loop": ("for (i = 0; i < n; i++) { int e = n - 1 - i; for (j = 0; j <= e; j++) A[e][j] += B[j][e]; }"),
    "behind an inner loop": (
        "for (i = 0; i < n; i++) { k = i; for (j = 0; j < m; j++) { x[k] += B[i][j]; } z[k] = x[k]; }"
    ),
    "changed by an inner loop": (
        "for (i = 0; i < n; i++) { k = i; for (j = 0; j < 3; j++) { x[k] += B[i][j]; k += p[j] % 2; } z[k] = 1; }"
    ),
    "from the iteration before": "k = 0; for (i = 0; i < n; i++) { x[k] = y[i]; k = i + 2; }",
    "also an iterator": "for (j = 0; j < n; j++) x[j] = y[j]; for (i = 0; i < n; i++) { j = i + 1; z[j] = x[i]; }",
    "also an iterator, from its value": (
        "j = 2; for (j = j + 1; j < n; j++) x[j] = y[j]; for (i = 0; i < n; i++) { j = i; z[j] = x[j]; }"
    ),
    "in a loop that ends early": (
        "for (i = 0; i < n; i++) { int e = i + 3; for (j = 0; j < m; j++) { int f = e + j; if (y[f] > 0) break;"
        " A[i][j] = y[f]; } }"
    ),
    "in a while": "for (i = 0; i < n; i++) { int e = i + 1; while (x[e] > 1e-3) x[e] *= 0.5; }",
    "under data": "for (i = 0; i < n; i++) if (y[i] > 0) { int e = i + 1; x[e] = z[e]; }",
    "in a switch": (
        "for (i = 0; i < n; i++) { int e = i + 1; switch (p[i] % 3) { case 0: x[e] = 1; break; case 1: e = 5;"
        " default: x[e] += 2; } z[e] = 2; }"
    ),
    "guarded by and": (
        "for (i = 0; i < n; i++) { double s = y[i]; if (i > 0 && A[0][i - 1] < s) s = A[0][i - 1]; x[i] = s; }"
    ),
    "guarded on both sides": (
        "for (i = 1; i < n; i++) for (j = 0; j < 64; j++) { double s = A[i - 1][j];"
        " if (j > 0 && A[i - 1][j - 1] < s) s = A[i - 1][j - 1];"
        " if (j < 63 && A[i - 1][j + 1] < s) s = A[i - 1][j + 1]; A[i][j] += s; }"
    ),
    "guarded by or": "for (i = 0; i < 64; i++) if (i == 0 || A[1][i - 1] < A[1][i]) A[2][i] = 1; else A[2][i] = 2;",
    "guarded by a choice": (
        "for (i = 0; i < n; i++) for (j = 0; j < 64; j++)"
        " B[i][j] = (j > 0 ? A[i][j - 1] : 0) + (j == 63 ? 0.5 : A[i][j + 1]);"
    ),
    "guarded by data": (
        "for (i = 0; i < n; i++) for (j = 0; j < 64; j++) if (j % 64 != 0 && z[j] < 2) B[i][j] += A[i][j - 1];"
    ),
    "guarded, with else": (
        "for (i = 0; i < n; i++) for (j = 0; j < 64; j++)"
        " if (y[i] < 0 && j > 0) B[i][j] += B[i][j - 1]; else B[i][j] = A[j][i];"
    ),
    "first and last": (
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++)"
        " B[i][j] = A[i][j == 0 ? m - 1 : j - 1] - A[i][(j + 1) % m] + A[(i + 1) % n][j];"
    ),
    "first and last, downwards": (
        "for (i = 0; i < n; i++) for (j = m - 1; j >= 0; j--)"
        " A[i][j] += A[i][j == 0 ? m - 1 : j - 1] + A[i][j < m - 1 ? j + 1 : 0];"
    ),
    "first and last, of each other": (
        "for (i = 0; i < n; i++) { int l = i - 1, h = i + 1; if (l < 0) l = n - 1; if (h >= n) h = 0;"
        " x[i] = x[l] + x[h]; }"
    ),
    "first and last, around": (
        "for (i = 0; i < n; i++) { int h = (i + 1) % n, l = (i + n - 1) % n; x[i] = y[l] * y[h] + sqrt(n); }"
    ),
    "first and last, around, unsigned": (
        "for (unsigned v = 0; v < (unsigned)n; v++) { unsigned h = (v + 1) % n; x[v] = y[h] + h; }"
    ),
    "first and last, by three": "for (i = 1; i < n; i += 3) x[i] += y[i == 1 ? n : i - 1] * y[i + 3 >= n ? 0 : i];",
    "first and last, and a sum": (
        "for (i = 0; i < n; i++) { double s = 0; for (j = 0; j < m; j++) s += A[i][j == 0 ? 63 : j - 1]; x[i] = s; }"
    ),
    "guarded store": (
        "for (i = 0; i < 64; i++) for (j = 0; j < n; j++) if (i < 63 && B[i][j] < 0) A[i + 1][j] = A[i][j];"
    ),
}


ALL = {name: Case(body, BEFORE, SHOW) for name, body in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_every_bit_is_the_same(name: str, run_c: RunC, tmp_path: Path) -> None:
    same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)


PARALLEL = (
    "bound and subscript",
    "halves",
    "halves, shifted",
    "declared before",
    "clamped by an if",
    "clamped by a choice",
    "one of two",
    "rows",
    "rows, from their start",
    "rows, counted",
    "size in front",
    "size by a macro",
    "narrow",
    "unsigned",
    "guarded by a choice",
)


@pytest.mark.parametrize("name", PARALLEL)
def test_loops_run_in_parallel(name: str, run_c: RunC, tmp_path: Path) -> None:
    assert "omp parallel for" in same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)
