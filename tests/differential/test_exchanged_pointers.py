"""Loops whose iterations exchange pointers compute the same, and leave the pointers where the source does."""

from __future__ import annotations

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

STEP = "for (int i = 1; i < N; i++) b[i] = 0.5 * a[i] + a[i - 1];"
ROWS = "b[0] = k; for (int i = 1; i < N; i++) b[i] = (b[i - 1] < a[i] ? b[i - 1] : a[i]) + (a[i - 1] > i % 4);"
LOOPS = [
    f"for (int k = 1; k <= T; k++) {{ {ROWS} double *tmp = a; a = b; b = tmp; }}",
    f"for (int k = 0; k < T; k++) {{ {STEP} double *tmp = a; a = b; b = tmp; }}",
    f"for (int k = T; k >= 2; k--) {{ {STEP} old = a; a = b; b = c; c = old; }}",
    f"for (int k = 0; k < T; k++) {{ {STEP} {{ double *tmp = a; a = b; b = tmp; }} a[0] += k; }}",
    "for (int k = 0; k < g.steps; k++) { for (int i = 1; i < N; i++) g.a[i] += g.b[i - 1]; swap(&g.a, &g.b); }",
    "j = 1; for (int k = 0; k < T; k++) { for (int i = 1; i < N; i++) u[1 - j][i] = u[j][i - 1] + k; j = 1 - j; }",
    "for (int k = 1; k < T; k++) for (int i = 1; i < N; i++) all[(k + 1) % 3][i] = all[k % 3][i - 1] + 1;",
]
PROGRAM = """\
#include <stdio.h>
#define N 150
struct grid { int steps; double *a, *b; };
static void swap(double **x, double **y) { double *kept = *x; *x = *y; *y = kept; }
static double x[3][N], u[2][N];
FUNCTIONS
int main(void)
{
    void (*each[])(int) = {NAMES};
    for (int k = 0; k < sizeof each / sizeof *each; k++)
        for (int T = -1; T < 150; T = T == 7 ? 149 : T + 1) {
            for (int i = 0; i < N; i++)
                x[0][i] = i % 5, x[1][i] = i % 3, x[2][i] = i % 7, u[0][i] = i % 4, u[1][i] = i;
            each[k](T);
            for (int i = 0; i < N; i++)
                printf("%g %g %g %g %g\\n", x[0][i], x[1][i], x[2][i], u[0][i], u[1][i]);
        }
}
"""
FUNCTION = """\
void run_NUMBER(int T)
{
    double *a = x[0], *b = x[1], *c = x[2], *old = 0, *all[3] = {x[0], x[1], x[2]};
    struct grid g = {T, x[0], x[1]};
    int j = 0;
#pragma scop
    LOOP
#pragma endscop
    printf("%d %d %d %d %d %d %d\\n", (int)(a - x[0]), (int)(b - x[0]), (int)(c - x[0]), old ? (int)(old - x[0]) : -1,
           (int)(g.a - x[0]), (int)(g.b - x[0]), j);
}
"""


def test_every_bit_is_the_same(run_c: RunC) -> None:
    functions = [FUNCTION.replace("NUMBER", str(k)).replace("LOOP", loop) for k, loop in enumerate(LOOPS)]
    names = ", ".join(f"run_{k}" for k in range(len(functions)))
    source = PROGRAM.replace("FUNCTIONS", "".join(functions)).replace("NAMES", names)
    result = optimize(source.encode(), Options(eager=True), file="x.c")
    assert all(region.transformed for region in result.regions), result.remarks
    assert b"double *rows[2] = {a, b};" in result.text
    assert b"rows_last[i + T - ks] = rows_folded[i];" in result.text
    exact = ("-O1", "-ffp-contract=off")
    flags = (*exact, "-fopenmp", "-fsanitize=address,undefined")
    assert run_c(result.text.decode(), *flags, name="made") == run_c(source, *exact, name="original")
