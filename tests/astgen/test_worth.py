"""What pays: regions whose work nobody knows are no error."""

from __future__ import annotations

from scopt.options import Options
from scopt.pipeline import optimize


def test_a_loop_that_only_its_outer_one_bounds() -> None:
    body = "for (k = 2; k <= d; k++) { for (n = d; n > k; n--) p[n - 2] -= p[n]; p[k - 2] -= p[k]; }"
    result = optimize(f"void f(int *p, int d) {{ int k, n; {body} }}\n".encode(), Options(autodetect=True))
    assert not [remark.message for remark in result.remarks if remark.id.startswith("internal.")]
