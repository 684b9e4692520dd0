"""References to flat arrays, printed and read back."""

from __future__ import annotations

from scopt.options import Options
from scopt.pipeline import optimize


def test_equal_subscripts_without_an_iterator() -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * n + j] += 2 * b[j] * a[m * n + m];"
    source = f"void f(int n, int m, double *restrict a, double *restrict b) {{ {body} }}\n"
    result = optimize(source.encode(), Options(autodetect=True, eager=True))
    assert "region.transformed" in [remark.id for remark in result.remarks]
    assert b"a[(long)m * n + (long)m]" in result.text.replace(b"(m)", b"m")
