"""Arrays of several dimensions behind pointers: rows recovered from subscripts, and the original loops where the rows
overlap after all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.branches import COMPILERS, compare, found, ids

GEMM = """void gemm(int m, int n, int k, const double *A, int lda, const double *B, int ldb, double *C, int ldc) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < k; l++)
        C[i * ldc + j] += 0.5 * A[i * lda + l] * B[l * ldb + j];
}
"""
# kernel, calls, how often the new and the old loops run
KERNELS = {
    "gemm": (
        GEMM,
        [
            "gemm(30, 30, 25, at(0), 30, at(1000), 30, at(2000), 31)",
            "gemm(30, 25, 7, at(0), 7, at(1000), 26, at(2000), 30)",
            "gemm(30, 30, 10, at(0), 9, at(1000), 30, at(2000), 30)",
            "gemm(30, 30, 10, at(0), 10, at(1000), 30, at(2000), 29)",
            "gemm(20, 10, 10, at(0), 40, at(1000), 30, at(20), 40)",
            "gemm(5, 5, 5, at(0), 5, at(25), 5, at(50), 5)",
            "gemm(5, 5, 5, at(0), 5, at(25), 5, at(49), 5)",
            "gemm(5, 5, 5, at(0), 0, at(25), 5, at(50), 0)",
            "gemm(0, 5, 5, at(3), 5, at(3), 5, at(3), 5)",
        ],
        (4, 5),
    ),
    "rows": (
        """void rows(int n, int m, double *a, const double *b) {
  for (int i = 0; i < n; i++) {
    double *row = a + i * m;
    const double *other = &b[i * m];
    for (int j = 1; j < m; j++)
      row[j] = row[j - 1] * 0.5 + *(other + j);
  }
}
""",
        [
            "rows(20, 30, at(0), at(1000))",
            "rows(20, 30, at(0), at(600))",
            "rows(20, 30, at(0), at(598))",
            "rows(20, 30, at(7), at(7))",
        ],
        (2, 2),
    ),
    "in place": (
        """void sweep(int n, int m, int lda, double *a) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * lda + j] = 0.5 * a[(i - 1) * lda + j] + a[i * lda + j];
}
""",
        [
            "sweep(20, 30, 30, at(0))",
            "sweep(20, 30, 29, at(0))",
            "sweep(20, 30, 1, at(0))",
            "sweep(20, 30, 0, at(0))",
            "sweep(10, 30, -40, at(2000))",
        ],
        (1, 4),
    ),
    "levels": (
        """void level(int n, int m, int o, long p, double *a, const double *b) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      a[o + i * m + j] = 0.5 * a[i * m + j + o] + b[p + (i - 1) * m + j + 1] - b[i * m - 1 + p + j];
}
""",
        [
            "level(20, 30, 100, 1000, at(0), at(0))",
            "level(20, 30, 7, -3, at(0), at(1000))",
            "level(20, 30, -50, 700, at(100), at(0))",
            "level(20, 30, 100, 100, at(0), at(0))",
        ],
        (3, 1),
    ),
    "cube": (
        """void cube(long n, long m, long l, double *a, const double *b) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long k = 0; k < l; k++)
        a[(i * m + j) * l + k] = 0.5 * b[i + n * (j + m * k)];
}
""",
        ["cube(5, 6, 7, at(0), at(500))", "cube(5, 6, 7, at(0), at(209))", "cube(5, 6, 7, at(300), at(90))"],
        (2, 1),
    ),
    "unsigned": (
        """void turn(unsigned n, unsigned m, double *a, const double *b) {
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++)
      a[i * m + j] = b[j * n + i];
}
""",
        ["turn(20, 30, at(0), at(700))", "turn(20, 30, at(0), at(1))", "turn(1, 70000 - 69000, at(0), at(2000))"],
        (2, 1),
    ),
    "sizes": (
        """void turn(unsigned long n, unsigned long m, double *a, const double *b) {
  for (unsigned long i = 0; i < n; i++)
    for (unsigned long j = 0; j < m; j++)
      a[i * m + j] = b[j * n + i];
}
""",
        ["turn(20, 30, at(0), at(700))", "turn(20, 30, at(0), at(1))"],
        (1, 1),
    ),
    "constant": (
        """void fixed(int n, double *a, const double *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * 40 + j] = b[j * 40 + i] + a[(i + 1) * 40 + j];
}
""",
        ["fixed(40, at(0), at(2000))", "fixed(41, at(0), at(2000))", "fixed(30, at(0), at(1300))"],
        (2, 1),
    ),
    "ghost": (
        """void ghost(int n, int m, double *a) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      a[i * (m + 2) + j] = a[(i - 1) * (m + 2) + j + 1] + a[i * (m + 2) + j - 1];
}
""",
        ["ghost(20, 30, at(0))", "ghost(1, 1, at(0))"],
        (0, 0),
    ),
    "image": (
        """void turned(int h, int w, double *out, const double *in) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int c = 0; c < 3; c++)
        out[(y * w + x) * 3 + c] = in[(y * w + (w - 1 - x)) * 3 + c];
}
""",
        ["turned(10, 20, at(0), at(600))", "turned(10, 20, at(0), at(0))"],
        (1, 1),
    ),
    "guarded rows": (
        """void half(int n, int lda, double *a, const double *x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      if (j > 2)
        a[i * lda + j] += x[j] * a[j * lda + i / 2];
}
""",
        [
            "half(20, 20, at(0), at(600))",
            "half(20, 19, at(0), at(600))",
            "half(20, 30, at(0), at(60))",
            "half(20, 20, at(0), at(80))",
        ],
        (3, 1),
    ),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", KERNELS)
def test_rows_behind_pointers(name: str, compiler: str, tmp_path: Path) -> None:
    kernel, calls, counts = KERNELS[name]
    result = compare(compiler, tmp_path, kernel, calls, counts)
    assert "region.transformed" in ids(result)


def test_a_flat_matrix_gets_register_tiles() -> None:
    text = found(GEMM).text.decode()
    assert "scopt_tile_0_0(" in text
    assert "&C[" in text
    assert ", ldc)" in text


def test_subscripts_stay_flat() -> None:
    text = found(KERNELS["cube"][0]).text.decode()
    assert "a[(i * m + j) * l + k] = 0.5 * b[(k * m + j) * n + i];" in text


@pytest.mark.parametrize(
    "body", ["a[i * j] = 0;", "a[i * n + j * m] = 0;", "a[b[i] * n + j] = 0;", "a[i * n + j] = a[i * m + j];"]
)
def test_what_shows_no_rows_may_be_any_cell(body: str) -> None:
    loops = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)"
    function = f"void f(int n, int m, double *restrict a, int *restrict b) {{\n  {loops}\n      {body}\n}}\n"
    assert ids(found(function)) == ["access.unknown-cell", "region.transformed"]
