"""Sums along rows beside each other, by a function that makes lanes of the rows: the same bits, in fewer operations."""

from __future__ import annotations

from itertools import cycle

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

HEAD = "int n, int m, int l, T a[n][l], T b[n][l], const T *x, T *y, T *z"
BODIES = (
    "for (int i = 0; i < n; i++) { T s = y[i]; for (int j = 0; j < m; j++) s += a[i][j] * x[j];"
    " y[i] = s > 0 ? s : 0; }",
    "for (int i = 0; i < n; i++) { T s = 0; for (int j = 3; j < m; j++) { T d = a[i][j] - b[i][j - 3]; s += d * d; }"
    " y[i] = s; }",
    "for (int i = 0; i < n; i++) { T s = 0, t = 1; for (int j = 0; j < m; j++) { s -= a[i][j] / x[j]; t += s * a[i][j];"
    " } y[i] = s; z[i] = t; }",
    "for (int i = 0; i < n; i++) { T s = 0; for (int j = 0; j < m; j++) s += a[i][j]; T mean = s / m; s = 0;"
    " for (int j = 0; j < m; j++) s += (a[i][j] - mean) * (a[i][j] - mean); y[i] = s; }",
    "for (int i = 0; i < n; i++) { T s = 0; for (int j = 0; j <= i && j < m; j++) s += a[i][j] * x[j]; z[i] = s; }",
    "for (int i = 0; i < n; i++) { y[i] = z[i] = 0; for (int j = 0; j < m; j++) { y[i] += a[i][j]; z[i] += b[i][j]; }"
    " y[i] /= m + 1; }",
)


def test_rows_have_the_sums_that_they_had(run_c: RunC) -> None:
    functions = [
        f"static void f{k}({HEAD.replace('T', ctype)}) {{\n#pragma scop\n{body.replace('T ', f'{ctype} ')}\n"
        "#pragma endscop\n}\n"
        for k, (body, ctype) in enumerate(zip(BODIES, cycle(("double", "float"))))
    ]
    calls = "".join(
        f"fill(); f{k}(n, m, m + n % 3, (void *){t}a, (void *){t}b, {t}x, {t}y, {t}z); show();"
        for k, t in zip(range(len(functions)), cycle("df"))
    )
    source = f"""#include <stdio.h>
static double da[9000], db[9000], dx[300], dy[99], dz[99];
static float fa[9000], fb[9000], fx[300], fy[99], fz[99];
{"".join(functions)}
static void fill(void) {{
  for (int k = 0; k < 9000; k++) {{ fa[k] = da[k] = k % 23 / 7.0; fb[k] = db[k] = k % 17 / 3.0 - 2; }}
  for (int k = 0; k < 300; k++) fx[k] = dx[k] = k % 11 / 9.0 + 0.1;
  for (int k = 0; k < 99; k++) fy[k] = dy[k] = fz[k] = dz[k] = k % 5 - 2;
}}
static void show(void) {{
  unsigned hash = 5381;
  const void *all[] = {{dy, dz, fy, fz}};
  const unsigned long sizes[] = {{sizeof dy, sizeof dz, sizeof fy, sizeof fz}};
  for (int a = 0; a < 4; a++)
    for (unsigned long k = 0; k < sizes[a]; k++) hash = hash * 33 + ((const unsigned char *)all[a])[k];
  printf("%u\\n", hash);
}}
int main(void) {{
  static const int sizes[][2] = {{{{0, 0}}, {{1, 1}}, {{7, 9}}, {{8, 8}}, {{17, 40}}, {{33, 200}}, {{97, 64}}}};
  for (int k = 0; k < 7; k++) {{ int n = sizes[k][0], m = sizes[k][1]; {calls} }}
}}
"""
    made = optimize(source.encode(), Options(eager=True)).text.decode()
    assert made.count("\nstatic void scopt_sums_") >= len(functions)
    before = run_c(source, "-O1", "-ffp-contract=off", "-w", name="before")
    for flags in (("-O2", "-march=native"), ("-O1", "-fsanitize=address,undefined")):
        assert run_c(made, *flags, "-ffp-contract=off", "-w", "-fopenmp", name="after") == before
