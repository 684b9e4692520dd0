"""Sums in lanes: every bit as in the original, for lengths that are none of whole lanes, and where reads overlap."""

from __future__ import annotations

from pathlib import Path

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC

FUNCTIONS = [
    (  # a sum of four parts, and what is left over
        "float",
        "T a = 1, b = -1, c = 0.5f, d = 0; int j; for (j = 0; j + 3 < n; j += 4) { a += x[j] * y[j];"
        " b += x[j + 1] * y[j + 1]; c += x[j + 2] * y[j + 2]; d += x[j + 3] * y[j + 3]; }"
        " for (; j < n; j++) a += x[j] * y[j]; return (a + b) + (c + d);",
    ),
    (  # lags, in cells, beginning at none of them
        "float",
        "T s[6] = {0, 1, 2, 3, 4, 5}; for (int j = 0; j < n; j++) { s[1] += x[j] * y[j + 2]; s[2] += x[j] * y[j + 3];"
        " s[3] -= 1; s[4] = s[4] + 1; s[5] += x[j]; } return s[0] + s[1] * 2 + s[2] * 3 + s[3] * 4 + s[4] * 5 + s[5];",
    ),
    (
        "double",
        "T s[4] = {0}; for (int j = 0; j < n; j++) { const T w = x[n - j]; s[0] += w * y[j]; s[1] += w * y[j + 1];"
        " s[2] += w * y[j + 2]; s[3] += w * y[j + 3]; if (y[j] > 90) n--; } return s[0] + s[1] * 2 + s[2] * 3 + s[3];",
    ),
    (  # real and imaginary parts, from cells on that data say
        "float",
        "T r0 = 0, r1 = 0, r2 = 0, r3 = 0, i0 = 0, i1 = 0, i2 = 0, i3 = 0; while (n > 0) {"
        " const T *p = x + (int)y[n] % 7; r0 += p[0] * y[0]; i0 += p[0] * y[8]; r1 += p[1] * y[1]; i1 += p[1] * y[9];"
        " r2 += p[2] * y[2]; i2 += p[2] * y[10]; r3 += p[3] * y[3]; i3 += p[3] * y[11]; n -= 3; }"
        " return r0 + r1 * 2 + r2 * 3 + r3 * 4 + i0 * 5 + i1 * 6 + i2 * 7 + i3;",
    ),
]
MAIN = """
#include <stdio.h>
int main(void)
{
  static float x0[80], y0[80];
  static double x1[80], y1[80];
  for (int k = 0; k < 80; k++) { x0[k] = x1[k] = k * 37 % 101 / 7.0f; y0[k] = y1[k] = k * 29 % 97 / 3.0f; }
  for (int n = 0; n < 40; n++)
    printf("%d %a %a %a %a\\n", n, f0(n, x0, y0), f1(n, x0 + 1, x0), f2(n, x1, y1), f3(n, x0, y0));
}
"""


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    functions = [
        f"{kind} f{k}(int n, const {kind} *x, const {kind} *y)\n{{\n  {body.replace('T ', f'{kind} ')}\n}}\n"
        for k, (kind, body) in enumerate(FUNCTIONS)
    ]
    source = "".join([*functions, MAIN])
    result = pipeline.optimize(source.encode(), Options(autodetect=True), file=str(tmp_path / "in.c"))
    assert not [one for one in result.remarks if one.id == "internal.error"]
    emitted = result.text.decode()
    texts = [part for part in emitted.split("\n}\n") if " f" in part][: len(FUNCTIONS)]
    assert ["lane < 4" in text for text in texts] == [True, False, True, True], emitted
    flags = ("-O2", "-ffp-contract=off", "-fopenmp", "-w")
    assert run_c(emitted, *flags, name="emitted") == run_c(source, *flags, name="original")
