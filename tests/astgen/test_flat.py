"""References to flat arrays, printed and read back."""

from __future__ import annotations

from scopt.options import Options
from tests.sources import optimize


def test_equal_subscripts_without_an_iterator() -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * n + j] += 2 * b[j] * a[m * n + m];"
    source = f"void f(int n, int m, double *restrict a, double *restrict b) {{ {body} }}\n"
    result = optimize(source.encode(), Options(autodetect=True, eager=True))
    assert "region.transformed" in [remark.id for remark in result.remarks]
    assert b"a[(long)m * n + m]" in result.text


def test_the_first_row() -> None:
    body = "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i * n + j] += 2 * a[j] + a[1];"
    result = optimize(
        f"void f(int n, int m, double *restrict a) {{ {body} }}\n".encode(), Options(autodetect=True, eager=True)
    )
    assert not [remark.message for remark in result.remarks if remark.id.startswith("internal.")]
    assert "region.transformed" in [remark.id for remark in result.remarks]


def test_rows_that_need_one_length_are_none() -> None:
    body = "if (n == 1) { for (i = 0; i < m; i++) a[i] = b[i]; } else { for (i = 0; i < m; i++) a[2 * i] = b[2 * i]; }"
    rest = "for (j = 0; j < n; j++) for (i = m; i < l; i++) a[i * n + j] = 2 * b[i * n + j];"
    source = f"void f(int l, int n, int m, double *restrict a, double *restrict b) {{ int i, j; {body} {rest} }}\n"
    result = optimize(source.encode(), Options(autodetect=True, eager=True))
    assert "m == 1" not in result.text.decode()
    assert "region.transformed" in [remark.id for remark in result.remarks]


def test_a_row_that_is_a_number() -> None:
    body = "a[(0 * n) * m] = a[(2 * n) * m]; for (int i = 0; i < l; i++) a[(i * n + i) * m + i] += b[i];"
    source = (
        f"void f(int l, int n, int m, double *restrict a, double *restrict b) {{\n"
        f"#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    result = optimize(source.encode(), Options(eager=True))
    assert not [remark.message for remark in result.remarks if remark.id.startswith("internal.")]
    assert "a[0] = a[2L * n * m];" in result.text.decode()


def test_a_guard_with_a_remainder() -> None:
    body = "for (long i = 0; i <= n; i += 3) for (long j = 0; j < n; j++) a[j * n + i + 1] = a[i * n + i];"
    result = optimize(
        f"void f(int n, double *a) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".encode(), Options(eager=True)
    )
    assert not [remark.message for remark in result.remarks if remark.id.startswith("internal.")]
    assert "if ((n + 1L) % 3 == 0" in result.text.decode()


def test_a_loop_that_is_none_the_second_time() -> None:
    body = "for (unsigned short j = m + 1; j-- > 1;) { a[((long)j * n + j) * 30 + j] = q->x[j]; q->x[j] *= 2; }"
    source = (
        f"struct Q {{ double x[12]; }};\nvoid f(long m, struct Q *q, int n, double *a) "
        f"{{ for (int i = 4; i > -2; i -= 2) {body} }}\n"
    )
    result = optimize(source.encode(), Options(autodetect=True, eager=True))
    assert {remark.id for remark in result.remarks} == {"alias.may-overlap", "affine.narrowing"}


def test_a_parameter_that_is_an_iterators_value_elsewhere() -> None:
    body = "for (int k = i - 2; k < i; k++) a[i * n + i + 2] *= a[(k + 2) * n + k + 2] + a[(k + 2) * n + i];"
    result = optimize(
        f"void f(int n, int i, unsigned *restrict a) {{ {body} }}\n".encode(), Options(autodetect=True, eager=True)
    )
    assert not [remark.message for remark in result.remarks if remark.id.startswith("internal.")]
    assert "region.transformed" in [remark.id for remark in result.remarks]


def test_a_row_whose_length_is_a_quotient() -> None:
    body = "for (int i = 0; i + 2 < n; i += 2) for (int j = 0; j + 2 < m; j += 2) for (int c = 0; c < l; c++)"
    cell = "y[((i / 2) * ((m - 1) / 2) + j / 2) * l + c] = x[(i * m + j) * l + c] / 9;"
    source = f"void f(int n, int m, int l, double *x, double *y) {{\n#pragma scop\n{body} {cell}\n#pragma endscop\n}}\n"
    result = optimize(source.encode(), Options())
    assert "region.transformed" in [remark.id for remark in result.remarks]


def test_rows_of_windows_that_begin_below_zero() -> None:
    """The length is the difference of the loop's bounds, one of which has a sign."""
    source = """void f(int m, const unsigned char *restrict x, unsigned char *restrict out) {
  for (int i = -m; i <= m; i++)
    for (int j = -m; j <= m; j++)
      *out++ = x[i + m] / (j + m + 1);
}
"""
    (region,) = optimize(source, Options(autodetect=True)).regions
    assert region.transformed
