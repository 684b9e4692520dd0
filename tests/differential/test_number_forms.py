"""Numbers as C has them: octal ones, such as no int holds, enumerators, types that are rounded in another way, and
objects that are reached by types that may be any other's."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.same_results import check_same_results
from tests.sources import optimize

HEAD = "#include <stdio.h>\n#define N 500\n"
OCTAL = f"""{HEAD}static int w[N];
static double x[N + 16], y[N + 16];
void f(int n)
{{
  for (int i = 0; i < n; i++)
    if (w[i] > 0)
      for (int a = 010; a < 012; a++) x[i + a] += w[i] * y[a];
  for (int i = 0; i < n; i++)
    for (int a = 010; a < 014; a++) y[i] += x[i + a] * (a % 010);
}}
int main(void)
{{
  for (int i = 0; i < N + 16; i++) {{ x[i] = i % 7; y[i] = i % 11 * 0.5; w[i % N] = i % 5 - 2; }}
  f(N);
  for (int i = 0; i < N; i++) printf("%a %a\\n", x[i], y[i]);
}}
"""
LARGE = f"""{HEAD}enum {{ LARGE = 0xffffffff }};
static long l[N];
static int a[N], b[N + 20];
void f(int n)
{{
  for (int i = 0; i < n; i++) {{ int m = 0xffffffff; l[i] = (a[i] > m) + m; }}
  for (int i = 0; i < n; i++) {{ int m = 3000000000; l[i] += a[i] * 2L + m; }}
  for (int i = -20; i < n; i++) if (i - 5 < LARGE - 10) b[i + 20]++;
}}
int main(void)
{{
  for (int i = 0; i < N; i++) a[i] = i * 37 % 41 - 20;
  f(N);
  for (int i = 0; i < N; i++) printf("%ld %d\\n", l[i], b[i]);
}}
"""
QUAD = f"""{HEAD}static _Float128 q[N], r[N];
void f(int n)
{{
  for (int i = 1; i < n; i++) q[i] = q[i - 1] * r[i] + q[i];
}}
int main(void)
{{
  for (int i = 0; i < N; i++) {{ q[i] = (_Float128)1 / (i + 3); r[i] = (_Float128)(i % 13) / 17; }}
  f(N);
  for (int i = 0; i < N; i++) printf("%a %a\\n", (double)q[i], (double)((q[i] - (double)q[i]) * 0x1p60));
}}
"""
ALIAS = f"""{HEAD}typedef int word __attribute__((may_alias));
static float x[N];
void f(word *p, float *q, int n)
{{
  for (int i = 1; i < n; i++) {{ q[i] = q[i] * 2; p[i - 1] ^= 1 << 31; }}
}}
int main(void)
{{
  for (int i = 0; i < N; i++) x[i] = i % 9 * 0.5f;
  f((word *)x, x, N);
  for (int i = 0; i < N; i++) printf("%a\\n", x[i]);
}}
"""


@pytest.mark.parametrize("program", [OCTAL, LARGE, QUAD, ALIAS], ids=["octal", "large", "quad", "alias"])
def test_results_stay_the_same(run_c: RunC, program: str) -> None:
    result = optimize(program, Options(autodetect=True, eager=True))
    if program is not QUAD:
        assert any(region.transformed for region in result.regions)
    check_same_results(run_c, program, result.text.decode(), sanitized=False)
